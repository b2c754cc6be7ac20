"""Which calls were handed to which batch of a provider, written down before it is done.

A batch has a row before it is created, with our name for it. When the provider has confirmed it, the row has the
provider's id. So a process that starts again knows of every batch that may have been created, and asks for it instead
of paying twice. The answers themselves go into the records of the debates.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from disputatio.record.database import store_errors

if TYPE_CHECKING:
    from disputatio.record.sql import SqlStore

Identity: TypeAlias = tuple[str, str]
"""A debate and the id of a call in its record."""
_ROWS_OF_A_STATEMENT = 200


@dataclass(frozen=True, slots=True)
class BatchRow:
    """One batch.

    Attributes:
        name: our name for it; it is found at the provider by this.
        place: the model and where it is, for people.
        intended_at: when it was about to be created, in seconds since 1970.
        size: how many calls are in it.
        provider_id: the provider's id; None until it was confirmed.
    """

    name: str
    place: str
    intended_at: float
    size: int
    provider_id: str | None = None


@dataclass(frozen=True, slots=True)
class Membership:
    """The batch that a call is in, and its place there, from 0."""

    batch: str
    position: int


class BatchBook(Protocol):
    """Keeps batches. Every method raises ``StoreError`` in one sentence where the store fails."""

    async def intend(self, row: BatchRow, calls: Sequence[Identity]) -> None:
        """Write down that a batch of ``calls`` is about to be created; durable when it returns."""

    async def confirm(self, name: str, provider_id: str) -> None:
        """Write down the provider's id of a batch."""

    async def drop(self, name: str) -> None:
        """Forget a batch that certainly was not created, with its calls."""

    async def row(self, name: str) -> BatchRow | None:
        """The batch called ``name``."""

    async def calls_of(self, debate: str) -> Mapping[str, Membership]:
        """The calls of a debate that were handed to a batch, by their ids."""

    async def provider_ids(self) -> frozenset[str]:
        """The provider's ids of all batches."""


class SqlBatchBook:
    """Batches in the database of a store, next to its records.

    Args:
        store: the store; several processes may share its database.
    """

    def __init__(self, store: SqlStore) -> None:
        self._engine, self._place = store.engine, store.place

    async def intend(self, row: BatchRow, calls: Sequence[Identity]) -> None:
        """Write the batch and its calls in one transaction."""
        await asyncio.to_thread(self._intend, row, calls)

    def _intend(self, row: BatchRow, calls: Sequence[Identity]) -> None:
        import sqlalchemy as sa

        from disputatio.record.tables import batch_calls, batches

        with store_errors(self._place), self._engine.begin() as connection:
            connection.execute(
                sa.insert(batches),
                {"name": row.name, "place": row.place, "intended_at": row.intended_at, "size": row.size},
            )
            for part in _parts(list(enumerate(calls))):
                taken = [identity for _, identity in part]
                both = sa.tuple_(batch_calls.c.debate, batch_calls.c.call)
                connection.execute(sa.delete(batch_calls).where(both.in_(taken)))
                rows = [
                    {"debate": debate, "call": call, "batch": row.name, "position": place}
                    for place, (debate, call) in part
                ]
                connection.execute(sa.insert(batch_calls), rows)

    async def confirm(self, name: str, provider_id: str) -> None:
        """Write the provider's id."""
        await asyncio.to_thread(self._confirm, name, provider_id)

    def _confirm(self, name: str, provider_id: str) -> None:
        import sqlalchemy as sa

        from disputatio.record.tables import batches

        with store_errors(self._place), self._engine.begin() as connection:
            connection.execute(sa.update(batches).where(batches.c.name == name).values(provider_id=provider_id))

    async def drop(self, name: str) -> None:
        """Delete the batch and its calls."""
        await asyncio.to_thread(self._drop, name)

    def _drop(self, name: str) -> None:
        import sqlalchemy as sa

        from disputatio.record.tables import batch_calls, batches

        with store_errors(self._place), self._engine.begin() as connection:
            connection.execute(sa.delete(batch_calls).where(batch_calls.c.batch == name))
            connection.execute(sa.delete(batches).where(batches.c.name == name))

    async def row(self, name: str) -> BatchRow | None:
        """The batch."""
        return await asyncio.to_thread(self._row, name)

    def _row(self, name: str) -> BatchRow | None:
        import sqlalchemy as sa

        from disputatio.record.tables import batches

        with store_errors(self._place), self._engine.connect() as connection:
            found = connection.execute(sa.select(batches).where(batches.c.name == name)).first()
        return None if found is None else BatchRow(**found._mapping)

    async def calls_of(self, debate: str) -> Mapping[str, Membership]:
        """Its calls."""
        return await asyncio.to_thread(self._calls_of, debate)

    def _calls_of(self, debate: str) -> dict[str, Membership]:
        import sqlalchemy as sa

        from disputatio.record.tables import batch_calls

        query = sa.select(batch_calls).where(batch_calls.c.debate == debate)
        with store_errors(self._place), self._engine.connect() as connection:
            return {row.call: Membership(row.batch, row.position) for row in connection.execute(query)}

    async def provider_ids(self) -> frozenset[str]:
        """All of them."""
        return await asyncio.to_thread(self._provider_ids)

    def _provider_ids(self) -> frozenset[str]:
        import sqlalchemy as sa

        from disputatio.record.tables import batches

        query = sa.select(batches.c.provider_id).where(batches.c.provider_id.is_not(None))
        with store_errors(self._place), self._engine.connect() as connection:
            return frozenset(connection.execute(query).scalars())


def _parts(
    calls: Sequence[tuple[int, Identity]],
) -> Iterable[Sequence[tuple[int, Identity]]]:
    return (calls[start : start + _ROWS_OF_A_STATEMENT] for start in range(0, len(calls), _ROWS_OF_A_STATEMENT))
