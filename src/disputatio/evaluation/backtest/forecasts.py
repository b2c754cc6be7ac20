"""A probability of up from a market debate, by formulas that a plan names beforehand. It never stands in a briefing.

    equal_weights   an argument weighs score x confidence x standing. Within each lens the log odds of up are the
                    difference of the two sides' mean weights over their sum; sides of equal weight give one half. The
                    forecast is the mean over the lenses
    openings        the same arguments before anybody answered them: an argument weighs the confidence that its analyst
                    opened with. Beside the forecast it says what cross-examination and judge have added

Scores are 1 to 10 and count as what they are above 1, over 9. Confidence is the adjusted one. A standing counts 1 where
UPHELD, one half where WEAKENED, a quarter where UNCERTAIN and 0 where REFUTED. An argument whose figures are not borne
out, that was withdrawn, or that nobody scored, does not count. Without an argument that counts there is no forecast: an
abstention. Neither is there a call where the forecast is exactly one half.

A seat that failed is not a forecast. Where an analyst could not be reached, or gave no answer that fits, its lens
abstains: the other analyst alone would make it .731 or .269. An analyst without a signal is no failure: it looked and
found nothing to say, and its side weighs nothing. A seat that failed after its opening leaves the forecast of the
openings as it is.
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
from disputatio.formats.turns.closing import Hold
from disputatio.kernel import JsonObject
from disputatio.participants.analyst.playing import NO_SIGNAL
from disputatio.participants.analyst.seated import ANALYST
from disputatio.record.events import Abstained
from disputatio.record.history import History

STANDINGS = {"UPHELD": 1.0, "WEAKENED": 0.5, "UNCERTAIN": 0.25, "REFUTED": 0.0}
FORMULAS = ("equal_weights",)


@dataclass(frozen=True, slots=True)
class ScoredArgument:
    """One argument of a record: whose, how sure its analyst was at first and in the end, and what it weighs.

    ``marks`` are the judge's whole numbers by criterion; None where nobody judged it.
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
        """Whether it says up."""
        return self.side == BULL


def weigh_argument(row: Mapping[str, Any]) -> float | None:
    """How much one argument of a market verdict's trace counts, 0 to 1; None where it does not."""
    score, confidence = row.get("weighted"), _confidence_now(row)
    standing = STANDINGS.get(str(row.get("judged")))
    if score is None or confidence is None or standing is None or row.get("not_borne_out"):
        return None
    return (float(score) - 1) / 9 * float(confidence) * standing


def _confidence_now(row: Mapping[str, Any]) -> float | None:
    """The adjusted confidence; None of a withdrawn argument, also in records that have a number for it."""
    confidence, refined = row.get("confidence_adjusted"), row.get("refined") or {}
    return None if confidence is None or refined.get("status") == Hold.WITHDRAWN.value else float(confidence)


def read_arguments(outcome: Mapping[str, Any]) -> tuple[ScoredArgument, ...]:
    """The arguments of a market verdict, in the order of its trace."""
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

    None where no argument of the lens counts, and where one of its seats failed.
    """
    failed = find_failed_lenses(outcome)
    return {lens: None if lens in failed else row for lens, row in _by_lens(outcome, weigh_argument).items()}


def forecast_openings(outcome: Mapping[str, Any]) -> dict[str, float | None]:
    """The same from the openings alone: what each analyst said at first, unanswered and unjudged."""
    failed = find_failed_lenses(outcome, at_the_opening=True)
    found = _by_lens(outcome, lambda row: float(row["confidence"]))
    return {lens: None if lens in failed else row for lens, row in found.items()}


def find_failed_lenses(outcome: Mapping[str, Any], *, at_the_opening: bool = False) -> frozenset[str]:
    """The lenses of which a seat failed in any turn, or ``at_the_opening``; a seat without a signal did not fail."""
    return frozenset(
        str(row["seat"]).partition("_")[0]
        for row in outcome.get("analysts") or ()
        if any(each["reason"] != NO_SIGNAL for each in row.get("silent") or ())
        and not (at_the_opening and row.get("arguments"))
    )


def average_forecasts(forecasts: Mapping[str, float | None]) -> float | None:
    """The mean over the lenses that forecast; None where none does."""
    known = [row for row in forecasts.values() if row is not None]
    return math.fsum(known) / len(known) if known else None


def forecast_up(outcome: Mapping[str, Any]) -> float | None:
    """The probability of up by ``equal_weights`` from a whole verdict; None where no argument counts."""
    return average_forecasts(forecast_lenses(outcome))


def read_call(p: float | None) -> bool | None:
    """What a probability of up says: up, down, or nothing where there is none or it is exactly one half."""
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
    """The first seat of a record that failed, and why; having no signal is no failure. Empty where there is none."""
    rows = [row for row in history.answered.values() if isinstance(row, Abstained) and row.reason != NO_SIGNAL]
    return f"{rows[0].seat}: {rows[0].detail or rows[0].reason}" if rows else ""


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
