"""What a captain decides in the free debate: who speaks next, about what, and how much the team wants the floor.

Source: the debate competition protocol (a captain is shown who may speak and names one of them with a direction).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.kernel import JsonObject, Part, Task, Violation

HIGHEST_BID = 10
_BIDS = {"not at all": 0, "a little": 3, "much": 6, "very much": 9}


@dataclass(frozen=True, slots=True)
class Direction:
    """The next speaker of a team, what to speak about, and the bid for the floor; 0 is none."""

    speaker: str
    direction: str
    bid: int = 0

    def text(self) -> str:
        """The direction as the team reads it."""
        return unmarked(f"To our team alone. Next: {self.speaker}. Direction: {self.direction}")


@dataclass(frozen=True, slots=True)
class DirectionSpec:
    """One of ``candidates`` and a direction; with a bid where teams bid for the floor."""

    candidates: tuple[str, ...]
    bids: bool = False
    stance: str = ""
    quotes: Mapping[str, str] = field(default_factory=dict)
    name: str = "direction"

    @property
    def schema(self) -> JsonObject:
        """The speaker is one of those who may speak."""
        bid = {"bid": schema.whole(0, HIGHEST_BID)} if self.bids else {}
        return schema.record(
            {"speaker": schema.one_of(self.candidates), "direction": schema.prose(2, 50), **bid},
        )

    def read(self, content: JsonObject) -> Direction:
        """The direction."""
        bid = content.get("bid", 0)
        return Direction(cast("str", content["speaker"]), cast("str", content["direction"]), int(cast("int", bid)))

    def violations(self, turn: Direction) -> tuple[Violation, ...]:  # noqa: ARG002  (the schema carries every rule)
        """None."""
        return ()

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """Everything at once; how much the floor is wanted in a word."""
        if done:
            return None
        bid = {"wanted": schema.one_of(_BIDS)} if self.bids else {}
        point = "benefit" if self.stance == "for" else "problem"
        direction = schema.begun_with([f"Say that one {point} is"], 15, 200)
        keys = {"speaker": schema.one_of(self.candidates), "direction": direction, **bid}
        task = Task("competition-direction", {"stance": self.stance, "point": point}, self.quotes)
        return Part("direction", schema.record(keys), task, 120, 0.5)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The direction, with the word as a number."""
        bid = {"bid": _BIDS[cast("str", done[0]["wanted"])]} if self.bids else {}
        return {"speaker": done[0]["speaker"], "direction": done[0]["direction"], **bid}
