"""Panels: a win survives the swap of sides, a failed judge is named and counted, and every mean is exact."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.judging.blinding import both_orders
from disputatio.judging.consistency import Swap
from disputatio.judging.judge_scores import TIE, JudgeScores
from disputatio.judging.panel_verdict import Orders, PanelMethod, PanelStatus, PanelVerdict
from disputatio.judging.panels import Panel
from disputatio.judging.scoring import STANDARD
from disputatio.judging.weights import Weights
from strategies import examples

pytestmark = pytest.mark.slow

SIDES = ("pro", "con")
ORDERS = both_orders(SIDES)
JUDGES = ("ada", "bo", "cleo", "dan")
SCORED = (PanelMethod.MEAN, PanelMethod.MEDIAN, PanelMethod.WEIGHTED_MEAN)

points = st.integers(2, 20).map(lambda halves: Fraction(halves, 2))


@st.composite
def hearings(draw, fewest=1):
    """Judges with the totals each gave in each order, None where it failed."""
    judges = JUDGES[: draw(st.integers(fewest, len(JUDGES)))]
    pair = st.one_of(st.none(), st.tuples(points, points))
    return {judge: (draw(pair), draw(pair)) for judge in judges}


def scores_of(hearing) -> list[JudgeScores]:
    return [
        JudgeScores.failed(judge, order, "timed out")
        if totals is None
        else JudgeScores.from_totals(judge, order, dict(zip(SIDES, totals, strict=True)))
        for judge, both in hearing.items()
        for order, totals in zip(ORDERS, both, strict=True)
    ]


def weights_for(method: PanelMethod, judges) -> Weights | None:
    if method in {PanelMethod.WEIGHTED_MEAN, PanelMethod.WEIGHTED_VOTE}:
        return Weights.fixed({judge: Fraction(number + 1) for number, judge in enumerate(judges)})
    return None


def verdict_of(hearing, method: PanelMethod, dead_zone=Fraction(0)) -> PanelVerdict:
    panel = Panel(tuple(hearing), SIDES, method, weights=weights_for(method, hearing), dead_zone=dead_zone)
    return panel.verdict(scores_of(hearing))


def sign(value) -> int:
    return (value > 0) - (value < 0)


def by_hand(hearing, method: PanelMethod) -> tuple[PanelStatus, str | None]:
    """The verdict from the rules as they are written, without the code under test."""
    weight = {judge: number + 1 for number, judge in enumerate(hearing)}
    if method not in {PanelMethod.WEIGHTED_MEAN, PanelMethod.WEIGHTED_VOTE}:
        weight = dict.fromkeys(hearing, 1)
    whole = sum(weight.values())
    heard = {judge: [a - b for a, b in both] for judge, both in hearing.items() if None not in both}
    if 2 * sum(weight[judge] for judge in heard) <= whole:
        return PanelStatus.UNDECIDED, None
    if method in SCORED:
        leads = []
        for order in (0, 1):
            gaps = [gaps[order] for gaps in heard.values()]
            if method is PanelMethod.MEDIAN:
                leads.append(median(gaps))
            else:
                leads.append(sum(weight[judge] * gaps[order] for judge, gaps in heard.items()))
        found = {sign(lead) for lead in leads}
        if method is PanelMethod.MEDIAN:
            middle = [median(sum(b[i] for b in hearing[j]) for j in heard) for i in (0, 1)]
            found |= {0} if {sign(middle[0] - middle[1])} == {-s for s in found} else set()
    else:
        votes = {judge: gaps[0] if sign(gaps[0]) == sign(gaps[1]) else 0 for judge, gaps in heard.items()}
        strength = {s: sum(weight[j] for j, gap in votes.items() if sign(gap) == s) for s in (1, -1)}
        found = {s for s, total in strength.items() if 2 * total > whole} or {0}
        points = sum(weight[judge] * sum(gaps) for judge, gaps in heard.items())
        found |= {0} if sign(points) and {sign(points)} == {-s for s in found} else set()
    if found == {1}:
        return PanelStatus.WON, "pro"
    if found == {-1}:
        return PanelStatus.WON, "con"
    return PanelStatus.TIED, None


@pytest.mark.parametrize("method", PanelMethod)
@examples(15)
@given(hearing=hearings())
def test_the_verdict_is_that_of_the_rules_written_out(method, hearing) -> None:
    verdict = verdict_of(hearing, method)
    assert (verdict.status, verdict.winner) == by_hand(hearing, method)
    assert verdict.reason


@pytest.mark.parametrize("method", [PanelMethod.MAJORITY, PanelMethod.MEAN])
def test_every_combination_of_two_judges_has_the_verdict(method) -> None:
    """Each order of each judge: a win for either side, a tie, or a failure."""
    outcomes = [(Fraction(6), Fraction(5)), (Fraction(4), Fraction(6)), (Fraction(5), Fraction(5)), None]
    for first in itertools.product(outcomes, repeat=2):
        for second in itertools.product(outcomes, repeat=2):
            hearing = {"ada": first, "bo": second}
            verdict = verdict_of(hearing, method)
            assert (verdict.status, verdict.winner) == by_hand(hearing, method), hearing


@pytest.mark.parametrize("method", PanelMethod)
@examples(12)
@given(hearing=hearings())
def test_exchanging_the_sides_exchanges_the_winner(method, hearing) -> None:
    mirrored = {judge: tuple(t and (t[1], t[0]) for t in both) for judge, both in hearing.items()}
    verdict, mirror = verdict_of(hearing, method), verdict_of(mirrored, method)
    other = {"pro": "con", "con": "pro", None: None}
    assert (mirror.status, mirror.winner) == (verdict.status, other[verdict.winner])
    assert mirror.gap == (None if verdict.gap is None else -verdict.gap)


@pytest.mark.parametrize("method", PanelMethod)
@examples(12)
@given(hearing=hearings(), chance=st.randoms(use_true_random=False))
def test_neither_the_order_of_scores_nor(method, hearing, chance) -> None:
    """Neither the order of scores nor which order came first decides."""
    panel = Panel(tuple(hearing), SIDES, method, weights=weights_for(method, hearing))
    scores = scores_of(hearing)
    before = panel.verdict(scores)
    chance.shuffle(scores)
    assert panel.verdict(scores) == before


@pytest.mark.parametrize("method", PanelMethod)
@examples(12)
@given(hearing=hearings())
def test_a_judge_that_failed_is_named_with_its_reason(method, hearing) -> None:
    """A judge that failed is named with its reason and stays in the denominator."""
    verdict = verdict_of(hearing, method)
    failed = [judge for judge, both in hearing.items() if None in both]
    assert [judge for judge, _ in verdict.failed] == failed
    assert all("timed out" in reason for _, reason in verdict.failed)
    assert [row.judge for row in verdict.findings] == list(hearing)
    assert verdict.degraded == bool(failed)
    assert f"{len(hearing) - len(failed)} of {len(hearing)} judge" in verdict.heading
    assert all(judge in verdict.text() for judge in hearing)
    if verdict.vote is not None:
        assert sum(verdict.vote.tally.values()) == len(hearing) - len(failed)
        assert len(verdict.vote.electorate) == len(hearing)


@pytest.mark.parametrize("method", PanelMethod)
@examples(12)
@given(hearing=hearings())
def test_a_win_is_a_win_in_either_order(method, hearing) -> None:
    """Whoever wins, the panel of either order alone does not find for the other side."""
    verdict = verdict_of(hearing, method)
    if verdict.winner is None or any(None in both for both in hearing.values()):
        return
    for number, order in enumerate(ORDERS):
        panel = Panel(tuple(hearing), SIDES, method, Orders.ONE, weights_for(method, hearing))
        alone = panel.verdict([row for row in scores_of(hearing) if row.order == order])
        assert alone.winner == verdict.winner, number


@examples(15)
@given(hearings(fewest=2))
def test_whole_weights_are_judges_counted_so_many_times(hearing) -> None:
    weight = {judge: number + 1 for number, judge in enumerate(hearing)}
    many = {f"{judge}-{copy}": both for judge, both in hearing.items() for copy in range(weight[judge])}
    for weighted, plain in (
        (PanelMethod.WEIGHTED_MEAN, PanelMethod.MEAN),
        (PanelMethod.WEIGHTED_VOTE, PanelMethod.MAJORITY),
    ):
        one, other = verdict_of(hearing, weighted), verdict_of(many, plain)
        assert (one.status, one.winner, one.gap) == (other.status, other.winner, other.gap)


@examples(15)
@given(hearings(), st.fractions(0, 3))
def test_a_dead_zone_only_turns_wins_into_ties(hearing, zone) -> None:
    for method in SCORED:
        before, after = verdict_of(hearing, method), verdict_of(hearing, method, zone)
        assert after.winner in {before.winner, None}
        assert (after.status is PanelStatus.UNDECIDED) == (before.status is PanelStatus.UNDECIDED)


def test_a_gap_of_exactly_the_dead_zone_is_no_tie() -> None:
    hearing = hearing_of(ada=(2, 2))
    assert verdict_of(hearing, PanelMethod.MEAN, Fraction(2)).winner == "pro"
    assert verdict_of(hearing, PanelMethod.MEAN, Fraction(201, 100)).status is PanelStatus.TIED


def hearing_of(**gaps) -> dict:
    """Judges by their gap with pro shown first and with con shown first."""
    return {
        judge: tuple(None if gap is None else (5 + Fraction(gap) / 2, 5 - Fraction(gap) / 2) for gap in both)
        for judge, both in gaps.items()
    }


def test_a_win_that_does_not_survive_the_swap_is_a_tie() -> None:
    """A win that does not survive the swap is a tie and says so."""
    verdict = verdict_of(hearing_of(ada=(3, -1), bo=(2, -2)), PanelMethod.MEAN)
    assert (verdict.status, verdict.winner) == (PanelStatus.TIED, None)
    assert verdict.gap == Fraction(1, 2)
    assert verdict.order_decided == ("ada", "bo")
    assert verdict.reason == (
        "the mean of the judges puts pro ahead by 0.50 points; the winner changed with the order, so it is a tie "
        "(pro by 2.50 with pro shown first, con by 1.50 with con shown first)"
    )


def test_being_shown_first_is_measured_in_points() -> None:
    """Ada gives whoever comes first 2 points more than the mean of both orders."""
    found = verdict_of(hearing_of(ada=(3, -1), bo=(1, 1)), PanelMethod.MEAN).findings
    assert [row.first_shown_gains for row in found] == [2, 0]
    assert [row.swap for row in found] == [Swap.REVERSED, Swap.SURVIVED]


def test_one_judge_heard_of_three_is_no_verdict_and_no_tie() -> None:
    hearing = hearing_of(ada=(3, 3), bo=(None, 2), cleo=(None, None))
    for method in (PanelMethod.MEAN, PanelMethod.MEDIAN, PanelMethod.MAJORITY):
        verdict = verdict_of(hearing, method)
        assert verdict.status is PanelStatus.UNDECIDED
        assert verdict.winner is None
        assert verdict.reason == "1 of 3 judges were heard; more than half is needed"
        assert verdict.heading == f"no verdict ({method.value}, both orders, 1 of 3 judges heard)"
        assert dict(verdict.failed)["bo"] == "timed out (with pro shown first)"


def test_two_of_three_votes_win() -> None:
    """Two of three votes win and one of three beside a failure does not."""
    assert verdict_of(hearing_of(ada=(1, 1), bo=(1, 1), cleo=(None, 1)), PanelMethod.MAJORITY).winner == "pro"
    verdict = verdict_of(hearing_of(ada=(1, 1), bo=(0, 0), cleo=(None, 1)), PanelMethod.MAJORITY)
    assert verdict.status is PanelStatus.TIED
    assert verdict.vote is not None
    assert verdict.vote.tied == ("pro", TIE)


def test_a_heavy_judge_that_failed_leaves_no_verdict() -> None:
    hearing = hearing_of(ada=(1, 1), bo=(1, 1), cleo=(None, 1))
    verdict = verdict_of(hearing, PanelMethod.WEIGHTED_MEAN)
    assert verdict.status is PanelStatus.UNDECIDED
    assert verdict.reason == "2 of 3 judges were heard, with 50% of the weight; more than half is needed"


def test_a_judge_nothing_was_heard_of_has_failed() -> None:
    panel = Panel(("ada", "bo"), SIDES)
    verdict = panel.verdict([])
    assert dict(verdict.failed)["ada"].startswith("gave no scores")
    assert verdict.reason == "no judge was heard"
    assert verdict.totals == {}
    assert verdict.reading == "no comparison: no judge was heard"


def test_median_winner_gap_and_totals_never_contradict() -> None:
    """Seen on a real panel: pro ahead in both orders, the median of the judges' means 1.0 for con, "pro wins"."""
    hearing = {
        "ada": ((Fraction(6), Fraction(5)), (Fraction(3), Fraction(7))),
        "bo": ((Fraction(2), Fraction(7)), (Fraction(6), Fraction(5))),
        "cy": ((Fraction(6), Fraction(5)), (Fraction(6), Fraction(5))),
    }
    verdict = verdict_of(hearing, PanelMethod.MEDIAN)
    means = [median(sum(both[order][i] for order in (0, 1)) / 2 for both in hearing.values()) for i in (0, 1)]
    assert means[0] - means[1] < 0, "the totals put con ahead"
    assert (verdict.status, verdict.winner) == (PanelStatus.TIED, None)
    assert "con ahead" in verdict.reason


@pytest.mark.parametrize("method", PanelMethod)
@examples(30)
@given(hearing=hearings())
def test_no_side_wins_against_the_gap_or_the_totals(method, hearing) -> None:
    verdict = verdict_of(hearing, method)
    if verdict.winner is None:
        return
    ahead = 1 if verdict.winner == "pro" else -1
    assert verdict.gap is not None
    assert sign(verdict.gap) in {0, ahead}
    assert sign(verdict.totals["pro"] - verdict.totals["con"]) in {0, ahead}
    assert ("wins" in verdict.heading) == (abs(verdict.gap) >= 1)
    if abs(verdict.gap) < 1:
        assert verdict.reading.startswith("evenly matched")


def test_a_vote_against_the_points_is_a_tie() -> None:
    close = (Fraction(6), Fraction(5))
    hearing = {"ada": (close, close), "bo": (close, close), "cy": ((Fraction(1), Fraction(10)),) * 2}
    verdict = verdict_of(hearing, PanelMethod.MAJORITY)
    assert (verdict.status, verdict.winner) == (PanelStatus.TIED, None)
    assert "2 of 3" in verdict.reason
    assert "con ahead by" in verdict.reason


def test_an_outlier_moves_the_mean_and_not_the_median() -> None:
    hearing = hearing_of(ada=(1, 1), bo=(1, 1), cleo=(-8, -8))
    assert verdict_of(hearing, PanelMethod.MEAN).winner == "con"
    assert verdict_of(hearing, PanelMethod.MEDIAN).winner == "pro"
    # Two of three votes are for pro, and the points are for con: opposite signs are a tie.
    assert verdict_of(hearing, PanelMethod.MAJORITY).status is PanelStatus.TIED


def test_scores_of_arguments_become_totals_by_the_rubric() -> None:
    flat = dict.fromkeys(("logic", "evidence", "responsiveness", "honesty"), 6)
    findings = {"pro": {"PRO-1": flat, "PRO-2": flat | {"logic": 10}}, "con": {"CON-1": flat}}
    scores = JudgeScores.from_findings("ada", SIDES, findings, STANDARD)
    assert scores.totals == {"pro": Fraction(66, 10), "con": 6}
    assert scores.arguments["pro"]["PRO-2"] == Fraction(72, 10)
    bare = JudgeScores.from_findings("ada", SIDES, findings | {"con": {}}, STANDARD)
    assert bare.failure == "con had no scored argument"
    assert bare.verdict() is None


def test_one_order_says_that_an_effect_of_the_order_is_not_seen() -> None:
    panel = Panel(("ada",), SIDES, orders=Orders.ONE)
    verdict = panel.verdict([JudgeScores.from_verdict("ada", ("con", "pro"), "pro")])
    assert verdict.winner == "pro"
    assert "one order only" in verdict.text()
    assert verdict.findings[0].swap is None


@examples(12)
@given(hearings(), st.sampled_from(PanelMethod))
def test_a_verdict_is_json_with_every_judge_in_it(hearing, method) -> None:
    found = verdict_of(hearing, method).as_json()
    assert json.loads(json.dumps(found)) == found
    assert [row["judge"] for row in found["judges"]] == list(hearing)
    assert found["panel"] == list(hearing)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: Panel((), SIDES),
        lambda: Panel(("ada", "ada"), SIDES),
        lambda: Panel(("ada",), ("pro", "pro")),
        lambda: Panel(("ada",), ("pro", TIE)),
        lambda: Panel(("ada",), SIDES, PanelMethod.WEIGHTED_MEAN),
        lambda: Panel(("ada",), SIDES, weights=Weights.equal(["ada"])),
        lambda: Panel(("ada",), SIDES, PanelMethod.WEIGHTED_VOTE, weights=Weights.equal(["bo"])),
        lambda: Panel(("ada",), SIDES, dead_zone=Fraction(-1)),
        lambda: Weights.fixed({"ada": Fraction(0)}),
        lambda: Panel(("ada",), SIDES).verdict([JudgeScores.failed("bo", SIDES, "late")]),
        lambda: Panel(("ada",), SIDES).verdict([JudgeScores.from_verdict("ada", SIDES, TIE)] * 2),
        lambda: Panel(("ada",), SIDES).verdict([JudgeScores.from_verdict("ada", ("a", "b"), TIE)]),
        lambda: Panel(("ada",), SIDES, orders=Orders.ONE).verdict(
            [JudgeScores.from_verdict("ada", order, TIE) for order in ORDERS]
        ),
        lambda: JudgeScores.from_verdict("ada", SIDES, "nobody"),
        lambda: JudgeScores("ada", SIDES),
        lambda: JudgeScores.from_totals("ada", SIDES, {"pro": Fraction(1)}),
        lambda: JudgeScores("ada", SIDES, {"pro": Fraction(1), "con": Fraction(1)}, {}, "failed"),
    ],
)
def test_a_panel_that_cannot_judge_is_refused_with_a_next_step(refused) -> None:
    with pytest.raises(InvalidInputError) as error:
        refused()
    assert error.value.next_step
