"""What readers computed from whole records, kept beside them, so that it need not be computed from all events again.

A summary belongs to the hash of a record's last event. It counts as current only while that is still the last event
of the record: whatever is appended, attached or removed makes it stale, and the record is read again. A summary is no
part of the record: no chain covers it, an archive leaves it out, and losing all of them costs time and nothing else.
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
        """Those of ``debates`` that are current; none where the database cannot say."""
        import sqlalchemy as sa
        from sqlalchemy.exc import SQLAlchemyError

        query = sa.text(_CURRENT).bindparams(sa.bindparam("debates", expanding=True))
        # A file that cannot be written may lack the table.
        with suppress(SQLAlchemyError), self._engine.connect() as connection:
            found = connection.execute(query, {"debates": list(debates), "version": version})
            return {str(row[0]): str(row[1]) for row in found}
        return {}

    def keep(self, summaries: Sequence[Summary]) -> None:
        """Keep ``summaries``, where the database can be written to."""
        from sqlalchemy.exc import SQLAlchemyError

        if not summaries:
            return
        with suppress(SQLAlchemyError), self._engine.connect() as connection, _short_timeout(connection):
            write_summaries(connection, summaries)
            connection.commit()


def write_summaries(connection: Connection, summaries: Sequence[Summary]) -> None:
    """Write ``summaries`` in the transaction of ``connection``; each takes the place of an earlier one."""
    import sqlalchemy as sa

    rows = [{"debate": row.debate, "head": row.head, "version": row.version, "body": row.body} for row in summaries]
    connection.execute(sa.text(_KEEP), rows)


@contextmanager
def _short_timeout(connection: Connection) -> Iterator[None]:
    """Let a reader wait for no long writing of others in a file: what it would keep can be computed again."""
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
