"""Asks with an editor at the bottom of the terminal: words are counted while they are typed, Ctrl-C leaves."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from disputatio._terminal.seat.asking import DetachAware, Keep, Measure
from disputatio.report.text_spans import Role

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

_KEPT_EVERY_S = 1.0


class PromptAsker:
    """Asks at a terminal that can be redrawn.

    Args:
        paragraph: puts a paragraph out, wrapped.
        errors: write to standard error, because standard output is read by a program.
        width: the columns there are now.
    """

    def __init__(self, *, paragraph: Callable[[str, Role], None], errors: bool, width: Callable[[], int]) -> None:
        self._paragraph, self._errors, self._width = paragraph, errors, width

    @property
    def has_person(self) -> bool:
        """Always."""
        return True

    def say(self, text: str, role: Role = Role.PLAIN) -> None:
        """Show a paragraph."""
        self._paragraph(text, role)

    async def line(
        self, question: str, given: str = "", keep: Keep | None = None, measure: Measure | None = None
    ) -> str:
        """One line, ended by Enter, with the count below it where it is part of a text."""
        session = self._session()
        began = time.monotonic()
        more: dict[str, Any] = {}
        if measure is not None:
            more["bottom_toolbar"] = lambda: self._bar(
                measure, session.default_buffer.text, time.monotonic() - began, "Enter: give it"
            )
        try:
            return await self._asked(session, question, default=given, **more)
        except (asyncio.CancelledError, DetachAware):
            if keep is not None:
                keep(session.default_buffer.text)
            raise

    async def text(self, measure: Measure, given: str, keep: Keep) -> str:
        """A text with the count of its words below it."""
        began = time.monotonic()
        kept = [began]

        def changed(buffer: Any) -> None:
            if time.monotonic() - kept[0] > _KEPT_EVERY_S:
                kept[0] = time.monotonic()
                keep(buffer.text)

        session = self._session()
        session.default_buffer.on_text_changed += changed
        try:
            typed = await self._asked(
                session,
                "> ",
                default=given,
                multiline=True,
                key_bindings=_giving(),
                bottom_toolbar=lambda: self._bar(
                    measure,
                    session.default_buffer.text,
                    time.monotonic() - began,
                    "Alt-Enter or a lone dot: give it",
                ),
                prompt_continuation="  ",
                refresh_interval=1.0,
            )
        except (asyncio.CancelledError, DetachAware):
            keep(session.default_buffer.text)
            raise
        keep(typed)
        return typed

    def _bar(self, measure: Measure, text: str, seconds: float, gives: str) -> Any:
        told, over = measure.told(text)
        clock = f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
        rows = [told, clock, gives, "Ctrl-C: leave", "/help"]
        room, shown = self._width() - 2, rows[0]
        for row in rows[1:]:
            if len(shown) + 3 + len(row) <= room:
                shown += f"   {row}"
        return [("class:over" if over else "", f" {shown}")]

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

    async def _asked(self, session: PromptSession[str], question: str, **more: Any) -> str:
        """What was typed; the loop's own handling of signals stays as it is."""
        try:
            return await session.prompt_async(question, handle_sigint=False, set_exception_handler=False, **more)
        except (KeyboardInterrupt, EOFError):
            raise DetachAware from None


def _giving() -> Any:
    """Alt-Enter, Ctrl-D after some words, and Enter behind a line with a single dot or a command give the text."""
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
