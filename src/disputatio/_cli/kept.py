"""A store that a command only reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from disputatio.errors import StoreError, UnknownDebateError

if TYPE_CHECKING:
    from disputatio.record.sql import SqlStore
    from disputatio.record.store import Store


@contextmanager
def reading(url: str) -> Iterator[SqlStore]:
    """The store at ``url``, closed in the end: SQLite then takes away what it keeps beside the file."""
    import asyncio

    from disputatio.record.sql import SqlStore

    store = SqlStore(url, create=False)
    try:
        yield store
    finally:
        asyncio.run(store.aclose())


@contextmanager
def reading_debate(url: str, prefix: str) -> Iterator[tuple[Store, str]]:
    """A store that holds the one debate whose id begins with ``prefix``, and that id.

    Raises:
        UnknownDebateError: there is none, or several; or the one that was ordered has not started.
    """
    from disputatio.record.memory import load_from_file

    filed = load_from_file(url, prefix)
    if filed is not None:
        yield filed, filed.listed.id
        return
    with reading(url) as store:
        yield store, found_in(store, prefix)


def found_in(store: SqlStore, prefix: str) -> str:
    """The one debate with a record whose id begins with ``prefix``.

    Raises:
        UnknownDebateError: there is none, or several; or the one that was ordered has not started.
    """
    from disputatio.record.verified import find_debate

    try:
        return find_debate(store, prefix)
    except UnknownDebateError as unknown:
        failure = unknown
    if prefix and not store.find(prefix):
        from disputatio.workers.job_table import JobTable
        from disputatio.workers.port import not_started

        # A store that cannot be written to has no orders to ask for: reading them takes a lock.
        with suppress(StoreError):
            ordered = JobTable(store).without_record(prefix)
            failure = not_started(ordered[0]) if len(ordered) == 1 else failure
    raise failure
