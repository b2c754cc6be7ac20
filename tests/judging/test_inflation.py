"""Score inflation: too high, too crowded, too flat, and too few to say."""

from __future__ import annotations

import json
from statistics import pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.judging.judge_scores import Inflation, measure_spread


@pytest.mark.parametrize(
    ("scores", "findings"),
    [
        ([3, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 4], ()),
        ([7, 8, 9] * 6, (Inflation.NEAR_PERFECT, Inflation.CROWDED)),
        ([8, 9, 10] * 4, (Inflation.NEAR_PERFECT, Inflation.CROWDED)),
        ([7, 8] * 9, (Inflation.CROWDED,)),
        ([5] * 12, (Inflation.FLAT,)),
        ([10] * 12, (Inflation.NEAR_PERFECT, Inflation.CROWDED, Inflation.FLAT)),
        ([2, 9] * 6, (Inflation.NEAR_PERFECT,)),
        ([4, 5, 6] * 4, ()),
        ([10] * 11, ()),
        ([], ()),
    ],
)
def test_what_is_wrong_with_these_scores(scores, findings) -> None:
    assert measure_spread(scores).findings == findings


@given(st.lists(st.integers(1, 10), min_size=12, max_size=60))
def test_the_findings_are_their_definitions(scores) -> None:
    found = measure_spread(scores)
    number = len(scores)
    high = sum(score >= 9 for score in scores)
    bands = [sum(score in band for score in scores) for band in ((7, 8, 9), (8, 9, 10))]
    assert (Inflation.NEAR_PERFECT in found.findings) == (4 * high > number)
    assert (Inflation.CROWDED in found.findings) == (10 * max(bands) >= 9 * number)
    assert found.deviation == pytest.approx(pstdev(scores), abs=1e-12)
    assert json.loads(json.dumps(found.as_json()))["scores"] == number


@given(st.lists(st.integers(1, 10), max_size=11))
def test_fewer_than_twelve_scores_say_nothing_and_say_that(scores) -> None:
    found = measure_spread(scores)
    assert not found.enough
    assert found.findings == ()
    assert "too few" in found.text()


@pytest.mark.parametrize("scores", [[0], [11]])
def test_a_score_outside_the_scale_is_refused(scores) -> None:
    with pytest.raises(InvalidInputError):
        measure_spread(scores)
