"""Run the debates of a backtest over one store, continue after a stop, and estimate the cost.

By rules alone   debates cost nothing, so they are computed, in several processes if requested. Each runs in memory.
                 One writer commits whole records in groups, so a stopped run loses only the debates in progress
With models      an experiment: each call is recorded before it is sent, under one ceiling, several at a time

Both make the same records. ``read_recorded`` reads what exists and runs nothing.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from disputatio.config import Settings
from disputatio.engine.market_setup import is_rule_based
from disputatio.engine.ports import Batches
from disputatio.engine.process_tuning import tune_gc
from disputatio.engine.runtime import Runtime, start
from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.agents import AgentRunner
from disputatio.evaluation.backtest.archive import Archive
from disputatio.evaluation.backtest.cases import (
    ARMS,
    BLIND,
    DEFAULT_HORIZON,
    PLAIN,
    Case,
    KnowledgeBases,
    hash_identity,
    make_debate_id,
    make_proposal,
)
from disputatio.evaluation.backtest.forecasts import DateRecord, read_date
from disputatio.evaluation.estimates import PREVIEWED, EstimatedPart, estimate_part, estimate_vote
from disputatio.evaluation.experiment import CONCURRENCY, Experiment, Trial
from disputatio.participants.call import ModelClient
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.shared_clients import ClientFactory, open_client
from disputatio.record.history import History, Status
from disputatio.record.memory import MemoryStore
from disputatio.record.store import EventBatch, Store
from disputatio.record.verified import read_verified

_BATCH_SIZE = 3
"""Debates of one batch of a process: few, so Ctrl-C takes effect quickly."""
_ENDED = frozenset({Status.COMPLETE.value, Status.DEGRADED.value, Status.FAILED.value})


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How every date runs. ``prompts`` is a folder of overrides; ``horizon`` is that of the question.

    ``batches`` sends calls in batches; None calls models singly.
    """

    archive: Archive
    settings: Settings
    prompts: Path | None = None
    client_factory: ClientFactory = open_client
    concurrency: int = CONCURRENCY
    processes: int = 1
    horizon: str = DEFAULT_HORIZON
    batches: Batches | None = None

    @property
    def by_rules(self) -> bool:
        """Whether a rule-based analyst takes every seat."""
        return all(is_rule_based(row) for row in self.settings.seats.values())


@dataclass(frozen=True, slots=True)
class FinishedDates:
    """The debates that ran, in the order of the cases. ``missing`` did not run, and ``stopped`` says why."""

    records: tuple[DateRecord, ...]
    missing: tuple[Case, ...]
    stopped: str = ""
    provider_failed: bool = False


class BacktestRunner:
    """Runs the debates of a backtest.

    Args:
        cases: the debates to run.
        run: how.
        store: holds the records.
        on_finished: called for each finished debate, with True if it was recorded before.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        run: RunSettings,
        store: Store,
        *,
        on_finished: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._cases, self._run, self._store, self._on_finished = tuple(cases), run, store, on_finished
        identity = hash_identity(run.settings, run.prompts, run.client_factory, run.horizon)
        self._ids = {case: make_debate_id(case, run.archive.digest, identity) for case in self._cases}

    def read_recorded(self) -> FinishedDates:
        """Read what the store has; run nothing.

        Raises:
            VerificationError: a record was altered.
        """
        found = self._read()
        return replace(found, stopped="only recorded debates are reported") if found.missing else found

    async def run(self) -> FinishedDates:
        """Run what has no record yet.

        Raises:
            ProviderError, InvalidInputError: as `Experiment.run`; nothing was spent.
            StoreError: a record could not be written.
            asyncio.CancelledError: cancelled from outside; finished debates keep their records.
        """
        return await (self._by_rules() if self._run.by_rules else self._as_experiment())

    def _read(self, stopped: str = "", *, provider_failed: bool = False) -> FinishedDates:
        there = {case: self._is_there(case) for case in self._cases}
        records = [self._record(case) for case, held in there.items() if held]
        missing = tuple(case for case, held in there.items() if not held)
        return FinishedDates(tuple(records), missing, stopped, provider_failed)

    def _is_there(self, case: Case) -> bool:
        row = self._store.row(self._ids[case])
        return row is not None and row.status in _ENDED

    def _record(self, case: Case) -> DateRecord:
        debate = self._ids[case]
        return read_date(case, debate, History.of(row.event() for row in read_verified(self._store, debate)))

    async def _by_rules(self) -> FinishedDates:
        waiting = []
        for case in self._cases:
            if self._is_there(case):
                self._on_finished(True)
            else:
                waiting.append((case, self._ids[case]))
        batches = [waiting[start : start + _BATCH_SIZE] for start in range(0, len(waiting), _BATCH_SIZE)]
        processes = min(self._run.processes, len(batches))
        if processes > 1:
            await self._in_processes(batches, processes)
        elif batches:
            runner = _RuleRunner(self._run.archive, self._run.settings, self._run.prompts, self._run.horizon)
            for batch in batches:
                await self._write(await runner.run(batch))
        return self._read()

    async def _in_processes(self, batches: Sequence[_Batch], processes: int) -> None:
        pool = ProcessPoolExecutor(
            processes,
            # A fork would copy threads of the store's writer and of libraries in an unknown state.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start_process,
            initargs=(self._run.archive, self._run.settings, self._run.prompts, self._run.horizon),
        )
        try:
            futures: list[Future[list[EventBatch]]] = [pool.submit(_run_batch, batch) for batch in batches]
            for done in asyncio.as_completed([asyncio.wrap_future(row) for row in futures]):
                await self._write(await done)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    async def _write(self, writings: Iterable[EventBatch]) -> None:
        """Append whole records; those that wait together are committed together."""
        await asyncio.gather(*(self._store.append(row) for row in writings))
        for _ in writings:
            self._on_finished(False)

    async def _as_experiment(self) -> FinishedDates:
        bases, run = KnowledgeBases(self._run.archive), self._run
        trials = [
            Trial(
                case.key,
                make_proposal(bases.of(case), run.settings, run.prompts, run.horizon),
                debate=self._ids[case],
            )
            for case in self._cases
        ]
        experiment = Experiment(
            self._store,
            run.client_factory,
            budget=run.settings.budget,
            concurrency=run.concurrency,
            on_finished=lambda trial: self._on_finished(trial.reused),
            batches=run.batches,
        )
        result = await experiment.run(trials)
        return self._read(result.stopped, provider_failed=result.provider_failed)


_Batch = Sequence[tuple[Case, str]]


class _RuleRunner:
    """Runs dates by rules, in memory."""

    def __init__(self, archive: Archive, settings: Settings, prompts: Path | None, horizon: str) -> None:
        self._bases, self._settings, self._prompts, self._horizon = KnowledgeBases(archive), settings, prompts, horizon

    async def run(self, batch: _Batch) -> list[EventBatch]:
        """Return the whole record of each case."""
        return [await self._one(case, debate) for case, debate in batch]

    async def _one(self, case: Case, debate: str) -> EventBatch:
        store = MemoryStore()
        runtime = Runtime(store, client_factory=_refuse_model, checks_first=False)
        proposal = make_proposal(self._bases.of(case), self._settings, self._prompts, self._horizon)
        await start(proposal, runtime, debate=debate)
        return EventBatch(debate, tuple(store.read(debate)), store.texts(debate))


def _refuse_model(seating: ModelSeating, key: str | None) -> ModelClient:  # noqa: ARG001  (the port's signature)
    raise InvalidInputError(f"A debate by rules cannot call {seating.address}.", "Seat rules in every seat.")


_RUNNERS: list[_RuleRunner] = []


def _start_process(archive: Archive, settings: Settings, prompts: Path | None, horizon: str) -> None:
    """Prepare a worker process: it ignores Ctrl-C, which its parent handles, and exits with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = multiprocessing.parent_process()

    def exit_with_parent() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=exit_with_parent, daemon=True).start()
    tune_gc()
    _RUNNERS.append(_RuleRunner(archive, settings, prompts, horizon))


def _run_batch(batch: _Batch) -> list[EventBatch]:
    return asyncio.run(_RUNNERS[-1].run(batch))


async def estimate_backtest(
    cases: Sequence[Case],
    run: RunSettings,
    single: Settings | None = None,
    probes: Mapping[str, Settings] | None = None,
    years: tuple[int, int] = (0, 0),
    *,
    batch: bool = False,
) -> tuple[EstimatedPart, ...]:
    """Estimate each part: the debates by arm, and with models their single agents, votes and probe.

    Args:
        cases: every debate.
        run: how they would run.
        single: the settings of single agents; None for none.
        probes: the settings of the recognition probe, by model.
        years: those that the probe offers.
        batch: whether calls go in batches where they can.
    """
    bases, parts = KnowledgeBases(run.archive), []
    experiment = Experiment(MemoryStore(), run.client_factory)
    agents = AgentRunner((), bases, single, probes or {}, years, experiment, horizon=run.horizon, prompts=run.prompts)
    for arm in ARMS:
        own = [case for case in cases if case.arm == arm]
        looked = _spread(own)
        debates = [make_proposal(bases.of(case), run.settings, run.prompts, run.horizon) for case in looked]
        part = _for_all(await estimate_part(f"debates, {arm}", debates, batch=batch), len(own))
        parts += [part] if own else []
        if single is None or not own or arm not in {PLAIN, BLIND}:
            continue
        alone = await estimate_part(
            f"single answers, {arm}", [agents.proposals_of(case)[0] for case in looked], batch=batch
        )
        alone = _for_all(alone, len(own))
        parts += [alone, estimate_vote(f"votes, {arm}", part, alone)]
    if probes:
        looked = _spread([case for case in cases if case.arm == PLAIN])
        asked = [row.trial.proposal for row in agents.probes_on(looked)]
        every = len(asked) // max(1, len(looked)) * sum(case.arm == PLAIN for case in cases)
        parts.append(_for_all(await estimate_part("recognition probe", asked, batch=batch), every))
    return tuple(parts)


def _spread(cases: Sequence[Case]) -> list[Case]:
    """A few evenly spaced ``cases``, since each needs its own knowledge base."""
    places = {round(place * (len(cases) - 1) / max(1, PREVIEWED - 1)) for place in range(min(PREVIEWED, len(cases)))}
    return [cases[place] for place in sorted(places)]


def _for_all(part: EstimatedPart, debates: int) -> EstimatedPart:
    """Scale ``part`` to this number of debates."""
    share = debates / part.debates if part.debates else 0
    usd = None if part.usd is None else part.usd * debates / max(1, part.debates)
    return EstimatedPart(part.name, debates, round(part.calls * share), round(part.tokens * share), usd)
