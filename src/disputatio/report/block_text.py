"""Blocks as lines of text, for a terminal of any width of 40 columns or more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from disputatio.motion import one_line
from disputatio.report.argument_trace import difference_lines, trace_lines
from disputatio.report.blocks import (
    ArgumentTrace,
    Block,
    Bullets,
    Cell,
    Entries,
    Entry,
    Facts,
    Grid,
    Paragraph,
    Points,
    Preformatted,
    Said,
    Section,
    Title,
    Tone,
    Under,
    Verbatim,
)
from disputatio.report.columns import columns, cut, pad
from disputatio.report.text_spans import Column, Line, Role, Span, fitting_table, flow, line_columns, span
from disputatio.report.transcript import seat_role

MEASURE = 100
"""Sentences are not laid out wider than this: longer lines are hard to follow."""
_LABELS = 16
_NARROW = 60
_POINT_LABELS = 20
_STACKED = 72
_NARROWEST_TEXT = 12
_INDENTED = (Grid, Points, ArgumentTrace, Under)
"""Blocks that are indented by their own layout."""
_ROLES = {
    Tone.PLAIN: Role.PLAIN,
    Tone.DECISION: Role.LEAD,
    Tone.DOUBT: Role.WARNING,
    Tone.WARNING: Role.WARNING,
    Tone.QUIET: Role.QUIET,
}


def block_lines(blocks: Iterable[Block], width: int) -> list[Line]:
    """``blocks`` laid out for ``width`` columns."""
    measure = min(width, MEASURE)
    return [line for block in blocks for line in _block(block, measure, width)]


def _block(block: Block, measure: int, width: int) -> list[Line]:
    match block:
        case Title():
            facts = cut(one_line("  ".join(block.facts)), measure)
            title = _entry(Entry(block.label, (block.text,), Tone.DECISION, most_lines=2), measure)
            return [(span(facts, Role.QUIET),), *title] if block.facts else title
        case Entries():
            return [line for row in block.rows for line in _entry(row, measure)]
        case Paragraph():
            return flow([span(block.text, Role.WARNING if block.strong else Role.PLAIN)], measure)
        case Bullets():
            return [line for row in block.rows for line in flow([span(row)], measure, first=(Span("- "),), hang=2)]
        case Facts():
            return _block(Entries(tuple(Entry(label, (text,)) for label, text in block.rows)), measure, width)
        case Grid():
            return _grid(block, width)
        case Said():
            body = [line for text in block.texts for line in flow([span(text)], measure, first=(Span("  "),), hang=2)]
            return [(span(cut(block.mark, measure), Role.MARK),), *body]
        case Verbatim():
            body = flow([span(block.text)], measure, first=(Span("  "),), hang=2)
            return [(span(cut(block.title, measure), Role.MARK),), *body]
        case Points():
            return _points(block, measure)
        case Preformatted():
            return [line for row in block.text.split("\n") for line in flow([span(row)], measure, hang=2)]
        case ArgumentTrace():
            return [*trace_lines(block.verdict, width), *difference_lines(block.verdict, width)]
        case Under():
            return [(), *flow([span(block.title, Role.TITLE)], measure)]


def _entry(row: Entry, width: int) -> list[Line]:
    label = f"{row.label}  "
    beside = width >= _NARROW and columns(label) <= _LABELS
    first: Line = (Span(pad(label, _LABELS), Role.LABEL),) if beside else (span(f"{row.label}: ", Role.LABEL),)
    hang = _LABELS if beside else 2
    lines: list[Line] = []
    texts = row.rows
    for number, text in enumerate(texts, start=1):
        numbered = f"{number}. {text}" if row.numbered and len(texts) > 1 else text
        lead = first if number == 1 else (Span(" " * hang),)
        deeper = 3 if row.numbered and len(texts) > 1 else 0
        laid = flow([span(numbered, _ROLES[row.tone])], width, first=lead, hang=hang + deeper)
        lines += shortened(laid, row.most_lines, width) if row.most_lines else laid
    return lines


def shortened(lines: Sequence[Line], most: int, width: int) -> list[Line]:
    """At most ``most`` lines; the last of them ends in dots where others are left out."""
    if len(lines) <= most:
        return list(lines)
    *whole, last = lines[:most]
    *before, end = last or (Span(""),)
    room = width - line_columns(tuple(before)) - 4
    words = end.text if columns(end.text) <= room else cut(end.text, max(1, room)).rstrip(". …")
    return [*whole, (*before, Span(f"{words.rstrip()} ...", end.role))]


def _grid(block: Grid, width: int) -> list[Line]:
    """A table without its details; a row to a paragraph where the width does not hold the table."""
    places = [place for place in range(len(block.head)) if place not in block.details]
    widest = max(places, key=lambda place: max((len(row[place].with_note) for row in block.rows), default=0))
    head = [Column(block.head[place], flexible=place == widest) for place in places]
    rows = [[_cell(row[place]) for place in places] for row in block.rows]
    laid = fitting_table(head, rows, width, _NARROWEST_TEXT) if rows else []
    if laid is not None:
        return laid
    lines: list[Line] = []
    for cells in rows:
        named = [(head[number].title, cell) for number, cell in enumerate(cells) if number]
        rest = "; ".join(f"{title} {cell.text}".strip() for title, cell in named if cell.text not in {"", "-"})
        lines += flow([Span(f"{cells[0].text}  ", cells[0].role), span(rest)], width, first=(Span("  "),), hang=4)
    return lines


def _cell(cell: Cell) -> Span:
    return span(one_line(cell.with_note), seat_role(cell.mark) if cell.mark else Role.PLAIN)


def _points(block: Points, width: int) -> list[Line]:
    """Labels, each followed by its text on the same line, or below if the label is long or the width small."""
    lines: list[Line] = []
    for row in block.rows:
        label = one_line(row.label, 60)
        first: Line = (Span("  "), Span(pad(label, _POINT_LABELS), Role.LABEL))
        if line_columns(first) > 2 + _POINT_LABELS or width < _STACKED:
            lines.append((Span("  "), Span(label, Role.LABEL)))
            first = (Span(" " * 4),)
        column, several = line_columns(first), len(row.rows) > 1
        for number, text in enumerate(row.rows, start=1):
            lead = first if number == 1 else (Span(" " * column),)
            words = f"{number}. {text}" if row.numbered and several else text
            lines += flow([span(words)], width, first=lead, hang=column + (2 if several else 0))
    return lines


def section_lines(section: Section, width: int) -> list[Line]:
    """A section: its title, and its blocks, indented where they are sentences."""
    lines: list[Line] = [(span(section.title, Role.TITLE),)]
    for block in section.blocks:
        laid = block_lines([block], width if isinstance(block, _INDENTED) else width - 2)
        lines += laid if isinstance(block, _INDENTED) else [(Span("  "), *line) for line in laid]
    return lines
