"""What a dossier is made of: sections of paragraphs, facts, tables and words of participants. Both forms render these.

Words of participants, evidence and people are data in every block; the renderers escape them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias


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


Block: TypeAlias = Paragraph | Bullets | Facts | Grid | Said | Verbatim | Under


@dataclass(frozen=True, slots=True)
class Section:
    """A numbered section. ``note`` says under its title what regulation or guidance it answers."""

    title: str
    blocks: tuple[Block, ...]
    note: str = ""
    appendix: bool = False


@dataclass(frozen=True, slots=True)
class Dossier:
    """The whole document. ``caution`` stands on its first page and may be empty."""

    id: str
    title: str
    subject: str
    caution: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]

    def numbered(self) -> list[tuple[str, Section]]:
        """The sections with their numbers: 1, 2, ... and A, B, ... for appendices."""
        plain = [row for row in self.sections if not row.appendix]
        extra = [row for row in self.sections if row.appendix]
        return [
            *((str(number), row) for number, row in enumerate(plain, start=1)),
            *((chr(ord("A") + number), row) for number, row in enumerate(extra)),
        ]


def grid(head: Iterable[str], rows: Iterable[Iterable[str]], narrow: Iterable[int] = ()) -> Grid:
    """A table of anything that gives texts."""
    return Grid(tuple(head), tuple(tuple(map(str, row)) for row in rows), frozenset(narrow))
