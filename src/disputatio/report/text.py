"""A debate as plain text."""

from __future__ import annotations

from disputatio.report.addenda import addenda_lines
from disputatio.report.baselines import baseline_lines, table_of
from disputatio.report.briefing import advice_lines, result_lines
from disputatio.report.lines import Line, plain
from disputatio.report.reading import DebateReport
from disputatio.report.transcript import NARROWEST, caution_lines, head_lines, transcript_lines
from disputatio.report.verdict import verdict_sentence


def report_lines(report: DebateReport, width: int) -> list[Line]:
    """A whole debate, laid out: its head, its heading where something is missing, what was said, what came of it."""
    lines = head_lines(report, width)
    caution = caution_lines(report, width)
    lines += [(), *caution] if caution else []
    lines += transcript_lines(report, width)
    result = result_lines(report, width)
    lines += [(), *result] if result else []
    lines += baseline_lines(table_of(report, verdict_sentence(report)), width)
    return [*lines, *addenda_lines(report.addenda, width), (), *advice_lines(report, width)]


def render_text(report: DebateReport, width: int = 80) -> str:
    """The debate as plain text without control characters, at most ``width`` columns wide (40 or more)."""
    return joined(report_lines(report, max(NARROWEST, width)))


def render_result_text(report: DebateReport, width: int = 80) -> str:
    """Only what came of the debate, as plain text."""
    width = max(NARROWEST, width)
    after = baseline_lines(table_of(report, verdict_sentence(report)), width)
    after += addenda_lines(report.addenda, width)
    return joined([*result_lines(report, width), *after, (), *advice_lines(report, width)])


def joined(lines: list[Line]) -> str:
    """Lines as text, each ended by a line feed."""
    return "".join(f"{plain(line)}\n" for line in lines)
