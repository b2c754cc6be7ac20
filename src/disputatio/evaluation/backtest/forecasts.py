"""Read a debate's record, and compute a probability of up by formulas a plan names. No briefing shows them.

    equal_weights   an argument weighs score x confidence x standing. Within each lens the log odds of up are the
                    difference of the two sides' mean weights over their sum, so equal sides give one half. The
                    forecast is the mean over the lenses
    openings        the same arguments before any answer: an argument weighs the confidence of its analyst's opening.
                    The comparison shows what cross-examination and judge have added

Scores are 1 to 10 and count as (score - 1) / 9. Confidence is the adjusted one. A standing counts 1 if UPHELD, 1/2 if
WEAKENED, 1/4 if UNCERTAIN and 0 if REFUTED. Arguments without a score, withdrawn ones, and ones with unsupported
figures do not count. Without an argument that counts there is no forecast. A forecast of exactly one half is no call.

A failed seat is not a forecast. If an analyst could not be reached or gave no valid answer, its lens abstains, since
the other analyst alone would make it .731 or .269. An analyst without a signal has not failed; its side weighs nothing.
A seat that failed after its opening leaves the forecast of the openings as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from disputatio.evaluation.backtest.cases import Case
from disputatio.evaluation.experiment import Spending, read_spending
from disputatio.evaluation.questions.arms import is_harness
from disputatio.formats.market import BEAR, BULL, LENSES
from disputatio.formats.turns.cross_examination import ArgumentStatus
from disputatio.kernel import JsonObject
from disputatio.participants.analyst.participant import ANALYST
from disputatio.participants.analyst.turns import NO_SIGNAL
from disputatio.record.events import Abstained
from disputatio.record.history import History

STANDINGS = {"UPHELD": 1.0, "WEAKENED": 0.5, "UNCERTAIN": 0.25, "REFUTED": 0.0}
FORMULAS = ("equal_weights",)


@dataclass(frozen=True, slots=True)
class ScoredArgument:
    """One argument of a record: its side, the stated and adjusted confidence of its analyst, and its weight.

    ``marks`` are the judge's whole numbers by criterion; None if it was not judged.
    """

    id: str
    lens: str
    side: str
    stated: float
    adjusted: float | None
    standing: str
    weight: float | None
    marks: Mapping[str, int] | None = None

    @property
    def bullish(self) -> bool:
        """Whether it argues for up."""
        return self.side == BULL


def weigh_argument(row: Mapping[str, Any]) -> float | None:
    """The weight of one argument of a market verdict's trace, 0 to 1; None if it does not count."""
    score, confidence = row.get("weighted"), _confidence_now(row)
    standing = STANDINGS.get(str(row.get("judged")))
    if score is None or confidence is None or standing is None or row.get("not_borne_out"):
        return None
    return (float(score) - 1) / 9 * float(confidence) * standing


def _confidence_now(row: Mapping[str, Any]) -> float | None:
    """The adjusted confidence; None for a withdrawn argument, also in records that have a number for it."""
    confidence, refined = row.get("confidence_adjusted"), row.get("refined") or {}
    return None if confidence is None or refined.get("status") == ArgumentStatus.WITHDRAWN.value else float(confidence)


def read_arguments(outcome: Mapping[str, Any]) -> tuple[ScoredArgument, ...]:
    """Read the arguments of a market verdict, in the order of its trace."""
    found = []
    for row in outcome.get("trace") or ():
        lens, _, side = str(row["side"]).rpartition("_")
        stated, adjusted = float(row["confidence"]), _confidence_now(row)
        standing = str(row.get("judged") or row.get("computed"))
        weight, marks = weigh_argument(row), row.get("criteria")
        found.append(ScoredArgument(str(row.get("id", "")), lens, side, stated, adjusted, standing, weight, marks))
    return tuple(found)


def forecast_lenses(outcome: Mapping[str, Any]) -> dict[str, float | None]:
    """The probability of up of each lens (``tech``, ``macro`` and so on).

    None if no argument of the lens counts, or if one of its seats failed.
    """
    failed = find_failed_lenses(outcome)
    return {lens: None if lens in failed else row for lens, row in _by_lens(outcome, weigh_argument).items()}


def forecast_openings(outcome: Mapping[str, Any]) -> dict[str, float | None]:
    """The same from the openings alone: the first statements of each analyst, unanswered and unjudged."""
    failed = find_failed_lenses(outcome, at_the_opening=True)
    found = _by_lens(outcome, lambda row: float(row["confidence"]))
    return {lens: None if lens in failed else row for lens, row in found.items()}


def find_failed_lenses(outcome: Mapping[str, Any], *, at_the_opening: bool = False) -> frozenset[str]:
    """The lenses with a failed seat in any turn, or ``at_the_opening``. A seat without a signal did not fail."""
    return frozenset(
        str(row["seat"]).partition("_")[0]
        for row in outcome.get("analysts") or ()
        if any(each["reason"] != NO_SIGNAL for each in row.get("silent") or ())
        and not (at_the_opening and row.get("arguments"))
    )


def average_forecasts(forecasts: Mapping[str, float | None]) -> float | None:
    """The mean over the lenses that forecast; None if none does."""
    known = [row for row in forecasts.values() if row is not None]
    return math.fsum(known) / len(known) if known else None


def forecast_up(outcome: Mapping[str, Any]) -> float | None:
    """The probability of up of a whole verdict by ``equal_weights``; None if no argument counts."""
    return average_forecasts(forecast_lenses(outcome))


def read_call(p: float | None) -> bool | None:
    """The direction a probability of up calls; None without a probability or at exactly one half."""
    return None if p is None or p == 0.5 else p > 0.5


def _by_lens(outcome: Mapping[str, Any], weigh: Callable[[Mapping[str, Any]], float | None]) -> dict[str, float | None]:
    weights: dict[str, dict[str, list[float]]] = {}
    for row in outcome.get("trace") or ():
        lens, _, side = str(row["side"]).rpartition("_")
        weight = weigh(row)
        own = weights.setdefault(lens, {BULL: [], BEAR: []})
        if weight is not None and side in own:
            own[side].append(weight)
    return {lens: _probability(own[BULL], own[BEAR]) for lens, own in weights.items()}


def _probability(bull: list[float], bear: list[float]) -> float | None:
    """A logistic of the difference of the mean weights over their sum; a side without arguments weighs nothing."""
    if not bull and not bear:
        return None
    up = math.fsum(bull) / len(bull) if bull else 0.0
    down = math.fsum(bear) / len(bear) if bear else 0.0
    return 0.5 if up + down == 0 else 1 / (1 + math.exp(-(up - down) / (up + down)))


@dataclass(frozen=True, slots=True)
class DateRecord:
    """One debate of a backtest, read from its record. Reports rest only on these and the outcomes.

    Attributes:
        case: the date and the arm.
        debate: its id in the store.
        status: how it ended.
        forecasts: the probability of up of each lens; None if it abstains.
        opened: the same from the openings alone.
        arguments: every argument.
        silent: seats that did not take a turn, with the reason.
        knowledge: SHA-256 of the knowledge base, as the record keeps it.
        failure: the first seat that failed, and why; empty if none failed.
        by_rules: whether a rule-based analyst took every seat.
        harness: whether a script or a server that answers any schema took a seat.
        spent: what it cost.
    """

    case: Case
    debate: str
    status: str
    forecasts: Mapping[str, float | None]
    opened: Mapping[str, float | None]
    arguments: tuple[ScoredArgument, ...]
    silent: tuple[tuple[str, str], ...]
    knowledge: str
    failure: str
    by_rules: bool
    harness: bool
    spent: Spending

    @property
    def day(self) -> date:
        """The decision date."""
        return self.case.day

    @property
    def p(self) -> float | None:
        """The forecast: the probability of up."""
        return average_forecasts(self.forecasts)

    @property
    def p_opened(self) -> float | None:
        """The forecast of the openings alone."""
        return average_forecasts(self.opened)

    def as_json(self) -> JsonObject:
        """The record as a row of the report."""
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
    """Read the record of ``case``; a debate that has not ended has no forecast."""
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
        dict.fromkeys(LENSES) | forecast_lenses(outcome),
        dict.fromkeys(LENSES) | forecast_openings(outcome),
        read_arguments(outcome),
        tuple(silent),
        next((str(row["text"]) for row in evidence), ""),
        find_failure(history),
        bool(seats) and all(row["kind"] == ANALYST for row in seats),
        is_harness(history),
        read_spending(history),
    )


def find_failure(history: History) -> str:
    """The first seat of a record that failed, and why; empty if none failed. Having no signal is not a failure."""
    rows = [row for row in history.answered.values() if isinstance(row, Abstained) and row.reason != NO_SIGNAL]
    return f"{rows[0].seat}: {rows[0].detail or rows[0].reason}" if rows else ""


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
