"""Intelligence Squared: audience polls before and after 48 debates."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from published.recorded import folder, rows

from disputatio.judging.votes import Poll, PollOutcome, find_final_vote_winner, find_swing_winner


@pytest.fixture(scope="module")
def debates() -> list[tuple[PollOutcome, PollOutcome, dict[str, str]]]:
    """Each debate with its winner by swing, its winner by the final vote, and what is published of it."""
    found = []
    for row in rows(folder("iq2_votes") / "iq2_votes.csv"):
        before, after = (
            Poll(
                {"FOR": Fraction(row[f"{when}_for"]), "AGAINST": Fraction(row[f"{when}_against"])},
                Fraction(row[f"{when}_undecided"]),
            )
            for when in ("pre", "post")
        )
        found.append((find_swing_winner(before, after), find_final_vote_winner(after), row))
    return found


def test_the_swing_wins_27_debates_against_and_21_for(debates) -> None:
    assert Counter(swing.winner for swing, _, _ in debates) == {"AGAINST": 27, "FOR": 21}


def test_swing_and_final_vote_differ_in_9_of_48_debates(debates) -> None:
    assert len(debates) == 48
    assert sum(swing.winner != final.winner for swing, final, _ in debates) == 9


def test_every_debate_has_the_published_winner(debates) -> None:
    for swing, final, row in debates:
        assert swing.winner == row["winner_by_swing"]
        assert final.winner == row["winner_by_post_majority"]
        assert swing.reason.startswith("by swing")
        assert final.reason.startswith("by final vote")
