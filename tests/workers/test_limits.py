"""Calls to a provider are limited over all who share a database, in the order in which they were asked for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from fleet_stage import Stage

from disputatio.participants.model_seat import ModelSeating
from disputatio.record.sql import SqlStore
from disputatio.workers.limits import SharedCallLimiter, list_limits, set_limit

SEATING = ModelSeating(provider="openai", model="gpt-5")


class Road:
    """Where calls go after the turnstile, counted."""

    def __init__(self) -> None:
        self.now = self.peak = self.passed = 0

    async def travel(self, call_limiter: SharedCallLimiter, seconds: float = 0.02) -> None:
        async with call_limiter.slot(SEATING):
            self.now += 1
            self.passed += 1
            self.peak = max(self.peak, self.now)
            await asyncio.sleep(seconds)
            self.now -= 1


@pytest.fixture
async def call_limiter(file_store: SqlStore) -> AsyncIterator[SharedCallLimiter]:
    found = SharedCallLimiter(file_store)
    yield found
    await found.aclose()


async def test_without_a_limit_nobody_waits(call_limiter: SharedCallLimiter) -> None:
    road = Road()
    await asyncio.gather(*(road.travel(call_limiter) for _ in range(20)))
    assert road.peak == 20


@pytest.mark.slow
async def test_no_more_calls_are_under_way_than_the_limit_says(
    call_limiter: SharedCallLimiter, file_store: SqlStore
) -> None:
    set_limit(file_store, "openai", at_once=3, per_minute=None)
    set_limit(file_store, "openai:gpt-5", at_once=2, per_minute=None)
    set_limit(file_store, "mistral", at_once=1, per_minute=None)
    road = Road()
    await asyncio.gather(*(road.travel(call_limiter) for _ in range(12)))
    assert (road.peak, road.passed) == (2, 12)
    await call_limiter.aclose()
    assert [(row.under_way, row.waiting) for row in list_limits(file_store)] == [(0, 0)] * 3


@pytest.mark.slow
async def test_calls_a_minute_are_paced(call_limiter: SharedCallLimiter, file_store: SqlStore) -> None:
    set_limit(file_store, "openai", at_once=None, per_minute=1_200)
    road, begun = Road(), time.monotonic()
    await asyncio.gather(*(road.travel(call_limiter, 0.0) for _ in range(30)))
    # Twenty a second, of which one second's worth may have been saved up: the other ten take half a second.
    assert time.monotonic() - begun >= 0.45


async def test_a_call_that_is_given_up_holds_no_lease(call_limiter: SharedCallLimiter, file_store: SqlStore) -> None:
    set_limit(file_store, "openai", at_once=1, per_minute=None)
    road = Road()
    first = asyncio.create_task(road.travel(call_limiter, 60))
    while road.now == 0:
        await asyncio.sleep(0.01)
    waiting = asyncio.create_task(road.travel(call_limiter))
    await asyncio.sleep(0.1)
    for task in (waiting, first):
        task.cancel()
    await asyncio.gather(first, waiting, return_exceptions=True)
    async with asyncio.timeout(5):
        await road.travel(call_limiter)
    assert road.passed == 2


@pytest.mark.slow
async def test_two_stores_share_a_limit_and_the_dead_hold_none_of_it(fleet: Stage) -> None:
    stores = [fleet.store(), fleet.store()]
    set_limit(stores[0], "openai", at_once=2, per_minute=None)
    one, other = (SharedCallLimiter(store) for store in stores)
    road = Road()
    await asyncio.gather(*(road.travel(call_limiter) for call_limiter in (one, other) for _ in range(6)))
    assert (road.peak, road.passed) == (2, 12)
    holding = [asyncio.create_task(road.travel(one, 60)) for _ in range(2)]
    while road.now < 2:
        await asyncio.sleep(0.01)
    claims = stores[0].writer_claims
    assert claims is not None
    # Its session ends, as it does with its process.
    claims.close()
    async with asyncio.timeout(5):
        await road.travel(other)
    for task in holding:
        task.cancel()
    await asyncio.gather(*holding, return_exceptions=True)
    await one.aclose()
    await other.aclose()
    for store in stores:
        await store.aclose()
