"""Whether a judge's scores are too high and too alike to tell anything apart.

The thresholds, with 1 the lowest and 10 the highest score

    near-perfect     more than a quarter of the scores are 9 or 10. The market debate protocol gives 6 to 8 to what
                     is good and keeps 9 and 10 for what is near-perfect. That an exception may be at most one
                     score in four is our choice.
    crowded          nine scores in ten lie within three neighbouring points, all of them 7 or above: "all
                     arguments score 7-9", the market debate protocol's third pitfall. Nine in ten is our choice.
    flat             the standard deviation is under half a point. The structured debate protocol calls a gap under
                     1 point evenly matched; scores that mostly lie within half a point of their mean put every
                     pair of arguments there. Half a point is our choice.

Fewer than twelve scores (three arguments by four criteria, the least one side can bring) say nothing, and the
finding is then that they say nothing. A finding is a reason to look, not a correction: scores are never changed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.judging.rubric import HIGHEST, LOWEST
from disputatio.judging.scoring import rounded
from disputatio.kernel import JsonObject

NEAR_PERFECT, NEAR_PERFECT_SHARE = 9, Fraction(1, 4)
CROWDED_FROM, CROWDED_WIDTH, CROWDED_SHARE = 7, 3, Fraction(9, 10)
FLAT_DEVIATION = Fraction(1, 2)
FEWEST_SCORES = 12


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
        mean: their mean; None of none.
        variance: the mean squared distance from it, exact; None of none.
        near_perfect: share that is 9 or 10; None of none.
        crowded: largest share within three neighbouring points that are all 7 or above; None of none.
        findings: what is wrong, empty where nothing is or there are too few scores to say.
    """

    scores: int
    mean: Fraction | None
    variance: Fraction | None
    near_perfect: Fraction | None
    crowded: Fraction | None
    findings: tuple[Inflation, ...]

    @property
    def enough(self) -> bool:
        """Whether there are scores enough to say anything."""
        return self.scores >= FEWEST_SCORES

    @property
    def deviation(self) -> float | None:
        """The standard deviation, in points."""
        return None if self.variance is None else math.sqrt(self.variance)

    def text(self) -> str:
        """The finding in one sentence."""
        if not self.enough:
            return f"{self.scores} scores are too few to say whether they are inflated; {FEWEST_SCORES} are needed"
        said = {
            Inflation.NEAR_PERFECT: f"{float(self.near_perfect or 0):.0%} of the scores are 9 or 10",
            Inflation.CROWDED: f"{float(self.crowded or 0):.0%} of the scores lie within three points at the top",
            Inflation.FLAT: f"the scores hardly differ (standard deviation {self.deviation or 0:.2f})",
        }
        return "; ".join(said[finding] for finding in self.findings) or "the scores are spread"

    def as_json(self) -> JsonObject:
        """The spread, as the record and the exports keep it."""
        shares = {"mean": self.mean, "near_perfect": self.near_perfect, "crowded": self.crowded}
        return {
            "scores": self.scores,
            **{key: None if value is None else rounded(value, 4) for key, value in shares.items()},
            "deviation": None if self.deviation is None else round(self.deviation, 4),
            "findings": [finding.value for finding in self.findings],
            "text": self.text(),
        }


def score_spread(scores: Sequence[int]) -> ScoreSpread:
    """How ``scores``, integers from 1 to 10, are spread, and whether they are inflated.

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
    # The mean of the squares less the square of the mean, in whole numbers: exact, and without a fraction a score.
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
    findings = tuple(kind for kind, found in wrong.items() if found) if number >= FEWEST_SCORES else ()
    return ScoreSpread(number, Fraction(total, number), variance, near_perfect, crowded, findings)
