"""Attaches an outcome or a sign-off to a closed debate, which itself does not change.

Both are events at the end of its chain. Each has the hash of the event before it, which shows what was signed off. The
user gives the author's name. The chain proves that no attachment was altered since. It does not prove who typed it,
nor when, because the time is that of the machine's clock.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

from disputatio.engine.runtime import Runtime, reopen_journal
from disputatio.errors import InvalidInputError
from disputatio.motion import clean, one_line
from disputatio.record.events import OutcomeAttached, SignedOff
from disputatio.record.history import Status

MOST_TEXT = 4_000
"""Characters of a result, a note or a comment."""
MOST_NAME = 200


class OutcomeVerdict(StrEnum):
    """Whether later events proved the result of a debate."""

    RIGHT = "right"
    WRONG = "wrong"
    MIXED = "mixed"


class SignOffDecision(StrEnum):
    """What a reviewer decides on the result of a debate."""

    APPROVE = "approve"
    REJECT = "reject"
    RETURN = "return"
    """Debate it again, or with other evidence."""


async def attach_outcome(
    debate: str, result: str, runtime: Runtime, *, verdict: str | None = None, by: str = "", note: str = ""
) -> OutcomeAttached:
    """Attach a later outcome, or the finding of an expert, to a closed debate.

    Args:
        debate: its whole id.
        result: what happened or what the expert found, in words.
        runtime: the store of the debate, and the clock.
        verdict: whether that proves the debate's result ``right``, ``wrong`` or ``mixed``; None if it does not say.
        by: the name of the author, which is not verified.
        note: anything else.

    Raises:
        InvalidInputError: the debate has no result, a text is missing or too long, or the verdict is unknown.
        VerificationError: the record was altered.
        StoreError: another process is writing the debate, or it could not be written.
    """
    text, author, comment = _text("--result", result), _name("--by", by), _text("--note", note, needed=False)
    word = _word("--verdict", verdict, OutcomeVerdict) if verdict is not None else ""
    return await _attach(
        debate, lambda head: OutcomeAttached(text=text, verdict=word, by=author, note=comment, head=head), runtime
    )


async def sign_off(debate: str, by: str, decision: str, runtime: Runtime, *, comment: str = "") -> SignedOff:
    """Record what a named reviewer decides on the result of a closed debate.

    Args:
        debate: its whole id.
        by: the reviewer's name, which is not verified.
        decision: ``approve``, ``reject`` or ``return``.
        runtime: the store of the debate, and the clock.
        comment: the reason; required unless the reviewer approves.

    Raises:
        InvalidInputError: the debate has no result, the name or the reason is missing, or the decision is unknown.
        VerificationError: the record was altered.
        StoreError: another process is writing the debate, or it could not be written.
    """
    reviewer = _name("--by", by, needed=True)
    word = _word("--decision", decision, SignOffDecision)
    text = _text("--comment", comment, needed=False)
    if not text and word != SignOffDecision.APPROVE:
        raise InvalidInputError(f"A result cannot be {_DONE[word]} without a reason.", "Give it with --comment TEXT.")
    return await _attach(debate, lambda head: SignedOff(by=reviewer, decision=word, comment=text, head=head), runtime)


_DONE = {"reject": "rejected", "return": "returned"}


Attached = TypeVar("Attached", OutcomeAttached, SignedOff)


async def _attach(debate: str, event_after: Callable[[str], Attached], runtime: Runtime) -> Attached:
    async with reopen_journal(debate, runtime) as journal:
        _check_closed(debate, journal.history.status)
        event = event_after(journal.head)
        journal.write(event)
    return event


def _check_closed(debate: str, status: Status) -> None:
    if status in {Status.RUNNING, Status.INTERRUPTED}:
        raise InvalidInputError(
            f"The debate {debate} has not ended ({status.value}), so it has no result yet.",
            f"Resume it first: disputatio resume {debate}",
        )
    if status is Status.FAILED:
        raise InvalidInputError(
            f"No seat took a turn in the debate {debate}, so it has no result.",
            f"`disputatio show {debate}` says why.",
        )


def _text(option: str, value: str, *, needed: bool = True) -> str:
    text = clean(value).strip()
    if needed and not text:
        raise InvalidInputError(f"{option} is empty.", "Say in words what happened or what was found.")
    if len(text) > MOST_TEXT:
        raise InvalidInputError(
            f"{option} has {len(text):,} characters, and {MOST_TEXT:,} are the most.",
            "Shorten it, and say where to find the rest.",
        )
    return text


def _name(option: str, value: str, *, needed: bool = False) -> str:
    name = one_line(value, MOST_NAME + 1).strip()
    if needed and not name:
        raise InvalidInputError(f"{option} is empty.", "Give the reviewer's name.")
    if len(name) > MOST_NAME:
        raise InvalidInputError(f"{option} is longer than {MOST_NAME} characters.", "Give a shorter name.")
    return name


def _word(option: str, value: str, words: type[StrEnum]) -> str:
    word = value.strip().lower()
    if word not in set(words):
        raise InvalidInputError(
            f"{option} {one_line(value, 40)!r} is unknown.", f"Known are: {', '.join(row.value for row in words)}."
        )
    return word
