"""Print laid-out lines on a Rich console, in colours and without markup."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from disputatio.motion import one_line
from disputatio.report.reading import DebateReport
from disputatio.report.text import Detail, report_lines, result_lines
from disputatio.report.text_spans import Line, Role, Span, span, trimmed
from disputatio.report.transcript import NARROWEST

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
"""Colours add nothing that the words do not say."""


def paint(lines: Iterable[Line], encoding: str, *, styled: bool = True) -> Text:
    """The lines as one text without a final line feed. Characters that ``encoding`` lacks become question marks."""
    from rich.text import Text

    text = Text(no_wrap=True, overflow="ignore", end="")
    for number, line in enumerate(lines):
        if number:
            text.append("\n")
        for row in trimmed(line):
            text.append(writable(row.text, encoding), STYLES[row.role] if styled else "")
    return text


def writable(text: str, encoding: str) -> str:
    """``text`` with question marks for characters that ``encoding`` lacks."""
    if text.isascii():
        return text
    return text.encode(encoding, "replace").decode(encoding)


def print_lines(console: Console, lines: list[Line], *, styled: bool = True) -> None:
    """Print lines that fit the console's width."""
    if lines:
        console.print(paint(lines, console.encoding, styled=styled), soft_wrap=True)


def print_result(console: Console, report: DebateReport, store: str = "") -> None:
    """Print the result of the debate. ``store`` is the address that commands must name to find it."""
    lines: list[Line] = [(), *result_lines(report, max(NARROWEST, console.width), store)]
    print_lines(console, lines, styled=_styled(console))


def print_report(console: Console, report: DebateReport, detail: Detail = Detail.FULL, store: str = "") -> None:
    """Print a recorded debate, in as much detail as asked."""
    print_lines(console, report_lines(report, max(NARROWEST, console.width), detail, store), styled=_styled(console))


def print_interrupted(console: Console, debate_id: str) -> None:
    """Print that the debate was stopped, and how to continue."""
    command = Span(f"disputatio resume {one_line(debate_id, 80)}", Role.LEAD)
    lines: list[Line] = [
        (),
        (span("Stopped. ", Role.WARNING), Span("The record so far is safe. Nothing in it is asked or paid again.")),
        (Span("To continue: "), command),
    ]
    print_lines(console, lines, styled=_styled(console))


def _styled(console: Console) -> bool:
    return console.is_terminal and not console.is_dumb_terminal
