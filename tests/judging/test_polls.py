"""Polls of an audience: swing and final vote, each under its own name."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.judging.votes import Poll, PollRule, find_final_vote_winner, find_swing_winner


def poll(a: int, b: int) -> Poll:
    return Poll({"for": Fraction(a), "against": Fraction(b)}, Fraction(100 - a - b))


shares = st.tuples(st.integers(0, 50), st.integers(0, 50))


@given(shares, shares)
def test_the_larger_gain_and_the_larger_final_share_win(before, after) -> None:
    """The larger gain and the larger final share win and level ones are named."""
    swing, final = find_swing_winner(poll(*before), poll(*after)), find_final_vote_winner(poll(*after))
    for outcome, first, second in ((swing, after[0] - before[0], after[1] - before[1]), (final, after[0], after[1])):
        assert outcome.winner == ("for" if first > second else "against" if second > first else None)
        assert outcome.tied == (() if first != second else ("for", "against"))
        assert outcome.rule.value in outcome.reason
    assert (swing.rule, final.rule) == (PollRule.SWING, PollRule.FINAL_VOTE)


def test_one_debate_can_have_two_winners() -> None:
    before, after = poll(16, 53), poll(32, 59)
    assert find_swing_winner(before, after).winner == "for"
    assert find_final_vote_winner(after).winner == "against"


@pytest.mark.parametrize("refused", [lambda: poll(60, 60), lambda: Poll({"for": Fraction(50)}), lambda: poll(-1, 5)])
def test_a_poll_that_cannot_be_is_refused(refused) -> None:
    with pytest.raises(InvalidInputError):
        refused()
