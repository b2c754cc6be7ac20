"""The cache directory of the embedded model, locks between processes, and the error if the model is unavailable.

``DISPUTATIO_CACHE`` names another directory. Only this user can read it, because it holds the server's secret. Deleting
it is always safe: weights are fetched again, and a server whose address is gone ends itself.

An ``flock`` belongs to an open file, so two locks of one process on the same path are two holders. The kernel frees it
when its holder dies. Waiting polls, because a thread that blocks in ``flock`` could not be cancelled.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from disputatio.errors import ProviderError
from disputatio.participants.call import Fault, FaultKind

CACHE_VARIABLE = "DISPUTATIO_CACHE"


def directory(*names: str) -> Path:
    """The cache directory ``names`` of the embedded model, made if it is missing (mode 0700).

    Raises:
        ModelUnavailableError: it cannot be made or written.
    """
    path = path_of(*names)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise _unwritable(path, "permission denied")
    return path


def path_of(*names: str) -> Path:
    """The path of ``names`` in the cache, whether or not it exists."""
    return _root().joinpath("embedded", *names)


def _root() -> Path:
    chosen = os.environ.get(CACHE_VARIABLE, "").strip()
    if chosen:
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("disputatio"))


def _unwritable(path: Path, reason: str) -> ModelUnavailableError:
    return ModelUnavailableError(
        FaultKind.NOT_INSTALLED,
        f"The cache directory {path} cannot be written ({reason[:1].lower()}{reason[1:]}).",
        f"Set {CACHE_VARIABLE} to a directory you may write.",
    )


_LOCK_PAUSE_S = 0.05


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
        """Take the lock exclusively if it is free."""
        return self._try(self._exclusive)

    def try_shared(self) -> bool:
        """Take the lock together with others, unless it is held exclusively."""
        return self._try(self._shared)

    def release(self) -> None:
        """Release the lock and keep the file open."""
        if self._file is not None:
            self._flock(self._file, self._unlock)

    def close(self) -> None:
        """Release the lock and close the file. Safe to repeat."""
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


async def wait_until(condition: Callable[[], bool], timeout_s: float | None = None) -> bool:
    """Ask ``condition`` again and again until it holds; False when ``timeout_s`` seconds did not suffice."""
    clock = asyncio.get_running_loop().time
    end = None if timeout_s is None else clock() + timeout_s
    while not condition():
        if end is not None and clock() >= end:
            return False
        await asyncio.sleep(_LOCK_PAUSE_S)
    return True


class ModelUnavailableError(ProviderError):
    """The embedded model cannot be fetched, loaded or reached.

    Args:
        kind: what can be done about it.
        cause: one sentence that names what is wrong.
        next_step: what to do about it.
    """

    def __init__(self, kind: FaultKind, cause: str, next_step: str = "") -> None:
        super().__init__(cause, next_step)
        self.kind = kind

    def fault(self) -> Fault:
        """The failure as the fault that a client returns."""
        return Fault(self.kind, str(self))
