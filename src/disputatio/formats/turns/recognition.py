"""A guess at what a knowledge base is of: which index, which month. Nobody is helped by it; it measures memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.kernel import JsonObject, Part, Task, Violation

MONTHS = tuple(f"{number:02}" for number in range(1, 13))


@dataclass(frozen=True, slots=True)
class Recognised:
    """A guess. ``confidence`` is 0 to 100 that the month is right; None where a small model was not asked."""

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
    """The clues, one of ``indices``, one of ``years`` and a month: a guess is always given, so that it can be scored.

    ``asked`` is what the index is called in the knowledge base.
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
