"""Free-form turns: a monologue, and a judge's finding under five headings.

Source: the structured debate protocol on its predecessor, the free-form debate (alternating monologues; a
judge who states pro strengths, con strengths, areas of agreement, uncertain areas and a recommendation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.formats.turns.schema import CHARACTERS_PER_WORD
from disputatio.kernel import JsonObject, Part, Task, Violation
from disputatio.motion import count_words

HEADINGS = {
    "pro_strengths": "Pro strengths",
    "con_strengths": "Con strengths",
    "areas_of_agreement": "Areas of agreement",
    "uncertain_areas": "Uncertain areas",
    "recommendation": "Recommendation",
}


_SHORT = 700
"""Characters of a small model's speech."""


@dataclass(frozen=True, slots=True)
class Monologue:
    """One speech."""

    speech: str

    def text(self) -> str:
        """The speech."""
        return unmarked(self.speech)


@dataclass(frozen=True, slots=True)
class MonologueSpec:
    """A speech of at most ``limit`` words."""

    limit: int
    name: str = "monologue"

    @property
    def schema(self) -> JsonObject:
        """One text."""
        return schema.record({"speech": schema.text(20, max(_SHORT, self.limit * CHARACTERS_PER_WORD))})

    def read(self, content: JsonObject) -> Monologue:
        """The speech."""
        speech: Any = content["speech"]
        return Monologue(speech)

    def violations(self, turn: Monologue) -> tuple[Violation, ...]:
        """More words than the limit."""
        words = count_words(turn.speech)
        if words <= self.limit:
            return ()
        return (Violation("word_limit", f"the speech has {words} words and {self.limit} are allowed", "speech"),)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """The speech in one piece, shorter."""
        if done:
            return None
        return Part("speech", schema.record({"speech": schema.text(20, _SHORT)}), Task("monologue-short"), 320)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The speech."""
        return done[0]


@dataclass(frozen=True, slots=True)
class Summing:
    """A judge's finding under the five headings."""

    headings: dict[str, str]

    def text(self) -> str:
        """Heading by heading."""
        return "\n\n".join(f"{HEADINGS[key]}: {text}" for key, text in self.headings.items())


@dataclass(frozen=True, slots=True)
class SummingSpec:
    """The five headings, all required; no scores."""

    name: str = "summing"

    @property
    def schema(self) -> JsonObject:
        """One text for each heading."""
        return schema.record({key: schema.prose(10, 100) for key in HEADINGS})

    def read(self, content: JsonObject) -> Summing:
        """The finding, in the order of the headings."""
        return Summing({key: cast("str", content[key]) for key in HEADINGS})

    def violations(self, turn: Summing) -> tuple[Violation, ...]:  # noqa: ARG002  (the form has no such rule)
        """None: what this form requires, its schema carries."""
        return ()

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One heading at a time."""
        if len(done) >= len(HEADINGS):
            return None
        key, heading = list(HEADINGS.items())[len(done)]
        task = Task("summing-heading", {"heading": heading})
        return Part(key, schema.record({"text": schema.text(10, 320)}), task, 160)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The texts keyed by heading."""
        return {key: content["text"] for key, content in zip(HEADINGS, done, strict=True)}
