"""Blocks of a document. A presenter makes them of a debate, and every surface renders them in its own way.

A presenter knows formats and no surface; a renderer knows blocks and no format. Words of participants, evidence and
people are data in every block; the renderers escape them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from disputatio.report.verdict import StructuredReading


class Tone(StrEnum):
    """How to read an entry. A tone never says more than the words do."""

    PLAIN = "plain"
    DECISION = "decision"
    DOUBT = "doubt"
    WARNING = "warning"
    QUIET = "quiet"


@dataclass(frozen=True, slots=True)
class Title:
    """The title of a document, with facts such as an id and a status.

    Plain text has no titles, so ``label`` precedes it there. So no title can pass for a line of the program.
    """

    text: str
    facts: tuple[str, ...] = ()
    label: str = "Title"


@dataclass(frozen=True, slots=True)
class Entry:
    """A label with its texts.

    Where room is short, as in a terminal, ``most_lines`` of each text are shown and the rest is cut; 0 cuts nothing.
    Several texts of a ``numbered`` entry are counted. ``place`` is the section of the document with more about it.
    """

    label: str
    texts: tuple[str, ...]
    tone: Tone = Tone.PLAIN
    most_lines: int = 0
    numbered: bool = False
    place: str = ""

    @property
    def rows(self) -> tuple[str, ...]:
        """The texts that hold anything."""
        return tuple(text for text in self.texts if text)


@dataclass(frozen=True, slots=True)
class Entries:
    """Entries in their order, the most important first."""

    rows: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph in the program's words. ``strong`` marks a finding that no reader may overlook."""

    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels with their texts."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: its content.
        mark: the seat whose colour it has; empty for none.
        note: a remark below the text.
        turn: the path of the turn that it leads to; empty for none.
        share: the length of a bar next to the text, 0 to 1; None for no bar.
    """

    text: str
    mark: str = ""
    note: str = ""
    turn: str = ""
    share: float | None = None

    @property
    def with_note(self) -> str:
        """The text and the remark on one line."""
        return f"{self.text} ({self.note})" if self.note else self.text


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; its first row is the head.

    Attributes:
        head: the titles of the columns.
        rows: the cells.
        narrow: the columns of hashes and ids.
        numbers: the columns of numbers.
        details: the columns that are left out where room is short, as in a terminal.
        names_rows: whether the first column names the rows.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    narrow: frozenset[int] = frozenset()
    numbers: frozenset[int] = frozenset()
    details: frozenset[int] = frozenset()
    names_rows: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """Words of a participant, under who said them. ``marks`` is what kind of words they are."""

    mark: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A text exactly as it is kept, such as a prompt, with its title and its SHA-256."""

    title: str
    digest: str
    text: str


@dataclass(frozen=True, slots=True)
class Under:
    """A heading inside a section. ``anchor`` is empty where nothing points to it."""

    title: str


@dataclass(frozen=True, slots=True)
class Points:
    """Findings under their labels, each with one or several texts. ``brief`` labels are no headings of their own."""

    rows: tuple[Entry, ...]
    brief: bool = False


@dataclass(frozen=True, slots=True)
class Preformatted:
    """A text whose lines must stay as they are."""

    text: str


@dataclass(frozen=True, slots=True)
class ArgumentTrace:
    """Every argument with the responses to it and its standing, as judged and as computed."""

    verdict: StructuredReading


Block: TypeAlias = (
    Title
    | Entries
    | Paragraph
    | Bullets
    | Facts
    | Grid
    | Said
    | Verbatim
    | Under
    | Points
    | Preformatted
    | ArgumentTrace
)


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a document.

    Attributes:
        title: its heading.
        blocks: its content.
        note: what regulation or guidance it answers; empty for none.
        appendix: whether it is an appendix.
        key: its name in addresses.
        is_detail: whether it is left out where room is short, as in a terminal.
        is_at_turns: whether it is left out where each turn shows its own part of it, as on the page.
    """

    title: str
    blocks: tuple[Block, ...]
    note: str = ""
    appendix: bool = False
    key: str = ""
    is_detail: bool = False
    is_at_turns: bool = False


def grid(
    head: Iterable[str],
    rows: Iterable[Iterable[Cell | str]],
    narrow: Iterable[int] = (),
    *,
    numbers: Iterable[int] = (),
    details: Iterable[int] = (),
    names_rows: bool = False,
) -> Grid:
    """A table of cells, and of anything that gives texts."""
    cells = tuple(tuple(cell if isinstance(cell, Cell) else Cell(str(cell)) for cell in row) for row in rows)
    return Grid(tuple(head), cells, frozenset(narrow), frozenset(numbers), frozenset(details), names_rows)
