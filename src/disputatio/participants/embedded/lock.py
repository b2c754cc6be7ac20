"""Locks between processes that the kernel frees when their holder dies, by ``kill -9`` too.

An ``flock`` belongs to an open file, so two locks of one process on the same path are two holders. Waiting
is done by asking again: a thread that blocks in ``flock`` could not be cancelled.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from disputatio.participants.call import FaultKind
from disputatio.participants.embedded.unavailable import ModelUnavailableError

_PAUSE_S = 0.05


class FileLock:
    """One open file and the lock this holder has on it; made unlocked.

    Raises:
        ModelUnavailableError: the file cannot be opened, or the system has no ``flock`` (Windows).
    """

    def __init__(self, path: Path) -> None:
        try:
            import fcntl
        except ImportError as error:
            raise ModelUnavailableError(
                FaultKind.NOT_INSTALLED,
                "The embedded model needs Linux or macOS.",
                "Choose another model, such as ollama:qwen3:8b.",
            ) from error
        self._flock = fcntl.flock
        self._exclusive = fcntl.LOCK_EX | fcntl.LOCK_NB
        self._shared = fcntl.LOCK_SH | fcntl.LOCK_NB
        self._unlock = fcntl.LOCK_UN
        try:
            self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ModelUnavailableError(
                FaultKind.NOT_INSTALLED, f"The lock file {path} cannot be opened ({error.strerror})."
            ) from error

    def try_exclusive(self) -> bool:
        """Become the only holder, if nobody holds it now."""
        return self._try(self._exclusive)

    def try_shared(self) -> bool:
        """Become one of the sharing holders, if nobody holds it alone now."""
        return self._try(self._shared)

    def release(self) -> None:
        """Give the lock back and stay open."""
        if self._file is not None:
            self._flock(self._file, self._unlock)

    def close(self) -> None:
        """Give the lock back for good. Safe to repeat."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _try(self, operation: int) -> bool:
        if self._file is None:
            raise ValueError("the lock is closed")
        try:
            self._flock(self._file, operation)
        except BlockingIOError:
            return False
        return True


async def until(condition: Callable[[], bool], timeout_s: float | None = None) -> bool:
    """Ask ``condition`` again and again until it holds; False when ``timeout_s`` seconds did not suffice."""
    clock = asyncio.get_running_loop().time
    end = None if timeout_s is None else clock() + timeout_s
    while not condition():
        if end is not None and clock() >= end:
            return False
        await asyncio.sleep(_PAUSE_S)
    return True
