"""What the service does for a caller, whichever surface asks: the API and the page call the same functions."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from disputatio._service.database import Database
from disputatio._service.debate_book import Asked, DebateBook, Listed
from disputatio._service.exposition import exposed, metering
from disputatio._service.floor import FarFloor, Floor, OwnFloor
from disputatio._service.hub import Hub, ToldStore, Watching
from disputatio._service.key_book import KeyBook
from disputatio._service.keys import KEYLESS, Caller
from disputatio._service.limits import rate_limits
from disputatio._service.problems import RefusedError, not_found
from disputatio._service.results import Results
from disputatio.engine.debates import House, can_go_on, new_id
from disputatio.engine.verified import read_verified
from disputatio.failures import QueueFullError, StoreError
from disputatio.fleet import Holder, Job, JobState, Raised
from disputatio.fleet.in_process import OwnHolder
from disputatio.kernel import JsonObject
from disputatio.ledger import Reservation
from disputatio.observing import Several, observed
from disputatio.orders import proposal_of, read_order
from disputatio.record.history import History, Status
from disputatio.record.sql import SqlStore
from disputatio.record.store import DebateRow, Store
from disputatio.record.text import canonical

if TYPE_CHECKING:
    from disputatio.door import Debate
    from disputatio.engine.ports import Watcher
    from disputatio.participants.gateways import OpenGateway

PATIENCE_S = 15.0
"""How long a start waits to be told whether the debate could begin; it goes on in any case."""
SETTLE_S = 5.0
"""How often is looked for debates that ended at workers."""
_LOOKS = 20
_LOG = logging.getLogger("disputatio.service")
ROOM = 2
"""The ceiling of a debate whose key has a budget and whose order has no ceiling, in times of what is expected."""


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
        opener: makes gateways; None takes the package's own.
        concurrency: the most debates that are held at once in this process.
    """

    def __init__(self, choices: Choices, *, opener: OpenGateway | None = None, concurrency: int = 100) -> None:
        self.choices = choices
        self.store = SqlStore(choices.store)
        database = Database(choices.store)
        self.database = database
        self.keys, self.book = KeyBook(database), DebateBook(database)
        self.hub, self.rates = Hub(), rate_limits(database)
        self.draining = asyncio.Event()
        self.streams: dict[str, int] = {}
        self.registry, self.metering = metering()
        self.results = Results(self.store)
        self.figures_kept: tuple[float, list[Any]] | None = None
        self._opener = opener
        self._told = ToldStore(self.store, self.hub, self._let_go)
        self.holder, self.floor = self._holder(concurrency)
        self._warming: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._settling: set[asyncio.Task[None]] = set()

    def _holder(self, concurrency: int) -> tuple[Holder, Floor]:
        """Who holds debates, and where people are asked who sit in them."""
        if self.choices.workers:
            from disputatio.fleet.questions import QuestionBook
            from disputatio.fleet.queued import QueuedHolder

            return QueuedHolder(self.store), FarFloor(QuestionBook(self.store))
        floor = OwnFloor(self.hub)
        return OwnHolder(self.store, concurrency=concurrency, house=self._house, participants=floor.people), floor

    def _house(self, debate: str) -> House:
        watcher: Watcher = Several(Watching(self.hub, debate), self.metering)
        house = House(self._told, watcher=observed(watcher), watched=True)
        return house if self._opener is None else replace(house, opener=self._opener, checks_first=False)

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

    async def start(self, body: Mapping[str, Any], caller: Caller, idempotency: str | None) -> tuple[str, bool]:
        """Begin a debate; returns its id, and whether it is a new one.

        Raises:
            RefusedError, DisputatioError: it cannot be begun; nothing was spent.
        """
        order = await asyncio.to_thread(read_order, body)
        order, asked = await self._ceilings(order, caller)
        asked = replace(asked, body=_digest(body), idempotency=idempotency)
        debate = await asyncio.to_thread(self.book.take, asked, caller)
        if debate != asked.debate:
            return debate, False
        # Whoever asked may leave meanwhile; a debate that was entered is submitted, and stays its tenant's.
        await asyncio.shield(self._submitted(debate, order))
        try:
            await self._begun(debate)
        except RefusedError:
            await asyncio.to_thread(self.book.forget, debate)
            raise
        return debate, True

    async def _submitted(self, debate: str, order: JsonObject) -> None:
        try:
            await self.holder.submit(debate, order)
        except QueueFullError as full:
            await asyncio.to_thread(self.book.forget, debate)
            raise RefusedError(503, "busy", full.cause, full.next_step, {"Retry-After": "10"}) from None
        except Exception:
            await asyncio.to_thread(self.book.forget, debate)
            raise

    async def _ceilings(self, order: JsonObject, caller: Caller) -> tuple[JsonObject, Asked]:
        """The order with a ceiling of its own where the key has a budget, and what the book is told."""
        from disputatio.engine.preview import preview

        proposal = await asyncio.to_thread(proposal_of, order, {}, people_missing=True)
        budget, order = proposal.settings.budget, dict(order)
        usd, tokens = budget.usd, budget.tokens
        left_usd, left_tokens = await asyncio.to_thread(self.book.left, caller.key)
        if (left_usd is not None and usd is None) or (left_tokens is not None and tokens is None):
            expected = await preview(proposal)
            if left_usd is not None and usd is None:
                usd = left_usd if expected.usd is None else min(left_usd, max(expected.usd * ROOM, Decimal("0.0001")))
                order["budget_usd"] = str(usd)
            if left_tokens is not None and tokens is None:
                tokens = min(left_tokens, expected.tokens * ROOM) or 1
                order["budget_tokens"] = tokens
        asked = Asked(new_id(), proposal.motion.text, proposal.format.name, "", ceiling_usd=usd, ceiling_tokens=tokens)
        return order, asked

    async def _begun(self, debate: str) -> None:
        """Wait until the debate has a record, or is known not to get one."""
        with self.hub.listening(debate) as listener:
            loop = asyncio.get_running_loop()
            until = loop.time() + PATIENCE_S
            while loop.time() < until and not self.draining.is_set():
                if await asyncio.to_thread(self.store.row, debate) is not None:
                    return
                job = await self.holder.job(debate)
                if job is not None and job.state is JobState.FAILED:
                    raise RefusedError(422, "invalid", job.reason, job.next_step)
                if job is not None and job.state is JobState.CANCELLED:
                    return
                await listener.wait(0.1)

    async def resume(self, debate: str, raised: Raised, caller: Caller) -> None:
        """Go on with a debate that is over but has turns left to ask, under new ceilings.

        Raises:
            RefusedError: it goes on already, was not ordered here, or the ceilings do not allow it.
        """
        over = RefusedError(
            409,
            "conflict",
            f"The debate {debate} goes on already, or nothing of it is left to ask.",
            "GET it to see how it stands.",
        )
        history = History.of(row.event() for row in await asyncio.to_thread(self.store.read, debate))
        if history.opened is None or not can_go_on(history):
            raise over
        take_back = await asyncio.to_thread(
            self.book.reopen, debate, caller.key, raised.budget_usd, raised.budget_tokens
        )
        if not await self.holder.resume(debate, raised):
            await asyncio.to_thread(take_back)
            raise over
        loop = asyncio.get_running_loop()
        until = loop.time() + PATIENCE_S
        with self.hub.listening(debate) as listener:
            while loop.time() < until:
                job, row = await self.holder.job(debate), await asyncio.to_thread(self.store.row, debate)
                if job is not None and job.state is JobState.FAILED:
                    await asyncio.to_thread(self.settle, debate)
                    raise RefusedError(422, "invalid", job.reason, job.next_step)
                if job is None or job.state.over or (row is not None and row.status == Status.RUNNING.value):
                    return
                await listener.wait(0.1)

    async def cancel(self, debate: str) -> bool:
        """Stop a debate where it is; whether there was anything to stop."""
        stopped = await self.holder.cancel(debate)
        if await asyncio.to_thread(self.store.row, debate) is None:
            await asyncio.to_thread(self.book.settle, debate, Decimal(0), 0)
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
        from disputatio.door import read_debate

        self.listed(debate, caller)
        found = read_debate(self.store, debate)
        if not found.record:
            raise RefusedError(
                409, "conflict", f"The debate {debate} waits for its turn and has no record yet.", "Come again later."
            )
        return found

    def view_of(self, caller: Caller) -> Store:
        """The store as far as the caller's tenant may look: lists and figures are made from it."""
        return OwnView(self.store, self.book.ids_of(caller.tenant))

    def verified(self, debate: str, caller: Caller) -> Sequence[Any]:
        """The record of a debate, after its chain was checked."""
        self.debate(debate, caller)
        return read_verified(self.store, debate)

    async def job(self, debate: str) -> Job | None:
        """What the holder knows of it."""
        return await self.holder.job(debate)

    def is_going_on(self, listed: Listed, job: Job | None) -> bool:
        """Whether more of it is to come without anybody asking for it."""
        if listed.status == Status.RUNNING.value:
            return True
        waits = job is not None and job.state in {JobState.WAITING, JobState.RUNNING}
        return waits and listed.status in {Status.INTERRUPTED.value, "WAITING"}

    def settle(self, debate: str) -> None:
        """Note what a debate that ended has spent."""
        usd, tokens = spent_of(History.of(row.event() for row in self.store.read(debate)))
        self.book.settle(debate, usd, tokens)

    def _let_go(self, debate: str) -> None:
        """This process no longer writes a debate: if it is over, what it spent is noted."""
        if not self.draining.is_set():
            task = asyncio.create_task(self._settle_ended(debate))
            self._settling.add(task)
            task.add_done_callback(self._settling.discard)

    async def _settle_ended(self, debate: str) -> None:
        """Note what a debate has spent if it is over; one that will go on keeps its whole ceiling."""
        row = await asyncio.to_thread(self.store.row, debate)
        if row is None and await self.holder.job(debate) is None:
            # The process ended before it was submitted.
            await asyncio.to_thread(self.book.forget, debate)
        if row is None or row.status == Status.RUNNING.value:
            return
        for _ in range(_LOOKS):
            job = await self.holder.job(debate)
            if row.status != Status.INTERRUPTED.value or job is None or job.state.over:
                await asyncio.to_thread(self.settle, debate)
                return
            await asyncio.sleep(0.1)

    def exposition(self) -> bytes:
        """All metrics as Prometheus reads them; those over the whole store are at most a minute old."""
        return exposed(self)

    async def open(self) -> None:
        """Settle what ended unseen, and go on with what an earlier process left."""
        unsettled = await asyncio.to_thread(self.book.unsettled)
        if isinstance(self.holder, OwnHolder):
            await self.holder.start()
        else:
            self._watching = asyncio.create_task(self._settle_elsewhere())
        for debate in unsettled:
            self._let_go(debate)
        # What a first debate would have to wait for; nobody waits for it here.
        self._warming = asyncio.create_task(asyncio.to_thread(_warm))

    async def _settle_elsewhere(self) -> None:
        """Note again and again what debates have spent that workers hold."""
        while True:
            await asyncio.sleep(SETTLE_S)
            try:
                for debate in await asyncio.to_thread(self.book.unsettled):
                    await self._settle_ended(debate)
            except StoreError as away:
                _LOG.warning("%s", away)

    async def close(self, seconds: float) -> None:
        """Let debates end for so long, then stop them where they are; they go on at the next start."""
        self.draining.set()
        self.hub.wake_all()
        if self._watching is not None:
            self._watching.cancel()
        await self.holder.aclose(seconds)
        await asyncio.gather(*self._settling, return_exceptions=True)
        await self.store.aclose()
        self.database.close()


def _warm() -> None:
    """Import what the first debate needs, so that it need not wait."""
    from contextlib import suppress

    with suppress(ImportError):
        import openai.resources.chat  # noqa: F401

        import disputatio.participants.remote.gateway  # noqa: F401
        from disputatio.ledger import PriceBook

        PriceBook()


class OwnView(ToldStore):
    """A store in which only some debates are."""

    def __init__(self, store: SqlStore, ids: frozenset[str]) -> None:
        super().__init__(store, Hub(), lambda _: None)
        self._ids = ids

    def debates(self) -> Sequence[DebateRow]:
        """Those that are in it."""
        return [row for row in super().debates() if row.id in self._ids]


def spent_of(history: History) -> tuple[Decimal, int]:
    """What a debate has spent, in US dollars and tokens; lost and unpriced calls count as they were reserved."""
    usd, tokens = Decimal(0), 0
    for sent in history.calls:
        held, made = Reservation.from_json(sent.reserved), history.made.get(sent.call)
        known = made is not None and made.cost_usd is not None
        usd += Decimal(made.cost_usd) if known and made and made.cost_usd else (Decimal(0) if known else held.usd or 0)
        tokens += made.charged_tokens if made is not None else held.input_tokens + held.output_tokens
    return usd, tokens


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(dict(body)).encode()).hexdigest()
