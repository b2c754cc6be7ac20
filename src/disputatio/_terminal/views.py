"""Two views of a running debate: a live one for terminals, and plain lines for everything else.

Both implement the engine's ``Observer`` and are context managers. The live view has a region of constant shape at the
bottom. Finished turns are printed above it once and do not move.
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
from disputatio._terminal.paint import paint, print_lines
from disputatio._terminal.progress import OpenAsk, Progress, measure_progress
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
"""The most lines of a speech in a match while it is made."""
_HINT = "   (Ctrl-C stops, resume continues)"


class _View:
    """What both views share.

    Args:
        console: where to print.
        clock: seconds of a monotonic clock.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._clock = console, clock
        self._progress = Progress()
        self._narration = Narration(self._progress, self._print, lambda: max(NARROWEST, console.width))
        self._postponed: list[list[Line]] | None = None

    def opened(self, debate_id: str, events: Iterable[Sealed] = ()) -> None:  # noqa: ARG002  (the events have it)
        """The debate has a record. ``events`` are those of earlier sessions, if it is resumed."""
        past = tuple(events)
        for row in past:
            self._progress.add(row.event(), self._clock())
        self._narration.recall(past)

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """Print what happened."""
        self._progress.add(event, self._clock())
        self._narration.narrate(event, sealed)

    def restrict(self, visibility: Visibility) -> None:
        """Show only what ``visibility`` allows."""
        self._narration.visibility = visibility

    def count_shown(self, seat: str) -> int:
        """How many public turns of ``seat`` were shown in this session."""
        return self._narration.shown[seat]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Print nothing while the block runs. What happens meanwhile is printed after it."""
        self._postponed = []
        try:
            yield
        finally:
            postponed, self._postponed = self._postponed, None
            for lines in postponed:
                self._print(lines)

    def _print(self, lines: list[Line]) -> None:
        if self._postponed is None:
            self._print_now(lines)
        else:
            self._postponed.append(lines)

    def _print_now(self, lines: list[Line]) -> None:
        raise NotImplementedError


class PlainView(_View):
    """A debate as plain lines, without control codes: each turn when it is taken, each incident when it happens.

    The width of the console does not change.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, clock=clock)
        self._narration.fancy = False
        self._last_note = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._console.file.flush()

    def on_text(self, path: str, part: str, text: str) -> None:
        """Do nothing: a turn is printed when it is complete."""

    def note(self, message: str) -> None:
        """Print a message of the preparations, such as a download. A repeated one is printed once."""
        if message != self._last_note:
            self._last_note = message
            self._narration.note(message)

    def _print_now(self, lines: list[Line]) -> None:
        print_lines(self._console, lines, styled=False)
        self._console.file.flush()


class LiveView(_View):
    """A debate while it runs on a terminal, with what seats are writing at the bottom."""

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, clock=clock)
        self._narration.fancy = not console.options.ascii_only
        self._live: Live | None = None
        self._ticking: asyncio.TimerHandle | None = None
        self._began = clock()
        self._dirty = True
        self._drawn_second = -1
        self._drawn: list[int] = []
        """The columns of each line of the region on the screen."""
        self._drawn_width = 0
        self._note = ""

    def __enter__(self) -> Self:
        self._began = self._clock()
        self._begin()
        return self

    def _begin(self) -> None:
        from rich.live import Live

        self._live = Live(console=self._console, auto_refresh=False, transient=True, get_renderable=self._render_region)
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

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """Show what happened."""
        self._note = ""
        self._dirty = True
        super().on_event(event, sealed)
        self._tick_later()

    def on_text(self, path: str, part: str, text: str) -> None:
        """Add output. It is drawn with the next picture."""
        self._progress.add_text(path, part, text)
        self._dirty = True

    def note(self, message: str) -> None:
        """Show a message of the preparations, such as a download, in place of the last one."""
        self._note = one_line(message)
        self._dirty = True
        self._tick_later()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal to somebody else while the block runs. What happens meanwhile is printed after it."""
        live, self._live = self._live, None
        if live is not None:
            # It draws nothing now, and removes what it drew.
            live.stop()
        try:
            with super().paused():
                yield
        finally:
            if live is not None:
                # A new one: the old one would draw over lines that are no longer its own.
                self._begin()

    def _print_now(self, lines: list[Line]) -> None:
        self._adjust_to_resize()
        print_lines(self._console, lines)

    def _adjust_to_resize(self) -> None:
        """Correct the number of lines that the region covers after the window became narrower.

        The terminal has wrapped the lines, and Rich moves up by the lines that it drew. Rich has no public way to set
        their number.
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
            # Without a loop no timer can draw.
            self._live.refresh()
            return
        self._ticking = loop.call_later(REFRESH_S, self._tick)

    def _tick(self) -> None:
        self._ticking = None
        second = int(self._clock() - self._began)
        if self._live is not None and (self._dirty or second != self._drawn_second):
            self._dirty, self._drawn_second = False, second
            self._adjust_to_resize()
            self._live.refresh()
        self._tick_later()

    def _render_region(self) -> Any:
        from rich.text import Text

        if self._live is None:
            return Text("", end="")
        size = self._console.size
        lines = region_lines(
            self._progress,
            self._clock(),
            size.width,
            size.height,
            began=self._began,
            fancy=not self._console.options.ascii_only,
            match=self._narration.match,
            visibility=self._narration.visibility,
        )
        if self._note:
            lines = [(), (Span("  "), Span(cut(self._note, size.width - 3), Role.QUIET)), *lines]
        self._drawn = [line_columns(trimmed(line)) for line in lines]
        return paint(lines, self._console.encoding)


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
    """The lines of the region, a few less than ``height`` at most.

    Every open ask has the same number of lines, with or without text, so that nothing jumps.
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
        visible = visibility is None or visibility.shows_turn(ask.seat, ask.form)
        lines += _ask_lines(ask, progress, now, width, each, fancy=fancy, visible=visible)
    return [*lines, _foot_line(progress, int(now - began), width)]


def _foot_line(progress: Progress, seconds: int, width: int) -> Line:
    """Phase, usage, time and the ceiling, cut to the width."""
    phase = spoken(one_line(progress.phase, 40)) or "preparing"
    parts = [*progress.totals(None).brief, whole_seconds(seconds)]
    limit = ceiling(progress.budget)
    parts += [f"ceiling {limit}"] if limit != "none" else []
    text = f"{phase}: {', '.join(parts)}"
    if columns(text) + columns(_HINT) + 2 <= width:
        text += _HINT
    return (Span("  "), span(cut(text, width - 2), Role.QUIET))


def _who(ask: OpenAsk) -> str:
    """The name of the seat. For a judge that judges twice it adds which side comes first."""
    sitting = sitting_of(ask.path).removesuffix(" shown first")
    return cut(one_line(f"{ask.seat} {sitting}" if sitting else ask.seat), 24)


def _ask_lines(
    ask: OpenAsk, progress: Progress, now: float, width: int, each: int, *, fancy: bool, visible: bool = True
) -> list[Line]:
    size = max(6, *(columns(_who(row)) for row in progress.open.values()))
    head: list[Span] = [Span("  "), Span(pad(_who(ask), size), seat_role(ask.seat)), Span(" ")]
    state = measure_progress(ask, progress.questions, now)
    if state.share is not None and width >= 60:
        size = _BAR if width >= 100 else _BAR // 2
        head += [*_bar(state.share, size, seat_role(ask.seat), fancy=fancy), Span("  ")]
    role = Role.WARNING if ask.trouble else Role.QUIET
    head.append(span(cut(one_line(state.words), width - line_columns(tuple(head))), role))
    if not each:
        return [tuple(head)]
    statements = ask.draft.statements(progress.questions) if visible else ()
    last = statement_lines(statements[-1], ask.seat, min(width, MEASURE))[-each:] if statements else []
    return [tuple(head), *last, *([()] * (each - len(last)))]


def _bar(share: float, size: int, role: Role, *, fancy: bool) -> list[Span]:
    done = int(share * size)
    full, empty = ("━", "─") if fancy else ("#", ".")
    return [Span(full * done, role), Span(empty * (size - done), Role.QUIET)]


def open_view(console: Console, *, plain: bool = False) -> LiveView | PlainView:
    """The view for ``console``: live on a terminal that can be redrawn, otherwise plain lines."""
    if plain or not console.is_terminal or console.is_dumb_terminal:
        return PlainView(console)
    return LiveView(console)
