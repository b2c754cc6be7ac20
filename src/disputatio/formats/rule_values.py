"""The rule by which a panel decides, named before the debate, and how a silence counts.

The names are those people type and reports show. ``threshold_vote`` needs a stated number of votes, more than half of
all registered debaters where none is stated; what the others need stands in ``judging.votes``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.formats.turns.schema import ANGLES
from disputatio.judging.votes import (
    HALF,
    MAJORITY,
    TWO_THIRDS,
    UNANIMITY,
    Silence,
    VotingRule,
    by_weight,
    super_majority,
    threshold,
)
from disputatio.kernel import JsonObject

MAX_ROUNDS_EXHAUSTED = "max_rounds_exhausted"
"""All rounds were held and no option met the rule: the decision is to escalate."""
BUDGET_REACHED = "budget_reached"
"""The debate stopped at its ceiling: there is no decision."""
ESCALATE, REVISE = "escalate", "revise"


class RuleName(StrEnum):
    """What the rules are called."""

    THRESHOLD_VOTE = "threshold_vote"
    MAJORITY = "majority"
    SUPER_MAJORITY = "super-majority"
    UNANIMITY = "unanimity"
    WEIGHTED = "weighted"


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """A rule with its numbers; those that are None have their default.

    Attributes:
        name: which rule.
        threshold: votes, for ``threshold_vote`` alone.
        share: of the electorate for ``super-majority`` (2/3), of all weight for ``weighted`` (1/2); for no other.
        weights: of the debaters, for ``weighted`` alone; whoever is not named weighs 1.

    Raises:
        InvalidInputError: a number is given that the rule does not take.
    """

    name: RuleName = RuleName.THRESHOLD_VOTE
    threshold: int | None = None
    share: Fraction | None = None
    weights: tuple[tuple[str, Fraction], ...] = ()

    def __post_init__(self) -> None:
        takers = {
            "a threshold": (self.threshold is not None, (RuleName.THRESHOLD_VOTE,)),
            "a share": (self.share is not None, (RuleName.SUPER_MAJORITY, RuleName.WEIGHTED)),
            "weights": (bool(self.weights), (RuleName.WEIGHTED,)),
        }
        for what, (given, takes) in takers.items():
            if given and self.name not in takes:
                raise InvalidInputError(
                    f"The decision rule {self.name} takes no {what.removeprefix('a ')}.",
                    f"Leave it out, or take the rule {' or '.join(takes)}.",
                )

    def among(self, electorate: Sequence[str]) -> VotingRule:
        """The rule for these debaters.

        Raises:
            InvalidInputError: they cannot meet it, or a weight is of somebody else.
        """
        rule = self._among(electorate)
        rule.check(electorate)
        return rule

    def _among(self, electorate: Sequence[str]) -> VotingRule:
        match self.name:
            case RuleName.THRESHOLD_VOTE:
                return threshold(len(electorate) // 2 + 1 if self.threshold is None else self.threshold)
            case RuleName.MAJORITY:
                return MAJORITY
            case RuleName.SUPER_MAJORITY:
                return super_majority(TWO_THIRDS if self.share is None else self.share)
            case RuleName.UNANIMITY:
                return UNANIMITY
            case RuleName.WEIGHTED:
                weights = {**dict.fromkeys(electorate, Fraction(1)), **dict(self.weights)}
                return by_weight(weights, HALF if self.share is None else self.share)


def silence_of(reason: str) -> Silence:
    """How an abstention counts: nobody asked the debater, its model failed, or it gave no vote that can be read."""
    if reason in {"budget", "not_recorded"}:
        return Silence.ABSENT
    return Silence.ABSTAINED if reason == "misfit" else Silence.FAILED


@dataclass(frozen=True, slots=True)
class Brief:
    """The matter of a review, beside its motion.

    Attributes:
        name: the preset it comes from; empty for none.
        task_type: what kind of decision this is; costs are compared and gates decided by it.
        framing: what the framing must pay regard to, in sentences.
        criteria: what a good answer must do; the framing adds its own.
        attack_lines: what the critic must try, in sentences.
        angles: nouns that can stand after "for"; small models are asked for one argument from each.
    """

    name: str = ""
    task_type: str = "general"
    framing: str = ""
    criteria: tuple[str, ...] = ()
    attack_lines: tuple[str, ...] = ()
    angles: tuple[str, ...] = ANGLES

    def as_json(self) -> JsonObject:
        """As the record keeps it."""
        body = {row.name: getattr(self, row.name) for row in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in body.items()}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Brief:
        """The brief that a record or a preset file holds.

        Raises:
            TypeError: it has a key that no brief has.
        """
        values: dict[str, Any] = {name: tuple(row) if isinstance(row, list) else row for name, row in body.items()}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Personality:
    """A way of debating. ``name`` is how people call it, ``about`` is what its debater is told."""

    name: str
    about: str


@dataclass(frozen=True, slots=True)
class Cast:
    """Who has which personality, by seat; a seat that is missing argues as it likes."""

    members: tuple[tuple[str, Personality], ...] = ()

    def of(self, seat: str) -> Personality | None:
        """The personality of ``seat``."""
        return dict(self.members).get(seat)

    def as_json(self) -> JsonObject:
        """As the record keeps it, texts and all: a file may have changed when the match goes on."""
        return {"personalities": {seat: {"name": row.name, "about": row.about} for seat, row in self.members}}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Cast:
        """The cast that a record keeps."""
        rows = body["personalities"].items()
        return cls(tuple((seat, Personality(row["name"], row["about"])) for seat, row in rows))


LONGEST_NAME = 40
_NAME = re.compile(r"\w(?:[\w -]*\w)?")


def is_name(text: str) -> bool:
    """Whether ``text`` can name a debater or an option: nothing in it can end a line, a list or a pattern."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None
