"""Claims on debates: one process writes a debate at a time, for as long as it lives.

A claim is a lock that the operating system or the database releases when its holder dies. So no debate is stuck, and
none waits for a lease to expire. For a SQLite file, one byte of ``STORE-writers`` is locked per debate, at an offset
derived from its id. In PostgreSQL a claim is a row with a fencing token, and a session lock shows whether its holder
lives. The chain refuses a second writer in any case (``Store.append``); a claim does so before anything is spent.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from disputatio.record.text import digest

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

BEAT_SECONDS = 1.0
"""How often a writer shows that it is alive."""


class Claims(Protocol):
    """Claims on the debates of one store."""

    def claim_all(self, debates: Collection[str]) -> set[str]:
        """Claim ``debates`` and return those that this process may write now. A claim cannot be taken twice."""

    def release_all(self, debates: Collection[str]) -> None:
        """Release claims. Safe to repeat."""

    def close(self) -> None:
        """Release all claims. Safe to repeat."""


@dataclass(frozen=True, slots=True)
class ClaimState:
    """A claim that a writer holds: its token, the writer and the writer's counter."""

    token: int
    writer: str
    beats: int | None


class _SingleClaims:
    """Claims that are cheap to take one by one."""

    def take(self, debate: str) -> bool:
        """Whether this process may write ``debate`` now."""
        raise NotImplementedError

    def release(self, debate: str) -> None:
        """Release the claim."""
        raise NotImplementedError

    def claim_all(self, debates: Collection[str]) -> set[str]:
        """Claim ``debates`` and return those that this process may write now."""
        return {debate for debate in debates if self.take(debate)}

    def release_all(self, debates: Collection[str]) -> None:
        """Release claims."""
        for debate in debates:
            self.release(debate)


class ProcessClaims(_SingleClaims):
    """Claims within this process, for stores that no other process can reach."""

    def __init__(self) -> None:
        self._held: set[str] = set()

    def take(self, debate: str) -> bool:
        """Claim ``debate``; False where it is claimed."""
        if debate in self._held:
            return False
        self._held.add(debate)
        return True

    def release(self, debate: str) -> None:
        """Release the claim."""
        self._held.discard(debate)

    def close(self) -> None:
        """Release all claims."""
        self._held.clear()


class FileClaims(_SingleClaims):
    """Claims on the debates of a SQLite file: byte locks on a file in the same folder.

    Such locks belong to the process, and all end when it closes the file anywhere. So a process opens the file once and
    keeps it open. On systems without such locks, only claims of this process are known.
    """

    def __init__(self, store: Path) -> None:
        self._path = store.absolute().with_name(f"{store.name}-writers")
        self._mine: set[str] = set()

    def take(self, debate: str) -> bool:
        """Claim ``debate``; False where a live process holds it.

        Raises:
            OSError: the lock file cannot be created or locked.
        """
        with _GUARD:
            opened = _OPEN.get(self._path)
            if opened is None:
                opened = _OPEN[self._path] = _LockFile(self._path)
            if not opened.lock(debate):
                return False
        self._mine.add(debate)
        return True

    def release(self, debate: str) -> None:
        """Release the claim."""
        if debate in self._mine:
            self._mine.discard(debate)
            with _GUARD:
                _OPEN[self._path].unlock(debate)

    def close(self) -> None:
        """Release the claims taken here. The file stays open for others of this process."""
        for debate in tuple(self._mine):
            self.release(debate)


class _LockFile:
    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._held: set[str] = set()

    def lock(self, debate: str) -> bool:
        if debate in self._held:
            return False
        if fcntl is not None:
            try:
                fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _lock_number(debate))
            except (BlockingIOError, PermissionError):
                return False
        self._held.add(debate)
        return True

    def unlock(self, debate: str) -> None:
        self._held.discard(debate)
        if fcntl is not None:
            fcntl.lockf(self._handle, fcntl.LOCK_UN, 1, _lock_number(debate))


class WriterClaims:
    """Claims in PostgreSQL: a row per debate, with a token that grows whenever the claim changes hands.

    A store that writes is a *writer*. It holds an advisory lock in a session of its own, which the server releases when
    the process dies. A thread increments the counter in its row every ``BEAT_SECONDS``. Its claims are void once the
    lock is free. A writer that holds the lock and stops counting is stalled: a process that has watched it long enough
    by its own clock may ``revoke`` its claim. No time of day is compared.

    The token makes this safe: each write checks it in its own transaction (``SqlStore``).
    """

    def __init__(self, engine: Engine) -> None:
        self.writer = secrets.token_hex(8)
        self.tokens: dict[str, int] = {}
        self._engine = engine
        self._session: Any = None
        self._opening = threading.Lock()
        self._changing = threading.RLock()
        self._unsure = False
        self._ended = threading.Event()
        self._beating: threading.Thread | None = None

    def claim_all(self, debates: Collection[str]) -> set[str]:
        """Claim those of ``debates`` that no live writer holds, in one transaction."""
        with self._changing:
            wanted = {debate for debate in debates if debate not in self.tokens}
            if not wanted:
                return set()
            self.register()
            self._unsure = True
            with self._engine.begin() as connection:
                connection.exec_driver_sql(_ASYNC_COMMIT)
                taken = self._take_free(connection, wanted)
            self._unsure = False
            self.tokens.update(taken)
        return set(taken)

    def _take_free(self, connection: Connection, wanted: set[str]) -> dict[str, int]:
        """Claim those of ``wanted`` that are free, and return their tokens."""
        rows = connection.exec_driver_sql(_CLAIMS, {"debates": sorted(wanted)}).all()
        others = {row.writer for row in rows if not row.released and row.writer != self.writer}
        living = others - self.dead_writers(connection, others)
        free = {row.debate: row.token for row in rows if row.released or row.writer not in living}
        taken: dict[str, int] = {}
        if free:
            # A faster writer has raised the token.
            own = {"debates": list(free), "tokens": list(free.values()), "writer": self.writer}
            taken.update((row.debate, row.token) for row in connection.exec_driver_sql(_TAKE, own))
        new = sorted(wanted - {row.debate for row in rows})
        if new:
            entered = connection.exec_driver_sql(_ENTER, {"debates": new, "writer": self.writer})
            taken.update((row.debate, row.token) for row in entered)
        return taken

    def release_all(self, debates: Collection[str]) -> None:
        """Release claims in one transaction. Safe to repeat."""
        with self._changing:
            held = {debate: self.tokens.pop(debate) for debate in debates if debate in self.tokens}
            if not held:
                return
            self._unsure = True
            with self._engine.begin() as connection:
                connection.exec_driver_sql(_ASYNC_COMMIT)
                connection.exec_driver_sql(_GIVE_BACK, {"debates": list(held), "tokens": list(held.values())})
            self._unsure = False

    def close(self) -> None:
        """End the session, and with it all claims."""
        self._ended.set()
        if self._beating is not None:
            self._beating.join()
        with self._opening:
            session, self._session = self._session, None
            if session is not None:
                session.invalidate()
                session.close()
        self.tokens.clear()

    def register(self) -> None:
        """Make this writer visible to others. Safe to repeat."""
        with self._opening:
            if self._ended.is_set():
                return
            if self._session is None:
                self._open()
            if self._beating is None:
                self._beating = threading.Thread(target=self._beat, name="disputatio-writer", daemon=True)
                self._beating.start()

    def claim_state(self, debate: str) -> ClaimState | None:
        """The claim on ``debate``; None where no live writer holds it."""
        import sqlalchemy as sa

        from disputatio.record.tables import claims, writers

        query = sa.select(claims.c.token, claims.c.writer, writers.c.beats)
        query = query.outerjoin(writers, writers.c.id == claims.c.writer)
        with self._engine.begin() as connection:
            row = connection.execute(query.where(claims.c.debate == debate, claims.c.released.is_(False))).first()
            if row is None or not self._lives(connection, row.writer):
                return None
        return ClaimState(row.token, row.writer, row.beats)

    def revoke(self, debate: str, seen: ClaimState) -> bool:
        """Void the claim of a writer whose counter has not changed since it was ``seen``."""
        import sqlalchemy as sa

        from disputatio.record.tables import claims, writers

        count = sa.select(writers.c.beats).where(writers.c.id == seen.writer).scalar_subquery()
        still = (claims.c.debate == debate) & (claims.c.token == seen.token) & (count == seen.beats)
        with self._engine.begin() as connection:
            change = claims.update().where(still).values(token=claims.c.token + 1, released=True)
            return bool(connection.execute(change).rowcount)

    def dead_writers(self, connection: Connection, names: Collection[str]) -> set[str]:
        """Those of ``names`` whose session has ended."""
        return {name for name in names if name != self.writer and not self._lives(connection, name)}

    def _lives(self, connection: Connection, writer: str) -> bool:
        # A shared lock, so two processes that ask at once do not take each other for the writer.
        query = f"SELECT pg_try_advisory_xact_lock_shared({_lock_number(writer)})"
        return not connection.exec_driver_sql(query).scalar()

    def _open(self) -> None:
        from sqlalchemy.dialects.postgresql import insert

        from disputatio.record.tables import writers

        session = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            session.exec_driver_sql(f"SELECT pg_advisory_lock({_lock_number(self.writer)})")
            session.execute(insert(writers).on_conflict_do_nothing(), {"id": self.writer, "beats": 0})
        except BaseException:
            session.invalidate()
            session.close()
            raise
        self._session = session

    def _beat(self) -> None:
        from sqlalchemy.exc import SQLAlchemyError

        from disputatio.record.tables import writers

        count = writers.update().where(writers.c.id == self.writer).values(beats=writers.c.beats + 1)
        while not self._ended.wait(BEAT_SECONDS):
            with self._opening:
                try:
                    if self._session is None:
                        self._open()
                    self._session.execute(count)
                    lost = self._unsure
                except SQLAlchemyError:
                    # The server or the connection is down; others may take the claims until it is back.
                    lost = False
                    session, self._session = self._session, None
                    if session is not None:
                        with suppress(SQLAlchemyError):
                            session.invalidate()
                        session.close()
            if lost:
                self._release_strays()

    def _release_strays(self) -> None:
        """Release claims that the database has and this process does not: the connection broke before the server
        confirmed.
        """
        from sqlalchemy.exc import SQLAlchemyError

        from disputatio.record.tables import claims

        with self._changing, suppress(SQLAlchemyError):
            ours = (claims.c.writer == self.writer) & claims.c.released.is_(False)
            with self._engine.begin() as connection:
                stray = claims.c.debate.not_in(list(self.tokens))
                connection.execute(claims.update().where(ours, stray), {"released": True})
            self._unsure = False


_ASYNC_COMMIT = "SET LOCAL synchronous_commit TO OFF"
"""Claims need not wait for the disk. What is written under a claim comes later in the same log, so both become durable
together. If a crash forgets a claim, nothing was written under it, and its holder's writes are refused."""

_CLAIMS = "SELECT debate, token, writer, released FROM claims WHERE debate = ANY(%(debates)s::text[])"
_TAKE = """
    UPDATE claims SET token = claims.token + 1, writer = %(writer)s, released = false
    FROM unnest(%(debates)s::text[], %(tokens)s::bigint[]) AS seen (debate, token)
    WHERE claims.debate = seen.debate AND claims.token = seen.token RETURNING claims.debate, claims.token
"""
_ENTER = """
    INSERT INTO claims (debate, token, writer, released)
    SELECT debate, 1, %(writer)s, false FROM unnest(%(debates)s::text[]) AS wanted (debate)
    ON CONFLICT DO NOTHING RETURNING debate, token
"""
_GIVE_BACK = """
    UPDATE claims SET released = true FROM unnest(%(debates)s::text[], %(tokens)s::bigint[]) AS held (debate, token)
    WHERE claims.debate = held.debate AND claims.token = held.token
"""


def _lock_number(name: str) -> int:
    """A number from 0 to 2^62 for a debate or writer. Collisions are less likely than disk failures."""
    return int(digest(name)[:16], 16) >> 2


try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]
_OPEN: dict[Path, _LockFile] = {}
_GUARD = threading.Lock()
