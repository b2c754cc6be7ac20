"""Read what many callers send: a few requests and files at a time, and limited per tenant.

It has its own threads, so nothing else in a server waits for reading. Costly files are read in processes
(``disputatio.evidence.reading_process``), one for each request or file.
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

from disputatio.errors import QueueFullError
from disputatio.evidence.reading_process import Limits, SourceReader

Value = TypeVar("Value")

AT_ONCE = 4
"""How many are read at once."""
AT_ONCE_EACH = 2
"""How many of them may be one tenant's."""
WAITING_BYTES = 512_000_000
"""The most bytes that may wait, since waiting sources are kept in memory."""
WAITING_BYTES_EACH = 64_000_000
"""How much of it may be one tenant's."""
LEAST_BYTES = 64_000
"""The size counted for a request without sources: a tenant may have a thousand waiting."""


class ReadingQueueFullError(QueueFullError):
    """No more requests may wait to be read, of this tenant or at all."""

    def __init__(self, *, of_tenant: bool) -> None:
        whose, most = ("your", WAITING_BYTES_EACH) if of_tenant else ("all callers'", WAITING_BYTES)
        super().__init__(
            f"{most // 1_000_000} MB of {whose} orders and files already wait to be read, and no more can wait.",
            "Send it again in some seconds.",
        )
        self.of_tenant = of_tenant


@dataclass(eq=False, slots=True)
class _Waiter:
    tenant: str
    size: int
    turn: asyncio.Future[None]


class ReadingQueue:
    """A queue of reading work. Next comes the tenant with the fewest reads running, then the oldest request.

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

    async def read(self, tenant: str, work: Callable[[SourceReader], Value], size: int = 0) -> Value:
        """Call ``work`` in a thread with a reader for costly files, and return its result.

        Args:
            tenant: for whom.
            work: what reads.
            size: bytes kept in memory until it is called.

        Raises:
            ReadingQueueFullError: too many wait.
            Exception: whatever ``work`` raises.
        """
        await self._turn(tenant, max(size, LEAST_BYTES))
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
        # Only the end of the thread makes room; the caller may be cancelled before.
        future.add_done_callback(end)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            reader.stop()
            raise

    def close(self) -> None:
        """Stop running reads and refuse waiting ones. Safe to repeat."""
        self._is_closed = True
        for reader in self._readers:
            reader.stop()
        for waiter in self._waiters:
            if not waiter.turn.done():
                waiter.turn.set_exception(ReadingQueueFullError(of_tenant=False))
        self._threads.shutdown(wait=False)

    async def _turn(self, tenant: str, size: int) -> None:
        """Wait until one more of ``tenant`` may be read; it then counts as being read."""
        if self._is_closed or self._waiting() + size > WAITING_BYTES:
            raise ReadingQueueFullError(of_tenant=False)
        if self._waiting(tenant) + size > WAITING_BYTES_EACH:
            raise ReadingQueueFullError(of_tenant=True)
        mine = _Waiter(tenant, size, asyncio.get_running_loop().create_future())
        self._waiters.append(mine)
        self._start_next()
        try:
            await mine.turn
        except BaseException:
            if mine in self._waiters:
                self._waiters.remove(mine)
            else:  # its turn came, and it left in the same moment
                self._end(tenant)
            raise

    def _waiting(self, tenant: str | None = None) -> int:
        """How many bytes wait: of all, or of one tenant."""
        return sum(row.size for row in self._waiters if tenant in {None, row.tenant})

    def _start_next(self) -> None:
        """Start as many reads as there is room for."""
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
        self._start_next()
