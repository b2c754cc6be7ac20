"""Framing: the question made ready for a review.

Source: the review pattern, framing agent (thesis, scope, criteria for a good answer, key evidence). The framing takes
no side; it has a seat of its own, because whoever argues would frame for itself and whoever moderates would judge by
criteria of its own making.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.kernel import JsonObject, Part, Task, Violation
from disputatio.motion.wording import same_words

MOST_SOURCES = 60
"""Providers limit their enums; of more sources the framing names none as key."""


@dataclass(frozen=True, slots=True)
class KeyEvidence:
    """What the answer hangs on: a source and why, or, without sources, what would have to be known."""

    source: str
    why: str


@dataclass(frozen=True, slots=True)
class Framing:
    """The question as it is debated. ``criteria`` hold those that were set before the framing's own."""

    thesis: str
    scope: str
    criteria: tuple[str, ...]
    key_evidence: tuple[KeyEvidence, ...]
    positions: tuple[str, ...] = ()

    def text(self) -> str:
        """The framing as the other seats see it."""
        lines = [f"Thesis: {self.thesis}", f"Scope: {self.scope}", "Criteria for a good answer:"]
        lines += [f"- {row}" for row in self.criteria]
        lines += ["Key evidence:"] if self.key_evidence else []
        lines += [f"- {row.source}: {row.why}" if row.source else f"- {row.why}" for row in self.key_evidence]
        lines += [f"Position {number}: {row}" for number, row in enumerate(self.positions, start=1)]
        return unmarked("\n".join(lines))

    def as_json(self) -> JsonObject:
        """As the outcome keeps it."""
        return {
            "thesis": self.thesis,
            "scope": self.scope,
            "criteria": list(self.criteria),
            "key_evidence": [{"source": row.source, "why": row.why} for row in self.key_evidence],
            "positions": list(self.positions),
        }


@dataclass(frozen=True, slots=True)
class FramingSpec:
    """A framing.

    ``criteria`` are those that were set and stand before the framing's own; ``sources`` are the ids that may be named;
    ``positions`` is how many positions the framing must find, 0 where they are given or there is one.
    """

    criteria: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    positions: int = 0
    name: str = "framing"

    @property
    def schema(self) -> JsonObject:
        """Key evidence names sources that exist; without sources it says what would have to be known."""
        keys: dict[str, JsonObject] = {
            "thesis": schema.prose(10, 60),
            "scope": schema.prose(10, 60),
            "criteria": schema.several(schema.prose(8, 25), 1, 6),
        }
        if 0 < len(self.sources) <= MOST_SOURCES:
            row = schema.record({"source": schema.one_of(self.sources), "why": schema.prose(8, 30)})
            keys["key_evidence"] = schema.several(row, 0, 6)
        else:
            keys["evidence_wanted"] = schema.several(schema.prose(8, 30), 0, 6)
        if self.positions:
            keys["positions"] = schema.several(schema.prose(10, 30), self.positions, self.positions)
        return schema.record(keys)

    def read(self, content: JsonObject) -> Framing:
        """The framing, the given criteria first."""
        body = cast("dict[str, Any]", content)
        named = [KeyEvidence(row["source"], row["why"]) for row in body.get("key_evidence", ())]
        wanted = [KeyEvidence("", text) for text in body.get("evidence_wanted", ())]
        return Framing(
            body["thesis"],
            body["scope"],
            (*self.criteria, *body["criteria"]),
            (*named, *wanted),
            tuple(body.get("positions", ())),
        )

    def violations(self, turn: Framing) -> tuple[Violation, ...]:
        """A position that is given twice: there would be nothing to compare."""
        return tuple(
            Violation("repeated_position", f"position {later + 1} says the same as position {first + 1}", "positions")
            for later, first in same_words(turn.positions)
        )

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """The thesis and the scope, then the criteria, then the positions."""
        if not done:
            keys = {
                "it_claims": schema.begun_with(_CLAIMS, 20, 260),
                "it_is_about": schema.begun_with(_SCOPE, 20, 260),
            }
            return Part("thesis", schema.record(keys), Task("framing-thesis"), 200, temperature=0.3)
        if len(done) == 1:
            keys = {
                f"criterion_{number}": schema.begun_with((row,), 20, 240) for number, row in enumerate(_CRITERIA, 1)
            }
            return Part("criteria", schema.record(keys), Task("framing-criteria"), 220, temperature=0.3)
        if len(done) == 2 and self.positions:
            keys = {f"option_{number}": schema.text(20, 200) for number in range(1, self.positions + 1)}
            task = Task("framing-positions", {"number": str(self.positions)})
            return Part("positions", schema.record(keys), task, 80 * self.positions, temperature=0.5)
        return None

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The pieces as one framing; a small model names no key evidence."""
        first, criteria, *positions = cast("tuple[dict[str, str], ...]", done)
        known = "key_evidence" if 0 < len(self.sources) <= MOST_SOURCES else "evidence_wanted"
        whole: dict[str, Any] = {
            "thesis": first["it_claims"],
            "scope": first["it_is_about"],
            "criteria": list(criteria.values()),
            known: [],
        }
        if positions:
            whole["positions"] = [positions[0][f"option_{number}"] for number in range(1, self.positions + 1)]
        return whole


_CLAIMS = ("The proposal claims that", "The proposal says that")
_SCOPE = ("It is about", "It concerns")
_CRITERIA = ("A good answer shows", "A good answer compares", "A good answer explains")
