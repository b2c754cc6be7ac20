"""What any forecaster of direction has to beat, on identical dates.

always up       always says up
climatology     the share of ups so far, from outcomes that were known on the decision date
200-day rule    up where the close is above the mean of the last 200 closes, the decision date's included
VIX rule        up where the VIX closed below 20
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from disputatio.evaluation.backtest.labels import Label
from disputatio.evaluation.backtest.prices import PriceSeries
from disputatio.evaluation.intervals import Rate, rate
from disputatio.evaluation.statistics.answers import balanced_accuracy
from disputatio.evaluation.statistics.forecasts import BrierReport, brier_report
from disputatio.kernel import JsonObject

AVERAGE = 200
CALM = 20.0


def above_average(prices: PriceSeries, day: date, length: int = AVERAGE) -> bool | None:
    """Whether the close on ``day`` is above the mean of the last ``length`` closes; None with fewer of them."""
    place = prices.place(day)
    if place is None or place + 1 < length:
        return None
    window = prices.closes[place + 1 - length : place + 1]
    return prices.closes[place] > sum(window) / length


def is_calm(vix: PriceSeries, day: date, below: float = CALM) -> bool | None:
    """Whether the VIX is known to have closed below ``below`` on ``day`` itself; None before the series begins.

    A day without a close is not known to be calm: the rule then says down, and takes no older close in its place.
    """
    place = vix.place(day)
    return None if place is None else vix.days[place] == day and vix.closes[place] < below


@dataclass(frozen=True, slots=True)
class BenchmarkScores:
    """How one benchmark, or one forecaster, did. What it did not forecast counts as not right.

    ``calls`` are the dates on which it said up or down. Without any there is nothing to be right about.
    """

    name: str
    accuracy: Rate
    balanced: float | None
    balanced_label: Rate
    brier: BrierReport | None
    calls: int

    def as_json(self) -> JsonObject:
        """The scores."""
        return {
            "name": self.name,
            "accuracy": self.accuracy.as_json(),
            "balanced_accuracy": None if self.balanced is None else round(self.balanced, 6),
            "accuracy_on_balanced_label": self.balanced_label.as_json(),
            "brier": None if self.brier is None else self.brier.as_json(),
            "calls": self.calls,
        }


def benchmark_scores(
    name: str,
    labels: Sequence[Label],
    said: Sequence[bool | None],
    forecast: Sequence[float | None] | None = None,
    climatology: Sequence[float | None] | None = None,
) -> BenchmarkScores:
    """Score calls of up (True) or down, and probabilities of up where there are any.

    Labels without an outcome are left out, and probabilities where either is missing.
    """
    pairs = [(row.up, call) for row, call in zip(labels, said, strict=True) if row.up is not None]
    second = [(row.balanced, call) for row, call in zip(labels, said, strict=True) if row.balanced is not None]
    known, given = [_word(up) for up, _ in pairs], [_word(call) for _, call in pairs]
    brier = None
    if forecast is not None:
        base = climatology if climatology is not None else [None] * len(labels)
        rows = [
            (p, bool(row.up), reference)
            for row, p, reference in zip(labels, forecast, base, strict=True)
            if row.up is not None and p is not None and (climatology is None or reference is not None)
        ]
        references = [reference for _, _, reference in rows if reference is not None]
        if rows:
            came = [came for _, came, _ in rows]
            brier = brier_report([p for p, _, _ in rows], came, references if climatology is not None else None)
    return BenchmarkScores(
        name,
        rate(sum(one == other for one, other in pairs), len(pairs)),
        balanced_accuracy([row or "" for row in known], given),
        rate(sum(one == other for one, other in second), len(second)),
        brier,
        sum(call is not None for _, call in pairs),
    )


def _word(up: bool | None) -> str | None:  # noqa: FBT001
    return None if up is None else "up" if up else "down"
