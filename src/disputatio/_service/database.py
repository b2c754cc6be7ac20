"""The service's own rows: opened once, written in transactions that nobody else can come between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from disputatio.record.database import open_database, store_failures

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

    @property
    def is_shared(self) -> bool:
        """Whether servers on other machines may stand over it too."""
        return self._engine.dialect.name == "postgresql"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read with."""
        with store_failures(self._place), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is alone: what it reads is still so when it writes."""
        with store_failures(self._place), self._engine.begin() as connection:
            if self._engine.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            elif self._engine.dialect.name == "postgresql":
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITING})")
            yield connection

    @contextmanager
    def counting(self) -> Iterator[Connection]:
        """A connection whose statements each stand for themselves."""
        with store_failures(self._place), self._engine.connect() as connection:
            yield connection.execution_options(isolation_level="AUTOCOMMIT")

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()


def now() -> datetime:
    """The time, UTC."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """``moment`` as rows keep it: texts that sort like times."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
