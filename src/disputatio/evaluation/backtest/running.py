"""Scores a plan: a forecast for every decision date, beside the benchmarks on the very same dates.

Whoever forecasts is a function of a day. It is given nothing of the labels, which are made here and afterwards.

Two questions are fixed beforehand and both have to be answered yes before an edge is spoken of: is the debate right
more often than the benchmark that the plan names, and is it so on the balanced label too, where rising markets do not
help.
All other comparisons are judged together (Holm).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.benchmarks import BenchmarkScores, above_average, benchmark_scores, is_calm
from disputatio.evaluation.backtest.forecasting import call_of, mean_forecast
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
from disputatio.kernel import JsonObject

DEBATE, OPENINGS, CLIMATOLOGY, AVERAGE, VIX_RULE = "debate", "openings", "climatology", "average_200", "vix_below_20"
Forecasts = Callable[[date], Mapping[str, float | None]]
"""Gives the probability of up of each lens, None where it abstains, from what was known on the evening of a day."""


@dataclass(frozen=True, slots=True)
class Dates:
    """The labels of a plan, and those of the dates before it, which climatology and the median know."""

    labels: tuple[Label, ...]
    before: tuple[Label, ...]
    planned: int = 0
    """How many dates the plan has; more than there are labels in a trial of some."""
    which: str = "first"
    """Which dates of the plan a trial has: its ``first`` or its ``last`` ones."""

    def first(self, number: int | None) -> Dates:
        """The first ``number`` of them; all where None."""
        return Dates(self.labels[:number], self.before, self.planned)

    def last(self, number: int) -> Dates:
        """The last ``number`` of them. What was known before the first of these is known to them still."""
        passed = max(0, len(self.labels) - number)
        return Dates(self.labels[passed:], (*self.before, *self.labels[:passed]), self.planned, "last")

    @property
    def decided(self) -> tuple[date, ...]:
        """The decision dates."""
        return tuple(row.decided for row in self.labels)

    @property
    def climatology(self) -> tuple[float | None, ...]:
        """The share of ups known on each date."""
        return past_shares(self.labels, self.before)


@dataclass(frozen=True, slots=True)
class BacktestResult:
    """What came of a plan. ``weights`` is None where too few dates have a forecast of every lens.

    Attributes:
        said: what each forecaster said of each date; None where it said nothing.
        primary: the debate against the benchmark of the plan, on up and down.
        co_primary: the same on the balanced label.
        others: the debate against the other benchmarks, judged together.
        difference: of the shares right, debate less benchmark, resampled in blocks of dates.
        accuracy: the share right of the debate, resampled so.
        brier_gain: the Brier score of climatology less that of the debate; above zero is better than climatology.
        left_out: benchmarks that could not be scored, and why.
    """

    plan: BacktestPlan
    labels: tuple[Label, ...]
    lenses: tuple[Mapping[str, float | None], ...]
    forecast: tuple[float | None, ...]
    climatology: tuple[float | None, ...]
    said: Mapping[str, Sequence[bool | None]]
    scores: tuple[BenchmarkScores, ...]
    primary: Comparison
    co_primary: Comparison | None
    others: tuple[Comparison, ...]
    difference: BootstrapInterval
    accuracy: BootstrapInterval
    brier_gain: BootstrapInterval | None
    reliability: Reliability | None
    weights: WeightSearch | None
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def abstained(self) -> int:
        """Dates without a forecast; they count as not right."""
        return sum(row is None for row in self.forecast)

    @property
    def primary_p(self) -> float:
        """The p-value that decides, by the test that the plan names."""
        return self.primary.adjusted

    @property
    def has_edge(self) -> bool:
        """Whether the debate is right more often than the benchmark beyond chance, on both labels."""
        rows = (self.primary, self.co_primary)
        return all(row is not None and row.significant and row.counts.first > row.counts.second for row in rows)

    def as_json(self) -> JsonObject:
        """The result with the plan and its hash."""
        co_primary = None if self.co_primary is None else self.co_primary.as_json()
        return {
            "schema": "disputatio/backtest",
            "version": 1,
            "plan": self.plan.as_json(),
            "dates": len(self.labels),
            "first": self.labels[0].decided.isoformat(),
            "last": self.labels[-1].decided.isoformat(),
            "abstained": self.abstained,
            "scores": [row.as_json() for row in self.scores],
            "left_out": dict(self.left_out),
            "primary": {**self.primary.as_json(), "decided_by": self.plan.primary_test, "p": round(self.primary_p, 6)},
            "co_primary_balanced": co_primary,
            "has_edge": self.has_edge,
            "other_comparisons": [row.as_json() for row in self.others],
            "stationary_bootstrap": {
                "accuracy": self.accuracy.as_json(),
                "difference": self.difference.as_json(),
                "brier_gain_on_climatology": None if self.brier_gain is None else self.brier_gain.as_json(),
            },
            "reliability": None if self.reliability is None else self.reliability.as_json(),
            "weights": None if self.weights is None else self.weights.as_json(),
        }


def dates_of(plan: BacktestPlan, prices: PriceSeries) -> Dates:
    """The decision dates of ``plan`` with their outcomes in ``prices``.

    Raises:
        InvalidInputError: the plan has no date with an outcome in ``prices``.
    """
    ends = prices.ends(plan.dates)
    history = [day for day in ends if day < plan.first]
    months = [day for day in ends if day >= plan.first]
    inside = [day for day in months if (day.year, day.month) <= (plan.last.year, plan.last.month)]
    # One more, to which the last horizon runs.
    decisions = months[: len(inside) + 1]
    labels = labels_of(prices, decisions, entry=plan.entry, tie=plan.tie, history=history, fewest=plan.balanced_after)
    if not labels:
        raise InvalidInputError("No date of the plan has an outcome in these prices.", "Plan earlier dates.")
    before = labels_of(prices, [*history, decisions[0]], entry=plan.entry, tie=plan.tie) if history else ()
    return Dates(labels, before, len(labels))


def score_benchmarks(
    dates: Dates, prices: PriceSeries, vix: PriceSeries | None = None
) -> tuple[tuple[BenchmarkScores, ...], dict[str, str]]:
    """The benchmarks alone, and why some could not be scored."""
    climatology = dates.climatology
    calls, left_out = _benchmark_calls(dates, climatology, prices, vix)
    forecasts = {CLIMATOLOGY: climatology}
    return (
        tuple(
            benchmark_scores(name, dates.labels, said, forecasts.get(name), climatology) for name, said in calls.items()
        ),
        left_out,
    )


def run_backtest(
    plan: BacktestPlan,
    prices: PriceSeries,
    forecasts: Forecasts,
    vix: PriceSeries | None = None,
    *,
    openings: Callable[[date], float | None] | None = None,
    dates: Dates | None = None,
) -> BacktestResult:
    """Forecast every decision date of ``plan`` and score it.

    Args:
        plan: what was fixed beforehand.
        prices: of what is predicted.
        forecasts: of the debate.
        vix: closes of the VIX.
        openings: the forecast of the same arguments before they were answered.
        dates: those of the plan, where they were made before.

    Raises:
        InvalidInputError: the plan has no date with an outcome in ``prices``.
    """
    dates = dates or dates_of(plan, prices)
    labels, climatology = dates.labels, dates.climatology
    found = tuple(dict(forecasts(row.decided)) for row in labels)
    p = tuple(mean_forecast(row) for row in found)
    probabilities: dict[str, tuple[float | None, ...]] = {DEBATE: p, CLIMATOLOGY: climatology}
    if openings is not None:
        probabilities[OPENINGS] = tuple(openings(row.decided) for row in labels)
    lenses = _speaking(found, 1)
    if len(lenses) > 1:
        probabilities |= {f"{lens} alone": tuple(row.get(lens) for row in found) for lens in lenses}
    benchmarks, left_out = _benchmark_calls(dates, climatology, prices, vix)
    own = {name: tuple(call_of(row) for row in rows) for name, rows in probabilities.items() if name != CLIMATOLOGY}
    said = {DEBATE: own.pop(DEBATE), **benchmarks, **own}
    scores = [
        benchmark_scores(name, labels, calls, probabilities.get(name), climatology) for name, calls in said.items()
    ]
    primary, co_primary, others = _compared(plan, labels, said)
    kept = [place for place, row in enumerate(labels) if row.up is not None]
    right = [float(said[DEBATE][place] == labels[place].up) for place in kept]
    against = [float(said[plan.primary_against][place] == labels[place].up) for place in kept]
    gaps = [one - other for one, other in zip(right, against, strict=True)]
    sure = [(row, bool(labels[place].up)) for place in kept if (row := p[place]) is not None]
    return BacktestResult(
        plan,
        labels,
        found,
        p,
        climatology,
        said,
        tuple(scores),
        primary,
        co_primary,
        others,
        _resampled(gaps, plan.seed),
        _resampled(right, plan.seed),
        _brier_gain(plan, labels, p, climatology),
        reliability_of([row for row, _ in sure], [came for _, came in sure], seed=plan.seed) if sure else None,
        _weights(plan, labels, found),
        left_out,
    )


def _resampled(rows: Sequence[float], seed: int) -> BootstrapInterval:
    return stationary_bootstrap([rows], lambda row: float(row.mean()), seed=seed)


def _compared(
    plan: BacktestPlan, labels: Sequence[Label], said: Mapping[str, Sequence[bool | None]]
) -> tuple[Comparison, Comparison | None, tuple[Comparison, ...]]:
    """The primary comparison, the same on the balanced label, and all others together."""
    if plan.primary_against not in said:
        raise InvalidInputError(
            f"The plan compares with {plan.primary_against}, which cannot be scored on these data.",
            "Plan another benchmark, or give data that have it.",
        )

    def right(outcomes: Sequence[bool | None]) -> dict[str, list[bool]]:
        kept = [place for place, outcome in enumerate(outcomes) if outcome is not None]
        return {name: [calls[place] == outcomes[place] for place in kept] for name, calls in said.items()}

    on_up, on_balanced = right([row.up for row in labels]), right([row.balanced for row in labels])
    pair = (DEBATE, plan.primary_against)
    mid = plan.decides_by_mid_p
    (primary,) = compare_all(on_up, [pair], mid=mid)
    co_primary = compare_all(on_balanced, [pair], mid=mid)[0] if on_balanced[DEBATE] else None
    rest = [name for name in said if name not in pair and not name.endswith(" alone")]
    return primary, co_primary, compare_all(on_up, [(DEBATE, name) for name in rest], mid=mid)


def _brier_gain(
    plan: BacktestPlan, labels: Sequence[Label], p: Sequence[float | None], climatology: Sequence[float | None]
) -> BootstrapInterval | None:
    rows = [
        (reference - row.up) ** 2 - (forecast - row.up) ** 2
        for row, forecast, reference in zip(labels, p, climatology, strict=True)
        if row.up is not None and forecast is not None and reference is not None
    ]
    return _resampled(rows, plan.seed) if rows else None


def _benchmark_calls(
    dates: Dates, climatology: Iterable[float | None], prices: PriceSeries, vix: PriceSeries | None
) -> tuple[dict[str, tuple[bool | None, ...]], dict[str, str]]:
    """What each benchmark says of each date, and why one of them cannot."""
    days = dates.decided
    found: dict[str, tuple[bool | None, ...]] = {
        "always_up": tuple(True for _ in days),
        CLIMATOLOGY: tuple(call_of(row) for row in climatology),
        AVERAGE: tuple(above_average(prices, day) for day in days),
    }
    if vix is None:
        return found, {VIX_RULE: "the data have no VIX"}
    if vix.days[0] > days[0] or vix.days[-1] < days[-1]:
        return found, {VIX_RULE: f"the VIX is known from {vix.days[0]} to {vix.days[-1]} alone"}
    return {**found, VIX_RULE: tuple(is_calm(vix, day) for day in days)}, {}


def _speaking(found: Sequence[Mapping[str, float | None]], fewest: int) -> tuple[str, ...]:
    """The lenses that forecast on so many dates or more."""
    names = dict.fromkeys(name for row in found for name in row)
    return tuple(name for name in names if sum(row.get(name) is not None for row in found) >= fewest)


def _weights(
    plan: BacktestPlan, labels: Sequence[Label], found: Sequence[Mapping[str, float | None]]
) -> WeightSearch | None:
    """The search over the lenses, on dates where each of them forecast; None where there are too few.

    A lens that is silent on half of the dates or more is left out: the others would have no dates left.
    """
    lenses = _speaking(found, len(found) // 2 + 1)
    rows, kept = [], []
    for label, row in zip(labels, found, strict=True):
        given = [row.get(name) for name in lenses]
        known = [value for value in given if value is not None]
        if label.up is not None and len(known) == len(lenses):
            rows.append(known)
            kept.append(label)
    if len(lenses) < 2 or len(kept) <= plan.first_window + plan.window:
        return None
    return nested_weights(
        lenses, rows, kept, first=plan.first_window, size=plan.window, embargo=plan.embargo, seed=plan.seed
    )
