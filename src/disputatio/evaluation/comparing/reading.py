"""How what came of debates becomes an answer, by code alone.

    structured  yes or no: yes where pro wins and no where con does; of A and B likewise. Of several options the one
                whose pro leads by most, be it that all of them lose; level leads, and a debate without a result, give
                no answer
    panel       the option that met the decision rule; rounds that ran out without one give no answer
    freeform    what the judge answered after its summing up
    review      what the moderator answered after its synthesis
    single      what was answered
    vote        the answer given most often by the samples that come nearest to what the debate cost; of level ones
                the first given

An answer is right or wrong. Where there is none, either nothing was agreed, or a provider failed and nobody knows what
would have been said; the two are counted apart, and neither is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

from disputatio.evaluation.comparing.arms import Arm
from disputatio.evaluation.experiment import Spent, outcome_of, sum_of, total_spent, unreachable
from disputatio.evaluation.questions.items import TIE, Item, Kind
from disputatio.evaluation.votes import Sample
from disputatio.formats.single import most_given
from disputatio.motion.made_up import mostly_made_up
from disputatio.record.events import TurnTaken
from disputatio.record.history import History, Status

NOTHING_SPENT = Spent()


class Outcome(StrEnum):
    """What became of one question in one arm."""

    RIGHT = "right"
    WRONG = "wrong"
    NO_ANSWER = "no answer"
    FAILED = "failed"
    NOT_HELD = "not held"


@dataclass(frozen=True, slots=True)
class Given:
    """What one arm made of one question.

    ``confidence`` is 0 to 1: what the answering seat said of its answer, or the share of votes; None where there is
    none. ``seconds`` is the time of all calls one after the other. ``harness`` tells that a seat was no model.
    """

    answer: str | None
    outcome: Outcome
    debates: tuple[str, ...] = ()
    spent: Spent = NOTHING_SPENT
    seconds: float = 0.0
    confidence: float | None = None
    why: str = ""
    harness: bool = False
    samples: int = 0

    @property
    def right(self) -> bool:
        """Whether it was answered right."""
        return self.outcome is Outcome.RIGHT


NOT_HELD = Given(None, Outcome.NOT_HELD)


def read(arm: Arm, item: Item, held: Sequence[tuple[str, str, History]]) -> Given:
    """What ``arm`` made of ``item``.

    Args:
        arm: any but a vote.
        item: the question.
        held: each debate with what it was about, its id and its history.
    """
    histories = [history for _, _, history in held]
    found: tuple[str | None, float | None, str]
    if arm.way == "structured":
        found = _by_scores(item, [(about, outcome_of(history)) for about, _, history in held])
    elif arm.way == "panel":
        found = _by_vote(outcome_of(histories[0]))
    elif arm.way == "single":
        found = _by_sample(outcome_of(histories[0]))
    else:
        found = _by_judge(outcome_of(histories[0]))
    answer, confidence, why = found
    return given_of(item, answer, confidence, why, held)


def given_of(
    item: Item,
    answer: str | None,
    confidence: float | None,
    why: str,
    held: Sequence[tuple[str, str, History]],
    samples: int = 0,
) -> Given:
    """An answer with what it cost and how it ended."""
    histories = [history for _, _, history in held]
    failure = next((text for history in histories if (text := unreachable(history))), "")
    if answer is not None:
        outcome = Outcome.RIGHT if item.is_right(answer) else Outcome.WRONG
    else:
        failed = failure or any(row.status is Status.FAILED for row in histories)
        outcome = Outcome.FAILED if failed else Outcome.NO_ANSWER
    return Given(
        answer,
        outcome,
        tuple(debate for _, debate, _ in held),
        total_spent(histories),
        sum(seconds_of(row) for row in histories),
        confidence,
        why if answer is not None or not failure else failure,
        any(is_harness(row) for row in histories),
        samples,
    )


def seconds_of(history: History) -> float:
    """The time of its calls, one after the other."""
    return sum(row.latency_ms for row in history.made.values()) / 1000


HARNESS_MODELS = ("scripted", "schema", "fake", "instance")
"""How the names of models begin that answer by a script or by the schema alone."""


def is_harness(history: History) -> bool:
    """Whether any seat was no model: a script, a recording, or a server that answers any schema at random.

    Such a server is known by the name of the model that it states, and by the words of its answers whatever it states.
    """
    if history.opened is None:
        return False
    for row in history.opened.seats.values():
        seat: Any = row
        if seat["kind"] == "scripted" or str(seat.get("model", "")).casefold().startswith(HARNESS_MODELS):
            return True
    served = (str(made.served_model or "").casefold() for made in history.made.values())
    if any(name.startswith(HARNESS_MODELS) for name in served):
        return True
    return mostly_made_up(made.text for made in history.made.values() if not made.fault)


def turns_of(history: History) -> int:
    """How many turns were taken."""
    return sum(isinstance(row, TurnTaken) for row in history.answered.values())


def _by_scores(item: Item, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[str | None, float | None, str]:
    leads = {about: _lead(outcome) for about, outcome in rows}
    if any(lead is None for lead in leads.values()):
        return None, None, "a debate was not judged"
    known = {about: lead for about, lead in leads.items() if lead is not None}
    if item.kind is not Kind.CHOICE:
        ((about, lead),) = known.items()
        other = {"yes": "no", "A": "B"}[about]
        if lead == 0:
            return (TIE if TIE in item.labels else None), None, "the sides are level"
        return (about if lead > 0 else other), None, f"pro leads by {lead}"
    top = max(known.values())
    best = [about for about, lead in known.items() if lead == top]
    shown = ", ".join(f"{about} {lead:+}" for about, lead in known.items())
    return (best[0] if len(best) == 1 else None), None, f"leads of pro: {shown}"


def _lead(outcome: Mapping[str, Any]) -> Decimal | None:
    """By how much pro leads; the whole scale where several judges voted without points."""
    panel = outcome.get("panel")
    if isinstance(panel, Mapping) and panel.get("gap") is None:
        winner = panel.get("winner")
        return None if winner is None else {"pro": Decimal(10), "con": Decimal(-10)}.get(str(winner), Decimal(0))
    totals = outcome.get("totals") or {}
    pro, con = totals.get("pro"), totals.get("con")
    return None if pro is None or con is None else Decimal(str(pro)) - Decimal(str(con))


def _by_vote(outcome: Mapping[str, Any]) -> tuple[str | None, float | None, str]:
    report = outcome.get("report") or {}
    decision, rule = report.get("decision"), str(report.get("decision_rule", ""))
    tally = report.get("vote_tally") or {}
    shown = ", ".join(f"{option} {votes}" for option, votes in tally.items() if votes)
    if decision is None or decision not in (outcome.get("options") or ()):
        return None, None, f"{rule or 'no decision'} ({shown or 'no votes'})"
    return str(decision), int(tally.get(decision, 0)) / max(1, len(report.get("debater_ids") or ())), f"votes: {shown}"


def _by_sample(outcome: Mapping[str, Any]) -> tuple[str | None, float | None, str]:
    answers, sure = outcome.get("answers") or [None], outcome.get("confidence") or [None]
    return answers[0], None if sure[0] is None else int(sure[0]) / 100, ""


def _by_judge(outcome: Mapping[str, Any]) -> tuple[str | None, float | None, str]:
    given = outcome.get("answer")
    if not isinstance(given, Mapping):
        return None, None, "the judge gave no answer"
    sure = given.get("confidence")
    return str(given["answer"]), None if sure is None else int(str(sure)) / 100, ""


def read_vote(item: Item, samples: Sequence[Sample], histories: Mapping[str, History]) -> Given:
    """What a vote of ``samples`` made of ``item``."""
    answers = [row.answer for row in samples]
    winner = most_given(answers)
    votes = {answer: answers.count(answer) for answer in dict.fromkeys(answers) if answer is not None}
    shown = ", ".join(f"{answer} {count}" for answer, count in votes.items())
    sure = votes[winner] / len(samples) if winner is not None else None
    used = dict.fromkeys(row.debate for row in samples)
    given = given_of(item, winner, sure, f"votes: {shown or 'none'}", [("", row, histories[row]) for row in used])
    spent = sum_of(row.spent for row in samples)
    seconds = sum(row.seconds for row in samples)
    return replace(given, spent=spent, seconds=seconds, samples=len(samples))
