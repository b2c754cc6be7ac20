"""The read model of one debate: what every surface shows, folded from the events of its record.

Turns are kept as plain JSON, so the record of a format that this version does not know is still shown whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from disputatio.formats.registry import FORMATS
from disputatio.kernel import JsonObject
from disputatio.motion import clean, one_line
from disputatio.record.chain import Sealed
from disputatio.record.events import (
    Abstained,
    AnswerRejected,
    BudgetReached,
    CallLost,
    DebateForked,
    DebateOpened,
    DebateResumed,
    DecisionEscalated,
    Event,
    OutcomeAttached,
    PenaltyGiven,
    ScoreGiven,
    SignedOff,
    TranscriptImported,
    TurnTaken,
    VoteCounted,
)
from disputatio.record.history import History, Status
from disputatio.report.addenda import Addendum
from disputatio.report.amounts import seat_name
from disputatio.report.baselines import BaselineReading
from disputatio.report.citations import CitationReading, citation_readings, unstated_readings
from disputatio.report.consultations import Consultation
from disputatio.report.spending import CallReading, Totals
from disputatio.report.turns.registry import sitting_of, statements, turn_kind, with_real_names
from disputatio.report.turns.statement import Questions, Statement
from disputatio.report.turns.turn_kind import TurnKind


class EntryState(StrEnum):
    """The state of an ask."""

    TAKEN = "taken"
    ABSTAINED = "abstained"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class SeatReading:
    """Who sat in a seat. ``served`` are the models that providers say they used; it may be empty."""

    seat: str
    kind: str
    who: str
    provider: str
    model: str
    persona: str
    fallbacks: tuple[str, ...]
    served: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The model as people read it, with the served one where it has another name."""
        others = [name for name in self.served if name != self.model]
        return f"{self.who} (served by {', '.join(others)})" if others else self.who


@dataclass(frozen=True, slots=True)
class Entry:
    """One ask and what came of it: a turn, an abstention, or nothing yet.

    ``violations`` are rules that an accepted turn broke, as ``{"rule": ..., "detail": ...}``; ``citations`` are
    those of the turn with what their check came to; ``rejections`` are the answers that were not accepted; ``asked``
    counts how often the seat was asked.
    """

    path: str
    seat: str
    phase: str
    form: str
    mode: str
    prompt: str
    state: EntryState
    content: JsonObject = field(default_factory=dict)
    violations: tuple[JsonObject, ...] = ()
    citations: tuple[CitationReading, ...] = ()
    repaired: bool = False
    asked: int = 0
    served: tuple[str, ...] = ()
    reason: str = ""
    detail: str = ""
    rejections: tuple[AnswerRejected, ...] = ()
    consultations: tuple[Consultation, ...] = ()
    criteria: tuple[str, ...] = ()
    unstated: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def kind(self) -> TurnKind:
        """What kind of turn it is."""
        return turn_kind(self.form)

    @property
    def spoken_at(self) -> str:
        """When the turn of an imported debate was taken, in its transcript's words; empty where it does not say."""
        return one_line(str(self.content.get(self.kind.spoken_at) or ""), 60) if self.kind.spoken_at else ""

    @property
    def speaker(self) -> str:
        """The seat, and where it spoke more than once, how this time differs."""
        sitting = sitting_of(self.path)
        if self.path.endswith("#2"):
            sitting = self.kind.again or sitting
        name = seat_name(self.seat)
        return f"{name} ({sitting})" if sitting else name

    @property
    def shown(self) -> Mapping[str, Any]:
        """The content with the real names of the sides, where the judge saw neutral ones, and numbers of arguments."""
        content = in_order(self.content, self.criteria) if self.criteria else self.content
        return self.kind.with_numbers(self.path, self.seat, with_real_names(self.path, content))

    def statements(self, questions: Questions | None = None) -> tuple[Statement, ...]:
        """What was said. ``questions`` are those put earlier, so that answers can show what they answer."""
        return statements(self.kind, self.seat, self.shown, questions, self.citations, self.unstated)

    @property
    def broken(self) -> tuple[Mapping[str, Any], ...]:
        """The rules it broke, under the same names."""
        facts = {"arguments": self.content.get("arguments"), "broken": self.violations}
        return tuple(with_real_names(self.path, facts)["broken"])


@dataclass(frozen=True, slots=True)
class PhaseReading:
    """One phase and its asks in the order they were made."""

    name: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class DebateReport:
    """A debate as its record has it.

    ``seconds``, ``opened_at`` and ``last_at`` are known only where the events came sealed. ``taken_back`` are
    abstentions that were asked again on resume; ``addenda`` what was attached after the end; ``head`` is the last hash
    of the chain; ``forked`` says which debate it goes on from, if any.
    """

    id: str
    format: str
    motion: str
    language: str
    status: Status
    software: str
    seed: int | None
    budget: JsonObject
    estimate: JsonObject
    rules: JsonObject
    prompts: JsonObject
    evidence: tuple[JsonObject, ...]
    shares: JsonObject
    warnings: tuple[str, ...]
    tools: JsonObject
    seats: tuple[SeatReading, ...]
    phases: tuple[PhaseReading, ...]
    calls: tuple[CallReading, ...]
    rejections: tuple[AnswerRejected, ...]
    facts: tuple[ScoreGiven | VoteCounted | PenaltyGiven, ...]
    escalations: tuple[DecisionEscalated, ...]
    addenda: tuple[Addendum, ...]
    baselines: tuple[BaselineReading, ...]
    budget_reached: tuple[BudgetReached, ...]
    taken_back: tuple[Abstained, ...]
    resumed: int
    reopenable: tuple[str, ...]
    missing: tuple[JsonObject, ...]
    outcome: JsonObject
    reason: str
    totals: Totals
    opened_at: str | None
    last_at: str | None
    events: int
    head: str | None
    imported: TranscriptImported | None
    forked: DebateForked | None
    texts: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(
        cls, debate_id: str, events: Iterable[Event | Sealed], texts: Mapping[str, str] | None = None
    ) -> DebateReport:
        """Build the report of a debate from its ``events``, from the opening to the last one so far.

        Args:
            debate_id: its id.
            events: all its events in order; sealed ones bring times and the head of the chain.
            texts: the texts that events name, by SHA-256.
        """
        fold = _Fold()
        for event in events:
            fold.add(event)
        return fold.report(debate_id, texts or {})

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every ask of every phase."""
        return tuple(entry for phase in self.phases for entry in phase.entries)

    @property
    def turns(self) -> tuple[Entry, ...]:
        """The asks that brought a turn."""
        return tuple(entry for entry in self.entries if entry.state is EntryState.TAKEN)

    @property
    def citations(self) -> tuple[CitationReading, ...]:
        """Every citation of every turn."""
        return tuple(row for entry in self.turns for row in entry.citations)

    @property
    def questions(self) -> dict[str, str]:
        """All follow-up questions by id."""
        questions: dict[str, str] = {}
        for entry in self.turns:
            questions.update(entry.kind.questions(entry.content))
        return questions

    @property
    def kind(self) -> str:
        """The format for people: of a user's own rules their file and function."""
        if not self.rules.get("sha256"):
            return self.format
        file = str(self.rules.get("file")).rpartition("/")[2]
        return one_line(f"{self.format} ({file}:{self.rules.get('function')})", 80)

    @property
    def closed(self) -> bool:
        """Whether the debate has an end."""
        return self.status not in {Status.RUNNING, Status.INTERRUPTED}


class _Fold:
    """Takes events in one at a time: the history, and what a history does not keep."""

    def __init__(self) -> None:
        self.history = History()
        self.rejections: list[AnswerRejected] = []
        self.taken_back: list[Abstained] = []
        self.addenda: list[Addendum] = []
        self.first: Sealed | None = None
        self.last: Sealed | None = None
        self.seconds = 0.0
        self.events = 0

    def add(self, row: Event | Sealed) -> None:
        event = row.event() if isinstance(row, Sealed) else row
        self.events += 1
        if isinstance(row, Sealed):
            # What lies before a resumption is a pause, however the process ended.
            if self.last is not None and not isinstance(event, CallLost | DebateResumed):
                self.seconds += max(0.0, _moment(row.at) - _moment(self.last.at))
            self.first, self.last = self.first or row, row
        if isinstance(event, AnswerRejected):
            self.rejections.append(event)
        if isinstance(event, OutcomeAttached | SignedOff):
            self.addenda.append(Addendum.of(event, row.at if isinstance(row, Sealed) else None))
        if isinstance(event, DebateResumed):
            self.addenda = [each.overtake() for each in self.addenda]
            answers = (self.history.answered.get(path) for path in event.reopened)
            self.taken_back += [answer for answer in answers if isinstance(answer, Abstained)]
        self.history.add(event)

    def _totals(self, calls: tuple[CallReading, ...]) -> Totals:
        if self.history.imported:
            return Totals.held_elsewhere()
        return Totals.of(calls, self.seconds if self.first else None)

    def report(self, debate_id: str, texts: Mapping[str, str]) -> DebateReport:
        history = self.history
        opened = history.opened or DebateOpened(format="", motion={}, seats={}, rules={}, prompts={}, budget={})
        lost = {row.call for row in history.lost}
        calls = tuple(
            CallReading(sent, history.made.get(sent.call), sent.call in lost, history.prompts[sent.call])
            for sent in history.calls
        )
        closed = history.closed
        return DebateReport(
            id=one_line(debate_id, 80),
            format=one_line(opened.format),
            motion=one_line(str(opened.motion.get("text", ""))),
            language=one_line(str(opened.motion.get("language", ""))),
            status=history.status,
            software=one_line(opened.software),
            seed=opened.seed,
            budget=history.last_budget,
            estimate=opened.estimate,
            rules=opened.rules,
            prompts=opened.prompts,
            evidence=opened.evidence,
            shares=opened.shares,
            warnings=tuple(map(one_line, opened.warnings)),
            tools=opened.tools,
            seats=tuple(_seat(name, opened.seats[name], history) for name in _seat_order(opened, history)),
            phases=_phases(history, texts),
            calls=calls,
            rejections=tuple(self.rejections),
            facts=tuple(history.facts),
            escalations=tuple(history.escalations),
            addenda=tuple(self.addenda),
            baselines=tuple(map(BaselineReading.of, history.baselines)),
            budget_reached=tuple(history.budget_reached),
            taken_back=tuple(self.taken_back),
            resumed=len(history.resumed),
            reopenable=history.reopenable,
            missing=closed.missing if closed else (),
            outcome=closed.outcome if closed else {},
            reason=one_line(closed.reason) if closed else "",
            totals=self._totals(calls),
            opened_at=self.first.at if self.first else None,
            last_at=self.last.at if self.last else None,
            events=self.events,
            head=self.last.hash if self.last else None,
            imported=history.imported,
            forked=history.forked,
            texts=texts,
        )


def _without(entry: Entry, names: Sequence[str]) -> Entry:
    """``entry`` without what a fork leaves out. The record has it whole."""
    kind, struck = entry.kind, frozenset(names)
    numbers: dict[str, int] = {}
    citations = []
    for row in entry.citations:
        number = numbers[row.about] = numbers.get(row.about, 0) + 1
        part = kind.part_name(entry.seat, row.about)
        if not struck & {part, f"{part} quote {number}"}:
            citations.append(row)
    return replace(
        entry,
        content=kind.without(entry.path, entry.seat, entry.content, struck),
        citations=tuple(citations),
        unstated=tuple(row for row in entry.unstated if kind.part_name(entry.seat, row[0]) not in struck),
    )


def _moment(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


def seat_address(body: Any) -> str:
    """Who sits in a seat, from what the record says of it."""
    row = body if isinstance(body, Mapping) else {}
    if row.get("kind") == "person":
        return one_line(f"a person ({row['name']})" if row.get("name") else "a person")
    if row.get("kind") != "model":
        return one_line(f"{row.get('name', 'somebody')} ({row.get('kind', 'unknown')})")
    place = f" at {row['base_url']}" if row.get("base_url") else ""
    return one_line(f"{row.get('provider')}:{row.get('model')}{place}")


def _seat_order(opened: DebateOpened, history: History) -> list[str]:
    """The seats as their format lists them, or as they spoke where it was no format of ours; the record sorts them."""
    known = FORMATS.get(opened.format)
    spoke = dict.fromkeys(row.seat for row in history.answered.values())
    named: Any = opened.rules.get("debaters") or opened.rules.get("seats")
    listed: Iterable[str] = named or (known.seats_named(sorted(opened.seats)) if known else spoke)
    order = {str(seat): place for place, seat in enumerate(listed)}
    return sorted(opened.seats, key=lambda seat: (order.get(seat, len(order)), seat))


def _seat(name: str, body: Any, history: History) -> SeatReading:
    row = body if isinstance(body, Mapping) else {}
    served: dict[str, None] = {}
    for sent in history.calls:
        made = history.made.get(sent.call)
        if sent.seat == name and made is not None and made.served_model and not made.fault:
            served.setdefault(one_line(made.served_model))
    fallbacks, later = [], row.get("fallback")
    while isinstance(later, Mapping):
        fallbacks.append(seat_address(later))
        later = later.get("fallback")
    return SeatReading(
        seat=one_line(name),
        kind=one_line(str(row.get("kind", ""))),
        who=seat_address(row),
        provider=one_line(str(row.get("provider") or "")),
        model=one_line(str(row.get("model") or "")),
        persona=clean(str(row.get("persona") or "")),
        fallbacks=tuple(fallbacks),
        served=tuple(served),
    )


def _phases(history: History, texts: Mapping[str, str]) -> tuple[PhaseReading, ...]:
    phases: dict[str, list[Entry]] = {}
    # Nobody here asked for the turns of an imported debate.
    for path in {**history.asked, **(history.answered if history.imported else {})}:
        entry = _entry(path, history, texts)
        phases.setdefault(entry.phase, []).append(entry)
    return tuple(PhaseReading(name, tuple(entries)) for name, entries in phases.items())


def _entry(path: str, history: History, texts: Mapping[str, str]) -> Entry:
    asked, answer = history.asked.get(path), history.answered.get(path)
    if asked is None:
        assert answer is not None  # noqa: S101  (it is one of the two)
        return settled_entry(Entry(path, answer.seat, answer.phase, "", "", "", EntryState.OPEN), answer)
    rejections = tuple(history.rejected.get(path, ()))
    entry = Entry(
        path=path,
        seat=asked.seat,
        phase=asked.phase,
        form=asked.form,
        mode=asked.mode,
        prompt=asked.prompt,
        state=EntryState.OPEN,
        asked=len(rejections),
        rejections=rejections,
        consultations=tuple(Consultation.of(row, texts) for row in history.consulted.get(path, ())),
        criteria=_criteria(history),
    )
    entry = settled_entry(entry, answer) if answer else entry
    return _without(entry, history.forked.struck) if history.forked else entry


def _criteria(history: History) -> tuple[str, ...]:
    """The criteria of the rubric, in its order; none where the rules have no rubric."""
    rubric = history.opened.rules.get("rubric") if history.opened else None
    rows = rubric.get("criteria") if isinstance(rubric, Mapping) else None
    return tuple(str(row["key"]) for row in rows if isinstance(row, Mapping)) if isinstance(rows, list | tuple) else ()


def in_order(value: Any, keys: Sequence[str]) -> Any:
    """``value`` with ``keys`` in this order wherever an object has them: a record sorts its keys."""
    if isinstance(value, Mapping):
        named = [key for key in keys if key in value]
        return {key: in_order(value[key], keys) for key in dict.fromkeys([*named, *value])}
    return [in_order(row, keys) for row in value] if isinstance(value, list | tuple) else value


def settled_entry(entry: Entry, answer: TurnTaken | Abstained) -> Entry:
    """``entry`` with what came of it."""
    if isinstance(answer, Abstained):
        return replace(entry, state=EntryState.ABSTAINED, reason=answer.reason, detail=one_line(answer.detail))
    return replace(
        entry,
        state=EntryState.TAKEN,
        form=answer.form,
        content=answer.content,
        violations=answer.violations,
        citations=citation_readings(answer.citations),
        unstated=unstated_readings(answer.unstated),
        repaired=answer.repaired,
        asked=answer.asked,
        served=answer.served_models,
    )
