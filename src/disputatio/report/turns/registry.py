"""Finds the kind of a turn by the name that the record stores, and reads what was said in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from disputatio.formats.jury import make_revealer
from disputatio.report.citations import CitationReading
from disputatio.report.turns import market, review, speeches, structured
from disputatio.report.turns.statement import Questions, Statement, target_of
from disputatio.report.turns.turn_kind import TurnKind

_KINDS = {
    kind.name: kind
    for kind in (
        *structured.TURNS,
        *review.TURNS,
        *market.TURNS,
        *speeches.FREEFORM,
        *speeches.PANEL,
        *speeches.COMPETITION,
        *speeches.IMPORTED,
        *speeches.CUSTOM,
    )
}


def turn_kind(name: str) -> TurnKind:
    """The kind of turn with this name. An unknown kind is shown key by key."""
    return _KINDS.get(name) or TurnKind(name)


def statements(
    kind: TurnKind,
    seat: str,
    content: Mapping[str, Any],
    questions: Questions | None = None,
    citations: Sequence[CitationReading] = (),
    unstated: Sequence[tuple[str, tuple[str, ...]]] = (),
) -> tuple[Statement, ...]:
    """What ``seat`` says in ``content``, which may be incomplete.

    Args:
        kind: the kind of turn.
        seat: who speaks.
        content: the turn as JSON.
        questions: the questions put earlier, so that answers can show what they answer.
        citations: the checked citations of the turn, each with the argument that it supports or answers.
        unstated: the figures that no source has, by the argument they are about.
    """
    rows = _with_citations(kind.statements(seat, content, questions), citations)
    loose = {about: ", ".join(figures) for about, figures in unstated if figures}
    return tuple(
        replace(row, points=(*row.points, ("In no source", figures))) if (figures := loose.get(target_of(row))) else row
        for row in rows
    )


def _with_citations(rows: tuple[Statement, ...], citations: Sequence[CitationReading]) -> tuple[Statement, ...]:
    if not citations:
        return rows
    marks = {target_of(row) for row in rows}
    cited: dict[str, list[CitationReading]] = {}
    for row in citations:
        cited.setdefault(row.about, []).append(row)
    placed = [replace(row, citations=tuple(cited.get(target_of(row), ()))) for row in rows]
    lost = [Statement(about, citations=tuple(cites)) for about, cites in cited.items() if about not in marks]
    return (*placed, *lost)


_ORDER = re.compile(r"/(pro|con)-first(-again)?/|/(again)/")


def sitting_of(path: str) -> str:
    """``pro shown first``, ``con shown first``, ``again, pro shown first``; empty for the one ordinary sitting."""
    found = _ORDER.search(path)
    if found is None:
        return ""
    words = ["again"] if found[2] or found[3] else []
    return ", ".join([*words, f"{found[1]} shown first"] if found[1] else words)


def with_real_names(path: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """``content`` with the real names of the sides and arguments, where the judge saw neutral ones."""
    found = _ORDER.search(path)
    arguments = content.get("arguments")
    if found is None or not found[1]:
        return content
    order = ("pro", "con") if found[1] == "pro" else ("con", "pro")
    named: dict[str, Any] = _renamed(content, make_revealer(order, arguments if isinstance(arguments, Mapping) else {}))
    return named


def _renamed(value: Any, reveal: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {reveal(key): _renamed(row, reveal) for key, row in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(row, reveal) for row in value]
    return reveal(value) if isinstance(value, str) else value
