"""Reads a file of records without the library that opens every database, and lists its debates.

``disputatio list`` and ``show`` are typed often and ask little: a few rows of a file that this version wrote. Python's
own driver reads them in a moment; importing SQLAlchemy takes longer. Everything else (another database, older tables, a
file that cannot be written, a failure) is left to the store, which does what there is to do and says what is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from disputatio.record.database import as_text
from disputatio.record.revisions import REVISION
from disputatio.record.store import DebateRow

if TYPE_CHECKING:
    from sqlite3 import Connection

_PREFIX = "sqlite:///"
_OF_AN_ADDRESS = frozenset("?%#")
"""Signs that mean something in an address and may stand in a path."""
ROWS = "SELECT id, opened_at, format, motion, status, events, head FROM debates"
"""The list of debates in the order of the fields of ``DebateRow``; the store asks with the same words."""
NEWEST_FIRST = f"{ROWS} ORDER BY opened_at DESC, id"
Found = TypeVar("Found")


def listed_in_file(url: str) -> Sequence[DebateRow] | None:
    """The debates of the SQLite file at ``url``, newest first, or None where the store has to be opened for them."""
    return read_file(url, lambda connection: [DebateRow(*row) for row in connection.execute(NEWEST_FIRST)])


def _is_usual(path: Path) -> bool:
    """Whether it is a file in which, and beside which, SQLite may write as it does for every reader."""
    try:
        return path.is_file() and os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    except (OSError, ValueError):
        return False


def read_file(url: str, query: Callable[[Connection], Found | None]) -> Found | None:
    """What ``query`` finds in the file, as it is at one moment; None where this is not the way to read it."""
    path = Path(url.removeprefix(_PREFIX))
    if not url.startswith(_PREFIX) or _OF_AN_ADDRESS & set(url) or not _is_usual(path):
        return None
    import sqlite3

    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.text_factory = as_text
            connection.execute("BEGIN")
            if connection.execute("SELECT version_num FROM alembic_version").fetchall() != [(REVISION,)]:
                return None
            return query(connection)
    except sqlite3.Error:
        return None
