"""Weights of the judges of a panel: fixed, equal, or by peer rank.

Peer rank is by Li, Patel and Du 2023, "PRD: Peer Rank and Discussion Improve Large Language Model based Evaluations"
(arXiv 2307.02762), section 3. Each reviewer is also a contestant. In each round a contestant's win rate is the weighted
share of comparisons it won (half for a tie). A reviewer's weight is its own win rate, min-max normalised and divided by
the sum: the worst reviewer has weight zero. There are five rounds, as in the authors' notebook.

Unlike the paper, the win rate divides by the weight of a contestant's comparisons, not by their number. The two agree
if every reviewer judged the same pairs, and only the first is always a share. Arithmetic is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.judging.judge_scores import TIE
from disputatio.judging.scoring import round_half_up
from disputatio.kernel import JsonObject


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of 0 or more, one for each judge.

    Attributes:
        source: "fixed", "equal", "peer rank" or "Dawid-Skene", shown with the verdict.
        of: weight of each judge.
        note: what a reader must know, such as why they are equal; may be empty.

    Raises:
        InvalidInputError: there are none, one is negative, or all are zero.
    """

    source: str
    of: Mapping[str, Fraction] = field(hash=False)
    note: str = ""

    def __post_init__(self) -> None:
        if any(weight < 0 for weight in self.of.values()) or not any(self.of.values()):
            raise InvalidInputError(
                f"The {self.source} weights hold a negative one, or none above zero.",
                "Give each judge a weight of 0 or more, and at least one of them above 0.",
            )

    @classmethod
    def fixed(cls, of: Mapping[str, Fraction]) -> Weights:
        """Make weights named before the debate."""
        return cls("fixed", dict(of))

    @classmethod
    def equal(cls, judges: Iterable[str], note: str = "") -> Weights:
        """Make equal weights."""
        return cls("equal", dict.fromkeys(judges, Fraction(1)), note)

    def check(self, panel: tuple[str, ...]) -> None:
        """Check that the weights are those of ``panel``.

        Raises:
            InvalidInputError: a judge has no weight, or another judge has one.
        """
        astray = sorted(set(self.of) ^ set(panel))
        if astray:
            raise InvalidInputError(
                f"The weights and the panel differ in: {', '.join(astray)}.", "Give each judge of the panel one weight."
            )

    def as_json(self) -> JsonObject:
        """Return the recorded form, as shares of 1."""
        whole = sum(self.of.values(), Fraction(0))
        shares = {judge: round_half_up(weight / whole, 4) for judge, weight in self.of.items()}
        return {"source": self.source, "shares": shares, "note": self.note}


ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Review:
    """One comparison. ``winner`` is one of the two contestants, or "tie"."""

    reviewer: str
    first: str
    second: str
    winner: str


@dataclass(frozen=True, slots=True)
class PeerRank:
    """The result of the rounds.

    Attributes:
        win_rates: share of comparisons each contestant won, weighted by the weights before the last round.
        weights: of the reviewers, from those win rates.
        rounds: how many were done.
    """

    win_rates: Mapping[str, Fraction] = field(hash=False)
    weights: Weights
    rounds: int


def rank_peers(reviews: Iterable[Review], rounds: int = ROUNDS) -> PeerRank:
    """Weigh the reviewers by their own win rates.

    A reviewer that is not a contestant, or whose comparisons had no weight, gets the mean win rate of the others. If
    all reviewers are alike, the weights are equal and say so.

    Raises:
        InvalidInputError: there are no reviews, fewer than one round, or a winner is neither contestant.
    """
    rows = tuple(reviews)
    _check_reviews(rows, rounds)
    reviewers = tuple(dict.fromkeys(row.reviewer for row in rows))
    counts = _count_wins(rows)
    weights = Weights.equal(reviewers)
    rates: dict[str, Fraction] = {}
    for _ in range(rounds):
        rates = _compute_win_rates(counts, weights.of)
        weights = _compute_weights(reviewers, rates)
    return PeerRank(rates, weights, rounds)


def _check_reviews(rows: tuple[Review, ...], rounds: int) -> None:
    if not rows or rounds < 1:
        raise InvalidInputError("Peer ranking needs reviews and at least one round.", "Give both.")
    for row in rows:
        if row.winner not in {row.first, row.second, TIE} or row.first == row.second:
            raise InvalidInputError(
                f"A review by {row.reviewer} of {row.first} and {row.second} names {row.winner}.",
                f"Compare two contestants, and name one of them or {TIE}.",
            )


def _count_wins(rows: tuple[Review, ...]) -> dict[tuple[str, str], tuple[Fraction, int]]:
    """Count wins and comparisons of each contestant before each reviewer."""
    counts: dict[tuple[str, str], tuple[Fraction, int]] = {}
    for row in rows:
        for contestant in (row.first, row.second):
            won = Fraction(1, 2) if row.winner == TIE else Fraction(int(row.winner == contestant))
            wins, number = counts.get((row.reviewer, contestant), (Fraction(0), 0))
            counts[row.reviewer, contestant] = (wins + won, number + 1)
    return counts


def _compute_win_rates(
    counts: Mapping[tuple[str, str], tuple[Fraction, int]], weights: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    won: dict[str, Fraction] = {}
    held: dict[str, Fraction] = {}
    for (reviewer, contestant), (wins, number) in counts.items():
        weight = weights[reviewer]
        won[contestant] = won.get(contestant, Fraction(0)) + weight * wins
        held[contestant] = held.get(contestant, Fraction(0)) + weight * number
    return {contestant: won[contestant] / held[contestant] for contestant in won if held[contestant]}


def _compute_weights(reviewers: tuple[str, ...], rates: Mapping[str, Fraction]) -> Weights:
    known = [rates[reviewer] for reviewer in reviewers if reviewer in rates]
    if not known:
        return Weights.equal(reviewers, "no reviewer is among the contestants")
    usual = sum(known, Fraction(0)) / len(known)
    own = {reviewer: rates.get(reviewer, usual) for reviewer in reviewers}
    lowest = min(own.values())
    above = sum(own.values(), Fraction(0)) - lowest * len(own)
    if above == 0:
        return Weights.equal(reviewers, "the reviewers' own win rates are the same")
    return Weights("peer rank", {reviewer: (rate - lowest) / above for reviewer, rate in own.items()})
