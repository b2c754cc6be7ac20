"""The service's own rows: opened once, written in transactions that nobody else can come between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from disputatio.engine.ports import SystemClock
from disputatio.record.database import open_database, store_errors

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
        from disputatio._service.upgrading import upgrade

        self._engine = open_database(url)
        self._place = self._engine.url.render_as_string(hide_password=True)
        with self.writing() as connection:
            metadata.create_all(connection, [row for row in metadata.sorted_tables if self.is_shared or not row.info])
            upgrade(connection)

    @property
    def is_shared(self) -> bool:
        """Whether servers on other machines may stand over it too."""
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
        """Make a transaction that somebody else began on the same database alone too, until it ends.

        In SQLite it must be one that writes: no other does then.
        """
        if self._engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITING})")

    @contextmanager
    def counting(self) -> Iterator[Connection]:
        """A connection whose statements each stand for themselves."""
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
