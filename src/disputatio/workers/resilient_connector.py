"""Procrastinate's connector with patience: a server that is started anew must not end a worker and all its debates.

And in little steps: a worker that begins many debates waits for each answer of the server behind all else that its
event loop has to do. So a statement is one round trip, not four: no transaction around it, no question before it
whether the line still holds (it is repeated if not), and no waiting for the disk (the order is the truth, and what it
says of a debate is before it in the same log).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from procrastinate import PsycopgConnector
    from psycopg import AsyncConnection
    from sqlalchemy import URL

Value = TypeVar("Value")
_LOG = logging.getLogger("disputatio.worker")
PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.5
_CONNECT_SECONDS = 3.0


def patient_connector(url: URL) -> PsycopgConnector:
    """A connector to the database at ``url`` that waits for a server that is away."""
    from procrastinate import PsycopgConnector
    from psycopg_pool import AsyncConnectionPool

    class Patient(PsycopgConnector):
        """Repeats what was cut off. A job fetched so and lost is found by the worker's sweep."""

        async def execute_query_async(self, query: Any, **arguments: Any) -> None:
            await _patiently(lambda: super(Patient, self).execute_query_async(query, **arguments))

        async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
            return await _patiently(lambda: super(Patient, self).execute_query_one_async(query, **arguments))

        async def execute_query_all_async(self, query: Any, **arguments: Any) -> list[dict[str, Any]]:
            return await _patiently(lambda: super(Patient, self).execute_query_all_async(query, **arguments))

        async def listen_notify(self, on_notification: Any, channels: Any) -> None:
            while True:
                try:
                    await _patiently(lambda: super(Patient, self).listen_notify(on_notification, channels))
                except Exception as error:  # noqa: BLE001  (jobs are also looked for every second)
                    _LOG.warning(
                        "The queue: listening for jobs failed: %r. Trying again in a minute.", error.__cause__ or error
                    )
                    await asyncio.sleep(PATIENCE_SECONDS)

    def unchecked_pool(**options: Any) -> AsyncConnectionPool:
        return AsyncConnectionPool(**{**options, "check": None})

    conninfo = url.set(drivername="postgresql").render_as_string(hide_password=False)
    return Patient(
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


async def _patiently(ask: Callable[[], Awaitable[Value]]) -> Value:
    since, pause = time.monotonic(), 0.0
    while True:
        try:
            return await ask()
        except Exception as error:
            if not _is_away(error) or time.monotonic() - since > PATIENCE_SECONDS:
                raise
        await asyncio.sleep(pause)
        # At first it may be this one line that was cut, long ago.
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
