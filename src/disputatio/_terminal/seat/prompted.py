"""Ask with an editor at the bottom of the terminal. It counts words as they are typed. Ctrl-C leaves."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from disputatio._terminal.seat.asking import PersonLeft, SaveDraft, WordCount
from disputatio.report.text_spans import Role

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

_SAVE_EVERY_S = 1.0


class PromptAsker:
    """Asks at a terminal that can be redrawn.

    Args:
        paragraph: prints a wrapped paragraph.
        errors: write to standard error, because a program reads standard output.
        width: the current number of columns.
    """

    def __init__(self, *, paragraph: Callable[[str, Role], None], errors: bool, width: Callable[[], int]) -> None:
        self._paragraph, self._errors, self._width = paragraph, errors, width

    @property
    def has_person(self) -> bool:
        """True."""
        return True

    def say(self, text: str, role: Role = Role.PLAIN) -> None:
        """Show a paragraph."""
        self._paragraph(text, role)

    async def line(
        self, question: str, given: str = "", save: SaveDraft | None = None, count: WordCount | None = None
    ) -> str:
        """Ask for a line, which Enter ends. The count is below it, if its words count."""
        session = self._session()
        began = time.monotonic()
        more: dict[str, Any] = {}
        if count is not None:
            more["bottom_toolbar"] = lambda: self._bar(
                count, session.default_buffer.text, time.monotonic() - began, "Enter: submit"
            )
        try:
            return await self._prompt(session, question, default=given, **more)
        except (asyncio.CancelledError, PersonLeft):
            if save is not None:
                save(session.default_buffer.text)
            raise

    async def text(self, count: WordCount, given: str, save: SaveDraft) -> str:
        """Ask for a text, with the count of its words below it."""
        began = time.monotonic()
        saved = began

        def changed(buffer: Any) -> None:
            nonlocal saved
            if time.monotonic() - saved > _SAVE_EVERY_S:
                saved = time.monotonic()
                save(buffer.text)

        session = self._session()
        session.default_buffer.on_text_changed += changed
        try:
            typed = await self._prompt(
                session,
                "> ",
                default=given,
                multiline=True,
                key_bindings=_submit_keys(),
                bottom_toolbar=lambda: self._bar(
                    count,
                    session.default_buffer.text,
                    time.monotonic() - began,
                    "Alt-Enter or a lone dot: submit",
                ),
                prompt_continuation="  ",
                refresh_interval=1.0,
            )
        except (asyncio.CancelledError, PersonLeft):
            save(session.default_buffer.text)
            raise
        save(typed)
        return typed

    def _bar(self, count: WordCount, text: str, seconds: float, submits: str) -> Any:
        counted, over = count.describe(text)
        clock = f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
        rows = [counted, clock, submits, "Ctrl-C: leave", "/help"]
        room, bar = self._width() - 2, rows[0]
        for row in rows[1:]:
            if len(bar) + 3 + len(row) <= room:
                bar += f"   {row}"
        return [("class:over" if over else "", f" {bar}")]

    def _session(self) -> PromptSession[str]:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.input import create_input
        from prompt_toolkit.output import ColorDepth, create_output
        from prompt_toolkit.styles import Style

        return PromptSession(
            input=create_input(sys.stdin),
            output=create_output(stdout=sys.stderr if self._errors else sys.stdout),
            color_depth=ColorDepth.DEPTH_1_BIT if "NO_COLOR" in os.environ else None,
            style=Style.from_dict({"bottom-toolbar": "noreverse ansibrightblack", "over": "bold ansiyellow"}),
            enable_open_in_editor=False,
            reserve_space_for_menu=0,
        )

    async def _prompt(self, session: PromptSession[str], question: str, **more: Any) -> str:
        """Ask with ``session``, without changing how the event loop handles signals."""
        try:
            return await session.prompt_async(question, handle_sigint=False, set_exception_handler=False, **more)
        except (KeyboardInterrupt, EOFError):
            raise PersonLeft from None


def _submit_keys() -> Any:
    """The keys that submit a text: Alt-Enter, Ctrl-D after some words, Enter after a lone dot or a command."""
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: Any) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("c-d")
    def _(event: Any) -> None:
        if event.current_buffer.text.strip():
            event.current_buffer.validate_and_handle()
        else:
            event.app.exit(exception=EOFError)

    @keys.add("enter")
    def _(event: Any) -> None:
        buffer = event.current_buffer
        whole = buffer.text.strip()
        if buffer.document.is_cursor_at_the_end and buffer.document.current_line.strip() == ".":
            buffer.text = buffer.text.rstrip()[:-1].rstrip()
            buffer.validate_and_handle()
        elif whole.startswith("/") and "\n" not in whole and " " not in whole:
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return keys
