"""Turns without what was struck from them, for a debate that is forked.

Every part of a turn that can be struck has a name:

    PRO-1, PROP-1, CRIT-1, REB-1    an argument, a criticism or an answer
    CON on PRO-1                    the response of a side to an argument
    PRO-1 quote 2                   the second citation of such a part

A part that is struck was never said: the rules, and every seat that speaks later, know nothing of it. The others keep
their names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import TypeVar

from disputatio.evidence.citations import CheckedCitation
from disputatio.formats.turns.criticism import CounterArgument, Criticism, Rebuttal, Rebuttals
from disputatio.formats.turns.cross_examination import CrossExamination
from disputatio.formats.turns.opening import Opening
from disputatio.formats.turns.proposition import Proposition, ReviewArgument
from disputatio.kernel import Turn

TurnT = TypeVar("TurnT")
SupportedT = TypeVar("SupportedT", bound="ReviewArgument | CounterArgument | Rebuttal")


def names_of(seat: str, turn: Turn) -> tuple[str, ...]:
    """The names of all parts of a turn of ``seat``, in its order; none where nothing of it can be struck."""
    return tuple(
        name
        for part, citations in _parts(seat, turn)
        for name in (part, *(_quote(part, number) for number in range(1, len(citations) + 1)))
    )


def omit(seat: str, turn: TurnT, struck: Collection[str]) -> TurnT:
    """``turn`` of ``seat`` without what is ``struck``; names that it does not have change nothing."""
    if not struck:
        return turn
    found: object = turn
    if isinstance(turn, Proposition):
        found = replace(turn, arguments=_supported(turn.arguments, struck))
    if isinstance(turn, Opening):
        kept = [row for row in turn.arguments if row.id not in struck]
        rows = [replace(row, citations=_left(row.id, row.citations, struck)) for row in kept]
        found = replace(turn, arguments=tuple(rows))
    elif isinstance(turn, CrossExamination):
        name = _responding(seat)
        answers = [row for row in turn.responses if name(row.target) not in struck]
        left = [replace(row, citations=_left(name(row.target), row.citations, struck)) for row in answers]
        found = replace(turn, responses=tuple(left))
    elif isinstance(turn, Criticism):
        found = replace(turn, arguments=_supported(turn.arguments, struck))
    elif isinstance(turn, Rebuttals):
        found = replace(turn, answers=_supported(turn.answers, struck))
    return found  # type: ignore[return-value]


def _parts(seat: str, turn: Turn) -> Iterator[tuple[str, tuple[CheckedCitation, ...]]]:
    if isinstance(turn, Opening):
        yield from ((row.id, row.citations) for row in turn.arguments)
    elif isinstance(turn, CrossExamination):
        yield from ((_responding(seat)(row.target), row.citations) for row in turn.responses)
    elif isinstance(turn, Proposition | Criticism):
        yield from ((row.id, row.support.citations) for row in turn.arguments)
    elif isinstance(turn, Rebuttals):
        yield from ((row.id, row.support.citations) for row in turn.answers)


def _responding(seat: str) -> Callable[[str], str]:
    """How the response of ``seat`` to an argument is called, as a judge calls it in its grounds."""
    return lambda target: f"{seat.upper()} on {target}"


def _quote(part: str, number: int) -> str:
    return f"{part} quote {number}"


def _left(part: str, citations: tuple[CheckedCitation, ...], struck: Collection[str]) -> tuple[CheckedCitation, ...]:
    return tuple(row for number, row in enumerate(citations, start=1) if _quote(part, number) not in struck)


def _supported(rows: tuple[SupportedT, ...], struck: Collection[str]) -> tuple[SupportedT, ...]:
    kept = [row for row in rows if row.id not in struck]
    return tuple(
        replace(row, support=replace(row.support, citations=_left(row.id, row.support.citations, struck)))
        for row in kept
    )
