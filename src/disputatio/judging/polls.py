"""Polls of an audience before and after a debate, and the two ways of reading a winner off them.

The two differ often enough that a winner means nothing without the name of its rule: by swing the side wins
that gained the larger share, by the final vote the side that holds the larger share at the end. Undecided
listeners belong to neither side and stay in the whole. Ties never pass.

Source of the swing rule: the Oxford-style debates of Intelligence Squared U.S., which poll the audience before
and after and declare the side that gained more the winner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.kernel import JsonObject


class PollRule(StrEnum):
    """How a winner is read off the polls."""

    SWING = "swing"
    FINAL_VOTE = "final vote"


@dataclass(frozen=True, slots=True)
class Poll:
    """Percent of the audience for each side, and undecided; together at most 100.

    Raises:
        InvalidInputError: there are fewer than two sides, a share is negative, or they come to more than 100.
    """

    shares: Mapping[str, Fraction]
    undecided: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        parts = [*self.shares.values(), self.undecided]
        if len(self.shares) < 2 or any(part < 0 for part in parts) or sum(parts) > 100:
            raise InvalidInputError(
                "A poll needs two or more sides with shares of 0 or more that come to at most 100 percent.",
                "Give each side its percentage of the whole audience.",
            )


@dataclass(frozen=True, slots=True)
class PollOutcome:
    """A winner with the rule that made it. ``points`` are percentage points gained, or held at the end."""

    rule: PollRule
    points: Mapping[str, Fraction]
    winner: str | None
    tied: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        did = "gained" if self.rule is PollRule.SWING else "holds"
        rows = ", ".join(f"{side} {did} {float(points):g}" for side, points in self.points.items())
        end = f"{self.winner} wins" if self.winner else f"{' and '.join(self.tied)} are level"
        return f"by {self.rule.value}, in points: {rows}; {end}"

    def as_json(self) -> JsonObject:
        """The outcome, as the record and the exports keep it."""
        return {
            "rule": self.rule.value,
            "points": {side: float(points) for side, points in self.points.items()},
            "winner": self.winner,
            "tied": list(self.tied),
            "reason": self.reason,
        }


def swing_winner(before: Poll, after: Poll) -> PollOutcome:
    """Who gained more between the polls.

    Raises:
        InvalidInputError: the two polls are not about the same sides.
    """
    if set(before.shares) != set(after.shares):
        raise InvalidInputError("The two polls name different sides.", "Poll the same sides before and after.")
    gained = {side: after.shares[side] - share for side, share in before.shares.items()}
    return _outcome(PollRule.SWING, gained)


def final_vote_winner(after: Poll) -> PollOutcome:
    """Who holds the larger share at the end, the undecided apart."""
    return _outcome(PollRule.FINAL_VOTE, after.shares)


def _outcome(rule: PollRule, points: Mapping[str, Fraction]) -> PollOutcome:
    top = max(points.values())
    leaders = tuple(side for side, value in points.items() if value == top)
    return PollOutcome(rule, points, leaders[0] if len(leaders) == 1 else None, leaders if len(leaders) > 1 else ())
