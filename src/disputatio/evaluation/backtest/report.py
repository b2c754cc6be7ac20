"""The report of a backtest, computed only from the records of its debates and the outcomes.

The same records and data give the same report, byte for byte. Its sentences claim no more than its comparisons show: an
edge needs two conditions, both by the plan's test. The debate must be right more often than the plan's benchmark on up
and down, and on the balanced label. If one fails, the sentence names it. The power is that of this rule: each condition
is met, by a true lead of ten points at the observed discordance, with a computable probability, and both are met at
most as often as the rarer one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from disputatio.evaluation.backtest.archive import Archive, PriceSeries
from disputatio.evaluation.backtest.cases import BLIND, MIRRORED, PLAIN, Case
from disputatio.evaluation.backtest.confidence import ConfidenceCheck, check_confidence
from disputatio.evaluation.backtest.controls import (
    BlindResult,
    LeakReport,
    MirroredResult,
    check_blind,
    check_leaks,
    check_mirrored,
)
from disputatio.evaluation.backtest.forecasts import DateRecord
from disputatio.evaluation.backtest.judge_weights import JudgeCalibration, calibrate_judge
from disputatio.evaluation.backtest.model_evidence import ModelEvidence
from disputatio.evaluation.backtest.plan import BacktestPlan
from disputatio.evaluation.backtest.runner import FinishedDates
from disputatio.evaluation.backtest.scoring import DEBATE, BacktestResult, DecisionDates, find_dates, score_backtest
from disputatio.evaluation.experiment import Spending
from disputatio.evaluation.questions.report import HARNESS
from disputatio.evaluation.statistics.intervals import ALPHA
from disputatio.evaluation.statistics.paired import Comparison, format_p
from disputatio.formats.market_verdict import DISCLAIMERS
from disputatio.kernel import JsonObject

BY_RULES = (
    "A HARNESS TEST: textbook rules, none of them fitted to these data, take all seats, and no language model does. It "
    "shows what such rules are worth and that the backtest works. It is no evidence about debate between models."
)


class Outcome(StrEnum):
    """The outcome of one date."""

    RIGHT = "right"
    WRONG = "wrong"
    NO_CALL = "no call"
    FAILED = "failed"
    NOT_RUN = "not held"


@dataclass(frozen=True, slots=True)
class DateCounts:
    """How many dates ran: ``failed`` and ``without_signal`` are those with a missing seat."""

    dates: int
    held: int
    failed: int
    without_signal: int

    @property
    def not_held(self) -> int:
        """Dates without a debate."""
        return self.dates - self.held

    @property
    def text(self) -> str:
        """All counts in a line."""
        missing = self.failed + self.without_signal
        why = f" (no signal on {self.without_signal}, failed on {self.failed})" if missing else ""
        return f"{self.held} held, {self.not_held} not held, {missing} degraded by a missing seat{why}"

    def as_json(self) -> JsonObject:
        """The counts."""
        return {
            "dates": self.dates,
            "held": self.held,
            "not_held": self.not_held,
            "degraded": self.failed + self.without_signal,
            "with_a_failed_seat": self.failed,
            "with_a_seat_without_a_signal": self.without_signal,
        }


@dataclass(frozen=True, slots=True)
class BacktestReport:
    """Everything that a backtest reports.

    Attributes:
        result: the scores.
        source, digest: of the data.
        records: every debate, of every arm.
        mirrored, blind: the results of the controls; empty and None without any.
        leaks: the leak tests; None if the plan wants none.
        confidence: whether stated confidences are informative; None without arguments.
        who: seats and their models.
        missing: debates that did not run, and ``stopped`` why.
        planned: how many dates the plan has; a trial of its ``which`` ones, first or last, scores fewer.
        models: what else is known of language models that took part.
        judge: the search over the weights of the judge's criteria; None with too few dates.
    """

    result: BacktestResult
    source: str
    digest: str
    records: tuple[DateRecord, ...]
    mirrored: tuple[MirroredResult, ...]
    blind: BlindResult | None
    leaks: LeakReport | None
    confidence: ConfidenceCheck | None
    who: Mapping[str, str]
    missing: int = 0
    stopped: str = ""
    planned: int = 0
    models: ModelEvidence | None = None
    which: str = "first"
    judge: JudgeCalibration | None = None

    @property
    def plain(self) -> dict[date, DateRecord]:
        """The debates of the plain arm, by date."""
        return {row.day: row for row in self.records if row.case.arm == PLAIN}

    @property
    def counted(self) -> DateCounts:
        """How many dates ran, and how many of those without a seat."""
        plain = self.plain
        rows = [plain[row.decided] for row in self.result.labels if row.decided in plain]
        failed = sum(bool(row.failure) for row in rows)
        quiet = sum(bool(row.silent) and not row.failure for row in rows)
        return DateCounts(len(self.result.labels), len(rows), failed, quiet)

    @property
    def by_rules(self) -> bool:
        """Whether rules took every seat."""
        return bool(self.records) and all(row.by_rules for row in self.records)

    @property
    def notice(self) -> str:
        """The notice above everything; empty if models debated on every date of the plan."""
        harness = any(row.harness for row in self.records) or (self.models is not None and self.models.harness)
        kind = BY_RULES if self.by_rules else HARNESS if harness else ""
        scored = len(self.result.labels)
        part = f"A TRIAL: the {self.which} {scored} of the {self.planned} dates of the plan."
        trial = part if scored < self.planned else ""
        return " ".join(filter(None, (trial, kind)))

    @property
    def stop_text(self) -> str:
        """Why the run stopped, and how many of its debates, of every arm, are missing."""
        missing = f"{self.missing} debates did not run and count as not right." if self.missing else ""
        return f"The run was stopped: {self.stopped}. {missing}".rstrip()

    @property
    def spent(self) -> Spending:
        """What the debates cost, including the controls."""
        total = Spending()
        for row in self.records:
            total = total.plus(row.spent)
        return total

    def outcome(self, name: str, place: int) -> Outcome | None:
        """The outcome of one date for one forecaster; None for an excluded tie."""
        label = self.result.labels[place]
        if label.up is None:
            return None
        said = self.result.said[name][place]
        if said is not None:
            return Outcome.RIGHT if said == label.up else Outcome.WRONG
        record = self.plain.get(label.decided)
        if name != DEBATE or (record is not None and not record.failure):
            return Outcome.NO_CALL
        return Outcome.NOT_RUN if record is None else Outcome.FAILED

    def outcomes(self, name: str) -> dict[Outcome, int]:
        """How often one forecaster had each outcome."""
        found = dict.fromkeys(Outcome, 0)
        for place in range(len(self.result.labels)):
            if (row := self.outcome(name, place)) is not None:
                found[row] += 1
        return found

    @property
    def finding(self) -> str:
        """The result in a few sentences. An incomplete run has no accuracy."""
        if self.counted.not_held:
            return (
                f"The run is incomplete: {self.counted.held} of {self.counted.dates} dates have run. Accuracy is only "
                "reported for all of them."
            )
        accuracy = describe_accuracy(self.result)
        if not accuracy:
            return "Nothing could be scored."
        # Dates before a model's cut-off are counted but are no finding.
        models = self.models is not None and self.models.splits
        verdict = self.models.splits[0].verdict if self.models is not None and models else describe_verdict(self.result)
        return f"{accuracy} {verdict}"

    def as_json(self) -> JsonObject:
        """The stable JSON form."""
        outcomes = {name: {row.value: count for row, count in self.outcomes(name).items()} for name in self.result.said}
        return {
            **self.result.as_json(),
            "notice": self.notice,
            "finding": self.finding,
            "by_rules": self.by_rules,
            "who": dict(self.who),
            "data": {"source": self.source, "sha256": self.digest},
            "outcomes": outcomes,
            "confidence": None if self.confidence is None else self.confidence.as_json(),
            "controls": {
                "mirrored": [row.as_json() for row in self.mirrored],
                "blind": None if self.blind is None else self.blind.as_json(),
            },
            "leaks": None if self.leaks is None else self.leaks.as_json(),
            "language_models": None if self.models is None else self.models.as_json(),
            "judge_weights": None if self.judge is None else self.judge.as_json(),
            "spent": self.spent.as_json(),
            "planned_dates": self.planned,
            "dates_counted": self.counted.as_json(),
            "not_held": self.missing,
            "stopped": self.stopped,
            "rows": [self._row(place) for place in range(len(self.result.labels))],
            "control_rows": [row.as_json() for row in self.records if row.case.arm != PLAIN],
            "disclaimers": list(DISCLAIMERS),
        }

    def _row(self, place: int) -> JsonObject:
        label = self.result.labels[place]
        record = self.plain.get(label.decided)
        outcome = self.outcome(DEBATE, place)
        return {
            "day": label.decided.isoformat(),
            "entered": label.entered.isoformat(),
            "known_on": label.known_on.isoformat(),
            "return": round(label.value, 6),
            "up": label.up,
            "balanced": label.balanced,
            "climatology": None if (row := self.result.climatology[place]) is None else round(row, 6),
            "said": {name: calls[place] for name, calls in self.result.said.items()},
            "outcome": None if outcome is None else outcome.value,
            **({} if record is None else record.as_json()),
        }


def list_cases(plan: BacktestPlan, dates: DecisionDates, *, blind_everywhere: bool = False) -> tuple[Case, ...]:
    """List every debate of a backtest: each date, and every n-th date also mirrored and blind."""
    days = dates.decided
    chosen = days[:: plan.controls_every] if plan.controls_every else ()
    blind = days if blind_everywhere else chosen
    return (
        *(Case(day) for day in days),
        *(Case(day, MIRRORED) for day in chosen),
        *(Case(day, BLIND) for day in blind),
    )


def make_backtest_report(
    plan: BacktestPlan,
    archive: Archive,
    held: FinishedDates,
    who: Mapping[str, str],
    *,
    dates: DecisionDates | None = None,
    models: ModelEvidence | None = None,
) -> BacktestReport:
    """Score the debates that ran.

    Args:
        plan: what was fixed beforehand.
        archive: the data of the debates.
        held: the debates of every arm.
        who: seats and their models.
        dates: the planned ones; by default all of the plan.
        models: what else is known of language models that took part.

    Raises:
        InvalidInputError: no date of the plan has an outcome in these data.
    """
    prices = archive.prices()
    dates = dates or find_dates(plan, prices)
    plain = [row for row in held.records if row.case.arm == PLAIN]
    by_day = {row.day: row for row in plain}
    nothing: Mapping[str, float | None] = {}
    result = score_backtest(
        plan,
        prices,
        lambda day: by_day[day].forecasts if day in by_day else nothing,
        archive.vix(),
        openings=lambda day: by_day[day].p_opened if day in by_day else None,
        dates=dates,
    )
    observed = _came(dates)
    reflected = [row for row in held.records if row.case.arm == MIRRORED]
    mirrored = (
        check_mirrored(plain, reflected, observed, _came(find_dates(plan, _mirrored(prices)))) if reflected else ()
    )
    return BacktestReport(
        result,
        archive.name,
        archive.digest,
        held.records,
        mirrored,
        check_blind(plain, [row for row in held.records if row.case.arm == BLIND]),
        check_leaks(archive, plain, dates.labels, plan.leaks_every) if plan.leaks_every else None,
        check_confidence(plain, observed, plan.seed),
        who,
        len(held.missing),
        held.stopped,
        dates.planned,
        models,
        dates.which,
        calibrate_judge(plan, dates.labels, plain),
    )


def _came(dates: DecisionDates) -> dict[date, bool]:
    return {row.decided: row.up for row in dates.labels if row.up is not None}


def _mirrored(prices: PriceSeries) -> PriceSeries:
    square = prices.closes[0] ** 2
    return PriceSeries(f"{prices.name}, mirrored", prices.days, tuple(square / close for close in prices.closes))


def list_seats(seats: Mapping[str, str]) -> Sequence[str]:
    """List seats and models; seats with the same model together."""
    found: dict[str, list[str]] = {}
    for seat, who in seats.items():
        found.setdefault(who, []).append(seat)
    return [f"{'all seats' if len(found) == 1 else ', '.join(rows)}: {who}" for who, rows in found.items()]


FORECASTER_NAMES: Mapping[str, str] = {
    DEBATE: "the debate",
    "openings": "its openings alone, undebated",
    "always_up": "always up",
    "climatology": "climatology",
    "average_200": "the 200-day rule",
    "vix_below_20": "VIX below 20",
    "tech alone": "technical lens alone",
    "fund alone": "fundamental lens alone",
    "macro alone": "macro lens alone",
    "senti alone": "sentiment lens alone",
}
"""The display names of forecasters."""

_UP_AND_DOWN, _BALANCED = "on up and down", "on the balanced label"


def describe_accuracy(result: BacktestResult) -> str:
    """How often the debate and the plan's benchmark were right; empty if nothing could be scored."""
    counts = result.primary.counts
    if not counts.items:
        return ""
    if all(call is None for call in result.said[DEBATE]):
        return f"The debate made no call on any of {counts.items} {result.plan.asks_for}s."
    own, other = (100 * (counts.both + row) / counts.items for row in (counts.first, counts.second))
    against = FORECASTER_NAMES.get(result.plan.primary_against, result.plan.primary_against)
    return f"Of {counts.items} {result.plan.asks_for}s the debate called {own:.1f} % right, {against} {other:.1f} %."


def describe_verdict(result: BacktestResult) -> str:
    """Whether there is an edge; if not, which condition failed, and how likely an edge would have been detected."""
    against = FORECASTER_NAMES.get(result.plan.primary_against, result.plan.primary_against)
    if result.has_edge:
        return (
            "That is beyond chance on both labels. An edge in prices is rare and a leak is common, so look for a leak "
            "first."
        )
    if all(call is None for call in result.said[DEBATE]):
        return "Without a call there is nothing to compare."
    primary, counts = result.primary, result.primary.counts
    if primary.significant and counts.second > counts.first:
        return f"It is right less often than {against}, beyond chance."
    rows = ((_UP_AND_DOWN, primary), (_BALANCED, result.co_primary))
    said = [_condition(where, row, against) for where, row in rows]
    return f"No demonstrable edge: {'; '.join(said)}. {describe_power(result)}"


def describe_power(result: BacktestResult) -> str:
    """How likely a true lead of the planned size would have met both conditions."""
    rows = {_UP_AND_DOWN: result.primary, _BALANCED: result.co_primary}
    points = f"{100 * result.primary.gain:g} points"
    parts = []
    for where, row in rows.items():
        if row is None or not row.counts.items:
            return f"Without an outcome {where} no edge can be shown."
        if row.power_seen is None:
            share = 100 * row.counts.discordant / row.counts.items
            return f"A lead of {points} is impossible, since the two differ on only {share:.1f} % of the dates {where}."
        parts.append((where, row.power_seen))
    least = min(power for _, power in parts)
    each = ", ".join(f"{where} {power:.2f}" for where, power in parts)
    return (
        f"A true lead of {points} would meet both conditions with a probability of at most {least:.2f} at the "
        f"observed discordance ({each})."
    )


def _condition(where: str, row: Comparison | None, against: str) -> str:
    """The result of one condition."""
    if row is None or not row.counts.items:
        return f"{where} no date has an outcome"
    gap, p = row.counts.first - row.counts.second, row.adjusted
    test = f"{'mid-p' if row.mid else 'exact p'} {format_p(p)}"
    if not gap:
        return f"{where} it is right as often as {against}"
    points = f"{100 * abs(gap) / row.counts.items:.1f} points {'ahead of' if gap > 0 else 'behind'} {against}"
    if p > ALPHA:
        return f"{where} it is {points}, which chance explains ({test})"
    return f"{where} it is {points}, beyond chance ({test})"
