"""The state of a debate, folded from its events: what resuming and every surface start from.

``History`` can be fed one event at a time while a debate runs. ``Prompts`` holds each prompt from where it differs from
an earlier one: a debate sends its history with every call, so whole lists would grow with the square of its length. A
whole prompt is put together on request. ``semantic_content`` compares debates apart from clocks, order and breaks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any, TypeAlias

from disputatio.kernel import JsonObject
from disputatio.record.events import (
    CLOCK_FIELDS,
    Abstained,
    AnswerRejected,
    BaselineHeld,
    BudgetReached,
    CallLost,
    CallMade,
    CallSent,
    DebateClosed,
    DebateForked,
    DebateInterrupted,
    DebateOpened,
    DebateResumed,
    DecisionEscalated,
    Event,
    OutcomeAttached,
    PenaltyGiven,
    ScoreGiven,
    SignedOff,
    ToolCalled,
    TranscriptImported,
    TurnAsked,
    TurnTaken,
    VoteCounted,
    encode,
)
from disputatio.record.text import canonical

PromptRows: TypeAlias = tuple[tuple[str, str], ...]
"""A prompt as the record has it: the role and the hash of the text of each segment."""
_LOOKED_AT = 12
"""Calls whose prompts a new one may begin like: more than there are seats and channels in any format."""
_KEPT_WHOLE = 2 * _LOOKED_AT


class _Listed:
    """One prompt: what it begins with, and the rows that are its own."""

    __slots__ = ("begins", "rows", "shared", "whole")

    def __init__(self, begins: _Listed | None, shared: int, rows: PromptRows) -> None:
        self.begins, self.shared, self.rows = begins, shared, rows
        self.whole: PromptRows | None = None if begins else rows


class Prompts(Mapping[str, PromptRows]):
    """Whole prompts, by call, in the order the calls left."""

    def __init__(self) -> None:
        self._listed: dict[str, _Listed] = {}
        self._put_together: deque[_Listed] = deque()

    def add(self, sent: CallSent) -> None:
        """Take in the prompt of a call that left."""
        if sent.begins:
            call, shared = sent.begins
            # Show what is left of an altered record; the chain reports the alteration.
            self._listed[sent.call] = _Listed(self._listed.get(call), shared, sent.prompt)
        else:
            self._listed[sent.call] = _Listed(None, 0, sent.prompt)

    def __getitem__(self, call: str) -> PromptRows:
        return self._whole(self._listed[call])

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    def __repr__(self) -> str:
        return f"Prompts({len(self)})"

    def shortened(self, prompt: PromptRows) -> tuple[tuple[str, int] | tuple[()], PromptRows]:
        """``prompt`` as a record keeps it: which of the latest calls begins like it, how far, and what is left."""
        found, most, further = "", 0, prompt[:1]
        for call, listed in islice(reversed(self._listed.items()), _LOOKED_AT):
            whole = self._whole(listed)
            # Most of them share no more than the best so far.
            if whole[: most + 1] != further:
                continue
            shared = _common_length(whole, prompt, most)
            if shared > most:
                found, most, further = call, shared, prompt[: shared + 1]
                if most >= len(prompt) - 2:
                    break
        return ((found, most), prompt[most:]) if most > 1 else ((), prompt)

    def _whole(self, listed: _Listed) -> PromptRows:
        if listed.whole is not None:
            return listed.whole
        # Back to one that is whole, and forth again: a long debate has a long way.
        way = [listed]
        while way[-1].whole is None and way[-1].begins is not None:
            way.append(way[-1].begins)
        first = way.pop()
        rows = [*(first.whole or first.rows)]
        while way:
            each = way.pop()
            del rows[each.shared :]
            rows += each.rows
        listed.whole = tuple(rows)
        self._put_together.append(listed)
        if len(self._put_together) > _KEPT_WHOLE:
            self._put_together.popleft().whole = None
        return listed.whole


def _common_length(first: PromptRows, second: PromptRows, known: int) -> int:
    """With how many of the same rows two prompts begin, which are ``known`` to share so many."""
    low, high = known, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Status(StrEnum):
    """Where a debate is. Every debate that was closed here is one of the last four."""

    RUNNING = "RUNNING"
    INTERRUPTED = "INTERRUPTED"
    IMPORTED = "IMPORTED"
    COMPLETE = "COMPLETE"
    DEGRADED = "DEGRADED"
    TRUNCATED = "DEBATE_TRUNCATED"
    FAILED = "FAILED"


@dataclass(slots=True)
class History:
    """One debate as its events tell it so far. ``prompts`` are whole, by call."""

    opened: DebateOpened | None = None
    imported: TranscriptImported | None = None
    forked: DebateForked | None = None
    asked: dict[str, TurnAsked] = field(default_factory=dict)
    sent: dict[str, list[CallSent]] = field(default_factory=dict)
    past: list[CallSent] = field(default_factory=list)
    prompts: Prompts = field(default_factory=Prompts)
    made: dict[str, CallMade] = field(default_factory=dict)
    lost: list[CallLost] = field(default_factory=list)
    rejected: dict[str, list[AnswerRejected]] = field(default_factory=dict)
    consulted: dict[str, list[ToolCalled]] = field(default_factory=dict)
    answered: dict[str, TurnTaken | Abstained] = field(default_factory=dict)
    facts: list[ScoreGiven | VoteCounted | PenaltyGiven] = field(default_factory=list)
    budget_reached: list[BudgetReached] = field(default_factory=list)
    closed: DebateClosed | None = None
    escalations: list[DecisionEscalated] = field(default_factory=list)
    outcomes: list[OutcomeAttached] = field(default_factory=list)
    sign_offs: list[SignedOff] = field(default_factory=list)
    baselines: list[BaselineHeld] = field(default_factory=list)
    overtaken: list[OutcomeAttached | SignedOff] = field(default_factory=list)
    interrupted: bool = False
    resumed: list[DebateResumed] = field(default_factory=list)

    @classmethod
    def of(cls, events: Iterable[Event]) -> History:
        """The history of ``events``."""
        history = cls()
        for event in events:
            history.add(event)
        return history

    def add(self, event: Event) -> None:
        """Take in one more event."""
        # What a long record is made of comes first, and not as a pattern, which asks each kind after its subclasses.
        if type(event) is CallSent:
            calls = self.sent.get(event.path)
            if calls is None:
                self.sent[event.path] = [event]
            else:
                calls.append(event)
            self.prompts.add(event)
        elif type(event) is CallMade:
            self.made[event.call] = event
        elif type(event) is TurnAsked:
            self.asked.setdefault(event.path, event)
        elif type(event) is TurnTaken or type(event) is Abstained:
            self.answered[event.path] = event
        else:
            self._add_seldom(event)

    def _add_seldom(self, event: Event) -> None:
        match event:
            case AnswerRejected() | ToolCalled() | CallLost():
                self._gather(event)
            case DebateOpened() | DebateForked() | TranscriptImported():
                self._begin(event)
            case ScoreGiven() | VoteCounted() | PenaltyGiven():
                self.facts.append(event)
            case BudgetReached():
                self.budget_reached.append(event)
            case DebateClosed():
                self.closed, self.interrupted = event, False
            case DecisionEscalated() | OutcomeAttached() | SignedOff() | BaselineHeld():
                self._attach(event)
            case DebateInterrupted():
                self.interrupted = True
            case DebateResumed():
                self._resume(event)

    def _attach(self, event: DecisionEscalated | OutcomeAttached | SignedOff | BaselineHeld) -> None:
        """Take in what came after the end."""
        if isinstance(event, DecisionEscalated):
            self.escalations.append(event)
        elif isinstance(event, BaselineHeld):
            self.baselines.append(event)
        elif isinstance(event, OutcomeAttached):
            self.outcomes.append(event)
        else:
            self.sign_offs.append(event)

    def _begin(self, event: DebateOpened | DebateForked | TranscriptImported) -> None:
        if isinstance(event, DebateOpened):
            self.opened = event
        elif isinstance(event, DebateForked):
            self.forked = event
        else:
            self.imported = event

    def _gather(self, event: AnswerRejected | ToolCalled | CallLost) -> None:
        """Keep one of the things of which an ask has several."""
        if isinstance(event, CallLost):
            self.lost.append(event)
        elif isinstance(event, ToolCalled):
            self.consulted.setdefault(event.path, []).append(event)
        else:
            self.rejected.setdefault(event.path, []).append(event)

    def shortened(self, prompt: PromptRows) -> tuple[tuple[str, int] | tuple[()], PromptRows]:
        """``prompt`` as a record keeps it: which of the latest calls begins like it, how far, and what is left."""
        return self.prompts.shortened(prompt)

    def _resume(self, event: DebateResumed) -> None:
        self.resumed.append(event)
        # They were about a result that is no longer the last word.
        self.overtaken += [*self.outcomes, *self.sign_offs]
        self.outcomes, self.sign_offs, self.baselines = [], [], []
        self.closed, self.interrupted = None, False
        for path in event.reopened:
            self.answered.pop(path, None)
            self._forget_calls(path)
        if event.reopened:
            # What the rules established after the reopened ask is established again.
            self.facts.clear()

    def _forget_calls(self, path: str) -> None:
        """The calls of a reopened ask are over: they stay in the record and the bill, and are not replayed."""
        self.past.extend(self.sent.pop(path, ()))
        self.rejected.pop(path, None)
        self.consulted.pop(path, None)
        self.asked.pop(path, None)

    @property
    def last_budget(self) -> JsonObject:
        """The recorded ceilings in force: those of the last resumption, else of the opening; empty without both."""
        if self.resumed:
            return self.resumed[-1].budget
        return {} if self.opened is None else self.opened.budget

    @property
    def reopenable(self) -> tuple[str, ...]:
        """Abstentions on which nothing rests yet: those of the last phase, or all if no turn was taken."""
        if not self.asked:
            return ()
        silent = {path: row for path, row in self.answered.items() if isinstance(row, Abstained)}
        if len(silent) == len(self.answered):
            return tuple(silent)
        last = next(reversed(self.asked.values())).phase
        return tuple(path for path, row in silent.items() if row.phase == last)

    @property
    def calls(self) -> list[CallSent]:
        """Every call that ever left, those of reopened asks included."""
        return [*self.past, *(row for calls in self.sent.values() for row in calls)]

    @property
    def status(self) -> Status:
        """Where the debate is."""
        if self.closed:
            return Status(self.closed.status)
        return Status.INTERRUPTED if self.interrupted else Status.RUNNING

    @property
    def in_flight(self) -> list[CallSent]:
        """Calls that left and neither came back nor were found lost."""
        gone = {row.call for row in self.lost}
        return [
            row for calls in self.sent.values() for row in calls if row.call not in self.made and row.call not in gone
        ]

    def settled(self, path: str) -> list[tuple[CallSent, CallMade]]:
        """The calls of one ask that came back, in the order they left."""
        return [(row, self.made[row.call]) for row in self.sent.get(path, ()) if row.call in self.made]


def semantic_content(events: Iterable[Event]) -> dict[str, Any]:
    """The semantic content as JSON, everything keyed by path."""
    history = History.of(events)
    paths = sorted(history.asked)
    return {
        **({"forked": _meaning(history.forked)} if history.forked else {}),
        "opened": _meaning(history.opened, drop=("budget", "software", "warnings", "estimate")),
        "asked": {path: _meaning(history.asked[path]) for path in paths},
        "calls": {
            path: [
                {"sent": _sent_meaning(sent, history), "made": _call_meaning(made)}
                for sent, made in history.settled(path)
                if made.fault not in _RESIZED
            ]
            for path in paths
        },
        "rejected": {path: [_meaning(row) for row in history.rejected.get(path, ())] for path in paths},
        "consulted": {path: [_meaning(row) for row in history.consulted.get(path, ())] for path in paths},
        "answered": {
            path: {"kind": history.answered[path].kind, **_meaning(history.answered[path])}
            for path in sorted(history.answered)
        },
        "facts": sorted(({"kind": row.kind, **_meaning(row)} for row in history.facts), key=canonical),
        "closed": _meaning(history.closed),
    }


_RESIZED = frozenset({"cut_while_reasoning", "limit_too_large", "batch_failed"})
"""Faults after which the same call is made again, with another limit or outside a batch."""


def _sent_meaning(sent: CallSent, history: History) -> dict[str, Any]:
    """A call that left, with its whole prompt: how it is shortened depends on which call left before it."""
    meaning = _meaning(sent, drop=("call", "reserved", "begins", "reasoning_allowance", "tier"))
    answer = sent.max_tokens - sent.reasoning_allowance
    return {**meaning, "max_tokens": answer, "prompt": history.prompts[sent.call]}


def _call_meaning(made: CallMade) -> dict[str, Any]:
    """A call without what only the provider's cache decided: the cached share of its input, and so its cost."""
    meaning = _meaning(made, drop=("call", "cost_usd", "cost_basis"))
    cache = {"cached_tokens", "written_tokens"}
    return {**meaning, "usage": {name: made.usage[name] for name in made.usage if name not in cache}}


def _meaning(event: Event | None, drop: tuple[str, ...] = ()) -> dict[str, Any]:
    if event is None:
        return {}
    return {name: value for name, value in encode(event).items() if name not in CLOCK_FIELDS and name not in drop}
