"""The jobs of one database: what was requested, and what became of it.

Queues and workers may lose what they know. A debate is due as long as its job here is neither over nor cancelled. A
request is data (motion, format, seats, settings, sources by hash) and never holds a key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from disputatio.errors import QueueFullError
from disputatio.kernel import JsonObject
from disputatio.record.database import store_errors
from disputatio.record.events import Abstained, CallMade, TurnTaken
from disputatio.record.sql import SqlStore
from disputatio.record.text import canonical, digest
from disputatio.workers.port import Job, JobState, NewCeilings, TransactionHook, no_hook

if TYPE_CHECKING:
    from sqlalchemy import Connection

MAX_TRIES = 10
"""Tries without a new answer before a job is given up.

Not fewer: every job that a process ran is counted when one of them ends the process."""
_NEW_CEILINGS = "resume"
"""Where a job keeps the ceilings of its last resumption; not part of the request."""
_COUNTING = 0x64697371
"""The advisory lock under which waiting jobs are counted; an arbitrary number of our own."""
_OPEN = (JobState.WAITING.value, JobState.RUNNING.value)


@dataclass(frozen=True, slots=True)
class DueJob:
    """What is left to do for a job.

    Attributes:
        order: the request, as it was stored.
        raised: the ceilings of its last resumption; None where it was not resumed.
        cancelled: whether a caller wants it stopped.
        tries: tries since the record last progressed, this one included.
        status: of its record; None where it has none yet.
    """

    order: JsonObject
    raised: NewCeilings | None
    cancelled: bool
    tries: int
    status: str | None


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """How a job ended."""

    debate: str
    state: JobState
    reason: str = ""
    next_step: str = ""


class _Progress(NamedTuple):
    """How far a record is. A resumption is an event too, but no progress."""

    status: str | None
    answers: int


_NO_RECORD = _Progress(None, 0)
_PROGRESS = (CallMade.kind, TurnTaken.kind, Abstained.kind)


class JobTable:
    """The jobs in the database of ``store``. Its methods block on the database; call them in a thread."""

    def __init__(self, store: SqlStore) -> None:
        self._engine = store.engine
        self._place = store.place
        self._sqlite = self._engine.dialect.name == "sqlite"

    def add_job(
        self,
        row: Job,
        order: JsonObject,
        most_waiting: int | None,
        in_transaction: TransactionHook = no_hook,
    ) -> bool:
        """Store a request and run ``in_transaction`` with it. False where it was stored already.

        Raises:
            QueueFullError: ``most_waiting`` jobs wait in its queue.
        """
        from disputatio.record.tables import order_texts, orders

        body, texts = _split_texts(order)
        with self._transaction() as connection:
            self._lock_queue(connection)
            if connection.execute(orders.select().where(orders.c.debate == row.debate)).first():
                return False
            self._check_room(connection, row.queue, most_waiting)
            if texts:
                rows = [{"hash": name, "text": text} for name, text in texts.items()]
                connection.execute(self._insert(order_texts), rows)
            values = {"debate": row.debate, "body": canonical(body), "queue": row.queue, "priority": row.priority}
            values |= {"state": row.state.value, "asked_at": row.asked_at, "cancelled": False, "tries": 0}
            connection.execute(orders.insert(), {**values, "reached": 0, "reason": "", "next_step": ""})
            in_transaction(connection)
        return True

    def job(self, debate: str) -> Job | None:
        """The job of ``debate``."""
        found = self._jobs(lambda query, orders: query.where(orders.c.debate == debate))
        return found[0] if found else None

    def order(self, debate: str) -> JsonObject | None:
        """The request of ``debate`` as it was stored; None where there is none."""
        from disputatio.record.tables import orders

        with self._transaction() as connection:
            row = connection.execute(orders.select().where(orders.c.debate == debate)).first()
            if row is None:
                return None
            body = json.loads(row.body)
            body.pop(_NEW_CEILINGS, None)
            return _join_texts(body, self._texts(connection, [body]))

    def without_record(self, prefix: str) -> Sequence[Job]:
        """Up to two jobs whose debates begin with ``prefix`` and have no record."""
        import sqlalchemy as sa

        from disputatio.record.tables import debates as records

        begun = sa.select(records.c.id)
        return self._jobs(
            lambda query, orders: (
                query.where(orders.c.debate.startswith(prefix, autoescape=True), orders.c.debate.not_in(begun))
                .order_by(orders.c.debate)
                .limit(2)
            )
        )

    def jobs(self, *, unfinished: bool = False) -> Sequence[Job]:
        """All jobs, newest first, or the unfinished ones in the order in which they run."""
        if not unfinished:
            return self._jobs(lambda query, orders: query.order_by(orders.c.asked_at.desc(), orders.c.debate))
        return self._jobs(
            lambda query, orders: query.where(orders.c.state.in_(_OPEN)).order_by(
                orders.c.priority.desc(), orders.c.asked_at, orders.c.debate
            )
        )

    def begin_all(self, debates: Collection[str]) -> dict[str, DueJob]:
        """Note that ``debates`` are being continued. Returns what is left to do for those whose job is not over.

        Only the holder of their claims may call this. A cancelled job does not count a try.
        """
        import sqlalchemy as sa

        from disputatio.record.tables import orders

        with self._transaction() as connection:
            self._commit_asynchronously(connection)
            query = orders.select().where(orders.c.debate.in_(debates), orders.c.state.in_(_OPEN))
            rows = connection.execute(query.with_for_update()).all()
            records = self._records(connection, [row.debate for row in rows])
            begun = {}
            for row in rows:
                answers = records.get(row.debate, _NO_RECORD).answers
                tries = row.tries if row.cancelled else 1 if answers != row.reached else row.tries + 1
                begun[row.debate] = {"own": row.debate, "now_tried": tries, "now_reached": answers}
            counted = [begun[row.debate] for row in rows if not row.cancelled]
            if counted:
                change = orders.update().where(orders.c.debate == sa.bindparam("own"))
                tried: Any = sa.bindparam("now_tried")
                reached: Any = sa.bindparam("now_reached")
                connection.execute(change.values(state=JobState.RUNNING.value, tries=tried, reached=reached), counted)
            bodies = {row.debate: json.loads(row.body) for row in rows}
            texts = self._texts(connection, bodies.values())
        found = {}
        for row in rows:
            body = bodies[row.debate]
            raised, status = _read_ceilings(body.pop(_NEW_CEILINGS, None)), records.get(row.debate, _NO_RECORD).status
            tries = int(begun[row.debate]["now_tried"])
            found[row.debate] = DueJob(_join_texts(body, texts), raised, row.cancelled, tries, status)
        return found

    def finish(self, debate: str, state: JobState, reason: str = "", next_step: str = "") -> None:
        """Note how a job ended. A job that is over stays unchanged."""
        self.finish_all([FinishedJob(debate, state, reason, next_step)])

    def finish_all(self, ended: Sequence[FinishedJob]) -> list[str | None]:
        """Note how jobs ended and delete their questions to people. Returns the status of each record, if any.

        A job that is over stays unchanged.
        """
        import sqlalchemy as sa

        from disputatio.record.tables import orders, questions

        debates = [row.debate for row in ended]
        # Not IN, which executemany does not support.
        still_open = sa.or_(*(orders.c.state == state for state in _OPEN))
        own = (orders.c.debate == sa.bindparam("own")) & still_open
        with self._transaction() as connection:
            # The end of the queue job comes later in the server's log and makes this durable too.
            self._commit_asynchronously(connection)
            connection.execute(
                orders.update()
                .where(own)
                .values(state=sa.bindparam("now"), reason=sa.bindparam("why"), next_step=sa.bindparam("then")),
                [
                    {"own": row.debate, "now": row.state.value, "why": row.reason, "then": row.next_step}
                    for row in ended
                ],
            )
            connection.execute(questions.delete().where(questions.c.debate.in_(debates)))
            records = self._statuses(connection, debates)
        return [records.get(debate) for debate in debates]

    def put_back(self, debate: str) -> None:
        """Let other workers continue it, without counting the try."""
        from disputatio.record.tables import orders

        own = (orders.c.debate == debate) & (orders.c.state == JobState.RUNNING.value)
        with self._transaction() as connection:
            connection.execute(orders.update().where(own), {"state": JobState.WAITING.value, "tries": 0})

    def reopen(self, debate: str, raised: NewCeilings, in_transaction: TransactionHook = no_hook) -> bool:
        """Run a job that is over once more, and run ``in_transaction`` with it. False where it is not over."""
        from disputatio.record.tables import orders

        own = orders.c.debate == debate
        with self._transaction() as connection:
            row = connection.execute(orders.select().where(own).with_for_update()).first()
            if row is None or not JobState(row.state).is_over:
                return False
            ceilings = {name: value if value is None else str(value) for name, value in asdict(raised).items()}
            body = canonical({**json.loads(row.body), _NEW_CEILINGS: ceilings})
            values = {"body": body, "state": JobState.WAITING.value, "cancelled": False, "tries": 0}
            connection.execute(orders.update().where(own), {**values, "reason": "", "next_step": ""})
            in_transaction(connection)
        return True

    def cancel(self, debate: str) -> bool:
        """Cancel a job: a waiting one is over at once, a running one is stopped by its process."""
        from disputatio.record.tables import orders

        own, waits = orders.c.debate == debate, orders.c.state == JobState.WAITING.value
        with self._transaction() as connection:
            asked = connection.execute(orders.update().where(own, orders.c.state.in_(_OPEN)), {"cancelled": True})
            connection.execute(orders.update().where(own, waits), {"state": JobState.CANCELLED.value})
        return bool(asked.rowcount)

    def cancelled(self, debates: Collection[str]) -> set[str]:
        """Those of ``debates`` that are to be stopped."""
        import sqlalchemy as sa

        from disputatio.record.tables import orders

        if not debates:
            return set()
        query = sa.select(orders.c.debate).where(orders.c.debate.in_(debates), orders.c.cancelled.is_(True))
        with self._transaction() as connection:
            return set(connection.execute(query).scalars())

    def _records(self, connection: Connection, debates: Collection[str]) -> dict[str, _Progress]:
        """How far the records of ``debates`` are; those without a record are left out."""
        import sqlalchemy as sa

        from disputatio.record.tables import events

        statuses = self._statuses(connection, debates)
        if not statuses:
            return {}
        own = events.c.debate.in_(statuses) & events.c.kind.in_(_PROGRESS)
        query = sa.select(events.c.debate, sa.func.count().label("answers")).where(own).group_by(events.c.debate)
        answers = {row.debate: row.answers for row in connection.execute(query)}
        return {debate: _Progress(status, answers.get(debate, 0)) for debate, status in statuses.items()}

    def _statuses(self, connection: Connection, debates: Collection[str]) -> dict[str, str]:
        import sqlalchemy as sa

        from disputatio.record.tables import debates as records

        query = sa.select(records.c.id, records.c.status).where(records.c.id.in_(debates))
        return {row.id: row.status for row in connection.execute(query)}

    def _texts(self, connection: Connection, bodies: Iterable[JsonObject]) -> dict[str, str]:
        """The sources that requests name, by hash."""
        import sqlalchemy as sa

        from disputatio.record.tables import order_texts

        rows: Any = [row for body in bodies for row in body.get("evidence", ())]  # type: ignore[union-attr]
        names = {row["text"] for row in rows}
        query = sa.select(order_texts.c.hash, order_texts.c.text).where(order_texts.c.hash.in_(names))
        return {row.hash: row.text for row in connection.execute(query)} if names else {}

    def _commit_asynchronously(self, connection: Connection) -> None:
        """Do not wait for the disk: what a crash of the server forgets is noted again."""
        if not self._sqlite:
            connection.exec_driver_sql("SET LOCAL synchronous_commit TO OFF")

    def _jobs(self, narrowed: Callable[[Any, Any], Any]) -> list[Job]:
        import sqlalchemy as sa

        from disputatio.record.tables import orders

        names = ("debate", "state", "queue", "priority", "asked_at", "reason", "next_step")
        query = narrowed(sa.select(*(orders.c[name] for name in names)), orders)
        with self._transaction() as connection:
            return [
                Job(row.debate, JobState(row.state), row.queue, row.priority, row.asked_at, row.reason, row.next_step)
                for row in connection.execute(query)
            ]

    def _check_room(self, connection: Connection, queue: str, most: int | None) -> None:
        import sqlalchemy as sa

        from disputatio.record.tables import orders

        if most is None:
            return
        waiting = (orders.c.queue == queue) & (orders.c.state == JobState.WAITING.value)
        count = connection.execute(sa.select(sa.func.count()).where(waiting)).scalar() or 0
        if count >= most:
            raise QueueFullError(
                f"The queue {queue} is full: {count:,} debates are waiting, and it takes no more than {most:,}.",
                "Nothing was taken. Try again when some have ended, start more workers, or raise the limit.",
            )

    def _lock_queue(self, connection: Connection) -> None:
        """One transaction at a time, so that the count stays true until the job is written."""
        if not self._sqlite:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_COUNTING})")

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with store_errors(self._place), self._engine.begin() as connection:
            if self._sqlite:
                # What is read here must not change before it is written.
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    def _insert(self, table: Any) -> Any:
        if self._sqlite:
            from sqlalchemy.dialects.sqlite import insert
        else:
            from sqlalchemy.dialects.postgresql import insert  # type: ignore[assignment]
        return insert(table).on_conflict_do_nothing()


def _split_texts(order: JsonObject) -> tuple[JsonObject, dict[str, str]]:
    """A request with its sources named by hash, and their texts."""
    rows: Any = order.get("evidence", ())
    texts = {digest(row["text"]): row["text"] for row in rows}
    named = [{**row, "text": digest(row["text"])} for row in rows]
    return ({**order, "evidence": named} if named else dict(order)), texts


def _read_ceilings(kept: Any) -> NewCeilings | None:
    if kept is None:
        return None
    usd, tokens, calls = (kept[name] for name in ("budget_usd", "budget_tokens", "max_calls"))
    return NewCeilings(usd and Decimal(usd), tokens and int(tokens), calls and int(calls))


def _join_texts(order: JsonObject, texts: dict[str, str]) -> JsonObject:
    rows: Any = order.get("evidence", ())
    return {**order, "evidence": [{**row, "text": texts[row["text"]]} for row in rows]} if rows else order
