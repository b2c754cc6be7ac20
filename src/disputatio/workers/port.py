"""The port between the surfaces that accept requests and the runners that run the debates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

from disputatio.errors import UnknownDebateError
from disputatio.kernel import JsonObject

if TYPE_CHECKING:
    from sqlalchemy import Connection

TransactionHook: TypeAlias = "Callable[[Connection], None]"
"""Runs in the same transaction: if it raises, nothing of either is kept."""
QUEUE = "debates"
"""The default queue."""


class JobState(StrEnum):
    """The state of a job. The debate's own status says how the debate ended."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    ENDED = "ENDED"
    FAILED = "FAILED"
    """The debate never started, or could not continue."""
    CANCELLED = "CANCELLED"

    @property
    def is_over(self) -> bool:
        """Whether the job has reached its last state."""
        return self not in {JobState.WAITING, JobState.RUNNING}


@dataclass(frozen=True, slots=True)
class Job:
    """A requested debate.

    Attributes:
        debate: the id its debate has, or will have.
        state: its state.
        queue: which workers take it.
        priority: higher runs first.
        asked_at: when it was requested, UTC.
        reason: one sentence on why it failed; else empty.
        next_step: what to do about that.
    """

    debate: str
    state: JobState
    queue: str
    priority: int
    asked_at: str
    reason: str = ""
    next_step: str = ""


def not_started(job: Job) -> UnknownDebateError:
    """The error for reading a debate that was requested and has no record yet."""
    if job.state is JobState.FAILED:
        return UnknownDebateError(f"The debate {job.debate} did not start: {job.reason}", job.next_step)
    if job.state is JobState.CANCELLED:
        return UnknownDebateError(
            f"The debate {job.debate} was cancelled before it had started, so it has no record.", "Order it again."
        )
    return UnknownDebateError(
        f"The debate {job.debate} has not started, so it has no record yet.", "Come again when it has."
    )


@dataclass(frozen=True, slots=True)
class NewCeilings:
    """The ceilings of a resumed debate, including what is spent. None leaves one as it was."""

    budget_usd: Decimal | None = None
    budget_tokens: int | None = None
    max_calls: int | None = None


def no_hook(_connection: Connection) -> None:
    """Do nothing."""


class Runner(Protocol):
    """Accepts requests and sees that each becomes a debate with an end."""

    async def submit(
        self,
        debate_id: str,
        order: JsonObject,
        *,
        priority: int = 0,
        queue: str = QUEUE,
        in_transaction: TransactionHook = no_hook,
    ) -> None:
        """Store a request and run ``in_transaction``; both are durable on return. Submitting an id twice does nothing.

        Raises:
            QueueFullError: too many jobs wait; nothing was stored.
            StoreError: it could not be stored.
        """

    async def cancel(self, debate_id: str) -> bool:
        """Stop the debate, wherever it runs. False where its job is over or does not exist."""

    async def resume(self, debate_id: str, raised: NewCeilings, *, in_transaction: TransactionHook = no_hook) -> bool:
        """Continue a debate that ended, failed or was cancelled, and run ``in_transaction``.

        False where it still waits or runs, or does not exist; nothing is done then. Whoever runs it finds out whether
        anything is left to ask. If it cannot continue, because a ceiling is too low for example, the job becomes FAILED
        and says why.
        """

    async def job(self, debate_id: str) -> Job | None:
        """The job of a debate; None where there is none."""

    async def jobs(self, *, unfinished: bool = False) -> Sequence[Job]:
        """All jobs, newest first, or the unfinished ones in the order in which they run."""

    async def aclose(self, drain_seconds: float = 0.0) -> None:
        """Accept no more requests. Running debates may take ``drain_seconds`` to end, then they are put back. Safe to
        repeat.
        """
