"""The report of a backtest, made of the records of its debates and of the outcomes, and of nothing else.

The same records and data give the same report, byte by byte: whoever has them can make it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from disputatio.evaluation.backtest.archive import Archive
from disputatio.evaluation.backtest.calibrating import JudgeCalibration, calibrate_judge
from disputatio.evaluation.backtest.cases import BLIND, MIRRORED, PLAIN, Case
from disputatio.evaluation.backtest.confidence import ConfidenceCheck, confidence_check
from disputatio.evaluation.backtest.controls import Blind, Mirrored, blind_check, mirrored_check
from disputatio.evaluation.backtest.finding import accuracy_text, verdict_text
from disputatio.evaluation.backtest.holding import HeldDates
from disputatio.evaluation.backtest.leaks import LeakReport, leak_report
from disputatio.evaluation.backtest.models import ModelEvidence
from disputatio.evaluation.backtest.plan import BacktestPlan
from disputatio.evaluation.backtest.prices import PriceSeries
from disputatio.evaluation.backtest.reading import DateRecord
from disputatio.evaluation.backtest.running import DEBATE, BacktestResult, Dates, dates_of, run_backtest
from disputatio.evaluation.comparing.report import HARNESS
from disputatio.evaluation.experiment import Spent
from disputatio.formats.market_verdict import DISCLAIMERS
from disputatio.kernel import JsonObject

BY_RULES = (
    "A RUN OF THE HARNESS: the seats are taken by rules out of textbooks, none of them fitted to these data, and by no "
    "language model. It shows what such rules are worth and that the backtest works. It is no evidence about debate "
    "between models."
)


class Outcome(StrEnum):
    """What became of one date."""

    RIGHT = "right"
    WRONG = "wrong"
    NO_CALL = "no call"
    FAILED = "failed"
    NOT_HELD = "not held"


@dataclass(frozen=True, slots=True)
class DatesCounted:
    """What became of the dates of a run: ``failed`` and ``without_signal`` are those on which a seat was missing."""

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
        """All of them in a line."""
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
        mirrored, blind: what the controls show; empty and None where none were held.
        leaks: the tests of what could be known; None where the plan wants none.
        confidence: whether stated confidences carry information; None without arguments.
        who: who sat where.
        missing: debates that were not held, and ``stopped`` why.
        planned: how many dates the plan has; more than were scored in a trial of its ``which`` ones, first or last.
        models: what else is known of language models that took part.
        judge: the search over the weights of the judge's criteria; None with too few dates.
    """

    result: BacktestResult
    source: str
    digest: str
    records: tuple[DateRecord, ...]
    mirrored: tuple[Mirrored, ...]
    blind: Blind | None
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
        """The debates themselves, by date."""
        return {row.day: row for row in self.records if row.case.arm == PLAIN}

    @property
    def counted(self) -> DatesCounted:
        """How many dates were held, and how many of those without a seat."""
        plain = self.plain
        rows = [plain[row.decided] for row in self.result.labels if row.decided in plain]
        failed = sum(bool(row.failure) for row in rows)
        quiet = sum(bool(row.silent) and not row.failure for row in rows)
        return DatesCounted(len(self.result.labels), len(rows), failed, quiet)

    @property
    def by_rules(self) -> bool:
        """Whether every seat was taken by rules."""
        return bool(self.records) and all(row.by_rules for row in self.records)

    @property
    def notice(self) -> str:
        """What stands above everything; empty where models debated on every date of the plan."""
        harness = any(row.harness for row in self.records) or (self.models is not None and self.models.harness)
        kind = BY_RULES if self.by_rules else HARNESS if harness else ""
        scored = len(self.result.labels)
        part = f"A TRIAL: the {self.which} {scored} of the {self.planned} dates of the plan."
        trial = part if scored < self.planned else ""
        return " ".join(filter(None, (trial, kind)))

    @property
    def stop_text(self) -> str:
        """Why the run stopped, and how many of its debates, of every arm, are missing."""
        missing = f"{self.missing} debates were not held, and count as not right." if self.missing else ""
        return f"The run was stopped: {self.stopped}. {missing}".rstrip()

    @property
    def spent(self) -> Spent:
        """What the debates cost, the controls included."""
        total = Spent()
        for row in self.records:
            total = total.plus(row.spent)
        return total

    def outcome(self, name: str, place: int) -> Outcome | None:
        """What became of one date for one forecaster; None where a tie has no outcome."""
        label = self.result.labels[place]
        if label.up is None:
            return None
        said = self.result.said[name][place]
        if said is not None:
            return Outcome.RIGHT if said == label.up else Outcome.WRONG
        record = self.plain.get(label.decided)
        if name != DEBATE or (record is not None and not record.failure):
            return Outcome.NO_CALL
        return Outcome.NOT_HELD if record is None else Outcome.FAILED

    def outcomes(self, name: str) -> dict[Outcome, int]:
        """How often each outcome came for one forecaster."""
        found = dict.fromkeys(Outcome, 0)
        for place in range(len(self.result.labels)):
            if (row := self.outcome(name, place)) is not None:
                found[row] += 1
        return found

    @property
    def finding(self) -> str:
        """The result in a few sentences, no more than the comparisons show. A run that was cut has no accuracy."""
        if self.counted.not_held:
            return (
                f"The run was cut: {self.counted.held} of {self.counted.dates} dates were held. No accuracy is told "
                "before all of them are."
            )
        accuracy = accuracy_text(self.result)
        if not accuracy:
            return "Nothing could be scored."
        # What a model may have read of afterwards is counted and is no finding.
        models = self.models is not None and self.models.splits
        verdict = self.models.splits[0].verdict if self.models is not None and models else verdict_text(self.result)
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


def cases_of(plan: BacktestPlan, dates: Dates, *, blind_everywhere: bool = False) -> tuple[Case, ...]:
    """Every debate of a backtest: each date, and every so many dates again mirrored and blind."""
    days = dates.decided
    chosen = days[:: plan.controls_every] if plan.controls_every else ()
    blind = days if blind_everywhere else chosen
    return (
        *(Case(day) for day in days),
        *(Case(day, MIRRORED) for day in chosen),
        *(Case(day, BLIND) for day in blind),
    )


def backtest_report(
    plan: BacktestPlan,
    archive: Archive,
    held: HeldDates,
    who: Mapping[str, str],
    *,
    dates: Dates | None = None,
    models: ModelEvidence | None = None,
) -> BacktestReport:
    """Score what was held.

    Args:
        plan: what was fixed beforehand.
        archive: the data it was held on.
        held: the debates of every arm.
        who: who sat where.
        dates: those that were to be held; all of the plan where not given.
        models: what else is known of language models that took part.

    Raises:
        InvalidInputError: the plan has no date with an outcome in these data.
    """
    prices = archive.prices()
    dates = dates or dates_of(plan, prices)
    plain = [row for row in held.records if row.case.arm == PLAIN]
    by_day = {row.day: row for row in plain}
    nothing: Mapping[str, float | None] = {}
    result = run_backtest(
        plan,
        prices,
        lambda day: by_day[day].forecasts if day in by_day else nothing,
        archive.vix(),
        openings=lambda day: by_day[day].p_opened if day in by_day else None,
        dates=dates,
    )
    came = _came(dates)
    reflected = [row for row in held.records if row.case.arm == MIRRORED]
    mirrored = mirrored_check(plain, reflected, came, _came(dates_of(plan, _mirrored(prices)))) if reflected else ()
    return BacktestReport(
        result,
        archive.name,
        archive.digest,
        held.records,
        mirrored,
        blind_check(plain, [row for row in held.records if row.case.arm == BLIND]),
        leak_report(archive, plain, dates.labels, plan.leaks_every) if plan.leaks_every else None,
        confidence_check(plain, came, plan.seed),
        who,
        len(held.missing),
        held.stopped,
        dates.planned,
        models,
        dates.which,
        calibrate_judge(plan, dates.labels, plain),
    )


def _came(dates: Dates) -> dict[date, bool]:
    return {row.decided: row.up for row in dates.labels if row.up is not None}


def _mirrored(prices: PriceSeries) -> PriceSeries:
    square = prices.closes[0] ** 2
    return PriceSeries(f"{prices.name}, mirrored", prices.days, tuple(square / close for close in prices.closes))


def who_sat(seats: Mapping[str, str]) -> Sequence[str]:
    """Who sat where, seats that are taken alike together."""
    found: dict[str, list[str]] = {}
    for seat, who in seats.items():
        found.setdefault(who, []).append(seat)
    return [f"{'all seats' if len(found) == 1 else ', '.join(rows)}: {who}" for who, rows in found.items()]
