"""Transcripts in JSON: one object with ``motion`` and ``turns``, and what else is known.

Each turn has ``seat`` and either ``text`` or ``claims`` (objects with ``text`` and, where there is one, ``id``). It may
have ``phase`` and ``at``, and the debate ``language``, ``held``, ``seats`` (seat to name) and ``judgments`` (objects
with ``judge`` and ``winner``). What else stands there is kept as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.importing.transcript import (
    Claim,
    ImportedTranscript,
    Judgment,
    SpokenTurn,
    check_claims,
    fail,
    file_name,
    seat_name,
    told,
)
from disputatio.motion import MAX_MOTION_CHARS, clean, one_line
from disputatio.report.imported import CLAIM_ID

_JSON_HELP = "See the reference on transcripts for the form."
_MOST_DEEP = "it is nested too deeply"


def read_json_transcript(file: str, text: str) -> ImportedTranscript:
    """The transcript in ``text``.

    Raises:
        InvalidInputError: it is no JSON, or a key is missing or of another kind; the sentence names the key.
    """
    body = _object(file, "", _loaded(file, text))
    rest = dict(body)
    motion = _text(file, "motion", rest.pop("motion", ""))
    if not any(char.isalnum() for char in motion):
        fail(file, "motion", "it does not say what was debated", "Give the motion as a string.")
    rows = rest.pop("turns", None)
    if not isinstance(rows, list) or not rows:
        fail(file, "turns", "it is no list of turns", _JSON_HELP)
    turns = [(f"turns[{number}]", _turn(file, f"turns[{number}]", row)) for number, row in enumerate(rows)]
    check_claims(file, turns)
    names = _object(file, "seats", rest.pop("seats", {}))
    known = {seat_name(key): one_line(_named(file, f"seats.{key}", value), 120) for key, value in names.items()}
    judged = rest.pop("judgments", [])
    if not isinstance(judged, list):
        fail(file, "judgments", "it is no list", _JSON_HELP)
    return ImportedTranscript(
        file=file,
        text=text,
        motion=one_line(motion),
        language=one_line(_text(file, "language", rest.pop("language", "")), 60),
        held=one_line(_text(file, "held", rest.pop("held", "")), 60),
        seats={seat: known.get(seat, "") for seat in dict.fromkeys(turn.seat for _, turn in turns)},
        turns=tuple(turn for _, turn in turns),
        judgments=tuple(_judgment(file, f"judgments[{number}]", row) for number, row in enumerate(judged)),
        stated=_stated(file, "", rest),
    )


def _loaded(file: str, text: str) -> Any:
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        fail(file, "", _MOST_DEEP, _JSON_HELP)
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        fail(file, f"line {line}" if line else "", "it is no JSON", "Correct it, or give the transcript as Markdown.")


def _object(file: str, place: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        fail(file, place, "it is no JSON object", _JSON_HELP)
    return value


def _text(file: str, place: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        fail(file, place, "it is no text", _JSON_HELP)
    return clean(str(value)).strip()


def _named(file: str, place: str, value: Any) -> str:
    """Who sits in a seat: a name, or an object with one under ``model`` or ``name``."""
    if isinstance(value, dict):
        value = value.get("model") or value.get("name") or ""
    return _text(file, place, value)


def _turn(file: str, place: str, value: Any) -> SpokenTurn:
    rest = dict(_object(file, place, value))
    seat = seat_name(_text(file, f"{place}.seat", rest.pop("seat", "")))
    if not seat:
        fail(file, f"{place}.seat", "it names no seat", "Give each turn the seat that spoke.")
    claims = rest.pop("claims", None)
    said: tuple[Claim, ...]
    if claims is None:
        said = (Claim("", _text(file, f"{place}.text", rest.pop("text", ""))),)
    elif isinstance(claims, list):
        said = tuple(_claim(file, f"{place}.claims[{number}]", row) for number, row in enumerate(claims))
    else:
        fail(file, f"{place}.claims", "it is no list of claims", _JSON_HELP)
    phase = one_line(_text(file, f"{place}.phase", rest.pop("phase", "")), 60).lower()
    at = one_line(_text(file, f"{place}.at", rest.pop("at", "")), 60)
    return SpokenTurn(seat, phase, said, at, _stated(file, place, rest))


def _claim(file: str, place: str, value: Any) -> Claim:
    row = {"text": value} if isinstance(value, str) else _object(file, place, value)
    name = _text(file, f"{place}.id", row.get("id", ""))
    if name and not CLAIM_ID.fullmatch(name):
        fail(file, f"{place}.id", "it is no id", "Write ids like P1.2 or CON-3: letters, then a number.")
    return Claim(name, _text(file, f"{place}.text", row.get("text", "")))


def _judgment(file: str, place: str, value: Any) -> Judgment:
    rest = dict(_object(file, place, value))
    judge = one_line(_text(file, f"{place}.judge", rest.pop("judge", "")), 120)
    winner = one_line(_text(file, f"{place}.winner", rest.pop("winner", "")), 120)
    return Judgment(judge or "unnamed", winner, _stated(file, place, rest))


def _stated(file: str, place: str, rest: Mapping[str, Any]) -> dict[str, str]:
    """What else is stated; anything but a plain value as its JSON."""
    try:
        return told(
            (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
            for key, value in rest.items()
        )
    except RecursionError:
        # From Python 3.14 on its reader goes deeper than its writer can.
        fail(file, place, _MOST_DEEP, _JSON_HELP)


MAX_TRANSCRIPT_BYTES = 8 * 1024 * 1024
"""The largest file that is read."""


def read_transcript(path: str | Path) -> ImportedTranscript:
    """The transcript in the file at ``path``.

    Raises:
        InvalidInputError: it cannot be read or is no transcript; one sentence names the file and the line or key.
    """
    file = file_name(str(path))
    try:
        # No more than could be used: some files, such as devices, never end.
        with Path(path).open("rb") as opened:
            raw = opened.read(MAX_TRANSCRIPT_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InvalidInputError(
            f"The transcript {one_line(str(path), 200)} cannot be read: {reason}.",
            "Give the path of a transcript in Markdown or JSON.",
        ) from None
    if len(raw) > MAX_TRANSCRIPT_BYTES:
        fail(file, "", f"it is larger than {MAX_TRANSCRIPT_BYTES:,} bytes", "Give one debate a file.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        fail(file, "", "it is not UTF-8 text", "Save it as UTF-8.")
    if "\x00" in text:
        fail(file, "", "it looks like binary data, not text", "Give a transcript in Markdown or JSON.")
    is_json = file.lower().endswith(".json") or text.lstrip("\ufeff \t\r\n").startswith("{")
    transcript = read_json_transcript(file, text) if is_json else read_markdown_transcript(file, text)
    if len(transcript.motion) > MAX_MOTION_CHARS:
        fail(file, "", f"its motion is longer than {MAX_MOTION_CHARS:,} characters", "State it in a sentence or two.")
    return transcript


_HEADING = re.compile(r"#{2,4}\s+(.*?)\s*#*\s*")
_TURN = re.compile(r"(?:turn\s+\d+\s*[:.)-]\s*)?(.+)", re.IGNORECASE)
_FACT = re.compile(r"[-*]\s+\**([A-Za-z][\w .-]{0,59}?)\**\s*:\**\s*(.*)")
_CLAIM = re.compile(rf"\[({CLAIM_ID.pattern})\]\s*(.*)")
_JUDGMENTS = re.compile(r"judge?ments?|judges|verdicts?", re.IGNORECASE)
_MOTION = ("motion", "proposition", "resolution", "topic", "question")
_HELD = ("held", "held_at", "date", "time")
_MARKDOWN_HELP = "A turn begins with a heading such as `## Turn 1: PRO Opening`; see the reference on transcripts."


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
    turns = [(f"line {row.line}", _read_turn(file, row)) for row in sections if row not in judged]
    if not turns:
        fail(file, "", "it has no turn", _MARKDOWN_HELP)
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


def _read_turn(file: str, section: _Section) -> SpokenTurn:
    found = _TURN.fullmatch(section.title)
    words = found[1] if found else section.title
    who, colon, what = words.partition(":")
    if not colon:
        who, _, what = words.partition(" ")
    seat = seat_name(who)
    if not seat:
        fail(file, f"line {section.line}", "the heading names no seat", _MARKDOWN_HELP)
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
