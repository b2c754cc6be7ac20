"""Calls in batches: the same answers as single calls at half the price, whatever goes wrong with a batch."""

from __future__ import annotations

from decimal import Decimal
from importlib.util import find_spec

import pytest
from batch_stage import MODELS, Order, killed_run, meanings, run, zygote

from disputatio.evaluation.experiment import read_spending
from disputatio.record.events import BATCH
from disputatio.testing import FakeProvider
from disputatio.testing.provider.mishaps import CreationMishap, ItemMishap
from strategies import FULL


def is_installed(library):
    return all(find_spec(library[:end]) for end in (library.find("."), None) if end != -1)


LIBRARIES = {"openai": "openai", "anthropic": "anthropic", "google": "google.genai"}
PROTOCOLS = [
    pytest.param(name, marks=pytest.mark.skipif(not is_installed(library), reason=f"{library} is not installed"))
    for name, library in LIBRARIES.items()
]
pytestmark = pytest.mark.slow


def provider(**settings):
    return FakeProvider(prefix_cache=False, models=tuple(MODELS.values()), **settings)


async def singly(protocol, tmp_path, count, format_name="single"):
    """What single calls bring, and their bill."""
    async with provider() as served:
        order = Order(
            protocol, served.root_url, str(tmp_path / "single.sqlite"), count, batch=False, format_name=format_name
        )
        result = await run(order)
        assert not result.missing
        return result, served.bill


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_batches_bring_the_same_answers_for_half(protocol, tmp_path):
    alone, alone_bill = await singly(protocol, tmp_path, 4, "structured")
    async with provider() as served:
        result = await run(Order(protocol, served.root_url, str(tmp_path / "batch.sqlite"), 4))
    assert not result.missing
    assert not served.bill.single, "nothing was called singly"
    assert served.bill.batch == alone_bill.single, "each request was charged as often as singly"
    assert served.bill.cost == alone_bill.cost / 2
    assert result.spent.calls == alone.spent.calls
    assert result.spent.usd == alone.spent.usd / 2 > 0
    # One batch for each step of the debates, however many there are.
    longest = max(len(row.history.calls) for row in result.finished)
    assert len(served.batches.jobs) <= longest


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("mishap", list(ItemMishap))
async def test_an_item_without_an_answer_is_asked_again_singly(protocol, mishap, tmp_path):
    alone, alone_bill = await singly(protocol, tmp_path, 6)
    async with provider(batch_items=lambda batch, place: mishap if (batch, place) == (0, 2) else None) as served:
        store = str(tmp_path / "batch.sqlite")
        result = await run(Order(protocol, served.root_url, store, 6, format_name="single"))
    assert not result.missing
    again = 6 if (protocol, mishap) == ("google", ItemMishap.EXPIRED) else 1
    assert sum(served.bill.single.values()) == again, "an expired batch of Google has no results at all"
    charged = mishap in (ItemMishap.MALFORMED, ItemMishap.MISSING)
    assert (served.bill.requests == alone_bill.single) is not charged
    # Half for what came by batch, the whole for what was asked singly. What may have been charged twice counts twice.
    prices = {row.key: read_spending(row.history).usd for row in alone.finished}
    for row in result.finished:
        made = row.history.made
        in_batches = sum(Decimal(made[sent.call].cost_usd) for sent in row.history.calls if sent.tier)
        full = read_spending(row.history).usd + in_batches
        if charged and made and any(not sent.tier for sent in row.history.calls):
            assert full > prices[row.key] * 2
        else:
            assert full == prices[row.key]
    assert _said(result) == _said(alone)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("mishap", list(CreationMishap))
async def test_a_creation_that_fails_is_never_paid_twice(protocol, mishap, tmp_path):
    _, alone_bill = await singly(protocol, tmp_path, 3)
    async with provider(batch_creations=lambda number: mishap if number == 0 else None) as served:
        result = await run(Order(protocol, served.root_url, str(tmp_path / "batch.sqlite"), 3, format_name="single"))
    assert not result.missing
    assert served.bill.requests == alone_bill.single, "each request was charged once"
    in_batches = mishap not in (CreationMishap.REFUSED, CreationMishap.FAILED)
    assert served.bill.batch or not in_batches
    assert bool(served.bill.single) is not in_batches


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_batches_are_split_at_the_limits(protocol, tmp_path):
    _, alone_bill = await singly(protocol, tmp_path, 7)
    # Anthropic's schemas have no bounds, so this answer is asked for again.
    again = alone_bill.single.total() // 7
    async with provider() as served:
        by_number = Order(protocol, served.root_url, str(tmp_path / "a.sqlite"), 7, most=3, format_name="single")
        assert not (await run(by_number)).missing
        assert [len(job.items) for job in served.batches.jobs.values()] == [3, 3, 1] * again
        assert served.bill.requests == alone_bill.single
    async with provider() as served:
        tiny = Order(protocol, served.root_url, str(tmp_path / "b.sqlite"), 7, size=1, format_name="single")
        assert not (await run(tiny)).missing
        assert [len(job.items) for job in served.batches.jobs.values()] == [1] * 7 * again


async def test_all_debates_draw_on_one_ceiling(tmp_path):
    """Shares of it would each be too small for a call; together they never pass it."""
    alone, _ = await singly("openai", tmp_path, 8)
    whole = alone.spent.usd / 2
    async with provider() as served:
        enough = Order(
            "openai", served.root_url, str(tmp_path / "a.sqlite"), 8, format_name="single", ceiling=str(whole * 6)
        )
        result = await run(enough)
        assert not result.missing
        assert result.spent.usd == whole
    async with provider() as served:
        store = str(tmp_path / "b.sqlite")
        ceiling = whole * Decimal("2.5")
        first = max(Decimal(str(sent.reserved["usd"])) for row in result.finished for sent in row.history.calls)
        assert first * 8 > ceiling > first, "the eight do not fit beside each other"
        order = Order("openai", served.root_url, store, 8, format_name="single", ceiling=str(ceiling))
        assert not (await run(order)).missing
    async with provider() as served:
        order = Order(
            "openai", served.root_url, str(tmp_path / "c.sqlite"), 8, format_name="single", ceiling=str(first)
        )
        result = await run(order)
        assert result.missing
        assert "ceiling" in result.stopped
        assert result.spent.usd <= first


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_kills_at_random_moments_pay_nothing_twice(protocol, tmp_path):
    """Real processes, killed with SIGKILL; the provider counts what it charges."""

    def order(served, name):
        return Order(protocol, served.root_url, str(tmp_path / name), 3, most=2)

    with zygote() as process:
        with provider() as served:
            killed_run(process, order(served, "whole.sqlite"), 0, 0, 0)
            whole_bill, said = served.bill, meanings(str(tmp_path / "whole.sqlite"), served.root_url)
        kills = 0
        for seed in range(6 if FULL else 3):
            with provider() as served:
                name = f"{seed}.sqlite"
                kills += killed_run(process, order(served, name), 4, 0.5, seed)
                assert served.bill.requests == whole_bill.requests, f"seed {seed}"
                assert served.bill.cost == whole_bill.cost
                assert meanings(str(tmp_path / name), served.root_url) == said
        assert kills >= 4


def _said(result):
    """What was said in the end, by question."""
    return {
        row.key: {path: getattr(answered, "content", answered) for path, answered in row.history.answered.items()}
        for row in result.finished
    }


async def test_the_record_says_which_calls_travelled_in_batches(tmp_path):
    async with provider() as served:
        result = await run(Order("openai", served.root_url, str(tmp_path / "a.sqlite"), 1, format_name="single"))
    [row] = result.finished
    assert {sent.tier for sent in row.history.calls} == {BATCH}
    assert all(made.cost_basis.endswith(", batch") for made in row.history.made.values())
