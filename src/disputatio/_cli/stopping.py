"""Handle Ctrl-C and the other signals that stop a program.

The first signal stops the debate. That takes a moment, because the record is written to its end. The second signal
prints that the program is stopping, and the third exits at once.
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
_WAIT = b"\nStopping: the record is being written. Once more exits at once.\n"


class StopSignals:
    """Handles the signals while its block runs."""

    def __init__(self) -> None:
        self._count = 0
        self._task: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                # A program that was started with nohup, or in the background of a script, ignores some of them.
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Run ``work`` in a new event loop.

        Raises:
            asyncio.CancelledError: a signal stopped it.
            KeyboardInterrupt: the third signal stopped it.
        """
        tune_gc()
        return asyncio.run(self._run(work))

    async def _run(self, work: Coroutine[Any, Any, Value]) -> Value:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(_ignore_leftovers)
        self._task = asyncio.current_task()
        if self._count and self._task is not None:
            self._task.cancel()
        return await work

    def stop(self) -> None:
        """Stop ``work`` as the first signal does."""
        self._count = max(self._count, 1)
        if self._task is not None and self._loop is not None:
            self._task.cancel()
            with suppress(RuntimeError):
                # Wakes a waiting loop, as asyncio's own handler does.
                self._loop.call_soon_threadsafe(lambda: None)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._count += 1
        if self._count == 1:
            self.stop()
        elif self._count == 2:
            with suppress(OSError):
                # sys.stderr may be in the middle of a write, which a second write would break.
                os.write(2, _WAIT)
        else:
            if not os.environ.get("DISPUTATIO_DEBUG"):
                # Python would print a traceback for everything that the exit interrupts.
                sys.unraisablehook = lambda _: None
            raise KeyboardInterrupt


def _ignore_leftovers(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Print errors that libraries leave behind when they are stopped only for debugging."""
    if os.environ.get("DISPUTATIO_DEBUG"):
        loop.default_exception_handler(context)
