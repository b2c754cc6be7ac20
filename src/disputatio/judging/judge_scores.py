"""What one judge of a panel gave for one order of the sides: scores, or a failure with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.judging.rubric import Rubric
from disputatio.judging.scoring import mean, rounded, weighted
from disputatio.kernel import JsonObject

# The verdict of a judge, or of a panel, that found for neither side. No side may bear this name.
TIE = "tie"


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """One judge's scores with the sides shown in one order.

    Make one with `of_totals`, `of_findings`, `of_verdict` or `failed`.

    Attributes:
        judge: the judge's id.
        order: the two sides, the one shown first first.
        totals: points of each side, exact; empty where the judge failed.
        arguments: points of each argument under its side, where the judge scored arguments.
        failure: why there are no scores; empty where there are.

    Raises:
        InvalidInputError: the order is not of two sides, a side is called "tie", or there are not exactly two
            totals and no failure, or a failure and nothing else.
    """

    judge: str
    order: tuple[str, str]
    totals: Mapping[str, Fraction] = field(default_factory=dict, hash=False)
    arguments: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict, hash=False)
    failure: str = ""

    def __post_init__(self) -> None:
        check_sides(self.order)
        if self.failure and not self.totals and not self.arguments:
            return
        if self.failure or set(self.totals) != set(self.order) or not set(self.arguments) <= set(self.order):
            raise InvalidInputError(
                f"The scores of {self.judge} must hold a total for each of {' and '.join(self.order)}, or a failure.",
                "Give both totals, or JudgeScores.failed with the reason.",
            )

    @classmethod
    def of_totals(cls, judge: str, order: tuple[str, str], totals: Mapping[str, Fraction]) -> JudgeScores:
        """Scores of whole sides."""
        return cls(judge, order, dict(totals))

    @classmethod
    def of_findings(
        cls, judge: str, order: tuple[str, str], findings: Mapping[str, Mapping[str, Mapping[str, int]]], rubric: Rubric
    ) -> JudgeScores:
        """Scores of arguments: side, argument, criterion, integer. A side's total is the mean of its arguments.

        A side without a scored argument has no total, so nothing can be compared: that is a failure.
        """
        arguments = {
            side: {argument: weighted(scores, rubric) for argument, scores in findings.get(side, {}).items()}
            for side in order
        }
        totals = {side: mean(list(rows.values())) for side, rows in arguments.items()}
        bare = [side for side, total in totals.items() if total is None]
        if bare:
            return cls.failed(judge, order, f"{' and '.join(bare)} had no scored argument")
        return cls(judge, order, {side: total for side, total in totals.items() if total is not None}, arguments)

    @classmethod
    def of_verdict(cls, judge: str, order: tuple[str, str], verdict: str) -> JudgeScores:
        """A bare verdict, a side or TIE, as one point for the winner or half a point for each.

        Raises:
            InvalidInputError: the verdict is neither.
        """
        if verdict != TIE and verdict not in order:
            raise InvalidInputError(f"{verdict} is not a side.", f"Give {order[0]}, {order[1]} or {TIE}.")
        share = {side: Fraction(1, 2) if verdict == TIE else Fraction(int(side == verdict)) for side in order}
        return cls(judge, order, share)

    @classmethod
    def failed(cls, judge: str, order: tuple[str, str], reason: str) -> JudgeScores:
        """No scores, and why."""
        return cls(judge, order, failure=reason or "no reason was given")

    def gap(self, ahead: str, behind: str) -> Fraction | None:
        """The total of ``ahead`` less that of ``behind``; None where the judge failed."""
        return None if self.failure else self.totals[ahead] - self.totals[behind]

    def verdict(self, dead_zone: Fraction = Fraction(0)) -> str | None:
        """The side this judge found for, TIE where the gap is zero or below ``dead_zone``, None where it failed."""
        gap = self.gap(*self.order)
        return None if gap is None else leader(gap, self.order, dead_zone)

    def as_json(self) -> JsonObject:
        """The scores, as the record and the exports keep them."""
        return {
            "judge": self.judge,
            "order": list(self.order),
            "totals": {side: rounded(total, 4) for side, total in self.totals.items()},
            "arguments": {
                side: {key: rounded(value, 4) for key, value in rows.items()} for side, rows in self.arguments.items()
            },
            "failure": self.failure,
        }


def leader(gap: Fraction, sides: tuple[str, str], dead_zone: Fraction = Fraction(0)) -> str:
    """The first side for a gap above zero, the second for one below; TIE at zero and inside the dead zone."""
    if gap == 0 or abs(gap) < dead_zone:
        return TIE
    return sides[0] if gap > 0 else sides[1]


def check_sides(sides: tuple[str, ...]) -> None:
    """Refuse what is not two different sides.

    Raises:
        InvalidInputError: there are not two, they are one, or one is called "tie".
    """
    if len(sides) != 2 or sides[0] == sides[1] or TIE in sides:
        raise InvalidInputError(
            f"A panel judges two different sides, not: {', '.join(sides) or 'none'}.",
            f'Name two sides, neither of them "{TIE}".',
        )
