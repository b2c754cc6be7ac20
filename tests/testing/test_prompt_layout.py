"""The layout of the prompts: what is shared comes first, so that prefix caches serve most of what a debate sends."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from rooms import hold, proposal_of

from disputatio.participants.length_profiles import USUAL
from disputatio.testing.prefixes import PrefixMeter, PrefixTotals

pytestmark = pytest.mark.slow

A_TENTH = 0.1
"""What a cached token costs at most providers."""


async def metered(format_name: str, *settings: str, characters: int | None = None) -> PrefixTotals:
    meter = PrefixMeter(replace(USUAL, characters=characters))
    await hold(proposal_of(format_name, set=settings), lambda *_: meter)
    return meter.sums()


@pytest.mark.parametrize(
    ("format_name", "settings", "share", "billed"),
    [
        ("structured", (), 0.45, 0.60),
        ("market", (), 0.40, 0.60),
        ("review", ("rounds=2",), 0.60, 0.45),
        ("competition", ("rules.free_speeches=3",), 0.85, 0.25),
    ],
)
async def test_earlier_phases_have_sent_most_of_the_input(
    format_name: str, settings: tuple[str, ...], share: float, billed: float
) -> None:
    sums = await metered(format_name, *settings)
    assert sums.share >= share
    assert sums.billed(A_TENTH) <= billed
    assert sums.served_naive < 0.05 * sums.input


async def test_a_review_of_one_round_shares_all_that_was_sent_before() -> None:
    meter = PrefixMeter()
    await hold(proposal_of("review"), lambda *_: meter)
    # New in a prompt are what was said since the call before it, and the task.
    for earlier, row in zip(meter.rows, meter.rows[1:], strict=False):
        assert row.served >= earlier.prompt - earlier.tail - len("\n\n")


async def test_uncached_input_of_a_match_grows_linearly() -> None:
    """What is not cached of a longer match grows with its length and not with the square."""
    sums = [
        await metered("competition", f"rules.free_speeches={count}", f"rules.free_words={count * 150}", characters=400)
        for count in (2, 4, 8)
    ]
    first, second = (
        (after.uncached - before.uncached) / (after.calls - before.calls) for before, after in itertools.pairwise(sums)
    )
    assert second == pytest.approx(first, rel=0.1)
    whole = [(after.input - before.input) / (after.calls - before.calls) for before, after in itertools.pairwise(sums)]
    # The whole input of a call does grow with the match.
    assert whole[1] > 1.2 * whole[0]


async def test_staggering_serves_a_phase_from_its_own_first_call() -> None:
    sums = await metered("structured")
    assert sums.share_staggered > sums.share + 0.1
    assert sums.billed(A_TENTH, staggered=True) < sums.billed(A_TENTH) * 0.85


def test_writing_to_cache_at_price_makes_bill_reads_have_to_earn() -> None:
    """Writing to a cache at a price makes a bill that reads have to earn."""
    rarely: Any = {"calls": 2, "input": 100, "schemas": 0, "output": 0, "served_beside": 10, "served_naive": 0}
    sums = PrefixTotals(**rarely, served=10, served_in_front=0, tails=0)
    assert sums.billed(0.1) == pytest.approx(0.91)
    # Nine tenths are written at a quarter more, in both layouts.
    assert sums.billed(0.1, 1.25) == pytest.approx((10 * 0.1 + 90 * 1.25) / 125)
