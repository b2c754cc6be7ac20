"""Holds the debate of one order to its end, here and now, wherever its record stands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from disputatio.config import CommandLine
from disputatio.engine.debates import House, Resumption, interrupt, read_verified, resume, start
from disputatio.engine.recorded import recorded_settings
from disputatio.failures import (
    DisputatioError,
    PersonLeftError,
    ProviderError,
    StoreError,
    VerificationError,
)
from disputatio.fleet.desk import MOST_TRIES, Desk
from disputatio.fleet.port import JobState, Raised
from disputatio.kernel import JsonObject
from disputatio.orders import proposal_of
from disputatio.record.chain import Sealed
from disputatio.record.events import Abstained, CallMade, TurnTaken
from disputatio.record.history import Status
from disputatio.record.sql import SqlStore

if TYPE_CHECKING:
    from disputatio.participants.human import Participant

Participants: TypeAlias = "Callable[[str, JsonObject], Mapping[str, Participant]]"
"""Who takes the seats of people in a debate of this id, ordered so."""
CANCELLED = "cancelled by request"
WATCH_SECONDS = 4.0
"""So long a writer must not have counted before its claim is taken from it. It counts every second."""
_PROGRESS = frozenset({CallMade.kind, TurnTaken.kind, Abstained.kind})
_GOES_ON = frozenset({Status.RUNNING.value, Status.INTERRUPTED.value})


def nobody(_debate: str, _order: JsonObject) -> Mapping[str, Participant]:
    """No people."""
    return {}


class NotYetError(DisputatioError):
    """A debate could not begin, and may a little later."""


async def hold(
    debate: str, desk: Desk, house: House, participants: Participants = nobody, *, patient: bool = False
) -> None:
    """Begin the debate of an order, or go on with it from its record, and note on its order how it ended.

    Safe to repeat: what is over stays as it is, and nothing that was paid is asked again.

    Args:
        debate: its id.
        desk: where its order is.
        house: what it runs in.
        participants: who takes the seats of people.
        patient: a provider that cannot be reached at the beginning is tried again, ``MOST_TRIES`` times in all.

    Raises:
        NotYetError: it was not, and is to be tried again later.
        HeldElsewhereError, TakenOverError: another process holds it; nothing was noted.
        StoreError: the database could not be read or written; nothing was noted.
        asyncio.CancelledError: stopped from outside; nothing was noted.
    """
    order = await asyncio.to_thread(desk.order, debate)
    job = await asyncio.to_thread(desk.job, debate)
    if order is None or job is None or job.state.over:
        return
    if await asyncio.to_thread(desk.cancelled, [debate]):
        await end_cancelled(debate, desk, house)
        return
    tries = await _begun(debate, desk, house)
    try:
        if tries > MOST_TRIES:
            await _give_up(debate, _IN_VAIN, desk, house)
            return
        await _go_on(debate, order, house, participants, await asyncio.to_thread(desk.raised, debate))
        await asyncio.to_thread(desk.finish, debate, JobState.ENDED)
    except PersonLeftError:
        await asyncio.to_thread(desk.finish, debate, JobState.ENDED)
    except StoreError:
        raise
    except ProviderError as failure:
        if patient and tries < MOST_TRIES:
            raise NotYetError(failure.cause, failure.next_step) from None
        await _give_up(debate, failure, desk, house)
    except DisputatioError as failure:
        await _give_up(debate, failure, desk, house)
    except Exception as error:  # noqa: BLE001  (an order must not take a worker's other debates with it)
        cause = f"Something went wrong inside disputatio: {type(error).__name__}: {str(error)[:200]}."
        await _give_up(debate, DisputatioError(cause, "This is a bug; what was recorded is kept."), desk, house)


async def _begun(debate: str, desk: Desk, house: House) -> int:
    """How often it is tried, this time included. Only who could claim it counts: the others are refused here."""
    if not isinstance(house.store, SqlStore):
        # One that tells of its claims does so in this loop.
        return _tried(debate, desk, house)
    trying = asyncio.ensure_future(asyncio.to_thread(_tried, debate, desk, house))
    try:
        return await asyncio.shield(trying)
    except asyncio.CancelledError:
        # The claim is given back before anybody else asks for it.
        await asyncio.wait({trying})
        raise


def _tried(debate: str, desk: Desk, house: House) -> int:
    house.store.claim(debate)
    try:
        return desk.begin(debate, _answers(house.store.read(debate)))
    finally:
        house.store.release(debate)


def _answers(record: Sequence[Sealed]) -> int:
    """How far a debate has come. That it was gone on with is an event too, and no progress."""
    return sum(row.kind in _PROGRESS for row in record)


async def end_cancelled(debate: str, desk: Desk, house: House) -> None:
    """Note that an order was cancelled, in its record too where it has one.

    Raises:
        HeldElsewhereError: another process holds it, and has to stop it first.
        StoreError: the database could not be read or written.
    """
    await interrupt(debate, CANCELLED, house)
    await asyncio.to_thread(desk.finish, debate, JobState.CANCELLED)


async def take_from_stalled(store: SqlStore, debate: str) -> None:
    """Void the claim of a writer that is there but does nothing any more, after watching it for long enough.

    Afterwards the debate can be claimed, unless whoever holds it is alive.
    """
    seen = await asyncio.to_thread(store.standing, debate)
    if seen is None:
        return
    for _ in range(round(WATCH_SECONDS)):
        await asyncio.sleep(1.0)
        now = await asyncio.to_thread(store.standing, debate)
        if now != seen:
            return
    await asyncio.to_thread(store.dislodge, debate, seen)


_IN_VAIN = DisputatioError(
    f"This debate was begun {MOST_TRIES} times, and each time its process ended before an answer was recorded.",
    "Look at the logs and the memory of the workers.",
)


async def _go_on(
    debate: str, order: JsonObject, house: House, participants: Participants, raised: Raised | None
) -> None:
    row = house.store.row(debate)
    if row is None:
        await start(proposal_of(order, participants(debate, order)), house, debate=debate)
        return
    if raised is None and row.status not in _GOES_ON:
        return
    record = read_verified(house.store, debate)
    settings = recorded_settings(debate, record, CommandLine())
    ceilings = raised or Raised()
    resumption = Resumption(
        settings=settings,
        participants=participants(debate, order),
        budget_usd=ceilings.budget_usd,
        budget_tokens=ceilings.budget_tokens,
        budget_calls=ceilings.max_calls,
    )
    # It has begun: a provider that is away now costs its seats their turns, as it would have without the break.
    await resume(debate, resumption, replace(house, checks_first=False))


async def _give_up(debate: str, failure: DisputatioError, desk: Desk, house: House) -> None:
    if not isinstance(failure, VerificationError):
        await interrupt(debate, failure.cause, house)
    await asyncio.to_thread(desk.finish, debate, JobState.FAILED, failure.cause, failure.next_step)
