"""Peer rank: a reviewer counts for as much as its own answers win."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.judging.judge_scores import TIE
from disputatio.judging.weights import Review, rank_peers
from strategies import examples

PEERS = ("a", "b", "c")


@st.composite
def review_lists(draw):
    found = []
    for _ in range(draw(st.integers(1, 12))):
        first, second = draw(st.permutations(PEERS))[:2]
        found.append(Review(draw(st.sampled_from(PEERS)), first, second, draw(st.sampled_from([first, second, TIE]))))
    return found


@examples(40)
@given(review_lists(), st.integers(1, 6), st.randoms(use_true_random=False))
def test_weights_are_shares_of_one_whatever_the_order_of_reviews(reviews, rounds, chance) -> None:
    ranked = rank_peers(reviews, rounds)
    assert all(0 <= rate <= 1 for rate in ranked.win_rates.values())
    if ranked.weights.source == "peer rank":
        assert sum(ranked.weights.of.values()) == 1
        assert min(ranked.weights.of.values()) == 0
    else:
        assert ranked.weights.note
        assert len(set(ranked.weights.of.values())) == 1
    chance.shuffle(reviews)
    again = rank_peers(reviews, rounds)
    assert dict(again.weights.of) == dict(ranked.weights.of)
    assert dict(again.win_rates) == dict(ranked.win_rates)


def test_two_rounds_by_hand() -> None:
    """First round: a wins 3 of 4, b 2 of 4, c 1 of 4, so the weights are 2/3, 1/3 and 0. In the second only what a
    and b said counts: a has 2/3 + 1/3 of the weight 2/3 + 2/3 + 1/3 it was compared with.
    """
    reviews = [
        Review("a", "a", "b", "a"),
        Review("a", "a", "c", TIE),
        Review("b", "a", "c", "a"),
        Review("b", "b", "c", "b"),
        Review("c", "a", "b", TIE),
        Review("c", "b", "c", TIE),
    ]
    first = rank_peers(reviews, rounds=1)
    assert first.win_rates == {"a": Fraction(3, 4), "b": Fraction(1, 2), "c": Fraction(1, 4)}
    assert first.weights.of == {"a": Fraction(2, 3), "b": Fraction(1, 3), "c": 0}
    second = rank_peers(reviews, rounds=2)
    whole = Fraction(2, 3) + Fraction(2, 3) + Fraction(1, 3)
    assert second.win_rates["a"] == (Fraction(2, 3) + Fraction(1, 3) + Fraction(1, 3)) / whole


def test_indistinguishable_reviewers_weigh_the_same() -> None:
    """Reviewers that are alike or no contestants weigh the same and say why."""
    alike = rank_peers([Review("a", "a", "b", TIE), Review("b", "a", "b", TIE)])
    assert dict(alike.weights.of) == {"a": 1, "b": 1}
    assert alike.weights.note == "the reviewers' own win rates are the same"
    strangers = rank_peers([Review("x", "a", "b", "a"), Review("y", "a", "b", "b")])
    assert strangers.weights.note == "no reviewer is among the contestants"


def test_a_reviewer_that_is_no_contestant_gets_the_mean() -> None:
    """A reviewer that is no contestant gets the mean of the others."""
    ranked = rank_peers([Review(who, "a", "b", "a") for who in ("a", "b", "guest")], rounds=1)
    assert dict(ranked.weights.of) == {"a": Fraction(2, 3), "b": 0, "guest": Fraction(1, 3)}


@pytest.mark.parametrize(
    "refused",
    [
        lambda: rank_peers([]),
        lambda: rank_peers([Review("a", "a", "b", "a")], rounds=0),
        lambda: rank_peers([Review("a", "a", "b", "c")]),
        lambda: rank_peers([Review("a", "a", "a", "a")]),
    ],
)
def test_reviews_that_rank_nobody_are_refused(refused) -> None:
    with pytest.raises(InvalidInputError):
        refused()
