"""Lays out what came of a debate: the argument trace table, the scores, the decision briefing; and that in brief."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from disputatio.motion import one_line
from disputatio.report.advice import advice, is_small
from disputatio.report.columns import pad
from disputatio.report.headings import heading
from disputatio.report.judges import Opinion, compact
from disputatio.report.lines import Column, Line, Role, Span, flow, line_columns, span, table
from disputatio.report.market import market_reading
from disputatio.report.market_lines import analyst_lines, disclaimer_lines
from disputatio.report.match import match_reading
from disputatio.report.match_lines import match_lines
from disputatio.report.own import outcome_statements
from disputatio.report.panel import count_words, escalation_sentences, panel_reading
from disputatio.report.panel_lines import panel_lines as decision_lines
from disputatio.report.reading import DebateReport
from disputatio.report.transcript import MEASURE, caution_lines, mark_role, seat_role, word_role
from disputatio.report.verdict import (
    NOT_TRUTH,
    FallacyLine,
    StructuredReading,
    TraceLine,
    five_headings,
    structured_reading,
    sureness,
    verdict_sentence,
)

_LABELS = 20
_NARROW = 72
_NARROW_BENCH = 96
_WIDE = 110
_ROOMY = 90
_SHORT = {"PARTIALLY_UPHELD": "PARTLY", "SPLIT": "split", "VOID": "void"}


def result_lines(report: DebateReport, width: int) -> list[Line]:
    """The whole result of a debate, its heading first where something is missing."""
    lines = caution_lines(report, width)
    verdict, headings, panel = structured_reading(report), five_headings(report), panel_reading(report)
    match = match_reading(report)
    if verdict is not None:
        lines += [*_apart(lines), *structured_lines(report, verdict, width)]
    elif panel is not None:
        lines += [*_apart(lines), *decision_lines(report, panel, width), (), *closing_lines(report, width)]
    elif match is not None:
        lines += [*_apart(lines), *match_lines(match, width), (), *closing_lines(report, width)]
    elif headings is not None:
        lines += [*_apart(lines), (Span("Judge's finding", Role.TITLE),)]
        for title, text in headings:
            lines += _point(title, text, width)
        lines += closing_lines(report, width)
    elif report.closed:
        lines += [*_apart(lines), (Span("Outcome", Role.TITLE),)]
        for row in outcome_statements(report.outcome):
            points = "\n".join(f"{label}: {text}" if label else text for label, text in row.points)
            lines += _point(row.mark, row.lead or points, width)
        lines += closing_lines(report, width)
    elif report.calls:
        lines += [*_apart(lines), *_point("Cost so far", report.totals.line, width)]
    return lines


def _apart(lines: list[Line]) -> list[Line]:
    return [()] if lines else []


def structured_lines(report: DebateReport, verdict: StructuredReading, width: int) -> list[Line]:
    """Trace table, scores and decision briefing."""
    lines: list[Line] = []
    market = market_reading(report)
    if market is not None:
        lines += [*disclaimer_lines(market, width), (), *analyst_lines(market, width), ()]
    if verdict.trace:
        lines += [(Span("Argument trace", Role.TITLE),), *trace_lines(verdict, width)]
        lines += [*difference_lines(verdict, width), ()]
    lines += score_lines(verdict, width)
    whole = "" if heading(report).whole else f"  ({report.status.value})"
    lines += [(), (Span("Decision briefing", Role.TITLE), Span(whole, Role.WARNING))]
    for label, texts in briefing_points(verdict):
        lines += _beside(label, texts, width)
    return [*lines, *closing_lines(report, width)]


def briefing_points(verdict: StructuredReading) -> list[tuple[str, list[str]]]:
    """The entries of the decision briefing; of what only a judge could say, nothing where nobody judged."""
    if verdict.points:
        return [(label, _numbered(texts)) for label, texts in verdict.points]
    agreed = [f"{row.id} {row.claim} ({row.conceded_by} conceded it)" for row in verdict.agreed]
    points = [("Agreed", agreed or ["nothing: no side conceded a point that the other still holds"])]
    if not verdict.trace:
        points = []
    if not verdict.judged:
        return points
    return [
        ("Key insight", _each(verdict, lambda row: row.key_insight) or [verdict.key_insight or "none was given"]),
        *points,
        ("Unresolved", _numbered(verdict.unresolved) or ["the judge named nothing"]),
        (
            "Recommendation",
            _each(verdict, lambda row: row.recommendation) or [verdict.recommendation or "none was given"],
        ),
        ("Fallacies", [fallacy_words(row) for row in verdict.fallacies] or ["none found"]),
        *([("No credit", [fallacy_words(row) for row in verdict.irregular])] if verdict.irregular else []),
    ]


def _each(verdict: StructuredReading, said: Callable[[Opinion], str]) -> list[str]:
    """What each of several judges said; empty for one judge."""
    opinions = verdict.bench.opinions if verdict.bench.several else ()
    return [f"{row.judge}: {said(row) or 'none was given'}" for row in opinions]


def _numbered(texts: Sequence[str]) -> list[str]:
    return [f"{number}. {text}" for number, text in enumerate(texts, start=1)] if len(texts) > 1 else list(texts)


def fallacy_words(found: FallacyLine) -> str:
    """A fallacy or another breach in words: where it stands, what it is, and whether its words were found."""
    doubt = "" if found.quoted else " (nobody said these words)"
    return f'{found.place or found.argument}, {found.name}: "{found.words}"{doubt}'


def closing_lines(report: DebateReport, width: int) -> list[Line]:
    """How sure the result is, and what it cost."""
    lines = _beside("How sure", list(sureness(report)), width)
    return [*lines, *_point("Cost", report.totals.line, width)]


def score_lines(verdict: StructuredReading, width: int) -> list[Line]:
    """The totals with the reading aid, and what they measure."""
    if not verdict.judged:
        return flow([Span("Scores ", Role.TITLE), Span("none: nobody judged this debate")], min(width, MEASURE), hang=2)
    if verdict.bench.panel:
        return panel_lines(verdict, width)
    title = (Span("Scores ", Role.TITLE), Span(f"({NOT_TRUTH})", Role.QUIET))
    totals: list[Span] = []
    for side, total in verdict.totals.items():
        shown = "none" if total is None else f"{total:.2f}"
        totals += [Span("  "), span(one_line(side, 12), seat_role(side)), Span(f" {shown} ")]
    reading = span(one_line(verdict.reading), Role.LEAD)
    line = (*title, Span(" "), *totals, Span("  "), reading)
    if line_columns(line) <= width:
        return [line]
    return [title, *flow([reading], width, first=(*totals, Span("  ")), hang=2)]


def panel_lines(verdict: StructuredReading, width: int) -> list[Line]:
    """The verdict of a panel, and what each judge found."""
    measure = min(width, MEASURE)
    lines = flow([span(one_line(verdict.reading), Role.LEAD)], measure, first=(Span("Verdict  ", Role.TITLE),), hang=9)
    totals = ", ".join(
        f"{side} {'none' if total is None else f'{total:.2f}'}" for side, total in verdict.totals.items()
    )
    lines += flow([span(f"Scores together: {totals} ({NOT_TRUTH})", Role.QUIET)], measure, first=_INDENT, hang=4)
    for judge, found, after in verdict.bench.rows():
        name = Span(pad(one_line(judge, 24), 9), seat_role(judge))
        told = f"{found}; {after}" if after else found
        lines += flow([span(one_line(told, 300))], measure, first=(*_INDENT, name), hang=11)
    return lines


_INDENT = (Span("  "),)


def trace_lines(verdict: StructuredReading, width: int) -> list[Line]:
    """The argument trace table; stacked where the width does not hold a table."""
    if width < (_NARROW_BENCH if verdict.bench.several else _NARROW):
        return [line for row in verdict.trace for line in _stacked(row, width)]
    scored = verdict.judged
    # Where there is no room for both, the judge's score comes before the computed strength.
    weighed = any(row.strength is not None for row in verdict.trace) and (width >= _ROOMY or not scored)
    head = [
        Column("id"),
        Column("claim", flexible=True),
        Column("drew"),
        Column("panel" if verdict.bench.several else verdict.judge),
        Column("computed"),
        *([Column("strength" if width >= _WIDE else "str")] if weighed else []),
        Column(""),
    ]
    if scored:
        head.insert(-1, Column("score"))
    if verdict.bench.several:
        head.insert(3, Column("judges"))
    rows = [_cells(row, scored=scored, weighed=weighed, several=verdict.bench.several) for row in verdict.trace]
    groups = table(head, rows, min(width, 140))
    return [line for group in groups for line in group]


def difference_lines(verdict: StructuredReading, width: int) -> list[Line]:
    """Why judge and computation part, argument by argument."""
    measure = min(width, MEASURE)
    lines: list[Line] = []
    for row in verdict.trace:
        if row.differs:
            mark = Span(pad(one_line(row.id, 24), 7), mark_role(row.id, row.side))
            lines += flow(
                [
                    span("panel: " if verdict.bench.several else f"{verdict.judge}: ", Role.LABEL),
                    span(one_line(row.judged_reason, 300) or "no reason given"),
                ],
                measure,
                first=(Span("  "), mark),
                hang=9,
            )
            computed = [span("computed: ", Role.LABEL), span(one_line(row.computed_reason, 300))]
            lines += flow(computed, measure, first=(Span(" " * 9),), hang=9)
    return [(), (Span(f"Where {verdict.judge} and computation differ", Role.TITLE),), *lines] if lines else []


def _cells(row: TraceLine, *, scored: bool, weighed: bool, several: bool) -> list[Span]:
    cells = [
        Span(one_line(row.id, 24), mark_role(row.id, row.side)),
        span(one_line(row.claim)),
        span(drew_words(row), Role.QUIET),
        _standing(row.judged),
        _standing(row.computed),
        *([Span(strength_words(row), Role.QUIET)] if weighed else []),
        Span("<- differ" if row.differs else "", Role.WARNING),
    ]
    if scored:
        cells.insert(-1, Span("-" if row.score is None else f"{row.score:.2f}"))
    if several:
        cells.insert(3, span(compact(row.judges) or "-"))
    return cells


def strength_words(row: TraceLine) -> str:
    """The computed strength, 0 to 1."""
    return "-" if row.strength is None else f"{row.strength:.2f}"


def drew_words(row: TraceLine) -> str:
    """The responses an argument drew."""
    return one_line(", ".join(row.drew), 40) or "nothing"


def _standing(word: str | None) -> Span:
    if not word:
        return Span("-", Role.QUIET)
    shown = one_line(word, 24)
    return Span(_SHORT.get(shown, shown), word_role(shown))


def _stacked(row: TraceLine, width: int) -> list[Line]:
    mark = Span(pad(one_line(row.id, 24), 7), mark_role(row.id, row.side))
    lines = flow([span(one_line(row.claim))], width, first=(Span("  "), mark), hang=9)
    judged, computed = _standing(row.judged), _standing(row.computed)
    found = [
        span(f"drew {drew_words(row)}; judge ", Role.QUIET),
        judged,
        span(f" ({compact(row.judges)})" if len(row.judges) > 1 else "", Role.QUIET),
        Span("; computed ", Role.QUIET),
        computed,
        Span(f", strength {strength_words(row)}", Role.QUIET),
        Span("" if row.score is None else f", score {row.score:.2f}", Role.QUIET),
        Span(" <- differ" if row.differs else "", Role.WARNING),
    ]
    return [*lines, *flow(found, width, first=(Span(" " * 9),), hang=9)]


def advice_lines(report: DebateReport, width: int) -> list[Line]:
    """What is told beside a result."""
    return [line for text in advice(report) for line in flow([span(text, Role.QUIET)], width, hang=2)]


def _point(label: str, text: str, width: int) -> list[Line]:
    return _beside(label, [text], width)


def _beside(label: str, texts: list[str], width: int) -> list[Line]:
    """One entry of the briefing."""
    measure = min(width, MEASURE)
    title: Line = (Span("  "), Span(pad(one_line(label, 60), _LABELS), Role.LABEL))
    lines: list[Line] = []
    if line_columns(title) > 2 + _LABELS or width < _NARROW:
        lines.append((Span("  "), Span(one_line(label, 60), Role.LABEL)))
        title = (Span(" " * 4),)
    column = line_columns(title)
    for number, text in enumerate(texts):
        first = title if number == 0 else (Span(" " * column),)
        lines += flow([span(text)], measure, first=first, hang=column + (2 if len(texts) > 1 else 0))
    return lines


MOST_BRIEFING = 6_000
"""The most characters of ``render_briefing``: about 1,500 tokens."""
_SHORTER = ((10, 600), (6, 300), (3, 160), (1, 90))
"""How many texts an entry has and how long each may be, tried in turn until the whole fits."""
_MOST_ENTRIES = 14
"""Between the result and how sure it is. Rules of a user's own may return any number."""


def render_briefing(report: DebateReport) -> str:
    """The result of a debate and what it rests on, in at most ``MOST_BRIEFING`` characters, without any turn.

    It has the decision, what each part of the verdict says, how sure the result is and what it cost. Texts that do not
    fit are cut, and an entry says how many it leaves out. Of a debate that goes on it says how far it is.
    """
    text = ""
    for most, longest in _SHORTER:
        text = "\n".join(_entry(label, texts, most, longest) for label, texts in _entries(report) if any(texts))
        if len(text) < MOST_BRIEFING:
            break
    return f"{text}\n"


def _entry(label: str, texts: Sequence[str], most: int, longest: int) -> str:
    rows = [one_line(text, longest) for text in texts if text][:most]
    left = sum(map(bool, texts)) - len(rows)
    label = one_line(label, 40)
    if len(rows) == 1 and not left:
        return f"{label}: {rows[0]}"
    return "\n".join([f"{label}:", *(f"- {row}" for row in rows), *([f"- and {left} more"] if left else [])])


def _entries(report: DebateReport) -> list[tuple[str, Sequence[str]]]:
    head = heading(report)
    small = advice(report)[:1] if is_small(report) else ()
    return [
        ("Debate", [f"{report.kind} {report.id}, {report.status.value}"]),
        ("Motion", [report.motion]),
        ("Not whole" if report.closed else "So far", [head.sentence, head.next_step]),
        ("Result", [verdict_sentence(report)]),
        *_verdict_entries(report)[:_MOST_ENTRIES],
        ("How sure", [*sureness(report), *small] if report.closed else []),
        ("Cost", [report.totals.line]),
        ("After the debate", [f"{row.title}: {' '.join(row.texts)}" for row in report.addenda]),
    ]


def _verdict_entries(report: DebateReport) -> list[tuple[str, Sequence[str]]]:
    """The entries between the result and how sure it is, in the order of the format."""
    verdict, panel, match = structured_reading(report), panel_reading(report), match_reading(report)
    if verdict is not None:
        totals = [f"{side} {'none' if total is None else f'{total:.2f}'}" for side, total in verdict.totals.items()]
        scores = f"{', '.join(totals)} ({NOT_TRUTH})" if verdict.judged and totals else ""
        return [("Scores", [scores]), *briefing_points(verdict)]
    if panel is not None:
        findings = [f"{name}, {stance}: {rationale}" for name, stance, rationale in panel.findings]
        last = [count_words(panel.counts[-1], panel.options)] if panel.counts else []
        return [
            ("Votes at the end", [*last, *panel.silences]),
            ("Findings for the author", findings),
            ("Escalation", escalation_sentences(report)),
        ]
    if match is not None:
        final = [(label.capitalize(), [text]) for label, text in match.final]
        return [("Scores", [f"{row.who.upper()} {row.shown}" for row in match.teams]), ("Notes", match.notes), *final]
    headings = five_headings(report)
    if headings is not None:
        return [(title, [text]) for title, text in headings]
    if not report.closed:
        return []
    return [
        (row.mark or "Outcome", [row.lead, *(f"{label}: {text}" if label else text for label, text in row.points)])
        for row in outcome_statements(report.outcome)
    ]
