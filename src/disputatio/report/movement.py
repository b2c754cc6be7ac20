"""How each seat moved in a debate: what it withdrew, narrowed and conceded, and what it says of its own position.

Everything is read from the turns as plain JSON, so it exists also where a debate has not come to a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from disputatio.motion import one_line
from disputatio.report.amounts import spoken
from disputatio.report.reading import DebateReport, Entry
from disputatio.report.turns.statement import natural


@dataclass(frozen=True, slots=True)
class Movement:
    """How one seat ended. ``shift`` is its own word for it, such as ``weakened``; empty where it gave none.

    ``conceded`` are arguments of others that it accepts; ``own`` is the number of its own that it spoke about.
    """

    seat: str
    shift: str = ""
    own: int = 0
    withdrawn: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()
    conceded: tuple[str, ...] = ()

    @property
    def side(self) -> str:
        """The side it spoke for: ``pro``, or ``bull`` of ``tech_bull``."""
        return side_of(self.seat)


def side_of(seat: str) -> str:
    """The side of a seat or of a row of a trace."""
    for side in ("bull", "bear"):
        if seat.endswith(f"_{side}"):
            return side
    return seat


def movements(report: DebateReport) -> tuple[Movement, ...]:
    """How every seat ended that gave a closing, in the order of the closings."""
    return tuple(_movement(entry, *entry.kind.closing) for entry in report.turns if entry.kind.closing)


def _movement(entry: Entry, own: str, shift: str) -> Movement:
    content: Mapping[str, Any] = entry.content
    rows = content.get(own)
    states = {
        one_line(str(argument), 40): str(row.get("status") or "")
        for argument, row in (rows.items() if isinstance(rows, Mapping) else ())
        if isinstance(row, Mapping)
    }
    return Movement(
        seat=entry.seat,
        shift=spoken(one_line(str(content.get(shift) or ""), 40)),
        own=len(states),
        withdrawn=_in_state(states, "withdrawn"),
        narrowed=_in_state(states, "narrowed"),
        conceded=tuple(sorted(_conceded(content.get("concessions")), key=natural)),
    )


def _in_state(states: Mapping[str, str], word: str) -> tuple[str, ...]:
    return tuple(sorted((argument for argument, state in states.items() if state == word), key=natural))


def _conceded(rows: Any) -> Iterable[str]:
    if isinstance(rows, Mapping):
        return [one_line(str(target), 40) for target in rows]
    if isinstance(rows, list | tuple):
        return [one_line(str(row.get("target") or ""), 40) for row in rows if isinstance(row, Mapping)]
    return []


def withdrawn_arguments(report: DebateReport) -> frozenset[str]:
    """Every argument that the seat which made it took back."""
    return frozenset(argument for row in movements(report) for argument in row.withdrawn)
