"""LLM-Agora: three agents, three responses, 600 questions with known answers."""

from __future__ import annotations

from collections import defaultdict

import pytest
from published.recorded import content, folder, rows

from disputatio.judging.consistency import report_answers
from disputatio.judging.votes import MAJORITY, Ballot, Silence, VoteOutcome, count_votes

pytestmark = pytest.mark.slow

AGENTS = ("agent1", "agent2", "agent3")
# Right by a strict majority of two of three, per hundred questions, in responses 1, 2 and 3.
STRICT = {
    ("Math", "none"): (0, 1, 5),
    ("Math", "cot"): (0, 0, 0),
    ("GSM8K", "none"): (1, 2, 5),
    ("GSM8K", "cot"): (1, 6, 3),
    ("MMLU", "none"): (13, 0, 17),
    ("MMLU", "cot"): (13, 0, 15),
}
# Right by any one agent, counted from the same parsed answers.
ANY = {
    ("Math", "none"): (5, 11, 10),
    ("Math", "cot"): (5, 11, 17),
    ("GSM8K", "none"): (27, 26, 27),
    ("GSM8K", "cot"): (29, 26, 24),
    ("MMLU", "none"): (49, 0, 54),
    ("MMLU", "cot"): (51, 0, 58),
}
FILES = {"Math": "math", "GSM8K": "gsm", "MMLU": "mmlu"}


def ballot(agent: str, answer: str) -> Ballot:
    """X marks an agent that gave no answer, and an empty cell one whose answer could not be read: no options."""
    if answer == "X":
        return Ballot.silent(agent, Silence.ABSTAINED, "gave no answer")
    return Ballot.cast(agent, answer) if answer else Ballot.silent(agent, Silence.FAILED, "unreadable")


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[str, str, int], list[tuple[VoteOutcome, str]]]:
    found = defaultdict(list)
    for row in rows(folder("llm_agora") / "llm_agora_votes.csv"):
        outcome = count_votes(MAJORITY, AGENTS, [ballot(agent, row[agent]) for agent in AGENTS])
        found[row["task"], row["prompt"], int(row["response_round"])].append((outcome, row["gold"]))
    return found


@pytest.mark.parametrize(("task", "prompt"), STRICT)
def test_a_strict_majority_of_three_is_right_as_published(outcomes, task, prompt) -> None:
    reports = [
        report_answers((outcome.winner, right) for outcome, right in outcomes[task, prompt, response])
        for response in (1, 2, 3)
    ]
    assert [report.items for report in reports] == [100, 100, 100]
    assert tuple(report.right for report in reports) == STRICT[task, prompt]


@pytest.mark.parametrize("prompt", ["none", "cot"])
def test_where_every_agent_abstained_no_question_has_a_winner(outcomes, prompt) -> None:
    """All of MMLU's second responses are X."""
    for outcome, _ in outcomes["MMLU", prompt, 2]:
        assert outcome.winner is None
        assert outcome.tally == {}
        assert outcome.silent(Silence.ABSTAINED) == AGENTS
        assert outcome.reason == "nobody voted (3 abstained)"


@pytest.mark.parametrize(("task", "prompt"), ANY)
def test_upstream_accuracy_is_any_one_agent_being_right(outcomes, task, prompt) -> None:
    """Counted from the parsed answers it is upstream's number in 12 of 18 cases, and one question more in 6.

    In each case upstream's number is far above what a majority gets right wherever anybody answered.
    """
    suffix = "_cot" if prompt == "cot" else ""
    said = content(folder("llm_agora") / f"{FILES[task]}_performance{suffix}.json")
    upstream = [round(100 * float(said[i][f"{i + 1}_performance"])) for i in range(3)]
    counted = tuple(
        sum(outcome.tally.get(right, 0) > 0 for outcome, right in outcomes[task, prompt, response])
        for response in (1, 2, 3)
    )
    assert counted == ANY[task, prompt]
    assert all(0 <= ours - theirs <= 1 for ours, theirs in zip(counted, upstream, strict=True))
    assert all(
        theirs > ours for ours, theirs, some in zip(STRICT[task, prompt], upstream, counted, strict=True) if some
    )
