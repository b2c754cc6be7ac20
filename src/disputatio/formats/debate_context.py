"""What a rulebook knows besides its rules: the seats, the motion, the sources."""

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
    """The model of a seat, its family, and its persona; empty where it has none."""

    seat: str
    model: str
    family: str
    persona: str = ""


@dataclass(frozen=True, slots=True)
class DebateContext:
    """The input of one debate. It is made from the record, so it is the same on resume.

    Attributes:
        seats: every occupied seat, debaters first.
        motion: the motion.
        sources: citations are checked against these; without sources no citation is asked for.
        introduced: sources that are withheld, each with the round that introduces it.
        knowledge: the knowledge base of a market debate; None for other formats.
        voices: the voice of each seat that a model occupies.
        struck: in a fork, the names of what was struck from the original debate; see `formats.omission`.
    """

    seats: tuple[Seat, ...]
    motion: Motion
    sources: SourceSet = field(default_factory=SourceSet, compare=False)
    voices: tuple[Voice, ...] = ()
    introduced: Mapping[str, int] = field(default_factory=dict, compare=False)
    knowledge: KnowledgeBase | None = field(default=None, compare=False)
    struck: frozenset[str] = frozenset()

    def sources_by(self, number: int) -> SourceSet:
        """Return the sources that are known in round ``number``."""
        return SourceSet(row for row in self.sources if self.introduced.get(row.source_id, 1) <= number)


def numbered(seat: Seat, seats: Iterable[Seat]) -> tuple[Seat, ...]:
    """Return ``seat`` and its further ones among ``seats``, in order: ``judge``, ``judge_2``, ``judge_3``."""
    found = [(number, row) for row in seats if (number := place_of(row, seat)) is not None]
    return tuple(row for _, row in sorted(found))


def place_of(seat: str, first: str) -> int | None:
    """Return the number of a seat: 1 for ``first``, 2 for ``first_2``; None for another seat."""
    if seat == first:
        return 1
    number = seat.removeprefix(f"{first}_")
    return int(number) if number != seat and re.fullmatch(r"[2-9]|[1-9][0-9]", number) else None
