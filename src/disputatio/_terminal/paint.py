"""Gives laid-out lines their colours, and puts them on a Rich console as text that is never read as markup."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from disputatio.report.text_spans import Line, Role, trimmed

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

STYLES: dict[Role, str] = {
    Role.PLAIN: "",
    Role.TITLE: "bold",
    Role.LABEL: "dim",
    Role.MARK: "bold",
    Role.LEAD: "bold",
    Role.QUIET: "dim",
    Role.WARNING: "yellow",
    Role.PRO: "bold blue",
    Role.CON: "bold red",
    Role.JUDGE: "bold yellow",
    Role.UPHELD: "green",
    Role.PARTLY: "yellow",
    Role.REFUTED: "red",
    Role.UNCERTAIN: "dim",
}
"""Colours say nothing that the words beside them do not say."""


def painted(lines: Iterable[Line], encoding: str, *, styled: bool = True) -> Text:
    """The lines as one text, ended by no line feed; what ``encoding`` cannot write becomes a question mark."""
    from rich.text import Text

    text = Text(no_wrap=True, overflow="ignore", end="")
    for number, line in enumerate(lines):
        if number:
            text.append("\n")
        for row in trimmed(line):
            text.append(writable(row.text, encoding), STYLES[row.role] if styled else "")
    return text


def writable(text: str, encoding: str) -> str:
    """``text`` as ``encoding`` can write it."""
    if text.isascii():
        return text
    return text.encode(encoding, "replace").decode(encoding)


def put(console: Console, lines: list[Line], *, styled: bool = True) -> None:
    """Print lines that are laid out for the console's width."""
    if lines:
        console.print(painted(lines, console.encoding, styled=styled), soft_wrap=True)
