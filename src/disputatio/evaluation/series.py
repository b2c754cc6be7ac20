"""A series: many short recorded debates held one after the other or a few at a time, and gone on with when stopped.

Each debate of a series has its own record in the store, so a stopped series loses nothing: held again, a debate that
is recorded under the very same configuration (format, motion, evidence, rules, seats, prompts and seed) is read and
not asked for, and one that was interrupted is resumed. A ceiling is of the whole series and counts what its records
spent before; under a ceiling the debates are held one at a time, each with what is left. Where they share it instead,
several are held at a time, each with an equal part of what is left, and one that its part does not suffice for is gone
on with alone at the end, with all that is left then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal

from disputatio.engine.debates import House, Resumption, resume, start
from disputatio.engine.opening import (
    Proposal,
    book_of,
    check_prices,
    check_reachable,
    check_room,
    opened_event,
    plan_of,
    probe_table,
    seat_table,
)
from disputatio.engine.ports import Nobody
from disputatio.engine.verified import read_verified
from disputatio.failures import ProviderError
from disputatio.kernel import JsonObject
from disputatio.ledger.budget import UNLIMITED, Budget
from disputatio.ledger.ledger import Reservation
from disputatio.ledger.prices import PriceBook
from disputatio.observing.setting import observed
from disputatio.participants.call import Call, Fault, FaultKind, Gateway, OnText, OutputMode, Reply
from disputatio.participants.gateways import OpenGateway, SharedGateways
from disputatio.participants.seating import ModelSeating
from disputatio.record.events import Abstained, DebateOpened
from disputatio.record.history import History, Status
from disputatio.record.store import Store
from disputatio.record.text import canonical

LANES = 4
FAILURES_THAT_STOP = 3
"""So many debates in a row whose judge could not be reached end the series: the rest would fail alike."""
_NO_CEILING = 1_000_000_000
_NO_IDENTITY = frozenset({"budget", "software", "warnings", "estimate"})
_KINDS = frozenset(kind.value for kind in FaultKind) - {FaultKind.REFUSED.value, FaultKind.CONTEXT_TOO_LONG.value}


@dataclass(frozen=True, slots=True)
class Trial:
    """One debate of a series; ``key`` is its name there. ``debate`` is the id its record has, where that is settled."""

    key: str
    proposal: Proposal
    debate: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """A trial that has a record: ``reused`` where it had one before and nothing of it was asked for."""

    key: str
    debate: str
    history: History
    reused: bool


@dataclass(frozen=True, slots=True)
class Spent:
    """What the calls of records came to. ``usd`` is None where the price of a call is not known."""

    calls: int = 0
    tokens: int = 0
    usd: Decimal | None = Decimal(0)

    def plus(self, other: Spent) -> Spent:
        """Both together."""
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Spent(self.calls + other.calls, self.tokens + other.tokens, usd)

    def as_json(self) -> JsonObject:
        """The sums; dollars are a string."""
        return {"calls": self.calls, "tokens": self.tokens, "usd": None if self.usd is None else str(self.usd)}


def spent_on(history: History) -> Spent:
    """What the calls of one record came to; a call that never came back keeps its reservation."""
    total = Spent()
    for sent in history.calls:
        made = history.made.get(sent.call)
        if made is None:
            held = Reservation.from_json(sent.reserved)
            total = total.plus(Spent(1, held.tokens, held.usd))
        else:
            total = total.plus(Spent(1, made.charged_tokens, None if made.cost_usd is None else Decimal(made.cost_usd)))
    return total


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """What came of a series. ``missing`` are the trials that were not held, and ``stopped`` says why."""

    held: tuple[Held, ...]
    missing: tuple[str, ...]
    spent: Spent
    stopped: str = ""
    provider_failed: bool = False


class Series:
    """Holds trials over a store.

    Args:
        trials: what is to be held; keys are unique.
        store: where the records are.
        opener: the way to models.
        budget: the ceilings of the whole series.
        lanes: how many debates run at a time where there is no ceiling.
        on_held: is told of each trial as it ends.
        shares_ceiling: hold several debates at a time under a ceiling too.
    """

    def __init__(
        self,
        trials: Sequence[Trial],
        *,
        store: Store,
        opener: OpenGateway,
        budget: Budget = UNLIMITED,
        lanes: int = LANES,
        on_held: Callable[[Held], None] = lambda _: None,
        shares_ceiling: bool = False,
    ) -> None:
        self._trials, self._store, self._budget = trials, store, budget
        self._kept, self._watcher = _KeptGateways(opener), observed(Nobody())
        self._lanes = 1 if budget != UNLIMITED and not shares_ceiling else lanes
        self._parts: dict[str, Budget] = {}
        self._cut_short: list[tuple[Trial, str | None]] = []
        self._on_held = on_held
        self._held: dict[str, Held] = {}
        self._spent = Spent()
        self._stopped, self._failures = "", 0

    @property
    def held(self) -> tuple[Held, ...]:
        """What was held so far, in the order of the trials."""
        return tuple(self._held[row.key] for row in self._trials if row.key in self._held)

    async def hold(self) -> SeriesResult:
        """Hold every trial that has no record yet.

        Raises:
            ProviderError: the model certainly cannot answer; nothing was spent.
            InvalidInputError: a key or a price is missing; nothing was spent.
            asyncio.CancelledError: stopped from outside; what was held has its records.
        """
        waiting = self._recorded()
        try:
            if waiting:
                await self._check_first([trial.proposal for trial, _ in waiting])
            queue = iter(waiting)
            self._lanes = max(1, min(self._lanes, len(waiting)))
            lanes = [asyncio.ensure_future(self._lane(queue)) for _ in range(self._lanes)]
            try:
                await asyncio.gather(*lanes)
            finally:
                for lane in lanes:
                    lane.cancel()
                await asyncio.gather(*lanes, return_exceptions=True)
            alone, self._cut_short, self._lanes = self._cut_short, [], 1
            await self._lane(iter(alone))
        finally:
            await self._kept.aclose()
        missing = tuple(row.key for row in self._trials if row.key not in self._held)
        failed = self._failures >= FAILURES_THAT_STOP
        return SeriesResult(self.held, missing, self._spent, self._stopped, failed)

    def recorded(self) -> SeriesResult:
        """What the store has of the trials already; nothing is asked for."""
        waiting = self._recorded()
        missing = tuple(trial.key for trial, _ in waiting)
        return SeriesResult(self.held, missing, self._spent, "only what was recorded is told" if missing else "")

    def _recorded(self) -> list[tuple[Trial, str | None]]:
        """Take in what the store has, and give what is left to hold, with the record to go on with if there is one."""
        motions = {row.proposal.motion.text for row in self._trials}
        found: dict[str, tuple[str, History]] = {}
        settled = {row.debate for row in self._trials if row.debate}
        for row in self._store.debates():
            if row.id in settled or (row.motion in motions and len(settled) < len(self._trials)):
                history = History.of(sealed.event() for sealed in self._store.read(row.id))
                name = _identity(history.opened) if history.opened else ""
                name = f"{row.id} {name}" if row.id in settled else name
                if name not in found or found[name][1].closed is None:
                    found[name] = (row.id, history)
        waiting: list[tuple[Trial, str | None]] = []
        for trial in self._trials:
            name = self._identity_of(trial.proposal)
            debate, earlier = found.get(f"{trial.debate} {name}" if trial.debate else name, (None, None))
            if debate is not None and earlier is not None:
                self._spent = self._spent.plus(spent_on(earlier))
            if debate is None or earlier is None or _is_open(earlier):
                waiting.append((trial, debate))
            else:
                self._take(Held(trial.key, debate, earlier, reused=True))
        return waiting

    def _identity_of(self, proposal: Proposal) -> str:
        table = seat_table(proposal.format, proposal.settings, proposal.participants, SharedGateways(self._kept.open))
        event, _ = opened_event(plan_of(proposal, table, book_of(proposal.prompts)), UNLIMITED, "")
        return _identity(event)

    async def _check_first(self, proposals: Sequence[Proposal]) -> None:
        """Refuse, before anything is spent, what certainly cannot go well; each set of models is asked once."""
        seen: set[tuple[str, ...]] = set()
        for proposal in proposals:
            models = tuple(sorted({row.address for row in proposal.settings.seats.values()}))
            if models in seen:
                continue
            seen.add(models)
            gateways = SharedGateways(self._kept.open)
            table = seat_table(proposal.format, proposal.settings, proposal.participants, gateways)
            check_prices(table, self._budget, PriceBook())
            check_room(table)
            check_reachable(table, await probe_table(table))

    async def _lane(self, queue: Iterable[tuple[Trial, str | None]]) -> None:
        for trial, earlier in queue:
            if self._stopped:
                return
            own = spent_on(self._history(earlier)) if earlier else Spent()
            left = self._left()
            if left is None and self._parts:
                self._cut_short.append((trial, earlier))
                continue
            if left is None:
                self._stopped = "the ceiling was reached"
                return
            self._parts[trial.key] = left
            house = House(self._store, watcher=self._watcher, opener=self._kept.open, checks_first=False)
            if earlier is None:
                proposal = replace(trial.proposal, settings=replace(trial.proposal.settings, budget=left))
                self._end(trial, await start(proposal, house, debate=trial.debate), own)
            else:
                await resume(earlier, self._resumption(trial.proposal, left, own), house)
                self._end(trial, earlier, own)

    def _end(self, trial: Trial, debate: str, before: Spent) -> None:
        """Take in a trial that was held, unless the ceiling cut it short."""
        self._parts.pop(trial.key, None)
        history = self._history(debate)
        now = spent_on(history)
        usd = None if now.usd is None or before.usd is None else now.usd - before.usd
        self._spent = self._spent.plus(Spent(now.calls - before.calls, now.tokens - before.tokens, usd))
        if history.status is Status.TRUNCATED and self._lanes > 1:
            self._cut_short.append((trial, debate))
            return
        if history.status is Status.TRUNCATED:
            self._stopped = "the ceiling was reached" + (f": {history.closed.reason}" if history.closed else "")
            return
        why = unreachable(history)
        self._failures = self._failures + 1 if why else 0
        self._take(Held(trial.key, debate, history, reused=False))
        if self._failures >= FAILURES_THAT_STOP and not self._stopped:
            self._stopped = f"the model could not be reached {FAILURES_THAT_STOP} times in a row ({why})"

    def _take(self, held: Held) -> None:
        self._held[held.key] = held
        self._on_held(held)

    def _history(self, debate: str) -> History:
        return History.of(sealed.event() for sealed in read_verified(self._store, debate))

    def _left(self) -> Budget | None:
        """What the next debate may spend: its part, or all where that cannot be parted; None of nothing."""
        others = self._parts
        return self._part(max(1, self._lanes - len(others))) or (None if others else self._part(1))

    def _part(self, free: int) -> Budget | None:
        """One of ``free`` equal parts of what is neither spent nor another's; None where that is nothing."""
        budget, others = self._budget, list(self._parts.values())
        usd = None if budget.usd is None else budget.usd - (self._spent.usd or Decimal(0))
        tokens = None if budget.tokens is None else budget.tokens - self._spent.tokens
        calls = None if budget.calls is None else budget.calls - self._spent.calls
        if usd is not None:
            usd = (usd - sum((row.usd or Decimal(0) for row in others), Decimal(0))) / free
        if tokens is not None:
            tokens = (tokens - sum(row.tokens or 0 for row in others)) // free
        if calls is not None:
            calls = (calls - sum(row.calls or 0 for row in others)) // free
        if any(row is not None and row <= 0 for row in (usd, tokens, calls)):
            return None
        return Budget(usd=usd, tokens=tokens, calls=calls)

    def _resumption(self, proposal: Proposal, left: Budget, own: Spent) -> Resumption:
        """What is left, as ceilings that include what the debate itself has spent."""
        return Resumption(
            settings=proposal.settings,
            budget_usd=Decimal(_NO_CEILING) if left.usd is None else left.usd + (own.usd or Decimal(0)),
            budget_tokens=_NO_CEILING if left.tokens is None else left.tokens + own.tokens,
            budget_calls=_NO_CEILING if left.calls is None else left.calls + own.calls,
            participants=proposal.participants,
            prompts=proposal.prompts,
            form=proposal.format,
            asks_again=_KINDS,
        )


def _identity(opened: DebateOpened) -> str:
    return canonical({row.name: getattr(opened, row.name) for row in fields(opened) if row.name not in _NO_IDENTITY})


def unreachable(history: History) -> str:
    """Why a seat could not be reached, where that is why it took no turn; empty otherwise."""
    rows = [row for row in history.answered.values() if isinstance(row, Abstained) and row.reason in _KINDS]
    return rows[0].detail or rows[0].reason if rows else ""


def _is_open(history: History) -> bool:
    """Whether a record is to be gone on with: it is not closed, was cut short, or its judge was never reached."""
    return history.closed is None or history.status is Status.TRUNCATED or bool(unreachable(history))


class _KeptGateways:
    """Gateways that outlive the debates of a series: each debate closes what it opened, and starting costs seconds."""

    def __init__(self, opener: OpenGateway) -> None:
        self._shared = SharedGateways(opener)

    def open(self, seating: ModelSeating, api_key: str | None) -> Gateway:
        return _Lent(self._shared.get(seating, api_key))

    async def aclose(self) -> None:
        await self._shared.aclose()


class _Lent:
    """A gateway whose borrowers cannot close it."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    @property
    def modes(self) -> tuple[OutputMode, ...]:
        return self._gateway.modes

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        return await self._gateway.call(call, on_text)

    async def probe(self) -> Fault | None:
        return await self._gateway.probe()

    async def aclose(self) -> None:
        return None


def refuse_silence(result: SeriesResult) -> None:
    """Refuse to report on a series in which the model was never reached.

    Raises:
        ProviderError: no trial got an answer because the provider failed each time.
    """
    if result.provider_failed and all(unreachable(row.history) for row in result.held):
        raise ProviderError(
            f"No answer came: {result.stopped}.", "`disputatio doctor` tests the seat; the same command then goes on."
        )
