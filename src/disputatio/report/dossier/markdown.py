"""A dossier as Markdown: CommonMark with tables. Words of others are escaped, and can structure nothing."""

from __future__ import annotations

from disputatio.report.block_markdown import escaped, render_block, render_table
from disputatio.report.dossier.blocks import Dossier, Section


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
