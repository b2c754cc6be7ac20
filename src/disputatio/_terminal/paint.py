"""Gives laid-out lines their colours, and puts them on a Rich console as text that is never read as markup."""

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


def print_result(console: Console, report: DebateReport, store: str = "") -> None:
    """Print what came of the debate, its first screen first. ``store`` is where commands must look for it."""
    lines: list[Line] = [(), *result_lines(report, max(NARROWEST, console.width), store)]
    put(console, lines, styled=_styled(console))


def print_report(console: Console, report: DebateReport, detail: Detail = Detail.FULL, store: str = "") -> None:
    """Print a recorded debate: in brief, on a few screens, or whole."""
    put(console, report_lines(report, max(NARROWEST, console.width), detail, store), styled=_styled(console))


def print_interrupted(console: Console, debate_id: str) -> None:
    """Say that the debate was stopped, that nothing is lost, and how to go on."""
    command = Span(f"disputatio resume {one_line(debate_id, 80)}", Role.LEAD)
    lines: list[Line] = [
        (),
        (span("Stopped. ", Role.WARNING), Span("What was said and paid is kept, and is not asked or paid again.")),
        (Span("Go on with it: "), command),
    ]
    put(console, lines, styled=_styled(console))


def _styled(console: Console) -> bool:
    return console.is_terminal and not console.is_dumb_terminal
