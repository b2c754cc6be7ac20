"""Lays out the head of a debate and what its seats said, for any width of 40 columns or more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from disputatio.motion import one_line
from disputatio.report.amounts import counted, dollars, listed, seat_name, spoken
from disputatio.report.columns import columns, cut, pad
from disputatio.report.consultations import Consultation, offered
from disputatio.report.headings import abstained, in_phase
from disputatio.report.imported import imported_facts
from disputatio.report.reading import DebateReport, Entry, EntryState, SeatReading
from disputatio.report.text_spans import Line, Role, Span, flow, labelled, line_columns, span
from disputatio.report.turns.statement import Questions, Statement

NARROWEST = 40
MEASURE = 100
"""Sentences are not laid out wider than this: longer lines are hard to follow."""
_LABELS = 12
_BODY = 9
_SEATS = {"pro": Role.PRO, "con": Role.CON, "judge": Role.JUDGE}
_SEATS |= {"proposer": Role.PRO, "rebutter": Role.PRO, "critic": Role.CON, "moderator": Role.JUDGE}
_SEATS |= {"prop": Role.PRO, "reb": Role.PRO, "crit": Role.CON}
_SEATS |= {"bull": Role.PRO, "bear": Role.CON}
_ANALYST = re.compile(r"^[a-z]+_(bull|bear)(?:_arg_\d+)?(?= ->|$)")
_WORDS = {
    "UPHELD": Role.UPHELD,
    "PARTIALLY_UPHELD": Role.PARTLY,
    "PARTLY": Role.PARTLY,
    "WEAKENED": Role.PARTLY,
    "REFUTED": Role.REFUTED,
    "UNCERTAIN": Role.UNCERTAIN,
}


def seat_role(seat: str) -> Role:
    """The role that colours a seat."""
    analyst = _ANALYST.search(seat.lower())
    return _SEATS.get(analyst[1] if analyst else re.sub(r"_\d+$", "", seat.lower()), Role.MARK)


def mark_role(mark: str, seat: str) -> Role:
    """The role of a mark: an argument's id has the colour of its side."""
    if _ANALYST.search(mark.lower()):
        return seat_role(mark)
    side = mark.split("-", maxsplit=1)[0].strip().lower().rstrip("0123456789_")
    return _SEATS.get(side, seat_role(seat))


def word_role(word: str) -> Role:
    """The role of a word of the rules."""
    return _WORDS.get(word, Role.QUIET)


def citation_role(status: str) -> Role:
    """The role of what the check of a citation came to; one that nothing bears out stands out."""
    known = {"verified": Role.UPHELD, "repaired": Role.PARTLY, "inferred": Role.QUIET}
    return known.get(status, Role.WARNING)


def head_lines(report: DebateReport, width: int) -> list[Line]:
    """The head of a debate: what is debated, under which rules, by whom, under which ceiling."""
    measure = min(width, MEASURE)
    lines: list[Line] = [
        (Span("Disputatio", Role.TITLE), span(cut(f"  {report.kind} debate  {report.id}", width - 10)))
    ]
    lines += labelled("Motion", [span(report.motion, Role.LEAD)], measure, column=_LABELS)
    lines += setup_lines(report, width)
    for warning in report.warnings:
        lines += labelled("Warning", [span(warning, Role.WARNING)], measure, column=_LABELS)
    return lines


def setup_lines(report: DebateReport, width: int) -> list[Line]:
    """Who sits where, under which ceiling, on which sources."""
    measure = min(width, MEASURE)
    lines: list[Line] = []
    if report.language not in {"", "English"}:
        lines += labelled("Language", [span(report.language)], measure, column=_LABELS)
    for label, text in seat_rows(report.seats):
        lines += labelled(label, [span(text)], measure, column=_LABELS)
    facts = imported_facts(report.imported) if report.imported else [("Ceiling", ceiling(report.budget))]
    for label, text in facts:
        lines += labelled(label, [span(text)], measure, column=_LABELS)
    if report.evidence:
        titles = [one_line(str(row.get("title") or row.get("source_id")), 80) for row in report.evidence]
        lines += labelled("Sources", [span(", ".join(titles))], measure, column=_LABELS)
        if excerpted(report):
            lines += labelled("", [span(excerpted(report), Role.QUIET)], measure, column=_LABELS)
    if offered(report.tools):
        lines += labelled("Tools", [span(offered(report.tools))], measure, column=_LABELS)
    return lines


def excerpted(report: DebateReport) -> str:
    """Which seats saw only a part of the sources; empty if all saw everything, or if it is unknown."""
    texts = [report.texts.get(str(row.get("text"))) for row in report.evidence]
    length = sum(len(text) for text in texts if text is not None)
    short: dict[int, list[str]] = {}
    for seat, share in report.shares.items():
        if isinstance(share, int) and share < length:
            short.setdefault(share, []).append(one_line(seat, 40))
    return " ".join(
        f"Of {length:,} characters {listed(sorted(seats))} saw at most {share:,}, those that fit the motion best."
        for share, seats in sorted(short.items())
    )


def seat_rows(seats: Iterable[SeatReading]) -> list[tuple[str, str]]:
    """Labels and texts that say who sits where; seats of one model share a row."""
    together: dict[str, list[str]] = {}
    for seat in seats:
        fallback = f", then {', then '.join(seat.fallbacks)}" if seat.fallbacks else ""
        together.setdefault(seat.shown + fallback, []).append(seat.seat)
    rows = [f"{listed(names)}: {who}" if len(together) > 1 else who for who, names in together.items()]
    return [("Seats" if number == 0 else "", row) for number, row in enumerate(rows)]


def ceiling(budget: Mapping[str, Any]) -> str:
    """The ceilings in words."""
    limits = []
    if budget.get("usd") is not None:
        limits.append(dollars(Decimal(str(budget["usd"]))))
    limits += [counted(int(budget[key]), key[:-1]) for key in ("tokens", "calls") if budget.get(key) is not None]
    return listed(limits, "or") if limits else "none"


def phase_lines(name: str) -> list[Line]:
    """The title of a phase."""
    return [(), (span(spoken(one_line(name, 60)).upper(), Role.TITLE),)]


def transcript_lines(report: DebateReport, width: int) -> list[Line]:
    """Everything that was said, phase by phase; what a closed debate shows as its result is left to that."""
    questions, names = report.questions, names_models(report)
    lines: list[Line] = []
    for phase in report.phases:
        lines += phase_lines(phase.name)
        for number, entry in enumerate(phase.entries):
            lines += [()] if number else []
            lines += entry_lines(entry, width, questions, names_model=names, whole=not report.closed)
    return lines


def names_models(report: DebateReport) -> bool:
    """Whether each turn must say which model took it, because the head does not."""
    return len({seat.who for seat in report.seats}) > 1 or any(seat.fallbacks for seat in report.seats)


def entry_lines(entry: Entry, width: int, questions: Questions, *, names_model: bool, whole: bool = True) -> list[Line]:
    """One ask: the turn, or why there is none; then what was not by the rules.

    Without ``whole`` the statements that are part of the result are left out, because the result follows.
    """
    measure = min(width, MEASURE)
    looked_up = [line for row in entry.consultations for line in consultation_lines(row, measure)]
    if entry.state is EntryState.OPEN:
        silent = flow([span(f"{entry.seat} has not spoken.", Role.QUIET)], measure, first=_indent(), hang=2)
        return [*silent, *looked_up]
    if entry.state is EntryState.ABSTAINED:
        sentence = abstained(entry.seat, entry.phase, entry.detail or entry.reason)
        return [*flow([span(f"{sentence}.", Role.WARNING)], measure, first=_indent(), hang=2), *looked_up]
    lines = speaker_lines(entry, measure, names_model=names_model)
    lines += looked_up
    rows = entry.statements(questions)
    for statement in rows:
        if whole or not statement.overall:
            lines += statement_lines(statement, entry.seat, measure)
    if not whole and all(statement.overall for statement in rows):
        lines += flow([span("has given its finding: see below.", Role.QUIET)], measure, first=_indent(4), hang=4)
    return [*lines, *conduct_lines(entry, measure)]


def consultation_lines(row: Consultation, width: int, seat: str = "") -> list[Line]:
    """What a seat looked up before it spoke, in a line; ``seat`` names it where nothing else does."""
    who = f"{one_line(seat, 40)} looked up " if seat else "looked up "
    return flow([span(who + row.line, Role.QUIET)], width, first=_indent(), hang=4)


def speaker_lines(entry: Entry, width: int, *, names_model: bool) -> list[Line]:
    """Who speaks."""
    seat = seat_name(entry.seat)
    title = one_line(entry.speaker, 60).replace(seat, seat.upper(), 1)
    name = span(cut(title, width - 2), seat_role(entry.seat))
    served = one_line(", ".join(entry.served), 60) if entry.served and names_model else ""
    served = entry.spoken_at or served
    room = width - 4 - columns(name.text)
    return [(Span("  "), name, span(f"  {cut(served, room)}" if served and room > 0 else "", Role.QUIET))]


def statement_lines(statement: Statement, seat: str, width: int) -> list[Line]:
    """One statement: its mark, its main text, and the rest of it indented below."""
    mark, word = one_line(statement.mark, 60), one_line(statement.word, 40)
    hang = 2 + _BODY if mark or word else 4
    body = _indent(hang)
    lines: list[Line] = []
    head: list[Span] = []
    if mark:
        head.append(Span(mark, mark_role(mark, seat)))
    if word:
        head += [Span("  "), Span(word, word_role(word))]
    beside = not word and columns(mark) <= _BODY - 2
    if head and not beside:
        title: Line = (Span("  "), *head)
        lines += [title] if line_columns(title) <= width else flow(head, width, first=(Span("  "),), hang=4)
    if statement.context:
        lines += flow([span(f"Asked: {statement.context}", Role.QUIET)], width, first=body, hang=hang)
    first = (Span("  "), Span(pad(mark, _BODY), mark_role(mark, seat))) if beside and mark else body
    role = Role.LEAD if beside and mark and statement.points else Role.PLAIN
    if statement.lead or (beside and mark):
        lines += flow([span(statement.lead, role)], width, first=first, hang=hang)
    for label, text in statement.points:
        label_spans = [span(f"{label}{'' if label.endswith('.') else ':'} ", Role.LABEL)] if label else []
        lines += flow([*label_spans, span(text)], width, first=body, hang=hang)
    for row in statement.citations:
        head = [span(f"{row.place}, ", Role.LABEL), span(f"{row.status}: ", citation_role(row.status))]
        lines += flow([*head, span(row.sentence)], width, first=body, hang=hang)
    return lines


def conduct_lines(entry: Entry, width: int) -> list[Line]:
    """What was not by the rules in an accepted turn."""
    lines: list[Line] = []
    for row in entry.broken:
        text = f"! rule broken ({spoken(one_line(str(row.get('rule')), 60))}): {row.get('detail')}"
        lines += flow([span(text, Role.WARNING)], width, first=_indent(), hang=4)
    notes = [f"{counted(len(entry.rejections), 'answer')} not accepted before this one"] if entry.rejections else []
    notes += ["its JSON had to be mended"] if entry.repaired else []
    if notes:
        lines += flow([span(f"({'; '.join(notes)})", Role.QUIET)], width, first=_indent(), hang=2)
    return lines


def rejection_note(seat: str, phase: str, because: str, reasons: Iterable[str], part: str = "") -> str:
    """One line for an answer that was not accepted."""
    first, *others = [one_line(row, 160).removeprefix("the answer: ") for row in reasons] or ["no reason recorded"]
    more = f" (and {len(others)} more)" if others else ""
    kind = "broke a rule" if because == "rule" else "did not fit the form"
    where = f" for {one_line(part, 40)}" if part else ""
    return f"{seat} is asked again in {in_phase(phase)}: its answer{where} {kind}: {first}{more}"


def _indent(size: int = 2) -> Line:
    return (Span(" " * size),)
