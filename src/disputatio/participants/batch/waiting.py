"""A call that waits for its batch, and the clock that it waits by."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from disputatio.participants.call import Call, Fault, Reply
from disputatio.record.batches import Identity

if TYPE_CHECKING:
    from disputatio.participants.remote.client import RemoteClient


class BatchClock(Protocol):
    """Time, as the engine has it."""

    def now(self) -> str:
        """UTC as ``2026-01-31T12:00:00.000000Z``."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


@dataclass(slots=True)
class Waiting:
    """A call that waits for its answer."""

    identity: Identity
    call: Call
    model_client: RemoteClient
    answer: asyncio.Future[Reply | Fault]

    def settle(self, outcome: Reply | Fault) -> None:
        """Give it its answer, unless nobody waits any more."""
        if not self.answer.done():
            self.answer.set_result(outcome)
