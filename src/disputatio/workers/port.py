"""The port between surfaces that take orders and whoever holds the debates."""

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
"""What is done in the same transaction: if it raises, nothing of either is kept."""
QUEUE = "debates"
"""The queue of orders that name none."""


class JobState(StrEnum):
    """Where an order is. How its debate ended is told by the debate's own status."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    ENDED = "ENDED"
    FAILED = "FAILED"
    """It never became a debate, or could not go on."""
    CANCELLED = "CANCELLED"

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens."""
        return self not in {JobState.WAITING, JobState.RUNNING}


@dataclass(frozen=True, slots=True)
class Job:
    """An order on its way.

    Attributes:
        debate: the id its debate has, or will have.
        state: where it is.
        queue: which workers take it.
        priority: higher is taken first.
        asked_at: when it came, UTC.
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
    """The error for reading or checking a debate that was ordered and has no record yet."""
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
    """The ceilings that a debate is gone on with, what is spent included; None leaves one as it was."""

    budget_usd: Decimal | None = None
    budget_tokens: int | None = None
    max_calls: int | None = None


def no_hook(_connection: Connection) -> None:
    """Nothing."""


class Runner(Protocol):
    """Takes orders and sees to it that each becomes a debate with an end."""

    async def submit(
        self,
        debate_id: str,
        order: JsonObject,
        *,
        priority: int = 0,
        queue: str = QUEUE,
        in_transaction: TransactionHook = no_hook,
    ) -> None:
        """Take an order and do ``in_transaction`` with it; both are durable when this returns. Taking one id twice does
        nothing.

        Raises:
            QueueFullError: too many wait already; nothing was taken.
            StoreError: it could not be kept.
        """

    async def cancel(self, debate_id: str) -> bool:
        """Have it stopped, wherever it is held; False where it is over, or was never ordered."""

    async def resume(self, debate_id: str, raised: NewCeilings, *, in_transaction: TransactionHook = no_hook) -> bool:
        """Have a debate gone on with that ended, failed or was cancelled, and do ``in_transaction`` with it.

        False where it still waits or runs, or was not ordered; nothing is done then. Whoever takes it finds out whether
        anything is left to ask; where it cannot go on, because a ceiling is too low for example, the job is FAILED and
        says why.
        """

    async def job(self, debate_id: str) -> Job | None:
        """Where an order is; None where there is none."""

    async def jobs(self, *, unfinished: bool = False) -> Sequence[Job]:
        """All orders, newest first, or those that wait or run, in the order in which they are taken."""

    async def aclose(self, drain_seconds: float = 0.0) -> None:
        """Stop taking orders; what runs may take so long to end, then it is put back. Safe to repeat."""
