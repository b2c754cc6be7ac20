"""Run many recorded debates, a few at a time, under one ceiling, and resume after a stop.

Each trial has its own record in the store, so a stopped experiment loses nothing. A trial recorded under the same
configuration (format, motion, evidence, rules, seats, prompts and seed) is read and calls no model. An interrupted
trial is resumed.

The ceiling covers the whole experiment, including what its records spent before. Trials either run one at a time, each
with all that is left, or share what is left equally. A trial whose share was too small is resumed alone at the end.

Trials may come in batches, so that the results of one batch can decide how many more are wanted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import reduce
from typing import Any

from disputatio.engine.opening import (
    Proposal,
    assign_seats,
    check_prices,
    check_reachable,
    check_token_limits,
    make_opening,
    make_plan,
    open_prompts,
    probe_models,
)
from disputatio.engine.ports import Batches, NullObserver
from disputatio.engine.runtime import Resumption, Runtime, resume, start
from disputatio.engine.seat_assignments import SeatAssignments
from disputatio.errors import ProviderError
from disputatio.kernel import JsonObject
from disputatio.ledger.budget import UNLIMITED, Budget, SharedCeiling
from disputatio.ledger.ledger import Reservation
from disputatio.ledger.prices import PriceBook
from disputatio.participants.call import Call, Fault, FaultKind, ModelClient, OnText, OutputMode, Reply
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.shared_clients import ClientFactory, SharedClients
from disputatio.record.events import Abstained, DebateOpened
from disputatio.record.history import History, Status
from disputatio.record.store import Store
from disputatio.record.text import canonical
from disputatio.record.verified import read_verified
from disputatio.telemetry.tracing import add_tracing

CONCURRENCY = 4
"""The default number of debates that run at a time."""
FAILURES_THAT_STOP = 3
"""The experiment stops after this many trials in a row whose model could not be reached."""
_NO_CEILING = 1_000_000_000
_NO_IDENTITY = frozenset({"budget", "software", "warnings", "estimate"})
_KINDS = frozenset(kind.value for kind in FaultKind) - {FaultKind.REFUSED.value, FaultKind.CONTEXT_TOO_LONG.value}


@dataclass(frozen=True, slots=True)
class Trial:
    """One debate of an experiment. ``debate`` is the id of its record; empty lets the store find one."""

    key: str
    proposal: Proposal
    debate: str = ""


@dataclass(frozen=True, slots=True)
class FinishedTrial:
    """A trial with a complete record. ``reused`` means that the record existed before and no model was called."""

    key: str
    debate: str
    history: History
    reused: bool


@dataclass(frozen=True, slots=True)
class Spending:
    """What calls cost. ``usd`` is None where the price of a call is unknown."""

    calls: int = 0
    tokens: int = 0
    usd: Decimal | None = Decimal(0)

    def plus(self, other: Spending) -> Spending:
        """Add two sums."""
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Spending(self.calls + other.calls, self.tokens + other.tokens, usd)

    def as_json(self) -> JsonObject:
        """The sums; dollars are a string."""
        return {"calls": self.calls, "tokens": self.tokens, "usd": None if self.usd is None else str(self.usd)}


def read_spending(history: History) -> Spending:
    """Sum the calls of one record. A call that never came back counts as its reservation."""
    total = Spending()
    for sent in history.calls:
        made = history.made.get(sent.call)
        if made is None:
            held = Reservation.from_json(sent.reserved)
            total = total.plus(Spending(1, held.tokens, held.usd))
        else:
            total = total.plus(
                Spending(1, made.charged_tokens, None if made.cost_usd is None else Decimal(made.cost_usd))
            )
    return total


def total_spending(histories: Iterable[History]) -> Spending:
    """Sum the calls of several records."""
    return add_spending(map(read_spending, histories))


def add_spending(rows: Iterable[Spending]) -> Spending:
    """Add several sums."""
    return reduce(Spending.plus, rows, Spending())


def compute_remaining(
    budget: Budget, spent: Spending, reserved: Collection[Budget] = (), shares: int = 1
) -> Budget | None:
    """Return an equal share of what is neither spent nor reserved, or None where a ceiling leaves nothing."""
    usd, tokens, calls = budget.usd, budget.tokens, budget.calls
    if usd is not None:
        usd = (usd - (spent.usd or 0) - sum((row.usd or Decimal(0) for row in reserved), Decimal(0))) / shares
    if tokens is not None:
        tokens = (tokens - spent.tokens - sum(row.tokens or 0 for row in reserved)) // shares
    if calls is not None:
        calls = (calls - spent.calls - sum(row.calls or 0 for row in reserved)) // shares
    if any(row is not None and row <= 0 for row in (usd, tokens, calls)):
        return None
    return Budget(usd=usd, tokens=tokens, calls=calls)


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """The finished trials, the keys of the others, and why the experiment stopped."""

    finished: tuple[FinishedTrial, ...]
    missing: tuple[str, ...]
    spent: Spending
    stopped: str = ""
    provider_failed: bool = False

    def as_json(self) -> JsonObject:
        """Spending and the reason for the stop."""
        return {"spent": self.spent.as_json(), "stopped": self.stopped}

    def lines(self) -> list[str]:
        """Say how to continue; empty if everything is finished."""
        if not self.stopped:
            return []
        return ["", f"Not finished: {self.stopped}. Run the same command again to continue."]


class Experiment:
    """Runs trials over a store.

    Args:
        store: holds the records.
        client_factory: opens model clients.
        budget: the ceilings of the whole experiment.
        concurrency: how many trials run at a time.
        shares_ceiling: whether several trials run at a time under a ceiling too.
        reads_only: read records and run nothing.
        on_finished: called once for each finished trial.
        on_batch: called with the number of trials whenever it changes.
        batches: sends the calls of all trials in batches, which share one ceiling call by call. The caller closes
            it, since other debates may use it too.

    Attributes:
        client_factory: opens model clients.
        finished: the finished trials, by key.
        stopped: why some trials did not finish; empty if nothing stopped them.
    """

    def __init__(
        self,
        store: Store,
        client_factory: ClientFactory,
        *,
        budget: Budget = UNLIMITED,
        concurrency: int = CONCURRENCY,
        shares_ceiling: bool = True,
        reads_only: bool = False,
        on_finished: Callable[[FinishedTrial], None] = lambda _: None,
        on_batch: Callable[[int], None] = lambda _: None,
        batches: Batches | None = None,
    ) -> None:
        self._store, self._budget, self._observer = store, budget, add_tracing(NullObserver())
        self.client_factory = client_factory if batches is None else batches.open
        self._batches, self._ceiling = batches, SharedCeiling(budget) if batches is not None else None
        waits = budget != UNLIMITED and not shares_ceiling and batches is None
        self._concurrency = 1 if waits else concurrency
        self._reads_only, self._on_finished, self._on_batch = reads_only, on_finished, on_batch
        self._trials: dict[str, Trial] = {}
        self._spent: dict[str, Spending] = {}
        self.finished: dict[str, FinishedTrial] = {}
        self.stopped = ""
        self._failures, self._slots = 0, 1
        self._reserved: dict[str, Budget] = {}
        self._cut_short: list[tuple[Trial, str | None]] = []

    @property
    def result(self) -> ExperimentResult:
        """The result so far, in the order of the trials."""
        finished = tuple(self.finished[key] for key in self._trials if key in self.finished)
        missing = tuple(key for key in self._trials if key not in self.finished)
        failed = self._failures >= FAILURES_THAT_STOP
        return ExperimentResult(finished, missing, add_spending(self._spent.values()), self.stopped, failed)

    async def run(self, trials: Iterable[Trial]) -> ExperimentResult:
        """Run one batch and what is left of earlier ones. Trials that have records call no model.

        Raises:
            ProviderError: the model certainly cannot answer; nothing was spent.
            InvalidInputError: a key or a price is missing; nothing was spent.
            asyncio.CancelledError: cancelled from outside; finished trials keep their records.
        """
        self._trials |= {trial.key: trial for trial in trials}
        self._on_batch(len(self._trials))
        self.stopped, self._failures = "", 0
        model_clients = _KeptClients(self.client_factory)
        try:
            waiting = self._find_recorded(model_clients)
            if waiting and self._reads_only:
                self.stopped = "only recorded debates are reported"
            elif waiting:
                await self._check_first([trial.proposal for trial, _ in waiting], model_clients)
                await self._run_waiting(waiting, model_clients)
        finally:
            await model_clients.aclose()
        return self.result

    async def run_further(self, wanted: Callable[[], Sequence[Trial]], most: int) -> None:
        """Run up to ``most`` further batches, until none is wanted or a batch finishes nothing.

        Raises:
            ProviderError, InvalidInputError, asyncio.CancelledError: as ``run``.
        """
        for _ in range(most):
            trials, before = wanted(), len(self.finished)
            if not trials or self.stopped:
                return
            await self.run(trials)
            if len(self.finished) == before:
                return

    def _find_recorded(self, model_clients: _KeptClients) -> list[tuple[Trial, str | None]]:
        """Take the finished trials from the store. Return the others, each with the record to resume, if any."""
        trials = [row for row in self._trials.values() if row.key not in self.finished]
        motions = {row.proposal.motion.text for row in trials}
        fixed = {row.debate for row in trials if row.debate}
        found: dict[str, tuple[str, History]] = {}
        for row in self._store.debates():
            if row.id in fixed or (row.motion in motions and len(fixed) < len(trials)):
                history = History.of(sealed.event() for sealed in self._store.read(row.id))
                name = _identity(history.opened) if history.opened else ""
                name = f"{row.id} {name}" if row.id in fixed else name
                if name not in found or found[name][1].closed is None:
                    found[name] = (row.id, history)
        waiting: list[tuple[Trial, str | None]] = []
        for trial in trials:
            name = _identity_of(trial.proposal, model_clients)
            debate, earlier = found.get(f"{trial.debate} {name}" if trial.debate else name, (None, None))
            if earlier is not None:
                self._spent[trial.key] = read_spending(earlier)
            if debate is None or earlier is None or _is_open(earlier):
                waiting.append((trial, debate))
            else:
                self._finish(FinishedTrial(trial.key, debate, earlier, reused=True))
        return waiting

    async def _check_first(self, proposals: Sequence[Proposal], model_clients: _KeptClients) -> None:
        """Refuse what certainly cannot work before anything is spent. Each set of models is probed once."""
        by_models: dict[frozenset[str], Proposal] = {}
        for proposal in proposals:
            by_models.setdefault(frozenset(row.address for row in proposal.settings.seats.values()), proposal)
        for proposal in by_models.values():
            table = _table(proposal, model_clients)
            check_prices(table, self._budget, PriceBook())
            check_token_limits(table)
            check_reachable(table, await probe_models(table))

    async def _run_waiting(self, waiting: Sequence[tuple[Trial, str | None]], model_clients: _KeptClients) -> None:
        """Run the waiting trials, a few at a time, then those that a small share cut short, one by one."""
        queue = iter(waiting)
        if self._ceiling is not None:
            before = add_spending(self._spent.values())
            self._ceiling = SharedCeiling(self._budget, before.usd or Decimal(0), before.tokens, before.calls)
        self._slots = min(self._concurrency, len(waiting))
        tasks = [asyncio.ensure_future(self._run_queue(queue, model_clients)) for _ in range(self._slots)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._reserved.clear()
        alone, self._cut_short, self._slots = self._cut_short, [], 1
        await self._run_queue(iter(alone), model_clients)

    async def _run_queue(self, queue: Iterable[tuple[Trial, str | None]], model_clients: _KeptClients) -> None:
        for trial, earlier in queue:
            if self.stopped:
                return
            share = self._share() if self._ceiling is None else self._budget
            if share is None and self._reserved:
                self._cut_short.append((trial, earlier))
                continue
            if share is None:
                self.stopped = "the ceiling was reached"
                return
            self._reserved[trial.key] = share
            runtime = Runtime(
                self._store,
                observer=self._observer,
                client_factory=model_clients.open,
                checks_first=False,
                batches=self._batches,
                ceiling=self._ceiling,
            )
            if earlier is None:
                proposal = replace(trial.proposal, settings=replace(trial.proposal.settings, budget=share))
                debate = await start(proposal, runtime, debate=trial.debate)
            else:
                debate = earlier
                own = read_spending(self._history(debate))
                if self._ceiling is not None:
                    # Its ledger takes in again what its record tells.
                    self._ceiling.spend(-(own.usd or Decimal(0)), -own.tokens, -own.calls)
                await resume(debate, _resumption(trial.proposal, share, own), runtime)
            self._end(trial, debate)

    def _end(self, trial: Trial, debate: str) -> None:
        """Take in a trial that has run, unless the ceiling cut it short."""
        self._reserved.pop(trial.key, None)
        history = self._history(debate)
        self._spent[trial.key] = read_spending(history)
        if history.status is Status.TRUNCATED and self._slots > 1 and self._ceiling is None:
            self._cut_short.append((trial, debate))
            return
        if history.status is Status.TRUNCATED:
            self.stopped = "the ceiling was reached" + (f": {history.closed.reason}" if history.closed else "")
            return
        why = find_unreachable(history)
        self._failures = self._failures + 1 if why else 0
        self._finish(FinishedTrial(trial.key, debate, history, reused=False))
        if self._failures >= FAILURES_THAT_STOP and not self.stopped:
            self.stopped = f"the model could not be reached {FAILURES_THAT_STOP} times in a row ({why})"

    def _finish(self, trial: FinishedTrial) -> None:
        self.finished[trial.key] = trial
        self._on_finished(trial)

    def _history(self, debate: str) -> History:
        return History.of(sealed.event() for sealed in read_verified(self._store, debate))

    def _share(self) -> Budget | None:
        """Return the budget of the next trial: its share, or everything left where that cannot be divided."""
        spent, others = add_spending(self._spent.values()), self._reserved.values()
        share = compute_remaining(self._budget, spent, others, max(1, self._slots - len(others)))
        return share or (None if others else compute_remaining(self._budget, spent))


def _resumption(proposal: Proposal, share: Budget, own: Spending) -> Resumption:
    """Ceilings that include what the debate itself has already spent."""
    return Resumption(
        settings=proposal.settings,
        budget=Budget(
            usd=Decimal(_NO_CEILING) if share.usd is None else share.usd + (own.usd or Decimal(0)),
            tokens=_NO_CEILING if share.tokens is None else share.tokens + own.tokens,
            calls=_NO_CEILING if share.calls is None else share.calls + own.calls,
        ),
        participants=proposal.participants,
        prompts=proposal.prompts,
        form=proposal.format,
        retry_reasons=_KINDS,
    )


def _table(proposal: Proposal, model_clients: _KeptClients) -> SeatAssignments:
    return assign_seats(proposal.format, proposal.settings, proposal.participants, SharedClients(model_clients.open))


def _identity_of(proposal: Proposal, model_clients: _KeptClients) -> str:
    plan = make_plan(proposal, _table(proposal, model_clients), open_prompts(proposal.prompts))
    return _identity(make_opening(plan, UNLIMITED, "")[0])


def _identity(opened: DebateOpened) -> str:
    return canonical({row.name: getattr(opened, row.name) for row in fields(opened) if row.name not in _NO_IDENTITY})


def find_unreachable(history: History) -> str:
    """Return why a seat could not be reached, if that is why it took no turn; empty otherwise."""
    rows = [row for row in history.answered.values() if isinstance(row, Abstained) and row.reason in _KINDS]
    return rows[0].detail or rows[0].reason if rows else ""


def read_outcome(history: History) -> Mapping[str, Any]:
    """Return the outcome in a record; empty if it has none."""
    return history.closed.outcome if history.closed else {}


def _is_open(history: History) -> bool:
    """Whether to resume a record: it is not closed, was cut short, or its model was never reached."""
    return history.closed is None or history.status is Status.TRUNCATED or bool(find_unreachable(history))


class _KeptClients:
    """Model clients that outlive the debates of a batch. Each debate closes its clients, and starting one takes
    seconds.
    """

    def __init__(self, client_factory: ClientFactory) -> None:
        self._shared = SharedClients(client_factory)

    def open(self, seating: ModelSeating, api_key: str | None) -> ModelClient:
        return _BorrowedClient(self._shared.get(seating, api_key))

    async def aclose(self) -> None:
        await self._shared.aclose()


class _BorrowedClient:
    """A model client that its user cannot close."""

    def __init__(self, model_client: ModelClient) -> None:
        self._model_client = model_client

    @property
    def modes(self) -> tuple[OutputMode, ...]:
        return self._model_client.modes

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        return await self._model_client.call(call, on_text)

    async def probe(self) -> Fault | None:
        return await self._model_client.probe()

    async def aclose(self) -> None:
        return None


def check_answered(result: ExperimentResult) -> None:
    """Refuse to report on an experiment in which the model was never reached.

    Raises:
        ProviderError: no trial got an answer because the provider failed each time.
    """
    if result.provider_failed and all(find_unreachable(row.history) for row in result.finished):
        raise ProviderError(
            f"No answer came: {result.stopped}.",
            "Test the seat with `disputatio doctor`, then run the same command again.",
        )
