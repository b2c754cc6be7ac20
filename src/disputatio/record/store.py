"""The port to where records are kept. A store appends, reads and lists; it never changes an event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from disputatio.errors import HeldElsewhereError, TakenOverError

if TYPE_CHECKING:
    import asyncio

    from disputatio.record.chain import Sealed


SUMMARIES_AT_ONCE = 500
"""Debates of one query: older builds of SQLite take 999 values."""


@dataclass(frozen=True, slots=True)
class DebateRow:
    """A debate in a list.

    ``events`` and ``head`` anchor its chain: how long it was, and its last hash, when the status last changed or
    something was attached.
    """

    id: str
    opened_at: str
    format: str
    motion: str
    status: str
    events: int
    head: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What a record comes to as of its last event.

    Attributes:
        debate: the id of the debate.
        head: the hash of that event.
        version: of the rules by which it was computed.
        body: it, as JSON.
    """

    debate: str
    head: str
    version: int
    body: str


class Summaries(Protocol):
    """The summaries that a store keeps beside its records. Failures are never raised: a record can be read instead."""

    def current(self, debates: Sequence[str], version: int) -> Mapping[str, str]:
        """The bodies of those summaries of ``debates`` that are of ``version`` and of the record's last event.

        Args:
            debates: ids, at most ``SUMMARIES_AT_ONCE`` of them.
            version: of the rules by which they were computed.
        """

    def keep(self, summaries: Sequence[Summary]) -> None:
        """Keep ``summaries`` in the place of earlier ones of their debates."""


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events to append to one debate, with the texts they name (hash to text).

    ``summary`` is what the record comes to with them; a store may keep it and need not.
    """

    debate: str
    events: tuple[Sealed, ...]
    texts: Mapping[str, str]
    summary: Summary | None = None


def held_elsewhere_error(debate: str) -> HeldElsewhereError:
    """The refusal of a claim."""
    return HeldElsewhereError(
        f"The debate {debate} is being held by another process.",
        f"`disputatio show {debate}` shows how far it is; resume it when that process has ended.",
    )


def taken_over_error(debate: str) -> TakenOverError:
    """The refusal of a writing whose claim another process has now."""
    return TakenOverError(
        f"The debate {debate} was taken over by another process, which goes on with it.",
        f"Nothing more is written here; `disputatio show {debate}` shows how far it is.",
    )


class Store(Protocol):
    """Keeps records. Every method raises ``StoreError`` in one sentence where the store fails."""

    def append(self, writing: EventBatch) -> asyncio.Future[None]:
        """Hand events over; the future is done when they are durable, all of them or none.

        Writings of one debate are applied in the order of the calls, whether or not anybody waits for them. A
        number that the debate already has is refused: two writers cannot both go on from one event. Needs a
        running event loop.
        """

    def claim(self, debate: str) -> None:
        """Make this process the one that writes ``debate``, until it gives the claim back or dies.

        Raises:
            HeldElsewhereError: another one holds it.
        """

    def release(self, debate: str) -> None:
        """Give the claim back. Safe to repeat."""

    def row(self, debate: str) -> DebateRow | None:
        """What the list says of ``debate``; None where it does not have it."""

    def read(self, debate: str, after: int = 0) -> Sequence[Sealed]:
        """The events of a debate in order, those numbered up to ``after`` left out; empty where there is none."""

    def parts(self, debate: str, after: int = 0) -> Iterator[Sequence[Sealed]]:
        """As ``read``, a part after another: what is long need not be held whole. The store may fail on the way."""

    def texts(self, debate: str) -> Mapping[str, str]:
        """The texts that the events of a debate name, by hash."""

    def debates(self) -> Sequence[DebateRow]:
        """All debates, newest first."""

    def find(self, prefix: str) -> Sequence[str]:
        """The ids that begin with ``prefix``."""

    async def aclose(self) -> None:
        """Write what waits and release the store. Safe to repeat."""


class DelegatingStore:
    """A store in front of another, as which it does everything; whoever derives from it says what it does differently.

    Args:
        store: the one behind it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def summaries(self) -> Summaries | None:
        """As the store behind it; None where it keeps none."""
        return getattr(self._store, "summaries", None)

    def append(self, writing: EventBatch) -> asyncio.Future[None]:
        """As the store behind it."""
        return self._store.append(writing)

    def claim(self, debate: str) -> None:
        """As the store behind it."""
        self._store.claim(debate)

    def release(self, debate: str) -> None:
        """As the store behind it."""
        self._store.release(debate)

    def row(self, debate: str) -> DebateRow | None:
        """As the store behind it."""
        return self._store.row(debate)

    def read(self, debate: str, after: int = 0) -> Sequence[Sealed]:
        """As the store behind it."""
        return self._store.read(debate, after=after)

    def parts(self, debate: str, after: int = 0) -> Iterator[Sequence[Sealed]]:
        """As the store behind it."""
        return self._store.parts(debate, after=after)

    def texts(self, debate: str) -> Mapping[str, str]:
        """As the store behind it."""
        return self._store.texts(debate)

    def debates(self) -> Sequence[DebateRow]:
        """As the store behind it."""
        return self._store.debates()

    def find(self, prefix: str) -> Sequence[str]:
        """As the store behind it."""
        return self._store.find(prefix)

    async def aclose(self) -> None:
        """As the store behind it."""
        await self._store.aclose()
