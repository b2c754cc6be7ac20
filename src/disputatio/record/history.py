"""What a record tells when it is read from its beginning: the state that resuming and every surface start from.

A history is a fold over events and nothing else; it can be fed one event at a time while a debate runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from disputatio.record.events import (
    Abstained,
    AnswerRejected,
    BaselineHeld,
    BudgetReached,
    CallLost,
    CallMade,
    CallSent,
    DebateClosed,
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
)
from disputatio.record.prompts import PromptRows, Prompts


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
        """The history told by ``events``."""
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
            case DebateOpened() | TranscriptImported():
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

    def _begin(self, event: DebateOpened | TranscriptImported) -> None:
        if isinstance(event, DebateOpened):
            self.opened = event
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
            # What the rules established after the reopened ask is established anew.
            self.facts.clear()

    def _forget_calls(self, path: str) -> None:
        """The calls of a reopened ask are over: they stay in the record and the bill, and are not replayed."""
        self.past.extend(self.sent.pop(path, ()))
        self.rejected.pop(path, None)
        self.consulted.pop(path, None)
        self.asked.pop(path, None)

    @property
    def reopenable(self) -> tuple[str, ...]:
        """Abstentions on which nothing rests yet: those of the last phase, or all where nobody took a turn."""
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
