"""Lays out the table of a market debate by analyst, and what is printed beside every result of one."""

from __future__ import annotations

from disputatio.report.columns import pad
from disputatio.report.market import MarketReading
from disputatio.report.text_spans import Column, Line, Role, Span, fitting_table, flow, span
from disputatio.report.transcript import seat_role

_MEASURE = 110
_NARROWEST_TEXT = 12


def analyst_lines(market: MarketReading, width: int) -> list[Line]:
    """The table by analyst; stacked where the width does not hold it."""
    rows = [
        [
            span(row.seat, seat_role(row.seat)),
            span(row.shown_score, Role.LEAD),
            span(row.shown_confidence),
            span(row.conviction or "-", Role.QUIET),
            span(row.standings or row.silent or "no argument", Role.WARNING if row.silent else Role.PLAIN),
            span(row.figures or "-", Role.QUIET),
        ]
        for row in market.analysts
    ]
    head = [
        Column("analyst"),
        Column("score"),
        Column("confidence"),
        Column("conviction"),
        Column("standings", flexible=True),
        Column("figures"),
    ]
    laid = fitting_table(head, rows, min(width, _MEASURE), _NARROWEST_TEXT) if rows else []
    if laid is None:
        laid = [
            line
            for row in market.analysts
            for line in flow(
                [
                    span(f"{row.shown_score}, confidence {row.shown_confidence}, {row.conviction or 'no closing'}; "),
                    span(row.standings or row.silent or "no argument"),
                ],
                width,
                first=(Span("  "), span(pad(row.seat, 11), seat_role(row.seat))),
                hang=13,
            )
        ]
    about = f"{market.subject}, as known on {market.day}"
    title = flow([span(about, Role.QUIET)], width, first=(Span("By analyst  ", Role.TITLE),), hang=2)
    return [*title, *laid]
