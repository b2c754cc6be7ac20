"""Scores: integers from the judge, every sum and mean from here, in exact fractions.

Reading aid (structured debate protocol, "Level 1: Total Scores"): a gap under 1 point is evenly matched, over
3 points is significant, and between the two one side has an edge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from math import lcm

from disputatio.judging.rubric import Rubric


class Edge(StrEnum):
    """What a gap between two totals amounts to."""

    EVEN = "evenly matched"
    EDGE = "an edge"
    SIGNIFICANT = "a significant difference"


def weighted(scores: Mapping[str, int], rubric: Rubric) -> Fraction:
    """The weighted score of one argument, 1 to 10, exact. ``scores`` has every criterion of ``rubric``."""
    shares, whole = rubric.shares
    total = 0
    for key, share in shares:
        total += share * scores[key]
    return Fraction(total, whole)


def mean(values: Sequence[Fraction]) -> Fraction | None:
    """The exact mean, or None of nothing: a side without scored arguments has no total, not a zero."""
    if not values:
        return None
    # In whole numbers over one denominator: a sum of fractions looks for common divisors at every step.
    whole = lcm(*[value.denominator for value in values])
    total = sum([value.numerator * (whole // value.denominator) for value in values])
    return Fraction(total, whole * len(values))


def edge(gap: Fraction) -> Edge:
    """What the size of a gap in points amounts to."""
    size = abs(gap)
    if size < 1:
        return Edge.EVEN
    return Edge.EDGE if size <= 3 else Edge.SIGNIFICANT


def gap_text(gap: Fraction) -> str:
    """The size of ``gap`` with two decimals, or as many more as it takes not to read as another kind of gap.

    A gap of 0.996 is under one point: as "1.00" it would contradict the words beside it, and so would 0.004 as "0.00".
    """
    size = abs(gap)
    for places in range(2, 16):
        shown = f"{rounded(size, places):.{places}f}"
        if edge(Fraction(shown)) is edge(size) and (Fraction(shown) > 0) == (size > 0):
            return shown
    return f"{float(size)}"


def rounded(value: Fraction, places: int = 2) -> float:
    """``value`` rounded half up to ``places`` decimals, for people and for JSON; never for a decision."""
    scale: int = 10**places
    size = (2 * abs(value.numerator) * scale + value.denominator) // (2 * value.denominator)
    return (size if value >= 0 else -size) / scale
