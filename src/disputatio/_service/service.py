"""What the service does for a caller, whichever surface asks: the API and the page call the same functions."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from disputatio._service.ceilings import MOST_USD, Expected, describe, stated, typical_call, usual_ceilings
from disputatio._service.database import Database
from disputatio._service.debate_book import AlreadyOrderedError, Asked, DebateBook, Listed, goes_on
from disputatio._service.exposition import Exposition
from disputatio._service.hub import AnnouncingStore, Hub, Watching
from disputatio._service.key_book import KeyBook
from disputatio._service.key_ledger import (
    NO_LIMIT,
    KeyLedger,
    Paid,
    Room,
    Run,
    budget_spent,
    floored,
    paid_calls,
    total,
)
from disputatio._service.keys import KEYLESS, Caller
from disputatio._service.limits import rate_limits
from disputatio._service.open_questions import LocalQuestions, OpenQuestions, RemoteQuestions
from disputatio._service.problems import RefusedError, not_found
from disputatio._service.results import Results
from disputatio._service.seating import Seating
from disputatio.engine.ports import CombinedObserver
from disputatio.engine.runtime import Runtime, is_resumable, new_id
from disputatio.errors import DisputatioError, InvalidInputError, QueueFullError, StoreError
from disputatio.kernel import JsonObject
from disputatio.ledger.budget import Budget
from disputatio.proposals import proposal_of, read_request
from disputatio.proposals.reading_queue import ReadingQueue
from disputatio.record.history import History, Status
from disputatio.record.sql import SqlStore
from disputatio.record.store import DebateRow, Store
from disputatio.record.text import canonical
from disputatio.record.verified import read_verified
from disputatio.report.audience import Audience, audience_of
from disputatio.telemetry import add_tracing
from disputatio.workers import Job, JobState, NewCeilings, Runner
from disputatio.workers.in_process_runner import InProcessRunner

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from disputatio.debates import Debate
    from disputatio.engine.opening import Proposal
    from disputatio.engine.ports import Observer
    from disputatio.evidence.reading_process import SourceReader
    from disputatio.evidence.sources import Source
    from disputatio.participants.shared_clients import ClientFactory
    from disputatio.record.chain import Sealed

Value = TypeVar("Value")
ReadSources: TypeAlias = "Callable[[SourceReader], Sequence[Source]]"
"""Reads the sources that a caller sent with a request."""


def _no_sources(_reader: SourceReader) -> Sequence[Source]:
    return ()


PATIENCE_S = 15.0
"""How long a request waits for the debate to begin, in seconds. The debate continues in any case."""
SETTLE_S = 5.0
"""How often is looked for runs that are over and not settled: those of workers, and those of dead servers."""
READY_S = 2.0
"""A service that takes longer to check a key and read its store is not ready."""
_KEY_THREADS = 4
_LOOKS = 20
_LOOK_S = 0.1
"""How often and how soon is looked again where a debate was just let go of here: its order is over a moment later."""
_LOG = logging.getLogger("disputatio.service")
_NOT_OVER = frozenset({Status.RUNNING.value, Status.INTERRUPTED.value})
_AFTER_ALL = 2**62


@dataclass(frozen=True, slots=True)
class Choices:
    """How the service was started.

    Attributes:
        store: the address of the store.
        keyless: whether there is no key, and only this machine may call.
        allow: hosts that evidence may be fetched from; none unless it was said.
        most_streams: the most listeners of one tenant at once.
        upload_bytes: the largest upload.
        hosts: names that requests may be sent to; empty takes any.
        secure: whether browsers reach it over TLS, so that cookies may say so.
        workers: whether other processes hold the debates, over a PostgreSQL store.
    """

    store: str
    keyless: bool
    allow: frozenset[str] = frozenset()
    most_streams: int = 200
    upload_bytes: int = 10_000_000
    hosts: frozenset[str] = frozenset()
    secure: bool = False
    workers: bool = False


class Service:
    """One service over one store.

    Args:
        choices: how it was started.
        client_factory: makes model clients; None takes the package's own.
        concurrency: the most debates that run at once in this process.
    """

    def __init__(
        self, choices: Choices, *, client_factory: ClientFactory | None = None, concurrency: int = 100
    ) -> None:
        self.choices = choices
        self.store = SqlStore(choices.store)
        database = Database(choices.store)
        self.database = database
        self.keys, self.ledger = KeyBook(database), KeyLedger(database)
        self.book = DebateBook(database, self.ledger)
        self.hub, self.rates = Hub(), rate_limits(database)
        self.reading = ReadingQueue()
        self._key_threads = ThreadPoolExecutor(_KEY_THREADS, thread_name_prefix="keys")
        self.draining = asyncio.Event()
        self.streams: dict[str, int] = {}
        self.metrics = Exposition(self.store, OpenView(self.store), self.hub)
        self.results = Results(self.store)
        self._opener = client_factory
        self._told = AnnouncingStore(self.store, self.hub, self._let_go)
        self.runner, self.open_questions = self._runner(concurrency)
        self.seating = Seating(database, self.store, self.open_questions)
        self._warming: asyncio.Task[None] | None = None
        self._settling: asyncio.Task[None] | None = None
        self._to_settle = asyncio.Event()
        self._unreadable: set[str] = set()

    def _runner(self, concurrency: int) -> tuple[Runner, OpenQuestions]:
        """Who holds debates, and where people are asked who sit in them."""
        if self.choices.workers:
            from disputatio.workers.questions import QuestionTable
            from disputatio.workers.queue_runner import QueueRunner

            return QueueRunner(self.store), RemoteQuestions(QuestionTable(self.store))
        open_questions = LocalQuestions(self.hub)
        return InProcessRunner(
            self.store, concurrency=concurrency, runtime=self._runtime, participants=open_questions.people
        ), open_questions

    def _runtime(self, debate: str) -> Runtime:
        watching = Watching(self.hub, debate, lambda: self.store.read(debate))
        observer: Observer = CombinedObserver(watching, self.metrics.metering)
        runtime = Runtime(self._told, observer=add_tracing(observer), streams=True)
        return runtime if self._opener is None else replace(runtime, client_factory=self._opener, checks_first=False)

    def caller(self, authorization: str, session: str) -> Caller | None:
        """Who sends this header or this cookie; None where neither is known."""
        scheme, _, token = authorization.partition(" ")
        if authorization:
            key = self.keys.find(token.strip()) if scheme.lower() == "bearer" else None
            return None if key is None else Caller(key)
        if session:
            return self.keys.session(session)
        # A key that is made while the server runs closes it at once.
        return Caller(KEYLESS, session="keyless") if self.choices.keyless and not self.keys.any() else None

    async def check(self, work: Callable[..., Value], *arguments: Any) -> Value:
        """What ``work`` returns, which finds out who calls: in threads that do nothing else and are never all taken."""
        return await asyncio.get_running_loop().run_in_executor(self._key_threads, work, *arguments)

    async def answers(self) -> Sequence[Job]:
        """The debates under way, once it is known that keys are checked and the store is read within ``READY_S``.

        Raises:
            TimeoutError: they are not.
            StoreError: the store cannot be read.
        """
        async with asyncio.timeout(READY_S):
            _, jobs = await asyncio.gather(self.check(self.keys.any), self.runner.jobs(unfinished=True))
        return jobs

    async def start(
        self,
        body: Mapping[str, Any],
        caller: Caller,
        idempotency: str | None,
        read: ReadSources = _no_sources,
    ) -> tuple[str, bool]:
        """Begin a debate; returns its id, and whether it is a new one.

        Args:
            body: the order.
            caller: who orders it.
            idempotency: the caller's key; the same key with the same request returns the same debate.
            read: reads sources that follow those of the order, in a thread.

        Raises:
            RefusedError, DisputatioError: it cannot be begun; nothing was spent.
        """
        order, proposal, digest = await self._read(body, caller, read, lambda *found: found)
        asked = Asked("", proposal.motion.text, proposal.format.name, digest, idempotency)
        budget = proposal.settings.budget

        async def expected() -> Expected:
            from disputatio.engine.preview import preview

            found = await preview(proposal)
            return Expected(found.calls, found.tokens, found.usd)

        return await self.place(asked, order, Room(budget.usd, budget.tokens), expected, caller)

    async def place(
        self, asked: Asked, order: JsonObject, given: Room, expected: Callable[[], Awaitable[Expected]], caller: Caller
    ) -> tuple[str, bool]:
        """Put a request that was checked on order; as ``start``.

        Args:
            asked: the debate as it was asked for.
            order: the request, as it is stored.
            given: the ceilings that it names.
            expected: what the debate is expected to take; asked for only where a budget needs it.
            caller: whose request it is.

        Raises:
            RefusedError, DisputatioError: it cannot be begun; nothing was spent.
        """
        standing = await asyncio.to_thread(self.book.standing, asked, caller.tenant)
        if standing is not None:
            return standing, False
        order, ceilings = await self._bounded(order, given, expected, caller)
        try:
            # The client may disconnect meanwhile. A stored debate is submitted and remains its tenant's.
            debate = await asyncio.shield(self._entered(replace(asked, ceilings=ceilings), order, caller))
        except AlreadyOrderedError as before:
            return before.debate, False
        except QueueFullError as full:
            raise RefusedError(503, "busy", full.cause, full.next_step, {"Retry-After": "10"}) from None
        failed = await self._failed_to_begin(debate)
        if failed is not None and await asyncio.to_thread(self.book.forget, debate):
            raise RefusedError(422, "invalid", failed.reason, failed.next_step)
        return debate, True

    async def estimate(self, body: Mapping[str, Any], caller: Caller, read: ReadSources = _no_sources) -> JsonObject:
        """What a debate would take, as JSON. No model is called, and nothing is kept.

        Args:
            body: the request.
            caller: whose it is.
            read: reads sources that follow those of the request, in a thread.

        Raises:
            RefusedError, DisputatioError: it could not be started either, or it is too long to be estimated.
        """
        from disputatio.engine.estimate import make_estimate

        # Estimating takes time in proportion to the turns, so it waits in the same queue as reading does.
        return await self._read(body, caller, read, lambda _, found, __: asyncio.run(make_estimate(found)).as_json())

    async def _read(
        self,
        body: Mapping[str, Any],
        caller: Caller,
        read: ReadSources,
        work: Callable[[JsonObject, Proposal, str], Value],
    ) -> Value:
        """What ``work`` makes, in a thread, of a request as it is stored, its proposal, and its digest."""

        def reading(reader: SourceReader) -> Value:
            sources = read(reader)
            kept = read_request(body, sources=sources, reader=reader)
            return work(kept, proposal_of(kept, {}, people_missing=True), _digest(body, sources))

        return await self.reading.read(caller.tenant, reading, sum(map(_size, body.values())))

    async def _entered(self, asked: Asked, order: JsonObject, caller: Caller) -> str:
        """The id of a debate that was entered, reserved and put on order in one transaction."""
        entered: list[str] = []
        while not entered:
            # An id that another debate has already is passed over.
            one = replace(asked, debate=new_id())

            def enter(connection: Connection, one: Asked = one) -> None:
                self.book.take(connection, one, caller)
                entered.append(one.debate)

            await self.runner.submit(one.debate, order, in_transaction=enter)
        return entered[0]

    async def _bounded(
        self, order: JsonObject, given: Room, expected: Callable[[], Awaitable[Expected]], caller: Caller
    ) -> tuple[JsonObject, Room]:
        """The order with the ceilings that its key's budget needs, and these.

        Raises:
            RefusedError: the budget has nothing left, or not enough for a call; or a ceiling is too small to state.
        """
        left = await asyncio.to_thread(self.ledger.room, caller.key.id)
        if left == NO_LIMIT:
            return order, given
        now = self.database.now()
        if left.is_empty:
            raise budget_spent(caller.key, left, now)
        ceilings = given
        if (left.usd is not None and given.usd is None) or (left.tokens is not None and given.tokens is None):
            usual = await expected()
            ceilings = usual_ceilings(usual, given, left)
            if not ceilings.holds(typical_call(usual, left)):
                raise budget_spent(caller.key, left, now, needed=f", and a debate like this takes {describe(usual)}")
        if ceilings.usd is not None:
            ceilings = replace(ceilings, usd=min(floored(ceilings.usd), MOST_USD))
        if ceilings.is_empty:
            raise InvalidInputError(f"A ceiling of {given.usd} USD is too small.", "Give a higher --budget-usd.")
        # The process that runs the debate gets them too, whatever its own configuration.
        budget: Any = order.get("budget", {})
        return {**order, "budget": {**budget, **stated(ceilings)}}, ceilings

    async def _failed_to_begin(self, debate: str) -> Job | None:
        """Wait until the debate has a record, or is known not to get one: then its order, which says why."""
        with self.hub.listening(debate) as listener:
            loop = asyncio.get_running_loop()
            until = loop.time() + PATIENCE_S
            while loop.time() < until and not self.draining.is_set():
                if await asyncio.to_thread(self.store.row, debate) is not None:
                    break
                job = await self.runner.job(debate)
                if job is not None and job.state.is_over:
                    return job if job.state is JobState.FAILED else None
                await listener.wait(0.1)
        return None

    async def resume(self, debate: str, raised: NewCeilings, caller: Caller) -> None:
        """Go on with a debate that is over but has turns left to ask, under new ceilings.

        Raises:
            RefusedError: it is running, was not started here, or a budget does not allow it.
        """
        owner = await asyncio.to_thread(self.book.owner, debate)
        await asyncio.to_thread(self._settle_over)
        record = await asyncio.to_thread(self.store.read, debate)
        history = History.of(row.event() for row in record)
        if history.opened is None or not is_resumable(history):
            raise goes_on(debate)
        raised, ceilings = await asyncio.to_thread(self._raised, record, history, raised, (caller.key.id, owner))

        def go_on(connection: Connection) -> None:
            self.book.go_on(connection, debate, caller, ceilings, record)

        if not await asyncio.shield(self.runner.resume(debate, raised, in_transaction=go_on)):
            raise goes_on(debate)
        loop = asyncio.get_running_loop()
        until = loop.time() + PATIENCE_S
        with self.hub.listening(debate) as listener:
            while loop.time() < until:
                job, row = await self.runner.job(debate), await asyncio.to_thread(self.store.row, debate)
                if job is not None and job.state is JobState.FAILED:
                    await asyncio.to_thread(self._settle_over)
                    raise RefusedError(422, "invalid", job.reason, job.next_step)
                if job is None or job.state.is_over or (row is not None and row.status == Status.RUNNING.value):
                    return
                await listener.wait(0.1)

    def _raised(
        self, record: Sequence[Sealed], history: History, raised: NewCeilings, key_ids: tuple[str, str]
    ) -> tuple[NewCeilings, Room]:
        """The ceilings that a resumption is ordered with, and those that the whole debate then has."""
        assert history.opened is not None  # noqa: S101  (the caller has looked)
        last = Budget.from_json(history.last_budget)
        ceilings = Room(raised.budget_usd or last.usd, raised.budget_tokens or last.tokens)
        left, spent = self.ledger.room(*key_ids), total(paid_calls(record))
        # Where it has none and a budget needs one, it may spend what is left.
        if left.usd is not None and ceilings.usd is None:
            ceilings = replace(ceilings, usd=spent[0] + floored(left.usd))
        if left.tokens is not None and ceilings.tokens is None:
            ceilings = replace(ceilings, tokens=spent[1] + left.tokens)
        if raised == NewCeilings() and history.status is Status.TRUNCATED:
            # It stopped at a ceiling and gets no higher one: the process that runs it will report that.
            return raised, ceilings
        return replace(raised, budget_usd=ceilings.usd, budget_tokens=ceilings.tokens), ceilings

    async def cancel(self, debate: str) -> bool:
        """Stop a debate where it is; whether there was anything to stop."""
        stopped = await self.runner.cancel(debate)
        self._to_settle.set()
        self.hub.wake(debate)
        return stopped

    def listed(self, debate: str, caller: Caller) -> Listed:
        """A debate of the caller's tenant, by its whole id.

        Raises:
            RefusedError: there is none, or it is another tenant's; the answer is the same.
        """
        if self.book.tenant_of(debate) != caller.tenant:
            raise not_found(f"There is no debate {debate[:40]!r} here.")
        row = self.store.row(debate)
        if row is not None:
            return Listed(row.id, row.opened_at, row.format, row.motion, row.status, row.events, row.head)
        asked = self.book.asked(debate)
        assert asked is not None  # noqa: S101  (it has a tenant)
        return asked

    def debate(self, debate: str, caller: Caller) -> Debate:
        """A debate of the caller's tenant with its record, which may still be empty.

        Raises:
            RefusedError: as ``listed``, or it waits and has no record.
        """
        from disputatio.debates import read_debate

        self.listed(debate, caller)
        found = read_debate(self.store, debate)
        if not found.record:
            raise RefusedError(
                409, "conflict", f"The debate {debate} has not started, so it has no record yet.", "GET it to see why."
            )
        return found.for_audience()

    def audience(self, debate: str, number: int) -> Audience:
        """The audience of a debate after its first ``number`` events."""
        audience = Audience()
        for part in self.store.parts(debate) if number else ():
            audience.take(row for row in part if row.seq <= number)
            if part[-1].seq >= number or not audience.has_people:
                break
        return audience

    def view_of(self, caller: Caller) -> Store:
        """The store as far as the caller's tenant may look: lists and figures are made from it."""
        return OpenView(self.store, self.book.ids_of(caller.tenant))

    def verified(self, debate: str, caller: Caller) -> Sequence[Any]:
        """The record of a debate, after its chain was checked."""
        self.debate(debate, caller)
        return read_verified(self.store, debate)

    async def job(self, debate: str) -> Job | None:
        """What the holder knows of it."""
        return await self.runner.job(debate)

    def is_going_on(self, listed: Listed, job: Job | None) -> bool:
        """Whether it will continue without a further request."""
        if listed.status == Status.RUNNING.value:
            return True
        waits = job is not None and job.state in {JobState.WAITING, JobState.RUNNING}
        return waits and listed.status in {Status.INTERRUPTED.value, "WAITING"}

    def _let_go(self, _debate: str) -> None:
        """This process no longer writes a debate: if it is over, what it spent is booked."""
        self._to_settle.set()

    async def _keep_settling(self) -> None:
        """Book what was spent in runs that are over: at once where they end here, and again and again elsewhere."""
        looks = 0
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S if looks else SETTLE_S):
                    await self._to_settle.wait()
            looks = _LOOKS if self._to_settle.is_set() else max(0, looks - 1)
            self._to_settle.clear()
            try:
                await asyncio.to_thread(self._settle_over)
            except Exception as error:  # noqa: BLE001  (whatever it is, the next look is made)
                _LOG.warning("What was spent could not be booked, and is tried again: %s", error)

    def _settle_over(self) -> None:
        """Book what was spent in runs that are over.

        Raises:
            StoreError: the database cannot be read or written.
        """
        for run in self.ledger.over():
            record = self.store.read(run.debate)
            if not record and not run.is_ordered and self.book.forget(run.debate):
                # A server of an older version ended before it put the debate on order.
                continue
            try:
                calls = [*paid_calls(record), *self._baseline_calls(run)]
            except (DisputatioError, ArithmeticError, LookupError, TypeError, ValueError) as failure:
                # The record was altered. It still counts with its ceilings.
                if run.debate not in self._unreadable:
                    self._unreadable.add(run.debate)
                    _LOG.warning("What the debate %s spent cannot be booked: %s", run.debate, failure)
                continue
            self.ledger.settle(run, calls)

    def _baseline_calls(self, run: Run) -> list[Paid]:
        """What the baselines of a run cost. Their calls are in records of their own, after all of the debate's."""
        calls = [call for row in self.book.baselines(run.debate) for call in paid_calls(self.store.read(row))]
        return [replace(row, seq=_AFTER_ALL) for row in calls if not run.after or row.at >= run.began_at]

    async def open(self) -> None:
        """Settle what ended unseen, and go on with what an earlier process left."""
        if isinstance(self.runner, InProcessRunner):
            await self.runner.start()
        self._to_settle.set()
        self._settling = asyncio.create_task(self._keep_settling())
        # Load what the first debate would have to wait for, in the background.
        self._warming = asyncio.create_task(asyncio.to_thread(_warm))

    async def close(self, seconds: float) -> None:
        """Give debates this long to end, then stop them. They are resumed at the next start."""
        self.draining.set()
        self.hub.wake_all()
        self.reading.close()
        await self.runner.aclose(seconds)
        if self._settling is not None:
            self._settling.cancel()
            await asyncio.gather(self._settling, return_exceptions=True)
        with suppress(StoreError):
            await asyncio.to_thread(self._settle_over)
        await self.store.aclose()
        self.database.close()
        self._key_threads.shutdown(wait=False)


def _warm() -> None:
    """Import what the first debate needs, so that it need not wait."""
    with suppress(ImportError):
        import openai.resources.chat  # noqa: F401

        import disputatio.participants.remote.client  # noqa: F401
        from disputatio.ledger.prices import PriceBook

        PriceBook()


class OpenView(AnnouncingStore):
    """A view of a store with some of its debates, without those from which something is withheld.

    Args:
        store: the store itself.
        ids: the debates that are in it; None for all.
    """

    def __init__(self, store: SqlStore, ids: frozenset[str] | None = None) -> None:
        super().__init__(store, Hub(), lambda _: None)
        self._ids = ids

    def debates(self) -> Sequence[DebateRow]:
        """Those that are in it."""
        rows = [row for row in super().debates() if self._ids is None or row.id in self._ids]
        return [row for row in rows if row.status not in _NOT_OVER or not self._withholds(row.id)]

    def _withholds(self, debate: str) -> bool:
        first = next(iter(self.parts(debate)), ())
        return audience_of(first[:1]).withholds


def _digest(body: Mapping[str, Any], sources: Sequence[Source]) -> str:
    """What two orders have in common that are the same, sources that were read before among them."""
    rows = [
        {"source_id": row.source_id, "title": row.title, "kind": row.kind.value, "text": row.text} for row in sources
    ]
    whole = {**body, "evidence": [*body.get("evidence", ()), *rows]} if rows else dict(body)
    return hashlib.sha256(canonical(whole).encode()).hexdigest()


def _size(value: object) -> int:
    """How many characters of text a part of an order has."""
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    return len(value) if isinstance(value, str) else sum(map(_size, value)) if isinstance(value, list | tuple) else 0
