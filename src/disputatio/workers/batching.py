"""What many debates ask of the database at about the same time is asked once, for all of them.

The first to come is served at once, in a thread; whoever comes meanwhile, or in the moment after, is served by the next
round. Each round is one transaction, so that a thousand debates that begin together cost a few dozen and not thousands,
and the event loop waits for none of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")
_MOST_AT_ONCE = 256
_ROUND_SECONDS = 0.05
"""So long others may join after a round: nothing to a debate, and where many come, much less to do."""


class Together(Generic[Item, Found]):
    """Work that is done for several at once, in a thread.

    Args:
        work: does it; told in the order in which they were asked for, it tells in the same order what was found.
    """

    def __init__(self, work: Callable[[Sequence[Item]], Sequence[Found]]) -> None:
        self._work = work
        self._waiting: list[tuple[Item, asyncio.Future[Found]]] = []
        self._rounds: asyncio.Task[None] | None = None

    async def of(self, item: Item) -> Found:
        """What is found for ``item``, or what the work raises for it. Whoever stops waiting does not stop the work."""
        found: asyncio.Future[Found] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, found))
        if self._rounds is None or self._rounds.done():
            self._rounds = asyncio.create_task(self._serve())
        return await found

    async def _serve(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
            await self._do(batch)
            await asyncio.sleep(_ROUND_SECONDS)

    async def _do(self, batch: Sequence[tuple[Item, asyncio.Future[Found]]]) -> None:
        try:
            found = await asyncio.to_thread(self._work, [item for item, _ in batch])
        except Exception as error:  # noqa: BLE001  (it is theirs who wait for it)
            if len(batch) > 1:
                # What is wrong with one must not fail its neighbours.
                for row in batch:
                    await self._do([row])
            elif not batch[0][1].done():
                batch[0][1].set_exception(error)
            return
        for (_, waiting), each in zip(batch, found, strict=True):
            if not waiting.done():
                waiting.set_result(each)
