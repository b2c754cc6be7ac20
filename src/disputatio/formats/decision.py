"""The rule by which a panel decides, named before the debate, and how a silence counts.

The names are those people type and reports show. ``threshold_vote`` needs a stated number of votes, more than half of
all registered debaters where none is stated; what the others need stands in ``judging.votes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from disputatio.errors import InvalidInputError
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
