"""Lays out what a match came to: scoreboard, speeches, penalties, the judge's summaries."""

from __future__ import annotations

from collections.abc import Sequence

from disputatio.report.amounts import spoken
from disputatio.report.columns import pad
from disputatio.report.match import MatchReading, Scored, SpeechReading
from disputatio.report.names import seat_name
from disputatio.report.text_spans import Column, Line, Role, Span, fitting_table, flow, span
from disputatio.report.transcript import seat_role

_MEASURE = 100
_NARROWEST_TEXT = 14


def match_lines(match: MatchReading, width: int) -> list[Line]:
    """The result first, then what it rests on."""
    measure = min(width, _MEASURE)
    lines = flow([span(match.sentence, Role.LEAD)], measure, first=(Span("Result  ", Role.TITLE),), hang=8)
    lines += flow([span(match.best)], measure, first=(span("Best debater  ", Role.LABEL),), hang=8)
    for text in match.notes:
        lines += flow([span(text, Role.WARNING)], measure, first=(Span("  "),), hang=4)
    lines += [(), *_scoreboard(match, measure), (), *_speeches(match, measure)]
    if match.penalties:
        lines += [(), (Span("Penalties", Role.TITLE),)]
        for penalty in match.penalties:
            lines += flow([span(penalty.sentence)], measure, first=(Span("  "),), hang=4)
    fouls = [(row, text) for row in match.speeches for text in row.proven]
    if fouls:
        lines += [(), (Span("Violations", Role.TITLE),)]
        for row, text in fouls:
            lines += flow(
                [span(text)],
                measure,
                first=(Span("  "), _named(f"{row.id} {seat_name(row.seat)}", row.seat, 12)),
                hang=4,
            )
    for stage, points in match.between:
        lines += _summary(f"Summary of {spoken(stage)}", points, measure)
    return [*lines, *_summary("Final verdict", match.final, measure)]


def _scoreboard(match: MatchReading, width: int) -> list[Line]:
    rows = []
    for team in match.teams:
        rows.append(_row(team, "team"))
        rows += [_row(row, row.style or "-") for row in match.debaters if row.who.startswith(f"{team.who}_")]
    head = [
        Column("scoreboard"),
        Column("argues", flexible=True),
        Column("speeches"),
        Column("penalty"),
        Column("total"),
        Column("a speech"),
    ]
    laid = fitting_table(head, rows, width, _NARROWEST_TEXT) if rows else []
    if laid is None:
        laid = [
            line
            for row in (*match.teams, *match.debaters)
            for line in flow(
                [span(f"{row.shown}, penalties {row.penalties}, {row.per_speech} a speech")],
                width,
                first=(Span("  "), _named(seat_name(row.who), row.who, 8)),
            )
        ]
    return [(Span("Scoreboard", Role.TITLE),), *laid]


def _row(row: Scored, style: str) -> list[Span]:
    total = Span(row.shown, Role.LEAD if style == "team" else Role.PLAIN)
    missing = f" ({row.unscored} unscored)" if row.unscored else ""
    return [
        span(seat_name(row.who), seat_role(row.who)),
        span(style, Role.QUIET),
        span(f"{row.speeches}{missing}"),
        span(str(row.penalties) if row.penalties else "-", Role.WARNING if row.penalties else Role.QUIET),
        total,
        span(row.per_speech, Role.QUIET),
    ]


def _speeches(match: MatchReading, width: int) -> list[Line]:
    rows = [
        [
            span(row.id, Role.QUIET),
            span(seat_name(row.seat), seat_role(row.seat)),
            span(f"{row.kind}{' (captain)' if row.selected_by == 'captain' else ''}"),
            span(row.clock, Role.WARNING if row.over else Role.QUIET),
            span(row.cost or "-", Role.WARNING if row.cost else Role.QUIET),
            span(row.shown, Role.LEAD),
        ]
        for row in match.speeches
    ]
    head = [Column(""), Column("speaker"), Column("speech", flexible=True)]
    head += [Column("words"), Column("penalty"), Column("score")]
    laid = fitting_table(head, rows, width, _NARROWEST_TEXT) if rows else []
    if laid is None:
        laid = [line for row in match.speeches for line in _stacked(row, width)]
    return [(Span("Speeches", Role.TITLE), Span("  words against the limit", Role.QUIET)), *laid]


def _stacked(row: SpeechReading, width: int) -> list[Line]:
    text = f"{row.kind}, {row.clock} words, {row.shown}{f', penalty {row.cost}' if row.cost else ''}"
    return flow(
        [span(text)], width, first=(Span("  "), _named(f"{row.id} {seat_name(row.seat)}", row.seat, 10)), hang=4
    )


def _summary(title: str, points: Sequence[tuple[str, str]], width: int) -> list[Line]:
    if not points:
        return []
    lines: list[Line] = [(), (span(title, Role.TITLE),)]
    for label, text in points:
        lines += flow([span(text)], width, first=(Span("  "), span(f"{label.capitalize()}: ", Role.LABEL)), hang=4)
    return lines


def _named(text: str, seat: str, wide: int) -> Span:
    return span(f"{pad(text, wide)} ", seat_role(seat))
