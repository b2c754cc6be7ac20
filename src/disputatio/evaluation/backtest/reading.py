"""What a backtest reads from the record of one debate. A report is made of these alone and of the outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from disputatio.evaluation.backtest.cases import Case
from disputatio.evaluation.backtest.forecasting import (
    Argued,
    argued_in,
    lens_forecasts,
    mean_forecast,
    opened_forecasts,
)
from disputatio.evaluation.comparing.reading import is_harness
from disputatio.evaluation.experiment import Spent, spent_on
from disputatio.formats.market import LENSES
from disputatio.kernel import JsonObject
from disputatio.participants.analyst.playing import NO_SIGNAL
from disputatio.participants.analyst.seated import ANALYST
from disputatio.record.events import Abstained
from disputatio.record.history import History


@dataclass(frozen=True, slots=True)
class DateRecord:
    """One debate of a backtest, as its record tells it.

    Attributes:
        case: the date and the arm.
        debate: its id in the store.
        status: how it ended.
        forecasts: the probability of up of each lens; None where it abstains.
        opened: the same from the openings alone.
        arguments: every argument.
        silent: seats that took a turn they were asked for not, with the reason.
        knowledge: SHA-256 of the knowledge base, as the record keeps it.
        failure: the first seat that failed, and why; empty where each seat took its turns or had no signal.
        by_rules: whether every seat was taken by a rule-based analyst.
        harness: whether a seat was taken by a script or a server that answers any schema.
    """

    case: Case
    debate: str
    status: str
    forecasts: Mapping[str, float | None]
    opened: Mapping[str, float | None]
    arguments: tuple[Argued, ...]
    silent: tuple[tuple[str, str], ...]
    knowledge: str
    failure: str
    by_rules: bool
    harness: bool
    spent: Spent

    @property
    def day(self) -> date:
        """The decision date."""
        return self.case.day

    @property
    def p(self) -> float | None:
        """The forecast: the probability of up."""
        return mean_forecast(self.forecasts)

    @property
    def p_opened(self) -> float | None:
        """The forecast of the openings alone."""
        return mean_forecast(self.opened)

    def as_json(self) -> JsonObject:
        """The record in a line of the report."""
        return {
            "day": self.day.isoformat(),
            "arm": self.case.arm,
            "debate": self.debate,
            "status": self.status,
            "p": _rounded(self.p),
            "p_openings": _rounded(self.p_opened),
            "lenses": {lens: _rounded(row) for lens, row in self.forecasts.items()},
            "arguments": len(self.arguments),
            "silent": [f"{seat}: {reason}" for seat, reason in self.silent],
            "knowledge": self.knowledge,
            **({"failure": self.failure} if self.failure else {}),
        }


def read_date(case: Case, debate: str, history: History) -> DateRecord:
    """What the record of ``case`` says; a debate that is not over has no forecast."""
    outcome: Mapping[str, Any] = history.closed.outcome if history.closed else {}
    opened = history.opened
    seats: list[Any] = list(opened.seats.values()) if opened else []
    evidence: list[Any] = list(opened.evidence) if opened else []
    silent = [
        (str(row["seat"]), str(row["reason"]))
        for analyst in outcome.get("analysts") or ()
        for row in [{"seat": analyst["seat"], **each} for each in analyst.get("silent") or ()]
    ]
    return DateRecord(
        case,
        debate,
        history.status.value,
        dict.fromkeys(LENSES) | lens_forecasts(outcome),
        dict.fromkeys(LENSES) | opened_forecasts(outcome),
        argued_in(outcome),
        tuple(silent),
        next((str(row["text"]) for row in evidence), ""),
        failure_in(history),
        bool(seats) and all(row["kind"] == ANALYST for row in seats),
        is_harness(history),
        spent_on(history),
    )


def failure_in(history: History) -> str:
    """The first seat of a record that failed, and why; having no signal is no failure. Empty where there is none."""
    rows = [row for row in history.answered.values() if isinstance(row, Abstained) and row.reason != NO_SIGNAL]
    return f"{rows[0].seat}: {rows[0].detail or rows[0].reason}" if rows else ""


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
