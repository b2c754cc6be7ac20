"""Values that rules hold: the brief of a review, the cast of a match, the decision rule of a panel.

The names of the decision rules are those people type and reports show. ``threshold_vote`` needs a number of votes, by
default more than half of all registered debaters. See ``judging.votes`` for the others.
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
"""No option met the rule in any round: the decision is to escalate."""
BUDGET_REACHED = "budget_reached"
"""The debate stopped at its budget: there is no decision."""
ESCALATE, REVISE = "escalate", "revise"


class RuleName(StrEnum):
    """Names of the decision rules."""

    THRESHOLD_VOTE = "threshold_vote"
    MAJORITY = "majority"
    SUPER_MAJORITY = "super-majority"
    UNANIMITY = "unanimity"
    WEIGHTED = "weighted"


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """A decision rule with its numbers; None means the default.

    Attributes:
        name: which rule.
        threshold: votes; for ``threshold_vote`` alone.
        share: of the electorate for ``super-majority`` (2/3), of all weight for ``weighted`` (1/2); for no other rule.
        weights: of the debaters, for ``weighted`` alone; a debater without one weighs 1.

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
        """Return the voting rule for these debaters.

        Raises:
            InvalidInputError: they cannot meet it, or a weight is not of one of them.
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
    """Return how an abstention counts: not asked, failed model, or no readable vote."""
    if reason in {"budget", "not_recorded"}:
        return Silence.ABSENT
    return Silence.ABSTAINED if reason == "misfit" else Silence.FAILED


@dataclass(frozen=True, slots=True)
class Brief:
    """What a review looks for, besides its motion.

    Attributes:
        name: the preset it comes from; empty for none.
        task_type: the kind of decision; costs are compared and gates decided by it.
        framing: what the framing must consider, in sentences.
        criteria: what a good answer must do; the framing adds its own.
        attack_lines: what the critic must try, in sentences.
        angles: nouns that can follow "for"; a small model is asked for one argument from each.
    """

    name: str = ""
    task_type: str = "general"
    framing: str = ""
    criteria: tuple[str, ...] = ()
    attack_lines: tuple[str, ...] = ()
    angles: tuple[str, ...] = ANGLES

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        body = {row.name: getattr(self, row.name) for row in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in body.items()}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Brief:
        """Read the brief of a record or a preset file.

        Raises:
            TypeError: it has an unknown key.
        """
        values: dict[str, Any] = {name: tuple(row) if isinstance(row, list) else row for name, row in body.items()}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Personality:
    """How a debater argues: a name for people and the text its prompt contains."""

    name: str
    about: str


@dataclass(frozen=True, slots=True)
class Cast:
    """Personalities by seat. A seat without one argues as it likes."""

    members: tuple[tuple[str, Personality], ...] = ()

    def of(self, seat: str) -> Personality | None:
        """Return the personality of ``seat``."""
        return dict(self.members).get(seat)

    def as_json(self) -> JsonObject:
        """Return the recorded form, with the texts: the file may change before the match resumes."""
        return {"personalities": {seat: {"name": row.name, "about": row.about} for seat, row in self.members}}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Cast:
        """Read the recorded form."""
        rows = body["personalities"].items()
        return cls(tuple((seat, Personality(row["name"], row["about"])) for seat, row in rows))


LONGEST_NAME = 40
_NAME = re.compile(r"\w(?:[\w -]*\w)?")


def is_name(text: str) -> bool:
    """Whether ``text`` can name a debater or an option. It contains nothing that ends a line, a list or a pattern."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None
