"""How good a judge or a panel is, on items whose right answer is known.

A rule that gives no winner has not answered: it is neither right nor wrong about that item, and it counts in the
whole. That is why two shares are shown, coverage (how often it answers) and precision (how often an answer is
right); accuracy is their product, with an item left open counted as not right.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from disputatio.judging.scoring import rounded
from disputatio.kernel import JsonObject


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """Counts over items; shares are None where they would divide by nothing."""

    items: int
    answered: int
    right: int

    @property
    def coverage(self) -> Fraction | None:
        """Share of the items that were answered."""
        return Fraction(self.answered, self.items) if self.items else None

    @property
    def precision(self) -> Fraction | None:
        """Share of the answers that are right."""
        return Fraction(self.right, self.answered) if self.answered else None

    @property
    def accuracy(self) -> Fraction | None:
        """Share of all items that were answered right."""
        return Fraction(self.right, self.items) if self.items else None

    def as_json(self) -> JsonObject:
        """The report, as the record and the exports keep it."""
        shares = {"coverage": self.coverage, "precision": self.precision, "accuracy": self.accuracy}
        return {
            "items": self.items,
            "answered": self.answered,
            "right": self.right,
            **{key: None if value is None else rounded(value, 4) for key, value in shares.items()},
        }


def answer_report(answers: Iterable[tuple[str | None, str]]) -> AnswerReport:
    """Count ``answers``, pairs of what was answered (None: nothing) and the right answer."""
    rows = tuple(answers)
    return AnswerReport(
        len(rows),
        sum(given is not None for given, _ in rows),
        sum(given is not None and given == known for given, known in rows),
    )
