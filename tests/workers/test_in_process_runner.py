"""Debates that one process holds by itself, over a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from disputatio.engine.runtime import Runtime
from disputatio.proposals import read_request
from disputatio.record.events import CallSent, DebateInterrupted
from disputatio.record.history import History
from disputatio.record.sql import SqlStore
from disputatio.record.verified import read_verified
from disputatio.testing import FakeProvider
from disputatio.workers.in_process_runner import InProcessRunner
from disputatio.workers.job_table import MAX_TRIES, JobTable
from disputatio.workers.port import Job, JobState, NewCeilings

pytestmark = pytest.mark.slow
ORDER = {"motion": "We should act", "format": "freeform"}


@pytest.fixture
async def runner(file_store: SqlStore, provider: FakeProvider) -> AsyncIterator[InProcessRunner]:
    found = InProcessRunner(file_store)
    yield found
    provider.release()
    await found.aclose()


async def ended(runner: InProcessRunner, debate: str) -> Job:
    async with asyncio.timeout(20):
        while True:
            job = await runner.job(debate)
            if job is not None and job.state.is_over:
                return job
            await asyncio.sleep(0.02)


async def test_an_order_becomes_a_debate_with_the_promised_id(runner: InProcessRunner, file_store: SqlStore) -> None:
    await runner.submit("d1", read_request(ORDER))
    await runner.submit("d1", read_request(ORDER))
    assert (await ended(runner, "d1")).state is JobState.ENDED
    assert [(row.id, row.status) for row in file_store.debates()] == [("d1", "COMPLETE")]


async def test_a_debate_that_runs_is_cancelled_and_its_record_says_so(
    runner: InProcessRunner, file_store: SqlStore, provider: FakeProvider
) -> None:
    provider.hold()
    await runner.submit("d1", read_request(ORDER))
    await provider.arrived.reach(1)
    assert await runner.cancel("d1")
    assert (await ended(runner, "d1")).state is JobState.CANCELLED
    last = read_verified(file_store, "d1")[-1].event()
    assert last == DebateInterrupted(reason="cancelled by request")
    assert not await runner.cancel("d1")


async def test_an_order_that_cannot_be_held_says_why(runner: InProcessRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    order = read_request({**ORDER, "seats": {"pro": "openai:gpt-5"}})
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    await runner.submit("d1", order)
    job = await ended(runner, "d1")
    assert job.state is JobState.FAILED
    assert "OPENAI_API_KEY" in job.reason
    assert job.next_step


async def test_what_a_process_left_is_taken_up(file_store: SqlStore, provider: FakeProvider) -> None:
    """What a process left is taken up by the next one and nothing is asked twice."""
    first = InProcessRunner(file_store)
    await first.submit("d1", read_request(ORDER))
    await provider.answered.reach(2)
    provider.hold()
    await provider.arrived.reach(3)
    await first.aclose()
    job = await first.job("d1")
    assert job is not None
    assert job.state is JobState.WAITING
    provider.release()
    second = InProcessRunner(file_store)
    await second.start()
    assert (await ended(second, "d1")).state is JobState.ENDED
    await second.aclose()
    events = [row.event() for row in read_verified(file_store, "d1")]
    history = History.of(events)
    assert history.status.value == "COMPLETE"
    assert len(history.resumed) == 1
    prompts = [(row.path, row.prompt) for row in events if isinstance(row, CallSent)]
    repeated = {row for row in prompts if prompts.count(row) > 1}
    assert {path for path, _ in repeated} <= {row.path for row in history.lost}


async def test_a_debate_that_stopped_at_its_ceiling_goes(
    runner: InProcessRunner, file_store: SqlStore, provider: FakeProvider
) -> None:
    """A debate that stopped at its ceiling goes on with a higher one."""
    await runner.submit("d1", read_request({**ORDER, "max_calls": 3}))
    await ended(runner, "d1")
    assert [row.status for row in file_store.debates()] == ["DEBATE_TRUNCATED"]
    assert await runner.resume("d1", NewCeilings(max_calls=2))
    low = await ended(runner, "d1")
    assert low.state is JobState.FAILED
    assert "below what this debate has spent" in low.reason
    assert await runner.resume("d1", NewCeilings(max_calls=50))
    assert (await ended(runner, "d1")).state is JobState.ENDED
    assert [row.status for row in file_store.debates()] == ["COMPLETE"]
    assert not await runner.resume("d2", NewCeilings())


async def test_an_order_that_ends_its_process_again(
    runner: InProcessRunner, file_store: SqlStore, provider: FakeProvider
) -> None:
    """An order that ends its process again and again is given up."""
    job_table = JobTable(file_store)
    job_table.add_job(
        Job("d1", JobState.WAITING, "debates", 0, "2026-01-01T00:00:00.000000Z"), read_request(ORDER), None
    )
    for _ in range(MAX_TRIES):
        job_table.begin_all(["d1"])
    await runner.start()
    job = await ended(runner, "d1")
    assert job.state is JobState.FAILED
    assert f"was begun {MAX_TRIES} times" in job.reason
    assert provider.requests == []


async def test_a_debate_runs_in_the_house_that_is_made_for_it(file_store: SqlStore, provider: FakeProvider) -> None:
    seen: list[str] = []

    def runtime(debate: str) -> Runtime:
        seen.append(debate)
        return Runtime(file_store)

    runner = InProcessRunner(file_store, runtime=runtime, concurrency=1)
    for debate in ("d1", "d2"):
        await runner.submit(debate, read_request(ORDER))
    for debate in ("d1", "d2"):
        await ended(runner, debate)
    await runner.aclose()
    assert seen == ["d1", "d2"]
