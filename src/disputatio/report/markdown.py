"""A debate as Markdown. What participants wrote can be read in it and can structure nothing.

Every character of theirs that Markdown or HTML could take for structure is escaped: no heading, list, table, link,
image, raw HTML or automatic link can come out of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from disputatio.motion import one_line
from disputatio.report.addenda import NO_PROOF
from disputatio.report.advice import advice
from disputatio.report.amounts import counted, spoken
from disputatio.report.baselines import HEADS, MEANING, table_of
from disputatio.report.block_markdown import escaped, escaped_inside, paragraph, render_block
from disputatio.report.briefing import briefing_points, drew_words, strength_words, untold
from disputatio.report.consultations import offered
from disputatio.report.custom_format import outcome_statements
from disputatio.report.headings import abstained
from disputatio.report.imported import imported_facts
from disputatio.report.judges import compact
from disputatio.report.market import MarketReading, market_reading
from disputatio.report.match import MatchReading, match_reading
from disputatio.report.names import seat_name
from disputatio.report.panel import PanelReading, escalation_sentences, panel_reading
from disputatio.report.reading import DebateReport, Entry, EntryState
from disputatio.report.summary import TOLD_HEADINGS, first_blocks, result_sentence
from disputatio.report.transcript import ceiling, names_models, seat_rows
from disputatio.report.turns.statement import Questions, Statement
from disputatio.report.verdict import (
    NOT_TRUTH,
    StructuredReading,
    five_headings,
    structured_reading,
    sureness,
)


def render_markdown(report: DebateReport) -> str:
    """The debate as Markdown (CommonMark with tables): its heading, what came of it, then all that was said."""
    blocks = [*map(render_block, first_blocks(report)), *_facts(report)]
    blocks += _result(report)
    blocks += [*_baselines(report), *_addenda(report)]
    if report.phases:
        blocks.append("## What was said")
    questions, names = report.questions, names_models(report)
    for phase in report.phases:
        title = spoken(phase.name)
        blocks.append(f"### {escaped(title[:1].upper() + title[1:])}")
        for entry in phase.entries:
            blocks += _entry(entry, questions, names_model=names)
    blocks += ["---", *(escaped(row) for row in advice(report))]
    return "\n\n".join(blocks) + "\n"


def _baselines(report: DebateReport) -> list[str]:
    rows = table_of(report, result_sentence(report))
    if not rows:
        return []
    return ["## Baselines", _table(HEADS, rows), f"*{escaped(MEANING)}*"]


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
    return [_table(("", ""), rows)]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; every cell is escaped."""
    lines = [head, ["---"] * len(head)]
    body = [f"| {' | '.join(escaped_inside(cell) for cell in row)} |" for row in rows]
    return "\n".join([*(f"| {' | '.join(row)} |" for row in lines), *body])


def _result(report: DebateReport) -> list[str]:
    verdict, headings = structured_reading(report), five_headings(report)
    if verdict is not None:
        return [*_structured(report, verdict), *_sure(report)]
    panel = panel_reading(report)
    if panel is not None:
        return [*_panel_decision(report, panel), *_sure(report)]
    match = match_reading(report)
    if match is not None:
        return [*_match(match), *_sure(report)]
    if headings is not None:
        blocks = ["## Judge's finding"]
        for title, text in headings:
            blocks += [] if title in TOLD_HEADINGS else [f"### {escaped(title)}", paragraph(text)]
        return [*blocks, *_sure(report)]
    if not report.closed:
        return []
    blocks = ["## Outcome"]
    for row in outcome_statements(report.outcome):
        blocks += _statement(row)
    return [*blocks, *_sure(report)]


def _structured(report: DebateReport, verdict: StructuredReading) -> list[str]:
    totals = ", ".join(
        f"{escaped(side)} **{'none' if total is None else f'{total:.2f}'}**" for side, total in verdict.totals.items()
    )
    scores = ""
    if verdict.jury.panel:
        scores = f"**{escaped(verdict.reading)}.**\n\nScores together: {totals}. ({NOT_TRUTH})\n\n{_panel(verdict)}"
    market = market_reading(report)
    points = [(title, kept) for title, texts in briefing_points(verdict) if (kept := untold(report, title, texts))]
    blocks = ["## What it rests on", *([scores] if scores and verdict.judged else [])]
    for title, texts in points:
        blocks += [f"### {escaped(title)}", _bullets(texts) if len(texts) > 1 else paragraph(texts[0])]
    blocks += _analysts(market) if market else []
    return [*blocks, "### Argument trace", _trace(verdict)] if verdict.trace else blocks


def _panel_decision(report: DebateReport, panel: PanelReading) -> list[str]:
    """The decision of a panel: the sentence, the votes, the debaters, the report line for line, the findings."""
    blocks = ["## Decision", f"**{escaped(panel.sentence)}**"]
    blocks += [escaped(text) for text in escalation_sentences(report)]
    blocks += ["### Votes after each phase", escaped(panel.rule_text)]
    head = ["after", *map(escaped, panel.options), *(escaped(row.name) for row in panel.debaters), "result"]
    blocks.append(
        _table(
            head,
            (
                (
                    count.after,
                    *(count.votes_for(option) for option in panel.options),
                    *(ballot.shown for ballot in count.ballots),
                    count.result,
                )
                for count in panel.counts
            ),
        )
    )
    blocks += [escaped(text) for text in panel.notes]
    words = [(row.name, str(row.changed), f"{row.words} ({row.share})", row.model) for row in panel.debaters]
    blocks += ["### Debaters", _table(("debater", "changed votes", "words", "model"), words)]
    for name, stance, rationale in panel.findings:
        blocks += ["### Findings for the author"] if name == panel.findings[0][0] else []
        blocks.append(f"**{escaped(name)}**: {escaped(stance)}\n\n{paragraph(rationale)}")
    report_text = "\n".join(f"    {one_line(row)}" for row in panel.report_text.split("\n"))
    return [*blocks, "### Report", report_text]


def _match(match: MatchReading) -> list[str]:
    """The result of a match: the sentence, the scoreboard, the speeches, the penalties, the judge's summaries."""
    blocks = ["## Result", f"**{escaped(match.sentence)}.**", f"Best debater: {escaped(match.best)}"]
    blocks += [escaped(text) for text in match.notes]
    rows = [
        (seat_name(row.who), row.style or "-", str(row.speeches), str(row.unscored), str(row.penalties), row.shown)
        for row in (*match.teams, *match.debaters)
    ]
    blocks += ["### Scoreboard", _table(("who", "argues", "speeches", "unscored", "penalties", "total"), rows)]
    said = [
        (row.id, seat_name(row.seat), row.kind, row.selected_by, row.clock, row.criteria, row.cost or "-", row.shown)
        for row in match.speeches
    ]
    head = ("", "speaker", "speech", "selected by", "words", "criteria", "penalty", "score")
    blocks += ["### Speeches", _table(head, said)]
    if match.penalties:
        blocks += ["### Penalties", _bullets(row.sentence for row in match.penalties)]
    fouls = [f"{row.id} {seat_name(row.seat)}: {text}" for row in match.speeches for text in row.fouls]
    blocks += ["### Violations", _bullets(fouls)] if fouls else []
    for stage, points in (*match.between, *((("final verdict", match.final),) if match.final else ())):
        title = f"Summary of {spoken(stage)}" if stage != "final verdict" else "Final verdict"
        blocks.append(f"### {escaped(title)}")
        blocks += [f"**{escaped(label.capitalize())}**: {paragraph(text)}" for label, text in points]
    return blocks


def _analysts(market: MarketReading) -> list[str]:
    """The table of a market debate by analyst, and where each stands in the end."""
    rows = [
        (
            row.seat,
            row.shown_score,
            row.shown_confidence,
            row.conviction or "-",
            row.standings or row.silent or "-",
            row.figures or "-",
        )
        for row in market.analysts
    ]
    about = escaped(f"{market.subject}, as known on {market.day}; sources: {market.sources or 'none named'}.")
    blocks = ["### By analyst", about]
    blocks.append(_table(("analyst", "score", "confidence", "conviction", "standings", "figures"), rows))
    stances = [f"{row.seat}: {row.stance}" for row in market.analysts if row.stance]
    return [*blocks, "### Final stances", _bullets(stances)] if stances else blocks


def _panel(verdict: StructuredReading) -> str:
    """What each judge of a panel found."""
    return _table(
        ("judge", "found", "swap"), [(judge, found, after or "-") for judge, found, after in verdict.jury.rows()]
    )


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
    return _table(head, rows)


def _point(label: str, text: str) -> str:
    if _NUMBER.fullmatch(label):
        return f"- {escaped(text)}"
    return f"{escaped(label)}: {paragraph(text)}" if label else paragraph(text)


_NUMBER = re.compile(r"[1-9]\d?\.")


def _bullets(texts: Iterable[str]) -> str:
    """A list; texts that are counted from 1 on lose their numbers, which the list makes needless."""
    rows = [text.partition(" ") for text in texts]
    if len(rows) > 1 and [first for first, _, _ in rows] == [f"{place}." for place in range(1, len(rows) + 1)]:
        return "\n".join(f"- {escaped(rest)}" for _, _, rest in rows)
    return "\n".join(f"- {escaped(''.join(row))}" for row in rows)


def _sure(report: DebateReport) -> list[str]:
    return ["### How sure", _bullets(sureness(report))]


def _entry(entry: Entry, questions: Questions, *, names_model: bool) -> list[str]:
    looked_up = _looked_up(entry)
    if entry.state is EntryState.OPEN:
        return [f"*{escaped(entry.seat)} has not spoken.*", *looked_up]
    if entry.state is EntryState.ABSTAINED:
        return [f"**{escaped(abstained(entry.seat, entry.phase, entry.detail or entry.reason))}.**", *looked_up]
    served = f" ({escaped(', '.join(entry.served))})" if entry.served and names_model else ""
    served = f" ({escaped(entry.spoken_at)})" if entry.spoken_at else served
    blocks = [f"#### {escaped(_speaker(entry))}{served}", *looked_up]
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


def _speaker(entry: Entry) -> str:
    return entry.speaker


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
