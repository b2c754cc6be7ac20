"""Test whether the confidences that analysts state are informative.

The measure is over all pairs of one argument that came true and one that did not, both of the same side: how often was
the true one stated with more confidence? One half is no information; ties count half (the area under the ROC curve,
within sides). Sides are kept apart because markets rise most of the time. If bulls were merely more confident than
bears, confidence would look informative. Arguments of one date share its outcome, so whole dates are resampled in
blocks (stationary bootstrap).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from disputatio.evaluation.backtest.forecasts import DateRecord, ScoredArgument
from disputatio.evaluation.statistics.intervals import (
    ALPHA,
    BLOCK_RESAMPLES,
    BootstrapInterval,
    Rate,
    count_draws,
    rate,
    require_statistics,
)
from disputatio.kernel import JsonObject

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINS = 10
MEASURES: Mapping[str, Callable[[ScoredArgument], float | None]] = {
    "confidence at the opening": lambda row: row.stated,
    "confidence after the debate": lambda row: row.adjusted,
    "weight in the forecast": lambda row: row.weight,
}


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Arguments stated with a confidence from ``low`` to ``high``: their mean, and how many came true."""

    low: float
    high: float
    stated: float
    right: Rate

    def as_json(self) -> JsonObject:
        """Bounds, mean and share."""
        return {"from": self.low, "to": self.high, "mean_stated": round(self.stated, 6), "right": self.right.as_json()}


@dataclass(frozen=True, slots=True)
class ConfidenceMeasure:
    """How often the argument that came true had the higher value, with the interval over dates."""

    name: str
    arguments: int
    values: int
    concordance: BootstrapInterval | None

    @property
    def informative(self) -> bool:
        """Whether it separates right from wrong beyond chance, in the right direction."""
        return self.concordance is not None and self.concordance.low > 0.5

    @property
    def verdict(self) -> str:
        """The result in a few words."""
        if self.concordance is None:
            return "nothing to compare"
        if self.informative:
            return "carries information"
        return "misleads" if self.concordance.high < 0.5 else "no demonstrable information"

    def as_json(self) -> JsonObject:
        """The share with its interval and verdict."""
        return {
            "name": self.name,
            "arguments": self.arguments,
            "distinct_values": self.values,
            "concordance": None if self.concordance is None else self.concordance.as_json(),
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class ConfidenceCheck:
    """Confidences against outcomes: by bins, and one share for each measure."""

    arguments: int
    bins: tuple[ConfidenceBin, ...]
    measures: tuple[ConfidenceMeasure, ...]

    def as_json(self) -> JsonObject:
        """All of it."""
        return {
            "arguments": self.arguments,
            "bins": [row.as_json() for row in self.bins],
            "measures": [row.as_json() for row in self.measures],
        }


def check_confidence(
    records: Sequence[DateRecord], observed: Mapping[date, bool], seed: int = 0
) -> ConfidenceCheck | None:
    """Compare the arguments of ``records``, in order of time, with the ``observed`` directions; None without any."""
    rows = [(place, row, row.bullish == observed[record.day]) for place, record in enumerate(records)
            if record.day in observed for row in record.arguments]  # fmt: skip
    if not rows:
        return None
    drawn = count_draws(len(records), _block(len(records)), seed=seed)
    measured = [_informed(name, measure, rows, drawn) for name, measure in MEASURES.items()]
    return ConfidenceCheck(len(rows), _bins([(row.stated, right) for _, row, right in rows]), tuple(measured))


def _bins(rows: Sequence[tuple[float, bool]]) -> tuple[ConfidenceBin, ...]:
    found: dict[int, list[tuple[float, bool]]] = {}
    for stated, right in rows:
        found.setdefault(min(int(stated * BINS + 1e-9), BINS - 1), []).append((stated, right))
    return tuple(
        ConfidenceBin(
            place / BINS,
            (place + 1) / BINS,
            sum(stated for stated, _ in mine) / len(mine),
            rate(sum(right for _, right in mine), len(mine)),
        )
        for place, mine in sorted(found.items())
    )


def _informed(
    name: str,
    measure: Callable[[ScoredArgument], float | None],
    rows: Sequence[tuple[int, ScoredArgument, bool]],
    drawn: NDArray[Any],
) -> ConfidenceMeasure:
    with require_statistics():
        import numpy as np
    known = [(place, row.bullish, value, right) for place, row, right in rows if (value := measure(row)) is not None]
    values = sorted({value for _, _, value, _ in known})
    # Counts by date, side, whether it came true, and value, so a resample of dates is a sum of rows.
    counts = np.zeros((drawn.shape[1], 2, 2, len(values)))
    order = {value: place for place, value in enumerate(values)}
    for place, bullish, value, right in known:
        counts[place, int(bullish), int(right), order[value]] += 1
    share = _concordance(counts.sum(axis=0)[None])[0]
    resampled = _concordance(np.tensordot(drawn, counts, axes=1))
    # With few dates some resamples have no month that rose, or none that fell, so there is no interval.
    if np.isnan(share) or np.isnan(resampled).any():
        return ConfidenceMeasure(name, len(known), len(values), None)
    low, high = np.quantile(resampled, [ALPHA / 2, 1 - ALPHA / 2])
    found = BootstrapInterval(float(share), float(low), float(high), _block(len(counts)), BLOCK_RESAMPLES)
    return ConfidenceMeasure(name, len(known), len(values), found)


def _block(dates: int) -> float:
    """The mean length of blocks of dates: the cube root of their number, the order that suits variances."""
    return max(1.0, float(dates ** (1 / 3)))


def _concordance(sums: NDArray[Any]) -> NDArray[Any]:
    """For each resample the share of pairs within sides in which the argument that came true has the higher value.

    Ties count half; NaN without pairs. ``sums`` are counts by resample, side, whether it came true, value.
    """
    import numpy as np

    wrong, right = sums[:, :, 0], sums[:, :, 1]
    lower = wrong.cumsum(axis=2) - wrong
    above = (right * (lower + wrong / 2)).sum(axis=(1, 2))
    pairs = (right.sum(axis=2) * wrong.sum(axis=2)).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.where(pairs > 0, above / np.where(pairs > 0, pairs, 1), np.nan)
