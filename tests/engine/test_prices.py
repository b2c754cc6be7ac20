"""What a call is charged: by its parts at their own prices, as configured, or as the server says."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from rooms import PatientClock, history_of, proposal_of

from disputatio.engine.runtime import Runtime, start
from disputatio.ledger.prices import PriceBook
from disputatio.participants.call import Usage
from disputatio.participants.model_seat import ModelSeating, Price
from disputatio.record.memory import MemoryStore
from disputatio.report.json_export import export_json
from disputatio.report.reading import DebateReport
from disputatio.testing import FakeProvider

TERRA = ModelSeating(provider="openai", model="gpt-6.1-terra")


def usd(seating: ModelSeating, usage: Usage) -> Decimal:
    found = PriceBook().charge(seating, None, usage).usd
    assert found is not None
    return found


def test_tokens_read_from_a_cache_cost_less() -> None:
    """Tokens read from a cache cost less and tokens written there more."""
    plain, read, written = (usd(TERRA, Usage(10_000, 0, *rest)) for rest in ((), (10_000,), (0, 10_000)))
    assert read < plain < written
    assert usd(TERRA, Usage(10_000, 0, 4_000, 6_000)) == read * Decimal("0.4") + written * Decimal("0.6")


def test_more_than_the_input_is_neither_read_nor_written() -> None:
    assert usd(TERRA, Usage(100, 0, 80, 90)) == usd(TERRA, Usage(100, 0, 80, 20))


@pytest.mark.parametrize("model", ["openai:gpt-6.1-terra", "openai:gpt-5", "anthropic:claude-sonnet-5-5"])
def test_a_reservation_covers_a_call(model: str) -> None:
    """A reservation covers a call whose whole input is written to a cache."""
    provider, _, name = model.partition(":")
    seating = ModelSeating(provider=provider, model=name)
    bound = PriceBook().bound(seating, 5_000, 700)
    assert bound is not None
    assert all(bound >= usd(seating, Usage(5_000, 700, *rest)) for rest in ((), (0, 5_000), (5_000,), (2_000, 3_000)))


REPORTED = Usage(10_000, 10, cost_usd=Decimal("0.0004"))


def test_a_reported_cost_goes_before_the_table() -> None:
    """A reported cost goes before the table and a configured price before it."""
    book = PriceBook()
    assert book.charge(TERRA, None, REPORTED) == (Decimal("0.0004"), "reported by the server")
    assert book.charge(TERRA, "another-model", REPORTED).usd == Decimal("0.0004")
    uncounted = Usage(cost_usd=Decimal("0.1"))
    assert book.charge(replace(TERRA, provider="openai_compatible"), None, uncounted).usd == Decimal("0.1")
    own = replace(TERRA, price=Price(Decimal(1), Decimal(1)))
    assert book.charge(own, None, REPORTED) == (Decimal("0.01001"), "configured price")


def test_a_free_model_of_openrouter_costs_nothing_and_says_so() -> None:
    book, free = PriceBook(), ModelSeating(provider="openrouter", model="x/y:free")
    for usage in (Usage(10, 5), Usage(), Usage(10, 5, cost_usd=Decimal(0))):
        assert book.charge(free, "x/y", usage) == (Decimal(0), "free of charge at the provider")
    assert book.known(free)
    assert book.bound(free, 10, 10) == 0
    assert book.charge(free, None, REPORTED) == (Decimal("0.0004"), "reported by the server")
    assert book.charge(replace(free, provider="openai_compatible"), None, Usage(10, 5)).usd is None


async def test_a_debate_costs_what_its_server_reported() -> None:
    async with FakeProvider(reports_usd=0.0125) as provider:
        given = proposal_of(
            "freeform",
            seat=("all=openrouter:x/y",),
            environ={"OPENROUTER_API_KEY": "k"},
            base_url=provider.base_url,
            set=("rounds=1",),
        )
        store = MemoryStore()
        debate = await start(given, Runtime(store, checks_first=False, clock=PatientClock()))
    report = DebateReport.of(debate, [row.event() for row in store.read(debate)])
    calls = len(report.calls)
    assert report.totals.usd == Decimal("0.0125") * calls
    assert report.totals.money.endswith("(reported by the server)")
    told = export_json(report)
    assert {row["cost_basis"] for row in told["calls"]} == {"reported by the server"}
    assert "reported by the server" in told["totals"]["text"]
    assert history_of(store, debate).status.value == "COMPLETE"
