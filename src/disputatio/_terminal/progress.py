"""The progress of a running debate: its open asks, how far each is, and what was used so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from disputatio._terminal.match_state import MatchState
from disputatio.formats.turns.schema import ANGLES
from disputatio.motion import clean, count_words
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
from disputatio.record.text import replace_surrogates
from disputatio.report.amounts import capital, counted, spoken, whole_seconds
from disputatio.report.spending import CallReading, Totals
from disputatio.report.turns.registry import turn_kind
from disputatio.report.turns.statement import Questions, Statement
from disputatio.report.turns.turn_kind import Heard, TurnKind
from disputatio.tools.tool_choice import is_choice


@dataclass(slots=True)
class OpenAsk:
    """An ask that has no turn yet.

    ``expected`` is how many statements the turn will have, None if unknown; ``limit`` is in words.
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
    def kind(self) -> TurnKind:
        """The kind of turn that it asks for."""
        return turn_kind(self.form)

    @property
    def in_parts(self) -> bool:
        """Whether the turn is asked for piece by piece."""
        return bool(self.draft.part) and not is_choice(self.draft.part)


class Progress:
    """The progress of a debate. Times are seconds of one monotonic clock."""

    def __init__(self) -> None:
        self.opened: DebateOpened | None = None
        self.match: MatchState | None = None
        self.budget: Mapping[str, Any] = {}
        self.open: dict[str, OpenAsk] = {}
        self.phase = ""
        self.heard = Heard()
        self._calls: dict[str, CallReading] = {}
        self._totals: Totals | None = None

    def add(self, event: Event, now: float) -> None:
        """Update the progress with an event."""
        if self.match is not None:
            self.match.add(event)
        match event:
            case DebateOpened():
                self.opened, self.budget, self.match = event, event.budget, MatchState.of(event)
                self.heard.rules = event.rules
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

    def add_text(self, path: str, part: str, text: str) -> None:
        """Add output to the ask at ``path``."""
        ask = self.open.get(path)
        if ask is not None:
            if ask.draft.part != part:
                ask.draft = Draft(ask.form, ask.seat, part)
            ask.draft.add(text)

    @property
    def questions(self) -> dict[str, str]:
        """The follow-up questions so far, by id."""
        return self.heard.questions

    def totals(self, seconds: float | None) -> Totals:
        """What was used so far."""
        if self._totals is None or self._totals.seconds != seconds:
            self._totals = Totals.of(self._calls.values(), seconds)
        return self._totals

    def seat_of(self, call: str) -> str:
        """The seat of a call."""
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
            turn_kind(event.form).expected(self.heard, event.seat) or None,
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
        kind = turn_kind(event.form)
        self.questions.update(kind.questions(event.content))
        rows = kind.statements(event.seat, event.content)
        self.heard.arguments[event.form, event.seat] = sum(kind.place(row)[0] == "argument" for row in rows)

    def _word_limit(self, event: TurnAsked) -> int | None:
        if self.match is not None:
            return self.match.limit(event.seat, event.phase, event.form)
        return self.heard.rule(turn_kind(event.form).word_limit)


@dataclass(frozen=True, slots=True)
class AskProgress:
    """How far an ask is. ``share`` of it is done, from 0 to 1, None if unknown; ``words`` describe it."""

    share: float | None
    words: str


def measure_progress(ask: OpenAsk, questions: Mapping[str, str], now: float) -> AskProgress:
    """Measure how far ``ask`` is."""
    waited = whole_seconds(max(0, int(now - ask.since)))
    if ask.trouble:
        return AskProgress(_share(ask, 0), f"{ask.trouble}; waiting before the next attempt")
    if is_choice(ask.draft.part):
        return AskProgress(_share(ask, 0), f"uses tools before its turn, {waited}")
    if not ask.draft.begun:
        return AskProgress(_share(ask, 0), f"{_done(ask, 0)}waiting for {ask.model or 'its turn'}, {waited}")
    begun = len(ask.draft.statements(questions))
    if not begun:
        return AskProgress(_share(ask, 0), f"{_done(ask, 0)}begins to write, {waited}")
    words = ask.draft.words(questions)
    if ask.limit:
        return AskProgress(min(1.0, words / ask.limit), f"{words} of {ask.limit} words, {waited}")
    return AskProgress(_share(ask, begun), f"{_done(ask, begun)}{counted(words, 'word')}, {waited}")


def _share(ask: OpenAsk, begun: int) -> float | None:
    if not ask.expected:
        return None
    done = len(ask.done) if ask.in_parts else max(0, begun - 1)
    return min(1.0, done / ask.expected)


def _done(ask: OpenAsk, begun: int) -> str:
    """``2 of 3 arguments, about people and skills, ``."""
    noun = ask.kind.noun
    number = len(ask.done) + 1 if ask.in_parts else begun
    if not number:
        return ""
    if ask.draft.part and ask.draft.part in ask.done:
        return f"{ask.draft.part} again, "
    about = ""
    if ask.kind.names_angles and ask.in_parts and ask.draft.part.rpartition("-")[2].isdecimal():
        about = f"about {ANGLES[(int(ask.draft.part.rpartition('-')[2]) - 1) % len(ANGLES)]}, "
    if ask.expected is None or number > ask.expected:
        beyond = ask.expected is not None and not ask.kind.names_angles
        return "the rest, " if beyond else f"{counted(number, noun)}, {about}"
    return f"{number} of {counted(ask.expected, noun)}, {about}"


_LONGEST = 200_000
"""The most characters of an answer that are shown. The rules read no longer answers either."""


@dataclass(slots=True)
class Draft:
    """The answer to one call while it is written."""

    form: str
    seat: str
    part: str = ""
    _pieces: list[str] = field(default_factory=list)
    _size: int = 0
    _read: tuple[Statement, ...] = ()
    _fresh: bool = True

    def add(self, text: str) -> None:
        """Add output."""
        if self._size < _LONGEST:
            self._pieces.append(text)
            self._size += len(text)
            self._fresh = False

    @property
    def begun(self) -> bool:
        """Whether there is any output."""
        return self._size > 0

    @property
    def raw(self) -> str:
        """The output so far, as the model wrote it."""
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def statements(self, questions: Questions) -> tuple[Statement, ...]:
        """The statements so far. The last one may be unfinished."""
        if is_choice(self.part):
            return ()
        if not self._fresh:
            self._fresh = True
            content = parse_partial_object("".join(self._pieces))
            if content is not None:
                self._read = self._statements_in(content, questions)
        return self._read

    def _statements_in(self, content: Mapping[str, Any], questions: Questions) -> tuple[Statement, ...]:
        kind = turn_kind(self.form)
        whole = kind.whole_of_part(self.part, content) if self.part else content
        rows = kind.statements(self.seat, whole, questions)
        readable = tuple(row for row in rows if row.texts)
        if not self.part:
            return readable
        # A small model answers a part under keys of its own, which become those of the turn when the part is complete.
        shown = {text for row in readable for text in row.texts}
        sentences = [text for text in content.values() if isinstance(text, str) and " " in text.strip()]
        if not sentences or all(text in shown for text in sentences):
            return readable
        mark = rows[-1].mark if rows and not readable else capital(spoken(self.part))
        return (Statement(mark, "", sentences[0], tuple(("", text) for text in sentences[1:])),)

    def words(self, questions: Questions) -> int:
        """The number of words so far."""
        return sum(count_words(text) for row in self.statements(questions) for text in row.texts)


def parse_partial_object(text: str) -> Mapping[str, Any] | None:
    """Parse the unfinished JSON object in ``text``, after any other text; None if there is none."""
    from pydantic_core import from_json

    # The parser refuses lone surrogates.
    text = replace_surrogates(text)
    start = text.find("{")
    if start < 0:
        return None
    # Text after a finished object, such as a closing fence, is not JSON. So try up to the last brace too.
    for body in (text[start:], text[start : text.rfind("}") + 1]):
        try:
            value = from_json(body, allow_partial="trailing-strings")
        except ValueError:
            continue
        return _clean_value(value) if isinstance(value, dict) else None
    return None


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _clean_value(row) for key, row in value.items()}
    return [_clean_value(row) for row in value] if isinstance(value, list) else value
