"""What many ask at about the same time is asked once, and each of them gets what is theirs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest
import sqlalchemy as sa
from fleet_stage import Stage

from disputatio.errors import HeldElsewhereError
from disputatio.record.sql import SqlStore
from disputatio.workers.batched_job_table import BatchedJobTable, Batcher
from disputatio.workers.job_table import DueJob, FinishedJob, JobTable
from disputatio.workers.port import Job, JobState

ORDER = {"motion": "We should act", "format": "freeform"}
NAMES = [f"d{number:02}" for number in range(20)]


class Counter:
    """Doubles numbers, round by round; waits for ``go`` in the first one. What is negative cannot be doubled."""

    def __init__(self) -> None:
        self.rounds: list[list[int]] = []
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.rounds.append(list(numbers))
        self.begun.set()
        assert self.go.wait(10)
        if min(numbers) < 0:
            raise ValueError(min(numbers))
        return [2 * number for number in numbers]


async def test_whoever_comes_during_a_round_is_served_by_the_next() -> None:
    """Whoever comes during a round is served by the next and all at once."""
    counter = Counter()
    together = Batcher(counter)
    first = asyncio.create_task(together.of(1))
    await asyncio.to_thread(counter.begun.wait, 10)
    others = [asyncio.create_task(together.of(number)) for number in (2, 3, 4)]
    await asyncio.sleep(0)
    others[1].cancel()
    counter.go.set()
    assert [await first, await others[0], await others[2]] == [2, 4, 8]
    assert others[1].cancelled()
    assert counter.rounds == [[1], [2, 3, 4]]


async def test_what_is_wrong_with_one_does_not_fail_those() -> None:
    """What is wrong with one does not fail those who asked with it."""
    counter = Counter()
    counter.go.set()
    together = Batcher(counter)
    found = await asyncio.gather(*(together.of(number) for number in (1, -2, 3)), return_exceptions=True)
    assert (found[0], str(found[1]), found[2]) == (2, "-2", 6)


def fill(store: SqlStore, names: Sequence[str] = NAMES) -> JobTable:
    job_table = JobTable(store)
    for name in names:
        job_table.add_job(Job(name, JobState.WAITING, "debates", 0, "2026-01-01T00:00:00.000000Z"), ORDER, None)
    return job_table


async def test_what_is_held_here_is_refused_a_second_time(file_store: SqlStore) -> None:
    """What is held here is refused a second time and stays held."""
    fill(file_store, ["d1"])
    front = BatchedJobTable(file_store)
    assert await front.begin("d1", file_store) is not None
    with pytest.raises(HeldElsewhereError):
        await front.begin("d1", file_store)
    with pytest.raises(HeldElsewhereError):
        file_store.claim("d1")
    assert await front.finish(FinishedJob("d1", JobState.ENDED), file_store) is None
    assert await front.begin("d1", file_store) is None
    file_store.claim("d1")


async def test_who_is_stopped_while_it_begins_leaves_no_claim(file_store: SqlStore) -> None:
    fill(file_store)
    front = BatchedJobTable(file_store)
    tasks = [asyncio.create_task(front.begin(name, file_store)) for name in NAMES]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    begun = await asyncio.gather(*tasks, return_exceptions=True)
    assert [isinstance(row, DueJob) for row in begun] == [False, True] * 10
    assert file_store.claim_all(NAMES) == set(NAMES[::2])


async def test_simultaneous_debates_share_transactions(file_store: SqlStore) -> None:
    """Debates that begin and end together share their transactions."""
    fill(file_store)
    commits: list[object] = []
    sa.event.listen(file_store.engine, "commit", commits.append)
    front = BatchedJobTable(file_store)
    begun = await asyncio.gather(*(front.begin(name, file_store) for name in NAMES))
    assert all(isinstance(row, DueJob) and row.order == ORDER for row in begun)
    await asyncio.gather(*(front.finish(FinishedJob(name, JobState.ENDED), file_store) for name in NAMES))
    # Who comes first may be served alone.
    assert 2 <= len(commits) <= 4


@pytest.mark.slow
async def test_two_that_ask_for_the_same_debates(fleet: Stage) -> None:
    """Two that ask for the same debates at once get each of them once."""
    stores = fleet.store(), fleet.store()
    job_table = fill(stores[0])
    fronts = [BatchedJobTable(store) for store in stores]
    asked = [front.begin(name, store) for name in NAMES for front, store in zip(fronts, stores, strict=True)]
    found = await asyncio.gather(*asked, return_exceptions=True)
    holders = [[isinstance(row, DueJob) for row in pair] for pair in zip(found[::2], found[1::2], strict=True)]
    assert all(sorted(pair) == [False, True] for pair in holders)
    assert all(isinstance(row, DueJob | HeldElsewhereError) for row in found)
    for name, pair in zip(NAMES, holders, strict=True):
        place = pair.index(True)
        assert await fronts[place].finish(FinishedJob(name, JobState.ENDED), stores[place]) is None
    assert stores[0].claim_all(NAMES) == set(NAMES)
    assert {row.state for row in job_table.jobs()} == {JobState.ENDED}
    for store in stores:
        await store.aclose()
