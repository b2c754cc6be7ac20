"""What a journal promises to those who wait until what was written is durable."""

from __future__ import annotations

import asyncio

import pytest

from disputatio.engine.journal import Journal
from disputatio.engine.ports import NullObserver, SystemClock
from disputatio.errors import StoreError
from disputatio.record.memory import MemoryStore
from disputatio.record.store import EventBatch
from record_makers import asked, opened


class SlowStore(MemoryStore):
    """Brings writings to their end when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.pending: list[asyncio.Future[None]] = []

    def append(self, writing: EventBatch) -> asyncio.Future[None]:
        self.pending.append(asyncio.get_running_loop().create_future())
        return self.pending[-1]


def journal_over(store: MemoryStore) -> Journal:
    journal = Journal("d1", store=store, clock=SystemClock(), observer=NullObserver())
    journal.write(opened())
    return journal


async def test_who_waits_is_told_the_first_failure() -> None:
    """Who waits is told the first failure and not that an earlier one failed and is told again."""
    store = SlowStore()
    journal = journal_over(store)
    for number in range(3):
        journal.flush()
        journal.write(asked(number))
    waiting = asyncio.create_task(journal.wait_until_durable())
    await asyncio.sleep(0)
    first, *later = store.pending
    first.set_result(None)
    later[0].set_exception(StoreError("The disk is full.", "Free some space."))
    for row in later[1:]:
        row.set_exception(StoreError("An earlier event could not be written.", "Cure that."))
        row.exception()
    for wait in (waiting, journal.wait_until_durable()):
        with pytest.raises(StoreError, match="The disk is full"):
            await wait


async def test_a_failure_is_told_even_where_an_earlier_writing() -> None:
    """A failure is told even where an earlier writing is still under way."""
    store = SlowStore()
    journal = journal_over(store)
    journal.flush()
    journal.write(asked(1))
    journal.flush()
    store.pending[1].set_exception(StoreError("The disk is full.", "Free some space."))
    with pytest.raises(StoreError, match="The disk is full"):
        await journal.wait_until_durable()


async def test_who_stops_waiting_takes_the_writing_from_nobody_else() -> None:
    store = SlowStore()
    journal = journal_over(store)
    impatient, patient = (
        asyncio.create_task(journal.wait_until_durable()),
        asyncio.create_task(journal.wait_until_durable()),
    )
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.wait([impatient])
    assert impatient.cancelled()
    (writing,) = store.pending
    assert not writing.done()
    assert not patient.done()
    writing.set_result(None)
    await patient
    await journal.wait_until_durable()
