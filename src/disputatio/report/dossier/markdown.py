"""A dossier as Markdown: CommonMark with tables. Words of others are escaped, and can structure nothing."""

from __future__ import annotations

from disputatio.motion import clean
from disputatio.report.dossier.blocks import (
    Block,
    Bullets,
    Dossier,
    Facts,
    Grid,
    Paragraph,
    Said,
    Section,
    Under,
    Verbatim,
)
from disputatio.report.markdown import escaped


def dossier_markdown(dossier: Dossier) -> str:
    """The whole document."""
    blocks = [f"# {escaped(dossier.title)}: {escaped(dossier.subject)}"]
    blocks += [f"> **{escaped(dossier.caution)}**"] if dossier.caution else []
    blocks.append(_table(("", ""), dossier.facts))
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
    return [*blocks, *(_block(row) for row in section.blocks)]


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return f"**{escaped(block.text)}**" if block.strong else escaped(block.text)
        case Bullets():
            return "\n".join(f"- {escaped(row)}" for row in block.rows) or "None."
        case Facts():
            return _table(("", ""), block.rows)
        case Grid():
            return _table(block.head, block.rows)
        case Said():
            return "\n\n".join([f"**{escaped(block.mark)}**", *(_quoted(text) for text in block.texts)])
        case Verbatim():
            return f"**{escaped(block.title)}** (SHA-256 {escaped(block.digest)})\n\n{_indented(block.text)}"
        case Under():
            return f"### {escaped(block.title)}"


def _quoted(text: str) -> str:
    return "\n>\n".join(f"> {escaped(row)}" for row in clean(text).split("\n") if row.strip())


def _indented(text: str) -> str:
    """A code block by indentation: no text can end it."""
    return "\n".join(f"    {row}" for row in clean(text).split("\n"))


def _table(head: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> str:
    def cell(text: str) -> str:
        return "<br>".join(escaped(row) for row in clean(text).split("\n"))

    lines = [f"| {' | '.join(map(escaped, head))} |", f"| {' | '.join('---' for _ in head)} |"]
    return "\n".join([*lines, *(f"| {' | '.join(map(cell, row))} |" for row in rows)])
