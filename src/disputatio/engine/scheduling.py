"""Lets one call go ahead of those that begin like it, so that they find its beginning in the provider's cache.

Calls that leave side by side cannot serve each other's cache: a provider keeps a beginning once it has read it. With
staggering on, the first call with a beginning leaves, and the others with the same one follow when its first words have
come, or it has come to an end. What is said does not depend on it; the wait is one time to the first words in a phase.
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
"""A shorter beginning is not waited for: providers cache from 1,024 tokens on, taken as four bytes each."""
_NOBODY_WAITS = nullcontext[None]()


class CacheStaggering:
    """The beginnings that calls of one debate have left with.

    Args:
        on: whether calls wait for each other at all.
    """

    def __init__(self, *, on: bool) -> None:
        self._on = on
        self._begun: dict[int, asyncio.Event] = {}

    def following(self, order: Send) -> AbstractAsyncContextManager[Callable[[], None] | None]:
        """Wait until a call that begins like that of ``order`` has begun to be answered.

        Returns:
            A context of what to call when the first words of the answer come, for a call that others may wait for;
            else of None.
        """
        if not self._on:
            return _NOBODY_WAITS
        before = order.call.segments[:-1]
        if sum(len(row.text.encode("utf-8", "replace")) for row in before) < LEAST_BYTES:
            return _NOBODY_WAITS
        return self._in_line(hash((order.seating.address, before)))

    @asynccontextmanager
    async def _in_line(self, key: int) -> AsyncIterator[Callable[[], None] | None]:
        """Wait behind the first call of the beginning ``key``, or be the first."""
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
"""So many go on side by side: enough for their events to share a commit."""
STEPS: Final = 10
"""Steps of the loop that they have to themselves; from an answer to the next call it hardly takes more."""

_WAITING_LINES: WeakKeyDictionary[asyncio.AbstractEventLoop, _WaitingLine] = WeakKeyDictionary()


async def wait_for_turn() -> None:
    """Wait until it is this task's turn to go on. Turns end by themselves: who does not go on holds nobody up."""
    loop = asyncio.get_running_loop()
    line = _WAITING_LINES.get(loop)
    if line is None:
        line = _WAITING_LINES[loop] = _WaitingLine()
    await line.through(loop)


class _WaitingLine:
    """Who waits for a turn in one event loop."""

    def __init__(self) -> None:
        self._room = AT_ONCE
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def through(self, loop: asyncio.AbstractEventLoop) -> None:
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
