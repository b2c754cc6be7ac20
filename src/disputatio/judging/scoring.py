"""Rubrics, and exact sums and means of their scores from 1 to 10.

A rubric measures the quality of the debating, not who is right. Judges give integers; code computes all the rest.

Reading aid (structured debate protocol, "Level 1: Total Scores"): a gap under 1 point is evenly matched, over 3 points
is significant, and between the two one side has an edge.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from math import lcm

from disputatio.errors import InvalidInputError

LOWEST, HIGHEST = 1, 10
_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
_TAKEN = frozenset({"rests_on", "reason", "standing", "fallacies", "answers", "new_arguments", "cross_references"})
"""Names of what a judge states besides scores. A criterion may not use them."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing to score. ``weight`` is a share of 1; the judge answers ``question``."""

    key: str
    weight: Fraction
    question: str


@dataclass(frozen=True)
class Rubric:
    """Criteria whose weights sum to exactly 1.

    Raises:
        InvalidInputError: there are none, a key is invalid or used twice, a weight is not positive, or the sum is
            not 1.
    """

    name: str
    criteria: tuple[Criterion, ...]

    def __post_init__(self) -> None:
        keys = [criterion.key for criterion in self.criteria]
        total = sum((criterion.weight for criterion in self.criteria), Fraction(0))
        if not keys or len(set(keys)) < len(keys) or not all(map(_KEY.fullmatch, keys)) or _TAKEN & set(keys):
            raise InvalidInputError(
                f"The rubric {self.name} has unusable criteria: {', '.join(keys) or 'none'}.",
                "Give each criterion a name of its own in lower-case letters, digits and underscores, "
                f"other than {', '.join(sorted(_TAKEN))}.",
            )
        sunk = next((criterion for criterion in self.criteria if criterion.weight <= 0), None)
        if sunk is not None:
            raise InvalidInputError(
                f"The criterion {sunk.key} of the rubric {self.name} has the weight {float(sunk.weight):g}.",
                "Give every criterion a weight above 0 so that they sum to exactly 1.",
            )
        if total != 1:
            raise InvalidInputError(
                f"The weights of the rubric {self.name} sum to {float(total):g}.",
                "Give every criterion a weight above 0 so that they sum to exactly 1.",
            )

    @cached_property
    def shares(self) -> tuple[tuple[tuple[str, int], ...], int]:
        """The weights as whole numbers by criterion, and their sum."""
        whole = lcm(*(criterion.weight.denominator for criterion in self.criteria))
        return tuple((row.key, int(row.weight * whole)) for row in self.criteria), whole


def _make_criterion(key: str, percent: int, question: str) -> Criterion:
    return Criterion(key, Fraction(percent, 100), question)


# Source: structured debate protocol, table "Multi-Dimensional Scoring Rubric".
STANDARD = Rubric(
    "standard",
    (
        _make_criterion(
            "logic", 30, "Is the chain of reasoning consistent? 1 = full of gaps, circular; 10 = no flaw found."
        ),
        _make_criterion(
            "evidence",
            30,
            "Is the evidence specific, verifiable and relevant? 1 = vague generalities; 10 = every piece checkable.",
        ),
        _make_criterion(
            "responsiveness",
            25,
            "Did its side answer the cross-examination of it point by point? 1 = evaded; 10 = answered directly.",
        ),
        _make_criterion(
            "honesty",
            15,
            "Did its side concede where it should, without exaggeration? 1 = distortion; 10 = fair throughout.",
        ),
    ),
)

# Source: structured debate protocol, frequently asked question on scoring dimensions.
EVIDENCE_FIRST = Rubric(
    "evidence-first",
    (
        _make_criterion(
            "evidence", 40, "Does the argument have data behind it? 1 = none; 10 = specific and checkable."
        ),
        _make_criterion("logic", 30, "Is the reasoning consistent? 1 = full of gaps; 10 = no flaw found."),
        _make_criterion("rebuttal", 20, "Does its side meet the objections precisely? 1 = not at all; 10 = each one."),
        _make_criterion("clarity", 10, "Is it clearly expressed? 1 = hard to follow; 10 = plain at first reading."),
    ),
)

RUBRICS = {rubric.name: rubric for rubric in (STANDARD, EVIDENCE_FIRST)}


class Edge(StrEnum):
    """What a gap between two totals means."""

    EVEN = "evenly matched"
    EDGE = "an edge"
    SIGNIFICANT = "a significant difference"


def weigh_scores(scores: Mapping[str, int], rubric: Rubric) -> Fraction:
    """Compute the exact weighted score of one argument, 1 to 10. ``scores`` has every criterion of ``rubric``."""
    shares, whole = rubric.shares
    total = 0
    for key, share in shares:
        total += share * scores[key]
    return Fraction(total, whole)


def mean(values: Sequence[Fraction]) -> Fraction | None:
    """Return the exact mean, or None: a side without scored arguments has no total, not a zero."""
    if not values:
        return None
    # Summed over one denominator, because adding fractions computes a common divisor at every step.
    whole = lcm(*[value.denominator for value in values])
    total = sum([value.numerator * (whole // value.denominator) for value in values])
    return Fraction(total, whole * len(values))


def classify_gap(gap: Fraction) -> Edge:
    """Classify a gap by its size in points."""
    size = abs(gap)
    if size < 1:
        return Edge.EVEN
    return Edge.EDGE if size <= 3 else Edge.SIGNIFICANT


def format_gap(gap: Fraction) -> str:
    """Format the size of ``gap`` with two decimals, or more if it would read as another class of gap.

    A gap of 0.996 is under one point, so it is not written "1.00", nor 0.004 "0.00".
    """
    size = abs(gap)
    for places in range(2, 16):
        shown = f"{round_half_up(size, places):.{places}f}"
        if classify_gap(Fraction(shown)) is classify_gap(size) and (Fraction(shown) > 0) == (size > 0):
            return shown
    return f"{float(size)}"


def round_half_up(value: Fraction, places: int = 2) -> float:
    """Round half up to ``places`` decimals, for people and JSON; never for a decision."""
    scale: int = 10**places
    size = (2 * abs(value.numerator) * scale + value.denominator) // (2 * value.denominator)
    return (size if value >= 0 else -size) / scale
