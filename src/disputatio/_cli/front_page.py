"""The page of ``disputatio --help``, written from the index: no command, and no library that draws, is imported for it.

It is the page that Typer draws with every command imported, which takes ten times as long; a test holds the two
together for the usual widths. On what this module does not draw for, Typer draws.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import TextWrapper
from typing import Final, TypeAlias

from disputatio._cli.index import ABOUT, COMMANDS, EPILOG

_OPTIONS: Final = (
    ("--version", "", "", "Print the version."),
    ("--install-completion", "", "<bool>", "Install completion for the current shell."),
    (
        "--show-completion",
        "",
        "<bool>",
        "Show completion for the current shell, to copy it or customize the installation.",
    ),
    ("--help", "-h", "<bool>", "Show this message and exit."),
)
NARROWEST: Final = 72
"""Columns. In a narrower terminal names have to be cut, which is left to Typer."""
Painter: TypeAlias = Callable[[str, str], str]
_BOLD, _DIM, _NAME, _SHORT, _TYPE, _USAGE = "1", "2", "1;36", "1;32", "1;33", "1;33"


def drawn_here() -> bool:
    """Whether standard output is something this module draws for."""
    encoding = (getattr(sys.stdout, "encoding", "") or "").lower().replace("-", "")
    # Typer has a width of its own in this variable, and Windows' old console does not know escape sequences.
    return encoding == "utf8" and sys.platform != "win32" and "TERMINAL_WIDTH" not in os.environ


def width() -> int:
    """The columns there are to fill: what ``COLUMNS`` says, else those of the terminal, else 80."""
    said = os.environ.get("COLUMNS", "")
    if said.isdigit():
        return int(said)
    if os.environ.get("TERM", "").lower() not in {"dumb", "unknown"}:
        for stream in (0, 1, 2):
            try:
                return os.get_terminal_size(stream).columns or 80
            except OSError:
                continue
    return 80


def coloured() -> bool:
    """Whether whoever reads it sees colours."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "").lower() in {"dumb", "unknown"}:
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def front_page(columns: int, *, colours: bool) -> str:
    """The page, ``columns`` wide, which are at least ``NARROWEST``."""
    return "\n".join(_lines(columns, _painted if colours else _plain)) + "\n"


def _lines(columns: int, paint: Painter) -> Iterator[str]:
    empty = " " * columns
    yield empty
    usage = paint("Usage:", _USAGE) + " " + paint("disputatio [OPTIONS] COMMAND [ARGS]...", _BOLD)
    yield f" {usage}".ljust(columns + len(usage) - len("Usage: disputatio [OPTIONS] COMMAND [ARGS]..."))
    yield empty
    for place, paragraph in enumerate(ABOUT):
        for line in _wrapped(paragraph, columns - 2):
            yield f" {paint(line, _DIM) if place else line}" + " " * (columns - 1 - len(line))
        yield empty
    yield from _panel("Options", columns, _option_lines(columns - 4, paint), paint)
    yield from _panel("Commands", columns, _command_lines(columns - 4, paint), paint)
    yield empty
    for line in _wrapped(EPILOG, columns - 2):
        yield f" {line}".ljust(columns)
    yield empty


def _panel(title: str, columns: int, rows: Iterable[str], paint: Painter) -> Iterator[str]:
    yield paint(f"╭─ {title} ".ljust(columns - 1, "─") + "╮", _DIM)
    for row in rows:
        yield f"{paint('│', _DIM)} {row} {paint('│', _DIM)}"
    yield paint("╰" + "─" * (columns - 2) + "╯", _DIM)


def _option_lines(columns: int, paint: Painter) -> Iterator[str]:
    long, short, kind = (max(len(row[place]) for row in _OPTIONS) for place in range(3))
    for name, letter, type_, about in _OPTIONS:
        left = f"{paint(name, _NAME)}{' ' * (long - len(name) + 2)}{paint(letter, _SHORT)}{' ' * (short - len(letter))}"
        left += f"      {paint(type_, _TYPE)}{' ' * (kind - len(type_))}  "
        yield from _beside(left, long + short + kind + 10, about, columns)


def _command_lines(columns: int, paint: Painter) -> Iterator[str]:
    longest = max(map(len, COMMANDS))
    for name, (_, _, about) in COMMANDS.items():
        yield from _beside(paint(name, _NAME) + " " * (longest - len(name) + 2), longest + 2, about, columns)


def _beside(left: str, taken: int, about: str, columns: int) -> Iterator[str]:
    """``left``, which takes so many columns, and the text beside it."""
    for line in _wrapped(about, columns - taken):
        yield left + line.ljust(columns - taken)
        left = " " * taken


def _wrapped(text: str, columns: int) -> Sequence[str]:
    return TextWrapper(columns, break_long_words=False, break_on_hyphens=False).wrap(text)


def _painted(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if text else ""


def _plain(text: str, style: str) -> str:  # noqa: ARG001  (a painter)
    return text
