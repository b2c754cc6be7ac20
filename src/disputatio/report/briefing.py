"""Lays out what a decision rests on: the argument trace table, what each judge found, the decision briefing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from disputatio.motion import one_line
from disputatio.report.advice import advice
from disputatio.report.columns import pad
from disputatio.report.custom_format import outcome_statements
from disputatio.report.judges import Opinion, compact
from disputatio.report.market import market_reading
from disputatio.report.market_lines import analyst_lines
from disputatio.report.match import match_reading
from disputatio.report.match_lines import match_lines
from disputatio.report.panel import panel_reading
from disputatio.report.panel_lines import panel_lines as decision_lines
from disputatio.report.reading import DebateReport
from disputatio.report.summary import TOLD_HEADINGS, is_told
from disputatio.report.text_spans import Column, Line, Role, Span, fitting_table, flow, line_columns, span
from disputatio.report.transcript import MEASURE, mark_role, seat_role, word_role
from disputatio.report.verdict import (
    NOT_TRUTH,
    FallacyLine,
    StructuredReading,
    TraceLine,
    five_headings,
    structured_reading,
    sureness,
)

_LABELS = 20
_NARROW = 72
_NARROW_JURY = 96
_WIDE = 110
_ROOMY = 90
_NARROWEST_CLAIM = 18
_SHORT = {"PARTIALLY_UPHELD": "PARTLY", "SPLIT": "split", "VOID": "void"}


def result_sections(report: DebateReport, width: int) -> list[list[Line]]:
    """The result below the first screen, section by section: what the decision rests on, in full."""
    verdict, headings, panel = structured_reading(report), five_headings(report), panel_reading(report)
    match = match_reading(report)
    if verdict is not None:
        return structured_sections(report, verdict, width)
    sure = sureness_lines(report, width) if report.closed else []
    if panel is not None:
        return [decision_lines(report, panel, width), sure]
    if match is not None:
        return [match_lines(match, width), sure]
    lines: list[Line] = []
    if headings is not None:
        lines = [(Span("Judge's finding", Role.TITLE),)]
        for title, text in headings:
            told = title in TOLD_HEADINGS and is_told(report, text, in_lines=True)
            lines += [] if told else _point(title, text, width)
    elif report.closed:
        for row in outcome_statements(report.outcome):
            points = "\n".join(f"{label}: {text}" if label else text for label, text in row.points)
            lines += _point(row.mark, row.lead or points, width)
        lines = [(Span("Outcome", Role.TITLE),), *lines] if lines else []
    return [lines, sure]


def structured_sections(report: DebateReport, verdict: StructuredReading, width: int) -> list[list[Line]]:
    """Trace table, what each judge found, and the decision briefing."""
    market = market_reading(report)
    sections = [analyst_lines(market, width)] if market is not None else []
    if verdict.trace:
        sections += [[(Span("Argument trace", Role.TITLE),), *trace_lines(verdict, width)]]
        sections += [difference_lines(verdict, width)]
    sections += [panel_lines(verdict, width)] if verdict.judged and verdict.jury.panel else []
    lines: list[Line] = []
    for label, texts in briefing_points(verdict):
        lines += _beside(label, shown, width) if (shown := untold(report, label, texts, in_lines=True)) else []
    title = [(Span("Decision briefing", Role.TITLE),)] if lines else []
    return [*sections, [*title, *lines], sureness_lines(report, width)]


def briefing_points(verdict: StructuredReading) -> list[tuple[str, list[str]]]:
    """The entries of the decision briefing; of what only a judge could say, nothing where nobody judged."""
    if verdict.points:
        return [(label, _numbered(texts)) for label, texts in verdict.points]
    agreed = [f"{row.id} {row.claim} ({row.conceded_by} conceded it)" for row in verdict.agreed]
    points = [("Agreed", agreed or ["nothing: no side conceded a point that the other still holds"])]
    if not verdict.trace:
        points = []
    if not verdict.judged:
        return points
    return [
        ("Key insight", _each(verdict, lambda row: row.key_insight) or [verdict.key_insight or "none was given"]),
        *points,
        ("Unresolved", _numbered(verdict.unresolved) or ["the judge named nothing"]),
        (
            "Recommendation",
            _each(verdict, lambda row: row.recommendation) or [verdict.recommendation or "none was given"],
        ),
        ("Fallacies", [fallacy_words(row) for row in verdict.fallacies] or ["none found"]),
        *([("No credit", [fallacy_words(row) for row in verdict.irregular])] if verdict.irregular else []),
    ]


def untold(report: DebateReport, label: str, texts: list[str], *, in_lines: bool = False) -> list[str]:
    """The texts of an entry of the briefing that the first screen does not state in full."""
    if label not in {"Recommendation", "Synthesis", "Unresolved", "Key disagreement", "Uncertain"}:
        return texts
    return [text for text in texts if not is_told(report, _NUMBER.sub("", text), in_lines=in_lines)]


_NUMBER = re.compile(r"^\d+\. ")


def _each(verdict: StructuredReading, said: Callable[[Opinion], str]) -> list[str]:
    """What each of several judges said; empty for one judge."""
    opinions = verdict.jury.opinions if verdict.jury.several else ()
    return [f"{row.judge}: {said(row) or 'none was given'}" for row in opinions]


def _numbered(texts: Sequence[str]) -> list[str]:
    return [f"{number}. {text}" for number, text in enumerate(texts, start=1)] if len(texts) > 1 else list(texts)


def fallacy_words(found: FallacyLine) -> str:
    """A fallacy or another breach in words: where it stands, what it is, and whether its words were found."""
    doubt = "" if found.quoted else " (nobody said these words)"
    return f'{found.place or found.argument}, {found.name}: "{found.words}"{doubt}'


def sureness_lines(report: DebateReport, width: int) -> list[Line]:
    """How sure the result is."""
    return _beside("How sure", list(sureness(report)), width)


def panel_lines(verdict: StructuredReading, width: int) -> list[Line]:
    """The verdict of a panel, and what each judge found."""
    measure = min(width, MEASURE)
    lines = flow([span(one_line(verdict.reading), Role.LEAD)], measure, first=(Span("Verdict  ", Role.TITLE),), hang=9)
    totals = ", ".join(
        f"{side} {'none' if total is None else f'{total:.2f}'}" for side, total in verdict.totals.items()
    )
    lines += flow([span(f"Scores together: {totals} ({NOT_TRUTH})", Role.QUIET)], measure, first=_INDENT, hang=4)
    for judge, found, after in verdict.jury.rows():
        name = Span(pad(one_line(judge, 24), 9), seat_role(judge))
        told = f"{found}; {after}" if after else found
        lines += flow([span(one_line(told, 300))], measure, first=(*_INDENT, name), hang=11)
    return lines


_INDENT = (Span("  "),)


def trace_lines(verdict: StructuredReading, width: int) -> list[Line]:
    """The argument trace table; stacked where the width does not hold a table."""
    if width < (_NARROW_JURY if verdict.jury.several else _NARROW):
        return [line for row in verdict.trace for line in _stacked(row, width)]
    scored = verdict.judged
    # Where there is no room for both, the judge's score comes before the computed strength.
    weighed = any(row.strength is not None for row in verdict.trace) and (width >= _ROOMY or not scored)
    head = [
        Column("id"),
        Column("claim", flexible=True),
        Column("drew"),
        Column("panel" if verdict.jury.several else verdict.judge),
        Column("computed"),
        *([Column("strength" if width >= _WIDE else "str")] if weighed else []),
        Column(""),
    ]
    if scored:
        head.insert(-1, Column("score"))
    if verdict.jury.several:
        head.insert(3, Column("judges"))
    rows = [_cells(row, scored=scored, weighed=weighed, several=verdict.jury.several) for row in verdict.trace]
    laid = fitting_table(head, rows, min(width, 140), _NARROWEST_CLAIM)
    return laid if laid is not None else [line for row in verdict.trace for line in _stacked(row, width)]


def difference_lines(verdict: StructuredReading, width: int) -> list[Line]:
    """Why judge and computation part, argument by argument."""
    measure = min(width, MEASURE)
    lines: list[Line] = []
    for row in verdict.trace:
        if row.differs:
            mark = Span(pad(one_line(row.id, 24), 7), mark_role(row.id, row.side))
            lines += flow(
                [
                    span("panel: " if verdict.jury.several else f"{verdict.judge}: ", Role.LABEL),
                    span(one_line(row.judged_reason, 300) or "no reason given"),
                ],
                measure,
                first=(Span("  "), mark),
                hang=9,
            )
            computed = [span("computed: ", Role.LABEL), span(one_line(row.computed_reason, 300))]
            lines += flow(computed, measure, first=(Span(" " * 9),), hang=9)
    return [(), (Span(f"Where {verdict.judge} and computation differ", Role.TITLE),), *lines] if lines else []


def _cells(row: TraceLine, *, scored: bool, weighed: bool, several: bool) -> list[Span]:
    cells = [
        Span(one_line(row.id, 24), mark_role(row.id, row.side)),
        span(one_line(row.claim)),
        span(drew_words(row), Role.QUIET),
        _standing(row.judged),
        _standing(row.computed),
        *([Span(strength_words(row), Role.QUIET)] if weighed else []),
        Span("<- differ" if row.differs else "", Role.WARNING),
    ]
    if scored:
        cells.insert(-1, Span("-" if row.score is None else f"{row.score:.2f}"))
    if several:
        cells.insert(3, span(compact(row.judges) or "-"))
    return cells


def strength_words(row: TraceLine) -> str:
    """The computed strength, 0 to 1."""
    return "-" if row.strength is None else f"{row.strength:.2f}"


def drew_words(row: TraceLine) -> str:
    """The responses an argument drew."""
    return one_line(", ".join(row.drew), 40) or "nothing"


def _standing(word: str | None) -> Span:
    if not word:
        return Span("-", Role.QUIET)
    shown = one_line(word, 24)
    return Span(_SHORT.get(shown, shown), word_role(shown))


def _stacked(row: TraceLine, width: int) -> list[Line]:
    mark = Span(pad(one_line(row.id, 24), 7), mark_role(row.id, row.side))
    lines = flow([span(one_line(row.claim))], width, first=(Span("  "), mark), hang=9)
    judged, computed = _standing(row.judged), _standing(row.computed)
    found = [
        span(f"drew {drew_words(row)}; judge ", Role.QUIET),
        judged,
        span(f" ({compact(row.judges)})" if len(row.judges) > 1 else "", Role.QUIET),
        Span("; computed ", Role.QUIET),
        computed,
        Span(f", strength {strength_words(row)}", Role.QUIET),
        Span("" if row.score is None else f", score {row.score:.2f}", Role.QUIET),
        Span(" <- differ" if row.differs else "", Role.WARNING),
    ]
    return [*lines, *flow(found, width, first=(Span(" " * 9),), hang=9)]


def advice_lines(report: DebateReport, width: int, store: str = "") -> list[Line]:
    """What is told beside a result."""
    return [line for text in advice(report, store) for line in unbroken(text, width, store)]


def unbroken(text: str, width: int, store: str) -> list[Line]:
    """A line of advice. A command that names a store stays whole, however long: it is there to be copied."""
    if store and store in text:
        return [(span(" ".join(text.split()), Role.QUIET),)]
    return flow([span(text, Role.QUIET)], width, hang=2)


def _point(label: str, text: str, width: int) -> list[Line]:
    return _beside(label, [text], width)


def _beside(label: str, texts: list[str], width: int) -> list[Line]:
    """One entry of the briefing."""
    measure = min(width, MEASURE)
    title: Line = (Span("  "), Span(pad(one_line(label, 60), _LABELS), Role.LABEL))
    lines: list[Line] = []
    if line_columns(title) > 2 + _LABELS or width < _NARROW:
        lines.append((Span("  "), Span(one_line(label, 60), Role.LABEL)))
        title = (Span(" " * 4),)
    column = line_columns(title)
    for number, text in enumerate(texts):
        first = title if number == 0 else (Span(" " * column),)
        lines += flow([span(text)], measure, first=first, hang=column + (2 if len(texts) > 1 else 0))
    return lines
