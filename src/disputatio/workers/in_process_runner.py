"""Run debates in this process, as tasks of its event loop: enough for one machine."""

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
    """A runner whose debates run here. At its start it continues jobs that an earlier process left unfinished.

    Args:
        store: where jobs and records are.
        concurrency: most debates at once.
        runtime: what the debate of an id runs in; the store alone where not given.
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
        """Begin to run debates. Safe to repeat."""
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
        """Store a request; it is durable on return."""
        await self.start()
        job = Job(debate_id, JobState.WAITING, queue, priority, SystemClock().now())
        await asyncio.to_thread(self._job_table.add_job, job, order, self._most_waiting, in_transaction)
        self._wake.set()

    async def cancel(self, debate_id: str) -> bool:
        """Stop the debate. Another process that runs it notices within a second."""
        asked = await asyncio.to_thread(self._job_table.cancel, debate_id)
        task = self._running.get(debate_id)
        if asked and task is not None:
            task.cancel(CANCELLED)
        return asked

    async def resume(self, debate_id: str, raised: NewCeilings, *, in_transaction: TransactionHook = no_hook) -> bool:
        """Continue a debate whose job is over."""
        await self.start()
        reopened = await asyncio.to_thread(self._job_table.reopen, debate_id, raised, in_transaction)
        self._wake.set()
        return reopened

    async def job(self, debate_id: str) -> Job | None:
        """The job of a debate."""
        return await asyncio.to_thread(self._job_table.job, debate_id)

    async def jobs(self, *, unfinished: bool = False) -> Sequence[Job]:
        """All jobs, or the unfinished ones."""
        return await asyncio.to_thread(lambda: self._job_table.jobs(unfinished=unfinished))

    async def aclose(self, drain_seconds: float = 0.0) -> None:
        """Let running debates end for ``drain_seconds``, then interrupt them. A later process continues them."""
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
        """Start waiting jobs; stop those that were cancelled elsewhere."""
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
            # Not wait_for: in Python 3.11 it may swallow a cancellation when its future completes at the same time.
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
            # It stays due and is retried.
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
