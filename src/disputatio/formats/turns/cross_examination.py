"""Cross-examination and closing of a structured debate.

Source: the structured debate protocol. Cross-examination: one response to every opposing argument (refute, challenge,
concede or partial), at least one question for each, no new arguments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from disputatio.evidence.citations import CheckedCitation
from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import (
    NOTHING,
    Citing,
    Phrases,
    citation_lines,
    unmarked,
    unstated_lines,
    unverified,
)
from disputatio.formats.turns.opening import Argument
from disputatio.kernel import JsonObject, Part, Task, Violation
from disputatio.motion import count_words


class ResponseKind(StrEnum):
    """What a response says about the argument it answers."""

    REFUTE = "refute"
    """It has a factual or logical error."""
    CHALLENGE = "challenge"
    """Its evidence is not sufficient or its conditions are not met."""
    CONCEDE = "concede"
    """It is valid."""
    PARTIAL = "partial"
    """Its core is right; its degree or scope is disputed."""


@dataclass(frozen=True, slots=True)
class Question:
    """A follow-up question put to the owner of an argument."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Response:
    """One side's answer to one argument of the other."""

    target: str
    kind: ResponseKind
    reasoning: str
    questions: tuple[Question, ...]
    citations: tuple[CheckedCitation, ...] = ()
    unstated: tuple[str, ...] = ()

    def text(self) -> str:
        """The response as a reader sees it."""
        questions = [f"Question {question.id}: {question.text}" for question in self.questions]
        said = [f"To {self.target}: {self.kind.value}", unmarked(self.reasoning), *citation_lines(self.citations)]
        said += unstated_lines(self.unstated)
        return "\n".join([*said, *map(unmarked, questions)])


@dataclass(frozen=True, slots=True)
class CrossExamination:
    """One side's responses, in the order of the opposing arguments."""

    responses: tuple[Response, ...]

    @property
    def cited(self) -> tuple[tuple[str, CheckedCitation], ...]:
        """What each response cites, by the argument it answers."""
        return tuple((response.target, row) for response in self.responses for row in response.citations)

    @property
    def unstated(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The figures of each response that no source states, by the argument it answers."""
        return tuple((response.target, response.unstated) for response in self.responses)

    def text(self) -> str:
        """All responses, one after the other."""
        return "\n\n".join(response.text() for response in self.responses)


_NEW_ARGUMENT = Phrases(
    r"\b(?:a|another|one more|my|our) (?:new|additional|further|fresh) (?:argument|reason|point)\b"
    r"|\banother (?:argument|reason|point) (?:is|against|for|why)\b"
    r"|\b(?:i|we) (?:also|further|additionally) (?:argue|contend|submit|propose)\b"
    r"|\b(?:new|additional) argument\b"
)
_ARGUMENT_ID = re.compile(r"\b(?:PRO|CON)-\d+\b")


@dataclass(frozen=True, slots=True)
class CrossExaminationSpec:
    """One response for each of ``opposing``. ``known`` are all argument ids of the debate."""

    opposing: tuple[Argument, ...]
    known: frozenset[str]
    citing: Citing = NOTHING
    name: str = "cross_examination"

    @property
    def schema(self) -> JsonObject:
        """An object with one required key for every opposing argument."""
        response = _response(self.citing, reasoning=70, question=25, questions=3)
        return schema.record({argument.id: response for argument in self.opposing})

    def read(self, content: JsonObject) -> CrossExamination:
        """The responses, their questions numbered ``PRO-1.Q1``, ``PRO-1.Q2``."""
        responses = []
        for argument in self.opposing:
            row = cast("dict[str, Any]", content[argument.id])
            questions = tuple(
                Question(f"{argument.id}.Q{number}", text) for number, text in enumerate(row["questions"], start=1)
            )
            kind = ResponseKind(row["response"])
            cited, unstated = self.citing.read(row), self.citing.find_unstated_figures(row["reasoning"])
            responses.append(Response(argument.id, kind, row["reasoning"], questions, cited, unstated))
        return CrossExamination(tuple(responses))

    def violations(self, turn: CrossExamination) -> tuple[Violation, ...]:
        """Announced new arguments, unknown argument ids, repeated reasoning, false citations."""
        found: list[Violation] = []
        seen: dict[str, str] = {}
        for response in turn.responses:
            target, words = response.target, response.reasoning
            announced = _NEW_ARGUMENT.first_in(words)
            if announced:
                detail = f'the response to {target} announces a new argument ("{announced}")'
                found.append(Violation("new_argument", detail, target))
            for unknown in sorted(set(_ARGUMENT_ID.findall(words)) - self.known):
                detail = f"the response to {target} names {unknown}, which does not exist"
                found.append(Violation("unknown_argument", detail, target))
            if words in seen:
                detail = f"the response to {target} repeats the one to {seen[words]} word for word"
                found.append(Violation("repeated_response", detail, target))
            seen.setdefault(words, target)
            found += unverified(response.citations, f"the response to {target}", target)
        return tuple(found)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """The response to the next opposing argument."""
        if len(done) >= len(self.opposing):
            return None
        argument = self.opposing[len(done)]
        task = Task(
            "cross-examination-response",
            {"target": argument.id},
            {"claim": argument.claim, "reasoning": argument.reasoning, "evidence": argument.evidence},
        )
        keys = {"reply": schema.begun_with(_BEGINNINGS, 20, 320), "question": schema.text(15, 240)}
        return Part(argument.id, schema.record(keys), task, 240, temperature=0.5)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """Join the responses by argument; the beginning of a reply gives its kind."""
        # A small model only cites in its opening.
        uncited: JsonObject = {key: [] for key in self.citing.fields()}
        return {
            argument.id: {
                "reasoning": content["reply"],
                "response": _kind_of(cast("str", content["reply"])).value,
                "questions": [content["question"]],
                **uncited,
            }
            for argument, content in zip(self.opposing, done, strict=True)
        }


_BEGINNINGS = {
    "No, because": ResponseKind.REFUTE,
    "Perhaps, but": ResponseKind.CHALLENGE,
    "Partly, but": ResponseKind.PARTIAL,
    "Yes, because": ResponseKind.CONCEDE,
}


def _kind_of(reply: str) -> ResponseKind:
    return next(kind for beginning, kind in _BEGINNINGS.items() if reply.startswith(beginning))


def _response(citing: Citing, *, reasoning: int, question: int, questions: int) -> JsonObject:
    return schema.record(
        {
            "reasoning": schema.prose(20, reasoning),
            "response": schema.one_of([kind.value for kind in ResponseKind]),
            "questions": schema.several(schema.prose(8, question), 1, questions),
            **citing.fields(),
        }
    )


class ArgumentStatus(StrEnum):
    """What a side says of its own argument after the cross-examination."""

    STANDS = "stands"
    NARROWED = "narrowed"
    WITHDRAWN = "withdrawn"


class Shift(StrEnum):
    """How a side's position moved during the debate."""

    STRENGTHENED = "strengthened"
    WEAKENED = "weakened"
    PARTLY_ADJUSTED = "partly_adjusted"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a follow-up question."""

    question: str
    text: str


@dataclass(frozen=True, slots=True)
class Concession:
    """What a side accepts of an opposing argument that it conceded in cross-examination."""

    target: str
    accepted: str


@dataclass(frozen=True, slots=True)
class FinalStatus:
    """What a side says of one of its own arguments at the end."""

    argument: str
    hold: ArgumentStatus
    because: str


@dataclass(frozen=True, slots=True)
class Closing:
    """One side's closing."""

    answers: tuple[Answer, ...]
    concessions: tuple[Concession, ...]
    holds: tuple[FinalStatus, ...]
    final_position: str
    shift: Shift

    @property
    def words(self) -> int:
        """The words that count against the limit: all but the answers."""
        counted = [*(row.accepted for row in self.concessions), *(row.because for row in self.holds)]
        return sum(map(count_words, [*counted, self.final_position]))

    def text(self) -> str:
        """The closing as a reader sees it."""
        lines = [f"Answer to {row.question}: {row.text}" for row in self.answers]
        lines += [f"Conceded {row.target}: {row.accepted}" for row in self.concessions]
        lines += [f"{row.argument} {row.hold.value}: {row.because}" for row in self.holds]
        return unmarked("\n".join([*lines, f"Final position ({self.shift.value}): {self.final_position}"]))


@dataclass(frozen=True, slots=True)
class ClosingSpec:
    """A closing of a side that made ``own``, was asked ``questions``, and conceded ``conceded``.

    The schema asks for exactly the opposing arguments it conceded in cross-examination, in whole or in part. So the
    closing cannot contradict the cross-examination. ``limit`` is in words.
    """

    own: tuple[Argument, ...]
    questions: tuple[Question, ...]
    conceded: tuple[Argument, ...]
    limit: int = 200
    name: str = "closing"

    @property
    def schema(self) -> JsonObject:
        """Keys for every question, concession and own argument; empty groups are left out."""
        keys: dict[str, JsonObject] = {}
        if self.questions:
            answer = schema.prose(2, 40)
            keys["answers"] = schema.record({question.id: answer for question in self.questions})
        if self.conceded:
            accepted = schema.prose(2, 30)
            keys["concessions"] = schema.record({argument.id: accepted for argument in self.conceded})
        if self.own:
            final = schema.record(
                {"status": schema.one_of([hold.value for hold in ArgumentStatus]), "because": schema.prose(2, 30)}
            )
            keys["own_arguments"] = schema.record({argument.id: final for argument in self.own})
        keys["final_position"] = schema.prose(10, 80)
        keys["shift"] = schema.one_of([shift.value for shift in Shift])
        return schema.record(keys)

    def read(self, content: JsonObject) -> Closing:
        """The closing, every group in the order of the rules."""
        answers = cast("dict[str, str]", content.get("answers", {}))
        conceded = cast("dict[str, str]", content.get("concessions", {}))
        own = cast("dict[str, dict[str, str]]", content.get("own_arguments", {}))
        return Closing(
            tuple(Answer(question.id, answers[question.id]) for question in self.questions),
            tuple(Concession(argument.id, conceded[argument.id]) for argument in self.conceded),
            tuple(
                FinalStatus(argument.id, ArgumentStatus(own[argument.id]["status"]), own[argument.id]["because"])
                for argument in self.own
            ),
            cast("str", content["final_position"]),
            Shift(cast("str", content["shift"])),
        )

    def violations(self, turn: Closing) -> tuple[Violation, ...]:
        """More words than the limit, answers apart."""
        if turn.words <= self.limit:
            return ()
        detail = f"the closing has {turn.words} words, answers apart, and {self.limit} are allowed"
        return (Violation("word_limit", detail, "position"),)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One own argument at a time, then one concession at a time, then the final position."""
        place = len(done)
        if place < len(self.own):
            return self._own_part(self.own[place])
        place -= len(self.own)
        if place < len(self.conceded):
            argument = self.conceded[place]
            task = Task("closing-concession", {}, {"claim": argument.claim})
            return Part(argument.id, schema.record({"accepted": schema.text(20, 300)}), task, 120, temperature=0.3)
        if place > len(self.conceded):
            return None
        keys = {
            "conclusion": schema.text(30, 400),
            "shift": schema.one_of([shift.value for shift in Shift]),
        }
        quotes = {"claims": "\n".join(row.claim for row in self.own)}
        return Part("position", schema.record(keys), Task("closing-position", {}, quotes), 200, temperature=0.3)

    def _questions_to(self, argument: Argument) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.id.startswith(f"{argument.id}."))

    def _own_part(self, argument: Argument) -> Part:
        """The answers to the questions about one argument, and whether it stands."""
        questions = self._questions_to(argument)
        keys = {f"answer_{place}": schema.text(20, 300) for place, _ in enumerate(questions, start=1)}
        keys["my_point"] = schema.begun_with(_STATUS_BEGINNINGS, 15, 280)
        quotes = {"claim": argument.claim, "questions": "\n".join(question.text for question in questions)}
        task = Task("closing-argument", {}, {name: text for name, text in quotes.items() if text})
        return Part(argument.id, schema.record(keys), task, 140 + 100 * len(questions), temperature=0.3)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """Join the parts into the groups of the schema."""
        own = list(zip(self.own, done, strict=False))
        conceded = zip(self.conceded, done[len(self.own) :], strict=False)
        whole: dict[str, JsonObject] = {}
        if self.questions:
            whole["answers"] = {
                question.id: content[f"answer_{place}"]
                for argument, content in own
                for place, question in enumerate(self._questions_to(argument), start=1)
            }
        if self.conceded:
            whole["concessions"] = {argument.id: content["accepted"] for argument, content in conceded}
        if self.own:
            whole["own_arguments"] = {
                argument.id: {
                    "status": _hold_of(cast("str", content["my_point"])).value,
                    "because": content["my_point"],
                }
                for argument, content in own
            }
        return {**whole, "final_position": done[-1]["conclusion"], "shift": done[-1]["shift"]}


_STATUS_BEGINNINGS = {
    "It still stands because": ArgumentStatus.STANDS,
    "It holds only in part because": ArgumentStatus.NARROWED,
    "I give it up because": ArgumentStatus.WITHDRAWN,
}


def _hold_of(point: str) -> ArgumentStatus:
    return next(hold for beginning, hold in _STATUS_BEGINNINGS.items() if point.startswith(beginning))
