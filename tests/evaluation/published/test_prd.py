"""Peer rank (PRD): 8,000 verdicts of five judges on 1,600 ordered pairs, against 1,760 human ones."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import pytest
from published.recorded import content, folder, rows

from disputatio.judging.agreement import fleiss_kappa
from disputatio.judging.consistency import report_answers
from disputatio.judging.judge_scores import TIE, JudgeScores
from disputatio.judging.panel_verdict import Orders, PanelMethod, PanelStatus
from disputatio.judging.panels import Panel
from disputatio.judging.weights import Review, Weights, rank_peers

pytestmark = pytest.mark.slow

NAMES = {"gpt4": "gpt-4", "gpt35": "gpt-3.5", "bard": "bard", "claude": "claude", "vicuna-13b": "vicuna"}
FIVE = ("bard", "claude", "gpt-3.5", "gpt-4", "vicuna")
DEAD_ZONE = Fraction(1, 100)
Item = tuple[str, str, str]


@pytest.fixture(scope="module")
def published():
    return content(folder("prd") / "published_numbers.json")


@pytest.fixture(scope="module")
def reviews() -> list[tuple[str, str, str, str, int]]:
    """(reviewer, question, first, second, score); a score of -1 is for the first."""
    return [
        (
            NAMES.get(row["reviewer"], row["reviewer"]),
            row["question_id"],
            row["model_a"],
            row["model_b"],
            int(row["score_minus1_A_plus1_B"]),
        )
        for row in rows(folder("prd") / "prd_ratings.csv")
    ]


def winner(first: str, second: str, score: float) -> str:
    return TIE if score == 0 else first if score < 0 else second


@pytest.fixture(scope="module")
def verdicts(reviews) -> dict[Item, dict[str, str]]:
    """What each of the five said of each ordered pair."""
    found: dict[Item, dict[str, str]] = defaultdict(dict)
    for reviewer, question, first, second, score in reviews:
        if reviewer != "human":
            found[question, first, second][reviewer] = winner(first, second, score)
    return found


@pytest.fixture(scope="module")
def human(reviews) -> dict[Item, str]:
    """The sign of the mean human score of each pair, in the order people saw it."""
    scores: dict[Item, list[int]] = defaultdict(list)
    for reviewer, question, first, second, score in reviews:
        if reviewer == "human":
            scores[question, first, second].append(score)
    return {item: winner(item[1], item[2], sum(given)) for item, given in scores.items()}


@pytest.fixture(scope="module")
def gold(human) -> dict[Item, str]:
    """The same mirrored to both orders."""
    return {(q, b, a): found for (q, a, b), found in human.items()} | human


@pytest.fixture(scope="module")
def ranked(reviews):
    return rank_peers(as_reviews(reviews, FIVE))


def as_reviews(reviews, reviewers) -> list[Review]:
    return [Review(who, a, b, winner(a, b, s)) for who, _, a, b, s in reviews if who in reviewers]


def decided(verdicts: dict[Item, dict[str, str]], weights: Weights) -> dict[Item, str]:
    """The weighted vote of a panel on every ordered pair: the sign of the weighted mean with a dead zone.

    A bare verdict is one point for a win and half a point each for a tie, so the gap is the score's negative.
    """
    judges, found = tuple(weights.of), {}
    for item, given in verdicts.items():
        sides = item[1:]
        panel = Panel(judges, sides, PanelMethod.WEIGHTED_MEAN, Orders.ONE, weights, DEAD_ZONE)
        verdict = panel.verdict([JudgeScores.from_verdict(judge, sides, given[judge]) for judge in judges])
        assert verdict.status is not PanelStatus.UNDECIDED
        found[item] = verdict.winner or TIE
    return found


def agreement(found: dict[Item, str], gold: dict[Item, str]) -> tuple[Fraction | None, float | None]:
    """Share equal to the human verdict, and Fleiss' kappa with it, over places (first, tie, second)."""
    report = report_answers((found[item], right) for item, right in gold.items())
    places = [[place(item, of[item]) for item in gold] for of in (found, gold)]
    return report.accuracy, fleiss_kappa(places).value


def place(item: Item, verdict: str) -> str:
    return TIE if verdict == TIE else ("first" if verdict == item[1] else "second")


def test_the_data_are_the_published_ones(reviews, verdicts, human, gold) -> None:
    assert sum(row[0] != "human" for row in reviews) == 8000
    assert sum(row[0] == "human" for row in reviews) == 1760
    assert len(verdicts) == len(gold) == 1600
    assert len(human) == 800
    assert all(set(given) == set(FIVE) for given in verdicts.values())


def test_peer_rank_weighs_the_five_as_published(ranked, published) -> None:
    assert {who: float(weight) for who, weight in ranked.weights.of.items()} == pytest.approx(
        published["final_weights"], abs=1e-12
    )
    assert {who: float(rate) for who, rate in ranked.win_rates.items()} == pytest.approx(
        published["weighted_winrates_5_iters"], abs=1e-12
    )


def test_unweighted_win_rates_are_the_published_ones(reviews, human, published) -> None:
    people = [Review("people", *item[1:], found) for item, found in human.items()]
    assert {who: float(rate) for who, rate in rank_peers(people, rounds=1).win_rates.items()} == pytest.approx(
        published["winrates_human"], abs=1e-12
    )
    one = rank_peers(as_reviews(reviews, {"gpt-4"}), rounds=1)
    assert {who: float(rate) for who, rate in one.win_rates.items()} == pytest.approx(
        published["winrates_gpt4"], abs=1e-12
    )


def test_the_peer_ranked_vote_matches_the_published_share(ranked, verdicts, gold, published) -> None:
    accuracy, kappa = agreement(decided(verdicts, ranked.weights), gold)
    assert accuracy == Fraction("0.673125")
    assert float(accuracy) == published["all_weighted_winrate"]["accuracy"]
    assert kappa == pytest.approx(published["all_weighted_winrate"]["fleiss"], abs=1e-12)


def test_the_unweighted_mean_sign_agrees_in_643750(verdicts, gold, published) -> None:
    accuracy, kappa = agreement(decided(verdicts, Weights.equal(FIVE)), gold)
    assert accuracy == Fraction("0.64375")
    assert [float(accuracy), kappa] == pytest.approx(published["our_replay"]["unweighted_majority"], abs=1e-6)


@pytest.mark.parametrize("judge", FIVE)
def test_each_judge_alone_agrees_as_published(judge, verdicts, gold, published) -> None:
    accuracy, kappa = agreement(decided(verdicts, Weights.equal([judge])), gold)
    assert accuracy is not None
    assert [float(accuracy), kappa] == pytest.approx(published["our_replay"][judge], abs=1e-6)
    if judge in published:
        assert float(accuracy) == published[judge]["accuracy"]
        assert kappa == pytest.approx(published[judge]["fleiss"], abs=1e-12)
    if judge == "gpt-4":
        assert accuracy == Fraction("0.6425")


def test_three_peer_ranked_judges_agree_as_published(reviews, verdicts, gold, published) -> None:
    three = rank_peers(as_reviews(reviews, {"gpt-4", "gpt-3.5", "claude"})).weights
    accuracy, kappa = agreement(decided(verdicts, three), gold)
    assert accuracy is not None
    assert float(accuracy) == published["gpt4+gpt35+claude_weighted"]["accuracy"]
    assert kappa == pytest.approx(published["gpt4+gpt35+claude_weighted"]["fleiss"], abs=1e-12)
