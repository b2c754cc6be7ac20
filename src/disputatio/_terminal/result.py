"""Prints what came of a debate, a whole recorded debate, and how to go on with an interrupted one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disputatio._terminal.paint import put
from disputatio.motion import one_line
from disputatio.report.reading import DebateReport
from disputatio.report.text import Detail, report_lines, result_lines
from disputatio.report.text_spans import Line, Role, Span, span
from disputatio.report.transcript import NARROWEST

if TYPE_CHECKING:
    from rich.console import Console


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
