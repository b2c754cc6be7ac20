"""Cross-examination: exactly one response to every opposing argument, each with a sharp question.

Source: the structured debate protocol (refute, challenge, concede or partial; at least one follow-up
question for each argument; no new arguments).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from disputatio.evidence.citations import CheckedCitation
from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import NOTHING, Citing, citation_lines, unmarked, unstated_lines, unverified
from disputatio.formats.turns.opening import Argument
from disputatio.formats.turns.phrases import Phrases
from disputatio.kernel import JsonObject, Part, Task, Violation


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
        """The figures of each response that stand in no source, by the argument it answers."""
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
    """One response for each of ``opposing``; ``known`` are all argument ids that exist in the debate."""

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
        """New arguments announced, arguments named that do not exist, one reasoning used twice, false citations."""
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
        """The responses keyed by the argument they answer; how a reply begins says what kind it is."""
        # A small model has its hands full with one reply; it cites in its opening.
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
