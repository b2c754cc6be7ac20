"""The terminal as a surface for people in seats: shows what the seat may see, asks for turns, stores drafts."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from disputatio._terminal.paint import print_lines
from disputatio._terminal.seat.asking import COMMANDS, Asker, Draft, FormWalk, PassTurn, PersonLeft
from disputatio._terminal.seat.prompted import PromptAsker
from disputatio._terminal.seat.turn_prompt import (
    command_lines,
    draft_lines,
    find_unseen,
    paragraph_lines,
    reason_lines,
    turn_lines,
)
from disputatio._terminal.seat.typed import LineAsker, LineInput
from disputatio.errors import PersonLeftError
from disputatio.participants.human import DraftBook, Filled, Passed, TurnRequest, words_in
from disputatio.report.text_spans import Line, Role
from disputatio.report.transcript import MEASURE, NARROWEST

if TYPE_CHECKING:
    from rich.console import Console

    from disputatio.kernel import Message


class DebateView(Protocol):
    """The view that shows the debate while a person is asked."""

    def paused(self) -> AbstractContextManager[None]:
        """Print nothing while the block runs. What happens meanwhile is printed after it."""

    def count_shown(self, seat: str) -> int:
        """How many public turns of ``seat`` were shown in this session."""


class TerminalSurface:
    """Asks the person at this terminal, for one seat at a time.

    Args:
        console: where to print. Its width may change.
        make_asker: makes the object that asks, at the first question.
        drafts: where unfinished turns are stored.
        view: shows the debate; None if it is not shown.
    """

    def __init__(
        self,
        console: Console,
        make_asker: Callable[[TerminalSurface], Asker],
        drafts: DraftBook,
        view: DebateView | None = None,
    ) -> None:
        self.console, self._drafts, self._view = console, drafts, view
        self._make_asker = make_asker
        self._asker: Asker | None = None
        self._turn = asyncio.Lock()
        self._shown: dict[str, set[Message]] = {}
        self._last: dict[str, str] = {}
        self._met: set[str] = set()

    async def fill(self, request: TurnRequest) -> Filled | Passed:
        """Ask the person for a turn."""
        async with self._turn:
            asker = self._asker = self._asker or self._make_asker(self)
            with self._view.paused() if self._view else nullcontext():
                return await self._ask(request, asker)

    async def _ask(self, request: TurnRequest, asker: Asker) -> Filled | Passed:
        debate, path = request.situation.debate, request.path
        before = self._last.get(request.seat)
        if before is not None and before != path:
            # The seat is asked for its next turn, so the last one was taken.
            self._drafts.drop(debate, before)
        self._last[request.seat] = path
        draft = Draft.of(self._drafts.read(debate, path))
        if request.last is not None and asker.has_person:
            draft = Draft(dict(request.last))
        self._show(self._head(request, draft))
        walk = FormWalk(
            request,
            asker,
            draft,
            save=lambda: self._save(debate, path, draft),
            command=lambda word: self._run_command(word, request),
        )
        try:
            content = await self._fill_and_confirm(request, asker, walk, draft)
        except PassTurn:
            return Passed(tried=tuple(walk.tried))
        except PersonLeft:
            self._save(debate, path, draft)
            raise _left(request, draft) from None
        except asyncio.CancelledError:
            self._save(debate, path, draft)
            raise
        return Filled(content, tuple(walk.tried))

    async def _fill_and_confirm(self, request: TurnRequest, asker: Asker, walk: FormWalk, draft: Draft) -> Any:
        """Ask for the answer, and show the person which rules it breaks before it is submitted."""
        content = await walk.fill()
        while asker.has_person:
            broken = request.violations(content) if request.is_final else ()
            faults = request.faults(content)
            fields = request.sheet.fields
            alone = len(list(request.sheet.leaves())) == 1 and request.last is None
            if alone and not faults and not broken:
                break
            if not alone:
                # A single text is still visible above, where it was written.
                self._show(draft_lines(request, content, self._measure()))
            for sentence in (*faults, *broken):
                asker.say(f"It breaks a rule: {sentence}." if sentence in broken else f"{sentence}.", Role.WARNING)
            cost = " with its violations" if broken else ""
            which = f"1 to {len(fields)}" if len(fields) > 1 else "1"
            typed = (await asker.line(f"Enter submits it{cost}; {which} changes it; /pass; /leave: ")).strip().lower()
            if not typed and not faults:
                break
            if typed == "/pass":
                raise PassTurn
            if typed == "/leave":
                raise PersonLeft
            if typed.isdecimal() and 1 <= int(typed) <= len(fields):
                await walk.edit(int(typed))
                content = draft.done
            elif typed in COMMANDS:
                self._run_command(typed, request)
            elif typed:
                asker.say(f"{typed[:40]!r} is not one of these.", Role.WARNING)
        return content

    def _head(self, request: TurnRequest, draft: Draft) -> list[Line]:
        """What the person sees before writing: new turns, the task, the draft, and why the last answer was refused."""
        shown = self._shown.setdefault(request.seat, set())
        first = request.seat not in self._met
        self._met.add(request.seat)
        count_shown = self._view.count_shown if self._view else lambda _: 0
        messages = find_unseen(request, shown, count_shown)
        shown.update(request.heard)
        lines = turn_lines(request, messages, self._measure(), first=first)
        if draft.begun and request.last is None:
            words = words_in(draft.done) + words_in(draft.writing)
            lines += paragraph_lines(f"Your draft has {words} words. You can continue where you left.", self._measure())
        if request.reasons:
            lines += reason_lines(request, self._measure())
        return lines

    def clear_drafts(self, debate: str) -> None:
        """Delete the drafts of a closed debate."""
        self._drafts.clear(debate)

    def _run_command(self, word: str, request: TurnRequest) -> None:
        self._show(command_lines(word, request, self._measure()))

    def _save(self, debate: str, path: str, draft: Draft) -> None:
        if draft.begun:
            self._drafts.keep(debate, path, draft.as_json())

    def say(self, text: str, role: Role) -> None:
        """Print a wrapped paragraph."""
        self._show(paragraph_lines(text, self._measure(), role))

    def write(self, text: str) -> None:
        """Print text as it is, without an end of line."""
        self.console.file.write(text)
        self.console.file.flush()

    def _show(self, lines: list[Line]) -> None:
        print_lines(self.console, lines, styled=self.console.is_terminal and not self.console.is_dumb_terminal)
        self.console.file.flush()

    def _measure(self) -> int:
        return min(max(NARROWEST, self.console.width), MEASURE)

    def width(self) -> int:
        """The current number of columns."""
        return self.console.width


def _left(request: TurnRequest, draft: Draft) -> PersonLeftError:
    state = "the draft is stored" if draft.begun else "nothing was written yet"
    return PersonLeftError(
        f"The person in {request.seat} left in the {request.ask.phase.replace('_', ' ')}: {state}.",
        f"To continue: disputatio resume {request.situation.debate}",
    )


def open_surface(
    console: Console, drafts: Path, *, plain: bool, errors: bool, view: DebateView | None
) -> TerminalSurface:
    """Open the surface for this terminal: an editor if it can be redrawn, otherwise lines.

    Args:
        console: where to print.
        drafts: the folder of drafts.
        plain: use lines on a terminal too.
        errors: the console is standard error.
        view: shows the debate.
    """
    person = sys.stdin is not None and sys.stdin.isatty()
    redrawn = console.is_terminal and not console.is_dumb_terminal and os.environ.get("TERM") != "dumb"

    def make_asker(surface: TerminalSurface) -> Asker:
        if person and redrawn and not plain:
            return PromptAsker(paragraph=surface.say, errors=errors, width=surface.width)
        return LineAsker(LineInput(sys.stdin.fileno()), write=surface.write, paragraph=surface.say, has_person=person)

    return TerminalSurface(console, make_asker, DraftBook(drafts), view)
