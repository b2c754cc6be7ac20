"""Debates that go on at the same moment are taken one after another, a few at a time.

An event loop gives every task that can go on one step, then all of them the next. When a hundred answers come at once,
nobody's next call leaves before everybody's answer was read, checked and written down: each debate waits for all, in
every phase again. Taken in turns, the first goes on at once and the last waits as long as before, but only once: from
then on their answers come one after another too.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final
from weakref import WeakKeyDictionary

AT_ONCE: Final = 8
"""So many go on side by side: enough for their events to share a commit."""
STEPS: Final = 10
"""Steps of the loop that they have to themselves; from an answer to the next call it hardly takes more."""

_LINES: WeakKeyDictionary[asyncio.AbstractEventLoop, _Line] = WeakKeyDictionary()


async def in_turn() -> None:
    """Wait until it is this task's turn to go on. Turns end by themselves: who does not go on holds nobody up."""
    loop = asyncio.get_running_loop()
    line = _LINES.get(loop)
    if line is None:
        line = _LINES[loop] = _Line()
    await line.through(loop)


class _Line:
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
