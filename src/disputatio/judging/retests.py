"""Judging the same thing twice: what changed between the two."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.judging.judge_scores import JudgeScores
from disputatio.judging.scoring import rounded
from disputatio.kernel import JsonObject


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """One argument's points, first and again; None where that time gave it none."""

    argument: str
    first: Fraction | None
    second: Fraction | None

    @property
    def points(self) -> Fraction | None:
        """Points gained from the first time to the second; None where one is missing."""
        return None if self.first is None or self.second is None else self.second - self.first


@dataclass(frozen=True, slots=True)
class RetestReport:
    """The difference between judging once and judging again.

    Attributes:
        judge: who judged.
        verdicts: the side found for, "tie" or None, the first time and the second.
        gap_change: points the gap moved towards the side shown first; None where a time failed.
        changes: every argument that either time scored.
        failure: which time failed and why; empty where none did.
    """

    judge: str
    verdicts: tuple[str | None, str | None]
    gap_change: Fraction | None
    changes: tuple[ScoreChange, ...]
    failure: str

    @property
    def same_verdict(self) -> bool | None:
        """Whether both times found for the same side; None where a time failed."""
        return None if None in self.verdicts else self.verdicts[0] == self.verdicts[1]

    @property
    def _moved(self) -> list[Fraction]:
        return [abs(change.points) for change in self.changes if change.points is not None]

    @property
    def mean_change(self) -> Fraction | None:
        """Mean size of an argument's change in points; None where no argument was scored twice."""
        moved = self._moved
        return sum(moved, Fraction(0)) / len(moved) if moved else None

    @property
    def largest_change(self) -> Fraction | None:
        """Largest size of an argument's change in points; None where no argument was scored twice."""
        return max(self._moved, default=None)

    def text(self) -> str:
        """The difference in one sentence."""
        if self.failure:
            return f"{self.judge} cannot be compared with itself: {self.failure}"
        said = "the same verdict" if self.same_verdict else f"{self.verdicts[0]} first, then {self.verdicts[1]}"
        said += f"; the gap moved by {float(abs(self.gap_change or 0)):.2f}"
        if self.mean_change is not None and self.largest_change is not None:
            mean, most = float(self.mean_change), float(self.largest_change)
            said += f"; an argument moved by {mean:.2f} points on average, by {most:.2f} at most"
        return f"{self.judge}, judging twice: {said}"

    def as_json(self) -> JsonObject:
        """The report, as the record and the exports keep it."""
        sizes = {"gap_change": self.gap_change, "mean_change": self.mean_change, "largest_change": self.largest_change}
        return {
            "judge": self.judge,
            "verdicts": list(self.verdicts),
            "same_verdict": self.same_verdict,
            **{key: None if value is None else rounded(value, 4) for key, value in sizes.items()},
            "failure": self.failure,
            "text": self.text(),
        }


def retest(first: JudgeScores, second: JudgeScores) -> RetestReport:
    """Compare two scorings by one judge of the same debate in the same order.

    Raises:
        InvalidInputError: the judge or the order differs.
    """
    if first.judge != second.judge or first.order != second.order:
        raise InvalidInputError(
            "A retest is by the same judge with the sides in the same order.",
            "Compare two orders as a swap, and two judges by their agreement.",
        )
    failures = [f"the {when} time failed ({row.failure})" for when, row in _timed(first, second) if row.failure]
    gaps = [row.gap(*row.order) for row in (first, second)]
    change = None if gaps[0] is None or gaps[1] is None else gaps[1] - gaps[0]
    rows = [{key: value for part in row.arguments.values() for key, value in part.items()} for row in (first, second)]
    changes = tuple(
        ScoreChange(argument, rows[0].get(argument), rows[1].get(argument)) for argument in {**rows[0], **rows[1]}
    )
    return RetestReport(first.judge, (first.verdict(), second.verdict()), change, changes, "; ".join(failures))


def _timed(first: JudgeScores, second: JudgeScores) -> tuple[tuple[str, JudgeScores], tuple[str, JudgeScores]]:
    return ("first", first), ("second", second)
