"""Judging twice reports what changed."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from disputatio.errors import InvalidInputError
from disputatio.judging.consistency import compare_retest
from disputatio.judging.judge_scores import JudgeScores

SIDES = ("pro", "con")


def scored(pro: dict[str, int], con: dict[str, int]) -> JudgeScores:
    arguments = {
        side: {key: Fraction(value) for key, value in rows.items()} for side, rows in (("pro", pro), ("con", con))
    }
    totals = {side: sum(rows.values(), Fraction(0)) / len(rows) for side, rows in arguments.items()}
    return JudgeScores("ada", SIDES, totals, arguments)


def test_a_changed_mind_is_told_in_points_and_in_words() -> None:
    report = compare_retest(
        scored({"PRO-1": 7, "PRO-2": 5}, {"CON-1": 5}), scored({"PRO-1": 5, "PRO-2": 5}, {"CON-1": 6})
    )
    assert report.verdicts == ("pro", "con")
    assert report.same_verdict is False
    assert report.gap_change == -2
    assert report.mean_change == 1
    assert report.largest_change == 2
    assert report.text() == (
        "ada, judging twice: pro first, then con; the gap moved by 2.00; an argument moved by 1.00 points on average, "
        "by 2.00 at most"
    )


def test_an_argument_scored_only_once_is_shown_and_not_averaged() -> None:
    report = compare_retest(scored({"PRO-1": 7}, {"CON-1": 5}), scored({"PRO-1": 7, "PRO-2": 7}, {"CON-1": 5}))
    assert [(row.argument, row.points) for row in report.changes] == [("PRO-1", 0), ("CON-1", 0), ("PRO-2", None)]
    assert report.mean_change == 0
    assert report.same_verdict is True


def test_a_failed_time_is_no_difference_rather_than_zero() -> None:
    report = compare_retest(scored({"PRO-1": 7}, {"CON-1": 5}), JudgeScores.failed("ada", SIDES, "cut off"))
    assert report.same_verdict is None
    assert report.gap_change is None
    assert report.mean_change is None
    assert report.text() == "ada cannot be compared with itself: the second time failed (cut off)"
    assert json.loads(json.dumps(report.as_json()))["failure"]


@pytest.mark.parametrize("other", [("bo", SIDES), ("ada", ("con", "pro"))])
def test_another_judge_or_order_is_not_a_retest(other) -> None:
    with pytest.raises(InvalidInputError):
        compare_retest(JudgeScores.failed("ada", SIDES, "x"), JudgeScores.failed(*other, "x"))
