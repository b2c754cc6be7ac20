"""What a provider's cache served and what was written there is charged at its own price; a ceiling knows of it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from disputatio.ledger import PriceBook
from disputatio.participants.call import Usage
from disputatio.participants.seating import ModelSeating

TERRA = ModelSeating(provider="openai", model="gpt-6.1-terra")


def usd(seating: ModelSeating, usage: Usage) -> Decimal:
    found = PriceBook().charge(seating, None, usage).usd
    assert found is not None
    return found


def test_tokens_read_from_a_cache_cost_less_and_tokens_written_there_more() -> None:
    plain, read, written = (usd(TERRA, Usage(10_000, 0, *rest)) for rest in ((), (10_000,), (0, 10_000)))
    assert read < plain < written
    assert usd(TERRA, Usage(10_000, 0, 4_000, 6_000)) == read * Decimal("0.4") + written * Decimal("0.6")


def test_more_than_the_input_is_neither_read_nor_written() -> None:
    assert usd(TERRA, Usage(100, 0, 80, 90)) == usd(TERRA, Usage(100, 0, 80, 20))


@pytest.mark.parametrize("model", ["openai:gpt-6.1-terra", "openai:gpt-5", "anthropic:claude-sonnet-5-5"])
def test_a_reservation_covers_a_call_whose_whole_input_is_written_to_a_cache(model: str) -> None:
    provider, _, name = model.partition(":")
    seating = ModelSeating(provider=provider, model=name)
    bound = PriceBook().bound(seating, 5_000, 700)
    assert bound is not None
    assert all(bound >= usd(seating, Usage(5_000, 700, *rest)) for rest in ((), (0, 5_000), (5_000,), (2_000, 3_000)))
