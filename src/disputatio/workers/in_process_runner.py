"""Holds debates in this process, as tasks of its event loop: all that one machine needs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress

from disputatio.engine.ports import SystemClock
from disputatio.engine.runtime import Runtime
from disputatio.errors import DisputatioError, HeldElsewhereError
from disputatio.kernel import JsonObject
from disputatio.record.sql import SqlStore
from disputatio.workers.batched_job_table import BatchedJobTable
from disputatio.workers.job_table import JobTable
from disputatio.workers.port import QUEUE, Job, JobState, NewCeilings, TransactionHook, no_hook
from disputatio.workers.runner import CANCELLED, Participants, end_cancelled, no_people, run_job

_LOG = logging.getLogger("disputatio.workers")
_LOOK_SECONDS = 1.0


class InProcessRunner:
    """A holder whose debates run here. Orders that an earlier process left unfinished are taken up at the start.

    Args:
        store: where orders and records are.
        concurrency: most debates at once.
        house: what the debate of an id runs in; the store alone where not given.
        participants: who takes the seats of people.
        most_waiting: the size of a queue; None for no limit.
    """

    def __init__(
        self,
        store: SqlStore,
        *,
        concurrency: int = 100,
        runtime: Callable[[str], Runtime] | None = None,
        participants: Participants = no_people,
        most_waiting: int | None = 1_000,
    ) -> None:
        self._job_table, self._batched_jobs = JobTable(store), BatchedJobTable(store)
        self._concurrency, self._most_waiting = concurrency, most_waiting
        self._runtime = runtime or (lambda _debate: Runtime(store))
        self._participants = participants
        self._running: dict[str, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._draining = False

    async def start(self) -> None:
        """Begin to hold debates. Safe to repeat."""
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._keep())

    async def submit(
        self,
        debate_id: str,
        order: JsonObject,
        *,
        priority: int = 0,
        queue: str = QUEUE,
        in_transaction: TransactionHook = no_hook,
    ) -> None:
        """Take an order; it is durable when this returns."""
        await self.start()
        job = Job(debate_id, JobState.WAITING, queue, priority, SystemClock().now())
        await asyncio.to_thread(self._job_table.add_job, job, order, self._most_waiting, in_transaction)
        self._wake.set()

    async def cancel(self, debate_id: str) -> bool:
        """Have it stopped; another process that holds it notices within a second."""
        asked = await asyncio.to_thread(self._job_table.cancel, debate_id)
        task = self._running.get(debate_id)
        if asked and task is not None:
            task.cancel(CANCELLED)
        return asked

    async def resume(self, debate_id: str, raised: NewCeilings, *, in_transaction: TransactionHook = no_hook) -> bool:
        """Have a debate gone on with that is over."""
        await self.start()
        reopened = await asyncio.to_thread(self._job_table.reopen, debate_id, raised, in_transaction)
        self._wake.set()
        return reopened

    async def job(self, debate_id: str) -> Job | None:
        """Where an order is."""
        return await asyncio.to_thread(self._job_table.job, debate_id)

    async def jobs(self, *, unfinished: bool = False) -> Sequence[Job]:
        """All orders, or those that wait or run."""
        return await asyncio.to_thread(lambda: self._job_table.jobs(unfinished=unfinished))

    async def aclose(self, drain_seconds: float = 0.0) -> None:
        """Let what runs end for so long; then interrupt it. A later process goes on with it."""
        self._draining = True
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        if self._running and drain_seconds > 0:
            await asyncio.wait(self._running.values(), timeout=drain_seconds)
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel("the process that held it was stopped")
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep(self) -> None:
        """Start what waits, stop what was cancelled elsewhere."""
        while not self._draining:
            try:
                for debate in await asyncio.to_thread(self._job_table.cancelled, list(self._running)):
                    self._running[debate].cancel(CANCELLED)
                for job in await asyncio.to_thread(lambda: self._job_table.jobs(unfinished=True)):
                    if len(self._running) >= self._concurrency:
                        break
                    if job.debate not in self._running:
                        self._begin(job.debate)
            except DisputatioError as failure:
                _LOG.warning("%s", failure)
            self._wake.clear()
            # Not wait_for, which in Python 3.11 forgets that it was cancelled when what it waits for comes at once.
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._wake.wait()

    def _begin(self, debate: str) -> None:
        task = self._running[debate] = asyncio.create_task(self._hold(debate), name=f"debate {debate}")

        def ended(_: asyncio.Task[None]) -> None:
            self._running.pop(debate, None)
            self._wake.set()

        task.add_done_callback(ended)

    async def _hold(self, debate: str) -> None:
        runtime = self._runtime(debate)
        try:
            await run_job(debate, self._batched_jobs, runtime, self._participants)
        except asyncio.CancelledError:
            await self._stopped(debate, runtime)
            raise
        except HeldElsewhereError:
            await asyncio.sleep(_LOOK_SECONDS)
        except DisputatioError as failure:
            # It stays due, and is tried again.
            _LOG.warning("debate %s: %s", debate, failure)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _stopped(self, debate: str, runtime: Runtime) -> None:
        try:
            if self._draining:
                await asyncio.to_thread(self._job_table.put_back, debate)
            else:
                await end_cancelled(debate, self._job_table, runtime)
        except DisputatioError as failure:
            _LOG.warning("debate %s: %s", debate, failure)
