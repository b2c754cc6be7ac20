"""Schedule the debates and calls of one process: equal calls one after another, debates in small groups.

``CacheStaggering`` sends the first call with a given prompt prefix alone. Calls that leave at the same time cannot use
each other's prompt cache. The others follow when the first answer begins or fails. Answers do not change; each phase
waits once for a first word.

``wait_for_turn`` lets a few debates continue at a time. An event loop gives every ready task one step before any gets a
second one. When a hundred answers come at once, no debate could send its next call before all answers were handled.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from disputatio.participants.turn_taking import Send

LEAST_BYTES = 4096
"""Shorter prefixes are not staggered: providers cache from 1,024 tokens on, taken as four bytes each."""
_NO_WAIT = nullcontext[None]()


class CacheStaggering:
    """The prompt prefixes that calls of one debate were sent with.

    Args:
        on: whether calls wait for the first one at all.
    """

    def __init__(self, *, on: bool) -> None:
        self._on = on
        self._begun: dict[int, asyncio.Event] = {}

    def following(self, order: Send) -> AbstractAsyncContextManager[Callable[[], None] | None]:
        """Wait until the first call with the prefix of ``order`` has begun to be answered.

        Returns:
            A context. Its value is a function to call at the first words of the answer, or None where no call waits for
                this one.
        """
        if not self._on:
            return _NO_WAIT
        before = order.call.segments[:-1]
        if sum(len(row.text.encode("utf-8", "replace")) for row in before) < LEAST_BYTES:
            return _NO_WAIT
        return self._wait_behind_first(hash((order.seating.address, before)))

    @asynccontextmanager
    async def _wait_behind_first(self, key: int) -> AsyncIterator[Callable[[], None] | None]:
        """Wait for the first call with the prefix ``key``, or become it."""
        first = self._begun.get(key)
        if first is not None:
            await first.wait()
            yield None
            return
        begun = self._begun[key] = asyncio.Event()
        try:
            yield begun.set
        finally:
            begun.set()


AT_ONCE: Final = 8
"""Debates that continue at the same time: enough for their events to share a commit."""
STEPS: Final = 10
"""Steps of the event loop before the next group continues. Few debates need more from an answer to their next call."""

_WAITING_LINES: WeakKeyDictionary[asyncio.AbstractEventLoop, _WaitingLine] = WeakKeyDictionary()


async def wait_for_turn() -> None:
    """Wait until this task may continue. A turn ends by itself after ``STEPS`` steps."""
    loop = asyncio.get_running_loop()
    line = _WAITING_LINES.get(loop)
    if line is None:
        line = _WAITING_LINES[loop] = _WaitingLine()
    await line.wait(loop)


class _WaitingLine:
    """The tasks that wait in one event loop."""

    def __init__(self) -> None:
        self._room = AT_ONCE
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._room and not self._waiting:
            self._room -= 1
            return
        if not self._waiting:
            loop.call_soon(self._step, loop, STEPS)
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _step(self, loop: asyncio.AbstractEventLoop, left: int) -> None:
        if left:
            loop.call_soon(self._step, loop, left - 1)
            return
        self._room = AT_ONCE
        while self._room and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                self._room -= 1
        if self._waiting:
            loop.call_soon(self._step, loop, STEPS)
