"""Transcripts in Markdown.

The rules of the form (they are told to users in ``docs/reference/transcripts.md``):

- facts of the debate are list lines ``- key: value`` before the first turn;
- a turn begins with a heading ``## Turn 3: PRO Rebuttal 1``: a number that may be left out, the seat, the phase;
- list lines ``- key: value`` directly under the heading are facts of the turn;
- the rest of the turn is its text; a line that begins with ``[ID]`` begins a claim, other lines go on with it;
- a heading ``## Judgments`` begins a table with a column ``judge``, and as a rule one ``winner``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from disputatio.importing.model import (
    Claim,
    ImportedTranscript,
    Judgment,
    SpokenTurn,
    check_claims,
    fail,
    seat_name,
    told,
)
from disputatio.motion import clean, one_line
from disputatio.report.imported import CLAIM_ID

_HEADING = re.compile(r"#{2,4}\s+(.*?)\s*#*\s*")
_TURN = re.compile(r"(?:turn\s+\d+\s*[:.)-]\s*)?(.+)", re.IGNORECASE)
_FACT = re.compile(r"[-*]\s+\**([A-Za-z][\w .-]{0,59}?)\**\s*:\**\s*(.*)")
_CLAIM = re.compile(rf"\[({CLAIM_ID.pattern})\]\s*(.*)")
_JUDGMENTS = re.compile(r"judge?ments?|judges|verdicts?", re.IGNORECASE)
_MOTION = ("motion", "proposition", "resolution", "topic", "question")
_HELD = ("held", "held_at", "date", "time")
_FORM = "A turn begins with a heading such as `## Turn 1: PRO Opening`; see the reference on transcripts."


@dataclass(slots=True)
class _Section:
    """The lines under one heading. ``line`` is that of the heading, counted from one."""

    title: str
    line: int
    facts: list[tuple[str, str]] = field(default_factory=list)
    body: list[str] = field(default_factory=list)


def read_markdown_transcript(file: str, text: str) -> ImportedTranscript:
    """The transcript in ``text``.

    Raises:
        InvalidInputError: it has no motion or no turn, or a turn is not as it must be; the sentence names the line.
    """
    head, *sections = _sections(text)
    judged = [row for row in sections if _JUDGMENTS.fullmatch(row.title)]
    turns = [(f"line {row.line}", _turn(file, row)) for row in sections if row not in judged]
    if not turns:
        fail(file, "", "it has no turn", _FORM)
    check_claims(file, turns)
    facts = told(head.facts)
    motion = _taken(facts, _MOTION)
    if not any(char.isalnum() for char in motion):
        fail(file, "", "it does not say what was debated", "Add a line `- motion: ...` before the first turn.")
    named = dict.fromkeys(turn.seat for _, turn in turns)
    seats = {seat: one_line(_taken(facts, (f"model_{seat}", f"model-{seat}", seat)), 120) for seat in named}
    return ImportedTranscript(
        file=file,
        text=text,
        motion=one_line(motion),
        language=one_line(_taken(facts, ("language",)), 60),
        held=one_line(_taken(facts, _HELD), 60),
        seats=seats,
        turns=tuple(turn for _, turn in turns),
        judgments=tuple(row for section in judged for row in _judgments(file, section)),
        stated=facts,
    )


def _sections(text: str) -> Iterator[_Section]:
    """What stands before the first heading of a turn, then each heading with what stands under it."""
    section = _Section("", 1)
    for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        line = clean(raw).rstrip()
        heading = _HEADING.fullmatch(line)
        if heading and heading[1]:
            yield section
            section = _Section(one_line(heading[1], 200), number)
            continue
        fact = _FACT.fullmatch(line.strip())
        if fact and not any(row.strip() for row in section.body):
            section.facts.append((fact[1], fact[2]))
        elif section.title:
            section.body.append(line)
    yield section


def _taken(facts: dict[str, str], names: tuple[str, ...]) -> str:
    """The value of the first of ``names`` that is stated, taken out of the facts."""
    for name in names:
        key = next((key for key in facts if key.lower().replace(" ", "_") == name), None)
        if key is not None:
            return facts.pop(key)
    return ""


def _turn(file: str, section: _Section) -> SpokenTurn:
    found = _TURN.fullmatch(section.title)
    words = found[1] if found else section.title
    who, colon, what = words.partition(":")
    if not colon:
        who, _, what = words.partition(" ")
    seat = seat_name(who)
    if not seat:
        fail(file, f"line {section.line}", "the heading names no seat", _FORM)
    facts = told(section.facts)
    at = _taken(facts, ("at", *_HELD))
    return SpokenTurn(seat, one_line(what.strip(" -"), 60).lower(), tuple(_claims(section.body)), at, facts)


def _claims(body: list[str]) -> Iterator[Claim]:
    name, lines = "", list[str]()
    for line in body:
        begun = _CLAIM.fullmatch(line.strip())
        if begun:
            if any(row.strip() for row in lines):
                yield Claim(name, "\n".join(lines).strip())
            name, lines = begun[1], [begun[2]]
        else:
            lines.append(line)
    if any(row.strip() for row in lines):
        yield Claim(name, re.sub(r"\n{3,}", "\n\n", "\n".join(lines).strip()))


def _judgments(file: str, section: _Section) -> Iterator[Judgment]:
    rows = [_cells(line) for line in section.body if line.strip().startswith("|")]
    head = [cell.lower() for cell in rows[0]] if rows else []
    if "judge" not in head:
        what = "the judgments are no table with a column `judge`"
        fail(file, f"line {section.line}", what, "Write them as `| Judge | Winner | ... |` with a row for each judge.")
    for row in rows[1:]:
        if all(set(cell) <= set("-: ") for cell in row):
            continue
        stated = told(zip(head, row, strict=False))
        judge, winner = stated.pop("judge", ""), stated.pop("winner", "")
        yield Judgment(one_line(judge, 120) or "unnamed", one_line(winner, 120), stated)


def _cells(line: str) -> list[str]:
    return [one_line(cell.replace("\\|", "|"), 400) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
