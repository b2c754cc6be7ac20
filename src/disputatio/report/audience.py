"""What may be shown of a running debate in which people have seats.

A person in a seat could open every surface that shows the debate: its page, its stream, its report. So until it
has ended, all of them show everybody only what every person in a seat may know by then:

    1. A turn that every seat may read (`Format.public`). In a competition these are the speeches: directions are for
       one team, and notes and scores for the judge. In a market debate there are none: each pair writes for the judge.
    2. None that was taken while one of them was asked for a turn: what is said at the same time is heard afterwards.
    3. Where a person judges sides under neutral names, none at all: the names would tell which side is which.

What a person's own seat hears beyond that is in the question that is put to it. Once the debate is closed everything is
open. One that was only interrupted is not over: it can be resumed. If no person has a seat, nothing is withheld.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from disputatio.formats.debate_context import place_of
from disputatio.formats.registry import FORMATS
from disputatio.kernel import JsonObject
from disputatio.record.chain import Sealed
from disputatio.record.events import (
    Abstained,
    DebateClosed,
    DebateOpened,
    DebateResumed,
    Event,
    TurnAsked,
    TurnTaken,
)
from disputatio.record.text import canonical, read_json
from disputatio.report.turns.registry import turn_kind

WITHHELD = "Shown once the debate has ended."
_FACTS = frozenset({"ScoreGiven", "VoteCounted", "PenaltyGiven"})
# Replaces the words of an event that may not be shown. Its other fields are not words.
_EMPTIED: dict[str, dict[str, Any]] = {
    "TurnTaken": {"form": "withheld", "content": {"withheld": WITHHELD}, "violations": [], "citations": []},
    "Abstained": {"detail": ""},
    "AnswerRejected": {"reasons": []},
    "CallMade": {"text": "", "message": ""},
    "ToolCalled": {"arguments": {}, "result": "", "summary": ""},
    "ScoreGiven": {"about": "", "body": {}},
    "VoteCounted": {"about": "", "body": {}},
    "PenaltyGiven": {"about": "", "body": {}},
}


class Audience:
    """Who may be shown what of one debate. It is fed with the events of its record, from the first, in order."""

    def __init__(self) -> None:
        self._people: frozenset[str] = frozenset()
        self._format, self._blind, self._closed = "", False, False
        # By path: who was asked for what, when the turn was taken, and since when a person is asked.
        self._asked: dict[str, tuple[str, str]] = {}
        self._taken: dict[str, float] = {}
        self._waiting: dict[str, int] = {}
        self._joined = 0

    @property
    def has_people(self) -> bool:
        """Whether people sit in the debate."""
        return bool(self._people)

    @property
    def withholds(self) -> bool:
        """Whether anything may have to be withheld now: people have seats, and the debate is not over."""
        return bool(self._people) and not self._closed

    def take(self, record: Iterable[Sealed]) -> None:
        """Take in what follows in the record."""
        for row in record:
            # Where no person sits nothing else has to be read.
            if self._people or row.kind == DebateOpened.kind:
                self.add(row.event(), row.seq)

    def add(self, event: Event, number: int) -> None:
        """Take in the event with this number in the record."""
        match event:
            case DebateOpened():
                self._opened(event)
            case TurnAsked():
                self._asked[event.path] = (event.seat, event.form)
                if event.seat in self._people:
                    self._waiting[event.path] = number
                if not _branch(event.path):
                    self._joined = number
            case TurnTaken() | Abstained():
                self._taken[event.path] = number
                self._waiting.pop(event.path, None)
            case DebateClosed():
                self._closed = True
            case DebateResumed():
                self._closed = False
                for path in event.reopened:
                    self._taken.pop(path, None)
            case _:
                pass

    def shows(self, path: str) -> bool:
        """Whether the words of the turn at ``path`` may be shown, also while it is written."""
        if not self.withholds:
            return True
        if path not in self._asked:
            return False
        seat, form = self._asked[path]
        if turn_kind(form).again and (path.endswith("#2") or f"{path}#2" in self._asked):
            # Asked once more: only the stronger of the two is heard, and which one that is the rules know alone.
            return False
        known = FORMATS.get(self._format)
        # Custom rules do not say it beforehand.
        if self._blind or known is None or not known.public(form):
            return False
        taken_at = self._taken.get(path, inf)
        waiting = [(other, since) for other, since in self._waiting.items() if self._asked[other][0] != seat]
        return all(taken_at < since and self._together(path, other, taken_at, since) for other, since in waiting)

    def in_place_of(self, row: Sealed) -> JsonObject | None:
        """The body to show instead of that of ``row``; None to show its own. Add the whole record so far first."""
        if not self.withholds or row.kind not in _EMPTIED:
            return None
        body: Any = read_json(row.body)
        # A try that was not taken is no turn yet: its author may still change every word.
        tried = row.kind == "AnswerRejected" and body["path"] not in self._taken
        is_public = row.kind not in _FACTS and not tried and self.shows(str(body["path"]))
        return None if is_public else {**body, **_EMPTIED[row.kind]}

    def _opened(self, event: DebateOpened) -> None:
        seats: Mapping[str, Any] = event.seats
        self._format = event.format
        self._people = frozenset(
            seat for seat, row in seats.items() if isinstance(row, Mapping) and row.get("kind") == "person"
        )
        jury: Any = event.rules.get("bench")
        neutral = isinstance(jury, Mapping) and (jury.get("anonymous") or jury.get("both_orders"))
        self._blind = bool(neutral) and any(place_of(seat, "judge") for seat in self._people)

    def _together(self, path: str, other: str, taken: float, since: int) -> bool:
        """Whether two strands had come together between a turn and a later ask, or are one."""
        return _branch(path) in {(), _branch(other)} or taken < self._joined <= since


def _branch(path: str) -> tuple[str, ...]:
    """The names of the branches in a path; two branches do not hear each other before they come together."""
    return tuple(path.split("/")[1:-1])


def for_audience(record: Sequence[Sealed]) -> tuple[Sealed, ...] | None:
    """The record as it may be shown to everybody; None where that is as it is.

    Events whose words are held back are there without them and without hashes; scores, votes and penalties are not.
    """
    audience = audience_of(record)
    if not audience.withholds:
        return None
    found = []
    for row in record:
        body = audience.in_place_of(row)
        if body is None:
            found.append(row)
        elif row.kind not in _FACTS:
            found.append(row._replace(body=canonical(body), previous="", hash=""))
    return tuple(found)


def audience_of(record: Iterable[Sealed]) -> Audience:
    """The audience of the debate in ``record`` so far."""
    audience = Audience()
    audience.take(record)
    return audience
