"""Ctrl-C, and the signals that mean the same: the first stops a debate, the second is told to wait, the third leaves.

Stopping takes a moment: the record is told, and what was said is written down.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Coroutine
from contextlib import suppress
from types import FrameType
from typing import Any, Self, TypeVar

from disputatio.engine.process_tuning import tune_gc

Value = TypeVar("Value")

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_WAIT = b"\nStopping: what was said is being written down. Once more leaves at once.\n"


class Stopping:
    """Listens to the signals for as long as its block lasts."""

    def __init__(self) -> None:
        self._heard = 0
        self._task: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                # What was started with nohup, or in the background of a script, ignores some of them.
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Run ``work`` in an event loop of its own.

        Raises:
            asyncio.CancelledError: a signal stopped it.
            KeyboardInterrupt: the third signal did.
        """
        tune_gc()
        return asyncio.run(self._watched(work))

    async def _watched(self, work: Coroutine[Any, Any, Value]) -> Value:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(_let_go)
        self._task = asyncio.current_task()
        if self._heard and self._task is not None:
            self._task.cancel()
        return await work

    def stop(self) -> None:
        """Do as the first signal does."""
        self._heard = max(self._heard, 1)
        if self._task is not None and self._loop is not None:
            self._task.cancel()
            with suppress(RuntimeError):
                # Wakes a loop that waits, as asyncio's own handler does.
                self._loop.call_soon_threadsafe(lambda: None)

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self._heard += 1
        if self._heard == 1:
            self.stop()
        elif self._heard == 2:
            with suppress(OSError):
                # The stream may be in the midst of a write, which another one would break.
                os.write(2, _WAIT)
        else:
            if not os.environ.get("DISPUTATIO_DEBUG"):
                # Work that is left in the middle has nobody to raise to, and Python would print each of its tracebacks.
                sys.unraisablehook = lambda _: None
            raise KeyboardInterrupt


def _let_go(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What libraries leave behind when they are stopped is of no use to anybody who is not looking for a bug."""
    if os.environ.get("DISPUTATIO_DEBUG"):
        loop.default_exception_handler(context)
