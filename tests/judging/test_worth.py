"""The multiple at which a debate pays is one over the net share of answers that debates put right."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from disputatio.judging.gate import MIN_OUTCOMES, VerifiedOutcome, estimate_multiple
from strategies import examples

outcomes = st.builds(VerifiedOutcome, st.sampled_from(("right", "wrong", "mixed")), st.booleans())


def test_one_debate_in_fifty_that_puts_an_answer_right():
    """One debate in fifty that puts an answer right is the usual fifty."""
    found = estimate_multiple([VerifiedOutcome("right", agrees=False), *[VerifiedOutcome("right", agrees=True)] * 49])
    assert found.value == 50
    assert (found.outcomes, found.saves, found.spoils) == (50, 1, 0)


def test_an_answer_that_a_debate_spoiled_takes_one_it_saved_away():
    rows = (
        [VerifiedOutcome("right", agrees=False)] * 3
        + [VerifiedOutcome("wrong", agrees=False)]
        + [VerifiedOutcome("mixed", agrees=True)] * 16
    )
    assert estimate_multiple(rows).value == 10


def test_too_few_outcomes_recompute_nothing():
    """Too few outcomes recompute nothing and say how many there are."""
    found = estimate_multiple([VerifiedOutcome("right", agrees=False)] * (MIN_OUTCOMES - 1))
    assert found.value is None
    assert "19 outcomes can be used, and 20 are needed" in found.because


def test_debates_that_save_no_more_than_they_spoil_pay():
    """Debates that save no more than they spoil pay at no downside."""
    rows = [VerifiedOutcome("right", agrees=False), VerifiedOutcome("wrong", agrees=False)] * 10
    assert estimate_multiple(rows).value is None
    assert "no downside" in estimate_multiple(rows).because


@examples(30)
@given(st.lists(outcomes, max_size=60))
def test_a_further_save_never_raises_the_multiple(rows: list[VerifiedOutcome]) -> None:
    """A multiple is at least one and a further save never raises it."""
    found = estimate_multiple(rows)
    better = estimate_multiple([*rows, VerifiedOutcome("right", agrees=False)])
    if found.value is not None:
        assert found.value >= 1
        assert better.value is not None
        assert better.value <= found.value
    assert found.as_json()["outcomes"] == len(rows)
    assert found.value is None or found.value == Fraction(len(rows), found.saves - found.spoils)
