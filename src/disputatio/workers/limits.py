"""Limit calls to a provider, at once and per minute, counted over all workers.

A limit is a row of the database, named by a provider (``openai``) or one of its models (``openai:gpt-5``). A call needs
a lease of each limit that names it. Leases are granted in the order of request over all workers, so no call starves.
Each worker requests leases for all its calls in one transaction. Leases of a dead or stalled writer (see
``record.claims``) are given to others.

Calls per minute are paced: a limit saves up at most one second's worth, so any minute exceeds it by no more than that.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from disputatio.errors import DisputatioError
from disputatio.participants.model_seat import ModelSeating
from disputatio.record.database import store_errors
from disputatio.record.sql import SqlStore

if TYPE_CHECKING:
    from sqlalchemy import Connection

GONE_SECONDS = 5.0
"""A live writer that has not counted for this long loses its leases."""
_KNOWN_SECONDS = 2.0
_ROUND_SECONDS = 0.05
_LOG = logging.getLogger("disputatio.workers")


@dataclass(frozen=True, slots=True)
class Limit:
    """What one provider or model allows. None is no limit.

    Attributes:
        name: ``PROVIDER`` or ``PROVIDER:MODEL``.
        at_once: most calls in flight.
        per_minute: most calls a minute.
        under_way: calls in flight now.
        waiting: calls that wait.
    """

    name: str
    at_once: int | None
    per_minute: int | None
    under_way: int = 0
    waiting: int = 0


def list_limits(store: SqlStore) -> Sequence[Limit]:
    """All limits, with the calls in flight and waiting."""
    import sqlalchemy as sa

    from disputatio.record.tables import leases, provider_limits

    counts = sa.select(leases.c.name, leases.c.granted, sa.func.count()).group_by(leases.c.name, leases.c.granted)
    with store_errors(store.place), store.engine.begin() as connection:
        count = {(name, bool(granted)): number for name, granted, number in connection.execute(counts)}
        rows = connection.execute(provider_limits.select().order_by(provider_limits.c.name)).all()
    return [
        Limit(row.name, row.at_once, row.per_minute, count.get((row.name, True), 0), count.get((row.name, False), 0))
        for row in rows
    ]


def set_limit(store: SqlStore, name: str, at_once: int | None, per_minute: int | None) -> None:
    """Create, change or (with neither number) delete a limit. Workers follow within two seconds."""
    from disputatio.record.tables import provider_limits

    with store_errors(store.place), store.engine.begin() as connection:
        connection.execute(provider_limits.delete().where(provider_limits.c.name == name))
        if at_once is not None or per_minute is not None:
            row = {"name": name, "at_once": at_once, "per_minute": per_minute, "allowance": 1.0}
            connection.execute(provider_limits.insert(), {**row, "filled_at": _now(connection)})


@dataclass(eq=False, slots=True)
class _Waiter:
    name: str
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    lease: int | None = None
    left: bool = False


class SharedCallLimiter:
    """Limits the calls of this process as the database of ``store`` says."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        claims = store.writer_claims
        self._writer = claims.writer if claims else secrets.token_hex(8)
        self._known: frozenset[str] = frozenset()
        self._known_at = -_KNOWN_SECONDS
        self._waiters: list[_Waiter] = []
        self._done: list[int] = []
        self._reading = asyncio.Lock()
        self._wake = asyncio.Event()
        self._rounds: asyncio.Task[None] | None = None
        self._counts: dict[str, tuple[int | None, float]] = {}

    def slot(self, seating: ModelSeating) -> AbstractAsyncContextManager[None]:
        """Wait until a call to ``seating`` may be sent."""
        return self._passing(seating)

    async def aclose(self) -> None:
        """Release all leases. Safe to repeat."""
        rounds, self._rounds = self._rounds, None
        if rounds is not None:
            rounds.cancel()
            await asyncio.gather(rounds, return_exceptions=True)
            try:
                await asyncio.to_thread(self._release_all)
            except DisputatioError as failure:
                _LOG.debug("%s", failure)

    @asynccontextmanager
    async def _passing(self, seating: ModelSeating) -> AsyncIterator[None]:
        held: list[_Waiter] = []
        try:
            # Always the provider before its model, so that no two calls deadlock.
            for name in await self._names(seating):
                waiter = _Waiter(name)
                held.append(waiter)
                self._waiters.append(waiter)
                self._wake_up()
                await waiter.ready.wait()
            yield
        finally:
            for waiter in held:
                waiter.left = True
                if waiter in self._waiters:
                    self._waiters.remove(waiter)
                if waiter.lease is not None:
                    self._done.append(waiter.lease)
            if held:
                self._wake_up()

    async def _names(self, seating: ModelSeating) -> list[str]:
        async with self._reading:
            if time.monotonic() - self._known_at > _KNOWN_SECONDS:
                try:
                    self._known = frozenset(await asyncio.to_thread(self._read_names))
                except DisputatioError as failure:
                    # Keep the known limits until the database is back.
                    _LOG.debug("%s", failure)
                self._known_at = time.monotonic()
        return [name for name in (seating.provider, f"{seating.provider}:{seating.model}") if name in self._known]

    def _read_names(self) -> list[str]:
        import sqlalchemy as sa

        from disputatio.record.tables import provider_limits

        with store_errors(self._store.place), self._store.engine.begin() as connection:
            return list(connection.execute(sa.select(provider_limits.c.name)).scalars())

    def _wake_up(self) -> None:
        self._wake.set()
        if self._rounds is None:
            self._rounds = asyncio.create_task(self._serve())

    async def _serve(self) -> None:
        """Request and release leases in rounds, as long as there is something to do."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiters or self._done:
                waiters, done = list(self._waiters), list(self._done)
                try:
                    granted, gone = await asyncio.to_thread(self._round, waiters, done)
                except DisputatioError as failure:
                    _LOG.debug("%s", failure)
                    await asyncio.sleep(_ROUND_SECONDS * 10)
                    continue
                self._done = [lease for lease in self._done if lease not in done]
                for waiter in waiters:
                    if waiter.left and waiter.lease is not None:
                        # The caller was cancelled during the round.
                        self._done.append(waiter.lease)
                    elif waiter in self._waiters and (waiter.lease in granted or waiter.name in gone):
                        self._waiters.remove(waiter)
                        waiter.ready.set()
                if self._waiters:
                    await asyncio.sleep(_ROUND_SECONDS)

    def _round(self, waiters: list[_Waiter], done: list[int]) -> tuple[set[int], set[str]]:
        """One transaction: release ``done``, request leases for ``waiters``. Returns granted leases and gone limits."""
        import sqlalchemy as sa

        from disputatio.record.tables import leases, provider_limits

        names = sorted({waiter.name for waiter in waiters})
        asked: list[tuple[_Waiter, int]] = []
        with store_errors(self._store.place), self._store.engine.begin() as connection:
            if self._store.writer_claims is not None:
                # Others take the leases of writers that they do not see.
                self._store.writer_claims.register()
            if done:
                connection.execute(leases.delete().where(leases.c.id.in_(done)))
            if not names:
                return set(), set()
            query = provider_limits.select().where(provider_limits.c.name.in_(names))
            # One worker at a time for each limit.
            limits = connection.execute(query.order_by(provider_limits.c.name).with_for_update()).all()
            gone = set(names) - {row.name for row in limits}
            for waiter in waiters:
                if waiter.lease is None and waiter.name not in gone:
                    row = {"name": waiter.name, "writer": self._writer, "granted": False}
                    key = connection.execute(leases.insert(), row).inserted_primary_key
                    asked.append((waiter, key[0] if key else 0))
            for limit in limits:
                self._drop_dead(connection, limit.name)
                self._grant(connection, limit)
            mine = (leases.c.writer == self._writer) & leases.c.granted.is_(True)
            granted = set(connection.execute(sa.select(leases.c.id).where(mine)).scalars())
        for waiter, lease in asked:
            waiter.lease = lease
        return granted, gone

    def _grant(self, connection: Connection, limit: Any) -> None:
        """Grant free leases, first come, first served."""
        import sqlalchemy as sa

        from disputatio.record.tables import leases, provider_limits

        own = leases.c.name == limit.name
        waiting = list(
            connection.execute(sa.select(leases.c.id).where(own, leases.c.granted.is_(False)).order_by(leases.c.id))
            .scalars()
            .all()
        )
        room = len(waiting)
        if limit.at_once is not None:
            held = sa.select(sa.func.count()).where(own, leases.c.granted.is_(True))
            room = min(room, limit.at_once - (connection.execute(held).scalar() or 0))
        allowance, now = limit.allowance, limit.filled_at
        if limit.per_minute is not None:
            now = _now(connection)
            saved = max(1.0, limit.per_minute / 60)
            # A clock set back grants nothing; one set forward at most what may be saved up.
            allowance = min(saved, allowance + max(0.0, now - limit.filled_at) * limit.per_minute / 60)
            room = min(room, int(allowance))
            allowance -= max(room, 0)
            row = provider_limits.c.name == limit.name
            change = {"allowance": allowance, "filled_at": now}
            connection.execute(provider_limits.update().where(row), change)
        if room > 0:
            connection.execute(leases.update().where(leases.c.id.in_(waiting[:room])), {"granted": True})

    def _drop_dead(self, connection: Connection, name: str) -> None:
        """Delete the leases of writers that are dead or stalled."""
        import sqlalchemy as sa

        from disputatio.record.tables import leases, writers

        claims = self._store.writer_claims
        query = sa.select(leases.c.writer, writers.c.beats).outerjoin(writers, writers.c.id == leases.c.writer)
        others = {
            row.writer: row.beats
            for row in connection.execute(query.where(leases.c.name == name).distinct())
            if row.writer != self._writer
        }
        dead = claims.dead_writers(connection, others) if claims else set(others)
        for writer, beats in others.items():
            seen, since = self._counts.get(writer, (None, 0.0))
            if beats != seen or since == 0.0:
                self._counts[writer] = (beats, time.monotonic())
            elif time.monotonic() - since > GONE_SECONDS:
                dead.add(writer)
        if dead:
            connection.execute(leases.delete().where(leases.c.writer.in_(dead)))

    def _release_all(self) -> None:
        from disputatio.record.tables import leases

        with store_errors(self._store.place), self._store.engine.begin() as connection:
            connection.execute(leases.delete().where(leases.c.writer == self._writer))


def _now(connection: Connection) -> float:
    """Seconds of the clock that all workers share: the database server's."""
    if connection.dialect.name == "postgresql":
        return float(connection.exec_driver_sql("SELECT extract(epoch FROM clock_timestamp())").scalar() or 0)
    return time.time()
