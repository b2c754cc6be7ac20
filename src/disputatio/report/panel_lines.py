"""Lays out the decision of a panel: the votes after every phase, the debaters, the report, the findings."""

from __future__ import annotations

from disputatio.report.columns import pad
from disputatio.report.panel import CountReading, PanelReading, count_words, escalation_sentences
from disputatio.report.reading import DebateReport
from disputatio.report.text_spans import Column, Line, Role, Span, fitting_table, flow, span

_MEASURE = 100
_NARROWEST_TEXT = 20


def panel_lines(report: DebateReport, panel: PanelReading, width: int) -> list[Line]:
    """The decision first, then what it rests on."""
    measure = min(width, _MEASURE)
    lines = flow([span(panel.sentence, Role.LEAD)], measure, first=(Span("Decision  ", Role.TITLE),), hang=10)
    for text in escalation_sentences(report):
        lines += flow([span(text)], measure, first=(Span("  "),), hang=4)
    lines += [(), *_votes(panel, measure), (), *_debaters(panel, measure)]
    lines += [
        line for text in panel.notes for line in flow([span(text, Role.QUIET)], measure, first=(Span("  "),), hang=4)
    ]
    if panel.findings:
        lines += [(), (Span("Findings for the author", Role.TITLE),)]
        for name, stance, rationale in panel.findings:
            first = (Span("  "), span(pad(name, 10), Role.MARK), Span(" "))
            lines += flow([span(stance, Role.LEAD)], measure, first=first, hang=4)
            lines += flow([span(rationale)], measure, first=(Span("    "),), hang=4)
    lines += [(), (Span("Report", Role.TITLE),)]
    for row in panel.report_text.split("\n"):
        lines += flow([span(row)], measure, first=(Span("  "),), hang=4)
    return lines


def count_lines(count: CountReading, width: int) -> list[Line]:
    """One count, as it is told while the debate runs."""
    return flow([span(count_words(count), Role.LEAD)], min(width, _MEASURE), first=(Span("  "),), hang=4)


def _votes(panel: PanelReading, width: int) -> list[Line]:
    title = flow(
        [span(panel.rule_text, Role.QUIET)], width, first=(Span("Votes after each phase  ", Role.TITLE),), hang=2
    )
    rows = [
        [
            span(count.after, Role.LABEL),
            *(span(count.votes_for(option), Role.LEAD) for option in panel.options),
            span(count.result, Role.UPHELD if count.winner else Role.QUIET),
        ]
        for count in panel.counts
    ]
    head = [Column("after"), *(Column(option) for option in panel.options), Column("result", flexible=True)]
    laid = fitting_table(head, rows, width, _NARROWEST_TEXT)
    if laid is None:
        laid = [
            line
            for count in panel.counts
            for line in flow([span(count_words(count, panel.options))], width, first=(Span("  "),), hang=4)
        ]
    return [*title, *laid]


def _debaters(panel: PanelReading, width: int) -> list[Line]:
    rows = [
        [
            span(row.name, Role.MARK),
            span(", ".join(row.votes) or "-"),
            span(str(row.changed), Role.QUIET),
            span(f"{row.words} ({row.share})", Role.QUIET),
        ]
        for row in panel.debaters
    ]
    head = [Column("debater"), Column("votes in order", flexible=True), Column("changed"), Column("words")]
    laid = fitting_table(head, rows, width, _NARROWEST_TEXT)
    if laid is None:
        laid = []
        for row in panel.debaters:
            text = f"{', '.join(row.votes) or '-'}; changed {row.changed}, {row.words} words ({row.share})"
            laid += flow([span(text)], width, first=(Span("  "), span(f"{row.name}  ", Role.MARK)), hang=4)
    return [(Span("Debaters", Role.TITLE),), *laid]
