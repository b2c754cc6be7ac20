"""Listeners to the debates of this process.

A listener is never sent an event. It is woken and reads the record from its last position. So it can only see what is
durable, a slow one holds nothing up, and one that comes back misses nothing. What a model is writing at this moment is
no event. It is kept once for a debate, from the beginning of an answer until its turn is taken. A listener keeps only
how far it has read, so one that comes late begins at the beginning.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from disputatio._terminal.progress import Draft
from disputatio.participants.call import OutputMode
from disputatio.record.chain import Sealed
from disputatio.record.events import Abstained, AnswerRejected, CallSent, DebateOpened, Event, TurnAsked, TurnTaken
from disputatio.record.store import DelegatingStore, EventBatch, Store
from disputatio.report.amounts import spoken
from disputatio.report.audience import Audience
from disputatio.report.turns.registry import turn_kind
from disputatio.report.turns.statement import Statement

TEXT_EVERY_S = 0.1
"""Seconds between two updates about the text that a model writes."""
MOST_SAID = 1_000
"""Characters of the readable words of an unfinished turn that a listener is sent, its end."""


@dataclass(slots=True, eq=False)
class Answer:
    """The answer to one call while it is written. ``is_json`` is whether it will be JSON once it is whole."""

    path: str
    part: str
    seat: str
    phase: str
    form: str
    is_json: bool
    draft: Draft


class LiveTexts:
    """The text that models are writing in one debate, as far as it is public.

    Args:
        before: reads the events of its record, for a debate that is gone on with: a turn that was open is not asked for
            again.
    """

    def __init__(self, before: Callable[[], Iterable[Sealed]]) -> None:
        self._before: Callable[[], Iterable[Sealed]] | None = before
        self._audience = Audience()
        self._asked: dict[str, TurnAsked] = {}
        self._questions: dict[str, str] = {}
        self._answers: dict[str, dict[str, Answer]] = {}

    @property
    def answers(self) -> list[Answer]:
        """The answers that have begun and may be shown, in the order of their asks."""
        shown = [parts for path, parts in self._answers.items() if self._audience.shows(path)]
        return [row for parts in shown for row in parts.values() if row.draft.begun]

    def on_event(self, event: Event, number: int) -> None:
        """Take in one event with its number: a call begins an answer, and a turn that is taken ends it."""
        before, self._before = self._before, None
        if before is not None and not isinstance(event, DebateOpened):
            for row in before():
                if row.seq < number:
                    self._take(row.event(), row.seq)
        self._take(event, number)

    def _take(self, event: Event, number: int) -> None:
        self._audience.add(event, number)
        match event:
            case TurnAsked():
                self._asked[event.path] = event
            case CallSent():
                self._begin(event)
            case AnswerRejected():
                self._answers.get(event.path, {}).pop(event.part, None)
            case TurnTaken() | Abstained():
                self._answers.pop(event.path, None)
                if isinstance(event, TurnTaken):
                    self._questions |= turn_kind(event.form).questions(event.content)
            case _:
                pass

    def wrote(self, path: str, part: str, text: str) -> None:
        """Take in what was just written."""
        row = self._answers.get(path, {}).get(part)
        if row is not None:
            row.draft.add(text)

    def said(self, path: str) -> str:
        """What can be read of a turn so far, in plain words: the end of it."""
        rows = self._answers.get(path, {}).values()
        said = [line for row in rows for line in map(_in_words, row.draft.statements(self._questions)) if line]
        text = "\n".join(said)
        return text if len(text) <= MOST_SAID else f"... {text[-MOST_SAID:].partition(' ')[2]}"

    def _begin(self, event: CallSent) -> None:
        asked = self._asked.get(event.path)
        if asked is not None:
            draft, is_json = Draft(asked.form, asked.seat, event.part), event.mode != OutputMode.TEXT
            row = Answer(event.path, event.part, asked.seat, asked.phase, asked.form, is_json, draft)
            self._answers.setdefault(event.path, {})[event.part] = row


def _in_words(row: Statement) -> str:
    """A statement as one line of text."""
    head = " ".join(word for word in (row.mark, spoken(row.word)) if word)
    points = (f"{label}: {text}" if label else text for label, text in row.points if text)
    told = " ".join(text for text in (row.lead, *points) if text)
    return f"{head}: {told}" if head and told else told


@dataclass(slots=True, eq=False)
class Listener:
    """Somebody who watches one debate."""

    woken: asyncio.Event = field(default_factory=asyncio.Event)
    _grown: bool = True
    _heard: dict[tuple[str, str], tuple[Answer, int]] = field(default_factory=dict)

    def wake(self, *, grown: bool) -> None:
        """Something is new: where ``grown``, perhaps the record."""
        self._grown = self._grown or grown
        self.woken.set()

    def unheard(self, texts: LiveTexts | None) -> list[tuple[Answer, int, str]]:
        """What was written since the last time: each answer, the place at which the news begin, and the news."""
        rows = [] if texts is None else texts.answers
        before, self._heard = self._heard, {}
        found = []
        for row in rows:
            known, place = before.get((row.path, row.part), (row, 0))
            # Another call writes another answer, from its beginning.
            place = place if known is row else 0
            raw = row.draft.raw
            if len(raw) > place:
                found.append((row, place, raw[place:]))
            self._heard[row.path, row.part] = row, len(raw)
        return found

    async def wait(self, seconds: float) -> bool:
        """Until something happens, at most this long; whether the record may have grown."""
        grown = True
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.woken.wait()
                grown = self._grown
        self.woken.clear()
        self._grown = False
        return grown


class Hub:
    """The listeners of all debates."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[Listener]] = {}
        self._texts: dict[str, LiveTexts] = {}
        self._due: set[str] = set()
        self.held: set[str] = set()
        """The debates that this process writes. Their listeners are woken at every event."""

    @contextmanager
    def listening(self, debate: str) -> Iterator[Listener]:
        """A listener for as long as the block lasts."""
        listener = Listener()
        self._listeners.setdefault(debate, set()).add(listener)
        try:
            yield listener
        finally:
            self._listeners[debate].discard(listener)
            if not self._listeners[debate]:
                del self._listeners[debate]

    def wake(self, debate: str) -> None:
        """Something of ``debate`` became durable."""
        for listener in self._listeners.get(debate, ()):
            listener.wake(grown=True)

    def wake_all(self) -> None:
        """Something happened that concerns everybody."""
        for debate in list(self._listeners):
            self.wake(debate)

    def texts(self, debate: str) -> LiveTexts | None:
        """What is being written in ``debate``; None where this process does not hold it."""
        return self._texts.get(debate)

    def watch(self, debate: str, texts: LiveTexts) -> None:
        """Keep the text written in ``debate`` while this process runs it."""
        self._texts[debate] = texts

    def unwatch(self, debate: str) -> None:
        """Forget what is written in ``debate``."""
        self._texts.pop(debate, None)

    def wrote(self, debate: str) -> None:
        """A model wrote something: tell listeners soon, with what else comes until then."""
        if debate not in self._due and debate in self._listeners:
            self._due.add(debate)
            asyncio.get_running_loop().call_later(TEXT_EVERY_S, self._tell, debate)

    def _tell(self, debate: str) -> None:
        self._due.discard(debate)
        for listener in self._listeners.get(debate, ()):
            listener.wake(grown=False)

    def count(self) -> int:
        """How many listen."""
        return sum(map(len, self._listeners.values()))


class Watching:
    """The watcher of one debate: keeps what models write, for the listeners of the hub.

    Args:
        hub: where listeners are.
        debate: its id.
        before: see `LiveTexts`.
    """

    def __init__(self, hub: Hub, debate: str, before: Callable[[], Iterable[Sealed]]) -> None:
        self._hub, self._debate, self._texts = hub, debate, LiveTexts(before)
        hub.watch(debate, self._texts)

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """Begin and end answers. Listeners learn of the event itself when it is durable."""
        self._texts.on_event(event, sealed.seq)

    def on_text(self, path: str, part: str, text: str) -> None:
        """Keep the text and wake the listeners."""
        self._texts.wrote(path, part, text)
        self._hub.wrote(self._debate)


class AnnouncingStore(DelegatingStore):
    """A store that informs the hub when a write is durable, and ``let_go`` when a debate is no longer written here.

    All else is the store's own.
    """

    def __init__(self, store: Store, hub: Hub, let_go: Callable[[str], None]) -> None:
        super().__init__(store)
        self._hub, self._let_go = hub, let_go

    def append(self, writing: EventBatch) -> asyncio.Future[None]:
        """Hand events over, and wake who listens when they are durable."""
        done = super().append(writing)
        done.add_done_callback(lambda _: self._hub.wake(writing.debate))
        return done

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def claim(self, debate: str) -> None:
        """As the store."""
        super().claim(debate)
        self._hub.held.add(debate)

    def release(self, debate: str) -> None:
        """As the store; then wakes the listeners, which check whether the debate is over."""
        super().release(debate)
        if debate in self._hub.held:
            self._hub.held.discard(debate)
            self._hub.unwatch(debate)
            self._hub.wake(debate)
            self._let_go(debate)
