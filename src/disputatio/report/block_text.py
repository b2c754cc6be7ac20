"""Blocks as lines of text, for a terminal of any width of 40 columns or more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from disputatio.motion import one_line
from disputatio.report.blocks import (
    Block,
    Bullets,
    Entries,
    Entry,
    Facts,
    Grid,
    Paragraph,
    Said,
    Title,
    Tone,
    Under,
    Verbatim,
)
from disputatio.report.columns import columns, cut, pad
from disputatio.report.text_spans import Column, Line, Role, Span, flow, line_columns, span, table

MEASURE = 100
"""Sentences are not laid out wider than this: longer lines are hard to follow."""
_LABELS = 16
_NARROW = 60
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
            said = [line for text in block.texts for line in flow([span(text)], measure, first=(Span("  "),), hang=2)]
            return [(span(cut(block.mark, measure), Role.MARK),), *said]
        case Verbatim():
            said = flow([span(block.text)], measure, first=(Span("  "),), hang=2)
            return [(span(cut(block.title, measure), Role.MARK),), *said]
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
        told = f"{number}. {text}" if row.numbered and len(texts) > 1 else text
        lead = first if number == 1 else (Span(" " * hang),)
        deeper = 3 if row.numbered and len(texts) > 1 else 0
        laid = flow([span(told, _ROLES[row.tone])], width, first=lead, hang=hang + deeper)
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
    widest = max(range(len(block.head)), key=lambda place: max((len(row[place]) for row in block.rows), default=0))
    head = [Column(title, flexible=place == widest) for place, title in enumerate(block.head)]
    groups = table(head, [[span(one_line(cell)) for cell in row] for row in block.rows], width, indent=0)
    return [line for group in groups for line in group]
