"""Where a running debate stands: the open asks, how far each is, and what was used so far. Pure bookkeeping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from disputatio._terminal.drafts import Draft
from disputatio._terminal.match_state import MatchState
from disputatio.formats.turns.schema import ANGLES
from disputatio.record.events import (
    Abstained,
    AnswerRejected,
    CallLost,
    CallMade,
    CallSent,
    DebateOpened,
    DebateResumed,
    Event,
    TurnAsked,
    TurnTaken,
)
from disputatio.report.amounts import counted, spoken, whole_seconds
from disputatio.report.spending import CallReading, Totals
from disputatio.report.statements import questions_in, statements
from disputatio.tools.tool_choice import is_choice

_NOUNS = {
    "opening": "argument",
    "cross_examination": "response",
    "closing": "answer",
    "adjudication": "finding",
    "summing": "heading",
    "position": "position",
    "proposition": "argument",
    "criticism": "criticism",
    "rebuttal": "answer",
    "moderation": "finding",
}


@dataclass(slots=True)
class OpenAsk:
    """One ask that waits for its turn.

    ``expected`` is how many statements the turn will have, None where nobody can know; ``limit`` is in words.
    """

    path: str
    seat: str
    phase: str
    form: str
    since: float
    draft: Draft
    expected: int | None = None
    limit: int | None = None
    done: list[str] = field(default_factory=list)
    model: str = ""
    trouble: str = ""

    @property
    def in_parts(self) -> bool:
        """Whether the turn is asked for piece by piece."""
        return bool(self.draft.part) and not is_choice(self.draft.part)


class Progress:
    """A debate as far as it has come. Times are seconds of one monotonic clock."""

    def __init__(self) -> None:
        self.opened: DebateOpened | None = None
        self.match: MatchState | None = None
        self.budget: Mapping[str, Any] = {}
        self.open: dict[str, OpenAsk] = {}
        self.phase = ""
        self.questions: dict[str, str] = {}
        self._arguments: dict[str, int] = {}
        self._criticisms = 0
        self._calls: dict[str, CallReading] = {}
        self._totals: Totals | None = None

    def add(self, event: Event, now: float) -> None:
        """Take in one event."""
        if self.match is not None:
            self.match.add(event)
        match event:
            case DebateOpened():
                self.opened, self.budget, self.match = event, event.budget, MatchState.of(event)
            case DebateResumed():
                self.budget = event.budget
            case TurnAsked():
                self._asked(event, now)
            case CallSent():
                self._sent(event, now)
            case CallMade():
                self._made(event)
            case CallLost():
                self._lost(event)
            case AnswerRejected():
                ask = self.open.get(event.path)
                if ask is not None:
                    ask.draft = Draft(ask.form, ask.seat, event.part)
            case TurnTaken():
                self._taken(event)
            case Abstained():
                self.open.pop(event.path, None)
            case _:
                pass

    def wrote(self, path: str, part: str, text: str) -> None:
        """Take in new output of the ask at ``path``."""
        ask = self.open.get(path)
        if ask is not None:
            if ask.draft.part != part:
                ask.draft = Draft(ask.form, ask.seat, part)
            ask.draft.add(text)

    def totals(self, seconds: float | None) -> Totals:
        """What was used so far."""
        if self._totals is None or self._totals.seconds != seconds:
            self._totals = Totals.of(self._calls.values(), seconds)
        return self._totals

    def seat_of(self, call: str) -> str:
        """The seat a call was made for."""
        row = self._calls.get(call)
        return row.sent.seat if row else "a seat"

    def _asked(self, event: TurnAsked, now: float) -> None:
        self.phase = event.phase
        self.open[event.path] = OpenAsk(
            event.path,
            event.seat,
            event.phase,
            event.form,
            now,
            Draft(event.form, event.seat),
            self._expected(event),
            self._word_limit(event),
        )

    def _sent(self, event: CallSent, now: float) -> None:
        self._calls[event.call] = CallReading(event, None, lost=False)
        self._totals = None
        ask = self.open.get(event.path)
        if ask is None:
            return
        part = ask.draft.part
        if part and part != event.part and part not in ask.done and not is_choice(part):
            ask.done.append(part)
        ask.draft = Draft(ask.form, ask.seat, event.part)
        ask.since, ask.model, ask.trouble = now, event.model, ""

    def _made(self, event: CallMade) -> None:
        row = self._calls.get(event.call)
        if row is not None:
            self._calls[event.call] = CallReading(row.sent, event, lost=False)
            self._totals = None
        ask = self.open.get(event.path)
        if ask is not None and event.fault:
            ask.trouble = spoken(event.fault)

    def _lost(self, event: CallLost) -> None:
        row = self._calls.get(event.call)
        if row is not None:
            self._calls[event.call] = CallReading(row.sent, None, lost=True)
            self._totals = None

    def _taken(self, event: TurnTaken) -> None:
        self.open.pop(event.path, None)
        self.questions.update(questions_in(event.form, event.content))
        if event.form == "criticism":
            self._criticisms = len(_arguments_in(event.content))
        if event.form == "opening":
            self._arguments[event.seat] = len(statements("opening", event.seat, event.content))

    def _expected(self, event: TurnAsked) -> int | None:
        others = sum(number for seat, number in self._arguments.items() if seat != event.seat)
        put = sum(question.startswith(f"{event.seat.upper()}-") for question in self.questions)
        expected = {
            "opening": self._rule("minimum_arguments"),
            "cross_examination": others,
            "closing": put,
            "adjudication": sum(self._arguments.values()),
            "summing": 5,
            "proposition": self._rule("minimum_arguments"),
            "criticism": self._rule("minimum_arguments"),
            "rebuttal": self._criticisms,
        }
        return expected.get(event.form) or None

    def _word_limit(self, event: TurnAsked) -> int | None:
        if self.match is not None:
            return self.match.limit(event.seat, event.phase, event.form)
        return self._rule("speech_words") if event.form == "monologue" else None

    def _rule(self, name: str) -> int | None:
        value = self.opened.rules.get(name) if self.opened else None
        return value if isinstance(value, int) else None


def _arguments_in(content: Mapping[str, Any]) -> list[Any]:
    rows = content.get("arguments")
    return list(rows) if isinstance(rows, list | tuple) else []


@dataclass(frozen=True, slots=True)
class Standing:
    """How far an ask is: ``share`` of it is done, 0 to 1, or None where nobody can know; ``words`` say it."""

    share: float | None
    words: str


def standing(ask: OpenAsk, questions: Mapping[str, str], now: float) -> Standing:
    """How far ``ask`` is."""
    waited = whole_seconds(max(0, int(now - ask.since)))
    if ask.trouble:
        return Standing(_share(ask, 0), f"{ask.trouble}; resting before the next try")
    if is_choice(ask.draft.part):
        return Standing(_share(ask, 0), f"looks things up before its turn, {waited}")
    if not ask.draft.begun:
        return Standing(_share(ask, 0), f"{_done(ask, 0)}waiting for {ask.model or 'its turn'}, {waited}")
    begun = len(ask.draft.statements(questions))
    if not begun:
        return Standing(_share(ask, 0), f"{_done(ask, 0)}begins to write, {waited}")
    words = ask.draft.words(questions)
    if ask.limit:
        return Standing(min(1.0, words / ask.limit), f"{words} of {ask.limit} words, {waited}")
    return Standing(_share(ask, begun), f"{_done(ask, begun)}{counted(words, 'word')}, {waited}")


def _share(ask: OpenAsk, begun: int) -> float | None:
    if not ask.expected:
        return None
    done = len(ask.done) if ask.in_parts else max(0, begun - 1)
    return min(1.0, done / ask.expected)


def _done(ask: OpenAsk, begun: int) -> str:
    """``2 of 3 arguments, about people and skills, ``."""
    noun = _NOUNS.get(ask.form, "part")
    number = len(ask.done) + 1 if ask.in_parts else begun
    if not number:
        return ""
    if ask.draft.part and ask.draft.part in ask.done:
        return f"{ask.draft.part} again, "
    about = ""
    if ask.form == "opening" and ask.in_parts and ask.draft.part.rpartition("-")[2].isdecimal():
        about = f"about {ANGLES[(int(ask.draft.part.rpartition('-')[2]) - 1) % len(ANGLES)]}, "
    if ask.expected is None or number > ask.expected:
        beyond = ask.expected is not None and ask.form != "opening"
        return "the rest, " if beyond else f"{counted(number, noun)}, {about}"
    return f"{number} of {counted(ask.expected, noun)}, {about}"
