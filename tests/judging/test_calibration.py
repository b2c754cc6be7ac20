"""Calibration: exact curves that other libraries confirm, refused where they would not help."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from disputatio.errors import InvalidInputError
from disputatio.judging.calibration import Curve, KnownItem, calibrate, measure_deviation
from strategies import examples

scores = st.integers(1, 10)


def items_of(pairs) -> list[KnownItem]:
    return [KnownItem(f"item-{n:03}", Fraction(x), Fraction(y)) for n, (x, y) in enumerate(pairs)]


def generous(number: int, lift: float = 2) -> list[KnownItem]:
    """A judge that gives about ``lift`` points too many, with some noise."""
    drawn, pairs = Random(3), []
    for _ in range(number):
        known = drawn.randint(1, 8)
        pairs.append((min(10, max(1, round(known + lift + drawn.uniform(-1, 1)))), known))
    return items_of(pairs)


@examples(5)
@given(st.lists(st.tuples(scores, scores), min_size=50, max_size=60), st.lists(scores, max_size=5))
def test_an_isotonic_curve_is_scikit_learns(pairs, asked) -> None:
    found = calibrate(items_of(pairs))
    if found.curve is not Curve.ISOTONIC:
        assert found.reason
        return
    oracle = IsotonicRegression(out_of_bounds="clip").fit(*map(list, zip(*pairs, strict=True)))
    for score in [*asked, Fraction(11, 2), 1, 10]:
        assert float(found.adjusted(Fraction(score))) == pytest.approx(oracle.predict([float(score)])[0], abs=1e-9)


@examples(10)
@given(st.integers(20, 45), st.integers(0, 3))
def test_a_line_is_numpys_least_squares_within_the_scale(number, lift) -> None:
    items = generous(number, lift)
    found = calibrate(items, Curve.LINE)
    if found.curve is Curve.NONE:
        assert "no curve is used" in found.reason
        return
    slope, start = np.polyfit([float(row.given) for row in items], [float(row.known) for row in items], 1)
    for score in range(1, 11):
        expected = min(max(start + slope * score, 1), 10)
        assert float(found.adjusted(Fraction(score))) == pytest.approx(expected, abs=1e-9)


@examples(10)
@given(st.lists(st.tuples(scores, scores), max_size=70), st.sampled_from(Curve))
def test_a_curve_rises_stays_on_the_scale(pairs, wanted) -> None:
    """A curve rises stays on the scale and is used only where it helps."""
    found = calibrate(items_of(pairs), wanted)
    values = [found.adjusted(Fraction(score, 2)) for score in range(2, 21)]
    assert values == sorted(values)
    assert all(1 <= value <= 10 for value in values)
    assert found.reason
    assert json.loads(json.dumps(found.as_json()))["curve"] == found.curve.value
    if found.curve is Curve.NONE:
        assert values == [Fraction(score, 2) for score in range(2, 21)]
    else:
        assert found.after is not None
        assert found.before.absolute is not None
        assert found.after < found.before.absolute


@pytest.mark.parametrize(
    ("number", "curve", "reason"),
    [
        (19, Curve.NONE, "19 items are too few to calibrate by, 20 are needed"),
        (20, Curve.LINE, "20 items are too few for an isotonic curve, 50 are needed: a line"),
        (49, Curve.LINE, "49 items are too few for an isotonic curve, 50 are needed: a line"),
        (50, Curve.ISOTONIC, "50 items are enough for an isotonic curve"),
    ],
)
def test_fewer_items_leave_a_simpler_curve_and_say_so(number, curve, reason) -> None:
    found = calibrate(generous(number))
    assert (found.curve, found.reason) == (curve, reason)


def test_a_generous_judge_is_brought_down() -> None:
    """A generous judge is brought down on items the curve never saw."""
    found = calibrate(generous(80))
    fresh = generous(300)[80:]
    before = measure_deviation(fresh)
    after = measure_deviation(KnownItem(row.item, found.adjusted(row.given), row.known) for row in fresh)
    assert before.bias is not None
    assert before.absolute is not None
    assert after.absolute is not None
    assert before.bias > 1
    assert after.absolute < before.absolute / 2


@pytest.mark.parametrize("wanted", [Curve.LINE, Curve.ISOTONIC])
def test_a_judge_whose_scores_run_against_the_truth(wanted) -> None:
    """A judge whose scores run against the truth is not turned round."""
    found = calibrate(items_of((11 - known, known) for known in [*range(1, 11)] * 6), wanted)
    assert found.curve is Curve.NONE
    assert found.reason == "the judge's scores do not rise with the known values, so no curve is used"


def test_a_judge_that_is_right_already_is_left_alone() -> None:
    """Nine values over ten folds, so that no fold takes all items of one value away."""
    found = calibrate(items_of((known, known) for known in [*range(1, 10)] * 7))
    assert found.curve is Curve.NONE
    assert found.before.absolute == 0
    assert "a mean error of 0.00 on items it was not fitted to, against 0.00 as given" in found.reason


@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=20))
def test_deviation_is_the_mean_of_differences(pairs) -> None:
    found = measure_deviation(items_of(pairs))
    assert found.absolute == Fraction(sum(abs(x - y) for x, y in pairs), len(pairs))
    assert found.bias == Fraction(sum(x - y for x, y in pairs), len(pairs))
    assert found.largest == max(abs(x - y) for x, y in pairs)


def test_nothing_known_is_no_deviation_rather_than_zero() -> None:
    assert measure_deviation([]).absolute is None
    assert calibrate([]).curve is Curve.NONE


@pytest.mark.parametrize(
    "refused",
    [
        lambda: calibrate([KnownItem("x", Fraction(1), Fraction(11))]),
        lambda: calibrate([KnownItem("x", Fraction(1), Fraction(1))] * 2),
        lambda: calibrate([], lowest=Fraction(3), highest=Fraction(3)),
    ],
)
def test_items_that_are_not_on_the_scale_are_refused(refused) -> None:
    with pytest.raises(InvalidInputError):
        refused()
