"""Probabilities that were forecast, against what came: Brier score, its parts, skill, and calibration.

Brier          the mean squared difference (Brier 1950)
parts          reliability - resolution + uncertainty (Murphy 1973), over bins of forecasts; where forecasts within
               a bin differ, the two within-bin terms of Stephenson, Coelho and Jolliffe 2008 make the sum exact
skill          1 less the score over that of the reference on the same items: above 0 is better than it. The
               reference here is climatology that only knows the past: the share of ones so far
reliability    for each bin how many forecasts, their mean, and how often it came. The expected calibration error
               (ECE) is the mean distance weighted by counts. A perfectly calibrated forecaster has an ECE above
               zero too, so it is shown beside what such a forecaster would show: outcomes drawn by the forecasts
               themselves (Bröcker and Smith 2007, "Increasing the reliability of reliability diagrams")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from disputatio.errors import InvalidInputError
from disputatio.evaluation.intervals import ALPHA, installed
from disputatio.kernel import JsonObject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BINS = 10
DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class BrierReport:
    """The score, its parts, and the skill against a reference; lower scores are better, and above 0 is skill."""

    items: int
    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within_bins: float
    reference: float | None
    skill: float | None

    def as_json(self) -> JsonObject:
        """All numbers; they fulfil score = reliability - resolution + uncertainty + within_bins."""
        names = ("score", "reliability", "resolution", "uncertainty", "within_bins", "reference", "skill")
        rows = {name: getattr(self, name) for name in names}
        return {"items": self.items, **{key: None if row is None else round(row, 6) for key, row in rows.items()}}


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """One bin of forecasts from ``low`` to ``high``; ``null`` is the 95 % band of ``came`` if they were calibrated."""

    low: float
    high: float
    count: int
    forecast: float | None
    came: float | None
    null: tuple[float, float] | None

    def as_json(self) -> JsonObject:
        """Bounds, count, mean forecast, share that came, and the band."""
        return {
            "from": self.low,
            "to": self.high,
            "count": self.count,
            "mean_forecast": None if self.forecast is None else round(self.forecast, 6),
            "share": None if self.came is None else round(self.came, 6),
            "null_band": None if self.null is None else [round(row, 6) for row in self.null],
        }


@dataclass(frozen=True, slots=True)
class Reliability:
    """The diagram, the ECE, and what a perfectly calibrated forecaster with these very forecasts shows."""

    bins: tuple[ReliabilityBin, ...]
    ece: float
    null_mean: float
    null_95: float
    items: int

    @property
    def miscalibrated(self) -> bool:
        """Whether the ECE is beyond what 95 in 100 perfectly calibrated forecasters show."""
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


def expanding_climatology(came: Sequence[bool], before: Sequence[bool] = ()) -> tuple[float | None, ...]:
    """For each item the share of ones among all earlier ones; ``before`` are those known from the start.

    None where nothing is known yet.
    """
    ones, seen, found = sum(map(bool, before)), len(before), []
    for row in came:
        found.append(ones / seen if seen else None)
        ones, seen = ones + bool(row), seen + 1
    return tuple(found)


def brier_report(
    forecast: Sequence[float], came: Sequence[bool], reference: Sequence[float] | None = None, bins: int = BINS
) -> BrierReport:
    """Score ``forecast`` (probabilities of a one) against what ``came``.

    Args:
        forecast: 0 to 1.
        came: what happened, item by item.
        reference: forecasts of the same items to measure skill against.
        bins: how many bins of equal width; one for each distinct forecast where there are no more of them.

    Raises:
        InvalidInputError: there are no items, or a forecast is no probability.
    """
    with installed():
        import numpy as np
        from sklearn.metrics import brier_score_loss  # type: ignore[import-untyped]
    p, y = _checked(forecast, came)
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
    other = None if reference is None else float(brier_score_loss(y, _checked(reference, came)[0], pos_label=1))
    skill = None if not other else 1 - score / other
    within = variance - 2 * covariance
    return BrierReport(len(y), score, reliability, resolution, base * (1 - base), within, other, skill)


def reliability_of(
    forecast: Sequence[float], came: Sequence[bool], bins: int = BINS, seed: int = 0, draws: int = DRAWS
) -> Reliability:
    """The reliability diagram of ``forecast`` with its simulated null band.

    Raises:
        InvalidInputError: there are no items, or a forecast is no probability.
    """
    with installed():
        import numpy as np
    p, y = _checked(forecast, came)
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


def _checked(forecast: Sequence[float], came: Sequence[bool]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    import numpy as np

    p, y = np.asarray(forecast, dtype=float), np.asarray(came, dtype=float)
    if not len(p) or len(p) != len(y):
        raise InvalidInputError(
            f"There are {len(p)} forecasts of {len(y)} outcomes.", "Give one for each, at least one."
        )
    strange = p[~((p >= 0) & (p <= 1))]
    if len(strange):
        raise InvalidInputError(f"A forecast of {float(strange[0]):g} is no probability.", "Give numbers from 0 to 1.")
    return p, y


def _places(p: NDArray[np.float64], bins: int) -> NDArray[Any]:
    """The bin of each forecast: its own value where there are few of them, else bins of equal width."""
    import numpy as np

    values, place = np.unique(p, return_inverse=True)
    return place if len(values) <= bins else np.minimum((p * bins).astype(int), bins - 1)
