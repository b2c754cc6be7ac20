"""Lays out what a person in a seat is shown: what it has heard, the task, its own draft. Nothing else of the debate."""

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


def unheard(request: TurnRequest, shown: Set[Message], told_of: Callable[[str], int]) -> list[Message]:
    """The posts that were neither shown to this seat before nor told on the screen in this session.

    The screen tells public turns in order, so the first ones of a seat are those that it did not tell.
    """
    fresh: list[Message] = []
    public: dict[str, list[Message]] = {}
    for post in request.heard:
        if post.channel == PUBLIC:
            public.setdefault(post.seat, []).append(post)
    untold = {id(post) for seat, posts in public.items() for post in posts[: max(0, len(posts) - told_of(seat))]}
    for post in request.heard:
        if post in shown or (post.channel == PUBLIC and id(post) not in untold):
            continue
        fresh.append(post)
    return fresh


def turn_lines(request: TurnRequest, posts: list[Message], width: int, *, first: bool) -> list[Line]:
    """The head of a turn: what is new on the floor, who is to speak, the task."""
    lines: list[Line] = []
    if posts:
        lines += [(), (Span("  What your seat has heard", Role.TITLE),)]
        for post in posts:
            lines += post_lines(post, width)
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
        also = f" Sources before you: {sources}." if sources else ""
        lines += _text(f"/help shows what you can do besides writing.{also}", width, Role.QUIET)
    return lines


def post_lines(post: Message, width: int) -> list[Line]:
    """One thing that was said."""
    where = "" if post.channel == PUBLIC else "  to your team alone" if post.channel.startswith("team_") else "  a note"
    phase = spoken(one_line(post.phase, 40))
    head = (
        Span("  "),
        Span(one_line(post.seat, 40).upper(), seat_role(post.seat)),
        span(f"  {phase}{where}", Role.QUIET),
    )
    return [head, *_text(post.text, width, Role.PLAIN, indent=4)]


def reason_lines(request: TurnRequest, width: int) -> list[Line]:
    """Why the last answer was not taken."""
    broke = request.because == "rule"
    what = "It breaks a rule; you can change it once:" if broke else "It was not taken:"
    lines = flow([span(what, Role.WARNING)], width, first=(Span("  "),), hang=2)
    for reason in request.reasons:
        lines += flow([span(one_line(reason, 300), Role.WARNING)], width, first=(Span("  - "),), hang=4)
    return lines


def draft_lines(request: TurnRequest, content: Any, width: int) -> list[Line]:
    """The answer as it stands, by the numbers of its fields."""
    lines: list[Line] = [(), (Span("  What you are about to give", Role.TITLE),)]
    for number, row in enumerate(request.sheet.fields, start=1):
        lines += flow(
            [span(f"{row.name}: ", Role.LABEL), span(_shown(content.get(row.key)))],
            width,
            first=(Span(f"  {number}  "),),
            hang=5,
        )
    return lines


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{label_of(str(key))}: {_shown(row)}" for key, row in value.items())
    if isinstance(value, list):
        return "\n".join(f"{number}. {_shown(row)}" for number, row in enumerate(value, start=1)) or "none"
    return str(value)


def command_lines(word: str, request: TurnRequest, width: int) -> list[Line]:
    """What a command shows."""
    situation = request.situation
    if word == "/floor":
        posts = [line for post in request.heard for line in post_lines(post, width)]
        return posts or paragraph_lines("Your seat has heard nothing yet.", width, Role.QUIET)
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
    """One paragraph; a warning says so without its colour too."""
    return _text(f"! {text}" if role is Role.WARNING else text, width, role)


def _text(text: str, width: int, role: Role, indent: int = 2) -> list[Line]:
    return flow([span(text, role)], width, first=(Span(" " * indent),), hang=indent) if text else []
