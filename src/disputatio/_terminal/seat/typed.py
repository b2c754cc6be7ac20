"""Ask by lines on standard input: from a pipe, a file, or a terminal that cannot be redrawn.

A text ends at a line with a single full stop, or at the end of the input.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

from disputatio._terminal.seat.asking import PersonLeft, SaveDraft, WordCount
from disputatio.report.text_spans import Role

_PIECE = 65_536
_MOST_LINE = 2_000_000
"""The most bytes of one line. Longer ones are cut; no form takes as much."""
_SAVE_EVERY_S = 1.0


class LineInput:
    """Reads lines from a file descriptor without blocking the event loop.

    Nothing else may read the descriptor, because this class buffers what follows a line.
    """

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._buffer = b""
        self._ended = False

    async def read(self) -> str | None:
        """Read the next line without its end; None at the end of the input. Can be cancelled while it waits."""
        while b"\n" not in self._buffer and not self._ended and len(self._buffer) < _MOST_LINE:
            piece = await self._wait_and_read()
            self._ended = not piece
            self._buffer += piece
        if self._ended and not self._buffer:
            # A terminal continues after the end that Ctrl-D made.
            self._ended = not os.isatty(self._descriptor)
            return None
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")

    async def _wait_and_read(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(self._descriptor, lambda: None if ready.done() else ready.set_result(None))
        except (PermissionError, NotImplementedError):
            # A file is always ready. The loop cannot wait for it.
            return self._read_now()
        try:
            await ready
        finally:
            loop.remove_reader(self._descriptor)
        return self._read_now()

    def _read_now(self) -> bytes:
        try:
            return os.read(self._descriptor, _PIECE)
        except OSError:
            # The terminal is gone.
            return b""


class LineAsker:
    """Asks for plain lines.

    Args:
        lines: the answers.
        write: prints text as it is, without an end of line.
        paragraph: prints a wrapped paragraph.
        has_person: whether a person sits at a terminal.
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
        """Whether a person sits at a terminal."""
        return self._has_person

    def say(self, text: str, role: Role = Role.PLAIN) -> None:
        """Show a paragraph."""
        self._paragraph(text, role)

    async def line(
        self,
        question: str,
        given: str = "",
        save: SaveDraft | None = None,  # noqa: ARG002
        count: WordCount | None = None,  # noqa: ARG002
    ) -> str:
        """Ask for a line; an empty one means ``given``. Half a line cannot be stored: only the terminal has it."""
        if given:
            self.say(f"Your draft: {given}", Role.QUIET)
            question = f"{question.rstrip(': ')} (empty: your draft): "
        self._write(question)
        typed = await self._read()
        return typed if typed.strip() or not given else given

    async def _read(self) -> str:
        typed = await self._lines.read()
        if not self._has_person or typed is None:
            # No Enter on a terminal has ended the line of the question.
            self._write("\n")
        if typed is None:
            raise PersonLeft
        return typed

    async def text(self, count: WordCount, given: str, save: SaveDraft) -> str:
        """Ask for lines, up to one with a single full stop. They continue ``given``."""
        if given:
            self.say(
                f"Your draft, which you can continue ({count.describe(given)[0]}; /anew begins again):", Role.QUIET
            )
            self.say(given)
        limit = count.request.word_limit
        most = f"At most {limit} words. " if limit is not None else ""
        self.say(f"{most}End with a line that has a single full stop.", Role.QUIET)
        rows = [given] if given else []
        saved = time.monotonic()
        while True:
            typed = await self._lines.read()
            if typed is None and not any(row.strip() for row in rows[bool(given) :]):
                save("\n".join(rows))
                raise PersonLeft
            if typed is None or typed.strip() == ".":
                break
            if typed.strip() == "/anew":
                rows, given = [], ""
            elif typed.strip() == "/leave":
                save("\n".join(rows))
                raise PersonLeft
            elif typed.strip().startswith("/") and not rows[bool(given) :] and typed.strip() != "/":
                return typed
            else:
                rows.append(typed)
            if time.monotonic() - saved > _SAVE_EVERY_S or self._has_person:
                saved = time.monotonic()
                save("\n".join(rows))
        text = "\n".join(rows)
        save(text)
        counted, over = count.describe(text)
        self.say(f"{counted}.", Role.WARNING if over else Role.QUIET)
        return text
