"""Score answers against known answers, and forecast probabilities against outcomes.

Answers
    An unanswered item is not right, whatever the reason; it is counted apart and stays in every denominator. Balanced
    accuracy is the mean recall over the right answers that occur (scikit-learn's definition), so always giving the
    same answer scores 1 over their number.

Forecasts
    Brier          the mean squared difference (Brier 1950)
    parts          reliability - resolution + uncertainty (Murphy 1973), over bins of forecasts; where forecasts within
                   a bin differ, the two within-bin terms of Stephenson, Coelho and Jolliffe 2008 make the sum exact
    skill          1 less the score over that of the reference on the same items; above 0 beats it. The reference is
                   climatology that knows only the past: the share of ones so far
    reliability    for each bin the number of forecasts, their mean, and the observed share. The expected calibration
                   error (ECE) is the mean distance weighted by counts. Even a perfectly calibrated forecaster has an
                   ECE above zero, so a simulated one is shown beside it, with outcomes drawn by the forecasts
                   (Bröcker and Smith 2007, "Increasing the reliability of reliability diagrams")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from disputatio.errors import InvalidInputError
from disputatio.evaluation.statistics.intervals import ALPHA, Estimate, Rate, bootstrap, rate, require_statistics
from disputatio.kernel import JsonObject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOTHING = "(no answer)"


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Shares over all items; ``precision`` is over those that were answered."""

    accuracy: Rate
    balanced: Estimate
    coverage: Rate
    precision: Rate

    def as_json(self) -> JsonObject:
        """The shares with their intervals."""
        return {
            "accuracy": self.accuracy.as_json(),
            "balanced_accuracy": self.balanced.as_json(),
            "coverage": self.coverage.as_json(),
            "precision": self.precision.as_json(),
        }


def balanced_accuracy(known: Sequence[str], given: Sequence[str | None]) -> float | None:
    """The mean recall over the right answers that occur; None without items."""
    if not known:
        return None
    with require_statistics():
        from sklearn.metrics import recall_score  # type: ignore[import-untyped]
    labels = sorted(set(known))
    answers = [NOTHING if row is None else row for row in given]
    return float(recall_score(known, answers, labels=labels, average="macro", zero_division=0))


@dataclass(frozen=True, slots=True)
class MacroScores:
    """Means over classes; every class counts the same, however many items it has."""

    precision: float
    recall: float
    f1: float

    def as_json(self) -> JsonObject:
        """The three means."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


def macro_scores(known: Sequence[str], given: Sequence[str | None]) -> MacroScores | None:
    """Macro precision, recall and F1 over the classes in ``known`` or ``given``; None without items.

    F1 is the mean of the classes' F1 (scikit-learn's macro average), not the F1 of the means. An item without an answer
    (None) is a miss of its class. A class that was never given has precision 0.
    """
    if not known:
        return None
    with require_statistics():
        from sklearn.metrics import precision_recall_fscore_support
    labels = sorted({*known, *(row for row in given if row is not None)})
    answers = [NOTHING if row is None else row for row in given]
    found = precision_recall_fscore_support(known, answers, labels=labels, average="macro", zero_division=0)
    return MacroScores(*(float(value) for value in found[:3]))


def answer_scores(known: Sequence[str], given: Sequence[str | None], *, balanced: bool = True) -> AnswerScores:
    """Score ``given`` (None: no answer) against ``known``, item by item.

    ``balanced`` is False where right answers are not classes, such as numbers.
    """
    right = sum(one == other for one, other in zip(known, given, strict=True))
    answered = sum(row is not None for row in given)
    estimate = Estimate(None, None, None, len(known))
    if balanced and known:
        labels = sorted(set(known))
        rows = []
        for one, other in zip(known, given, strict=True):
            there = [float(one == label) for label in labels]
            rows.append([*there, *(here * (one == other) for here in there)])
        estimate = bootstrap(rows, lambda sums: _mean_recall(sums, len(labels)))
    return AnswerScores(rate(right, len(known)), estimate, rate(answered, len(known)), rate(right, answered))


def _mean_recall(sums: Sequence[float], labels: int) -> float | None:
    """The mean recall over the labels in a resample."""
    shares = [sums[labels + place] / sums[place] for place in range(labels) if sums[place]]
    return sum(shares) / len(shares) if shares else None


@dataclass(frozen=True, slots=True)
class SelectivePoint:
    """Coverage and precision if only items with a confidence of at least ``threshold`` are answered."""

    threshold: float
    coverage: Rate
    precision: Rate

    def as_json(self) -> JsonObject:
        """The threshold and both shares."""
        return {
            "threshold": self.threshold,
            "coverage": self.coverage.as_json(),
            "precision": self.precision.as_json(),
        }


def selective_points(
    confidence: Sequence[float | None], right: Sequence[bool], thresholds: Sequence[float]
) -> tuple[SelectivePoint, ...]:
    """One point for each of ``thresholds``, in order. An item without a confidence is never answered."""
    pairs = list(zip(confidence, right, strict=True))
    found = []
    for threshold in thresholds:
        kept = [hit for sure, hit in pairs if sure is not None and sure >= threshold]
        found.append(SelectivePoint(threshold, rate(len(kept), len(pairs)), rate(sum(kept), len(kept))))
    return tuple(found)


BINS = 10
DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class BrierReport:
    """The Brier score, its parts, and the skill against a reference. Lower scores are better; skill above 0 is good."""

    items: int
    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within_bins: float
    reference: float | None
    skill: float | None

    def as_json(self) -> JsonObject:
        """All numbers, where score = reliability - resolution + uncertainty + within_bins."""
        names = ("score", "reliability", "resolution", "uncertainty", "within_bins", "reference", "skill")
        rows = {name: getattr(self, name) for name in names}
        return {"items": self.items, **{key: None if row is None else round(row, 6) for key, row in rows.items()}}


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """One bin of forecasts from ``low`` to ``high``. ``null`` is the 95 % band of ``observed`` for calibrated
    forecasts.
    """

    low: float
    high: float
    count: int
    forecast: float | None
    observed: float | None
    null: tuple[float, float] | None

    def as_json(self) -> JsonObject:
        """Bounds, count, mean forecast, observed share and band."""
        return {
            "from": self.low,
            "to": self.high,
            "count": self.count,
            "mean_forecast": None if self.forecast is None else round(self.forecast, 6),
            "share": None if self.observed is None else round(self.observed, 6),
            "null_band": None if self.null is None else [round(row, 6) for row in self.null],
        }


@dataclass(frozen=True, slots=True)
class Reliability:
    """The diagram, the ECE, and the ECE of a perfectly calibrated forecaster with the same forecasts."""

    bins: tuple[ReliabilityBin, ...]
    ece: float
    null_mean: float
    null_95: float
    items: int

    @property
    def miscalibrated(self) -> bool:
        """Whether the ECE exceeds that of 95 in 100 perfectly calibrated forecasters."""
        return self.ece > self.null_95

    def as_json(self) -> JsonObject:
        """The diagram as numbers."""
        rows = {"ece": self.ece, "null_mean": self.null_mean, "null_95": self.null_95}
        return {
            **{key: round(row, 6) for key, row in rows.items()},
            "items": self.items,
            "miscalibrated": self.miscalibrated,
            "bins": [row.as_json() for row in self.bins],
        }


def expanding_climatology(observed: Sequence[bool], before: Sequence[bool] = ()) -> tuple[float | None, ...]:
    """For each item the share of ones among all earlier ones, including ``before``; None where nothing is known yet."""
    ones, seen, found = sum(map(bool, before)), len(before), []
    for row in observed:
        found.append(ones / seen if seen else None)
        ones, seen = ones + bool(row), seen + 1
    return tuple(found)


def brier_report(
    forecast: Sequence[float], observed: Sequence[bool], reference: Sequence[float] | None = None, bins: int = BINS
) -> BrierReport:
    """Score ``forecast`` (probabilities of a one) against what was ``observed``.

    Args:
        forecast: 0 to 1.
        observed: the outcomes, item by item.
        reference: forecasts of the same items to measure skill against.
        bins: how many bins of equal width; fewer distinct forecasts get one bin each.

    Raises:
        InvalidInputError: there are no items, or a forecast is not a probability.
    """
    with require_statistics():
        import numpy as np
        from sklearn.metrics import brier_score_loss
    p, y = _checked(forecast, observed)
    score = float(brier_score_loss(y, p, pos_label=1))
    place = _places(p, bins)
    base = float(y.mean())
    reliability = resolution = variance = covariance = 0.0
    for number in np.unique(place):
        mine = place == number
        share, mean_p, mean_y = float(mine.mean()), float(p[mine].mean()), float(y[mine].mean())
        reliability += share * (mean_p - mean_y) ** 2
        resolution += share * (mean_y - base) ** 2
        variance += share * float(((p[mine] - mean_p) ** 2).mean())
        covariance += share * float(((p[mine] - mean_p) * (y[mine] - mean_y)).mean())
    other = None if reference is None else float(brier_score_loss(y, _checked(reference, observed)[0], pos_label=1))
    skill = None if not other else 1 - score / other
    within = variance - 2 * covariance
    return BrierReport(len(y), score, reliability, resolution, base * (1 - base), within, other, skill)


def measure_reliability(
    forecast: Sequence[float], observed: Sequence[bool], bins: int = BINS, seed: int = 0, draws: int = DRAWS
) -> Reliability:
    """Compute the reliability diagram of ``forecast`` with its simulated null band.

    Raises:
        InvalidInputError: there are no items, or a forecast is not a probability.
    """
    with require_statistics():
        import numpy as np
    p, y = _checked(forecast, observed)
    place = np.minimum((p * bins).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins)
    sums = np.bincount(place, weights=p, minlength=bins)
    hits = np.bincount(place, weights=y, minlength=bins)
    chance = np.random.default_rng(seed)
    one_hot = np.zeros((len(p), bins))
    one_hot[np.arange(len(p)), place] = 1.0
    drawn = (chance.random((draws, len(p))) < p).astype(float) @ one_hot
    eces = np.abs(drawn - sums).sum(axis=1) / len(p)
    bands = np.quantile(drawn, [ALPHA / 2, 1 - ALPHA / 2], axis=0)
    rows = []
    for number in range(bins):
        size = int(counts[number])
        band = (float(bands[0, number]) / size, float(bands[1, number]) / size) if size else None
        mean = float(sums[number]) / size if size else None
        share = float(hits[number]) / size if size else None
        rows.append(ReliabilityBin(number / bins, (number + 1) / bins, size, mean, share, band))
    ece = float(np.abs(hits - sums).sum()) / len(p)
    return Reliability(tuple(rows), ece, float(eces.mean()), float(np.quantile(eces, 1 - ALPHA)), len(p))


def _checked(forecast: Sequence[float], observed: Sequence[bool]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    import numpy as np

    p, y = np.asarray(forecast, dtype=float), np.asarray(observed, dtype=float)
    if not len(p) or len(p) != len(y):
        raise InvalidInputError(
            f"There are {len(p)} forecasts of {len(y)} outcomes.", "Give one for each, at least one."
        )
    strange = p[~((p >= 0) & (p <= 1))]
    if len(strange):
        raise InvalidInputError(
            f"A forecast of {float(strange[0]):g} is not a probability.", "Give numbers from 0 to 1."
        )
    return p, y


def _places(p: NDArray[np.float64], bins: int) -> NDArray[Any]:
    """The bin of each forecast: one for each distinct value if there are few, else bins of equal width."""
    import numpy as np

    values, place = np.unique(p, return_inverse=True)
    return place if len(values) <= bins else np.minimum((p * bins).astype(int), bins - 1)
