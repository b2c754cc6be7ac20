"""What a dossier is made of: numbered sections of blocks."""

from __future__ import annotations

from dataclasses import dataclass

from disputatio.report.blocks import Block


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
