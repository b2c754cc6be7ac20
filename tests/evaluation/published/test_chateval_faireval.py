"""ChatEval on FairEval: three agents on 80 pairs, after two and three turns of discussion, with human labels."""

from __future__ import annotations

from fractions import Fraction

import pytest
from published.recorded import content, folder

from disputatio.judging.agreement import cohen_kappa
from disputatio.judging.consistency import report_answers
from disputatio.judging.judge_scores import TIE
from disputatio.judging.votes import MAJORITY, Ballot, Silence, VoteOutcome, count_votes

pytestmark = pytest.mark.slow

AGENTS = ("Alice", "Bob", "Candy")
OPTIONS = ("CHATGPT", "VICUNA13B", TIE)
SAID = {"Assistant 1": "CHATGPT", "Assistant 2": "VICUNA13B", "Same": TIE}


def outcomes(turns: str) -> list[VoteOutcome]:
    """The vote of the three on each pair, in their order of speaking; one that stays silent abstains, unnamed."""
    found = []
    for row in content(folder("chateval_faireval") / f"{turns}_turns_sequential_pair_comparison_results.json"):
        ballots = [
            Ballot.cast(agent, SAID[given["evaluation"]])
            if given["evaluation"] in SAID
            else Ballot.silent(agent, Silence.ABSTAINED, given["evaluation"])
            for agent, given in zip(AGENTS, row["evaluation"], strict=True)
        ]
        found.append(count_votes(MAJORITY, AGENTS, ballots, OPTIONS))
    return found


def labels() -> list[str]:
    text = (folder("chateval_faireval") / "fairEval_human_labels.txt").read_text(encoding="utf-8")
    return [{"TIE": TIE}.get(line, line) for line in text.split()]


@pytest.mark.parametrize(("turns", "right", "kappa"), [("two", "0.5375", 0.169), ("three", "0.5500", 0.187)])
def test_a_majority_of_three_agrees_with_people_as_published(turns, right, kappa) -> None:
    """A vote without a winner prefers neither answer, which is what people called a tie."""
    found = [outcome.winner or TIE for outcome in outcomes(turns)]
    assert report_answers(zip(found, labels(), strict=True)).accuracy == Fraction(right)
    value = cohen_kappa(found, labels()).value
    assert value is not None
    assert round(value, 3) == kappa


@pytest.mark.parametrize(("turns", "open_votes"), [("two", 3), ("three", 5)])
def test_silent_agents_stay_in_the_denominator(turns, open_votes) -> None:
    """One vote beside two silences is one of three, and wins nothing."""
    found = [outcome for outcome in outcomes(turns) if outcome.winner is None]
    assert len(found) == open_votes
    assert all(max(outcome.tally.values()) < outcome.needed == 2 for outcome in found)
