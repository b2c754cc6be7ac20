"""Lines made of spans, each span with the part it plays. Every text surface is laid out here, once.

A surface without colours joins the spans; the terminal gives each role a style. Participants' words are cleaned when
they become a span, so no surface can show a control character.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from disputatio.motion import clean
from disputatio.report.columns import chopped, columns, pad, pieces


class Role(StrEnum):
    """What part a span plays."""

    PLAIN = "plain"
    TITLE = "title"
    LABEL = "label"
    MARK = "mark"
    LEAD = "lead"
    QUIET = "quiet"
    WARNING = "warning"
    PRO = "pro"
    CON = "con"
    JUDGE = "judge"
    UPHELD = "upheld"
    PARTLY = "partly"
    REFUTED = "refuted"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one line, or of a text that is still to be broken into lines."""

    text: str
    role: Role = Role.PLAIN


Line: TypeAlias = tuple[Span, ...]


def span(text: str, role: Role = Role.PLAIN) -> Span:
    """A span of ``text``, cleaned."""
    return Span(clean(text), role)


def plain(line: Line) -> str:
    """The line without roles."""
    return "".join(row.text for row in line).rstrip()


def trimmed(line: Sequence[Span]) -> Line:
    """The line without the spaces at its end."""
    rows = list(line)
    while rows and not rows[-1].text.strip(" "):
        rows.pop()
    if rows:
        rows[-1] = Span(rows[-1].text.rstrip(" "), rows[-1].role)
    return tuple(rows)


def line_columns(line: Line) -> int:
    """The columns of a line."""
    return sum(columns(row.text) for row in line)


def flow(spans: Sequence[Span], width: int, *, first: Line = (), hang: int = 0) -> list[Line]:
    """``spans`` broken into lines of at most ``width`` columns.

    Args:
        spans: the text; a line feed in it ends a line.
        width: the most columns of a line.
        first: what the first line begins with.
        hang: the columns that the other lines are indented by.
    """
    hang = min(hang, max(0, width - 12))
    rows: list[list[Span]] = [list(first)]
    used = line_columns(first)
    fresh = True
    for role, gap, piece in _laid(spans):
        size = columns(piece)
        space = 0 if fresh or gap != " " else 1
        if gap == "\n" or (used + space + size > width and not (fresh and used <= hang)):
            rows.append([Span(" " * hang)])
            used, fresh, space = hang, True, 0
        parts = chopped(piece, width - max(used, hang)) if used + size > width else [piece]
        for number, part in enumerate(parts):
            if number:
                rows.append([Span(" " * hang)])
                used = hang
            _join(rows[-1], " " * space + part, role)
            used, fresh, space = used + space + columns(part), False, 0
    return [tuple(row) for row in rows]


def _laid(spans: Iterable[Span]) -> Iterable[tuple[Role, str, str]]:
    open_gap = ""
    for row in spans:
        for gap, piece in pieces(row.text):
            yield row.role, gap or open_gap, piece
            open_gap = ""
        open_gap = " " if row.text.endswith(" ") else open_gap


def _join(line: list[Span], text: str, role: Role) -> None:
    if line and line[-1].role is role:
        line[-1] = Span(line[-1].text + text, role)
    else:
        line.append(Span(text, role))


def labelled(label: str, spans: Sequence[Span], width: int, *, column: int) -> list[Line]:
    """``spans`` to the right of ``label``; the text begins at ``column``."""
    return flow(spans, width, first=(Span(pad(label, column), Role.LABEL),), hang=column)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. ``flexible`` takes what width the others leave."""

    title: str
    flexible: bool = False


def table(head: Sequence[Column], body: Sequence[Sequence[Span]], width: int, *, indent: int = 2) -> list[list[Line]]:
    """A table as groups of lines: the head, then one group for each row. One column is flexible."""
    rows = [[Span(column.title, Role.QUIET) for column in head], *body]
    sizes = [max(columns(row[place].text) for row in rows) for place in range(len(head))]
    indents = _left(head, sizes, width, indent)
    sizes = [max(8, min(size, indents)) if column.flexible else size for size, column in zip(sizes, head, strict=True)]
    return [_table_row(row, sizes, indent) for row in rows]


def fitting_table(
    head: Sequence[Column], body: Sequence[Sequence[Span]], width: int, narrowest: int
) -> list[Line] | None:
    """The lines of a table, or None where its flexible column would have less than ``narrowest`` columns."""
    sizes = [
        max([columns(column.title), *(columns(row[place].text) for row in body)]) for place, column in enumerate(head)
    ]
    if _left(head, sizes, width, 2) < narrowest:
        return None
    return [line for group in table(head, body, width) for line in group]


def _left(head: Sequence[Column], sizes: Sequence[int], width: int, indent: int) -> int:
    """The columns that the rigid ones leave to the flexible one."""
    rigid = sum(size for size, column in zip(sizes, head, strict=True) if not column.flexible)
    return width - indent - rigid - 2 * (len(head) - 1)


def _table_row(row: Sequence[Span], sizes: Sequence[int], indent: int) -> list[Line]:
    cells = [flow((cell,), size) for cell, size in zip(row, sizes, strict=True)]
    lines: list[Line] = []
    for number in range(max(map(len, cells))):
        line: list[Span] = [Span(" " * indent)]
        for cell, size in zip(cells, sizes, strict=True):
            spans = cell[number] if number < len(cell) else ()
            line += [*spans, Span(" " * (size - line_columns(spans) + 2))]
        lines.append(trimmed(line))
    return lines
