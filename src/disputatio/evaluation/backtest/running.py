"""Runs a plan: a forecast for every decision date, beside the benchmarks on the very same dates.

Whoever forecasts is a function of a day. It is given nothing of the labels, which are made here and afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from disputatio.evaluation.backtest.benchmarks import BenchmarkScores, above_average, benchmark_scores, is_calm
from disputatio.evaluation.backtest.labels import Label, labels_of, past_shares
from disputatio.evaluation.backtest.plan import BacktestPlan
from disputatio.evaluation.backtest.prices import PriceSeries
from disputatio.evaluation.backtest.weights import WeightSearch, nested_weights
from disputatio.evaluation.statistics import (
    BootstrapInterval,
    Comparison,
    Reliability,
    compare_all,
    reliability_of,
    stationary_bootstrap,
)
from disputatio.failures import InvalidInputError
from disputatio.kernel import JsonObject

DEBATE = "debate"
Forecasts = Callable[[date], Mapping[str, float | None]]
"""Gives the probability of up of each lens, None where it abstains, from what was known on the evening of a day."""


@dataclass(frozen=True, slots=True)
class BacktestResult:
    """What came of a plan. ``weights`` is None where too few dates have a forecast of every lens."""

    plan: BacktestPlan
    labels: tuple[Label, ...]
    forecast: tuple[float | None, ...]
    scores: tuple[BenchmarkScores, ...]
    primary: Comparison
    difference: BootstrapInterval
    reliability: Reliability | None
    weights: WeightSearch | None

    @property
    def abstained(self) -> int:
        """Dates without a forecast; they count as not right."""
        return sum(row is None for row in self.forecast)

    def as_json(self) -> JsonObject:
        """The result with the plan and its hash."""
        return {
            "schema": "disputatio/backtest",
            "version": 1,
            "plan": self.plan.as_json(),
            "dates": len(self.labels),
            "first": self.labels[0].decided.isoformat(),
            "last": self.labels[-1].decided.isoformat(),
            "abstained": self.abstained,
            "scores": [row.as_json() for row in self.scores],
            "primary": self.primary.as_json(),
            "difference_stationary_bootstrap": self.difference.as_json(),
            "reliability": None if self.reliability is None else self.reliability.as_json(),
            "weights": None if self.weights is None else self.weights.as_json(),
        }


def run_backtest(
    plan: BacktestPlan, prices: PriceSeries, forecasts: Forecasts, vix: PriceSeries | None = None
) -> BacktestResult:
    """Forecast every month-end of ``plan`` and score it.

    Raises:
        InvalidInputError: the plan has no date with an outcome in ``prices``.
    """
    ends = prices.month_ends()
    history = [day for day in ends if day < plan.first]
    months = [day for day in ends if day >= plan.first]
    inside = [day for day in months if (day.year, day.month) <= (plan.last.year, plan.last.month)]
    # One more, to which the last horizon runs.
    decisions = months[: len(inside) + 1]
    labels = labels_of(prices, decisions, entry=plan.entry, tie=plan.tie, history=history, fewest=plan.balanced_after)
    if not labels:
        raise InvalidInputError("No date of the plan has an outcome in these prices.", "Plan earlier dates.")
    before = labels_of(prices, [*history, decisions[0]], entry=plan.entry, tie=plan.tie) if history else ()
    found = [dict(forecasts(row.decided)) for row in labels]
    p = tuple(_mean(row.values()) for row in found)
    climatology = past_shares(labels, before)
    calls = _calls(labels, p, climatology, prices, vix)
    scores = [
        benchmark_scores(name, labels, said, {DEBATE: p, "climatology": climatology}.get(name), climatology)
        for name, said in calls.items()
    ]
    kept = [place for place, row in enumerate(labels) if row.up is not None]
    right = {name: [said[place] == labels[place].up for place in kept] for name, said in calls.items()}
    (primary,) = compare_all(right, [(DEBATE, plan.primary_against)])
    gaps = [float(one) - other for one, other in zip(right[DEBATE], right[plan.primary_against], strict=True)]
    difference = stationary_bootstrap([gaps], lambda row: float(row.mean()), seed=plan.seed)
    sure = [(row, bool(labels[place].up)) for place in kept if (row := p[place]) is not None]
    diagram = reliability_of([row for row, _ in sure], [came for _, came in sure], seed=plan.seed) if sure else None
    weights = _weights(plan, labels, found)
    return BacktestResult(plan, labels, p, tuple(scores), primary, difference, diagram, weights)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [row for row in values if row is not None]
    return sum(known) / len(known) if known else None


def _calls(
    labels: Sequence[Label],
    p: Sequence[float | None],
    climatology: Sequence[float | None],
    prices: PriceSeries,
    vix: PriceSeries | None,
) -> dict[str, list[bool | None]]:
    """What each forecaster says of each date; more than one half is up."""
    found: dict[str, list[bool | None]] = {
        DEBATE: [None if row is None else row > 0.5 for row in p],
        "always_up": [True] * len(labels),
        "climatology": [None if row is None else row > 0.5 for row in climatology],
        "average_200": [above_average(prices, row.decided) for row in labels],
    }
    if vix is not None:
        found["vix_below_20"] = [is_calm(vix, row.decided) for row in labels]
    return found


def _weights(
    plan: BacktestPlan, labels: Sequence[Label], found: Sequence[Mapping[str, float | None]]
) -> WeightSearch | None:
    """The search over the lenses, on dates where each of them forecast; None where there are too few."""
    lenses = tuple(dict.fromkeys(name for row in found for name in row))
    rows, kept = [], []
    for label, row in zip(labels, found, strict=True):
        given = [row.get(name) for name in lenses]
        known = [value for value in given if value is not None]
        if label.up is not None and len(known) == len(lenses):
            rows.append(known)
            kept.append(label)
    if len(lenses) < 2 or len(kept) <= plan.first_window + plan.window:
        return None
    return nested_weights(lenses, rows, kept, first=plan.first_window, size=plan.window, embargo=plan.embargo)
