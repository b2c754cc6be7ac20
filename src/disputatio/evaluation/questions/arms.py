"""The compared ways of answering, their debates on a question, and how code reads the answers from the records.

    structured  yes or no: one debate on whether the answer is yes. Two answers: pro argues for A and con for B.
                Several options: one debate for each, on whether it is the right one.
                The winner's answer counts; of several options the one whose pro leads by most, even if all lose. Equal
                leads, and a debate without a result, give no answer
    panel       one panel that votes on the options. The option that met the decision rule counts; without one there
                is no answer
    freeform    one free-form debate, whose judge then answers the question
    review      one review, whose moderator then answers the question
    single      one answer by one seat
    vote        as many single answers as cost what a debate cost on that question; the most frequent answer counts,
                of equal ones the first given

An answer is right or wrong. A missing answer means either that nothing was agreed or that a provider failed. The two
are counted apart, and neither is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

from disputatio.config import Settings
from disputatio.engine.opening import Proposal
from disputatio.errors import InvalidInputError
from disputatio.evaluation.experiment import (
    Spending,
    Trial,
    add_spending,
    find_unreachable,
    read_outcome,
    total_spending,
)
from disputatio.evaluation.questions.items import TIE, Item, Kind
from disputatio.evaluation.votes import Sample, with_sampling
from disputatio.formats.answered_format import answered
from disputatio.formats.format import Format
from disputatio.formats.registry import find_format
from disputatio.formats.single import SINGLE, pick_most_given
from disputatio.motion import Motion, one_line
from disputatio.motion.text import mostly_made_up
from disputatio.record.events import TurnTaken
from disputatio.record.history import History, Status

DEBATES = ("structured", "panel", "review")
FREEFORM, SINGLE_ANSWER, VOTE = "freeform", "single", "vote"
WAYS = (*DEBATES, FREEFORM, SINGLE_ANSWER, VOTE)
NOT_FOR_NUMBERS = frozenset({"structured", "panel"})


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of answering. ``name`` is shown; ``of`` is the debate whose cost a vote has."""

    name: str
    way: str
    of: str = ""

    @property
    def is_baseline(self) -> bool:
        """Whether debates are compared with it."""
        return self.way not in DEBATES


def choose_arms(ways: Sequence[str], kinds: Sequence[Kind]) -> tuple[Arm, ...]:
    """Make the arms of ``ways``, debates first, with one vote for each debate.

    Raises:
        InvalidInputError: a way is unknown, is named twice, or cannot answer questions of these kinds.
    """
    for way in ways:
        if way not in WAYS:
            raise InvalidInputError(
                f"There is no way of answering called {one_line(way, 40)!r}.", f"There are: {', '.join(WAYS)}."
            )
    if not ways or len(set(ways)) < len(ways):
        raise InvalidInputError(
            "No way of answering is named, or one is named twice.", f"Name each once: {', '.join(WAYS)}."
        )
    unfit = sorted(NOT_FOR_NUMBERS & set(ways))
    if Kind.NUMBER in kinds and unfit:
        raise InvalidInputError(
            f"{unfit[0]} cannot answer with a number: it needs options to vote on or argue for.",
            "Compare freeform, review, single and vote on questions with numbers.",
        )
    debates = [way for way in WAYS if way in ways and way in DEBATES]
    arms = [Arm(way, way) for way in debates]
    arms += [Arm(way, way) for way in (FREEFORM, SINGLE_ANSWER) if way in ways]
    if VOTE in ways:
        paid = debates or [way for way in (FREEFORM,) if way in ways]
        if not paid:
            raise InvalidInputError(
                "A vote costs as much as a debate, and no debate is compared.", "Add one, such as panel or freeform."
            )
        arms += [Arm(VOTE if len(paid) == 1 else f"{VOTE} at the cost of {way}", VOTE, way) for way in paid]
    return tuple(arms)


def declare_pairs(arms: Sequence[Arm]) -> tuple[tuple[str, str], ...]:
    """Pair each debate with each baseline; without debates, free-form with both."""
    debates = [arm for arm in arms if not arm.is_baseline] or [arm for arm in arms if arm.way == FREEFORM]
    return tuple(
        (one.name, other.name)
        for one in debates
        for other in arms
        if other.is_baseline and other.name != one.name and other.of in {"", one.name}
    )


def find_arm_format(way: str) -> Format:
    """Return the format that ``way`` uses."""
    if way in {SINGLE_ANSWER, VOTE}:
        return SINGLE
    return answered(way) if way in {FREEFORM, "review"} else find_format(way)


def make_trials(
    arm: Arm, item: Item, settings: Mapping[str, Settings], prompts: Path | None = None
) -> tuple[tuple[str, Trial], ...]:
    """Make the debates of ``arm`` on ``item``, each with its option, or an empty text."""
    chosen, form = settings[arm.way], find_arm_format(arm.way)
    if arm.way == "structured":
        return tuple(
            (label, _trial(f"{item.id}/{arm.name}/{label}", text, form, chosen, item, prompts))
            for label, text in make_motions(item)
        )
    if arm.way == "panel":
        chosen = replace(chosen, format=chosen.format.model_copy(update={"options": item.labels}))
    elif arm.way == SINGLE_ANSWER:
        chosen = replace(chosen, rules={**chosen.rules, "options": item.labels})  # type: ignore[dict-item]
    else:
        chosen = replace(chosen, rules={**chosen.rules, "answers": item.labels})  # type: ignore[dict-item]
    return (("", _trial(f"{item.id}/{arm.name}", item.text, form, chosen, item, prompts)),)


def make_samples_trial(
    item: Item, first: int, samples: int, settings: Mapping[str, Settings], prompts: Path | None = None
) -> Trial:
    """Make ``samples`` single answers from number ``first`` on, at the sampling temperature."""
    chosen = with_sampling(settings[VOTE])
    rules = {**chosen.rules, "options": item.labels, "first": first, "samples": samples}
    chosen = replace(chosen, rules=rules)  # type: ignore[arg-type]
    return _trial(f"{item.id}/{VOTE}/{first}+{samples}", item.text, SINGLE, chosen, item, prompts)


def make_motions(item: Item) -> tuple[tuple[str, str], ...]:
    """Make the motions that two sides can argue, each with the answer that pro stands for."""
    if item.kind is Kind.YES_NO:
        return (("yes", f"The right answer to this question is yes. {item.question}"),)
    if item.kind is Kind.PAIRWISE:
        return (("A", f"Answer A is a better answer to this than answer B. {item.question}"),)
    return tuple(
        (label, f"The right answer to this question is {label}, {text!r}. {item.text}") for label, text in item.options
    )


def _trial(key: str, text: str, form: Format, settings: Settings, item: Item, prompts: Path | None) -> Trial:
    return Trial(key, Proposal(Motion(text, settings.language), form, settings, item.sources, prompts=prompts))


NOTHING_SPENT = Spending()


class Outcome(StrEnum):
    """The outcome of one question in one arm."""

    RIGHT = "right"
    WRONG = "wrong"
    NO_ANSWER = "no answer"
    FAILED = "failed"
    NOT_RUN = "not held"


@dataclass(frozen=True, slots=True)
class ArmAnswer:
    """What one arm made of one question.

    ``confidence`` is 0 to 1: that of the answering seat, or the share of votes; None without one. ``seconds`` is the
    time of all calls one after the other. ``harness`` means that a seat was not a real model.
    """

    answer: str | None
    outcome: Outcome
    debates: tuple[str, ...] = ()
    spent: Spending = NOTHING_SPENT
    seconds: float = 0.0
    confidence: float | None = None
    why: str = ""
    harness: bool = False
    samples: int = 0

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.outcome is Outcome.RIGHT


NOT_RUN = ArmAnswer(None, Outcome.NOT_RUN)


def read_answer(arm: Arm, item: Item, held: Sequence[tuple[str, str, History]]) -> ArmAnswer:
    """Read what ``arm`` made of ``item``.

    Args:
        arm: any but a vote.
        item: the question.
        held: each debate with its option, its id and its history.
    """
    histories = [history for _, _, history in held]
    found: tuple[str | None, float | None, str]
    if arm.way == "structured":
        found = _by_scores(item, [(about, read_outcome(history)) for about, _, history in held])
    elif arm.way == "panel":
        found = _by_vote(read_outcome(histories[0]))
    elif arm.way == "single":
        found = _by_sample(read_outcome(histories[0]))
    else:
        found = _by_judge(read_outcome(histories[0]))
    answer, confidence, why = found
    return make_answer(item, answer, confidence, why, held)


def make_answer(
    item: Item,
    answer: str | None,
    confidence: float | None,
    why: str,
    held: Sequence[tuple[str, str, History]],
    samples: int = 0,
) -> ArmAnswer:
    """Add cost and outcome to an answer."""
    histories = [history for _, _, history in held]
    failure = next((text for history in histories if (text := find_unreachable(history))), "")
    if answer is not None:
        outcome = Outcome.RIGHT if item.is_right(answer) else Outcome.WRONG
    else:
        failed = failure or any(row.status is Status.FAILED for row in histories)
        outcome = Outcome.FAILED if failed else Outcome.NO_ANSWER
    return ArmAnswer(
        answer,
        outcome,
        tuple(debate for _, debate, _ in held),
        total_spending(histories),
        sum(sum_seconds(row) for row in histories),
        confidence,
        why if answer is not None or not failure else failure,
        any(is_harness(row) for row in histories),
        samples,
    )


def sum_seconds(history: History) -> float:
    """The time of its calls, one after the other."""
    return sum(row.latency_ms for row in history.made.values()) / 1000


HARNESS_MODELS = ("scripted", "schema", "fake", "instance")
"""Prefixes of the names of models that answer by a script or by the schema alone."""


def is_harness(history: History) -> bool:
    """Whether a seat was not a real model: a script, a recording, or a server that answers any schema at random.

    Such a server is recognised by its model name, and by its made-up answers whatever name it states.
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


def count_turns(history: History) -> int:
    """Count the turns taken."""
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
    """The points by which pro leads; the whole scale where several judges voted without points."""
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


def read_vote(item: Item, samples: Sequence[Sample], histories: Mapping[str, History]) -> ArmAnswer:
    """Read what a vote of ``samples`` made of ``item``."""
    answers = [row.answer for row in samples]
    winner = pick_most_given(answers)
    votes = {answer: answers.count(answer) for answer in dict.fromkeys(answers) if answer is not None}
    shown = ", ".join(f"{answer} {count}" for answer, count in votes.items())
    sure = votes[winner] / len(samples) if winner is not None else None
    used = dict.fromkeys(row.debate for row in samples)
    given = make_answer(item, winner, sure, f"votes: {shown or 'none'}", [("", row, histories[row]) for row in used])
    spent = add_spending(row.spent for row in samples)
    seconds = sum(row.seconds for row in samples)
    return replace(given, spent=spent, seconds=seconds, samples=len(samples))
