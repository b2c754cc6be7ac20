"""The terminal as a surface for people in seats: shows what the seat hears, asks for the turn, keeps drafts."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from disputatio._terminal.paint import put
from disputatio._terminal.seat.asking import COMMANDS, Asker, DetachAware, Draft, Passing, Walk
from disputatio._terminal.seat.prompted import PromptAsker
from disputatio._terminal.seat.turn_prompt import (
    command_lines,
    draft_lines,
    paragraph_lines,
    reason_lines,
    turn_lines,
    unheard,
)
from disputatio._terminal.seat.typed import LineAsker, LineInput
from disputatio.errors import PersonLeftError
from disputatio.participants.human import DraftBook, Filled, Passed, TurnRequest, words_in
from disputatio.report.text_spans import Line, Role
from disputatio.report.transcript import MEASURE, NARROWEST

if TYPE_CHECKING:
    from rich.console import Console

    from disputatio.kernel import Message


class Stage(Protocol):
    """Where the debate is shown while a person is asked."""

    def yielded(self) -> AbstractContextManager[None]:
        """Nothing is drawn while the block runs; what happens meanwhile is told after it."""

    def told_of(self, seat: str) -> int:
        """How many public turns of ``seat`` were told in this session."""


class TerminalSurface:
    """Asks whoever sits at this terminal, one seat at a time.

    Args:
        console: where to show; its width may change.
        asker: makes what asks, once somebody is asked.
        drafts: where unfinished turns are kept.
        stage: where the debate is shown; None where it is not.
    """

    def __init__(
        self, console: Console, asker: Callable[[TerminalSurface], Asker], drafts: DraftBook, stage: Stage | None = None
    ) -> None:
        self.console, self._drafts, self._stage = console, drafts, stage
        self._make_asker = asker
        self._asker: Asker | None = None
        self._turn = asyncio.Lock()
        self._shown: dict[str, set[Message]] = {}
        self._last: dict[str, str] = {}
        self._met: set[str] = set()

    async def fill(self, request: TurnRequest) -> Filled | Passed:
        """What the person makes of ``request``."""
        async with self._turn:
            asker = self._asker = self._asker or self._make_asker(self)
            with self._stage.yielded() if self._stage else nullcontext():
                return await self._asked(request, asker)

    async def _asked(self, request: TurnRequest, asker: Asker) -> Filled | Passed:
        debate, path = request.situation.debate, request.path
        before = self._last.get(request.seat)
        if before is not None and before != path:
            # That turn was taken: nobody is asked for the next one before.
            self._drafts.drop(debate, before)
        self._last[request.seat] = path
        draft = Draft.of(self._drafts.read(debate, path))
        if request.last is not None and asker.has_person:
            draft = Draft(dict(request.last))
        self._show(self._head(request, draft))
        walk = Walk(
            request,
            asker,
            draft,
            keep=lambda: self._kept(debate, path, draft),
            command=lambda word: self._obey(word, request),
        )
        try:
            content = await self._filled(request, asker, walk, draft)
        except Passing:
            return Passed(tried=tuple(walk.tried))
        except DetachAware:
            self._kept(debate, path, draft)
            raise _left(request, draft) from None
        except asyncio.CancelledError:
            self._kept(debate, path, draft)
            raise
        return Filled(content, tuple(walk.tried))

    async def _filled(self, request: TurnRequest, asker: Asker, walk: Walk, draft: Draft) -> Any:
        """The answer, after whoever gives it has seen what it breaks."""
        content = await walk.fill()
        while asker.has_person:
            broken = request.violations(content) if request.is_final else ()
            faults = request.faults(content)
            fields = request.sheet.fields
            alone = len(list(request.sheet.leaves())) == 1 and request.last is None
            if alone and not faults and not broken:
                break
            if not alone:
                # A single text stands just above, where it was written.
                self._show(draft_lines(request, content, self._measure()))
            for sentence in (*faults, *broken):
                asker.say(f"It breaks a rule: {sentence}." if sentence in broken else f"{sentence}.", Role.WARNING)
            cost = " as it is, with what that costs" if broken else ""
            which = f"1 to {len(fields)}" if len(fields) > 1 else "1"
            typed = (await asker.line(f"Enter gives it{cost}; {which} changes it; /pass; /leave: ")).strip().lower()
            if not typed and not faults:
                break
            if typed == "/pass":
                raise Passing
            if typed == "/leave":
                raise DetachAware
            if typed.isdecimal() and 1 <= int(typed) <= len(fields):
                await walk.again(int(typed))
                content = draft.done
            elif typed in COMMANDS:
                self._obey(typed, request)
            elif typed:
                asker.say(f"{typed[:40]!r} is none of these.", Role.WARNING)
        return content

    def _head(self, request: TurnRequest, draft: Draft) -> list[Line]:
        """What is shown before the person writes: what is new on the floor, the task, the draft, the objections."""
        shown = self._shown.setdefault(request.seat, set())
        first = request.seat not in self._met
        self._met.add(request.seat)
        told = self._stage.told_of if self._stage else lambda _: 0
        posts = unheard(request, shown, told)
        shown.update(request.heard)
        lines = turn_lines(request, posts, self._measure(), first=first)
        if draft.begun and request.last is None:
            words = words_in(draft.done) + words_in(draft.writing)
            lines += paragraph_lines(f"Your draft is here, {words} words; it goes on where you left.", self._measure())
        if request.reasons:
            lines += reason_lines(request, self._measure())
        return lines

    def clear_drafts(self, debate: str) -> None:
        """The debate is closed: its drafts are of no more use."""
        self._drafts.clear(debate)

    def _obey(self, word: str, request: TurnRequest) -> None:
        self._show(command_lines(word, request, self._measure()))

    def _kept(self, debate: str, path: str, draft: Draft) -> None:
        if draft.begun:
            self._drafts.keep(debate, path, draft.as_json())

    def say(self, text: str, role: Role) -> None:
        """Show a paragraph, wrapped."""
        self._show(paragraph_lines(text, self._measure(), role))

    def write(self, text: str) -> None:
        """Show text as it is, without an end of line."""
        self.console.file.write(text)
        self.console.file.flush()

    def _show(self, lines: list[Line]) -> None:
        put(self.console, lines, styled=self.console.is_terminal and not self.console.is_dumb_terminal)
        self.console.file.flush()

    def _measure(self) -> int:
        return min(max(NARROWEST, self.console.width), MEASURE)

    def width(self) -> int:
        """The columns there are now."""
        return self.console.width


def _left(request: TurnRequest, draft: Draft) -> PersonLeftError:
    kept = "what was written is kept as a draft" if draft.begun else "nothing was written yet"
    return PersonLeftError(
        f"The person in {request.seat} left in the {request.ask.phase.replace('_', ' ')}: {kept}.",
        f"Go on with it: disputatio resume {request.situation.debate}",
    )


def open_surface(console: Console, drafts: Path, *, plain: bool, errors: bool, stage: Stage | None) -> TerminalSurface:
    """The surface that fits this terminal: an editor where it can be redrawn, lines everywhere else.

    Args:
        console: where to show.
        drafts: the folder of drafts.
        plain: lines although there is a terminal.
        errors: the console is standard error.
        stage: where the debate is shown.
    """
    person = sys.stdin is not None and sys.stdin.isatty()
    redrawn = console.is_terminal and not console.is_dumb_terminal and os.environ.get("TERM") != "dumb"

    def asker(surface: TerminalSurface) -> Asker:
        if person and redrawn and not plain:
            return PromptAsker(paragraph=surface.say, errors=errors, width=surface.width)
        return LineAsker(LineInput(sys.stdin.fileno()), write=surface.write, paragraph=surface.say, has_person=person)

    return TerminalSurface(console, asker, DraftBook(drafts), stage)
