"""Run the debate of one job to its end, from the last event of its record."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from disputatio.config import Arguments
from disputatio.engine.forking import fork, fork_of
from disputatio.engine.ports import DetachAware
from disputatio.engine.recorded import recorded_settings
from disputatio.engine.runtime import Resumption, Runtime, interrupt, recorded_opening, resume, start
from disputatio.errors import (
    DisputatioError,
    PersonLeftError,
    ProviderError,
    StoreError,
    VerificationError,
)
from disputatio.kernel import JsonObject
from disputatio.ledger.budget import Budget
from disputatio.proposals import check_stored, proposal_of, request_of
from disputatio.proposals.forks import ForkRequest, read_fork
from disputatio.proposals.remote import baselines_for
from disputatio.record.history import Status
from disputatio.record.sql import SqlStore
from disputatio.record.verified import load_verified
from disputatio.workers.batched_job_table import BatchedJobTable, ClaimedStore
from disputatio.workers.job_table import MAX_TRIES, DueJob, FinishedJob, JobTable
from disputatio.workers.port import JobState, NewCeilings

if TYPE_CHECKING:
    from disputatio.participants.human import Participant

Participants: TypeAlias = "Callable[[str, JsonObject], Mapping[str, Participant]]"
"""Makes the participants for the seats of people, from a debate's id and its request."""
_LOG = logging.getLogger("disputatio.workers")
CANCELLED = "cancelled by request"
WATCH_SECONDS = 4.0
"""Seconds without a count before a writer's claim may be revoked. Writers count every second."""
_GOES_ON = frozenset({Status.RUNNING.value, Status.INTERRUPTED.value})


def no_people(_debate: str, _order: JsonObject) -> Mapping[str, Participant]:
    """No people."""
    return {}


class RetryLaterError(DisputatioError):
    """The debate could not start now and may start later."""


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """How a job ended, and the status of its record, if it has one."""

    finished: FinishedJob
    status: str | None


async def run_job(
    debate: str,
    jobs: BatchedJobTable,
    runtime: Runtime,
    participants: Participants = no_people,
    *,
    patient: bool = False,
) -> JobOutcome | None:
    """Start or continue the debate of a job and note how it ended.

    Safe to repeat: a finished job stays unchanged, and nothing already paid is asked again.

    Args:
        debate: its id.
        jobs: the job table.
        runtime: what it runs in.
        participants: who takes the seats of people.
        patient: retry an unreachable provider at the start, ``MAX_TRIES`` times in all.

    Returns:
        How it ended; None where nothing was left to do.

    Raises:
        RetryLaterError: it could not start; retry later.
        HeldElsewhereError, TakenOverError: another process runs it; nothing was noted.
        StoreError: the database could not be read or written; nothing was noted.
        asyncio.CancelledError: stopped from outside; nothing was noted.
    """
    due = await jobs.begin(debate, runtime.store)
    if due is None:
        return None
    try:
        here = replace(runtime, store=ClaimedStore(runtime.store, debate))
        finished = await _run_claimed(debate, due, here, participants, patient=patient)
        return JobOutcome(finished, await jobs.finish(finished, runtime.store))
    except BaseException:
        # If the database is away, the claim is corrected when it is back.
        with suppress(StoreError):
            await jobs.release(debate, runtime.store)
        raise
    finally:
        if isinstance(runtime.observer, DetachAware):
            runtime.observer.on_detach(debate)


async def _run_claimed(
    debate: str, due: DueJob, runtime: Runtime, participants: Participants, *, patient: bool
) -> FinishedJob:
    if due.cancelled:
        await interrupt(debate, CANCELLED, runtime)
        return FinishedJob(debate, JobState.CANCELLED)
    try:
        if due.tries > MAX_TRIES and not _has_result(due):
            return await _fail(debate, _TOO_MANY_TRIES, runtime)
        if due.tries <= MAX_TRIES:
            await _go_on(debate, due, runtime, participants)
            await _run_baselines(debate, due.order, runtime)
    except PersonLeftError:
        pass
    except StoreError:
        raise
    except ProviderError as failure:
        if patient and due.tries < MAX_TRIES:
            raise RetryLaterError(failure.cause, failure.next_step) from None
        return await _fail(debate, failure, runtime)
    except DisputatioError as failure:
        return await _fail(debate, failure, runtime)
    except Exception as error:  # noqa: BLE001  (one job must not end a worker's other debates)
        cause = f"Something went wrong inside disputatio: {type(error).__name__}: {str(error)[:200]}."
        bug = DisputatioError(cause, "This is a bug; what was recorded is kept.")
        return await _fail(debate, bug, runtime)
    return FinishedJob(debate, JobState.ENDED)


async def end_cancelled(debate: str, job_table: JobTable, runtime: Runtime) -> None:
    """Note that a job was cancelled, in its record too if it has one.

    Raises:
        HeldElsewhereError: another process runs it and has to stop first.
        StoreError: the database could not be read or written.
    """
    await interrupt(debate, CANCELLED, runtime)
    await asyncio.to_thread(job_table.finish, debate, JobState.CANCELLED)


async def revoke_stalled_claim(store: SqlStore, debate: str) -> None:
    """Revoke the claim of a writer that is connected but stalled, after watching it long enough.

    Afterwards the debate can be claimed, unless its writer is active.
    """
    seen = await asyncio.to_thread(store.claim_state, debate)
    if seen is None:
        return
    for _ in range(round(WATCH_SECONDS)):
        await asyncio.sleep(1.0)
        now = await asyncio.to_thread(store.claim_state, debate)
        if now != seen:
            return
    await asyncio.to_thread(store.revoke, debate, seen)


_TOO_MANY_TRIES = DisputatioError(
    f"This debate was begun {MAX_TRIES} times, and each time its process ended before an answer was recorded.",
    "Look at the logs and the memory of the workers.",
)


async def _go_on(debate: str, due: DueJob, runtime: Runtime, participants: Participants) -> None:
    forking = read_fork(due.order)
    if due.status is None:
        if forking is not None:
            await _fork(debate, forking, runtime)
        else:
            proposal = await asyncio.to_thread(proposal_of, due.order, participants(debate, due.order))
            await start(proposal, runtime, debate=debate)
        return
    if _has_result(due):
        return
    if forking is None:
        # Earlier versions may have accepted an address from a remote caller.
        check_stored(due.order)
    read = load_verified(runtime.store, debate)
    raised = due.raised or NewCeilings()
    resumption = Resumption(
        recorded_settings(recorded_opening(debate, read.history), Arguments()),
        Budget(raised.budget_usd, raised.budget_tokens, raised.max_calls),
        participants=participants(debate, due.order),
    )
    # An unreachable provider now costs its seats their turns, as it would have without the break.
    await resume(debate, resumption, replace(runtime, checks_first=False), read=read)


async def _fork(debate: str, request: ForkRequest, runtime: Runtime) -> None:
    """Run the fork that a request asks for."""
    read = await asyncio.to_thread(load_verified, runtime.store, request.parent)
    found = await asyncio.to_thread(fork_of, request.parent, read, request.strike)
    ceilings = Budget(request.budget.usd, request.budget.tokens, request.budget.calls)
    resumption = Resumption(recorded_settings(found.opened, Arguments()), ceilings)
    await fork(found, read, resumption, runtime, debate=debate)


def _has_result(due: DueJob) -> bool:
    """Whether the debate is closed, so that only its baselines may be left to run."""
    return due.status is not None and due.raised is None and due.status not in _GOES_ON


async def _run_baselines(debate: str, order: JsonObject, runtime: Runtime) -> None:
    """Run the requested baselines within the ceilings of the debate. Recorded ones are not repeated.

    A failure is logged; the debate keeps its result.

    Raises:
        StoreError: the database could not be read or written.
    """
    if order.get("baseline") is None:
        return
    try:
        proposal = await asyncio.to_thread(lambda: proposal_of(order, {}, people_missing=True))
        run = baselines_for(request_of(order), proposal)
        if run is not None:
            await run(debate, runtime)
    except StoreError:
        raise
    except Exception as failure:  # noqa: BLE001  (whatever it is, the debate has its result)
        _LOG.warning("The baselines of the debate %s could not be run: %s", debate, failure)


async def _fail(debate: str, failure: DisputatioError, runtime: Runtime) -> FinishedJob:
    if not isinstance(failure, VerificationError):
        await interrupt(debate, failure.cause, runtime)
    return FinishedJob(debate, JobState.FAILED, failure.cause, failure.next_step)
