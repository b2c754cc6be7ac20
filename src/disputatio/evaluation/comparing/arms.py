"""The ways of answering that are compared, and the debates each of them holds on a question.

    structured  yes or no: one debate on whether the answer is yes. Two answers: pro argues for A and con for B.
                Several options: one debate for each, on whether it is the right one
    panel       one panel that votes on the options
    freeform    one free-form debate, whose judge then answers the question
    review      one review, whose moderator then answers the question
    single      one answer by one seat
    vote        so many single answers as cost what a debate cost on that question; the answer given most often

`reading` says how what came of them becomes an answer, by code alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from disputatio.config import Settings
from disputatio.engine.opening import Proposal
from disputatio.errors import InvalidInputError
from disputatio.evaluation.experiment import Trial
from disputatio.evaluation.questions.items import Item, Kind
from disputatio.evaluation.votes import sampling
from disputatio.formats.answering import answered
from disputatio.formats.format import Format
from disputatio.formats.registry import find_format
from disputatio.formats.single import SINGLE
from disputatio.motion import Motion, one_line

DEBATES = ("structured", "panel", "review")
FREEFORM, SINGLE_ANSWER, VOTE = "freeform", "single", "vote"
WAYS = (*DEBATES, FREEFORM, SINGLE_ANSWER, VOTE)
NOT_FOR_NUMBERS = frozenset({"structured", "panel"})


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of answering. ``name`` is what people see; ``of`` is the debate whose cost a vote has."""

    name: str
    way: str
    of: str = ""

    @property
    def is_baseline(self) -> bool:
        """Whether it is what debates are compared with."""
        return self.way not in DEBATES


def arms_of(ways: Sequence[str], kinds: Sequence[Kind]) -> tuple[Arm, ...]:
    """The arms that ``ways`` name, debates first; a vote is held once for each debate.

    Raises:
        InvalidInputError: a way is unknown, is named twice, or cannot answer a question of these kinds.
    """
    for way in ways:
        if way not in WAYS:
            raise InvalidInputError(
                f"There is no way of answering called {one_line(way, 40)!r}.", f"There are: {', '.join(WAYS)}."
            )
    if not ways or len(set(ways)) < len(ways):
        raise InvalidInputError("Nothing is compared, or something twice.", f"Name each once: {', '.join(WAYS)}.")
    unfit = sorted(NOT_FOR_NUMBERS & set(ways))
    if Kind.NUMBER in kinds and unfit:
        raise InvalidInputError(
            f"{unfit[0]} cannot answer with a number: what is voted on or argued for must be named before.",
            "Compare freeform, review, single and vote on questions with numbers.",
        )
    debates = [way for way in WAYS if way in ways and way in DEBATES]
    arms = [Arm(way, way) for way in debates]
    arms += [Arm(way, way) for way in (FREEFORM, SINGLE_ANSWER) if way in ways]
    if VOTE in ways:
        paid = debates or [way for way in (FREEFORM,) if way in ways]
        if not paid:
            raise InvalidInputError(
                "A vote costs what a debate costs, and no debate is compared.", "Add one, such as panel or freeform."
            )
        arms += [Arm(VOTE if len(paid) == 1 else f"{VOTE} at the cost of {way}", VOTE, way) for way in paid]
    return tuple(arms)


def declared_pairs(arms: Sequence[Arm]) -> tuple[tuple[str, str], ...]:
    """The comparisons: each debate against each baseline that is there; where no debate is, free-form against both."""
    debates = [arm for arm in arms if not arm.is_baseline] or [arm for arm in arms if arm.way == FREEFORM]
    return tuple(
        (one.name, other.name)
        for one in debates
        for other in arms
        if other.is_baseline and other.name != one.name and other.of in {"", one.name}
    )


def form_of(way: str) -> Format:
    """The format that ``way`` is held in."""
    if way in {SINGLE_ANSWER, VOTE}:
        return SINGLE
    return answered(way) if way in {FREEFORM, "review"} else find_format(way)


def trials_of(
    arm: Arm, item: Item, settings: Mapping[str, Settings], prompts: Path | None = None
) -> tuple[tuple[str, Trial], ...]:
    """The debates that ``arm`` holds on ``item``, each with what it is about: an option, or nothing."""
    chosen, form = settings[arm.way], form_of(arm.way)
    if arm.way == "structured":
        return tuple(
            (label, _trial(f"{item.id}/{arm.name}/{label}", text, form, chosen, item, prompts))
            for label, text in motions(item)
        )
    if arm.way == "panel":
        chosen = replace(chosen, format=chosen.format.model_copy(update={"options": item.labels}))
    elif arm.way == SINGLE_ANSWER:
        chosen = replace(chosen, rules={**chosen.rules, "options": item.labels})  # type: ignore[dict-item]
    else:
        chosen = replace(chosen, rules={**chosen.rules, "answers": item.labels})  # type: ignore[dict-item]
    return (("", _trial(f"{item.id}/{arm.name}", item.text, form, chosen, item, prompts)),)


def samples_trial(
    item: Item, first: int, samples: int, settings: Mapping[str, Settings], prompts: Path | None = None
) -> Trial:
    """So many single answers from number ``first`` on, at the temperature of samples."""
    chosen = sampling(settings[VOTE])
    rules = {**chosen.rules, "options": item.labels, "first": first, "samples": samples}
    chosen = replace(chosen, rules=rules)  # type: ignore[arg-type]
    return _trial(f"{item.id}/{VOTE}/{first}+{samples}", item.text, SINGLE, chosen, item, prompts)


def motions(item: Item) -> tuple[tuple[str, str], ...]:
    """What two sides can argue about, with the answer that pro stands for."""
    if item.kind is Kind.YES_NO:
        return (("yes", f"The right answer to this question is yes. {item.question}"),)
    if item.kind is Kind.PAIRWISE:
        return (("A", f"Answer A is a better answer to this than answer B. {item.question}"),)
    return tuple(
        (label, f"The right answer to this question is {label}, {text!r}. {item.text}") for label, text in item.options
    )


def _trial(key: str, text: str, form: Format, settings: Settings, item: Item, prompts: Path | None) -> Trial:
    return Trial(key, Proposal(Motion(text, settings.language), form, settings, item.sources, prompts=prompts))
