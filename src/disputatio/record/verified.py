"""Read records and verify them. Nothing resumes from a record, or shows it as true, before that.

This module does not import what runs debates, so that showing one stays fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from disputatio.errors import UnknownDebateError, VerificationError
from disputatio.errors.quoting import name_some
from disputatio.motion import one_line
from disputatio.record.chain import ChainChecker, Sealed, split_events
from disputatio.record.events import Event
from disputatio.record.history import History
from disputatio.record.store import DebateRow, Store


def find_debate(store: Store, prefix: str) -> str:
    """The one debate whose id begins with ``prefix``.

    Raises:
        UnknownDebateError: there is none, or several.
    """
    found = store.find(prefix) if prefix else []
    if len(found) == 1:
        return found[0]
    shown = repr(one_line(prefix, 40))
    if not found:
        raise UnknownDebateError(f"There is no debate {shown} in this store.", "`disputatio list` shows all.")
    raise UnknownDebateError(f"{shown} could be {name_some(sorted(found))}.", "Give more of the id.")


def read_verified(store: Store, debate: str) -> tuple[Sealed, ...]:
    """The record of ``debate``, after checking its chain and its entry in the list of debates.

    Raises:
        VerificationError: an event or text was altered, or the list differs from the events.
    """
    listed = store.row(debate)
    events = tuple(store.read(debate))
    _, fault = _checked(listed, split_events(events), store.texts(debate))
    if fault:
        raise _altered(debate, fault)
    return events


class _Anchors:
    """The events that the list of debates is compared with."""

    def __init__(self, anchored: int) -> None:
        self._anchored, self._count = anchored, 0
        self.first: Sealed | None = None
        self.anchor: Sealed | None = None
        self.last: Sealed | None = None

    def note(self, part: Sequence[Sealed]) -> None:
        """Remember what matters of the next events."""
        self.first, self.last = self.first or part[0], part[-1]
        place = self._anchored - self._count - 1
        if 0 <= place < len(part):
            self.anchor = part[place]
        self._count += len(part)


@dataclass(frozen=True, slots=True)
class VerifiedRecord:
    """A record whose chain was checked: its last event, its texts and its history."""

    last: Sealed
    texts: Mapping[str, str]
    history: History


def load_verified(store: Store, debate: str) -> VerifiedRecord:
    """Read the record of ``debate`` once, checking its chain and building its history.

    Raises:
        VerificationError: as ``read_verified``.
    """
    # Read the list first: a running debate only gets longer than it says.
    listed = store.row(debate)
    texts = store.texts(debate)
    read, fault = _checked(listed, store.parts(debate), texts)
    if fault:
        # A text may have been written after the texts were read.
        events = store.read(debate)
        texts = store.texts(debate)
        read, fault = _checked(listed, split_events(events), texts)
    if read is None or fault:
        raise _altered(debate, fault)
    return read


def _altered(debate: str, fault: str | None) -> VerificationError:
    return VerificationError(
        f"The record of {debate} does not verify: {fault}.", "Restore it from a backup; it cannot be resumed."
    )


def _checked(
    listed: DebateRow | None, parts: Iterable[Sequence[Sealed]], texts: Mapping[str, str]
) -> tuple[VerifiedRecord | None, str | None]:
    """The checked record, or what is wrong with it in one sentence."""
    told: list[Event] = []
    links, kept = ChainChecker(texts, told), _Anchors(listed.events if listed else 0)
    for part in parts:
        if fault := links.find_fault(part):
            return None, fault
        kept.note(part)
    history = History()
    fault = _listed_otherwise(listed, kept, told, history)
    return (None, fault) if fault or kept.last is None else (VerifiedRecord(kept.last, texts, history), None)


def _listed_otherwise(row: DebateRow | None, kept: _Anchors, told: Sequence[Event], history: History) -> str | None:
    """How the list of debates differs from the events, in one sentence.

    Builds the history on the way: first up to where the list stands, then to the end.
    """
    if row is None:
        return "the list of debates does not have it"
    if kept.first is None or kept.anchor is None or kept.anchor.hash != row.head:
        return f"it does not hold event {row.events} ({row.head[:12]}) any more, which the list of debates knows"
    for event in told[: row.events]:
        history.add(event)
    opened = history.opened
    found = {
        "opened_at": kept.first.at,
        "format": opened.format if opened else "",
        "motion": str(opened.motion["text"]) if opened else "",
        "status": history.status.value,
    }
    other = next((name for name, value in found.items() if getattr(row, name) != value), None)
    for event in told[row.events :]:
        history.add(event)
    return f"the list of debates has another {other.replace('_', ' ')} than its events" if other else None
