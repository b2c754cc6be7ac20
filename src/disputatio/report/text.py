"""A debate as plain text: in brief, on a few screens, or whole."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from disputatio.motion import one_line
from disputatio.report.addenda import addenda_lines
from disputatio.report.advice import advice, more
from disputatio.report.amounts import counted
from disputatio.report.baselines import baseline_lines, table_of
from disputatio.report.block_text import block_lines, section_lines
from disputatio.report.blocks import Block, Entries, Title
from disputatio.report.reading import DebateReport, EntryState
from disputatio.report.summary import first_blocks, result_sentence, sections_with_sureness
from disputatio.report.text_spans import Line, Role, Span, flow, plain, span
from disputatio.report.transcript import NARROWEST, setup_lines, transcript_lines

MOST_LINES = 120
"""The most lines of a short text."""
_MOST_SETUP = 8
_MOST_AFTER = 12
_LEAST_SECTION = 6


class Detail(StrEnum):
    """How much of a debate a text holds."""

    BRIEF = "brief"
    SHORT = "short"
    FULL = "full"


def report_lines(report: DebateReport, width: int, detail: Detail = Detail.FULL, store: str = "") -> list[Line]:
    """A debate laid out, its first screen first.

    Args:
        report: the debate.
        width: the most columns of a line, 40 or more.
        detail: the first screen alone; that with what it rests on, in at most ``MOST_LINES`` lines at 80 columns or
            more; or everything.
        store: the address that commands must name to find the debate; empty where they find it without.
    """
    lines = block_lines(first_blocks(report), width)
    if detail is Detail.BRIEF:
        return [*lines, *_more(report, width, store)]
    if detail is Detail.SHORT:
        setup = [(), *_most([*setup_lines(report, width), *_said(report, width)], _MOST_SETUP)]
        return _short(report, width, setup, [(), *_more(report, width, store)])
    lines += [(), *setup_lines(report, width), *transcript_lines(report, width)]
    lines += _joined(_sections(report, width))
    lines += baseline_lines(table_of(report, result_sentence(report)), width)
    return [*lines, *addenda_lines(report.addenda, width), (), *advice_lines(report, width, store)]


def result_lines(report: DebateReport, width: int, store: str = "") -> list[Line]:
    """The result of a debate that was shown live, in at most ``MOST_LINES`` lines at 80 columns or more."""
    return _short(report, width, [], [(), *advice_lines(report, width, store)])


def _sections(report: DebateReport, width: int) -> list[list[Line]]:
    return [section_lines(row, width) for row in sections_with_sureness(report, cut=True) if not row.is_detail]


def advice_lines(report: DebateReport, width: int, store: str = "") -> list[Line]:
    """Notes that accompany a result."""
    return [line for text in advice(report, store) for line in unbroken(text, width, store)]


def unbroken(text: str, width: int, store: str) -> list[Line]:
    """A line of advice. A command that names a store stays whole, however long: it is there to be copied."""
    if store and store in text:
        return [(span(" ".join(text.split()), Role.QUIET),)]
    return flow([span(text, Role.QUIET)], width, hang=2)


def _joined(sections: Sequence[Sequence[Line]]) -> list[Line]:
    """Sections with a blank line before each."""
    return [line for rows in sections if rows for line in ((), *(rows[1:] if rows[0] == () else rows))]


def _short(report: DebateReport, width: int, setup: list[Line], end: list[Line]) -> list[Line]:
    """The first screen, and of every section as much as there is room for; each says how much it leaves out."""
    first = block_lines(first_blocks(report), width)
    after = baseline_lines(table_of(report, result_sentence(report)), width)
    after = _most([*after, *addenda_lines(report.addenda, width)], _MOST_AFTER)
    sections = [list(rows[1:] if rows[0] == () else rows) for rows in _sections(report, width) if rows]
    room = MOST_LINES - len(first) - len(setup) - len(after) - len(end) - len(sections)
    shares = _shares([len(rows) for rows in sections], room)
    shortened = [_most(rows, share) for rows, share in zip(sections, shares, strict=True)]
    return [*first, *setup, *_joined(shortened), *after, *end]


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """How many lines each section gets: what it needs where that is less than an equal share, else that share."""
    shares = [0] * len(sizes)
    waiting = sorted(range(len(sizes)), key=lambda place: sizes[place])
    for number, place in enumerate(waiting):
        equal = max(_LEAST_SECTION, room // (len(waiting) - number))
        shares[place] = min(sizes[place], equal)
        room -= shares[place]
    return shares


def _most(lines: list[Line], most: int) -> list[Line]:
    if len(lines) <= most:
        return lines
    omitted = len(lines) - most + 1
    return [*lines[: most - 1], (Span(f"  ... {counted(omitted, 'more line')}", Role.QUIET),)]


def _said(report: DebateReport, width: int) -> list[Line]:
    """What was said, as counts: the turns themselves are elsewhere."""
    silent = sum(row.state is EntryState.ABSTAINED for row in report.entries)
    broken = sum(len(row.violations) for row in report.turns)
    unsound = sum(not row.sound for row in report.citations)
    parts = [f"{counted(len(report.turns), 'turn')} in {counted(len(report.phases), 'phase')}"]
    parts += [counted(silent, "abstention")] if silent else []
    parts += [f"{counted(len(report.rejections), 'answer')} asked again"] if report.rejections else []
    parts += [counted(broken, "broken rule")] if broken else []
    parts += [f"{counted(unsound, 'citation')} not borne out"] if unsound else []
    text = f"{', '.join(parts)}: see --full" if report.turns else "nothing"
    return flow([span(text, Role.QUIET)], min(width, 100), first=(Span("Said        ", Role.LABEL),), hang=12)


def _more(report: DebateReport, width: int, store: str) -> list[Line]:
    return [line for text in more(report, store) for line in unbroken(text, width, store)]


def render_text(report: DebateReport, width: int = 80, detail: Detail = Detail.FULL, store: str = "") -> str:
    """The debate as plain text without control characters, at most ``width`` columns wide (40 or more)."""
    return joined(report_lines(report, max(NARROWEST, width), detail, store))


def render_result_text(report: DebateReport, width: int = 80) -> str:
    """Only what came of the debate, as plain text."""
    width = max(NARROWEST, width)
    lines = [*block_lines(first_blocks(report), width), *_joined(_sections(report, width))]
    lines += baseline_lines(table_of(report, result_sentence(report)), width)
    return joined([*lines, *addenda_lines(report.addenda, width), (), *advice_lines(report, width)])


def joined(lines: list[Line]) -> str:
    """Lines as text, each ended by a line feed."""
    return "".join(f"{plain(line)}\n" for line in lines)


MOST_BRIEFING = 6_000
"""The most characters of ``render_briefing``: about 1,500 tokens."""
_SHORTER = ((10, 600), (6, 300), (3, 160), (1, 90))
"""How many texts an entry has and how long each may be, tried in turn until the whole fits."""


def render_briefing(report: DebateReport) -> str:
    """The first screen of a debate as lines for a program, in at most ``MOST_BRIEFING`` characters.

    Texts that do not fit are cut, and an entry says how many it leaves out.
    """
    after = tuple(f"{row.title}: {' '.join(row.texts)}" for row in report.addenda)
    text = ""
    for most, longest in _SHORTER:
        rows = [row for block in first_blocks(report) for row in _labelled(block)]
        rows.append(("After the debate", after))
        text = "\n".join(_entry(label, texts, most, longest) for label, texts in rows if any(texts))
        if len(text) < MOST_BRIEFING:
            break
    return f"{text}\n"


def _labelled(block: Block) -> list[tuple[str, tuple[str, ...]]]:
    match block:
        case Title():
            return [("Debate", (", ".join(block.facts),)), (block.label, (block.text,))]
        case Entries():
            return [(row.label, row.rows) for row in block.rows]
        case _:
            return []


def _entry(label: str, texts: Sequence[str], most: int, longest: int) -> str:
    rows = [one_line(text, longest) for text in texts if text][:most]
    omitted = sum(map(bool, texts)) - len(rows)
    label = one_line(label, 40)
    if len(rows) == 1 and not omitted:
        return f"{label}: {rows[0]}"
    return "\n".join([f"{label}:", *(f"- {row}" for row in rows), *([f"- and {omitted} more"] if omitted else [])])
