"""Who writes a debate: one process at a time, for as long as it lives.

A claim is a lock that the operating system, or the database, takes back when its holder dies, so that a debate is
never stuck and never waits for a lease to run out. Beside a SQLite file, ``STORE-writers`` is locked one byte for each
debate, at the place its id says; in PostgreSQL it is a lock of the session. The chain refuses a second writer in any
case (``Store.append``); a claim tells it apart from a dead one before it has spent anything.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from disputatio.record.text import digest

if TYPE_CHECKING:
    from sqlalchemy import Engine


class Claims(Protocol):
    """Claims on the debates of one store."""

    def take(self, debate: str) -> bool:
        """Whether this process may write ``debate``; it may not take the same claim twice."""

    def give_back(self, debate: str) -> None:
        """Let others write it. Safe to repeat."""

    def close(self) -> None:
        """Give back all. Safe to repeat."""


class OwnClaims:
    """Claims within this process, for stores that no other process can reach."""

    def __init__(self) -> None:
        self._held: set[str] = set()

    def take(self, debate: str) -> bool:
        """Whether nobody in this process holds it."""
        if debate in self._held:
            return False
        self._held.add(debate)
        return True

    def give_back(self, debate: str) -> None:
        """Let others write it."""
        self._held.discard(debate)

    def close(self) -> None:
        """Give back all."""
        self._held.clear()


class FileClaims:
    """Claims on the debates of a SQLite file: locks on single bytes of a file beside it.

    Such locks belong to the process, and all of them end when the process closes the file anywhere; so a process
    opens it once and keeps it open. Where the system has no such locks, only claims of this process are known.
    """

    def __init__(self, store: Path) -> None:
        self._path = store.absolute().with_name(f"{store.name}-writers")
        self._mine: set[str] = set()

    def take(self, debate: str) -> bool:
        """Whether no process that lives holds it.

        Raises:
            OSError: the file of locks cannot be made or locked.
        """
        with _GUARD:
            opened = _OPEN.get(self._path)
            if opened is None:
                opened = _OPEN[self._path] = _LockFile(self._path)
            if not opened.lock(debate):
                return False
        self._mine.add(debate)
        return True

    def give_back(self, debate: str) -> None:
        """Let others write it."""
        if debate in self._mine:
            self._mine.discard(debate)
            with _GUARD:
                _OPEN[self._path].unlock(debate)

    def close(self) -> None:
        """Give back all that was taken here; the file stays open for others of this process."""
        for debate in tuple(self._mine):
            self.give_back(debate)


class _LockFile:
    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._held: set[str] = set()

    def lock(self, debate: str) -> bool:
        if debate in self._held:
            return False
        if fcntl is not None:
            try:
                fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(debate))
            except (BlockingIOError, PermissionError):
                return False
        self._held.add(debate)
        return True

    def unlock(self, debate: str) -> None:
        self._held.discard(debate)
        if fcntl is not None:
            fcntl.lockf(self._handle, fcntl.LOCK_UN, 1, _place(debate))


class SessionClaims:
    """Claims in PostgreSQL: advisory locks of one session, which end with it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._session: Any = None
        self._own = OwnClaims()

    def take(self, debate: str) -> bool:
        """Whether no session that lives holds it."""
        if not self._own.take(debate):
            return False
        if self._ask("pg_try_advisory_lock", debate):
            return True
        self._own.give_back(debate)
        return False

    def give_back(self, debate: str) -> None:
        """Let others write it."""
        if self._session is not None:
            self._ask("pg_advisory_unlock", debate)
        self._own.give_back(debate)

    def close(self) -> None:
        """End the session, and with it all its locks."""
        session, self._session = self._session, None
        if session is not None:
            session.invalidate()
            session.close()
        self._own.close()

    def _ask(self, function: str, debate: str) -> bool:
        if self._session is None:
            self._session = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        return bool(self._session.exec_driver_sql(f"SELECT {function}({_place(debate)})").scalar())


def _place(debate: str) -> int:
    """A number for a debate, from 0 to 2^62: two debates share one less often than any disk fails."""
    return int(digest(debate)[:16], 16) >> 2


try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]
_OPEN: dict[Path, _LockFile] = {}
_GUARD = threading.Lock()
