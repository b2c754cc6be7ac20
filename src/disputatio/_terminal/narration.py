"""Tells a debate as it happens, in lines that are printed once and stay: the transcript people scroll back to.

Both views use it; the live one adds a region below that moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from disputatio._terminal.match_narration import MatchNarration
from disputatio._terminal.match_state import SPEECHES
from disputatio._terminal.progress import Progress
from disputatio._terminal.visibility import Visibility, held_back
from disputatio.motion import one_line
from disputatio.participants.call import FaultKind
from disputatio.record.chain import Sealed
from disputatio.record.events import (
    Abstained,
    AnswerRejected,
    BudgetReached,
    CallLost,
    CallMade,
    CallSent,
    DebateOpened,
    DebateResumed,
    Event,
    PenaltyGiven,
    ScoreGiven,
    ToolCalled,
    TurnAsked,
    TurnTaken,
    VoteCounted,
)
from disputatio.report.amounts import counted, spoken
from disputatio.report.consultations import Consultation
from disputatio.report.panel import CountReading, count_words
from disputatio.report.reading import DebateReport, Entry, EntryState, settled_entry
from disputatio.report.text_spans import Line, Role, Span, flow, span
from disputatio.report.transcript import (
    MEASURE,
    consultation_lines,
    entry_lines,
    head_lines,
    names_models,
    phase_lines,
    rejection_note,
)
from disputatio.report.turns.registry import turn_kind

Say = Callable[[list[Line]], None]


class Narration:
    """Says what events tell.

    Args:
        progress: the state of the debate, already told of each event.
        say: puts lines out.
        width: the columns there are now.
    """

    def __init__(self, progress: Progress, say: Say, width: Callable[[], int]) -> None:
        self._progress, self._say, self._width = progress, say, width
        self._asked: dict[str, Entry] = {}
        self._phases: list[str] = []
        self._spoken: set[str] = set()
        self._names_models = False
        self._models: dict[str, str] = {}
        self._past: list[Event | Sealed] = []
        self.visibility = Visibility()
        self.told: Counter[str] = Counter()
        """How many public turns each seat has been heard with in this session."""
        self.fancy = True

    @property
    def match(self) -> MatchNarration | None:
        """How a match is told; None where the debate is none."""
        state = self._progress.match
        return None if state is None else MatchNarration(state, self.visibility, fancy=self.fancy)

    def recall(self, events: Iterable[Sealed]) -> None:
        """Take in what was recorded before this session, without telling it again."""
        for row in events:
            self._past.append(row)
            event = row.event()
            if isinstance(event, TurnAsked):
                self._asked[event.path] = _entry(event)

    def tell(self, event: Event, sealed: Sealed) -> None:
        """Say what ``event`` tells, if it is anything people want to see."""
        match event:
            case DebateOpened():
                self._open([event], sealed.debate)
            case DebateResumed():
                self._resume(event, sealed)
            case TurnAsked():
                self._ask(event)
            case CallSent():
                self._fall_back(event)
            case CallMade() if event.fault:
                self.note(self._fault(event))
            case CallLost():
                self.note(
                    f"{self._progress.seat_of(event.call)}: a call was under way when the debate stopped; "
                    "its cost is unknown and what was reserved for it counts as spent"
                )
            case AnswerRejected() | ToolCalled():
                self._incident(event)
            case TurnTaken() | Abstained():
                self._settle(event)
            case VoteCounted() | ScoreGiven() | PenaltyGiven():
                self._establish(event)
            case BudgetReached():
                self.note(
                    f"the ceiling is reached: {event.spent} of {event.ceiling} {event.limit} are spent or "
                    f"reserved, and the next call could need {event.needed}"
                )
            case _:
                pass

    def _establish(self, event: VoteCounted | ScoreGiven | PenaltyGiven) -> None:
        """A count of votes, or the score of a speech with what it cost; other scores are told with the result."""
        if isinstance(event, VoteCounted):
            count = CountReading.of(event.body) if self.visibility.facts else None
            if count is not None:
                words = [span(count_words(count), Role.LEAD)]
                self._say([(), *flow(words, min(self._width(), MEASURE), first=(Span("  "),), hang=4)])
            return
        if self.match is not None:
            self._say(self.match.tells(event, self._width()) or [])

    def note(self, text: str) -> None:
        """Say one thing beside the debate."""
        width = min(self._width(), MEASURE)
        self._say(flow([span(f"! {one_line(text, 400)}", Role.WARNING)], width, first=(Span("  "),), hang=4))

    def _open(self, events: list[Event | Sealed], debate: str) -> None:
        report = DebateReport.of(debate, events)
        self._names_models = names_models(report)
        self._say(head_lines(report, self._width()))

    def _resume(self, event: DebateResumed, sealed: Sealed) -> None:
        if not self._past:
            return
        self._open([*self._past, event], sealed.debate)
        report = DebateReport.of(sealed.debate, [*self._past, event])
        kept = counted(len(report.turns), "turn") if report.turns else "no turn"
        told = f"Resumed: {kept} already taken, nothing of it is asked or paid again."
        self._say([(), (Span(told, Role.QUIET),)])

    def _ask(self, event: TurnAsked) -> None:
        self._asked[event.path] = _entry(event)
        self._enter(event.phase)
        again_note = turn_kind(event.form).again_note
        if again_note and event.path.endswith("#2"):
            self.note(again_note)

    def _incident(self, event: AnswerRejected | ToolCalled) -> None:
        """An answer that was not accepted, or a tool that was called, where it may be told."""
        if not self._heard(event.path):
            return
        if isinstance(event, ToolCalled):
            row = Consultation.of(event, {})
            self._say(consultation_lines(row, min(self._width(), MEASURE), event.seat))
            return
        asked = self._asked.get(event.path)
        seat, phase = (asked.seat, asked.phase) if asked else ("a seat", "debate")
        self.note(rejection_note(seat, phase, event.because, event.reasons, event.part))

    def _heard(self, path: str) -> bool:
        """Whether what happens at ``path`` may be told; what a person is told in their own seat is told there."""
        asked = self._asked.get(path)
        return asked is None or (
            asked.seat not in self.visibility.seats and self.visibility.turn(asked.seat, asked.form)
        )

    def _enter(self, phase: str) -> None:
        if phase not in self._phases:
            self._phases.append(phase)
            self._say(phase_lines(phase))

    def _fall_back(self, event: CallSent) -> None:
        asked = self._asked.get(event.path)
        before = self._models.get(event.path)
        self._models[event.path] = event.model
        if asked is not None and before is not None and before != event.model:
            self.note(f"{asked.seat}: {before} gave up, {event.model} takes over")

    def _fault(self, event: CallMade) -> str:
        seat = self._progress.seat_of(event.call)
        if event.fault == FaultKind.SCHEMA_UNSUPPORTED.value:
            return f"{seat}: the server does not take this way of asking for a form; another is tried"
        if event.fault == FaultKind.PARAMETER_REFUSED.value:
            return f"{seat}: the call is made again as the server takes it: {event.message}"
        return f"{seat}: a call failed ({spoken(event.fault)}): {event.message}"

    def _settle(self, event: TurnTaken | Abstained) -> None:
        asked = self._asked.get(event.path)
        if asked is None:
            asked = Entry(event.path, event.seat, event.phase, "", "", "", EntryState.OPEN)
        self._enter(event.phase)
        again = event.phase in self._spoken
        lines = self._turn_lines(asked, event)
        if lines:
            self._spoken.add(event.phase)
        self._say([(), *lines] if again and lines else lines)

    def _turn_lines(self, asked: Entry, event: TurnTaken | Abstained) -> list[Line]:
        if isinstance(event, TurnTaken) and self.match is not None:
            own = self.match.tells(event, self._width())
            if own is not None:
                self.told[event.seat] += event.form in SPEECHES
                return own
        if isinstance(event, TurnTaken) and not self.visibility.turn(event.seat, event.form):
            return [(Span("  "), span(held_back(event.seat, event.form), Role.QUIET))]
        entry = settled_entry(asked, event)
        return entry_lines(entry, self._width(), self._progress.questions, names_model=self._names_models, whole=False)


def _entry(event: TurnAsked) -> Entry:
    return Entry(event.path, event.seat, event.phase, event.form, event.mode, event.prompt, EntryState.OPEN)
