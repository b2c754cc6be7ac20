"""Summaries that readers computed from whole records, stored so that they need not be computed again.

A summary carries the hash of a record's last event and is current only while that is still the last event. Otherwise
the record is read again. Summaries are not part of a record: no chain covers them, archives omit them, and losing them
costs only time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from disputatio.record.store import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

_CURRENT: Final = (
    "SELECT s.debate, s.body FROM summaries s WHERE s.debate IN :debates AND s.version = :version AND s.head = "
    "(SELECT e.hash FROM events e WHERE e.debate = s.debate ORDER BY e.seq DESC LIMIT 1)"
)
_KEEP: Final = (
    "INSERT INTO summaries (debate, head, version, body) VALUES (:debate, :head, :version, :body) ON CONFLICT (debate) "
    "DO UPDATE SET head = excluded.head, version = excluded.version, body = excluded.body"
)
_PATIENCE_MS: Final = 250


class SummaryTable:
    """The summaries in one database.

    Args:
        engine: the database.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def current(self, debates: Sequence[str], version: int) -> Mapping[str, str]:
        """The current summaries of ``debates``; none where the database cannot say."""
        import sqlalchemy as sa
        from sqlalchemy.exc import SQLAlchemyError

        query = sa.text(_CURRENT).bindparams(sa.bindparam("debates", expanding=True))
        # A file that cannot be written may lack the table.
        with suppress(SQLAlchemyError), self._engine.connect() as connection:
            found = connection.execute(query, {"debates": list(debates), "version": version})
            return {str(row[0]): str(row[1]) for row in found}
        return {}

    def keep(self, summaries: Sequence[Summary]) -> None:
        """Store ``summaries`` if the database can be written."""
        from sqlalchemy.exc import SQLAlchemyError

        if not summaries:
            return
        with suppress(SQLAlchemyError), self._engine.connect() as connection, _short_timeout(connection):
            write_summaries(connection, summaries)
            connection.commit()


def write_summaries(connection: Connection, summaries: Sequence[Summary]) -> None:
    """Write ``summaries`` in the transaction of ``connection``, replacing earlier ones."""
    import sqlalchemy as sa

    rows = [{"debate": row.debate, "head": row.head, "version": row.version, "body": row.body} for row in summaries]
    connection.execute(sa.text(_KEEP), rows)


@contextmanager
def _short_timeout(connection: Connection) -> Iterator[None]:
    """Do not let a reader wait long for a writer of the file: a summary can be computed again."""
    if connection.dialect.name != "sqlite":
        yield
        return
    usual = connection.exec_driver_sql("PRAGMA busy_timeout").scalar()
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
    connection.commit()
    try:
        yield
    finally:
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(usual or 0)}")
        connection.commit()
