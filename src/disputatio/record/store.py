"""The port for record storage. A store appends, reads and lists; it never changes an event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from disputatio.errors import HeldElsewhereError, TakenOverError

if TYPE_CHECKING:
    import asyncio

    from disputatio.record.chain import Sealed


SUMMARIES_AT_ONCE = 500
"""Debates per query: older builds of SQLite take 999 values."""


@dataclass(frozen=True, slots=True)
class DebateRow:
    """An entry of the list of debates.

    ``events`` and ``head`` anchor the chain: its length and last hash when the status last changed or something was
    attached. ``parent`` is the debate that was forked; empty for any other.
    """

    id: str
    opened_at: str
    format: str
    motion: str
    status: str
    events: int
    head: str
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a record amounts to as of its last event.

    Attributes:
        debate: the id of the debate.
        head: the hash of that event.
        version: the version of the rules that computed it.
        body: the summary as JSON.
    """

    debate: str
    head: str
    version: int
    body: str


class Summaries(Protocol):
    """The summaries that a store keeps with its records. They never raise: the record can be read instead."""

    def current(self, debates: Sequence[str], version: int) -> Mapping[str, str]:
        """The bodies of those summaries of ``debates`` that are of ``version`` and match the record's last event.

        Args:
            debates: ids, at most ``SUMMARIES_AT_ONCE``.
            version: the version of the rules that computed them.
        """

    def keep(self, summaries: Sequence[Summary]) -> None:
        """Store ``summaries``, replacing earlier ones."""


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events to append to one debate, with the texts they name (hash to text).

    ``summary`` is what the record amounts to with them; a store may ignore it.
    """

    debate: str
    events: tuple[Sealed, ...]
    texts: Mapping[str, str]
    summary: Summary | None = None


def held_elsewhere_error(debate: str) -> HeldElsewhereError:
    """The error for a refused claim."""
    return HeldElsewhereError(
        f"The debate {debate} is being held by another process.",
        f"`disputatio show {debate}` shows how far it is; resume it when that process has ended.",
    )


def taken_over_error(debate: str) -> TakenOverError:
    """The error for a write whose claim another process has now."""
    return TakenOverError(
        f"The debate {debate} was taken over by another process, which goes on with it.",
        f"Nothing more is written here; `disputatio show {debate}` shows how far it is.",
    )


class Store(Protocol):
    """Keeps records. Every method raises ``StoreError`` in one sentence where the store fails."""

    def append(self, writing: EventBatch) -> asyncio.Future[None]:
        """Append events; the future completes when all of them are durable, or none.

        Batches of one debate are applied in the order of the calls, awaited or not. A number that the debate already
        has is refused, so two writers cannot continue from one event. Needs a running event loop.
        """

    def claim(self, debate: str) -> None:
        """Claim ``debate`` for this process until it releases the claim or dies.

        Raises:
            HeldElsewhereError: another process holds it.
        """

    def release(self, debate: str) -> None:
        """Release the claim. Safe to repeat."""

    def row(self, debate: str) -> DebateRow | None:
        """The list entry of ``debate``; None where there is none."""

    def read(self, debate: str, after: int = 0) -> Sequence[Sealed]:
        """The events of a debate in order, from number ``after`` + 1 on; empty where there is none."""

    def parts(self, debate: str, after: int = 0) -> Iterator[Sequence[Sealed]]:
        """The same as ``read``, in parts, so that a long record need not fit into memory. May fail between parts."""

    def texts(self, debate: str) -> Mapping[str, str]:
        """The texts that the events of a debate name, by hash."""

    def debates(self) -> Sequence[DebateRow]:
        """All debates, newest first."""

    def find(self, prefix: str) -> Sequence[str]:
        """The ids that begin with ``prefix``."""

    async def aclose(self) -> None:
        """Write what waits and release the store. Safe to repeat."""


class DelegatingStore:
    """Delegates every call to another store. Subclass it and override what should differ.

    Args:
        store: the other store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def summaries(self) -> Summaries | None:
        """The other store's summaries; None where it keeps none."""
        return getattr(self._store, "summaries", None)

    def append(self, writing: EventBatch) -> asyncio.Future[None]:
        """Delegate."""
        return self._store.append(writing)

    def claim(self, debate: str) -> None:
        """Delegate."""
        self._store.claim(debate)

    def release(self, debate: str) -> None:
        """Delegate."""
        self._store.release(debate)

    def row(self, debate: str) -> DebateRow | None:
        """Delegate."""
        return self._store.row(debate)

    def read(self, debate: str, after: int = 0) -> Sequence[Sealed]:
        """Delegate."""
        return self._store.read(debate, after=after)

    def parts(self, debate: str, after: int = 0) -> Iterator[Sequence[Sealed]]:
        """Delegate."""
        return self._store.parts(debate, after=after)

    def texts(self, debate: str) -> Mapping[str, str]:
        """Delegate."""
        return self._store.texts(debate)

    def debates(self) -> Sequence[DebateRow]:
        """Delegate."""
        return self._store.debates()

    def find(self, prefix: str) -> Sequence[str]:
        """Delegate."""
        return self._store.find(prefix)

    async def aclose(self) -> None:
        """Delegate."""
        await self._store.aclose()
