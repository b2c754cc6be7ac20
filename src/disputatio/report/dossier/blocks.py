"""What a dossier is made of: numbered sections of blocks."""

from __future__ import annotations

from dataclasses import dataclass

from disputatio.report.block_markdown import escaped, render_block, render_table
from disputatio.report.blocks import Section


@dataclass(frozen=True, slots=True)
class Dossier:
    """The whole document. ``caution`` is printed on its first page and may be empty."""

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


def dossier_markdown(dossier: Dossier) -> str:
    """The whole document."""
    blocks = [f"# {escaped(dossier.title)}: {escaped(dossier.subject)}"]
    blocks += [f"> **{escaped(dossier.caution)}**"] if dossier.caution else []
    blocks.append(render_table(("", ""), dossier.facts))
    numbered = dossier.numbered()
    blocks.append("## Contents")
    blocks.append("\n".join(f"- {number}. {escaped(row.title)}" for number, row in numbered))
    for number, section in numbered:
        blocks += _section(number, section)
    return "\n\n".join(blocks) + "\n"


def _section(number: str, section: Section) -> list[str]:
    name = f"Appendix {number}" if section.appendix else number
    blocks = [f"## {name}. {escaped(section.title)}"]
    blocks += [f"*{escaped(section.note)}*"] if section.note else []
    return [*blocks, *(render_block(row) for row in section.blocks)]
