"""Lay out what a person in a seat may see: the messages to the seat, the task, and their own draft."""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from typing import Any

from disputatio._terminal.seat.asking import COMMANDS
from disputatio.kernel import Message
from disputatio.kernel.transcript import PUBLIC
from disputatio.motion import one_line
from disputatio.participants.human import TurnRequest
from disputatio.participants.human.turn_form import label_of
from disputatio.report.amounts import spoken
from disputatio.report.columns import cut
from disputatio.report.text_spans import Line, Role, Span, flow, labelled, span
from disputatio.report.transcript import seat_role

_BULLETS = re.compile(r"^[-*] `?[a-z_]+`?: .*$\n?", re.MULTILINE)


def find_unseen(request: TurnRequest, shown: Set[Message], count_shown: Callable[[str], int]) -> list[Message]:
    """The messages that were neither shown to this seat before nor on the screen in this session.

    The screen shows public turns in order, so it did not show the first ones of a seat.
    """
    public: dict[str, list[Message]] = {}
    for row in request.heard:
        if row.channel == PUBLIC:
            public.setdefault(row.seat, []).append(row)
    unseen = {id(row) for seat, rows in public.items() for row in rows[: max(0, len(rows) - count_shown(seat))]}
    return [row for row in request.heard if row not in shown and (row.channel != PUBLIC or id(row) in unseen)]


def turn_lines(request: TurnRequest, messages: list[Message], width: int, *, first: bool) -> list[Line]:
    """The head of a turn: new messages, the speaker, and the task."""
    lines: list[Line] = []
    if messages:
        lines += [(), (Span("  What your seat has heard", Role.TITLE),)]
        for message in messages:
            lines += message_lines(message, width)
    limit = request.word_limit
    most = f"at most {limit} words" if limit is not None else ""
    phase = spoken(one_line(request.ask.phase, 40))
    title = (
        Span(f"  YOUR TURN  {request.seat.upper()}", seat_role(request.seat)),
        span(cut(f"  {phase}{'  ' if most else ''}{most}", width - 14 - len(request.seat)), Role.LEAD),
    )
    lines += [(), title]
    if request.reasons:
        return lines
    if first:
        lines += _text(f"Motion: {request.situation.motion}", width, Role.PLAIN)
        if request.situation.language != "English":
            lines += _text(f"Language: {request.situation.language}", width, Role.PLAIN)
        if request.situation.role:
            lines += _text(request.situation.role, width, Role.QUIET)
    lines += _text(_BULLETS.sub("", request.situation.task).strip(), width, Role.QUIET)
    if first:
        sources = ", ".join(title or name for name, title, _ in request.situation.sources)
        also = f" The sources are: {sources}." if sources else ""
        lines += _text(f"/help lists further commands.{also}", width, Role.QUIET)
    return lines


def message_lines(message: Message, width: int) -> list[Line]:
    """The lines of one message."""
    where = (
        ""
        if message.channel == PUBLIC
        else "  to your team alone"
        if message.channel.startswith("team_")
        else "  a note"
    )
    phase = spoken(one_line(message.phase, 40))
    head = (
        Span("  "),
        Span(one_line(message.seat, 40).upper(), seat_role(message.seat)),
        span(f"  {phase}{where}", Role.QUIET),
    )
    return [head, *_text(message.text, width, Role.PLAIN, indent=4)]


def reason_lines(request: TurnRequest, width: int) -> list[Line]:
    """Why the last answer was refused."""
    broke = request.because == "rule"
    what = "It breaks a rule. You can change it once:" if broke else "It was refused:"
    lines = flow([span(what, Role.WARNING)], width, first=(Span("  "),), hang=2)
    for reason in request.reasons:
        lines += flow([span(one_line(reason, 300), Role.WARNING)], width, first=(Span("  - "),), hang=4)
    return lines


def draft_lines(request: TurnRequest, content: Any, width: int) -> list[Line]:
    """The answer so far, by the numbers of its fields."""
    lines: list[Line] = [(), (Span("  Your answer", Role.TITLE),)]
    for number, row in enumerate(request.sheet.fields, start=1):
        lines += flow(
            [span(f"{row.name}: ", Role.LABEL), span(_format_value(content.get(row.key)))],
            width,
            first=(Span(f"  {number}  "),),
            hang=5,
        )
    return lines


def _format_value(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{label_of(str(key))}: {_format_value(row)}" for key, row in value.items())
    if isinstance(value, list):
        return "\n".join(f"{number}. {_format_value(row)}" for number, row in enumerate(value, start=1)) or "none"
    return str(value)


def command_lines(word: str, request: TurnRequest, width: int) -> list[Line]:
    """The output of a command."""
    situation = request.situation
    if word == "/floor":
        lines = [line for message in request.heard for line in message_lines(message, width)]
        return lines or paragraph_lines("Your seat has heard nothing yet.", width, Role.QUIET)
    if word == "/task":
        return _text("\n\n".join(filter(None, (situation.role, situation.task))), width, Role.PLAIN)
    if word == "/rules":
        return _text(situation.rules, width, Role.PLAIN)
    if word == "/sources":
        texts = [f"{title or name}\n{text}" for name, title, text in situation.sources]
        return _text("\n\n".join(texts) or "There are no sources.", width, Role.PLAIN)
    rows: list[Line] = []
    for name, about in COMMANDS.items():
        rows += labelled(f"  {name}", [span(about)], width, column=12)
    return rows


def paragraph_lines(text: str, width: int, role: Role = Role.PLAIN) -> list[Line]:
    """The lines of a paragraph. A warning has a mark besides its colour."""
    return _text(f"! {text}" if role is Role.WARNING else text, width, role)


def _text(text: str, width: int, role: Role, indent: int = 2) -> list[Line]:
    return flow([span(text, role)], width, first=(Span(" " * indent),), hang=indent) if text else []
