"""The job table for a process that runs many debates: requests made at about the same time share a transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from disputatio.record.sql import SqlStore
from disputatio.record.store import DelegatingStore, Store, held_elsewhere_error
from disputatio.workers.job_table import DueJob, FinishedJob, JobTable


class BatchedJobTable:
    """Hands out due jobs with their claims, and takes back finished ones.

    Each debate costs two transactions, shared with all that start and end at the same time.

    Args:
        store: where jobs, claims and records are.
    """

    def __init__(self, store: SqlStore) -> None:
        self._store, self._job_table = store, JobTable(store)
        self._beginning = Batcher(self._begin_all)
        self._finishing = Batcher(self._finish_all)
        self._releasing = Batcher(self._release_all)

    async def begin(self, debate: str, store: Store) -> DueJob | None:
        """Claim ``debate`` and note that it is being continued.

        Returns None if nothing is left to do; then it holds no claim.

        Args:
            debate: its id.
            store: the store it is written through: the table's own, or a wrapper that reports its claims.

        Raises:
            HeldElsewhereError: another process holds it.
            StoreError: the database could not be read or written.
        """
        apart = store is not self._store
        if apart:
            # A wrapper reports its claims in this event loop.
            store.claim(debate)
        beginning = asyncio.ensure_future(self._beginning.of((debate, apart)))
        try:
            claimed, due = await asyncio.shield(beginning)
        except BaseException:
            # Release the claim before another caller asks for it.
            await asyncio.wait({beginning})
            if apart or (beginning.exception() is None and beginning.result()[1] is not None):
                await self.release(debate, store)
            raise
        if not claimed:
            raise held_elsewhere_error(debate)
        if apart and due is None:
            store.release(debate)
        return due

    async def finish(self, finished: FinishedJob, store: Store) -> str | None:
        """Note how a job ended and release the claim. Returns the status of its record, None where it has none.

        Raises:
            StoreError: the database could not be written; the claim is still held.
        """
        apart = store is not self._store
        status = await self._finishing.of((finished, apart))
        if apart:
            store.release(finished.debate)
        return status

    async def release(self, debate: str, store: Store) -> None:
        """Release the claim. Safe to repeat.

        Raises:
            StoreError: the database could not be written; the claim ends with the process.
        """
        if store is self._store:
            await asyncio.shield(self._releasing.of(debate))
        else:
            store.release(debate)

    def _begin_all(self, asked: Sequence[tuple[str, bool]]) -> list[tuple[bool, DueJob | None]]:
        """For each debate, whether it is claimed and what is due. Claims on what is not due are released."""
        held = {debate for debate, apart in asked if apart}
        claimed = self._store.claim_all([debate for debate, apart in asked if not apart])
        due: dict[str, DueJob] = {}
        try:
            if held | claimed:
                due = self._job_table.begin_all(held | claimed)
        finally:
            self._store.release_all(claimed - due.keys())
        return [(debate in held | claimed, due.get(debate)) for debate, _ in asked]

    def _finish_all(self, ended: Sequence[tuple[FinishedJob, bool]]) -> list[str | None]:
        statuses = self._job_table.finish_all([finished for finished, _ in ended])
        self._store.release_all([finished.debate for finished, apart in ended if not apart])
        return statuses

    def _release_all(self, debates: Sequence[str]) -> list[None]:
        self._store.release_all(debates)
        return [None] * len(debates)


class ClaimedStore(DelegatingStore):
    """A store in which one debate is claimed already: neither claimed again nor released in between."""

    def __init__(self, store: Store, debate: str) -> None:
        super().__init__(store)
        self._debate = debate

    def claim(self, debate: str) -> None:
        """Claim another debate; do nothing for the claimed one."""
        if debate != self._debate:
            super().claim(debate)

    def release(self, debate: str) -> None:
        """Release another debate; do nothing for the claimed one."""
        if debate != self._debate:
            super().release(debate)


Item = TypeVar("Item")
Found = TypeVar("Found")
_MOST_AT_ONCE = 256
_ROUND_SECONDS = 0.05
"""How long others may join after a round."""


class Batcher(Generic[Item, Found]):
    """Runs work for several items at once, in a thread.

    The first item runs at once. Items that arrive meanwhile, or shortly after, run in the next round as one
    transaction. So a thousand debates that start together cost a few dozen transactions, and the event loop never
    waits.

    Args:
        work: maps items to results, in the same order.
    """

    def __init__(self, work: Callable[[Sequence[Item]], Sequence[Found]]) -> None:
        self._work = work
        self._waiting: list[tuple[Item, asyncio.Future[Found]]] = []
        self._rounds: asyncio.Task[None] | None = None

    async def of(self, item: Item) -> Found:
        """The result for ``item``, or the exception of its work. Cancelling the wait does not stop the work."""
        found: asyncio.Future[Found] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, found))
        if self._rounds is None or self._rounds.done():
            self._rounds = asyncio.create_task(self._serve())
        return await found

    async def _serve(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
            await self._do(batch)
            await asyncio.sleep(_ROUND_SECONDS)

    async def _do(self, batch: Sequence[tuple[Item, asyncio.Future[Found]]]) -> None:
        try:
            found = await asyncio.to_thread(self._work, [item for item, _ in batch])
        except Exception as error:  # noqa: BLE001  (raised in the waiting tasks)
            if len(batch) > 1:
                # One bad item must not fail the others.
                for row in batch:
                    await self._do([row])
            elif not batch[0][1].done():
                batch[0][1].set_exception(error)
            return
        for (_, waiting), each in zip(batch, found, strict=True):
            if not waiting.done():
                waiting.set_result(each)
