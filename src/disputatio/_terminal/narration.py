"""Narrate a debate while it runs, in lines that are printed once and stay.

Both views use it. The live view adds a region below that is redrawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from disputatio._terminal.match_narration import MatchNarration
from disputatio._terminal.match_state import SPEECHES
from disputatio._terminal.progress import Progress
from disputatio._terminal.visibility import Visibility, describe_hidden
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

Print = Callable[[list[Line]], None]


class Narration:
    """Prints what happens in a debate.

    Args:
        progress: the progress of the debate after the event.
        print_lines: prints lines.
        width: the current number of columns.
    """

    def __init__(self, progress: Progress, print_lines: Print, width: Callable[[], int]) -> None:
        self._progress, self._print, self._width = progress, print_lines, width
        self._asked: dict[str, Entry] = {}
        self._phases: list[str] = []
        self._spoken: set[str] = set()
        self._names_models = False
        self._models: dict[str, str] = {}
        self._past: list[Event | Sealed] = []
        self.visibility = Visibility()
        self.shown: Counter[str] = Counter()
        """How many public turns of each seat were shown in this session."""
        self.fancy = True

    @property
    def match(self) -> MatchNarration | None:
        """The layout of a match; None if the debate is not a match."""
        state = self._progress.match
        return None if state is None else MatchNarration(state, self.visibility, fancy=self.fancy)

    def recall(self, events: Iterable[Sealed]) -> None:
        """Remember the events of earlier sessions without printing them."""
        for row in events:
            self._past.append(row)
            event = row.event()
            if isinstance(event, TurnAsked):
                self._asked[event.path] = _make_entry(event)

    def narrate(self, event: Event, sealed: Sealed) -> None:
        """Print what happened, if it is of interest to people."""
        match event:
            case DebateOpened():
                self._print_head([event], sealed.debate)
            case DebateResumed():
                self._print_resumption(event, sealed)
            case TurnAsked():
                self._print_ask(event)
            case CallSent():
                self._print_fallback(event)
            case CallMade() if event.fault:
                self.note(self._describe_fault(event))
            case CallLost():
                self.note(
                    f"{self._progress.seat_of(event.call)}: a call was under way when the debate stopped; "
                    "its cost is unknown, so its reservation counts as spent"
                )
            case AnswerRejected() | ToolCalled():
                self._print_incident(event)
            case TurnTaken() | Abstained():
                self._print_turn(event)
            case VoteCounted() | ScoreGiven() | PenaltyGiven():
                self._print_result(event)
            case BudgetReached():
                self.note(
                    f"the ceiling is reached: {event.spent} of {event.ceiling} {event.limit} are spent or "
                    f"reserved, and the next call could need {event.needed}"
                )
            case _:
                pass

    def _print_result(self, event: VoteCounted | ScoreGiven | PenaltyGiven) -> None:
        """Print a count of votes, or the score of a speech. Other scores appear in the result."""
        if isinstance(event, VoteCounted):
            count = CountReading.of(event.body) if self.visibility.shows_scores else None
            if count is not None:
                words = [span(count_words(count), Role.LEAD)]
                self._print([(), *flow(words, min(self._width(), MEASURE), first=(Span("  "),), hang=4)])
            return
        if self.match is not None:
            self._print(self.match.lay_out(event, self._width()) or [])

    def note(self, text: str) -> None:
        """Print a remark on the debate."""
        width = min(self._width(), MEASURE)
        self._print(flow([span(f"! {one_line(text, 400)}", Role.WARNING)], width, first=(Span("  "),), hang=4))

    def _print_head(self, events: list[Event | Sealed], debate: str) -> None:
        report = DebateReport.of(debate, events)
        self._names_models = names_models(report)
        self._print(head_lines(report, self._width()))

    def _print_resumption(self, event: DebateResumed, sealed: Sealed) -> None:
        if not self._past:
            return
        self._print_head([*self._past, event], sealed.debate)
        report = DebateReport.of(sealed.debate, [*self._past, event])
        turns = counted(len(report.turns), "turn") if report.turns else "no turn"
        note = f"Resumed: {turns} already taken. Nothing of this is asked or paid again."
        self._print([(), (Span(note, Role.QUIET),)])

    def _print_ask(self, event: TurnAsked) -> None:
        self._asked[event.path] = _make_entry(event)
        self._enter(event.phase)
        again_note = turn_kind(event.form).again_note
        if again_note and event.path.endswith("#2"):
            self.note(again_note)

    def _print_incident(self, event: AnswerRejected | ToolCalled) -> None:
        """Print that an answer was rejected or a tool was called, if the screen may show it."""
        if not self._may_show(event.path):
            return
        if isinstance(event, ToolCalled):
            row = Consultation.of(event, {})
            self._print(consultation_lines(row, min(self._width(), MEASURE), event.seat))
            return
        asked = self._asked.get(event.path)
        seat, phase = (asked.seat, asked.phase) if asked else ("a seat", "debate")
        self.note(rejection_note(seat, phase, event.because, event.reasons, event.part))

    def _may_show(self, path: str) -> bool:
        """Whether the screen may show incidents at ``path``. A person's own seat shows its own incidents."""
        asked = self._asked.get(path)
        return asked is None or (
            asked.seat not in self.visibility.seats and self.visibility.shows_turn(asked.seat, asked.form)
        )

    def _enter(self, phase: str) -> None:
        if phase not in self._phases:
            self._phases.append(phase)
            self._print(phase_lines(phase))

    def _print_fallback(self, event: CallSent) -> None:
        asked = self._asked.get(event.path)
        before = self._models.get(event.path)
        self._models[event.path] = event.model
        if asked is not None and before is not None and before != event.model:
            self.note(f"{asked.seat}: {before} gave up, {event.model} takes over")

    def _describe_fault(self, event: CallMade) -> str:
        seat = self._progress.seat_of(event.call)
        if event.fault == FaultKind.SCHEMA_UNSUPPORTED.value:
            return f"{seat}: the server does not support this output mode; another one is tried"
        if event.fault == FaultKind.PARAMETER_REFUSED.value:
            return f"{seat}: the call is repeated as the server accepts it: {event.message}"
        return f"{seat}: a call failed ({spoken(event.fault)}): {event.message}"

    def _print_turn(self, event: TurnTaken | Abstained) -> None:
        asked = self._asked.get(event.path)
        if asked is None:
            asked = Entry(event.path, event.seat, event.phase, "", "", "", EntryState.OPEN)
        self._enter(event.phase)
        again = event.phase in self._spoken
        lines = self._turn_lines(asked, event)
        if lines:
            self._spoken.add(event.phase)
        self._print([(), *lines] if again and lines else lines)

    def _turn_lines(self, asked: Entry, event: TurnTaken | Abstained) -> list[Line]:
        if isinstance(event, TurnTaken) and self.match is not None:
            lines = self.match.lay_out(event, self._width())
            if lines is not None:
                self.shown[event.seat] += event.form in SPEECHES
                return lines
        if isinstance(event, TurnTaken) and not self.visibility.shows_turn(event.seat, event.form):
            return [(Span("  "), span(describe_hidden(event.seat, event.form), Role.QUIET))]
        entry = settled_entry(asked, event)
        return entry_lines(entry, self._width(), self._progress.questions, names_model=self._names_models, whole=False)


def _make_entry(event: TurnAsked) -> Entry:
    return Entry(event.path, event.seat, event.phase, event.form, event.mode, event.prompt, EntryState.OPEN)
