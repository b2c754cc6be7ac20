"""Where the embedded model keeps its weights and its server's address.

``DISPUTATIO_CACHE`` names another directory. Everything below it belongs to this user alone, because the
server's secret lies there. Deleting it is always safe: weights are fetched again, a server that finds its
address gone ends itself.
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
    """Where ``names`` of the cache is, whether or not it is there."""
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
        """The same failure as the value a client hands back."""
        return Fault(self.kind, str(self))
