"""Lays out the argument trace for a terminal: the table, and why judge and computation differ."""

from __future__ import annotations

from disputatio.motion import one_line
from disputatio.report.columns import pad
from disputatio.report.judges import compact
from disputatio.report.text_spans import Column, Line, Role, Span, fitting_table, flow, span
from disputatio.report.transcript import MEASURE, mark_role, word_role
from disputatio.report.verdict import StructuredReading, TraceLine, drew_words, strength_words

_NARROW = 72
_NARROW_JURY = 96
_WIDE = 110
_ROOMY = 90
_NARROWEST_CLAIM = 18
_SHORT = {"PARTIALLY_UPHELD": "PARTLY", "SPLIT": "split", "VOID": "void"}


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


def _standing(word: str | None) -> Span:
    if not word:
        return Span("-", Role.QUIET)
    label = one_line(word, 24)
    return Span(_SHORT.get(label, label), word_role(label))


def _stacked(row: TraceLine, width: int) -> list[Line]:
    mark = Span(f"{pad(one_line(row.id, 24), 6)} ", mark_role(row.id, row.side))
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
