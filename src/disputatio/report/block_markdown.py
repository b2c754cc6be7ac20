"""Blocks as Markdown. What participants wrote can be read in it and can structure nothing.

Every character of theirs that Markdown or HTML could take for structure is escaped: no heading, list, table, link,
image, raw HTML or automatic link can come out of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from disputatio.motion import clean, one_line
from disputatio.report.blocks import (
    ArgumentTrace,
    Block,
    Bullets,
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
from disputatio.report.judges import compact
from disputatio.report.verdict import StructuredReading, drew_words, strength_words

_SPECIAL = re.compile(r"[\\`*\[\]<>&|~$]|(?<![^\W_])_|_(?![^\W_])")
_LINE_START = re.compile(r"^()([-+#=])|^(\d+)([.)])(?=\s|$)")
_AUTOLINK = re.compile(r"(?i)(www)\.|(:)(?=//)|(@)|(?<=mailto)(:)|(?<=xmpp)(:)")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def escaped(text: str) -> str:
    """``text`` on one line, as Markdown that shows exactly it."""
    return _escaped(one_line(text))


def escaped_inside(text: str) -> str:
    """``text`` on one line, where no line can begin with it: in a cell of a table, or behind a label."""
    return _escaped_words(one_line(text))


def _escaped(line: str) -> str:
    line = _escaped_words(line)
    return _LINE_START.sub(lambda found: _behind(found, 1, 2) if found.group(2) else _behind(found, 3, 4), line)


def _escaped_words(line: str) -> str:
    line = _SPECIAL.sub(lambda found: _ENTITIES.get(found.group(), f"\\{found.group()}"), line)
    return _AUTOLINK.sub(lambda found: f"{found.group(1)}\\." if found.group(1) else f"\\{found.group()}", line)


def _behind(found: re.Match[str], before: int, sign: int) -> str:
    return f"{found.group(before)}\\{found.group(sign)}"


def paragraph(text: str) -> str:
    """``text`` with its line ends kept."""
    rows = (_escaped(" ".join(row.split())) for row in clean(text).split("\n"))
    return "  \n".join(row for row in rows if row)


def render_block(block: Block) -> str:
    """One block as Markdown, without a line feed at its end."""
    match block:
        case Title():
            return _title(block)
        case Entries():
            return "\n\n".join(_entry(row) for row in block.rows)
        case Paragraph():
            return f"**{escaped(block.text)}**" if block.strong else escaped(block.text)
        case Bullets():
            return "\n".join(f"- {escaped(row)}" for row in block.rows) or "None."
        case Facts():
            return render_table(("", ""), block.rows, breaks=True)
        case Grid():
            return render_table(block.head, ((cell.with_note for cell in row) for row in block.rows), breaks=True)
        case Said():
            return "\n\n".join([f"**{escaped(block.mark)}**", *(_quoted(text) for text in block.texts)])
        case Verbatim():
            return f"**{escaped(block.title)}** (SHA-256 {escaped(block.digest)})\n\n{_indented(block.text)}"
        case Points():
            form = "**{}**: {}" if block.brief else "### {}\n\n{}"
            return "\n\n".join(form.format(escaped(row.label), _texts(row)) for row in block.rows)
        case Preformatted():
            return _indented(block.text)
        case ArgumentTrace():
            return _trace(block.verdict)
        case Under():
            return f"### {escaped(block.title)}"


def _quoted(text: str) -> str:
    return "\n>\n".join(f"> {escaped(row)}" for row in clean(text).split("\n") if row.strip())


def _indented(text: str) -> str:
    """A code block by indentation: no text can end it."""
    return "\n".join(f"    {row}" for row in clean(text).split("\n"))


def render_table(head: Iterable[str], rows: Iterable[Iterable[str]], *, breaks: bool = False) -> str:
    """A table; every cell is escaped. ``breaks`` keeps the line ends of texts."""

    def cell(text: str) -> str:
        return "<br>".join(escaped_inside(row) for row in (clean(text).split("\n") if breaks else [text]))

    titles = list(head)
    lines = [f"| {' | '.join(map(escaped_inside, titles))} |", f"| {' | '.join('---' for _ in titles)} |"]
    return "\n".join([*lines, *(f"| {' | '.join(map(cell, row))} |" for row in rows)])


def _title(block: Title) -> str:
    facts = f"\n\n{escaped(', '.join(block.facts))}" if block.facts else ""
    return f"# {escaped(block.text)}{facts}"


def _entry(row: Entry) -> str:
    label = f"**{escaped(row.label)}:**"
    texts = row.rows
    # Only a doubt and what is missing are set as quotations, so that they are seen.
    sign = "> " if row.tone in {Tone.DOUBT, Tone.WARNING} else ""
    if len(texts) == 1:
        return f"{sign}{label} {escaped_inside(texts[0])}"
    if row.numbered:
        return "\n".join([f"{label}\n", *(f"- {escaped(text)}" for text in texts)])
    gap = f"\n{sign.rstrip()}\n" if sign else "\n\n"
    return gap.join([f"{sign}{label} {escaped_inside(texts[0])}", *(f"{sign}{escaped(text)}" for text in texts[1:])])


def _texts(row: Entry) -> str:
    """The texts of a point: a list where they are several of a kind."""
    texts = row.rows
    if len(texts) < 2:
        return "\n\n".join(map(paragraph, texts))
    return "\n".join(f"- {escaped(text)}" for text in texts)


def render_section(section: Section) -> list[str]:
    """A section: its title and its blocks."""
    return [f"## {escaped(section.title)}", *map(render_block, section.blocks)]


def _trace(verdict: StructuredReading) -> str:
    several = verdict.jury.several
    head = ["id", "claim", "drew", verdict.judge, "computed", "strength", "", "score"]
    head += [f"{verdict.judge}'s reason", "computed reason"]
    if several:
        head[3:4] = ["judges", "panel"]
    cites = any(row.cited for row in verdict.trace)
    head += ["cites"] if cites else []
    rows = [
        (
            row.id,
            row.claim,
            drew_words(row),
            *((compact(row.judges),) if several else ()),
            row.judged or "-",
            row.computed,
            strength_words(row),
            "<- differ" if row.differs else "",
            "-" if row.score is None else f"{row.score:.2f}",
            row.void or row.judged_reason or "-",
            row.computed_reason,
            *((row.cited or "nothing",) if cites else ()),
        )
        for row in verdict.trace
    ]
    return render_table(head, rows)
