"""Score a plan: a forecast for every decision date, beside benchmarks on the same dates.

always up       always says up climatology     the share of ups so far, from outcomes known on the decision date 200-day
rule    up if the close is above the mean of the last 200 closes, including the decision date's VIX rule        up if
the VIX closed below 20

A forecaster is a function of a day. It gets none of the labels, which are made here afterwards.

Two questions are fixed beforehand, and an edge needs a yes to both. Is the debate right more often than the plan's
benchmark? Is it so on the balanced label too, where rising markets do not help? All other comparisons are tested
together (Holm).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.archive import PriceSeries
from disputatio.evaluation.backtest.forecasts import average_forecasts, read_call
from disputatio.evaluation.backtest.labels import Label, compute_climatology, label_dates
from disputatio.evaluation.backtest.lens_weights import WeightSearch, search_weights
from disputatio.evaluation.backtest.plan import BacktestPlan
from disputatio.evaluation.statistics.intervals import BootstrapInterval, Rate, rate, stationary_bootstrap
from disputatio.evaluation.statistics.paired import Comparison, compare_all
from disputatio.evaluation.statistics.scores import (
    BrierReport,
    Reliability,
    balanced_accuracy,
    brier_report,
    measure_reliability,
)
from disputatio.kernel import JsonObject

AVERAGE_SESSIONS = 200
CALM_VIX = 20.0


def is_above_average(prices: PriceSeries, day: date, length: int = AVERAGE_SESSIONS) -> bool | None:
    """Whether the close on ``day`` is above the mean of the last ``length`` closes; None with fewer."""
    place = prices.place(day)
    if place is None or place + 1 < length:
        return None
    window = prices.closes[place + 1 - length : place + 1]
    return prices.closes[place] > sum(window) / length


def is_calm(vix: PriceSeries, day: date, below: float = CALM_VIX) -> bool | None:
    """Whether the VIX closed below ``below`` on ``day`` itself; None before the series begins.

    Without a close on that day the rule says down and does not use an older one.
    """
    place = vix.place(day)
    return None if place is None else vix.days[place] == day and vix.closes[place] < below


@dataclass(frozen=True, slots=True)
class BenchmarkScores:
    """The scores of one benchmark or forecaster. A date without a forecast counts as not right.

    ``calls`` are the dates on which it said up or down.
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


def score_calls(
    name: str,
    labels: Sequence[Label],
    said: Sequence[bool | None],
    forecast: Sequence[float | None] | None = None,
    climatology: Sequence[float | None] | None = None,
) -> BenchmarkScores:
    """Score calls of up (True) or down, and probabilities of up if given.

    Labels without an outcome are left out, as are missing probabilities.
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
            observed = [observed for _, observed, _ in rows]
            brier = brier_report([p for p, _, _ in rows], observed, references if climatology is not None else None)
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


DEBATE, OPENINGS, CLIMATOLOGY, AVERAGE, VIX_RULE = "debate", "openings", "climatology", "average_200", "vix_below_20"
Forecasts = Callable[[date], Mapping[str, float | None]]
"""Returns the probability of up of each lens, None if it abstains, from what was known on the evening of a day."""


@dataclass(frozen=True, slots=True)
class DecisionDates:
    """The labels of a plan, and those of earlier dates, which climatology and the median use."""

    labels: tuple[Label, ...]
    before: tuple[Label, ...]
    planned: int = 0
    """How many dates the plan has; a trial of some dates has fewer labels."""
    which: str = "first"
    """Which dates of the plan a trial has: the ``first`` or the ``last`` ones."""

    def first(self, number: int | None) -> DecisionDates:
        """The first ``number`` of them; all if None."""
        return DecisionDates(self.labels[:number], self.before, self.planned)

    def last(self, number: int) -> DecisionDates:
        """The last ``number`` of them. They still know what was known before."""
        passed = max(0, len(self.labels) - number)
        return DecisionDates(self.labels[passed:], (*self.before, *self.labels[:passed]), self.planned, "last")

    @property
    def decided(self) -> tuple[date, ...]:
        """The decision dates."""
        return tuple(row.decided for row in self.labels)

    @property
    def climatology(self) -> tuple[float | None, ...]:
        """The share of ups known on each date."""
        return compute_climatology(self.labels, self.before)


@dataclass(frozen=True, slots=True)
class BacktestResult:
    """The scores of a plan. ``weights`` is None if too few dates have a forecast of every lens.

    Attributes:
        said: the call of each forecaster on each date; None without one.
        primary: the debate against the plan's benchmark, on up and down.
        co_primary: the same on the balanced label.
        others: the debate against the other benchmarks, tested together.
        difference: of the shares right, debate less benchmark, resampled in blocks of dates.
        accuracy: the share right of the debate, resampled the same way.
        brier_gain: the Brier score of climatology less that of the debate; above zero beats climatology.
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
        """The p-value of the plan's test."""
        return self.primary.adjusted

    @property
    def has_edge(self) -> bool:
        """Whether the debate beats the benchmark beyond chance on both labels."""
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


def find_dates(plan: BacktestPlan, prices: PriceSeries) -> DecisionDates:
    """Find the decision dates of ``plan`` with their outcomes in ``prices``.

    Raises:
        InvalidInputError: no date of the plan has an outcome in ``prices``.
    """
    ends = prices.ends(plan.dates)
    history = [day for day in ends if day < plan.first]
    months = [day for day in ends if day >= plan.first]
    inside = [day for day in months if (day.year, day.month) <= (plan.last.year, plan.last.month)]
    # One more, where the last horizon ends.
    decisions = months[: len(inside) + 1]
    labels = label_dates(prices, decisions, entry=plan.entry, tie=plan.tie, history=history, fewest=plan.balanced_after)
    if not labels:
        raise InvalidInputError("No date of the plan has an outcome in these prices.", "Plan earlier dates.")
    before = label_dates(prices, [*history, decisions[0]], entry=plan.entry, tie=plan.tie) if history else ()
    return DecisionDates(labels, before, len(labels))


def score_benchmarks(
    dates: DecisionDates, prices: PriceSeries, vix: PriceSeries | None = None
) -> tuple[tuple[BenchmarkScores, ...], dict[str, str]]:
    """Score the benchmarks alone; also return why some could not be scored."""
    climatology = dates.climatology
    calls, left_out = _benchmark_calls(dates, climatology, prices, vix)
    forecasts = {CLIMATOLOGY: climatology}
    return (
        tuple(score_calls(name, dates.labels, said, forecasts.get(name), climatology) for name, said in calls.items()),
        left_out,
    )


def score_backtest(
    plan: BacktestPlan,
    prices: PriceSeries,
    forecasts: Forecasts,
    vix: PriceSeries | None = None,
    *,
    openings: Callable[[date], float | None] | None = None,
    dates: DecisionDates | None = None,
) -> BacktestResult:
    """Forecast every decision date of ``plan`` and score it.

    Args:
        plan: what was fixed beforehand.
        prices: of what is predicted.
        forecasts: of the debate.
        vix: closes of the VIX.
        openings: the forecast of the openings alone.
        dates: those of the plan, if they were made before.

    Raises:
        InvalidInputError: no date of the plan has an outcome in ``prices``.
    """
    dates = dates or find_dates(plan, prices)
    labels, climatology = dates.labels, dates.climatology
    found = tuple(dict(forecasts(row.decided)) for row in labels)
    p = tuple(average_forecasts(row) for row in found)
    probabilities: dict[str, tuple[float | None, ...]] = {DEBATE: p, CLIMATOLOGY: climatology}
    if openings is not None:
        probabilities[OPENINGS] = tuple(openings(row.decided) for row in labels)
    lenses = _speaking(found, 1)
    if len(lenses) > 1:
        probabilities |= {f"{lens} alone": tuple(row.get(lens) for row in found) for lens in lenses}
    benchmarks, left_out = _benchmark_calls(dates, climatology, prices, vix)
    own = {name: tuple(read_call(row) for row in rows) for name, rows in probabilities.items() if name != CLIMATOLOGY}
    said = {DEBATE: own.pop(DEBATE), **benchmarks, **own}
    scores = [score_calls(name, labels, calls, probabilities.get(name), climatology) for name, calls in said.items()]
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
        measure_reliability([row for row, _ in sure], [observed for _, observed in sure], seed=plan.seed)
        if sure
        else None,
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
            "Choose another benchmark in the plan, or give data that have it.",
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
    dates: DecisionDates, climatology: Iterable[float | None], prices: PriceSeries, vix: PriceSeries | None
) -> tuple[dict[str, tuple[bool | None, ...]], dict[str, str]]:
    """The calls of each benchmark, and why one of them is missing."""
    days = dates.decided
    found: dict[str, tuple[bool | None, ...]] = {
        "always_up": tuple(True for _ in days),
        CLIMATOLOGY: tuple(read_call(row) for row in climatology),
        AVERAGE: tuple(is_above_average(prices, day) for day in days),
    }
    if vix is None:
        return found, {VIX_RULE: "the data have no VIX"}
    if vix.days[0] > days[0] or vix.days[-1] < days[-1]:
        return found, {VIX_RULE: f"the VIX is only known from {vix.days[0]} to {vix.days[-1]}"}
    return {**found, VIX_RULE: tuple(is_calm(vix, day) for day in days)}, {}


def _speaking(found: Sequence[Mapping[str, float | None]], fewest: int) -> tuple[str, ...]:
    """The lenses that forecast on at least ``fewest`` dates."""
    names = dict.fromkeys(name for row in found for name in row)
    return tuple(name for name in names if sum(row.get(name) is not None for row in found) >= fewest)


def _weights(
    plan: BacktestPlan, labels: Sequence[Label], found: Sequence[Mapping[str, float | None]]
) -> WeightSearch | None:
    """Search lens weights on dates where every lens forecast; None if there are too few.

    A lens that is silent on half of the dates or more is left out, since it would leave the others no dates.
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
    return search_weights(
        lenses, rows, kept, first=plan.first_window, size=plan.window, embargo=plan.embargo, seed=plan.seed
    )
