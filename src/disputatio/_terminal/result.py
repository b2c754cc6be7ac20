"""Prints what came of a debate, a whole recorded debate, and how to go on with an interrupted one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disputatio._terminal.paint import put
from disputatio.motion import one_line
from disputatio.report.baselines import baseline_lines, table_of
from disputatio.report.briefing import advice_lines, result_lines
from disputatio.report.lines import Line, Role, Span, span
from disputatio.report.reading import DebateReport
from disputatio.report.text import report_lines
from disputatio.report.transcript import NARROWEST
from disputatio.report.verdict import verdict_sentence

if TYPE_CHECKING:
    from rich.console import Console


def print_result(console: Console, report: DebateReport) -> None:
    """Print what came of the debate, its heading first where something is missing."""
    width = max(NARROWEST, console.width)
    beside = baseline_lines(table_of(report, verdict_sentence(report)), width)
    lines: list[Line] = [(), *result_lines(report, width), *beside, (), *advice_lines(report, width)]
    put(console, lines, styled=_styled(console))


def print_report(console: Console, report: DebateReport) -> None:
    """Print a whole debate: its head, all that was said, what came of it."""
    put(console, report_lines(report, max(NARROWEST, console.width)), styled=_styled(console))


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
