"""Hand jobs to workers through procrastinate, in the PostgreSQL that keeps the records.

The request and its queue job are written in one transaction. A queue job holds only the debate id. The job table is the
source of truth, so a lost queue job can be recreated from it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from disputatio.engine.ports import SystemClock
from disputatio.errors import InvalidInputError
from disputatio.kernel import JsonObject
from disputatio.record.database import store_errors
from disputatio.record.sql import SqlStore
from disputatio.workers.job_table import JobTable
from disputatio.workers.port import QUEUE, Job, JobState, NewCeilings, TransactionHook, no_hook

if TYPE_CHECKING:
    from procrastinate import App, PsycopgConnector
    from psycopg import AsyncConnection
    from sqlalchemy import URL, Connection

TASK = "disputatio.hold"
_MAKING = 0x64697372
"""The advisory lock under which procrastinate's tables are created; an arbitrary number of our own."""


class QueueRunner:
    """A runner that runs nothing itself: ``disputatio worker`` does.

    Args:
        store: a PostgreSQL store.
        most_waiting: the size of a queue; None for no limit.

    Raises:
        InvalidInputError: the store is not PostgreSQL, or the extra ``workers`` is not installed.
        StoreError: the tables of the queue cannot be made.
    """

    def __init__(self, store: SqlStore, *, most_waiting: int | None = 1_000) -> None:
        check_queueable(store)
        self._job_table, self._most_waiting = JobTable(store), most_waiting
        self._jobs = submitting_app()
        make_queue_tables(store)

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
        job = Job(debate_id, JobState.WAITING, queue, priority, SystemClock().now())

        def deferred(connection: Connection) -> None:
            defer(self._jobs, job, connection)
            in_transaction(connection)

        await asyncio.to_thread(self._job_table.add_job, job, order, self._most_waiting, deferred)

    async def cancel(self, debate_id: str) -> bool:
        """Stop the debate; its worker notices within a second."""
        return await asyncio.to_thread(self._job_table.cancel, debate_id)

    async def resume(self, debate_id: str, raised: NewCeilings, *, in_transaction: TransactionHook = no_hook) -> bool:
        """Continue a debate whose job is over."""

        def reopen() -> bool:
            job = self._job_table.job(debate_id)
            if job is None:
                return False

            def deferred(connection: Connection) -> None:
                defer(self._jobs, job, connection)
                in_transaction(connection)

            return self._job_table.reopen(debate_id, raised, deferred)

        return await asyncio.to_thread(reopen)

    async def job(self, debate_id: str) -> Job | None:
        """The job of a debate."""
        return await asyncio.to_thread(self._job_table.job, debate_id)

    async def jobs(self, *, unfinished: bool = False) -> Sequence[Job]:
        """All jobs, or the unfinished ones."""
        return await asyncio.to_thread(lambda: self._job_table.jobs(unfinished=unfinished))

    async def aclose(self, drain_seconds: float = 0.0) -> None:
        """Do nothing: nothing runs here."""


def check_queueable(store: SqlStore) -> None:
    """Refuse a store that workers cannot share.

    Raises:
        InvalidInputError: the store is a file, or the library of the queue is not installed.
    """
    if store.engine.dialect.name != "postgresql":
        raise InvalidInputError(
            "Workers share a PostgreSQL database, and this store is a file of one machine.",
            "Give --store postgresql+psycopg://USER@HOST/NAME, or use disputatio serve, which needs no workers.",
        )
    try:
        import procrastinate  # noqa: F401
    except ImportError:
        raise InvalidInputError(
            "Workers need the library procrastinate, which is not installed.", "pip install 'disputatio[workers]'"
        ) from None


def submitting_app() -> App:
    """Procrastinate for processes that only submit: its statements run on the caller's connections."""
    from procrastinate import App, SyncPsycopgConnector

    return App(connector=SyncPsycopgConnector())


def defer(app: App, job: Job, connection: Connection) -> None:
    """Create the queue job of a debate, within the caller's transaction."""
    raw: Any = connection.connection.driver_connection
    configured = app.configure_task(
        TASK, queue=job.queue, priority=job.priority, queueing_lock=job.debate, connection=raw
    )
    configured.defer(debate=job.debate)


def make_queue_tables(store: SqlStore) -> None:
    """Create procrastinate's tables where they are missing.

    Raises:
        StoreError: they cannot be created.
    """
    from procrastinate.schema import SchemaManager

    with store_errors(store.place), store.engine.begin() as connection:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MAKING})")
        if connection.exec_driver_sql("SELECT to_regclass('procrastinate_jobs')").scalar() is None:
            raw: Any = connection.connection.driver_connection
            raw.execute(SchemaManager.get_schema())


Value = TypeVar("Value")
_LOG = logging.getLogger("disputatio.worker")
PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.5
_CONNECT_SECONDS = 3.0


def resilient_connector(url: URL) -> PsycopgConnector:
    """A connector to the database at ``url`` that waits while the server is away, so a restart does not end the worker.

    Each statement is one round trip: no transaction, no check of the connection (statements are retried instead), and
    no wait for the disk. A worker that starts many debates waits for each answer behind everything else in its event
    loop. The job table is the source of truth, and its rows come earlier in the same log.
    """
    from procrastinate import PsycopgConnector
    from psycopg_pool import AsyncConnectionPool

    class ResilientConnector(PsycopgConnector):
        """Repeats statements that were cut off. The worker's sweep finds jobs that were fetched and lost."""

        async def execute_query_async(self, query: Any, **arguments: Any) -> None:
            await _retry_while_away(lambda: super(ResilientConnector, self).execute_query_async(query, **arguments))

        async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
            return await _retry_while_away(
                lambda: super(ResilientConnector, self).execute_query_one_async(query, **arguments)
            )

        async def execute_query_all_async(self, query: Any, **arguments: Any) -> list[dict[str, Any]]:
            return await _retry_while_away(
                lambda: super(ResilientConnector, self).execute_query_all_async(query, **arguments)
            )

        async def listen_notify(self, on_notification: Any, channels: Any) -> None:
            while True:
                try:
                    await _retry_while_away(
                        lambda: super(ResilientConnector, self).listen_notify(on_notification, channels)
                    )
                except Exception as error:  # noqa: BLE001  (jobs are also looked for every second)
                    _LOG.warning(
                        "The queue: listening for jobs failed: %r. Trying again in a minute.", error.__cause__ or error
                    )
                    await asyncio.sleep(PATIENCE_SECONDS)

    def unchecked_pool(**options: Any) -> AsyncConnectionPool:
        return AsyncConnectionPool(**{**options, "check": None})

    conninfo = url.set(drivername="postgresql").render_as_string(hide_password=False)
    return ResilientConnector(
        pool_factory=unchecked_pool,
        conninfo=conninfo,
        configure=_one_round_trip,
        min_size=1,
        max_size=4,
        timeout=_CONNECT_SECONDS,
    )


async def _one_round_trip(connection: AsyncConnection[Any]) -> None:
    await connection.set_autocommit(True)
    await connection.execute("SET synchronous_commit TO OFF")


async def _retry_while_away(ask: Callable[[], Awaitable[Value]]) -> Value:
    since, pause = time.monotonic(), 0.0
    while True:
        try:
            return await ask()
        except Exception as error:
            if not _is_away(error) or time.monotonic() - since > PATIENCE_SECONDS:
                raise
        await asyncio.sleep(pause)
        # The first failure may be an old broken connection, so retry it at once.
        pause = _PAUSE_SECONDS


def _is_away(error: BaseException | None) -> bool:
    import psycopg
    import psycopg_pool

    while error is not None:
        if isinstance(error, psycopg_pool.PoolTimeout):
            return True
        if isinstance(error, psycopg.OperationalError) and (error.sqlstate or "08").startswith(("08", "57P")):
            return True
        error = error.__cause__ or error.__context__
    return False
