"""A store that a command only reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from disputatio.record.sql import SqlStore


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
