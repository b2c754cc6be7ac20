"""Hands orders to workers through procrastinate, over the PostgreSQL that keeps the records.

The order and the job that brings it to a worker are written in one transaction. The job holds nothing but the debate's
id; what is due is told by the order (``desk``), and a lost job is made again from it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from disputatio.engine.ports import SystemClock
from disputatio.errors import InvalidInputError
from disputatio.kernel import JsonObject
from disputatio.record.database import store_failures
from disputatio.record.sql import SqlStore
from disputatio.workers.job_table import Desk
from disputatio.workers.port import QUEUE, Also, Job, JobState, Raised, nothing_more

if TYPE_CHECKING:
    from procrastinate import App
    from sqlalchemy import Connection

TASK = "disputatio.hold"
_MAKING = 0x64697372
"""The key of the lock under which procrastinate's tables are made; any number of its own."""


class QueueRunner:
    """A holder that runs nothing itself: ``disputatio worker`` does.

    Args:
        store: a PostgreSQL store.
        most_waiting: the size of a queue; None for no limit.

    Raises:
        InvalidInputError: the store is not PostgreSQL, or the extra ``workers`` is not installed.
        StoreError: the tables of the queue cannot be made.
    """

    def __init__(self, store: SqlStore, *, most_waiting: int | None = 1_000) -> None:
        check_queueable(store)
        self._desk, self._most_waiting = Desk(store), most_waiting
        self._jobs = submitting_app()
        make_queue_tables(store)

    async def submit(
        self,
        debate_id: str,
        order: JsonObject,
        *,
        priority: int = 0,
        queue: str = QUEUE,
        also: Also = nothing_more,
    ) -> None:
        """Take an order; it is durable when this returns."""
        job = Job(debate_id, JobState.WAITING, queue, priority, SystemClock().now())

        def deferred(connection: Connection) -> None:
            defer(self._jobs, job, connection)
            also(connection)

        await asyncio.to_thread(self._desk.take_in, job, order, self._most_waiting, deferred)

    async def cancel(self, debate_id: str) -> bool:
        """Have it stopped; the worker that holds it notices within a second."""
        return await asyncio.to_thread(self._desk.cancel, debate_id)

    async def resume(self, debate_id: str, raised: Raised, *, also: Also = nothing_more) -> bool:
        """Have a debate gone on with that is over."""

        def reopen() -> bool:
            job = self._desk.job(debate_id)
            if job is None:
                return False

            def deferred(connection: Connection) -> None:
                defer(self._jobs, job, connection)
                also(connection)

            return self._desk.reopen(debate_id, raised, deferred)

        return await asyncio.to_thread(reopen)

    async def job(self, debate_id: str) -> Job | None:
        """Where an order is."""
        return await asyncio.to_thread(self._desk.job, debate_id)

    async def jobs(self, *, unfinished: bool = False) -> Sequence[Job]:
        """All orders, or those that wait or run."""
        return await asyncio.to_thread(lambda: self._desk.jobs(unfinished=unfinished))

    async def aclose(self, drain_seconds: float = 0.0) -> None:
        """Nothing runs here."""


def check_queueable(store: SqlStore) -> None:
    """Refuse what cannot be shared by workers.

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
    """Procrastinate for those who only submit: its statements run on connections that they bring."""
    from procrastinate import App, SyncPsycopgConnector

    return App(connector=SyncPsycopgConnector())


def defer(app: App, job: Job, connection: Connection) -> None:
    """Make the job that brings an order to a worker, within the caller's transaction."""
    raw: Any = connection.connection.driver_connection
    configured = app.configure_task(
        TASK, queue=job.queue, priority=job.priority, queueing_lock=job.debate, connection=raw
    )
    configured.defer(debate=job.debate)


def make_queue_tables(store: SqlStore) -> None:
    """Make procrastinate's tables where they are missing.

    Raises:
        StoreError: they cannot be made.
    """
    from procrastinate.schema import SchemaManager

    with store_failures(store.place), store.engine.begin() as connection:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MAKING})")
        if connection.exec_driver_sql("SELECT to_regclass('procrastinate_jobs')").scalar() is None:
            raw: Any = connection.connection.driver_connection
            raw.execute(SchemaManager.get_schema())
