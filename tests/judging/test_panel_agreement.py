"""Whether one panel agrees: on points, on ranking, with failed judges told apart from disagreeing ones."""

from __future__ import annotations

from fractions import Fraction

import pytest

from disputatio.judging.agreement import Agreement
from disputatio.judging.blinding import both_orders
from disputatio.judging.judge_scores import JudgeScores
from disputatio.judging.panel_verdict import PanelVerdict, collect_ratings, measure_agreement
from disputatio.judging.panels import Panel

pytestmark = pytest.mark.slow  # the first use imports the numeric libraries

SIDES = ("pro", "con")


def verdict_of(points: dict[str, tuple[int, ...] | None]) -> PanelVerdict:
    """Judges with their points for PRO-1, PRO-2, CON-1 and CON-2, the same in both orders."""
    scores = []
    for judge, row in points.items():
        for order in both_orders(SIDES):
            if row is None:
                scores.append(JudgeScores.failed(judge, order, "timed out"))
                continue
            one, two, three, four = map(Fraction, row)
            arguments = {"pro": {"PRO-1": one, "PRO-2": two}, "con": {"CON-1": three, "CON-2": four}}
            totals = {"pro": (one + two) / 2, "con": (three + four) / 2}
            scores.append(JudgeScores(judge, order, totals, arguments))
    return Panel(tuple(points), SIDES).verdict(scores)


def measured(points) -> tuple[Agreement, ...]:
    return measure_agreement(verdict_of(points))


def test_a_strict_and_a_generous_judge_agree_in_ranking() -> None:
    """A strict and a generous judge agree in ranking and not in points."""
    alpha, concordance = measured({"strict": (5, 4, 3, 2), "generous": (9, 8, 7, 6)})
    assert concordance.value == pytest.approx(1)
    assert alpha.value is not None
    assert alpha.value < 0


def test_a_failed_judge_is_silent_and_not_in_disagreement() -> None:
    alpha, concordance = measured({"ada": (5, 4, 3, 2), "bo": None, "cleo": (5, 4, 3, 2)})
    assert alpha.value == pytest.approx(1)
    assert (alpha.silent, concordance.silent) == (1, 1)


def test_one_judge_has_nobody_to_agree_with() -> None:
    assert all(found.value is None for found in measured({"ada": (5, 4, 3, 2)}))


def test_without_scored_arguments_the_sides_are_rated() -> None:
    scores = [JudgeScores.from_verdict(judge, order, "pro") for judge in ("ada", "bo") for order in both_orders(SIDES)]
    items, ratings = collect_ratings(Panel(("ada", "bo"), SIDES).verdict(scores))
    assert items == SIDES
    assert ratings == [[1, 0], [1, 0]]
