"""Computes calls of a turn before their turn comes, on lanes of the embedded model that would be idle.

A small model answers a judge's turn in some ten short calls, one after the other. Most of them do not depend on each
other (`disputatio.participants.call.Call.following`). The same prompt and seed give the same answer in every lane, so
an early answer is the answer. An early answer that is never asked for costs nothing but idle time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from disputatio.participants.call import Call, Fault, OnText, Reply
from disputatio.participants.embedded.attachment import Attachment, ServerSlot
from disputatio.participants.embedded.cache import FileLock

_MOST = 8
"""Early answers that a client keeps, and calls that wait for an idle lane; the oldest give way."""


class Lookahead:
    """The early answers of one client.

    Args:
        compute: makes one call in a slot.
    """

    def __init__(
        self, compute: Callable[[Attachment, ServerSlot, Call, OnText | None], Coroutine[Any, Any, Reply | Fault]]
    ) -> None:
        self._compute = compute
        self._waiting: list[tuple[Attachment, EarlyAnswer]] = []
        self._begun: list[EarlyAnswer] = []
        self._pauses = 0

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Begin nothing while a call is on its way to a slot: calls in turn come first."""
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1

    def start(self, calls: tuple[Call, ...], attachment: Attachment, *, streamed: bool) -> None:
        """Compute ``calls`` in order, each as soon as a lane is idle."""
        known = [row.call for row in self._begun] + [row.call for _, row in self._waiting]
        self._waiting += [(attachment, EarlyAnswer(call, streamed=streamed)) for call in calls if call not in known]
        del self._waiting[:-_MOST]
        self._fill()

    def claim(self, call: Call) -> EarlyAnswer | None:
        """The early answer to ``call``, which may still be written; None if it was not begun."""
        self._waiting = [row for row in self._waiting if row[1].call != call]
        early = next((row for row in self._begun if row.call == call), None)
        if early is not None:
            self._begun.remove(early)
        return early

    async def aclose(self) -> None:
        """Stop computing what no call has claimed. Safe to repeat."""
        self._waiting, stopped, self._begun = [], self._begun, []
        for row in stopped:
            row.task.cancel()
        await asyncio.gather(*(row.task for row in stopped), return_exceptions=True)

    def _fill(self) -> None:
        while self._waiting and not self._pauses:
            attachment, early = self._waiting[0]
            taken = attachment.slots.take_idle(early.call.segments)
            if taken is None:
                return
            lock, slot = taken
            del self._waiting[0]
            early.task = asyncio.create_task(self._compute(attachment, slot, early.call, early.on_text))
            early.task.add_done_callback(partial(self._release, lock))
            self._begun.append(early)
            if len(self._begun) > _MOST:
                self._begun.pop(0).task.cancel()

    def _release(self, lock: FileLock, _: object) -> None:
        lock.close()
        self._fill()


class EarlyAnswer:
    """One answer that is computed before its call is made, and its text until the call listens."""

    task: asyncio.Task[Reply | Fault]

    def __init__(self, call: Call, *, streamed: bool) -> None:
        self.call = call
        self._texts: list[str] = []
        self._listener: OnText = self._texts.append
        self.on_text: OnText | None = self._hear if streamed else None

    async def reply(self, on_text: OnText | None) -> Reply | None:
        """The answer, with its text so far to ``on_text`` and then the rest; None if it failed."""
        if on_text is not None:
            for text in self._texts:
                on_text(text)
            self._listener = on_text
        outcome = await self.task
        return outcome if isinstance(outcome, Reply) else None

    def _hear(self, text: str) -> None:
        self._listener(text)
