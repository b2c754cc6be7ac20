"""One debate, read from a file without the library that opens every database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from disputatio.record.chain import Sealed
from disputatio.record.listing import ROWS, read_file
from disputatio.record.memory import MemoryStore
from disputatio.record.store import DebateRow

if TYPE_CHECKING:
    from sqlite3 import Connection

EVENTS = (
    "SELECT debate, seq, at, kind, body, previous, hash FROM events "
    "WHERE debate = :debate AND seq > :after ORDER BY seq"
)
TEXTS = "SELECT hash, text FROM texts WHERE debate = :debate"


class FiledDebate(MemoryStore):
    """A store of one debate, as a file held it at one moment.

    Args:
        listed: what the list of the file says of it.
        events: its events.
        texts: its texts by hash.
    """

    def __init__(self, listed: DebateRow, events: Sequence[Sealed], texts: Mapping[str, str]) -> None:
        super().__init__()
        self.listed = listed
        self._events[listed.id] = list(events)
        self._texts[listed.id] = dict(texts)

    def row(self, debate: str) -> DebateRow | None:
        """What the list of the file says, which need not be what the events say."""
        return self.listed if debate == self.listed.id else None


def debate_in_file(url: str, prefix: str) -> FiledDebate | None:
    """The one debate in the SQLite file at ``url`` whose id begins with ``prefix``; None where the store has to say."""

    def found(connection: Connection) -> FiledDebate | None:
        # Not LIKE, which takes capitals for small letters.
        beginning = f"{ROWS} WHERE substr(id, 1, :length) = :prefix"
        rows = connection.execute(beginning, {"length": len(prefix), "prefix": prefix}).fetchall()
        if len(rows) != 1 or not prefix:
            return None
        listed = DebateRow(*rows[0])
        events = map(Sealed._make, connection.execute(EVENTS, {"debate": listed.id, "after": 0}))
        return FiledDebate(listed, tuple(events), dict(connection.execute(TEXTS, {"debate": listed.id})))

    return read_file(url, found)
