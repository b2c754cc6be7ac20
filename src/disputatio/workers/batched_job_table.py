"""The desk of a process that holds many debates: what they ask of it at about the same time is asked at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from disputatio.record.sql import SqlStore
from disputatio.record.store import Store, StoreInFront, held_elsewhere
from disputatio.workers.batching import Together
from disputatio.workers.job_table import Desk, Due, Over


class BatchedJobTable:
    """Gives out what is due, with the claim that goes with it, and takes back what is over.

    A debate costs two transactions here, however long it runs, and shares them with all that begin and end meanwhile.

    Args:
        store: where orders, claims and records are.
    """

    def __init__(self, store: SqlStore) -> None:
        self._store, self._desk = store, Desk(store)
        self._beginning = Together(self._begin_all)
        self._finishing = Together(self._finish_all)
        self._releasing = Together(self._release_all)

    async def begin(self, debate: str, store: Store) -> Due | None:
        """Claim ``debate`` and note that it is gone on with.

        None where nothing is left to do; no claim is held then.

        Args:
            debate: its id.
            store: the store that it is written through: the desk's own, or one around it that tells of its claims.

        Raises:
            HeldElsewhereError: another process holds it.
            StoreError: the database could not be read or written.
        """
        apart = store is not self._store
        if apart:
            # One that tells of its claims does so in this loop.
            store.claim(debate)
        beginning = asyncio.ensure_future(self._beginning.of((debate, apart)))
        try:
            claimed, due = await asyncio.shield(beginning)
        except BaseException:
            # The claim is given back before anybody else asks for it.
            await asyncio.wait({beginning})
            if apart or (beginning.exception() is None and beginning.result()[1] is not None):
                await self.release(debate, store)
            raise
        if not claimed:
            raise held_elsewhere(debate)
        if apart and due is None:
            store.release(debate)
        return due

    async def finish(self, over: Over, store: Store) -> str | None:
        """Note how an order ended and give the claim back; the status of its record, None where it has none.

        Raises:
            StoreError: the database could not be written; the claim is still held.
        """
        apart = store is not self._store
        status = await self._finishing.of((over, apart))
        if apart:
            store.release(over.debate)
        return status

    async def release(self, debate: str, store: Store) -> None:
        """Give the claim back. Safe to repeat.

        Raises:
            StoreError: the database could not be written; the claim ends with the process.
        """
        if store is self._store:
            await asyncio.shield(self._releasing.of(debate))
        else:
            store.release(debate)

    def _begin_all(self, asked: Sequence[tuple[str, bool]]) -> list[tuple[bool, Due | None]]:
        """For each debate whether it is claimed, and what is due; what is not is not held any longer."""
        held = {debate for debate, apart in asked if apart}
        claimed = self._store.claim_all([debate for debate, apart in asked if not apart])
        due: dict[str, Due] = {}
        try:
            if held | claimed:
                due = self._desk.begin_all(held | claimed)
        finally:
            self._store.release_all(claimed - due.keys())
        return [(debate in held | claimed, due.get(debate)) for debate, _ in asked]

    def _finish_all(self, ended: Sequence[tuple[Over, bool]]) -> list[str | None]:
        statuses = self._desk.finish_all([over for over, _ in ended])
        self._store.release_all([over.debate for over, apart in ended if not apart])
        return statuses

    def _release_all(self, debates: Sequence[str]) -> list[None]:
        self._store.release_all(debates)
        return [None] * len(debates)


class ClaimedStore(StoreInFront):
    """A store one of whose debates is claimed already: neither claimed again nor given back in between."""

    def __init__(self, store: Store, debate: str) -> None:
        super().__init__(store)
        self._debate = debate

    def claim(self, debate: str) -> None:
        """As the store, but for the debate that is claimed."""
        if debate != self._debate:
            super().claim(debate)

    def release(self, debate: str) -> None:
        """As the store, but for the debate that is claimed."""
        if debate != self._debate:
            super().release(debate)
