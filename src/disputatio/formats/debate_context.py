"""What a rulebook knows besides its rules: who sits at the table, what is debated, and on what sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from disputatio.evidence.sources import SourceSet
from disputatio.kernel import Seat

if TYPE_CHECKING:
    from disputatio.market.knowledge import KnowledgeBase
    from disputatio.motion import Motion


@dataclass(frozen=True, slots=True)
class Voice:
    """Whose voice a seat has: the model, its family, and the persona it was given, empty where it has none."""

    seat: str
    model: str
    family: str
    persona: str = ""


@dataclass(frozen=True, slots=True)
class DebateContext:
    """The matter of one debate; the same on resume, since it is made from the record.

    Attributes:
        seats: every seat that is taken, debaters first.
        motion: what is debated.
        sources: what citations are checked against; without any, no citation is asked for.
        introduced: the sources that are held back, each with the round that brings it.
        knowledge: the knowledge base of a market debate; None for the other formats.
        voices: whose voice each seat has that a model sits in.
        struck: in a fork, the names of what was struck from the debate that it comes from; see `formats.omission`.
    """

    seats: tuple[Seat, ...]
    motion: Motion
    sources: SourceSet = field(default_factory=SourceSet, compare=False)
    voices: tuple[Voice, ...] = ()
    introduced: Mapping[str, int] = field(default_factory=dict, compare=False)
    knowledge: KnowledgeBase | None = field(default=None, compare=False)
    struck: frozenset[str] = frozenset()

    def sources_by(self, number: int) -> SourceSet:
        """The sources that are known in round ``number``."""
        return SourceSet(row for row in self.sources if self.introduced.get(row.source_id, 1) <= number)


def numbered(seat: Seat, seats: Iterable[Seat]) -> tuple[Seat, ...]:
    """The seats among ``seats`` that are ``seat`` or a further one of it: ``judge``, ``judge_2``, ``judge_3``."""
    found = [(number, row) for row in seats if (number := place_of(row, seat)) is not None]
    return tuple(row for _, row in sorted(found))


def place_of(seat: str, first: str) -> int | None:
    """Which one of the seats that begin with ``first`` this is, 1 for ``first`` itself; None for another seat."""
    if seat == first:
        return 1
    number = seat.removeprefix(f"{first}_")
    return int(number) if number != seat and re.fullmatch(r"[2-9]|[1-9][0-9]", number) else None
