"""A worker: runs waiting debates of one PostgreSQL together with other workers.

Procrastinate delivers jobs and detects dead workers by heartbeat. The worker corrects what that may get wrong: the job
table says whether a debate is due, and its claim says who may write it. Every second a worker

- gives jobs of dead workers to others (never right after a server outage: then all heartbeats are old),
- returns jobs that were fetched for it and never arrived,
- recreates queue jobs that are missing,
- stops cancelled debates.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from disputatio.engine.ports import NullObserver, Observer, SystemClock
from disputatio.engine.runtime import Runtime
from disputatio.errors import DisputatioError, HeldElsewhereError, StoreError, TakenOverError
from disputatio.participants.batch.collector import BatchCollector
from disputatio.record.batches import SqlBatchBook
from disputatio.record.database import store_errors
from disputatio.record.sql import SqlStore
from disputatio.workers.batched_job_table import BatchedJobTable
from disputatio.workers.job_table import JobTable
from disputatio.workers.limits import SharedCallLimiter
from disputatio.workers.port import QUEUE, Job, JobState
from disputatio.workers.questions import QuestionTable, RemoteSurface
from disputatio.workers.queue_runner import TASK, check_queueable, defer, make_queue_tables, submitting_app
from disputatio.workers.runner import CANCELLED, JobOutcome, end_cancelled, revoke_stalled_claim, run_job

if TYPE_CHECKING:
    from procrastinate import App
    from procrastinate.worker import Worker as QueueWorker

HEARTBEAT_SECONDS = 1.0
DEAD_SECONDS = 5.0
"""A worker without a heartbeat for this long counts as dead."""
SWEEP_SECONDS = 1.0
_STEADY_SECONDS = 8.0
_AGAIN_SECONDS = 3
_GATHER_SECONDS = 5.0
"""How long no new call has come before a batch leaves."""
_REPORT_SECONDS = 60.0
"""How often a lasting failure is reported."""
_LOG = logging.getLogger("disputatio.worker")


class Worker:
    """Runs debates until it is stopped.

    Args:
        store: a PostgreSQL store.
        queues: the queues it takes jobs from.
        concurrency: most debates at once.
        drain_seconds: how long debates may continue after ``stop``; then they are put back.
        observer: sees all its debates.

    Raises:
        InvalidInputError, StoreError: as ``QueueRunner``.
    """

    def __init__(
        self,
        store: SqlStore,
        *,
        queues: Sequence[str] = (QUEUE,),
        concurrency: int = 20,
        drain_seconds: float = 30.0,
        observer: Observer | None = None,
        batch: bool = False,
    ) -> None:
        check_queueable(store)
        make_queue_tables(store)
        self._store, self._queues = store, tuple(queues)
        self._job_table, self._batched_jobs = JobTable(store), BatchedJobTable(store)
        self._concurrency, self._drain_seconds = concurrency, drain_seconds
        self._call_limiter = SharedCallLimiter(store)
        self._people = RemoteSurface(QuestionTable(store))
        self._runtime = Runtime(store, observer=observer or NullObserver(), call_limiter=self._call_limiter)
        self._batches = self._collector() if batch else None
        if self._batches is not None:
            self._runtime = replace(self._runtime, batches=self._batches, client_factory=self._batches.open)
        self._submitting = submitting_app()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._jobs: set[int] = set()
        self._strays: set[int] = set()
        self._cancelling: set[str] = set()
        self._inner: QueueWorker | None = None
        self._stopping = asyncio.Event()
        self._steady_since = time.monotonic() - _STEADY_SECONDS

    def _collector(self) -> BatchCollector:
        """What sends the calls of all debates here in batches. Jobs come one by one, so it waits longer for more."""
        book = SqlBatchBook(self._store)
        return BatchCollector(book, clock=SystemClock(), quiet_s=_GATHER_SECONDS, on_note=_LOG.info)

    @property
    def holds(self) -> Sequence[str]:
        """The debates that run here now."""
        return tuple(self._running)

    def stop(self) -> None:
        """Take no more jobs, and let running debates continue for ``drain_seconds``. A second call puts them back at
        once.
        """
        if self._stopping.is_set():
            for task in self._running.values():
                task.cancel("the worker was stopped")
        self._stopping.set()
        if self._inner is not None:
            self._inner.stop()  # type: ignore[no-untyped-call]

    async def run(self) -> None:
        """Run debates until ``stop``, waiting for a database that is away.

        Raises:
            StoreError: the database cannot be reached at the start.
        """
        claims = self._store.writer_claims
        assert claims is not None  # noqa: S101  (PostgreSQL has them)
        claims.register()
        asyncio.get_running_loop().set_exception_handler(_report)
        sweeping = asyncio.create_task(self._sweep_on())
        try:
            while not self._stopping.is_set():
                try:
                    await self._run_queue()
                except Exception as error:  # noqa: BLE001  (whatever the queue's library raises, the worker continues)
                    _LOG.warning("The queue failed: %s. Trying again.", _cause(error))
                # It may also have stopped and reported why.
                with suppress(TimeoutError):
                    async with asyncio.timeout(1.0):
                        await self._stopping.wait()
        finally:
            sweeping.cancel()
            await asyncio.gather(sweeping, return_exceptions=True)
            await self._call_limiter.aclose()
            if self._batches is not None:
                await self._batches.aclose()

    async def _run_queue(self) -> None:
        from procrastinate.worker import Worker as QueueWorker

        app = self._app()
        async with app.open_async():
            self._inner = _with_lasting_heartbeat(QueueWorker)(
                app,
                queues=list(self._queues),
                concurrency=self._concurrency,
                fetch_job_polling_interval=1.0,
                abort_job_polling_interval=60.0,
                shutdown_graceful_timeout=self._drain_seconds,
                delete_jobs="always",
                install_signal_handlers=False,
                update_heartbeat_interval=HEARTBEAT_SECONDS,
                stalled_worker_timeout=DEAD_SECONDS,
            )
            if self._stopping.is_set():
                return
            try:
                await self._inner.run()  # type: ignore[no-untyped-call]
            finally:
                self._inner = None

    def _app(self) -> App:
        from procrastinate import App
        from procrastinate.retry import BaseRetryStrategy, RetryDecision

        from disputatio.workers.queue_runner import resilient_connector

        class RetryStrategy(BaseRetryStrategy):
            """Retry every job that was not noted as over."""

            def get_retry_decision(self, *, exception: BaseException, job: Any) -> RetryDecision:  # noqa: ARG002
                if isinstance(exception, asyncio.CancelledError):
                    return RetryDecision(retry_at=datetime.now(UTC))
                return RetryDecision(retry_in={"seconds": _AGAIN_SECONDS})

        app = App(connector=resilient_connector(self._store.engine.url))
        app.task(name=TASK, retry=RetryStrategy(), pass_context=True)(self._job)
        return app

    async def _job(self, context: Any, debate: str) -> None:
        if debate in self._running:
            # Delivered twice; the first delivery finishes it.
            return
        task = self._running[debate] = asyncio.create_task(self._hold(debate), name=f"debate {debate}")
        self._jobs.add(context.job.id)
        try:
            await task
        finally:
            self._running.pop(debate, None)
            self._jobs.discard(context.job.id)
            self._cancelling.discard(debate)

    async def _hold(self, debate: str) -> None:
        runtime = self._runtime
        try:
            _LOG.info("%s begins", debate)
            try:
                ended = await run_job(debate, self._batched_jobs, runtime, self._people.people, patient=True)
            except HeldElsewhereError:
                await revoke_stalled_claim(self._store, debate)
                ended = await run_job(debate, self._batched_jobs, runtime, self._people.people, patient=True)
            if ended is not None:
                _LOG.info("%s ended: %s", debate, _describe(ended))
        except asyncio.CancelledError:
            if debate in self._cancelling:
                await end_cancelled(debate, self._job_table, runtime)
                _LOG.info("%s was cancelled", debate)
                return
            _LOG.info("%s is put back", debate)
            with suppress(StoreError):
                await asyncio.to_thread(self._job_table.put_back, debate)
            raise
        except HeldElsewhereError:
            raise
        except TakenOverError as failure:
            _LOG.warning("%s", failure.cause)
        except DisputatioError as failure:
            _LOG.warning("debate %s: %s Trying again.", debate, failure.cause)
            raise
        except Exception as error:
            # The queue retries it too, silently.
            _LOG.warning("debate %s: %s. Trying again.", debate, _cause(error))
            raise

    async def _sweep_on(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            try:
                await self._stop_cancelled()
                await asyncio.to_thread(self._sweep)
            except Exception as error:  # noqa: BLE001  (the database may be away; the next sweep makes it good)
                self._steady_since = time.monotonic()
                _LOG.debug("sweep: %s", error)

    async def _stop_cancelled(self) -> None:
        for debate in await asyncio.to_thread(self._job_table.cancelled, list(self._running)):
            if debate not in self._cancelling and debate in self._running:
                self._cancelling.add(debate)
                self._running[debate].cancel(CANCELLED)

    def _sweep(self) -> None:
        with store_errors(self._store.place), self._store.engine.begin() as connection:
            young = connection.exec_driver_sql(_SERVER_IS_YOUNG, {"steady": _STEADY_SECONDS}).scalar()
            if young or time.monotonic() - self._steady_since < _STEADY_SECONDS:
                return
            for (job,) in connection.exec_driver_sql(_JOBS_OF_THE_DEAD, {"dead": DEAD_SECONDS}).all():
                connection.exec_driver_sql(_RETRY, {"job": job})
            self._retry_strays(connection)
            missing = connection.exec_driver_sql(_WITHOUT_JOB, {"queues": list(self._queues)}).all()
            waiting = {row.debate: row for row in self._job_table.jobs(unfinished=True)} if missing else {}
            for (debate,) in missing:
                row: Job | None = waiting.get(debate)
                if row is not None:
                    defer(self._submitting, row, connection)

    def _retry_strays(self, connection: Any) -> None:
        """Retry jobs that were fetched for this worker and lost with a connection: missing in two sweeps."""
        inner = self._inner
        if inner is None or inner.worker_id is None:
            return
        own = {job for (job,) in connection.exec_driver_sql(_JOBS_OF, {"worker": inner.worker_id})}
        strays = own - self._jobs
        for job in strays & self._strays:
            connection.exec_driver_sql(_RETRY, {"job": job})
        self._strays = strays - self._strays


def _with_lasting_heartbeat(queue_worker: type[QueueWorker]) -> type[QueueWorker]:
    """``queue_worker`` with a heartbeat that continues after a failure.

    Procrastinate means to stop a worker whose heartbeat ended, but checks only until its first task ends: that of
    periodic jobs, at once. Other workers take a worker without a heartbeat for dead.
    """

    class Lasting(queue_worker):  # type: ignore[valid-type,misc]
        async def _update_heartbeat(self) -> None:
            reported, reported_at = "", 0.0
            while True:
                try:
                    await super()._update_heartbeat()
                except Exception as error:  # noqa: BLE001  (whatever it is, the next beat is tried)
                    cause = _cause(error)
                    if cause != reported or time.monotonic() - reported_at > _REPORT_SECONDS:
                        reported, reported_at = cause, time.monotonic()
                        _LOG.warning("The queue: the heartbeat of this worker failed: %s. Trying again.", cause)

    return Lasting


class QueueReports(logging.Handler):
    """Reports each error of procrastinate's own tasks in one line. The worker itself reports on jobs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)

    def emit(self, record: logging.LogRecord) -> None:
        """Report one record, unless it is about a job."""
        if not str(getattr(record, "action", "")).startswith("job_"):
            error = record.exc_info[1] if record.exc_info else None
            what = " ".join(record.getMessage().split())[:200]
            _LOG.warning("The queue: %s%s", what, f" ({_cause(error)})" if error else "")


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report the exception of an abandoned task in one line; with its traceback in debug mode."""
    error = context.get("exception")
    _LOG.warning("%s: %s", context.get("message"), _cause(error) if error else "no exception")
    if os.environ.get("DISPUTATIO_DEBUG"):
        loop.default_exception_handler(context)


def _describe(ended: JobOutcome) -> str:
    finished = ended.finished
    told = (ended.status if finished.state is JobState.ENDED else None) or finished.state.value
    return f"{told}. {finished.reason}" if finished.reason else told


def _cause(error: BaseException) -> str:
    """What is at the bottom of an exception, in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


_SERVER_IS_YOUNG = "SELECT clock_timestamp() - pg_postmaster_start_time() < make_interval(secs => %(steady)s)"
_JOBS_OF_THE_DEAD = """
    SELECT job.id FROM procrastinate_jobs job LEFT JOIN procrastinate_workers worker ON worker.id = job.worker_id
    WHERE job.status = 'doing' AND job.task_name = 'disputatio.hold'
    AND (worker.id IS NULL OR worker.last_heartbeat < now() - make_interval(secs => %(dead)s))
    FOR UPDATE OF job SKIP LOCKED
"""
_RETRY = "SELECT procrastinate_retry_job_v2(%(job)s, now(), NULL, NULL, NULL)"
_JOBS_OF = "SELECT id FROM procrastinate_jobs WHERE worker_id = %(worker)s AND status = 'doing'"
_WITHOUT_JOB = """
    SELECT debate FROM orders WHERE state IN ('WAITING', 'RUNNING') AND queue = ANY(%(queues)s)
    AND NOT EXISTS (
        SELECT 1 FROM procrastinate_jobs job WHERE job.queueing_lock = orders.debate AND job.status IN ('todo', 'doing')
    )
"""
