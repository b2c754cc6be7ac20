"""Measures of one record: a small fold over its events, so a store of any size can be read.

A value that a record does not hold is None and never counts as zero. Code decides what a debate concluded:

    agreement      Whether the conclusion agrees with the first output of the proposer. In a review with one position:
                   more than half of the first round's judged arguments are UPHELD or PARTIALLY_UPHELD; it disagrees
                   if more than half are REFUTED or were struck. In a structured debate: pro, who speaks first, is
                   ahead; it disagrees if con is. In a panel: the decision is the first vote of the first debater.
                   Otherwise, and for other formats, it is unknown.
    one conclusion Whether all roles reached one conclusion. In a review: the rebuttal concedes every criticism, and
                   every moderated one was resolved for the critique; or no criticism was resolved for the critique,
                   and the critique was weak (strength below 5) or missing. In a panel: the first votes of all
                   debaters are the same. For other formats it is unknown.
    tilt           A review: by how many points the moderator scored the case for the positions above the critique.
                   A structured debate: pro's total less con's.

A store keeps measures beside a record as small JSON without default values (`make_summary`, `read_summary`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from decimal import Decimal
from typing import Any, Final

from disputatio.judging.challenge import FLAG_BELOW
from disputatio.record.events import Abstained, CallMade, DebateOpened, TurnTaken
from disputatio.record.history import History, Status
from disputatio.record.store import DebateRow, Summary
from disputatio.record.text import canonical, read_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The measures of one debate.

    Attributes:
        debate: its id.
        opened_at: when it was opened, UTC.
        format: its format.
        task_type: the kind of decision; by default the format's name.
        status: its status.
        calls: calls that were sent, including discarded, failed and lost ones.
        failed: calls that brought a fault or were lost.
        tokens: input and output, with reasoning, as providers reported them; None if an answered call reported none.
        usd: what all calls cost, including reservations of lost ones; None if the price of one is unknown.
        latencies: the sum, the largest (milliseconds) and the number of answered calls.
        turns: asks that brought a turn.
        abstentions: asks that brought none.
        violations: rules that accepted turns broke.
        rejected: answers that were not accepted.
        models: the seated models, as addresses.
        sourced: whether there were sources.
        reasoning_tokens: reasoning in ``tokens``, as far as providers reported it.
        estimated_reasoning: reasoning in ``estimated_tokens``.
        estimated_tokens: the estimate when it was opened; None without one.
        estimated_usd: the same in dollars.
        strengths: of the critiques that count, 1 to 10.
        claimed: the strengths their critics claimed.
        confidence: of the last moderation; empty without one.
        uncertainties: how many it names; None without one.
        tilt, agrees, one_conclusion: by the rules above.
        verdict: of the last attached outcome, empty if it states none; None without an outcome.
        sign_off: the last decision of a sign-off; None without one.
    """

    debate: str
    opened_at: str
    format: str
    task_type: str
    status: Status
    calls: int
    failed: int
    tokens: int | None
    usd: Decimal | None
    latencies: tuple[int, int, int]
    turns: int
    abstentions: int
    violations: int
    rejected: int
    models: frozenset[str] = frozenset()
    sourced: bool = False
    estimated_tokens: int | None = None
    reasoning_tokens: int = 0
    estimated_reasoning: int = 0
    estimated_usd: Decimal | None = None
    strengths: tuple[int, ...] = ()
    claimed: tuple[int, ...] = ()
    confidence: str = ""
    uncertainties: int | None = None
    tilt: float | None = None
    agrees: bool | None = None
    one_conclusion: bool | None = None
    verdict: str | None = None
    sign_off: str | None = None

    @property
    def ended(self) -> bool:
        """Whether it ran here to its end, so that its cost is comparable with its estimate."""
        return self.status in {Status.COMPLETE, Status.DEGRADED}


def measure_debate(debate: str, opened_at: str, history: History) -> Measures:
    """Compute the measures of one debate."""
    opened = history.opened or DebateOpened(format="", motion={}, seats={}, rules={}, prompts={}, budget={})
    outcome: Mapping[str, Any] = history.closed.outcome if history.closed else {}
    made = [history.made[row.call] for row in history.calls if row.call in history.made]
    answered = [row for row in made if not row.fault]
    answers = history.answered.values()
    turns = [row for row in answers if isinstance(row, TurnTaken)]
    expected_tokens, expected_usd = _estimate(opened.estimate)
    critiques = _critiques(outcome)
    return Measures(
        debate=debate,
        opened_at=opened_at,
        format=opened.format,
        task_type=str(outcome.get("task_type") or _task_type(opened) or opened.format),
        status=history.status,
        calls=len(history.calls),
        failed=len(made) - len(answered) + len(history.lost),
        tokens=None if history.imported else _tokens(made),
        usd=None if history.imported else _usd(history),
        latencies=_latencies(answered),
        turns=len(turns),
        abstentions=sum(isinstance(row, Abstained) for row in answers),
        violations=sum(len(row.violations) for row in turns),
        rejected=sum(map(len, history.rejected.values())),
        models=frozenset(_models(opened)),
        sourced=bool(opened.evidence),
        estimated_tokens=expected_tokens,
        reasoning_tokens=_reasoning(made),
        estimated_reasoning=int(str(opened.estimate.get("reasoning_tokens", 0))),
        estimated_usd=expected_usd,
        strengths=tuple(int(row["challenge"]["strength"]) for row in critiques),
        claimed=tuple(int(row["challenge"]["claimed"]) for row in critiques),
        confidence=str(outcome.get("confidence") or ""),
        uncertainties=len(outcome.get("uncertainties") or ()) if outcome.get("confidence") else None,
        tilt=_tilt(outcome),
        agrees=_agrees(outcome),
        one_conclusion=_one_conclusion(outcome),
        verdict=history.outcomes[-1].verdict if history.outcomes else None,
        sign_off=history.sign_offs[-1].decision if history.sign_offs else None,
    )


def _models(opened: DebateOpened) -> Iterable[str]:
    for row in opened.seats.values():
        if isinstance(row, Mapping) and row.get("kind") == "model":
            yield f"{row.get('provider')}:{row.get('model')}"


def _task_type(opened: DebateOpened) -> str:
    brief = opened.rules.get("brief")
    return str(brief.get("task_type") or "") if isinstance(brief, Mapping) else ""


def _estimate(body: Mapping[str, Any]) -> tuple[int | None, Decimal | None]:
    if not body:
        return None, None
    usd = body.get("usd")
    return int(body["input_tokens"]) + int(body["output_tokens"]), None if usd is None else Decimal(str(usd))


def _reasoning(made: Iterable[CallMade]) -> int:
    found = (row.usage.get("reasoning_tokens") for row in made)
    return sum(tokens for tokens in found if isinstance(tokens, int))


def _tokens(made: Iterable[CallMade]) -> int | None:
    """Sum tokens, including reported ones of failed calls, since a call cut off while reasoning is paid."""
    total = 0
    for row in made:
        pair = row.usage.get("input_tokens"), row.usage.get("output_tokens")
        if not isinstance(pair[0], int) or not isinstance(pair[1], int):
            if row.fault:
                continue
            return None
        total += pair[0] + pair[1]
    return total


def _usd(history: History) -> Decimal | None:
    total = Decimal(0)
    for sent in history.calls:
        made = history.made.get(sent.call)
        cost = sent.reserved.get("usd") if made is None else made.cost_usd
        if cost is None:
            return None
        total += Decimal(str(cost))
    return total


def _latencies(answered: Iterable[CallMade]) -> tuple[int, int, int]:
    known = [row.latency_ms for row in answered]
    return sum(known), max(known, default=0), len(known)


def _contests(outcome: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Every exchange on a position of a review, round by round."""
    if outcome.get("format") != "review":
        return []
    return [row for held in outcome.get("rounds") or () for row in held.get("contests") or ()]


def _critiques(outcome: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [row["criticism"] for row in _contests(outcome) if row.get("criticism")]


def _tilt(outcome: Mapping[str, Any]) -> float | None:
    value: Any = None
    if outcome.get("format") == "review":
        value = (outcome.get("tilt") or {}).get("difference")
    elif outcome.get("format") == "structured":
        value = outcome.get("gap")
    return None if value is None else float(value)


def _agrees(outcome: Mapping[str, Any]) -> bool | None:
    match outcome.get("format"):
        case "review" if len(outcome.get("positions") or ()) == 1:
            rows = [row for row in outcome.get("trace") or () if row.get("round") == 1 and row.get("side") != "critic"]
            found = [row.get("found") for row in rows if row.get("found") or row.get("void")]
            return _majority(
                sum(word in {"UPHELD", "PARTIALLY_UPHELD"} for word in found),
                sum(word in {"REFUTED", "VOID"} for word in found),
                len(found),
            )
        case "structured":
            gap = outcome.get("gap")
            return None if gap is None or not float(gap) else float(gap) > 0
        case "panel":
            decision = (outcome.get("report") or {}).get("decision")
            first = next(iter(_first_votes(outcome)), None)
            return None if decision is None or first is None else decision == first
    return None


def _majority(good: int, bad: int, of: int) -> bool | None:
    if 2 * good > of:
        return True
    return False if 2 * bad > of else None


def _first_votes(outcome: Mapping[str, Any]) -> list[str | None]:
    """The first vote of each debater of a panel, in speaking order."""
    rows = (outcome.get("conduct") or {}).get("debaters") or ()
    return [next(iter(row.get("votes") or ()), None) for row in rows]


def _one_conclusion(outcome: Mapping[str, Any]) -> bool | None:
    if outcome.get("format") == "panel":
        votes = _first_votes(outcome)
        return None if len(votes) < 2 or None in votes else len(set(votes)) == 1
    if outcome.get("format") != "review" or not outcome.get("judged"):
        return None
    held = _contests(outcome)
    points = [*(outcome.get("resolved_points") or ()), *(outcome.get("unresolved_points") or ())]
    answers = [row for each in held if each.get("rebuttals") for row in each["rebuttals"]["answers"]]
    against = [row.get("outcome") == "resolved_for_critique" for row in points]
    if points and all(against) and answers and all(row.get("response") == "concede" for row in answers):
        return True
    strengths = [int(row["challenge"]["strength"]) for row in _critiques(outcome)]
    return not any(against) and max(strengths, default=0) < FLAG_BELOW


MEASURES_VERSION: Final = 1
"""Version of these rules. Raise it when the measures of a record change, so that stored summaries become stale."""

_LISTED: Final = frozenset({"debate", "opened_at"})
"""What the list of debates already says."""
_DEFAULTS: Final[Mapping[str, Any]] = {
    row.name: row.default for row in fields(Measures) if row.default is not MISSING and row.name not in _LISTED
}
_NAMES: Final = tuple(row.name for row in fields(Measures) if row.name not in _LISTED)
_READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    "status": Status,
    "usd": Decimal,
    "estimated_usd": Decimal,
    "models": frozenset,
    "latencies": tuple,
    "strengths": tuple,
    "claimed": tuple,
}


def make_summary(measures: Measures, head: str) -> Summary:
    """Make the summary of a record whose last event has the hash ``head``."""
    values = {name: getattr(measures, name) for name in _NAMES}
    body = {name: _plain(value) for name, value in values.items() if _differs(name, value)}
    return Summary(measures.debate, head, MEASURES_VERSION, canonical(body))


def read_summary(body: str, row: DebateRow) -> Measures | None:
    """Read the measures of the debate in ``row`` from the body of a summary; None if it does not hold them."""
    try:
        values = read_json(body)
        given: dict[str, Any] = {
            name: value if value is None else _READ.get(name, _same)(value) for name, value in values.items()
        }
        return Measures(debate=row.id, opened_at=row.opened_at, **given)
    except (ValueError, TypeError, ArithmeticError, AttributeError):
        return None


def _same(value: Any) -> Any:
    return value


def _differs(name: str, value: Any) -> bool:
    return name not in _DEFAULTS or value != _DEFAULTS[name]


def _plain(value: Any) -> Any:
    if isinstance(value, Status):
        return value.value
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value
