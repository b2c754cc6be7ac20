"""Turns of one seat: an answer to a question with options or a number, and the recognition of a knowledge base."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.kernel import JsonObject, Part, Task, Violation


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An option, or a number as plain digits. ``confidence`` is 0 to 100, None where it was not asked for."""

    answer: str
    reasoning: str
    confidence: int | None = None

    def text(self) -> str:
        """The answer as a reader sees it."""
        return unmarked(f"{self.reasoning}\nAnswer: {self.answer}")


def plain_number(text: str) -> str | None:
    """Return ``text`` as plain digits, so that equal numbers are equal texts; None where it is no number."""
    try:
        value = Decimal(text.replace(",", "").strip().removesuffix("%").strip())
    except InvalidOperation:
        return None
    return format(value.normalize(), "f") if value.is_finite() else None


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """Reasons, then one of ``options`` (a number where there are none), then how likely it is to be right."""

    options: tuple[str, ...]
    name: str = "answer"

    @property
    def schema(self) -> JsonObject:
        """Reasons before the answer, so that the answer follows from them."""
        return schema.record(
            {"reasoning": schema.prose(10, 300), "answer": self._answer(), "confidence": schema.whole(0, 100)}
        )

    def _answer(self) -> JsonObject:
        return schema.one_of(self.options) if self.options else schema.number_text()

    def read(self, content: JsonObject) -> GivenAnswer:
        """The answer; a number in plain digits."""
        given = cast("str", content["answer"])
        answer = given if self.options else plain_number(given) or given
        return GivenAnswer(answer, cast("str", content["reasoning"]), int(cast("int", content["confidence"])))

    def violations(self, turn: GivenAnswer) -> tuple[Violation, ...]:  # noqa: ARG002  (the schema carries every rule)
        """None."""
        return ()

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """A thought, and a sentence whose beginning is the answer."""
        if done:
            return None
        keys: dict[str, JsonObject] = {"thought": schema.text(10, 240)}
        if self.options:
            keys["my_answer"] = schema.begun_with(self._beginnings(), 15, 260)
        else:
            keys["number"] = self._answer()
        offered = ", ".join(self.options) or "a number"
        return Part("answer", schema.record(keys), Task("answer", {"options": offered}), 240, temperature=None)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """Join thought and answer. A small model is not asked for a confidence, which is then one half."""
        said = done[0]
        thought = cast("str", said["thought"])
        if not self.options:
            return {"reasoning": thought, "answer": said["number"], "confidence": 50}
        sentence = cast("str", said["my_answer"])
        beginnings = self._beginnings()
        begun = max((row for row in beginnings if sentence.startswith(row)), key=len)
        return {"reasoning": f"{thought} {sentence}", "answer": beginnings[begun], "confidence": 50}

    def _beginnings(self) -> dict[str, str]:
        return {f"My answer is {option} because": option for option in self.options}


MONTHS = tuple(f"{number:02}" for number in range(1, 13))


@dataclass(frozen=True, slots=True)
class Recognised:
    """A guess. ``confidence`` is 0 to 100 that the month is right; None for a small model."""

    index: str
    year: int
    month: int
    clues: str
    confidence: int | None = None

    def text(self) -> str:
        """The guess as a reader sees it."""
        return unmarked(f"{self.clues}\n{self.index}, {self.year}-{self.month:02}")


@dataclass(frozen=True, slots=True)
class RecognitionSpec:
    """The clues, one of ``indices``, one of ``years`` and a month. The guess is required, so that it can be scored.

    ``asked`` is the index's name in the knowledge base.
    """

    asked: str
    indices: tuple[str, ...]
    years: tuple[str, ...]
    name: str = "recognition"

    @property
    def schema(self) -> JsonObject:
        """Clues before the guess, so that the guess follows from them."""
        return schema.record(
            {"clues": schema.prose(10, 150), **self._guess(), "confidence": schema.whole(0, 100)},
        )

    def _guess(self) -> dict[str, JsonObject]:
        return {
            "index": schema.one_of(self.indices),
            "year": schema.one_of(self.years),
            "month": schema.one_of(MONTHS),
        }

    def read(self, content: JsonObject) -> Recognised:
        """The guess."""
        said = cast("dict[str, str]", content)
        sure = content.get("confidence")
        return Recognised(
            said["index"],
            int(said["year"]),
            int(said["month"]),
            said["clues"],
            None if sure is None else int(cast("int", sure)),
        )

    def violations(self, turn: Recognised) -> tuple[Violation, ...]:  # noqa: ARG002  (the schema carries every rule)
        """None."""
        return ()

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One thought and the guess."""
        if done:
            return None
        keys = {"clues": schema.text(10, 200), **self._guess()}
        return Part("guess", schema.record(keys), Task("recognition", {"asked": self.asked}), 240)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The guess; a small model is not asked how sure it is, which is half."""
        return {**done[0], "confidence": 50}
