"""Follows one batch from its creation to its last answer, whatever fails on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from disputatio.participants.batch.api import (
    REQUEST_TIMEOUT_S,
    BatchApi,
    BatchRefusedError,
    BatchState,
    BatchTroubleError,
    ItemResult,
)
from disputatio.participants.call import Call, Fault, FaultKind, Reply
from disputatio.record.batches import BatchBook, BatchRow, Identity

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
        """Deliver the answer, unless the caller stopped waiting."""
        if not self.answer.done():
            self.answer.set_result(outcome)


POLL_FIRST_S: Final = 2.0
_POLL_LAST_S: Final = 60.0
_POLL_GROWS: Final = 1.5
SETTLED_S: Final = REQUEST_TIMEOUT_S + 30.0
"""Seconds after which a batch with unconfirmed creation is in the provider's list or was not created."""
_CREATION_TRIES: Final = 8
_LONGEST_REST_S: Final = 120.0
_RESULT_TRIES: Final = 20
_PASSING: Final = frozenset(
    {
        FaultKind.RATE_LIMITED,
        FaultKind.SERVER_ERROR,
        FaultKind.TIMED_OUT,
        FaultKind.UNREACHABLE,
        FaultKind.CUT_OFF,
    }
)
_KINDS: Final = {401: FaultKind.KEY_REJECTED, 403: FaultKind.KEY_REJECTED, 402: FaultKind.QUOTA_EXHAUSTED}


class Following:
    """Creates, finds and reads batches through one interface.

    Args:
        api: the provider's interface.
        book: where batches are written down.
        clock: waits between two requests.
        seconds: the time in seconds since 1970.
        on_note: called with a sentence on what goes wrong.
        poll_first_s: seconds to the first look at a batch; the later ones are further apart.
        delivering: a context in which answers are given.
    """

    def __init__(
        self,
        api: BatchApi,
        book: BatchBook,
        clock: BatchClock,
        seconds: Callable[[], float],
        on_note: Callable[[str], None],
        poll_first_s: float,
        delivering: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._api, self._book, self._clock, self._seconds = api, book, clock, seconds
        self._on_note, self._poll_first_s, self._delivering = on_note, poll_first_s, delivering

    async def create(self, row: BatchRow, items: Sequence[bytes]) -> str | Fault:
        """Create the batch, once; returns the provider's id, or why there certainly is no batch."""
        rest = self._poll_first_s
        for _ in range(_CREATION_TRIES):
            try:
                return await self._api.create(row.name, items)
            except BatchRefusedError as refusal:
                kind = _KINDS.get(refusal.status, FaultKind.BATCH_FAILED)
                return Fault(kind, f"{row.place} refused the batch: {refusal}.")
            except BatchTroubleError as trouble:
                why = trouble
            self._on_note(f"The batch to {row.place} could not be sent: {why}. Trying again.")
            await self._clock.sleep(max(why.retry_after_s or 0.0, rest))
            rest = min(2 * rest, _LONGEST_REST_S)
            if why.may_have_arrived and (found := await self.recover(row)) is not None:
                return found
        return Fault(FaultKind.BATCH_FAILED, f"{row.place} did not take the batch: {why}.")

    async def recover(self, row: BatchRow) -> str | None:
        """The provider's id of a batch whose creation was not confirmed; None where it certainly was not created."""
        rest = self._poll_first_s
        while True:
            others = await self._book.provider_ids()
            try:
                found = await self._api.find(row.name, since=row.intended_at, size=row.size, others=others)
            except BatchTroubleError as trouble:
                found = False
                rest = max(rest, trouble.retry_after_s or 0.0)
            except BatchRefusedError as refusal:
                self._on_note(f"The batches of {row.place} cannot be listed: {refusal}. Trying again.")
                found = False
            if isinstance(found, str):
                return found
            left = row.intended_at + SETTLED_S - self._seconds()
            if found is None and left <= 0:
                return None
            await self._clock.sleep(min(left, _POLL_LAST_S) + 0.001 if found is None else rest)
            rest = min(_POLL_GROWS * rest, _POLL_LAST_S)

    async def deliver(self, row: BatchRow, members: Mapping[int, Waiting]) -> None:
        """Wait until the batch has ended, and give each of ``members`` its answer, by position."""
        left = dict(members)
        state = await self._ended(row, left)
        if state is None:
            return
        why = f"the batch of {row.place} has no answer for it"
        if state.failure:
            why = f"the batch of {row.place} failed: {state.failure}"
        with self._delivering():
            await self._read(row, state, left)
        for waiting in left.values():
            # A batch that failed did nothing; an item that its results pass over may have been charged.
            kind = FaultKind.BATCH_FAILED if state.failure else FaultKind.GARBLED
            waiting.settle(Fault(kind, f"{why}."))

    async def _ended(self, row: BatchRow, left: dict[int, Waiting]) -> BatchState | None:
        """The batch when it has ended; None if no caller waits for it any more."""
        rest = self._poll_first_s
        while any(not waiting.answer.done() for waiting in left.values()):
            try:
                state = await self._api.state(str(row.provider_id))
                if state.ended:
                    return state
            except BatchTroubleError as trouble:
                rest = max(rest, trouble.retry_after_s or 0.0)
            except BatchRefusedError as refusal:
                if refusal.status not in {401, 403}:
                    # It may have been worked on, so nothing says that it was not charged.
                    return BatchState(True, {})
                self._on_note(f"The batch {row.provider_id} of {row.place} cannot be read: {refusal}. Trying again.")
            await self._clock.sleep(rest)
            rest = min(_POLL_GROWS * rest, _POLL_LAST_S)
        return None

    async def _read(self, row: BatchRow, state: BatchState, left: dict[int, Waiting]) -> None:
        """Give answers as the results are read; what has its answer leaves ``left``."""
        rest = self._poll_first_s
        for _ in range(_RESULT_TRIES):
            try:
                async for result in self._api.results(state):
                    waiting = left.pop(_position(row.name, result.custom_id), None)
                    if waiting is not None:
                        waiting.settle(await _outcome(waiting, result, row.place))
                return
            except (BatchTroubleError, BatchRefusedError) as trouble:
                self._on_note(f"The results of {row.provider_id} cannot be read: {trouble}. Trying again.")
            await self._clock.sleep(rest)
            rest = min(2 * rest, _LONGEST_REST_S)


async def _outcome(waiting: Waiting, result: ItemResult, place: str) -> Reply | Fault:
    """What an item's result means. What passes by itself is no attempt of the seat: the call is made again, singly."""
    if result.response is None:
        kind = FaultKind.BATCH_FAILED if result.unbilled else FaultKind.GARBLED
        return Fault(kind, f"The batch of {place} has no answer for this call: {result.why}.")
    outcome = await waiting.model_client.interpret(waiting.call, result.response)
    if isinstance(outcome, Fault) and outcome.kind in _PASSING:
        return replace(outcome, kind=FaultKind.BATCH_FAILED, retry_after_s=None)
    return outcome


def _position(name: str, custom_id: str) -> int:
    """The place of an item in its batch; -1 where it is none of that batch."""
    before, sign, number = custom_id.rpartition("-" if not custom_id.startswith("#") else "#")
    if not sign or not number.isascii() or not number.isdigit() or before not in {name, ""}:
        return -1
    return int(number)
