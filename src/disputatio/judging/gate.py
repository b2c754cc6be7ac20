"""Decide whether a question is worth a debate, before spending anything, and estimate that from outcomes.

The rules, in order

    factual         never: a fact can be looked up.
    downside        debate, if a wrong answer would cost more than 50 times what the debate may cost.
    risk            debate, if the kind of task is known for overconfident answers and a single answer has low
                    confidence or hedges.
    otherwise       no debate: a single answer will do.

A kind of task may be named by its preset (``contract-risk``); ``general`` is any other kind. An unknown kind is
refused, because a misspelt ``contract`` would pass for a task without risk.

Source: the review pattern, cost governance (the factor 50, the kinds of tasks, the signs of uncertainty). The limit of
0.7 for low confidence and the table of hedging words are our choice.

The pattern asks to calibrate the factor by later outcomes. A debate is worth its cost if

    share of debates that put the answer right x downside > cost of a debate

so the multiple is one over that share, with

    saves     the conclusion departs from the first proposer's output, and proved right
    spoils    the conclusion departs from it, and proved wrong
    share     (saves - spoils) / outcomes

Mixed outcomes and debates that agreed with their first proposer count among the outcomes only. The first proposer's
output is taken for the single answer: an assumption, since no model was asked alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.judging.scoring import round_half_up
from disputatio.kernel import JsonObject

MIN_DOWNSIDE_FACTOR = 50
"""How many times the cost of a debate the downside must exceed."""
DEFAULT_COST_USD = Decimal("0.50")
"""The usual ceiling of a review."""
LOW_CONFIDENCE = 0.7
FACTUAL = frozenset({"factual", "lookup", "look-up", "fact"})
HIGH_RISK = frozenset({"contract", "security", "architecture", "investment", "compliance"})
GENERAL = "general"
PRESET_KINDS = {
    "architecture-decision": "architecture",
    "contract-risk": "contract",
    "investment-thesis": "investment",
    "regulatory-compliance": "compliance",
    "security-threat-model": "security",
}
"""The kind of task of each review preset."""

_HEDGES_TEXT = """
it depends / might be / may be / could be / perhaps / possibly / probably / arguably / presumably / i think /
i believe / i'm not sure / i am not sure / not certain / uncertain / unclear / hard to say / difficult to say /
in some cases / under certain circumstances / consult a / seek legal advice / seems to / appears to / as far as i know
/ to my knowledge
"""
HEDGES = tuple(phrase.strip() for phrase in _HEDGES_TEXT.split("/"))
"""Lower-case words by which an answer shows that it is not sure."""
_HEDGES = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, HEDGES)) + r")(?!\w)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Whether to debate, by which rule, and why in a sentence. Amounts are in US dollars."""

    debate: bool
    rule: str
    reason: str
    threshold: Decimal

    def as_json(self) -> JsonObject:
        """Return the decision as JSON; the threshold is text."""
        return {"debate": self.debate, "rule": self.rule, "reason": self.reason, "threshold_usd": str(self.threshold)}


def find_task_type(name: str) -> str:
    """Return the kind of task with this name or preset, in any case.

    Raises:
        InvalidInputError: there is none.
    """
    kind = name.strip().lower()
    kind = PRESET_KINDS.get(kind, kind)
    if kind in FACTUAL or kind in HIGH_RISK or kind == GENERAL:
        return kind
    known = ", ".join([GENERAL, "factual", *sorted(HIGH_RISK), *sorted(PRESET_KINDS)])
    raise InvalidInputError(f"There is no kind of task called {name.strip()[:60]!r}.", f"There are: {known}.")


def should_debate(
    task_type: str,
    confidence: float | None = None,
    downside: Decimal | float | None = None,
    *,
    answer: str = "",
    cost: Decimal = DEFAULT_COST_USD,
    factor: Decimal = Decimal(MIN_DOWNSIDE_FACTOR),
) -> GateDecision:
    """Decide whether to run a debate.

    Args:
        task_type: ``factual``, ``contract``, ``security`` ..., ``general``, or a preset such as ``contract-risk``.
        confidence: of the single answer, 0 to 1; None if unknown.
        downside: what a wrong answer would cost, in US dollars; None if unknown.
        answer: the text of the single answer, searched for hedging words.
        cost: what the debate may cost, in US dollars.
        factor: how many times its cost the downside must be; see `estimate_multiple`.

    Raises:
        InvalidInputError: a number is out of range, or there is no such kind of task.
    """
    if confidence is not None and not 0 <= confidence <= 1:
        raise InvalidInputError(f"A confidence of {confidence} cannot be.", "Give a number from 0 to 1.")
    if cost <= 0 or (downside is not None and downside < 0):
        raise InvalidInputError("Costs and downsides are amounts in US dollars.", "Give a number above zero.")
    kind = find_task_type(task_type)
    threshold = cost * factor
    if kind in FACTUAL:
        return GateDecision(False, "factual", "a factual look-up has nothing to contest", threshold)
    if downside is not None and Decimal(str(downside)) > threshold:
        reason = f"a wrong answer would cost {downside} USD, more than {factor} times the {cost} USD of a debate"
        return GateDecision(True, "downside", reason, threshold)
    if kind not in HIGH_RISK:
        why = f"{kind or 'this'} is no high-risk task"
        return GateDecision(False, "otherwise", _describe_small_downside(downside, threshold, why), threshold)
    signs = _find_uncertainty(confidence, answer)
    if not signs:
        why = "the single answer shows no uncertainty" if confidence is not None or answer else "no answer was given"
        return GateDecision(False, "otherwise", _describe_small_downside(downside, threshold, why), threshold)
    return GateDecision(True, "risk", f"{kind} is a high-risk task, and {signs}", threshold)


def _find_uncertainty(confidence: float | None, answer: str) -> str:
    low = confidence is not None and confidence < LOW_CONFIDENCE
    hedges = tuple(dict.fromkeys(" ".join(found.group().lower().split()) for found in _HEDGES.finditer(answer)))
    told = [f"the confidence of the single answer is {confidence}"] if low else []
    told += [f"the single answer hedges ({', '.join(hedges[:3])})"] if hedges else []
    return " and ".join(told)


def _describe_small_downside(downside: Decimal | float | None, threshold: Decimal, why: str) -> str:
    known = f"the downside of {downside} USD is not above {threshold} USD" if downside is not None else ""
    return "; ".join(filter(None, (known or "the downside is not known", why)))


MIN_OUTCOMES = 20
"""The pattern's own size of a golden set; fewer give too rough a share."""
DEFAULT_MULTIPLE = Fraction(50)


@dataclass(frozen=True, slots=True)
class VerifiedOutcome:
    """A debate whose result was checked later: right, wrong or mixed, and whether it kept its first proposer's
    output."""

    verdict: str
    agrees: bool


@dataclass(frozen=True, slots=True)
class DebateMultiple:
    """The multiple and its basis. If ``value`` is None, ``because`` gives the reason."""

    value: Fraction | None
    outcomes: int
    saves: int
    spoils: int
    because: str

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        return {
            "multiple": None if self.value is None else round_half_up(self.value, 2),
            "outcomes": self.outcomes,
            "saves": self.saves,
            "spoils": self.spoils,
            "fewest": MIN_OUTCOMES,
            "because": self.because,
        }


def estimate_multiple(rows: Iterable[VerifiedOutcome]) -> DebateMultiple:
    """Estimate the multiple from ``rows``.

    There is none from fewer than ``MIN_OUTCOMES`` outcomes, nor if debates spoiled as many answers as they saved.
    """
    known = list(rows)
    saves = sum(row.verdict == "right" and not row.agrees for row in known)
    spoils = sum(row.verdict == "wrong" and not row.agrees for row in known)
    if len(known) < MIN_OUTCOMES:
        many = "1 outcome" if len(known) == 1 else f"{len(known)} outcomes"
        why = f"{many} can be used, and {MIN_OUTCOMES} are needed: the multiple stays as it is"
        return DebateMultiple(None, len(known), saves, spoils, why)
    if saves <= spoils:
        why = f"debates put {saves} answers right and spoiled {spoils}: no downside would make up for the cost"
        return DebateMultiple(None, len(known), saves, spoils, why)
    value = Fraction(len(known), saves - spoils)
    why = f"of {len(known)} outcomes, debates put {saves} answers right and spoiled {spoils}"
    return DebateMultiple(value, len(known), saves, spoils, why)
