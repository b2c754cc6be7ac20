"""What documents are made of: blocks that a presenter makes of a debate and that every surface renders in its own way.

A presenter knows formats and no surface; a renderer knows blocks and no format. Words of participants, evidence and
people are data in every block; the renderers escape them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Tone(StrEnum):
    """How an entry is to be read. No tone says what the words beside it do not say."""

    PLAIN = "plain"
    DECISION = "decision"
    DOUBT = "doubt"
    WARNING = "warning"
    QUIET = "quiet"


@dataclass(frozen=True, slots=True)
class Title:
    """The title of a document, and facts that stand beside it, such as an id and a status.

    Plain text has no type for titles: there ``label`` stands before it, so that no title can pass for a line of ours.
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
    """A paragraph of the document's own words. ``strong`` is a finding that nobody may overlook."""

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
class Grid:
    """A table; its first row is the head. ``narrow`` columns hold hashes, ids and numbers."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    narrow: frozenset[int] = frozenset()


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


Block: TypeAlias = Title | Entries | Paragraph | Bullets | Facts | Grid | Said | Verbatim | Under


def grid(head: Iterable[str], rows: Iterable[Iterable[str]], narrow: Iterable[int] = ()) -> Grid:
    """A table of anything that gives texts."""
    return Grid(tuple(head), tuple(tuple(map(str, row)) for row in rows), frozenset(narrow))
