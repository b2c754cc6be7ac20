"""Stores in memory: one for debates that need not be kept, and one for a debate read from a file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from disputatio.errors import StoreError
from disputatio.record.chain import GENESIS, Sealed, split_events
from disputatio.record.claims import ProcessClaims
from disputatio.record.database import ROWS, debate_row, read_file
from disputatio.record.history import History
from disputatio.record.store import DebateRow, EventBatch, held_elsewhere_error

if TYPE_CHECKING:
    from sqlite3 import Connection


class MemoryStore:
    """Records that last as long as this object."""

    def __init__(self) -> None:
        self._events: dict[str, list[Sealed]] = {}
        self._texts: dict[str, dict[str, str]] = {}
        self._claims = ProcessClaims()

    def claim(self, debate: str) -> None:
        """Claim ``debate`` for the caller."""
        if not self._claims.take(debate):
            raise held_elsewhere_error(debate)

    def release(self, debate: str) -> None:
        """Release the claim."""
        self._claims.release(debate)

    def append(self, writing: EventBatch) -> asyncio.Future[None]:
        """Append events; the future is complete at once."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        chain = self._events.get(writing.debate, [])
        head = chain[-1].hash if chain else GENESIS
        if writing.events and (writing.events[0].seq, writing.events[0].previous) != (len(chain) + 1, head):
            done.set_exception(
                StoreError("Another process is writing this debate.", "Wait until it ends, then resume.")
            )
            return done
        self._events.setdefault(writing.debate, chain).extend(writing.events)
        self._texts.setdefault(writing.debate, {}).update(writing.texts)
        done.set_result(None)
        return done

    def read(self, debate: str, after: int = 0) -> Sequence[Sealed]:
        """The events of ``debate`` in order, from number ``after`` + 1 on."""
        return tuple(self._events.get(debate, ())[after:])

    def parts(self, debate: str, after: int = 0) -> Iterator[Sequence[Sealed]]:
        """The same as ``read``, in parts."""
        return split_events(self.read(debate, after))

    def texts(self, debate: str) -> Mapping[str, str]:
        """The texts of ``debate`` by hash."""
        return dict(self._texts.get(debate, {}))

    def debates(self) -> Sequence[DebateRow]:
        """All debates, newest first."""
        rows = [describe_debate(debate, chain) for debate, chain in self._events.items()]
        return sorted(rows, key=lambda row: row.opened_at, reverse=True)

    def row(self, debate: str) -> DebateRow | None:
        """The list entry of ``debate``."""
        chain = self._events.get(debate)
        return describe_debate(debate, chain) if chain else None

    def find(self, prefix: str) -> Sequence[str]:
        """The ids that begin with ``prefix``."""
        return [debate for debate in self._events if debate.startswith(prefix)]

    async def aclose(self) -> None:
        """Do nothing."""


def describe_debate(debate: str, chain: Sequence[Sealed]) -> DebateRow:
    """What a list of debates says of ``debate``, whose events are ``chain``; at least one."""
    history = History.of(sealed.event() for sealed in chain)
    opened = history.opened
    motion = str(opened.motion["text"]) if opened else ""
    name = opened.format if opened else ""
    parent = history.forked.parent if history.forked else ""
    return DebateRow(debate, chain[0].at, name, motion, history.status.value, len(chain), chain[-1].hash, parent)


EVENTS = (
    "SELECT debate, seq, at, kind, body, previous, hash FROM events "
    "WHERE debate = :debate AND seq > :after ORDER BY seq"
)
TEXTS = "SELECT hash, text FROM texts WHERE debate = :debate"


class LoadedDebate(MemoryStore):
    """A store of one debate, as a file had it at one moment.

    Args:
        listed: its entry in the list of the file.
        events: its events.
        texts: its texts by hash.
    """

    def __init__(self, listed: DebateRow, events: Sequence[Sealed], texts: Mapping[str, str]) -> None:
        super().__init__()
        self.listed = listed
        self._events[listed.id] = list(events)
        self._texts[listed.id] = dict(texts)

    def row(self, debate: str) -> DebateRow | None:
        """The list entry of the file, which may differ from the events."""
        return self.listed if debate == self.listed.id else None


def load_from_file(url: str, prefix: str) -> LoadedDebate | None:
    """Load the one debate in the SQLite file at ``url`` whose id begins with ``prefix``, without SQLAlchemy.

    None where the store has to be opened.
    """

    def found(connection: Connection) -> LoadedDebate | None:
        # Not LIKE, which ignores case.
        beginning = f"{ROWS} WHERE substr(id, 1, :length) = :prefix"
        rows = connection.execute(beginning, {"length": len(prefix), "prefix": prefix}).fetchall()
        if len(rows) != 1 or not prefix:
            return None
        listed = debate_row(rows[0])
        events = map(Sealed._make, connection.execute(EVENTS, {"debate": listed.id, "after": 0}))
        return LoadedDebate(listed, tuple(events), dict(connection.execute(TEXTS, {"debate": listed.id})))

    return read_file(url, found)
