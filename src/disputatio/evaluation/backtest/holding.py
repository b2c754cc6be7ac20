"""Holds the debates of a backtest over one store, and goes on where an earlier run was stopped.

By rules alone   nothing is paid and nothing is waited for, so debates are computed, in several processes where that is
                 asked for. Each is held whole in memory and handed to one writer, which commits them in groups: a
                 record is there whole or not at all, and a stopped run loses at most those that were being held
With models      an experiment: every call is in the record before it leaves, under one ceiling, several at a time

Both hold the same debate with the same record. ``recorded`` reads what is there and holds nothing.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from disputatio.config import Settings
from disputatio.engine.gc_tuning import settle_in
from disputatio.engine.market_setup import is_rules
from disputatio.engine.runtime import Runtime, start
from disputatio.engine.verified import read_verified
from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.archive import Archive
from disputatio.evaluation.backtest.cases import USUAL_HORIZON, Bases, Case, debate_id, identity_of, proposal_of
from disputatio.evaluation.backtest.reading import DateRecord, read_date
from disputatio.evaluation.experiment import CONCURRENCY, Experiment, Trial
from disputatio.participants.call import ModelClient
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.shared_clients import ClientFactory, open_client
from disputatio.record.history import History, Status
from disputatio.record.memory import MemoryStore
from disputatio.record.store import Store, Writing

_AT_ONCE = 3
"""Debates that a process holds between two answers: few, so that Ctrl-C is not waited for."""
_ENDED = frozenset({Status.COMPLETE.value, Status.DEGRADED.value, Status.FAILED.value})


@dataclass(frozen=True, slots=True)
class Run:
    """How every date is held. ``prompts`` is a folder of overrides; ``horizon`` is what the question asks for."""

    archive: Archive
    settings: Settings
    prompts: Path | None = None
    opener: ClientFactory = open_client
    concurrency: int = CONCURRENCY
    processes: int = 1
    horizon: str = USUAL_HORIZON

    @property
    def by_rules(self) -> bool:
        """Whether every seat is taken by a rule-based analyst."""
        return all(is_rules(row) for row in self.settings.seats.values())


@dataclass(frozen=True, slots=True)
class HeldDates:
    """What was held, in the order of the cases. ``missing`` were not, and ``stopped`` says why."""

    records: tuple[DateRecord, ...]
    missing: tuple[Case, ...]
    stopped: str = ""
    provider_failed: bool = False


class Holding:
    """The debates of a backtest.

    Args:
        cases: what is to be held.
        run: how.
        store: where the records are.
        on_held: is told of each debate that is done; True where it was recorded before.
    """

    def __init__(
        self, cases: Sequence[Case], run: Run, store: Store, *, on_held: Callable[[bool], None] = lambda _: None
    ) -> None:
        self._cases, self._run, self._store, self._on_held = tuple(cases), run, store, on_held
        identity = identity_of(run.settings, run.prompts, run.opener, run.horizon)
        self._ids = {case: debate_id(case, run.archive.digest, identity) for case in self._cases}

    def recorded(self) -> HeldDates:
        """What the store has; nothing is held.

        Raises:
            VerificationError: a record was altered.
        """
        found = self._read()
        return replace(found, stopped="only what was recorded is told") if found.missing else found

    async def hold(self) -> HeldDates:
        """Hold what has no record yet.

        Raises:
            ProviderError, InvalidInputError: as `Experiment.run`; nothing was spent.
            StoreError: a record could not be written.
            asyncio.CancelledError: stopped from outside; what was held has its records.
        """
        return await (self._by_rules() if self._run.by_rules else self._as_experiment())

    def _read(self, stopped: str = "", *, provider_failed: bool = False) -> HeldDates:
        there = {case: self._is_there(case) for case in self._cases}
        records = [self._record(case) for case, held in there.items() if held]
        missing = tuple(case for case, held in there.items() if not held)
        return HeldDates(tuple(records), missing, stopped, provider_failed)

    def _is_there(self, case: Case) -> bool:
        row = self._store.row(self._ids[case])
        return row is not None and row.status in _ENDED

    def _record(self, case: Case) -> DateRecord:
        debate = self._ids[case]
        return read_date(case, debate, History.of(row.event() for row in read_verified(self._store, debate)))

    async def _by_rules(self) -> HeldDates:
        waiting = []
        for case in self._cases:
            if self._is_there(case):
                self._on_held(True)
            else:
                waiting.append((case, self._ids[case]))
        lots = [waiting[start : start + _AT_ONCE] for start in range(0, len(waiting), _AT_ONCE)]
        processes = min(self._run.processes, len(lots))
        if processes > 1:
            await self._in_processes(lots, processes)
        elif lots:
            desk = _Desk(self._run.archive, self._run.settings, self._run.prompts, self._run.horizon)
            for lot in lots:
                await self._write(await desk.hold(lot))
        return self._read()

    async def _in_processes(self, lots: Sequence[_Lot], processes: int) -> None:
        pool = ProcessPoolExecutor(
            processes,
            # A fork would copy the threads of the store's writer and of libraries in an unknown state.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(self._run.archive, self._run.settings, self._run.prompts, self._run.horizon),
        )
        try:
            futures: list[Future[list[Writing]]] = [pool.submit(_hold_lot, lot) for lot in lots]
            for done in asyncio.as_completed([asyncio.wrap_future(row) for row in futures]):
                await self._write(await done)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    async def _write(self, writings: Iterable[Writing]) -> None:
        """Append whole records; those that wait together are committed together."""
        await asyncio.gather(*(self._store.append(row) for row in writings))
        for _ in writings:
            self._on_held(False)

    async def _as_experiment(self) -> HeldDates:
        bases, run = Bases(self._run.archive), self._run
        trials = [
            Trial(
                case.key,
                proposal_of(bases.of(case), run.settings, run.prompts, run.horizon),
                debate=self._ids[case],
            )
            for case in self._cases
        ]
        experiment = Experiment(
            self._store,
            run.opener,
            budget=run.settings.budget,
            concurrency=run.concurrency,
            on_finished=lambda trial: self._on_held(trial.reused),
        )
        result = await experiment.run(trials)
        return self._read(result.stopped, provider_failed=result.provider_failed)


_Lot = Sequence[tuple[Case, str]]


class _Desk:
    """Holds dates by rules, in memory."""

    def __init__(self, archive: Archive, settings: Settings, prompts: Path | None, horizon: str) -> None:
        self._bases, self._settings, self._prompts, self._horizon = Bases(archive), settings, prompts, horizon

    async def hold(self, lot: _Lot) -> list[Writing]:
        """The whole record of each case."""
        return [await self._one(case, debate) for case, debate in lot]

    async def _one(self, case: Case, debate: str) -> Writing:
        store = MemoryStore()
        runtime = Runtime(store, opener=_nobody, checks_first=False)
        proposal = proposal_of(self._bases.of(case), self._settings, self._prompts, self._horizon)
        await start(proposal, runtime, debate=debate)
        return Writing(debate, tuple(store.read(debate)), store.texts(debate))


def _nobody(seating: ModelSeating, key: str | None) -> ModelClient:  # noqa: ARG001  (the port's signature)
    raise InvalidInputError(f"{seating.address} is asked in a debate by rules.", "Seat rules in every seat.")


_DESKS: list[_Desk] = []


def _begin(archive: Archive, settings: Settings, prompts: Path | None, horizon: str) -> None:
    """Make this process ready: Ctrl-C is for its parent, and it does not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = multiprocessing.parent_process()

    def leave_with_the_parent() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=leave_with_the_parent, daemon=True).start()
    settle_in()
    _DESKS.append(_Desk(archive, settings, prompts, horizon))


def _hold_lot(lot: _Lot) -> list[Writing]:
    return asyncio.run(_DESKS[-1].hold(lot))
