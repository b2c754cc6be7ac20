"""Asks by lines on standard input, wherever it comes from: a pipe, a file, or a terminal that cannot be redrawn.

A text ends at a line with a single full stop, or where the input ends.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

from disputatio._terminal.seat.asking import DetachAware, Keep, Measure
from disputatio.report.text_spans import Role

_PIECE = 65_536
_MOST_LINE = 2_000_000
"""Bytes of one line; what is longer is cut there, and no form takes as much."""
_KEPT_EVERY_S = 1.0


class LineInput:
    """Lines from a file descriptor, without ever blocking the loop.

    Nothing else may read the descriptor; whatever follows a line is kept for the next one.
    """

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._held = b""
        self._ended = False

    async def read(self) -> str | None:
        """The next line without its end; None where the input has ended. Can be cancelled while it waits."""
        while b"\n" not in self._held and not self._ended and len(self._held) < _MOST_LINE:
            piece = await self._piece()
            self._ended = not piece
            self._held += piece
        if self._ended and not self._held:
            # On a terminal the next Ctrl-D is a new end of input.
            self._ended = not os.isatty(self._descriptor)
            return None
        line, _, self._held = self._held.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")

    async def _piece(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(self._descriptor, lambda: None if ready.done() else ready.set_result(None))
        except (PermissionError, NotImplementedError):
            # A file is always ready, and cannot be waited for.
            return self._taken()
        try:
            await ready
        finally:
            loop.remove_reader(self._descriptor)
        return self._taken()

    def _taken(self) -> bytes:
        try:
            return os.read(self._descriptor, _PIECE)
        except OSError:
            # The terminal is gone.
            return b""


class LineAsker:
    """Asks by plain lines.

    Args:
        lines: where answers come from.
        write: puts text out as it is, without an end of line.
        paragraph: puts a paragraph out, wrapped.
        has_person: whether somebody sits at a terminal.
    """

    def __init__(
        self,
        lines: LineInput,
        *,
        write: Callable[[str], None],
        paragraph: Callable[[str, Role], None],
        has_person: bool,
    ) -> None:
        self._lines, self._write, self._paragraph, self._has_person = lines, write, paragraph, has_person

    @property
    def has_person(self) -> bool:
        """Whether somebody sits there."""
        return self._has_person

    def say(self, text: str, role: Role = Role.PLAIN) -> None:
        """Show a paragraph."""
        self._paragraph(text, role)

    async def line(
        self,
        question: str,
        given: str = "",
        keep: Keep | None = None,  # noqa: ARG002
        measure: Measure | None = None,  # noqa: ARG002
    ) -> str:
        """One line; an empty one takes what is given. Half a line cannot be kept: the terminal has it until Enter."""
        if given:
            self.say(f"Kept: {given}", Role.QUIET)
            question = f"{question.rstrip(': ')} (empty: as kept): "
        self._write(question)
        typed = await self._read()
        return typed if typed.strip() or not given else given

    async def _read(self) -> str:
        typed = await self._lines.read()
        if not self._has_person or typed is None:
            # Nobody's Enter has ended the line of the question.
            self._write("\n")
        if typed is None:
            raise DetachAware
        return typed

    async def text(self, measure: Measure, given: str, keep: Keep) -> str:
        """Lines up to one with a single full stop; they follow on what is given."""
        if given:
            self.say(f"Your draft, which goes on below ({measure.told(given)[0]}; /anew begins again):", Role.QUIET)
            self.say(given)
        limit = measure.request.word_limit
        most = f"At most {limit} words. " if limit is not None else ""
        self.say(f"{most}End with a line that has a single full stop.", Role.QUIET)
        rows = [given] if given else []
        kept = time.monotonic()
        while True:
            typed = await self._lines.read()
            if typed is None and not any(row.strip() for row in rows[bool(given) :]):
                keep("\n".join(rows))
                raise DetachAware
            if typed is None or typed.strip() == ".":
                break
            if typed.strip() == "/anew":
                rows, given = [], ""
            elif typed.strip() == "/leave":
                keep("\n".join(rows))
                raise DetachAware
            elif typed.strip().startswith("/") and not rows[bool(given) :] and typed.strip() != "/":
                return typed
            else:
                rows.append(typed)
            if time.monotonic() - kept > _KEPT_EVERY_S or self._has_person:
                kept = time.monotonic()
                keep("\n".join(rows))
        text = "\n".join(rows)
        keep(text)
        told, over = measure.told(text)
        self.say(f"{told}.", Role.WARNING if over else Role.QUIET)
        return text
