"""A judge's scores for one order of the sides, and the check that scores are not inflated.

Inflation has three thresholds, with 1 the lowest and 10 the highest score

    near-perfect     more than a quarter of the scores are 9 or 10. The market debate protocol gives 6 to 8 to what
                     is good and keeps 9 and 10 for what is near-perfect. A quarter is our choice.
    crowded          nine scores in ten lie within three neighbouring points, all 7 or above: "all arguments score
                     7-9", the market debate protocol's third pitfall. Nine in ten is our choice.
    flat             the standard deviation is under half a point. The structured debate protocol calls a gap under
                     1 point evenly matched, so such scores make every pair of arguments evenly matched.

Fewer than twelve scores (three arguments by four criteria, the least one side can bring) give no finding. A finding is
a reason to look; scores are never changed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.judging.scoring import HIGHEST, LOWEST, Rubric, mean, round_half_up, weigh_scores
from disputatio.kernel import JsonObject

# The verdict for neither side. No side may have this name.
TIE = "tie"


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """One judge's scores with the sides shown in one order.

    Make one with `from_totals`, `from_findings`, `from_verdict` or `failed`.

    Attributes:
        judge: the judge's id.
        order: the two sides, the one shown first at the start.
        totals: points of each side, exact; empty if the judge failed.
        arguments: points of each argument under its side, if the judge scored arguments.
        failure: why there are no scores, else empty.

    Raises:
        InvalidInputError: the order is not two sides, a side is called "tie", or there are not either two totals or a
            failure.
    """

    judge: str
    order: tuple[str, str]
    totals: Mapping[str, Fraction] = field(default_factory=dict, hash=False)
    arguments: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict, hash=False)
    failure: str = ""

    def __post_init__(self) -> None:
        check_sides(self.order)
        if self.failure and not self.totals and not self.arguments:
            return
        if self.failure or set(self.totals) != set(self.order) or not set(self.arguments) <= set(self.order):
            raise InvalidInputError(
                f"The scores of {self.judge} must hold a total for each of {' and '.join(self.order)}, or a failure.",
                "Give both totals, or JudgeScores.failed with the reason.",
            )

    @classmethod
    def from_totals(cls, judge: str, order: tuple[str, str], totals: Mapping[str, Fraction]) -> JudgeScores:
        """Make scores of whole sides."""
        return cls(judge, order, dict(totals))

    @classmethod
    def from_findings(
        cls, judge: str, order: tuple[str, str], findings: Mapping[str, Mapping[str, Mapping[str, int]]], rubric: Rubric
    ) -> JudgeScores:
        """Make scores of arguments: side, argument, criterion, integer. A side's total is the mean of its arguments.

        A side without a scored argument has no total, which is a failure.
        """
        arguments = {
            side: {argument: weigh_scores(scores, rubric) for argument, scores in findings.get(side, {}).items()}
            for side in order
        }
        totals = {side: mean(list(rows.values())) for side, rows in arguments.items()}
        bare = [side for side, total in totals.items() if total is None]
        if bare:
            return cls.failed(judge, order, f"{' and '.join(bare)} had no scored argument")
        return cls(judge, order, {side: total for side, total in totals.items() if total is not None}, arguments)

    @classmethod
    def from_verdict(cls, judge: str, order: tuple[str, str], verdict: str) -> JudgeScores:
        """Make one point for the winner, or half a point each for TIE.

        Raises:
            InvalidInputError: the verdict is neither a side nor TIE.
        """
        if verdict != TIE and verdict not in order:
            raise InvalidInputError(f"{verdict} is not a side.", f"Give {order[0]}, {order[1]} or {TIE}.")
        share = {side: Fraction(1, 2) if verdict == TIE else Fraction(int(side == verdict)) for side in order}
        return cls(judge, order, share)

    @classmethod
    def failed(cls, judge: str, order: tuple[str, str], reason: str) -> JudgeScores:
        """Make a failure with its reason."""
        return cls(judge, order, failure=reason or "no reason was given")

    def gap(self, ahead: str, behind: str) -> Fraction | None:
        """Return the total of ``ahead`` less that of ``behind``; None if the judge failed."""
        return None if self.failure else self.totals[ahead] - self.totals[behind]

    def verdict(self, dead_zone: Fraction = Fraction(0)) -> str | None:
        """Return the winner, TIE if the gap is zero or below ``dead_zone``, or None if the judge failed."""
        gap = self.gap(*self.order)
        return None if gap is None else find_leader(gap, self.order, dead_zone)

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        return {
            "judge": self.judge,
            "order": list(self.order),
            "totals": {side: round_half_up(total, 4) for side, total in self.totals.items()},
            "arguments": {
                side: {key: round_half_up(value, 4) for key, value in rows.items()}
                for side, rows in self.arguments.items()
            },
            "failure": self.failure,
        }


def find_leader(gap: Fraction, sides: tuple[str, str], dead_zone: Fraction = Fraction(0)) -> str:
    """Return the first side for a gap above zero, the second below; TIE at zero and inside the dead zone."""
    if gap == 0 or abs(gap) < dead_zone:
        return TIE
    return sides[0] if gap > 0 else sides[1]


def check_sides(sides: tuple[str, ...]) -> None:
    """Refuse anything but two different sides.

    Raises:
        InvalidInputError: there are not two, they are the same, or one is called "tie".
    """
    if len(sides) != 2 or sides[0] == sides[1] or TIE in sides:
        raise InvalidInputError(
            f"A panel judges two different sides, not: {', '.join(sides) or 'none'}.",
            f'Name two sides, neither of them "{TIE}".',
        )


NEAR_PERFECT, NEAR_PERFECT_SHARE = 9, Fraction(1, 4)
CROWDED_FROM, CROWDED_WIDTH, CROWDED_SHARE = 7, 3, Fraction(9, 10)
FLAT_DEVIATION = Fraction(1, 2)
MIN_SCORES = 12


class Inflation(StrEnum):
    """A way in which scores fail to tell arguments apart."""

    NEAR_PERFECT = "near-perfect"
    CROWDED = "crowded"
    FLAT = "flat"


@dataclass(frozen=True, slots=True)
class ScoreSpread:
    """How scores from 1 to 10 are spread.

    Attributes:
        scores: how many there are.
        mean: their mean; None without scores.
        variance: the exact mean squared distance from it; None without scores.
        near_perfect: share of 9 and 10; None without scores.
        crowded: largest share within three neighbouring points of 7 or above; None without scores.
        findings: what is wrong; empty also with too few scores.
    """

    scores: int
    mean: Fraction | None
    variance: Fraction | None
    near_perfect: Fraction | None
    crowded: Fraction | None
    findings: tuple[Inflation, ...]

    @property
    def enough(self) -> bool:
        """Whether there are enough scores for a finding."""
        return self.scores >= MIN_SCORES

    @property
    def deviation(self) -> float | None:
        """The standard deviation, in points."""
        return None if self.variance is None else math.sqrt(self.variance)

    def text(self) -> str:
        """Describe the finding in one sentence."""
        if not self.enough:
            return f"{self.scores} scores are too few to say whether they are inflated; {MIN_SCORES} are needed"
        said = {
            Inflation.NEAR_PERFECT: f"{float(self.near_perfect or 0):.0%} of the scores are 9 or 10",
            Inflation.CROWDED: f"{float(self.crowded or 0):.0%} of the scores lie within three points at the top",
            Inflation.FLAT: f"the scores hardly differ (standard deviation {self.deviation or 0:.2f})",
        }
        return "; ".join(said[finding] for finding in self.findings) or "the scores are spread"

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        shares = {"mean": self.mean, "near_perfect": self.near_perfect, "crowded": self.crowded}
        return {
            "scores": self.scores,
            **{key: None if value is None else round_half_up(value, 4) for key, value in shares.items()},
            "deviation": None if self.deviation is None else round(self.deviation, 4),
            "findings": [finding.value for finding in self.findings],
            "text": self.text(),
        }


def measure_spread(scores: Sequence[int]) -> ScoreSpread:
    """Measure the spread of ``scores``, integers from 1 to 10.

    Raises:
        InvalidInputError: a score is outside 1 to 10.
    """
    number = len(scores)
    if number and not LOWEST <= min(scores) <= max(scores) <= HIGHEST:
        raise InvalidInputError("A score is outside 1 to 10.", "Give the judge's integers as they are.")
    if not number:
        return ScoreSpread(0, None, None, None, None, ())
    counts = Counter(scores)
    total = sum(scores)
    # The mean of the squares less the square of the mean, exact in whole numbers.
    squares = sum(score * score * times for score, times in counts.items())
    variance = Fraction(number * squares - total * total, number * number)
    near_perfect = Fraction(sum(times for score, times in counts.items() if score >= NEAR_PERFECT), number)
    bands = range(CROWDED_FROM, HIGHEST - CROWDED_WIDTH + 2)
    crowded = Fraction(max(sum(counts[score] for score in range(low, low + CROWDED_WIDTH)) for low in bands), number)
    wrong = {
        Inflation.NEAR_PERFECT: near_perfect > NEAR_PERFECT_SHARE,
        Inflation.CROWDED: crowded >= CROWDED_SHARE,
        Inflation.FLAT: variance < FLAT_DEVIATION**2,
    }
    findings = tuple(kind for kind, found in wrong.items() if found) if number >= MIN_SCORES else ()
    return ScoreSpread(number, Fraction(total, number), variance, near_perfect, crowded, findings)
