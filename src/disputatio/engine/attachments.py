"""Attaches to a closed debate what came after it: an outcome, or a sign-off. The debate stays as it was closed.

Both are events at the end of its chain, each with the hash of the event before it, so that it can be told what was
signed off. The name of who attached one is what the user gave. The chain proves that it was not altered since; it does
not prove who typed it, nor when: the clock is the machine's.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

from disputatio.engine.journal import Journal
from disputatio.engine.runtime import Runtime
from disputatio.errors import InvalidInputError
from disputatio.motion import clean, one_line
from disputatio.record.chain import Sealed
from disputatio.record.events import OutcomeAttached, SignedOff
from disputatio.record.history import History, Status
from disputatio.record.verified import read_verified

MOST_TEXT = 4_000
"""Characters of a result, a note or a comment."""
MOST_NAME = 200


class OutcomeVerdict(StrEnum):
    """How the result of a debate looks in the light of what happened later."""

    RIGHT = "right"
    WRONG = "wrong"
    MIXED = "mixed"


class SignOffDecision(StrEnum):
    """What a reviewer decides on the result of a debate."""

    APPROVE = "approve"
    REJECT = "reject"
    RETURN = "return"
    """It goes back: to be debated again, or with other evidence."""


async def attach_outcome(
    debate: str, result: str, runtime: Runtime, *, verdict: str | None = None, by: str = "", note: str = ""
) -> OutcomeAttached:
    """Attach a later outcome, or the finding of an expert, to a closed debate.

    Args:
        debate: its whole id.
        result: what happened or was found, in words.
        house: the store it is in, and the clock.
        verdict: whether that proves the debate's result ``right``, ``wrong`` or ``mixed``; None if that is not stated.
        by: who says so; a name, which nothing proves.
        note: anything else.

    Raises:
        InvalidInputError: the debate has no result, or a text is missing, too long or no verdict.
        VerificationError: the record was altered.
        StoreError: another process is writing the debate, or it could not be written.
    """
    text, who, more = _text("--result", result), _name("--by", by), _text("--note", note, needed=False)
    found = _word("--verdict", verdict, OutcomeVerdict) if verdict is not None else ""

    def event(head: str) -> OutcomeAttached:
        return OutcomeAttached(text=text, verdict=found, by=who, note=more, head=head)

    return await _attach(debate, event, runtime)


async def sign_off(debate: str, by: str, decision: str, runtime: Runtime, *, comment: str = "") -> SignedOff:
    """Record what a named reviewer decides on the result of a closed debate.

    Args:
        debate: its whole id.
        by: the reviewer's name, which nothing proves.
        decision: ``approve``, ``reject`` or ``return``.
        house: the store it is in, and the clock.
        comment: why; needed unless it is approved.

    Raises:
        InvalidInputError: the debate has no result, the name or the reason is missing, or there is no such decision.
        VerificationError: the record was altered.
        StoreError: another process is writing the debate, or it could not be written.
    """
    who = _name("--by", by, needed=True)
    word = _word("--decision", decision, SignOffDecision)
    text = _text("--comment", comment, needed=False)
    if not text and word != SignOffDecision.APPROVE:
        raise InvalidInputError(
            f"A result is not to be {_DONE[word]} without a reason.", "Give it with --comment TEXT."
        )

    def event(head: str) -> SignedOff:
        return SignedOff(by=who, decision=word, comment=text, head=head)

    return await _attach(debate, event, runtime)


_DONE = {"reject": "rejected", "return": "returned"}


Attached = TypeVar("Attached", OutcomeAttached, SignedOff)


async def _attach(debate: str, event_at: Callable[[str], Attached], runtime: Runtime) -> Attached:
    runtime.store.claim(debate)
    try:
        record = read_verified(runtime.store, debate)
        _check_closed(debate, record)
        journal = Journal(debate, store=runtime.store, clock=runtime.clock, observer=runtime.observer, written=record)
        event = event_at(record[-1].hash)
        journal.write(event)
        await journal.wait_until_durable()
        return event
    finally:
        runtime.store.release(debate)


def _check_closed(debate: str, record: tuple[Sealed, ...]) -> None:
    status = History.of(sealed.event() for sealed in record).status
    if status in {Status.RUNNING, Status.INTERRUPTED}:
        raise InvalidInputError(
            f"The debate {debate} has not ended ({status.value}), so it has no result yet.",
            f"Go on with it first: disputatio resume {debate}",
        )
    if status is Status.FAILED:
        raise InvalidInputError(
            f"No seat took a turn in the debate {debate}, so it has no result.",
            f"`disputatio show {debate}` says why.",
        )


def _text(option: str, given: str, *, needed: bool = True) -> str:
    text = clean(given).strip()
    if needed and not text:
        raise InvalidInputError(f"{option} is empty.", "Say in words what happened or was found.")
    if len(text) > MOST_TEXT:
        raise InvalidInputError(
            f"{option} has {len(text):,} characters, and {MOST_TEXT:,} are the most.",
            "Shorten it, and say where the rest is to be found.",
        )
    return text


def _name(option: str, given: str, *, needed: bool = False) -> str:
    name = one_line(given, MOST_NAME + 1).strip()
    if needed and not name:
        raise InvalidInputError(f"{option} is empty.", "Give the name of who decides.")
    if len(name) > MOST_NAME:
        raise InvalidInputError(f"{option} is longer than {MOST_NAME} characters.", "Give a name.")
    return name


def _word(option: str, given: str, words: type[StrEnum]) -> str:
    word = given.strip().lower()
    if word not in set(words):
        raise InvalidInputError(
            f"{option} {one_line(given, 40)!r} is not known.", f"It is {', '.join(row.value for row in words)}."
        )
    return word
