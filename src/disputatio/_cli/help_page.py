"""The pages of ``--help``, drawn from ``help_pages.json``: no command, and no library that draws, is imported for them.

They are the pages that Typer draws with the commands imported, which takes many times as long; a test holds the two
together, letter for letter, at several widths. What does not fit as it stands is left to Typer.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import TextWrapper
from typing import Any, Final, TypeAlias

PAGES: Final = os.path.join(os.path.dirname(__file__), "help_pages.json")  # noqa: PTH118, PTH120  (pathlib takes longer)
"""Written by ``disputatio._cli.help_writing``."""

Painter: TypeAlias = Callable[[str, str], str]
_BOLD, _DIM, _NAME, _SHORT, _TYPE, _USAGE = "1", "2", "1;36", "1;32", "1;33", "1;33"
_TYPE_SIGN, _REQUIRED, _REQUIRED_NOTE = "1;2;33", "31", "2;31"
_GAP: Final = 2
"""Columns between the columns of a table. Two of them, for the opposites of flags, are always empty here."""
_OPTIONS_IN_TEXT: Final = re.compile(r"(?<!\w)(?:--[\w-]+|-\w+(?![a-zA-Z0-9]))")
_SIGNS_IN_TYPE: Final = re.compile(r"^[\[<]|\||[\]>](?=(?:\.\.\.)?$)")


class _TooNarrowError(Exception):
    """Something would have to be cut or folded."""


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


def help_page(words: Sequence[str], columns: int, *, colours: bool) -> str | None:
    """The page of a command, ``columns`` wide.

    Args:
        words: what calls the command after ``disputatio``; nothing for the page of all commands.
        columns: how wide it is.
        colours: whether it has escape sequences.

    Returns:
        None where ``words`` call no command, or the page does not fit into so many columns.
    """
    with open(PAGES, encoding="utf-8") as file:  # noqa: PTH123
        page = json.load(file).get(" ".join(words))
    if page is None:
        return None
    try:
        return "\n".join(_lines(page, columns, _painted if colours else _plain)) + "\n"
    except _TooNarrowError:
        return None


def _lines(page: dict[str, Any], columns: int, paint: Painter) -> Iterator[str]:
    empty = " " * columns
    usage = f"Usage: {page['usage']}"
    if len(usage) > columns - 2:
        raise _TooNarrowError
    painted = f"{paint('Usage:', _USAGE)} {paint(page['usage'], _BOLD)}"
    yield from (empty, f" {painted}{' ' * (columns - 1 - len(usage))}", empty)
    for place, text in enumerate(page["about"]):
        style = _DIM if place else ""
        for line in _wrapped(text, columns - 2):
            yield f" {_help_painted(line, paint, style)}{' ' * (columns - 1 - len(line))}"
        yield empty
    for title, rows in page["panels"]:
        yield from _panel(title, columns, _option_lines(rows, columns - 4, paint), paint)
    if page["commands"]:
        yield from _panel("Commands", columns, _command_lines(page["commands"], columns - 4, paint), paint)
    if page["epilog"]:
        yield empty
        for line in _wrapped(page["epilog"], columns - 2):
            yield f" {line}".ljust(columns)
        yield empty


def _panel(title: str, columns: int, rows: Iterable[str], paint: Painter) -> Iterator[str]:
    yield paint(f"╭─ {title} ".ljust(columns - 1, "─") + "╮", _DIM)
    for row in rows:
        yield f"{paint('│', _DIM)} {row} {paint('│', _DIM)}"
    yield paint("╰" + "─" * (columns - 2) + "╯", _DIM)


def _option_lines(rows: Sequence[Sequence[str]], columns: int, paint: Painter) -> Iterator[str]:
    """A table of options: the star of what is required, names, letters, types, and what is said of each."""
    star, long, short, kind = (max(len(row[place]) for row in rows) for place in range(4))
    gap = " " * _GAP
    before = (star + _GAP if star else 0) + long + _GAP + short + 3 * _GAP + kind + _GAP
    # A column as wide as that of the texts would be narrowed with it.
    if columns - before < max(long, short, kind) + 1:
        raise _TooNarrowError
    for required, name, letter, type_, about, note in rows:
        left = f"{paint(required, _REQUIRED)}{' ' * (star - len(required))}{gap}" if star else ""
        left += f"{paint(name, _NAME)}{' ' * (long - len(name))}{gap}"
        left += f"{paint(letter, _SHORT if letter[:1] == '-' else '')}{' ' * (short - len(letter))}{gap * 3}"
        left += f"{_type_painted(type_, paint)}{' ' * (kind - len(type_))}{gap}"
        yield from _beside(left, before, _told(about, note, columns - before, paint), columns)


def _told(about: str, note: str, columns: int, paint: Painter) -> Iterator[tuple[int, str]]:
    """What is said of an option, line by line, each with its length; a note stands behind it where there is room."""
    style = _REQUIRED_NOTE if note == "[required]" else _DIM
    if about and note and len(about) + 1 + len(note) <= columns:
        yield len(about) + 1 + len(note), f"{_help_painted(about, paint)} {paint(note, style)}"
        return
    for line in _wrapped(about, columns) if about or not note else ():
        yield len(line), _help_painted(line, paint)
    for line in _wrapped(note, columns) if note else ():
        yield len(line), paint(line, style)


def _command_lines(rows: Sequence[Sequence[str]], columns: int, paint: Painter) -> Iterator[str]:
    longest = max(len(name) for name, _ in rows)
    for name, about in rows:
        told = ((len(line), line) for line in _wrapped(about, columns - longest - _GAP))
        yield from _beside(paint(name, _NAME) + " " * (longest - len(name) + _GAP), longest + _GAP, told, columns)


def _beside(left: str, taken: int, lines: Iterable[tuple[int, str]], columns: int) -> Iterator[str]:
    """``left``, which takes so many columns, and the lines beside it, each with its length."""
    for length, line in lines:
        yield left + line + " " * (columns - taken - length)
        left = " " * taken


def _wrapped(text: str, columns: int) -> Sequence[str]:
    wrapper = TextWrapper(columns, break_long_words=False, break_on_hyphens=False)
    lines = [line for paragraph in text.split("\n") for line in wrapper.wrap(paragraph) or [""]]
    if any(len(line) > columns for line in lines):
        raise _TooNarrowError
    return lines


def _help_painted(line: str, paint: Painter, style: str = "") -> str:
    """A line of text, with the options it names in their colours."""
    done, painted = 0, ""
    for found in _OPTIONS_IN_TEXT.finditer(line):
        colour = _NAME if found[0].startswith("--") else _SHORT
        painted += paint(line[done : found.start()], style) + paint(found[0], colour)
        done = found.end()
    return painted + paint(line[done:], style)


def _type_painted(text: str, paint: Painter) -> str:
    """What an option takes, with the signs around and between its words less bright."""
    done, painted = 0, ""
    for found in _SIGNS_IN_TYPE.finditer(text):
        painted += paint(text[done : found.start()], _TYPE) + paint(found[0], _TYPE_SIGN)
        done = found.end()
    return painted + paint(text[done:], _TYPE)


def _painted(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if text and style else text


def _plain(text: str, style: str) -> str:  # noqa: ARG001  (a painter)
    return text
