"""Sums, means and gaps are exact; rounding is for showing only; a missing score is never a zero."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.judging.scoring import (
    EVIDENCE_FIRST,
    RUBRICS,
    STANDARD,
    Criterion,
    Edge,
    Rubric,
    classify_gap,
    format_gap,
    mean,
    round_half_up,
    weigh_scores,
)
from strategies import examples

fractions = st.fractions(max_denominator=10**6).filter(lambda value: abs(value) < 10**12)
scores = st.integers(1, 10)


def test_the_standard_rubric_has_the_protocol_s_weights() -> None:
    assert {row.key: row.weight for row in STANDARD.criteria} == {
        "logic": Fraction("0.30"),
        "evidence": Fraction("0.30"),
        "responsiveness": Fraction("0.25"),
        "honesty": Fraction("0.15"),
    }


def test_the_second_rubric_has_the_protocol_s_weights() -> None:
    assert {row.key: row.weight for row in EVIDENCE_FIRST.criteria} == {
        "evidence": Fraction("0.40"),
        "logic": Fraction("0.30"),
        "rebuttal": Fraction("0.20"),
        "clarity": Fraction("0.10"),
    }


@pytest.mark.parametrize("rubric", list(RUBRICS.values()), ids=lambda rubric: rubric.name)
@given(data=st.data())
def test_a_weighted_score_is_exact_and_between_its_lowest(rubric: Rubric, data: st.DataObject) -> None:
    """A weighted score is exact and between its lowest and highest part."""
    given_scores = {row.key: data.draw(scores) for row in rubric.criteria}
    hundredths = sum(int(row.weight * 100) * given_scores[row.key] for row in rubric.criteria)
    total = weigh_scores(given_scores, rubric)
    assert total == Fraction(hundredths, 100)
    assert min(given_scores.values()) <= total <= max(given_scores.values())


def test_a_weighted_score_by_hand() -> None:
    # .30 * 7 + .30 * 8 + .25 * 6 + .15 * 9 = 2.10 + 2.40 + 1.50 + 1.35
    given_scores = {"logic": 7, "evidence": 8, "responsiveness": 6, "honesty": 9}
    assert weigh_scores(given_scores, STANDARD) == Fraction("7.35")


def test_a_missing_criterion_is_an_error_and_not_a_zero() -> None:
    with pytest.raises(KeyError):
        weigh_scores({"logic": 7, "evidence": 8, "responsiveness": 6}, STANDARD)


def test_the_mean_of_nothing_is_none() -> None:
    assert mean([]) is None


@given(st.lists(fractions, min_size=1, max_size=9))
def test_the_mean_times_the_count_is_the_sum(values: list[Fraction]) -> None:
    average = mean(values)
    assert average is not None
    assert average * len(values) == sum(values)


TINY = Fraction(1, 10**30)


@pytest.mark.parametrize(
    ("gap", "reading"),
    [
        (Fraction(0), Edge.EVEN),
        (1 - TINY, Edge.EVEN),
        (Fraction(1), Edge.EDGE),
        (1 + TINY, Edge.EDGE),
        (Fraction(3) - TINY, Edge.EDGE),
        (Fraction(3), Edge.EDGE),
        (3 + TINY, Edge.SIGNIFICANT),
        (Fraction(9), Edge.SIGNIFICANT),
    ],
)
def test_the_reading_changes_exactly_below_one_and_above_three(gap: Fraction, reading: Edge) -> None:
    assert classify_gap(gap) is reading
    assert classify_gap(-gap) is reading


@examples(60)
@given(fractions, st.integers(0, 6))
@example(Fraction(1, 8), 2)
@example(Fraction(-1, 8), 2)
@example(Fraction(5, 1000), 2)
@example(Fraction(10**20 + 1, 3), 6)
@example(Fraction(1, 2) - Fraction(1, 10**35), 0)
def test_rounding_is_half_away_from_zero_as_decimal_does_it(value: Fraction, places: int) -> None:
    with localcontext() as context:
        context.prec = 200
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        expected = exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    assert round_half_up(value, places) == float(expected)


def test_rounding_takes_the_fraction_and_not_the_nearest_float() -> None:
    # As floats these round down: 2.675 is stored a little below itself.
    assert round_half_up(Fraction("2.675")) == 2.68
    assert round_half_up(Fraction("1.005")) == 1.01


def criteria(*rows: tuple[str, str]) -> tuple[Criterion, ...]:
    return tuple(Criterion(key, Fraction(weight), "How good?") for key, weight in rows)


@pytest.mark.parametrize(
    "rows",
    [
        (),
        (("logic", "1/2"), ("logic", "1/2")),
        (("Logic", "1"),),
        (("", "1"),),
        (("has space", "1"),),
        (("ünder", "1"),),
        (("1st", "1"),),
        (("x" * 41, "1"),),
        (("logic\n", "1"),),
    ],
)
def test_a_rubric_with_unusable_criteria_is_refused(rows: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(InvalidInputError, match="criteria"):
        Rubric("own", criteria(*rows))


@pytest.mark.parametrize("taken", ["reason", "standing", "fallacies"])
def test_a_criterion_may_not_take_the_name_of_another_part(taken: str) -> None:
    """A criterion may not take the name of another part of the finding."""
    with pytest.raises(InvalidInputError, match=taken):
        Rubric("own", criteria((taken, "1/2"), ("logic", "1/2")))


@pytest.mark.parametrize(
    "rows",
    [
        (("logic", "0.9"),),
        (("logic", "1.1"),),
        (("logic", "1/3"), ("evidence", "1/3")),
        (("logic", "1"), ("evidence", "0")),
        (("logic", "1.5"), ("evidence", "-0.5")),
    ],
)
def test_weights_must_be_positive_and_sum_to_one(rows: tuple[tuple[str, str], ...]) -> None:
    """Weights that do not sum to one or are not positive are refused."""
    with pytest.raises(InvalidInputError, match="above 0 so that they sum to exactly 1"):
        Rubric("own", criteria(*rows))


def test_thirds_sum_to_one() -> None:
    assert Rubric("own", criteria(("a", "1/3"), ("b", "1/3"), ("c", "1/3"))).name == "own"


@pytest.mark.parametrize(
    ("rows", "named"), [((("logic", "1.5"), ("evidence", "-0.5")), "evidence"), ((("a", "0"),), "a")]
)
def test_a_weight_that_is_not_above_zero_is_refused(rows: tuple[tuple[str, str], ...], named: str) -> None:
    """A weight that is not above zero is refused by its own name."""
    with pytest.raises(InvalidInputError) as refused:
        Rubric("own", criteria(*rows))
    assert f"The criterion {named} " in refused.value.cause
    assert "sum" not in refused.value.cause


@given(st.fractions(0, 9, max_denominator=3000))
def test_a_gap_is_written_with_no_more_digits_than_needed(gap: Fraction) -> None:
    """The number of a gap reads as the gap does and has no more digits than that takes."""
    shown = format_gap(gap)
    assert classify_gap(Fraction(shown)) is classify_gap(gap)
    assert abs(Fraction(shown) - gap) <= Fraction(1, 200)
    plain = f"{round_half_up(gap):.2f}"
    if classify_gap(Fraction(plain)) is classify_gap(gap) and (Fraction(plain) > 0) == (gap > 0):
        assert shown == plain
    assert format_gap(-gap) == shown


def test_a_gap_just_under_a_point_is_not_written_as_a_point() -> None:
    assert [format_gap(Fraction(row)) for row in ("0.996", "0.9999", "1", "3", "3.004", "0.001", "0")] == [
        *("0.996", "0.9999", "1.00", "3.00", "3.004", "0.001", "0.00")
    ]
