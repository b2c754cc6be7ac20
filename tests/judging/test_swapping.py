"""Judging in both orders: what survives, what does not, and what is not known."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.judging.consistency import Swap, SwapPair, combine_orders, report_swaps
from disputatio.judging.judge_scores import TIE

SIDES = ("pro", "con")
VERDICTS = (*SIDES, TIE, None)


@pytest.mark.parametrize(
    ("one", "other", "verdict", "swap"),
    [
        ("pro", "pro", "pro", Swap.SURVIVED),
        ("con", "con", "con", Swap.SURVIVED),
        ("pro", "con", TIE, Swap.REVERSED),
        ("pro", TIE, TIE, Swap.LOST),
        (TIE, TIE, TIE, Swap.TIED),
        ("pro", None, None, Swap.UNCONFIRMED),
        (TIE, None, None, Swap.UNCONFIRMED),
        (None, None, None, Swap.FAILED),
    ],
)
def test_a_win_survives_only_where_both_orders_name_it(one, other, verdict, swap) -> None:
    assert combine_orders(one, other) == (verdict, swap)
    assert combine_orders(other, one) == (verdict, swap)


def test_no_verdict_of_two_orders_wins_without_both() -> None:
    for one, other in itertools.product(VERDICTS, repeat=2):
        verdict, swap = combine_orders(one, other)
        assert (verdict in SIDES) == (swap is Swap.SURVIVED) == (one == other and one in SIDES)
        assert swap.text()


pairs = st.builds(
    SwapPair,
    st.sampled_from([SIDES, SIDES[::-1]]),
    st.sampled_from(VERDICTS),
    st.sampled_from(VERDICTS),
    st.sampled_from([*SIDES, TIE, None]),
)


@given(st.lists(pairs, max_size=30))
def test_a_report_counts_every_item_once(rows) -> None:
    """A report counts every item once and failures stay in the whole."""
    report = report_swaps(rows)
    assert report.pairs == len(rows) == sum(report.counts.values())
    same = sum(row.shown == row.swapped and row.shown is not None for row in rows)
    assert report.consistency == (Fraction(same, len(rows)) if rows else None)
    known = [row for row in rows if row.known is not None]
    right = sum(row.shown == row.known for row in known) + sum(row.swapped == row.known for row in known)
    assert report.accuracy == (Fraction(right, 2 * len(known)) if known else None)
    assert report.favoured_first + report.favoured_second == report.counts[Swap.REVERSED]
    assert json.loads(json.dumps(report.as_json()))["pairs"] == len(rows)


def test_always_naming_the_first_is_an_order_bias_of_one() -> None:
    """A judge that always names the first shown has an order bias of one."""
    always_first = [SwapPair(sides, sides[0], sides[1]) for sides in (SIDES, SIDES[::-1])]
    assert report_swaps(always_first).order_bias == 1
    assert report_swaps([SwapPair(SIDES, "con", "pro")]).order_bias == -1
    assert report_swaps([SwapPair(SIDES, "con", "con")]).order_bias == 0


@pytest.mark.parametrize("pair", [SwapPair(SIDES, "x", "pro"), SwapPair(("pro", TIE), "pro", "pro")])
def test_a_verdict_for_nobody_is_refused(pair) -> None:
    with pytest.raises(InvalidInputError):
        report_swaps([pair])
