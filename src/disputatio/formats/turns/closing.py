"""Closing: answers to the questions first, then concessions, what still stands, and the final position.

Source: the structured debate protocol (three components, at most 200 words, a shift of position is named).
The answers come before and are not counted in the 200 words: they are what responsiveness is judged on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.formats.turns.cross_examination import Question
from disputatio.formats.turns.opening import Argument
from disputatio.kernel import JsonObject, Part, Task, Violation
from disputatio.motion import count_words


class Hold(StrEnum):
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
class Held:
    """What a side says of one of its own arguments at the end."""

    argument: str
    hold: Hold
    because: str


@dataclass(frozen=True, slots=True)
class Closing:
    """One side's closing."""

    answers: tuple[Answer, ...]
    concessions: tuple[Concession, ...]
    holds: tuple[Held, ...]
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
    """A closing by a side that made ``own``, was asked ``questions``, and conceded ``conceded``.

    ``conceded`` are the opposing arguments it conceded, whole or in part, in cross-examination: the schema
    asks for exactly these, so the closing cannot contradict the cross-examination. ``limit`` is in words.
    """

    own: tuple[Argument, ...]
    questions: tuple[Question, ...]
    conceded: tuple[Argument, ...]
    limit: int = 200
    name: str = "closing"

    @property
    def schema(self) -> JsonObject:
        """Keys for every question, every concession and every own argument; empty groups are left out."""
        keys: dict[str, JsonObject] = {}
        if self.questions:
            answer = schema.prose(2, 40)
            keys["answers"] = schema.record({question.id: answer for question in self.questions})
        if self.conceded:
            accepted = schema.prose(2, 30)
            keys["concessions"] = schema.record({argument.id: accepted for argument in self.conceded})
        if self.own:
            held = schema.record(
                {"status": schema.one_of([hold.value for hold in Hold]), "because": schema.prose(2, 30)}
            )
            keys["own_arguments"] = schema.record({argument.id: held for argument in self.own})
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
                Held(argument.id, Hold(own[argument.id]["status"]), own[argument.id]["because"])
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
        keys["my_point"] = schema.begun_with(_BEGINNINGS, 15, 280)
        quotes = {"claim": argument.claim, "questions": "\n".join(question.text for question in questions)}
        task = Task("closing-argument", {}, {name: text for name, text in quotes.items() if text})
        return Part(argument.id, schema.record(keys), task, 140 + 100 * len(questions), temperature=0.3)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The parts, grouped as the whole form groups them."""
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


_BEGINNINGS = {
    "It still stands because": Hold.STANDS,
    "It holds only in part because": Hold.NARROWED,
    "I give it up because": Hold.WITHDRAWN,
}


def _hold_of(point: str) -> Hold:
    return next(hold for beginning, hold in _BEGINNINGS.items() if point.startswith(beginning))
