"""The labels of a backtest: what happened after each decision date. Analysts and knowledge bases never import this.

entry       at the close of the decision date, or of the next session horizon     to the entry of the following decision
date, so windows never overlap up          the return over the horizon is strictly above zero; the tie rule decides a
return of exactly zero balanced    the return is strictly above the median of all returns known on the decision date, if
there are enough.
            In a market that rises most of the time, "up" is easy and this is not
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import pairwise
from statistics import median

from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.archive import PriceSeries

FEWEST_FOR_MEDIAN = 60


class Entry(StrEnum):
    """When the position is taken."""

    SAME_CLOSE = "same_close"
    NEXT_CLOSE = "next_close"


class Tie(StrEnum):
    """How to label a return of exactly zero."""

    DOWN = "down"
    UP = "up"
    EXCLUDE = "exclude"


@dataclass(frozen=True, slots=True)
class Label:
    """The outcome of one decision date. ``known_on`` is the first day on which it is known.

    ``up`` is None for an excluded tie, ``balanced`` if too few returns were known.
    """

    decided: date
    entered: date
    known_on: date
    value: float
    up: bool | None
    balanced: bool | None


def label_dates(
    prices: PriceSeries,
    decisions: Sequence[date],
    *,
    entry: Entry = Entry.NEXT_CLOSE,
    tie: Tie = Tie.DOWN,
    history: Sequence[date] = (),
    fewest: int = FEWEST_FOR_MEDIAN,
) -> tuple[Label, ...]:
    """Label each decision date whose horizon ends within ``prices``.

    Args:
        prices: the closes of what is predicted.
        decisions: sessions, rising; each horizon ends with the entry after the next one.
        entry: when the position is taken.
        tie: how to label a return of exactly zero.
        history: earlier decision dates, whose returns count for the median and get no label.
        fewest: how many returns must be known for a balanced label.

    Raises:
        InvalidInputError: a decision date is not a session of ``prices``, or they do not rise.
    """
    every = [*history, *decisions]
    if any(one >= other for one, other in pairwise(every)):
        raise InvalidInputError("The decision dates do not rise.", "Give each once, earlier ones first.")
    places = []
    for day in every:
        place = prices.place(day)
        if place is None or prices.days[place] != day:
            raise InvalidInputError(f"{day} is not a session of {prices.name}.", "Take sessions as decision dates.")
        places.append(place + (entry is Entry.NEXT_CLOSE))
    found: list[Label] = []
    known: list[tuple[date, float]] = []
    for number, (start, end) in enumerate(pairwise(places)):
        if end >= len(prices.days):
            break
        value = prices.closes[end] / prices.closes[start] - 1
        if number >= len(history):
            # Only returns known on the evening of the decision date.
            past = [row for day, row in known if day <= every[number]]
            balanced = value > median(past) if len(past) >= fewest else None
            found.append(Label(every[number], prices.days[start], prices.days[end], value, _up(value, tie), balanced))
        known.append((prices.days[end], value))
    return tuple(found)


def _up(value: float, tie: Tie) -> bool | None:
    if value != 0:
        return value > 0
    return {Tie.UP: True, Tie.DOWN: False, Tie.EXCLUDE: None}[tie]


def compute_climatology(labels: Sequence[Label], before: Sequence[Label] = ()) -> tuple[float | None, ...]:
    """For each label the share of ups among all labels whose outcome was known when it was decided."""
    found: list[float | None] = []
    for row in labels:
        past = [one.up for one in (*before, *labels) if one.known_on <= row.decided and one.up is not None]
        found.append(sum(past) / len(past) if past else None)
    return tuple(found)
