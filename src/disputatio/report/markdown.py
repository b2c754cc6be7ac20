"""A debate as Markdown. What participants wrote can be read in it and can structure nothing.

Every character of theirs that Markdown or HTML could take for structure is escaped: no heading, list, table, link,
image, raw HTML or automatic link can come out of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from disputatio.report.addenda import NO_PROOF
from disputatio.report.advice import advice
from disputatio.report.amounts import capital, counted, spoken
from disputatio.report.baselines import HEADS, MEANING, table_of
from disputatio.report.block_markdown import (
    escaped,
    escaped_inside,
    paragraph,
    render_block,
    render_section,
    render_table,
)
from disputatio.report.consultations import offered
from disputatio.report.headings import abstained
from disputatio.report.imported import imported_facts
from disputatio.report.reading import DebateReport, Entry, EntryState
from disputatio.report.summary import first_blocks, result_sentence, sections_with_sureness
from disputatio.report.transcript import ceiling, names_models, seat_rows
from disputatio.report.turns.statement import Questions, Statement


def render_markdown(report: DebateReport) -> str:
    """The debate as Markdown (CommonMark with tables): its heading, what came of it, then all that was said."""
    blocks = [*map(render_block, first_blocks(report)), *_facts(report)]
    blocks += [block for section in sections_with_sureness(report) for block in render_section(section)]
    blocks += [*_baselines(report), *_addenda(report)]
    if report.phases:
        blocks.append("## What was said")
    questions, names = report.questions, names_models(report)
    for phase in report.phases:
        title = spoken(phase.name)
        blocks.append(f"### {escaped(capital(title))}")
        for entry in phase.entries:
            blocks += _entry(entry, questions, names_model=names)
    blocks += ["---", *(escaped(row) for row in advice(report))]
    return "\n\n".join(blocks) + "\n"


def _baselines(report: DebateReport) -> list[str]:
    rows = table_of(report, result_sentence(report))
    if not rows:
        return []
    return ["## Baselines", render_table(HEADS, rows), f"*{escaped(MEANING)}*"]


def _addenda(report: DebateReport) -> list[str]:
    blocks = ["## After the debate"] if report.addenda else []
    blocks += ["\n\n".join([f"**{escaped(row.title)}**", *map(paragraph, row.texts)]) for row in report.addenda]
    return [*blocks, f"*{escaped(NO_PROOF)}*"] if blocks else []


def _facts(report: DebateReport) -> list[str]:
    rows = [
        *((label or "", text) for label, text in seat_rows(report.seats)),
        *(imported_facts(report.imported) if report.imported else [("Ceiling", ceiling(report.budget))]),
    ]
    if report.evidence:
        rows.append(("Sources", ", ".join(str(row.get("title") or row.get("source_id")) for row in report.evidence)))
    if report.opened_at:
        rows.append(("Imported" if report.imported else "Held", report.opened_at))
    rows += [("Tools", offered(report.tools))] if offered(report.tools) else []
    return [render_table(("", ""), rows)]


def _point(label: str, text: str) -> str:
    if _NUMBER.fullmatch(label):
        return f"- {escaped(text)}"
    return f"{escaped(label)}: {paragraph(text)}" if label else paragraph(text)


_NUMBER = re.compile(r"[1-9]\d?\.")


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escaped(text)}" for text in texts)


def _entry(entry: Entry, questions: Questions, *, names_model: bool) -> list[str]:
    looked_up = _looked_up(entry)
    if entry.state is EntryState.OPEN:
        return [f"*{escaped(entry.seat)} has not spoken.*", *looked_up]
    if entry.state is EntryState.ABSTAINED:
        return [f"**{escaped(abstained(entry.seat, entry.phase, entry.detail or entry.reason))}.**", *looked_up]
    served = f" ({escaped(', '.join(entry.served))})" if entry.served and names_model else ""
    served = f" ({escaped(entry.spoken_at)})" if entry.spoken_at else served
    blocks = [f"#### {escaped(entry.speaker)}{served}", *looked_up]
    for row in entry.statements(questions):
        blocks += _statement(row)
    broken = [f"{spoken(str(row.get('rule')))}: {row.get('detail')}" for row in entry.broken]
    if broken:
        blocks.append("Rules broken in this turn:\n\n" + _bullets(broken))
    if entry.rejections:
        blocks.append(f"*{counted(len(entry.rejections), 'answer')} not accepted before this one.*")
    if entry.repaired:
        blocks.append("*Its JSON had to be mended.*")
    return blocks


def _looked_up(entry: Entry) -> list[str]:
    lines = [row.line for row in entry.consultations]
    return ["Looked up before this turn:\n\n" + _bullets(lines)] if lines else []


def _statement(row: Statement) -> list[str]:
    mark = f"**{escaped(row.mark)}**" if row.mark else ""
    word = f"*{escaped(row.word)}*" if row.word else ""
    lead = paragraph(row.lead)
    blocks = [f"> Asked: {escaped(row.context)}"] if row.context else []
    first = " ".join(piece for piece in (mark, word, lead) if piece)
    blocks = [first, *blocks] if first and not row.context else [*blocks, first]
    blocks += [_point(label, text) for label, text in row.points]
    cites = [
        f"- {escaped(one.place)}, **{escaped(one.status)}**: {escaped_inside(one.sentence)}" for one in row.citations
    ]
    blocks += ["\n".join(["Cites:", "", *cites])] if cites else []
    return [block for block in blocks if block]
