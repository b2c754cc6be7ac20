"""The two ways to watch a debate: a live one for terminals, and plain lines for everything else.

Both implement the engine's ``Observer`` and are context managers. The live view keeps a region of constant shape at
the bottom; whatever is finished is printed above it once and never moves again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from disputatio._terminal.match_narration import MatchNarration
from disputatio._terminal.narration import Narration
from disputatio._terminal.paint import painted, put
from disputatio._terminal.progress import OpenAsk, Progress, standing
from disputatio._terminal.visibility import Visibility
from disputatio.motion import one_line
from disputatio.record.chain import Sealed
from disputatio.record.events import Event
from disputatio.report.amounts import spoken, whole_seconds
from disputatio.report.columns import columns, cut, pad
from disputatio.report.text_spans import Line, Role, Span, line_columns, span, trimmed
from disputatio.report.transcript import MEASURE, NARROWEST, ceiling, seat_role, statement_lines
from disputatio.report.turns.registry import sitting_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

REFRESH_S = 0.125
"""The shortest time between two pictures, in seconds."""
_BAR = 20
_SPEECH_LINES = 10
"""Of a speech in a match while it is made, at most."""
_HINT = "   (Ctrl-C stops, resume goes on)"


class PlainView:
    """A debate as plain lines, without control codes: each turn when it is taken, each incident when it happens.

    Args:
        console: where to print; its width is kept.
        clock: seconds of a monotonic clock.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._clock = console, clock
        self._progress = Progress()
        self._narration = Narration(self._progress, self._say, lambda: _width(console))
        self._narration.fancy = False
        self._held: list[list[Line]] | None = None
        self._last_note = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._console.file.flush()

    def opened(self, debate_id: str, events: Iterable[Sealed] = ()) -> None:  # noqa: ARG002  (the events tell it)
        """The debate has a record; ``events`` are those of earlier sessions, where it is resumed."""
        past = tuple(events)
        for row in past:
            self._progress.add(row.event(), self._clock())
        self._narration.recall(past)

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """Print what the event tells."""
        self._progress.add(event, self._clock())
        self._narration.tell(event, sealed)

    def on_text(self, path: str, part: str, text: str) -> None:
        """Nothing: a turn is printed when it is whole."""

    def note(self, message: str) -> None:
        """Print a message of the preparations, such as a download; the same one is printed once."""
        if message != self._last_note:
            self._last_note = message
            self._narration.note(message)

    def restrict(self, visibility: Visibility) -> None:
        """Tell only what these seats may hear."""
        self._narration.visibility = visibility

    def told_of(self, seat: str) -> int:
        """How many public turns of ``seat`` were told in this session."""
        return self._narration.told[seat]

    @contextmanager
    def yielded(self) -> Iterator[None]:
        """Nothing is told while the block runs; what happens meanwhile is told after it."""
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            for lines in held:
                self._say(lines)

    def _say(self, lines: list[Line]) -> None:
        if self._held is not None:
            self._held.append(lines)
            return
        put(self._console, lines, styled=False)
        self._console.file.flush()


class LiveView:
    """A debate as it happens, with what seats are writing right now at the bottom.

    Args:
        console: a terminal.
        clock: seconds of a monotonic clock.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._clock = console, clock
        self._progress = Progress()
        self._narration = Narration(self._progress, self._say, lambda: _width(console))
        self._narration.fancy = not console.options.ascii_only
        self._held: list[list[Line]] | None = None
        self._live: Live | None = None
        self._ticking: asyncio.TimerHandle | None = None
        self._began = clock()
        self._dirty = True
        self._drawn_second = -1
        self._drawn: list[int] = []
        """The columns of each line of the picture that is on the screen."""
        self._drawn_width = 0
        self._note = ""

    def __enter__(self) -> Self:
        self._began = self._clock()
        self._begin()
        return self

    def _begin(self) -> None:
        from rich.live import Live

        self._live = Live(console=self._console, auto_refresh=False, transient=True, get_renderable=self._picture)
        self._live.start()
        self._tick_later()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ticking is not None:
            self._ticking.cancel()
            self._ticking = None
        if self._live is not None:
            self._progress.open.clear()
            self._live.stop()
            self._live = None

    def opened(self, debate_id: str, events: Iterable[Sealed] = ()) -> None:  # noqa: ARG002  (the events tell it)
        """The debate has a record; ``events`` are those of earlier sessions, where it is resumed."""
        past = tuple(events)
        for row in past:
            self._progress.add(row.event(), self._clock())
        self._narration.recall(past)

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """Show what the event tells."""
        self._note = ""
        self._dirty = True
        self._progress.add(event, self._clock())
        self._narration.tell(event, sealed)
        self._tick_later()

    def on_text(self, path: str, part: str, text: str) -> None:
        """Take in output; it is drawn with the next picture."""
        self._progress.wrote(path, part, text)
        self._dirty = True

    def note(self, message: str) -> None:
        """Show a message of the preparations, such as a download, in the place of the one before."""
        self._note = one_line(message)
        self._dirty = True
        self._tick_later()

    def restrict(self, visibility: Visibility) -> None:
        """Tell only what these seats may hear."""
        self._narration.visibility = visibility

    def told_of(self, seat: str) -> int:
        """How many public turns of ``seat`` were told in this session."""
        return self._narration.told[seat]

    @contextmanager
    def yielded(self) -> Iterator[None]:
        """The terminal is somebody else's while the block runs; what happens meanwhile is told after it."""
        shown, self._live = self._live, None
        self._held = []
        if shown is not None:
            # It draws nothing now, and takes away what was drawn.
            shown.stop()
        try:
            yield
        finally:
            held, self._held = self._held, None
            for lines in held:
                self._say(lines)
            if shown is not None:
                # A new one: the old one remembers lines to draw over that are not its own any more.
                self._begin()

    def _say(self, lines: list[Line]) -> None:
        if self._held is not None:
            self._held.append(lines)
            return
        self._reckon_with_resize()
        put(self._console, lines)

    def _reckon_with_resize(self) -> None:
        """Where the window became narrower its lines were broken anew: the region covers more of them than were drawn.

        Rich goes up by the lines it drew, so it is told how many there are now. It has no public way to say so.
        """
        width = self._console.size.width
        if self._live is not None and 0 < width < self._drawn_width:
            rows = sum(max(1, -(-size // width)) for size in self._drawn)
            self._live._live_render._shape = (width, min(rows, self._console.size.height))
        self._drawn_width = width

    def _tick_later(self) -> None:
        if self._live is None or self._ticking is not None:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            # Nothing else will ask for a picture.
            self._live.refresh()
            return
        self._ticking = loop.call_later(REFRESH_S, self._tick)

    def _tick(self) -> None:
        self._ticking = None
        second = int(self._clock() - self._began)
        if self._live is not None and (self._dirty or second != self._drawn_second):
            self._dirty, self._drawn_second = False, second
            self._reckon_with_resize()
            self._live.refresh()
        self._tick_later()

    def _picture(self) -> Any:
        from rich.text import Text

        if self._live is None:
            return Text("", end="")
        fancy = not self._console.options.ascii_only
        size = self._console.size
        lines = region_lines(
            self._progress,
            self._clock(),
            size.width,
            size.height,
            began=self._began,
            fancy=fancy,
            match=self._narration.match,
            visibility=self._narration.visibility,
        )
        if self._note:
            lines = [(), (Span("  "), Span(cut(self._note, size.width - 3), Role.QUIET)), *lines]
        self._drawn = [line_columns(trimmed(line)) for line in lines]
        return painted(lines, self._console.encoding)


def _width(console: Console) -> int:
    return max(NARROWEST, console.width)


def region_lines(
    progress: Progress,
    now: float,
    width: int,
    height: int,
    *,
    began: float,
    fancy: bool,
    match: MatchNarration | None = None,
    visibility: Visibility | None = None,
) -> list[Line]:
    """The picture of what goes on right now, at most ``height`` lines less a few.

    Every open ask has the same number of lines whether or not it has text yet, so that nothing jumps.
    """
    if progress.opened is None:
        return []
    width = max(20, width - 1)
    asks = list(progress.open.values())
    room = max(0, height - 4 - len(asks))
    each = min(3, room // len(asks)) if asks else 0
    lines: list[Line] = [()]
    if match is not None:
        measure = min(width, MEASURE)
        lines += [match.head(progress.phase, measure)] if height >= 10 else []
        each = max(0, min(_SPEECH_LINES, (height - 8) // max(1, len(asks))))
        for ask in asks[: max(1, height - 4)]:
            lines += match.region(ask, progress, now, measure, each)
        return [*lines, _foot_line(progress, int(now - began), width)]
    for ask in asks[: max(1, height - 4)]:
        heard = visibility is None or visibility.turn(ask.seat, ask.form)
        lines += _ask_lines(ask, progress, now, width, each, fancy=fancy, heard=heard)
    return [*lines, _foot_line(progress, int(now - began), width)]


def _foot_line(progress: Progress, seconds: int, width: int) -> Line:
    """Phase, time, what was used and the ceiling; what does not fit is left out from the end."""
    phase = spoken(one_line(progress.phase, 40)) or "preparing"
    told = [*progress.totals(None).brief, whole_seconds(seconds)]
    limit = ceiling(progress.budget)
    told += [f"ceiling {limit}"] if limit != "none" else []
    text = f"{phase}: {', '.join(told)}"
    if columns(text) + columns(_HINT) + 2 <= width:
        text += _HINT
    return (Span("  "), span(cut(text, width - 2), Role.QUIET))


def _who(ask: OpenAsk) -> str:
    """The seat; the asks of one judge that sits more than once are told apart by what it is shown first."""
    sitting = sitting_of(ask.path).removesuffix(" shown first")
    return cut(one_line(f"{ask.seat} {sitting}" if sitting else ask.seat), 24)


def _ask_lines(
    ask: OpenAsk, progress: Progress, now: float, width: int, each: int, *, fancy: bool, heard: bool = True
) -> list[Line]:
    size = max(6, *(columns(_who(row)) for row in progress.open.values()))
    head: list[Span] = [Span("  "), Span(pad(_who(ask), size), seat_role(ask.seat)), Span(" ")]
    how = standing(ask, progress.questions, now)
    if how.share is not None and width >= 60:
        size = _BAR if width >= 100 else _BAR // 2
        head += [*_bar(how.share, size, seat_role(ask.seat), fancy=fancy), Span("  ")]
    role = Role.WARNING if ask.trouble else Role.QUIET
    head.append(span(cut(one_line(how.words), width - line_columns(tuple(head))), role))
    if not each:
        return [tuple(head)]
    said = ask.draft.statements(progress.questions) if heard else ()
    shown = statement_lines(said[-1], ask.seat, min(width, MEASURE)) if said else []
    shown = shown[-each:]
    return [tuple(head), *shown, *([()] * (each - len(shown)))]


def _bar(share: float, size: int, role: Role, *, fancy: bool) -> list[Span]:
    done = int(share * size)
    full, empty = ("━", "─") if fancy else ("#", ".")
    return [Span(full * done, role), Span(empty * (size - done), Role.QUIET)]


def open_view(console: Console, *, plain: bool = False) -> LiveView | PlainView:
    """The view that fits ``console``: live on a terminal that can be redrawn, plain lines everywhere else."""
    if plain or not console.is_terminal or console.is_dumb_terminal:
        return PlainView(console)
    return LiveView(console)
