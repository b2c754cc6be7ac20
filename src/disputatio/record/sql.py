"""The store over SQLAlchemy Core: SQLite by default, PostgreSQL by address.

Group commit: all appends of one step of an event loop go to one writer thread together. Appends that arrive during a
write share the next transaction, so a thousand debates in one process share their fsyncs. Each append completes when
its transaction is durable. Writes of one debate keep their order.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disputatio.errors import StoreError
from disputatio.record.chain import AT_ONCE, GENESIS, Sealed
from disputatio.record.claims import Claims, ClaimState, FileClaims, ProcessClaims, WriterClaims
from disputatio.record.database import (
    NEWEST_FIRST,
    ROWS,
    debate_row,
    fetch_rows,
    is_away,
    open_database,
    store_errors,
    unexpected_error,
)
from disputatio.record.events import (
    DebateClosed,
    DebateInterrupted,
    DebateOpened,
    DebateResumed,
    OutcomeAttached,
    SignedOff,
)
from disputatio.record.history import Status
from disputatio.record.memory import EVENTS, TEXTS
from disputatio.record.store import DebateRow, EventBatch, held_elsewhere_error, taken_over_error
from disputatio.record.summaries import SummaryTable, write_summaries
from disputatio.record.text import read_json, replace_surrogates

if TYPE_CHECKING:
    from sqlalchemy import Connection, Dialect, Engine, TextClause

_Job = tuple[EventBatch, asyncio.AbstractEventLoop, "asyncio.Future[None]"]
_MOST_AT_ONCE = 256
_ROWS_OF_A_STATEMENT = 128
"""Times seven columns: older builds of SQLite take 999 values."""
PATIENCE_SECONDS = 60.0
"""How long a database server may be away before a write fails."""
_PAUSE_SECONDS = 0.25
_INSERT_STATEMENTS: dict[tuple[str, str, str], tuple[str, tuple[str, ...]]] = {}
"""By dialect, driver and table, for all stores."""


class SqlStore:
    """Records in a database.

    Args:
        url: see ``open_database``.
        create: create the database where it is missing.

    Raises:
        StoreError, InvalidInputError: as ``open_database``.
    """

    def __init__(self, url: str, *, create: bool = True) -> None:
        self._engine = open_database(url, create=create)
        self._place = self._engine.url.render_as_string(hide_password=True)
        self._jobs: queue.SimpleQueue[list[_Job] | None] = queue.SimpleQueue()
        self._gathered: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
        self._writer: threading.Thread | None = None
        self._known_texts: dict[str, set[str]] = {}
        self._failed: set[str] = set()
        self._claims = self._claims_here()
        self._closed = False

    @property
    def address(self) -> str:
        """The address of the database, with any password hidden."""
        return self._place

    def _claims_here(self) -> Claims:
        if self._engine.dialect.name == "postgresql":
            return WriterClaims(self._engine)
        file = self._engine.url.database
        return FileClaims(Path(file)) if file and file != ":memory:" else ProcessClaims()

    def claim(self, debate: str) -> None:
        """Claim ``debate`` for this process."""
        if not self.claim_all([debate]):
            raise held_elsewhere_error(debate)

    def claim_all(self, debates: Collection[str]) -> set[str]:
        """Claim ``debates`` and return those that no other process holds, in one transaction at most."""
        with store_errors(self._place):
            return self._claims.claim_all(debates)

    def release(self, debate: str) -> None:
        """Release the claim."""
        self.release_all([debate])

    def release_all(self, debates: Collection[str]) -> None:
        """Release claims, in one transaction at most. Safe to repeat."""
        with store_errors(self._place):
            self._claims.release_all(debates)

    def claim_state(self, debate: str) -> ClaimState | None:
        """The claim on ``debate`` in PostgreSQL; None where no live writer holds it.

        Always None for a file: a claim there ends with its process and cannot be revoked.
        """
        with store_errors(self._place):
            return self._claims.claim_state(debate) if isinstance(self._claims, WriterClaims) else None

    def revoke(self, debate: str, seen: ClaimState) -> bool:
        """Void the claim of a writer that has not counted since it was ``seen``. Returns whether there was one.

        Its later writes of the debate are refused. The caller has waited long enough in between.
        """
        with store_errors(self._place):
            return isinstance(self._claims, WriterClaims) and self._claims.revoke(debate, seen)

    @property
    def engine(self) -> Engine:
        """The database, for the other tables in it."""
        return self._engine

    @property
    def summaries(self) -> SummaryTable:
        """What readers computed from its records."""
        return SummaryTable(self._engine)

    @property
    def writer_claims(self) -> WriterClaims | None:
        """The claims of this writer; None for a file, which only one machine can write."""
        return self._claims if isinstance(self._claims, WriterClaims) else None

    @property
    def place(self) -> str:
        """Its address, without a password."""
        return self._place

    def append(self, writing: EventBatch) -> asyncio.Future[None]:
        """Append events; the future completes when they are durable."""
        if self._closed:
            raise StoreError("The store is closed.", "Open it again, such as with disputatio.open_store(...).")
        if self._writer is None:
            self._writer = threading.Thread(target=self._run_writer, name="disputatio-record", daemon=True)
            self._writer.start()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        gathered = self._gathered.get(loop)
        if gathered is None:
            gathered = self._gathered[loop] = []
            # Debates that go on side by side write in the same step of their loop. Were the first writing given to the
            # writer at once, it would be a commit by itself, and the loop would give way to the writer at each.
            loop.call_soon(self._enqueue, loop)
        gathered.append((writing, loop, done))
        return done

    def _enqueue(self, loop: asyncio.AbstractEventLoop) -> None:
        """Give the writer what ``loop`` has gathered."""
        if gathered := self._gathered.pop(loop, None):
            self._jobs.put(gathered)

    def _run_writer(self) -> None:
        while True:
            batch = self._jobs.get()
            if batch is None:
                return
            ends = False
            while len(batch) < _MOST_AT_ONCE and not self._jobs.empty():
                more = self._jobs.get()
                if more is None:
                    ends = True
                    break
                batch += more
            self._commit(batch)
            if ends:
                return

    def _commit(self, batch: list[_Job]) -> None:
        writings = [writing for writing, _, _ in batch]
        try:
            with store_errors(self._place):
                self._transact(writings)
        except Exception as error:  # noqa: BLE001  (if the writer died, all appends would wait forever)
            if len(batch) > 1:
                # One bad write must not fail the others.
                for job in batch:
                    self._commit([job])
                return
            self._failed.add(writings[0].debate)
            _resolve_all(batch, error if isinstance(error, StoreError) else unexpected_error(self._place, error))
            return
        self._note(writings)
        _resolve_all(batch)

    def _transact(self, writings: Sequence[EventBatch]) -> None:
        """Write in one transaction, waiting for a server that is away: answers in it are paid."""
        from sqlalchemy.exc import DBAPIError

        away_since: float | None = None
        while True:
            try:
                with self._engine.begin() as connection:
                    left = writings if away_since is None else self._unwritten(connection, writings)
                    self._write(connection, left)
                return
            except DBAPIError as error:
                away_since = time.monotonic() if away_since is None else away_since
                if not is_away(error) or time.monotonic() - away_since > PATIENCE_SECONDS:
                    raise
            time.sleep(_PAUSE_SECONDS)

    def _unwritten(self, connection: Connection, writings: Sequence[EventBatch]) -> list[EventBatch]:
        """What is not stored yet: the server may have committed before the connection broke."""
        import sqlalchemy as sa

        from disputatio.record.tables import events

        names = {writing.debate for writing in writings}
        query = sa.select(events.c.hash).where(events.c.debate.in_(names))
        there = set(connection.execute(query).scalars())
        return [
            replace(writing, events=tuple(row for row in writing.events if row.hash not in there))
            for writing in writings
        ]

    def _check_claims(self, connection: Connection, writings: Sequence[EventBatch]) -> None:
        """Refuse writes of a writer whose claim was taken over. A takeover waits for this transaction."""
        if not isinstance(self._claims, WriterClaims):
            return
        import sqlalchemy as sa

        from disputatio.record.tables import claims

        held = {writing.debate: self._claims.tokens.get(writing.debate) for writing in writings}
        held = {debate: token for debate, token in held.items() if token is not None}
        if not held:
            return
        query = sa.select(claims.c.debate, claims.c.token).where(claims.c.debate.in_(held))
        now = {row.debate: row.token for row in connection.execute(query.with_for_update(read=True))}
        for debate, token in held.items():
            if now.get(debate) != token:
                raise taken_over_error(debate)

    def _write(self, connection: Connection, writings: Sequence[EventBatch]) -> None:
        """Write everything."""
        self._check_claims(connection, writings)
        if self._failed:
            self._check_no_gap(connection, writings)
        rows = [sealed for writing in writings for sealed in writing.events]
        listed = [sealed for sealed in rows if sealed.kind in _LISTED]
        self._insert(connection, "debates", [_debate_row(row) for row in listed if row.kind == DebateOpened.kind])
        self._insert(connection, "events", rows)
        self._insert(connection, "texts", self._new_texts(writings))
        if summaries := [writing.summary for writing in writings if writing.summary is not None]:
            write_summaries(connection, summaries)
        for sealed in listed:
            if sealed.kind in _ANCHORS:
                anchor = {**_status_after(sealed), "events": sealed.seq, "head": sealed.hash}
                connection.execute(_anchor_statement(*anchor), {**anchor, "debate": sealed.debate})

    def _check_no_gap(self, connection: Connection, writings: Sequence[EventBatch]) -> None:
        """Refuse writes after a failed one: a record with a hole would never verify."""
        import sqlalchemy as sa

        from disputatio.record.tables import events

        for writing in writings:
            if writing.debate in self._failed and writing.events:
                query = sa.select(events.c.seq, events.c.hash).where(events.c.debate == writing.debate)
                row = connection.execute(query.order_by(events.c.seq.desc()).limit(1)).first()
                last, head = (row.seq, row.hash) if row else (0, GENESIS)
                first = writing.events[0]
                # A number that is taken is refused by the table itself, as another writer's.
                if first.seq > last and (first.seq, first.previous) != (last + 1, head):
                    raise StoreError(
                        "An earlier event of this debate could not be written, so no later one is.",
                        "Cure the earlier failure, then resume.",
                    )

    def _note(self, writings: Sequence[EventBatch]) -> None:
        """Remember what is durable now. Before the commit, a failure would lose texts."""
        for writing in writings:
            self._failed.discard(writing.debate)
            if writing.texts:
                self._known_texts.setdefault(writing.debate, set()).update(writing.texts)
            if DebateClosed.kind in [sealed.kind for sealed in writing.events]:
                self._known_texts.pop(writing.debate, None)

    def _new_texts(self, writings: Sequence[EventBatch]) -> list[tuple[str, str, str]]:
        """The texts that this process has not stored before, each with its debate and hash."""
        found: list[tuple[str, str, str]] = []
        for writing in writings:
            debate = writing.debate
            known = self._known_texts.get(debate, ())
            found += [
                (debate, name, replace_surrogates(text)) for name, text in writing.texts.items() if name not in known
            ]
        return found

    def _insert(self, connection: Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert ``rows``, with values in the order of the columns of ``table``.

        In SQLite many rows are one statement. Its driver releases the GIL at every row of a list, and a busy event loop
        returns it only after milliseconds. The driver is called directly, which is faster than SQLAlchemy's path to it.
        """
        if not rows:
            return
        statement, columns = _insert_statement(self._engine.dialect, table)
        if self._engine.dialect.name != "sqlite":
            connection.exec_driver_sql(statement, [dict(zip(columns, row, strict=True)) for row in rows])
            return
        driver: Any = connection.connection.driver_connection
        one = f"({', '.join('?' * len(columns))})"
        for start in range(0, len(rows), _ROWS_OF_A_STATEMENT):
            part = rows[start : start + _ROWS_OF_A_STATEMENT]
            several = statement.replace(one, ", ".join([one] * len(part)))
            driver.execute(several, tuple(chain.from_iterable(part)))

    def read(self, debate: str, after: int = 0) -> Sequence[Sealed]:
        """The events of ``debate`` in order, from number ``after`` + 1 on."""
        return [row for part in self.parts(debate, after) for row in part]

    def parts(self, debate: str, after: int = 0) -> Iterator[Sequence[Sealed]]:
        """The same as ``read``, in parts."""
        with store_errors(self._place), self._engine.connect() as connection:
            for rows in fetch_rows(connection, EVENTS, {"debate": debate, "after": after}, AT_ONCE):
                yield [*map(Sealed._make, rows)]

    def texts(self, debate: str) -> Mapping[str, str]:
        """The texts of ``debate`` by hash."""
        with store_errors(self._place), self._engine.connect() as connection:
            rows = fetch_rows(connection, TEXTS, {"debate": debate})
            return {name: text for part in rows for name, text in part}

    def debates(self) -> Sequence[DebateRow]:
        """All debates, newest first."""
        import sqlalchemy as sa

        with store_errors(self._place), self._engine.connect() as connection:
            return [debate_row(row) for row in connection.execute(sa.text(NEWEST_FIRST))]

    def debates_in_order(self, since: str = "", at_once: int = 1_000) -> Iterator[DebateRow]:
        """All debates opened at ``since`` or later, the oldest first; ``at_once`` of them are in memory at a time."""
        opened_at, last = since, ""
        while True:
            place = {"opened_at": opened_at, "last": last, "most": at_once}
            with store_errors(self._place), self._engine.connect() as connection:
                rows = [DebateRow(*row) for part in fetch_rows(connection, _OLDEST_FIRST, place) for row in part]
            yield from rows
            if len(rows) < at_once:
                return
            opened_at, last = rows[-1].opened_at, rows[-1].id

    def row(self, debate: str) -> DebateRow | None:
        """The list entry of ``debate``."""
        with store_errors(self._place), self._engine.connect() as connection:
            found = list(fetch_rows(connection, f"{ROWS} WHERE id = :debate", {"debate": debate}))
        return debate_row(found[0][0]) if found else None

    def find(self, prefix: str) -> Sequence[str]:
        """The ids that begin with ``prefix``."""
        import sqlalchemy as sa

        from disputatio.record.tables import debates

        # Not LIKE, which ignores case in SQLite.
        query = sa.select(debates.c.id).where(sa.func.substr(debates.c.id, 1, len(prefix)) == prefix)
        with store_errors(self._place), self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    async def aclose(self) -> None:
        """Write what waits and close. Safe to repeat."""
        writer = self._end_writer()
        if writer is not None:
            await asyncio.to_thread(writer.join)
        self._dispose()

    def close(self) -> None:
        """The same as ``aclose``, for programs without an event loop and for reading inside of one."""
        writer = self._end_writer()
        if writer is not None:
            writer.join()
        self._dispose()

    def _end_writer(self) -> threading.Thread | None:
        """Accept no more writes, and tell the writer to end after what waits."""
        # Set first: an append during shutdown would start a second writer.
        self._closed = True
        writer, self._writer = self._writer, None
        if writer is not None:
            for loop in tuple(self._gathered):
                self._enqueue(loop)
            self._jobs.put(None)
        return writer

    def _dispose(self) -> None:
        self._claims.close()
        self._engine.dispose()


def _insert_statement(dialect: Dialect, table: str) -> tuple[str, tuple[str, ...]]:
    """The statement that inserts a row, and the table's columns. Cached, because compiling costs more than inserting.

    A text that exists stays unchanged.
    """
    found = _INSERT_STATEMENTS.get((dialect.name, dialect.driver, table))
    if found is None:
        from disputatio.record.tables import metadata

        if dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import insert
        else:
            from sqlalchemy.dialects.sqlite import insert  # type: ignore[assignment]
        target = metadata.tables[table]
        statement = insert(target).on_conflict_do_nothing() if table == "texts" else insert(target)
        found = str(statement.compile(dialect=dialect)), tuple(target.columns.keys())
        _INSERT_STATEMENTS[dialect.name, dialect.driver, table] = found
    return found


@lru_cache
def _anchor_statement(*names: str) -> TextClause:
    """The statement that notes in the list of debates how far a record goes; cached to compile it once."""
    import sqlalchemy as sa

    named = ", ".join(f"{name} = :{name}" for name in names)
    return sa.text(f"UPDATE debates SET {named} WHERE id = :debate")  # noqa: S608  (names of columns)


def _resolve_all(batch: list[_Job], error: StoreError | None = None) -> None:
    """Complete the futures, with one wake-up per event loop."""
    waiting: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for _, loop, done in batch:
        waiting.setdefault(loop, []).append(done)
    for loop, futures in waiting.items():
        # The loop may be closed; then nothing waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_set_results, futures, error)


def _set_results(futures: list[asyncio.Future[None]], error: StoreError | None) -> None:
    for done in futures:
        if done.done():
            continue
        if error is None:
            done.set_result(None)
            continue
        done.set_exception(error)
        # Mark it as seen: a later write fails with the same error.
        done.exception()


_OLDEST_FIRST = (
    f"{ROWS} WHERE opened_at >= :opened_at AND (opened_at > :opened_at OR id > :last) "
    "ORDER BY opened_at, id LIMIT :most"
)
"""Some debates after one of them, so that each query is answered by the index whatever the length of the list."""
_ADDENDA = frozenset({OutcomeAttached.kind, SignedOff.kind})
_ANCHORS = _ADDENDA | {DebateClosed.kind, DebateInterrupted.kind, DebateResumed.kind}
_LISTED = _ANCHORS | {DebateOpened.kind}
"""The events that change the list of debates."""


def _debate_row(sealed: Sealed) -> tuple[Any, ...]:
    """A new debate in the list, in the order of its columns."""
    body, status = read_json(sealed.body), Status.RUNNING.value
    return sealed.debate, sealed.at, body["format"], body["motion"]["text"], status, sealed.seq, sealed.hash


def _status_after(sealed: Sealed) -> dict[str, str]:
    """The status that an event sets; empty where it sets none."""
    if sealed.kind in _ADDENDA:
        return {}
    if sealed.kind == DebateClosed.kind:
        return {"status": str(read_json(sealed.body)["status"])}
    if sealed.kind == DebateInterrupted.kind:
        return {"status": Status.INTERRUPTED.value}
    return {"status": Status.RUNNING.value}
