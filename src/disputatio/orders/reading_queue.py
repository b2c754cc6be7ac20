"""Reads what many callers send: a few orders and files at a time, and of each tenant only some of them.

It has threads of its own, so that whatever is read, nothing else that a server does waits for it. What may be costly is
read in processes (``disputatio.evidence.reading_process``), one for each order or file.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from disputatio.evidence.reading_process import Limits, SourceReader
from disputatio.failures import QueueFullError

Value = TypeVar("Value")

AT_ONCE = 4
"""How many are read at once."""
AT_ONCE_EACH = 2
"""How many of them may be one tenant's."""
WAITING = 64
"""How many may wait."""
WAITING_EACH = 8
"""How many of those may be one tenant's."""


class ReadingQueueFullError(QueueFullError):
    """No more may wait to be read now: of this tenant, or at all."""

    def __init__(self, *, of_tenant: bool) -> None:
        number = WAITING_EACH if of_tenant else WAITING
        super().__init__(
            f"{number} orders and files {'of yours ' if of_tenant else ''}wait to be read, and more may not.",
            "Send it again in some seconds.",
        )
        self.of_tenant = of_tenant


@dataclass(eq=False, slots=True)
class _Waiter:
    tenant: str
    turn: asyncio.Future[None]


class ReadingQueue:
    """A queue of work that reads.

    Whose turn is next is the tenant's of whom the fewest are being read, and among those the one's who came first.

    Args:
        limits: what one file may take.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="reading")
        self._reading: Counter[str] = Counter()
        self._readers: set[SourceReader] = set()
        self._waiters: list[_Waiter] = []
        self._is_closed = False

    async def read(self, tenant: str, work: Callable[[SourceReader], Value]) -> Value:
        """What ``work`` returns, which is called in a thread with what reads costly files.

        Raises:
            ReadingQueueFullError: too many wait.
            Exception: whatever ``work`` raises.
        """
        await self._turn(tenant)
        loop = asyncio.get_running_loop()
        reader = SourceReader(self._limits)
        self._readers.add(reader)

        context = contextvars.copy_context()

        def run() -> Value:
            with reader:
                return context.run(work, reader)

        def end(_future: object) -> None:
            with suppress(RuntimeError):  # the loop may have ended before the thread
                loop.call_soon_threadsafe(self._end, tenant, reader)

        future = self._threads.submit(run)
        # Only the end of the thread makes room. Whoever waits for it may leave before.
        future.add_done_callback(end)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            reader.stop()
            raise

    def close(self) -> None:
        """Stop what is being read, and refuse what waits. Safe to repeat."""
        self._is_closed = True
        for reader in self._readers:
            reader.stop()
        for waiter in self._waiters:
            if not waiter.turn.done():
                waiter.turn.set_exception(ReadingQueueFullError(of_tenant=False))
        self._threads.shutdown(wait=False)

    async def _turn(self, tenant: str) -> None:
        """Wait until one more of ``tenant`` may be read; it then counts as being read."""
        if len(self._waiters) >= WAITING or self._is_closed:
            raise ReadingQueueFullError(of_tenant=False)
        if sum(row.tenant == tenant for row in self._waiters) >= WAITING_EACH:
            raise ReadingQueueFullError(of_tenant=True)
        mine = _Waiter(tenant, asyncio.get_running_loop().create_future())
        self._waiters.append(mine)
        self._let_in()
        try:
            await mine.turn
        except BaseException:
            if mine in self._waiters:
                self._waiters.remove(mine)
            else:  # its turn came, and it left in the same moment
                self._end(tenant)
            raise

    def _let_in(self) -> None:
        """Give their turn to as many as there is room for."""
        while self._reading.total() < AT_ONCE:
            able = [row for row in self._waiters if self._reading[row.tenant] < AT_ONCE_EACH and not row.turn.done()]
            if not able:
                return
            chosen = min(able, key=lambda row: self._reading[row.tenant])
            self._waiters.remove(chosen)
            self._reading[chosen.tenant] += 1
            chosen.turn.set_result(None)

    def _end(self, tenant: str, reader: SourceReader | None = None) -> None:
        if reader is not None:
            self._readers.discard(reader)
        self._reading[tenant] -= 1
        if not self._reading[tenant]:
            del self._reading[tenant]
        self._let_in()
