"""Check a judge's consistency: with the sides swapped, judged again, and on items with known answers.

A judge that prefers a place contradicts itself when the sides change places. A win counts only if it is won in both
orders (Zheng et al. 2023, "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", section 3.4). If an order has no
verdict, there is no verdict at all, which is not a tie.

A rule that gives no winner is neither right nor wrong about an item. So there are two shares, coverage (how often it
answers) and precision (how often an answer is right). Accuracy, their product, counts an open item as not right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.judging.judge_scores import TIE, JudgeScores, check_sides
from disputatio.judging.scoring import round_half_up
from disputatio.kernel import JsonObject


class Swap(StrEnum):
    """What became of a judge's verdict when the sides changed places."""

    SURVIVED = "survived"
    REVERSED = "reversed"
    LOST = "lost"
    TIED = "tied"
    UNCONFIRMED = "unconfirmed"
    FAILED = "failed"

    def text(self) -> str:
        """Describe it in words."""
        return _WORDS[self]


_WORDS = {
    Swap.SURVIVED: "the win survived the swap",
    Swap.REVERSED: "the winner changed with the order, so it is a tie",
    Swap.LOST: "a win in one order was a tie in the other, so it is a tie",
    Swap.TIED: "a tie in both orders",
    Swap.UNCONFIRMED: "one order gave no verdict, so nothing is confirmed",
    Swap.FAILED: "neither order gave a verdict",
}


def combine_orders(one: str | None, other: str | None) -> tuple[str | None, Swap]:
    """Combine the verdicts of the two orders.

    Args:
        one: the side that won in one order, TIE, or None without a verdict.
        other: the same in the other order. Both name sides, not places.

    Returns:
        A side, TIE or None, and what became of the verdict.
    """
    if one is None or other is None:
        return None, Swap.FAILED if one is other else Swap.UNCONFIRMED
    if one == other:
        return one, Swap.TIED if one == TIE else Swap.SURVIVED
    return TIE, Swap.LOST if TIE in {one, other} else Swap.REVERSED


def is_mostly_right(pair: SwapPair) -> bool | None:
    """Whether the right verdict came more often than a wrong winner, over both orders.

    Right once and a tie or nothing once is right. Right once and wrong once is not, nor are two ties if a side is
    right. `combine_orders` is stricter.

    Returns:
        None if the right verdict is not known.
    """
    if pair.known is None:
        return None
    verdicts = (pair.shown, pair.swapped)
    right = sum(row == pair.known for row in verdicts)
    wrong = sum(row not in {pair.known, TIE, None} for row in verdicts)
    return right > wrong


@dataclass(frozen=True, slots=True)
class SwapPair:
    """One item judged in both orders.

    Attributes:
        sides: the two sides, as shown first.
        shown: the verdict in that order: a side, TIE, or None.
        swapped: the verdict in the other order.
        known: the right verdict, or None.
    """

    sides: tuple[str, str]
    shown: str | None
    swapped: str | None
    known: str | None = None


@dataclass(frozen=True, slots=True)
class SwapReport:
    """A judge's results over items judged in both orders. Every share is of all items, including failures.

    Attributes:
        pairs: number of items.
        counts: number of items for each kind of change.
        favoured_first: reversals in which the side shown first won both times.
        favoured_second: reversals in which the side shown second won both times.
        known: items whose right verdict is known.
        right_shown: of those, right as shown.
        right_swapped: of those, right in the other order.
        right_both: of those, right in both orders.
    """

    pairs: int
    counts: Mapping[Swap, int] = field(hash=False)
    favoured_first: int
    favoured_second: int
    known: int
    right_shown: int
    right_swapped: int
    right_both: int

    @property
    def consistency(self) -> Fraction | None:
        """Share of items with the same verdict in both orders; None without items. Two failures are not a verdict."""
        same = self.counts[Swap.SURVIVED] + self.counts[Swap.TIED]
        return Fraction(same, self.pairs) if self.pairs else None

    @property
    def accuracy(self) -> Fraction | None:
        """Share of right verdicts, over both orders of items with a known verdict; None without any."""
        return Fraction(self.right_shown + self.right_swapped, 2 * self.known) if self.known else None

    @property
    def order_bias(self) -> Fraction | None:
        """From -1 (always the side shown second) to 1 (always the first), over all items; None without items."""
        return Fraction(self.favoured_first - self.favoured_second, self.pairs) if self.pairs else None

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        shares = {"consistency": self.consistency, "accuracy": self.accuracy, "order_bias": self.order_bias}
        return {
            "pairs": self.pairs,
            **{swap.value: self.counts[swap] for swap in Swap},
            "favoured_first": self.favoured_first,
            "favoured_second": self.favoured_second,
            **{key: None if value is None else round_half_up(value, 4) for key, value in shares.items()},
        }


def report_swaps(pairs: Iterable[SwapPair]) -> SwapReport:
    """Count what became of ``pairs``.

    Raises:
        InvalidInputError: a verdict is neither a side nor a tie.
    """
    counts = dict.fromkeys(Swap, 0)
    number = first = second = known = right_shown = right_swapped = right_both = 0
    for pair in pairs:
        _check_pair(pair)
        number += 1
        _, swap = combine_orders(pair.shown, pair.swapped)
        counts[swap] += 1
        if swap is Swap.REVERSED:
            first += pair.shown == pair.sides[0]
            second += pair.shown == pair.sides[1]
        if pair.known is not None:
            known += 1
            right_shown += pair.shown == pair.known
            right_swapped += pair.swapped == pair.known
            right_both += pair.shown == pair.swapped == pair.known
    return SwapReport(number, counts, first, second, known, right_shown, right_swapped, right_both)


def _check_pair(pair: SwapPair) -> None:
    check_sides(pair.sides)
    strange = {pair.shown, pair.swapped, pair.known} - {*pair.sides, TIE, None}
    if strange:
        raise InvalidInputError(
            f"A verdict names {', '.join(sorted(filter(None, strange)))}, which is not a side.",
            f"Name {pair.sides[0]}, {pair.sides[1]}, {TIE}, or nothing where the judge failed.",
        )


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """One argument's points, first and again; None if that time gave none."""

    argument: str
    first: Fraction | None
    second: Fraction | None

    @property
    def points(self) -> Fraction | None:
        """Points gained from the first time to the second; None if one is missing."""
        return None if self.first is None or self.second is None else self.second - self.first


@dataclass(frozen=True, slots=True)
class RetestReport:
    """How judging again differs from judging once.

    Attributes:
        judge: its id.
        verdicts: a side, "tie" or None, the first time and the second.
        gap_change: points the gap moved towards the side shown first; None if a time failed.
        changes: every argument scored at either time.
        failure: which time failed and why, else empty.
    """

    judge: str
    verdicts: tuple[str | None, str | None]
    gap_change: Fraction | None
    changes: tuple[ScoreChange, ...]
    failure: str

    @property
    def same_verdict(self) -> bool | None:
        """Whether both times found for the same side; None if a time failed."""
        return None if None in self.verdicts else self.verdicts[0] == self.verdicts[1]

    @property
    def _moved(self) -> list[Fraction]:
        return [abs(change.points) for change in self.changes if change.points is not None]

    @property
    def mean_change(self) -> Fraction | None:
        """Mean size of an argument's change in points; None if no argument was scored twice."""
        moved = self._moved
        return sum(moved, Fraction(0)) / len(moved) if moved else None

    @property
    def largest_change(self) -> Fraction | None:
        """Largest size of an argument's change in points; None if no argument was scored twice."""
        return max(self._moved, default=None)

    def text(self) -> str:
        """Describe the difference in one sentence."""
        if self.failure:
            return f"{self.judge} cannot be compared with itself: {self.failure}"
        said = "the same verdict" if self.same_verdict else f"{self.verdicts[0]} first, then {self.verdicts[1]}"
        said += f"; the gap moved by {float(abs(self.gap_change or 0)):.2f}"
        if self.mean_change is not None and self.largest_change is not None:
            mean, most = float(self.mean_change), float(self.largest_change)
            said += f"; an argument moved by {mean:.2f} points on average, by {most:.2f} at most"
        return f"{self.judge}, judging twice: {said}"

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        sizes = {"gap_change": self.gap_change, "mean_change": self.mean_change, "largest_change": self.largest_change}
        return {
            "judge": self.judge,
            "verdicts": list(self.verdicts),
            "same_verdict": self.same_verdict,
            **{key: None if value is None else round_half_up(value, 4) for key, value in sizes.items()},
            "failure": self.failure,
            "text": self.text(),
        }


def compare_retest(first: JudgeScores, second: JudgeScores) -> RetestReport:
    """Compare two scorings by one judge of the same debate in the same order.

    Raises:
        InvalidInputError: the judge or the order differs.
    """
    if first.judge != second.judge or first.order != second.order:
        raise InvalidInputError(
            "A retest is by the same judge with the sides in the same order.",
            "Compare two orders as a swap, and two judges by their agreement.",
        )
    failures = [f"the {when} time failed ({row.failure})" for when, row in _label_times(first, second) if row.failure]
    gaps = [row.gap(*row.order) for row in (first, second)]
    change = None if gaps[0] is None or gaps[1] is None else gaps[1] - gaps[0]
    rows = [{key: value for part in row.arguments.values() for key, value in part.items()} for row in (first, second)]
    changes = tuple(
        ScoreChange(argument, rows[0].get(argument), rows[1].get(argument)) for argument in {**rows[0], **rows[1]}
    )
    return RetestReport(first.judge, (first.verdict(), second.verdict()), change, changes, "; ".join(failures))


def _label_times(first: JudgeScores, second: JudgeScores) -> tuple[tuple[str, JudgeScores], tuple[str, JudgeScores]]:
    return ("first", first), ("second", second)


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """Counts over items; a share without a denominator is None."""

    items: int
    answered: int
    right: int

    @property
    def coverage(self) -> Fraction | None:
        """Share of items answered."""
        return Fraction(self.answered, self.items) if self.items else None

    @property
    def precision(self) -> Fraction | None:
        """Share of answers that are right."""
        return Fraction(self.right, self.answered) if self.answered else None

    @property
    def accuracy(self) -> Fraction | None:
        """Share of all items answered right."""
        return Fraction(self.right, self.items) if self.items else None

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        shares = {"coverage": self.coverage, "precision": self.precision, "accuracy": self.accuracy}
        return {
            "items": self.items,
            "answered": self.answered,
            "right": self.right,
            **{key: None if value is None else round_half_up(value, 4) for key, value in shares.items()},
        }


def report_answers(answers: Iterable[tuple[str | None, str]]) -> AnswerReport:
    """Count ``answers``, pairs of the given answer (or None) and the right one."""
    rows = tuple(answers)
    return AnswerReport(
        len(rows),
        sum(given is not None for given, _ in rows),
        sum(given is not None and given == known for given, known in rows),
    )
