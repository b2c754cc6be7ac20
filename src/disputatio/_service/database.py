"""Opens the tables of the service, and upgrades those that an older version wrote; nothing is lost.

Versions before ``service_runs`` noted once for each debate what it may spend and has spent, on the day it was ordered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from disputatio._service.tables import day_of, keys, owned, runs, spending
from disputatio.engine.ports import SystemClock
from disputatio.record.database import open_database, store_errors
from disputatio.record.tables import events

if TYPE_CHECKING:
    from sqlalchemy import Connection

_WRITING = 0x64737076
"""The key of the lock that a writer holds in PostgreSQL; any number of its own."""


class Database:
    """The database of a store, for the tables of the service.

    Args:
        url: the store's address.

    Raises:
        StoreError, InvalidInputError: as ``open_database``.
    """

    def __init__(self, url: str) -> None:
        from disputatio._service.tables import metadata

        self._engine = open_database(url)
        self._place = self._engine.url.render_as_string(hide_password=True)
        with self.writing() as connection:
            metadata.create_all(connection, [row for row in metadata.sorted_tables if self.is_shared or not row.info])
            upgrade(connection)

    @property
    def is_shared(self) -> bool:
        """Whether servers on other machines may use it too."""
        return self._engine.dialect.name == "postgresql"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read with."""
        with store_errors(self._place), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is alone: what it reads is still so when it writes."""
        with store_errors(self._place), self._engine.begin() as connection:
            if self._engine.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            self.join(connection)
            yield connection

    def join(self, connection: Connection) -> None:
        """Give an open transaction of another owner on the same database the writer's lock until it ends.

        In SQLite it must be one that writes: no other does then.
        """
        if self._engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITING})")

    @contextmanager
    def counting(self) -> Iterator[Connection]:
        """A connection in which each statement is a transaction."""
        with store_errors(self._place), self._engine.connect() as connection:
            yield connection.execution_options(isolation_level="AUTOCOMMIT")

    def now(self) -> datetime:
        """The time, UTC: by the clock that records are stamped with."""
        return datetime.fromisoformat(SystemClock().now())

    def stamped_now(self) -> str:
        """The time as rows keep it."""
        return stamp(self.now())

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()


def stamp(moment: datetime) -> str:
    """``moment`` as rows keep it: texts that sort like times."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def upgrade(connection: Connection) -> None:
    """Widen what was too narrow, and enter every debate without a run into the ledger. Safe to repeat."""
    if connection.dialect.name == "postgresql":
        columns = {row["name"]: row for row in sa.inspect(connection).get_columns(keys.name)}
        if not isinstance(columns["budget_tokens"]["type"], sa.BigInteger):
            connection.exec_driver_sql("ALTER TABLE service_keys ALTER COLUMN budget_tokens TYPE BIGINT")
    known = sa.select(runs.c.id).where(runs.c.debate == owned.c.debate).exists()
    for row in connection.execute(sa.select(owned).where(~known)).mappings().all():
        _enter(connection, row)


def _enter(connection: Connection, row: Any) -> None:
    """One run for all spending on a debate: earlier versions did not store which key caused it."""
    ceiling, spent = (None if row[name] is None else Decimal(row[name]) for name in ("ceiling_usd", "spent_usd"))
    run = {"debate": row["debate"], "key": row["key"], "owner": row["key"], "began_at": row["asked_at"], "after": 0}
    settled = row["spent_tokens"] is not None and not _went_on_later(connection, row)
    if settled:
        run["ended_at"] = row["asked_at"]
    else:
        # It counts with its ceilings, or with what was noted, until the record says on which days it was spent.
        run["held_usd"] = ceiling if spent is None else spent
        run["held_tokens"] = row["ceiling_tokens"] if row["spent_tokens"] is None else row["spent_tokens"]
    number = connection.execute(runs.insert().returning(runs.c.id), run).scalar_one()
    if settled and (spent or row["spent_tokens"]):
        booked = {"run": number, "day": day_of(row["asked_at"]), "tokens": row["spent_tokens"]}
        connection.execute(spending.insert(), {**booked, "usd": spent or Decimal(0)})


def _went_on_later(connection: Connection, row: Any) -> bool:
    """Whether the record of a debate has events of a later day than its order."""
    query = sa.select(events.c.at).where(events.c.debate == row["debate"]).order_by(events.c.seq.desc()).limit(1)
    last = connection.execute(query).scalar()
    return last is not None and day_of(last) > day_of(row["asked_at"])
