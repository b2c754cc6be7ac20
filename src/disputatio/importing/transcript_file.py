"""Read transcripts from JSON or Markdown files, recognised by their content.

JSON is one object with ``motion`` and ``turns``. Each turn has ``seat`` and either ``text`` or ``claims`` (objects with
``text`` and optional ``id``), and may have ``phase`` and ``at``. The debate may have ``language``, ``held``, ``seats``
(seat to name) and ``judgments`` (objects with ``judge`` and ``winner``). Other keys are kept.

Markdown has these rules, documented in ``docs/reference/transcripts.md``:

- facts of the debate are list lines ``- key: value`` before the first turn;
- a turn begins with a heading ``## Turn 3: PRO Rebuttal 1``: an optional number, the seat, the phase;
- list lines ``- key: value`` directly under the heading are facts of the turn;
- the rest of the turn is its text; a line that begins with ``[ID]`` begins a claim, other lines continue it;
- a heading ``## Judgments`` begins a table with a column ``judge`` and usually one ``winner``.
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
    clean_facts,
    normalise_seat_name,
    refuse_file,
    take_file_name,
)
from disputatio.motion import MAX_MOTION_CHARS, clean, one_line
from disputatio.report.imported import CLAIM_ID

_JSON_HELP = "See the reference on transcripts for the form."
_TOO_DEEP = "it is nested too deeply"


def read_json_transcript(file: str, text: str) -> ImportedTranscript:
    """Read a JSON transcript.

    Raises:
        InvalidInputError: it is not JSON, or a key is missing or of the wrong type; the sentence names the key.
    """
    body = _read_object(file, "", _parse_json(file, text))
    rest = dict(body)
    motion = _read_text(file, "motion", rest.pop("motion", ""))
    if not any(char.isalnum() for char in motion):
        refuse_file(file, "motion", "it does not say what was debated", "Give the motion as a string.")
    rows = rest.pop("turns", None)
    if not isinstance(rows, list) or not rows:
        refuse_file(file, "turns", "it is not a list of turns", _JSON_HELP)
    turns = [(f"turns[{number}]", _read_json_turn(file, f"turns[{number}]", row)) for number, row in enumerate(rows)]
    check_claims(file, turns)
    names = _read_object(file, "seats", rest.pop("seats", {}))
    known = {
        normalise_seat_name(key): one_line(_read_name(file, f"seats.{key}", value), 120) for key, value in names.items()
    }
    judged = rest.pop("judgments", [])
    if not isinstance(judged, list):
        refuse_file(file, "judgments", "it is not a list", _JSON_HELP)
    return ImportedTranscript(
        file=file,
        text=text,
        motion=one_line(motion),
        language=one_line(_read_text(file, "language", rest.pop("language", "")), 60),
        held=one_line(_read_text(file, "held", rest.pop("held", "")), 60),
        seats={seat: known.get(seat, "") for seat in dict.fromkeys(turn.seat for _, turn in turns)},
        turns=tuple(turn for _, turn in turns),
        judgments=tuple(_read_judgment(file, f"judgments[{number}]", row) for number, row in enumerate(judged)),
        stated=_read_stated(file, "", rest),
    )


def _parse_json(file: str, text: str) -> Any:
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        refuse_file(file, "", _TOO_DEEP, _JSON_HELP)
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        refuse_file(
            file, f"line {line}" if line else "", "it is not JSON", "Correct it, or give the transcript as Markdown."
        )


def _read_object(file: str, place: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        refuse_file(file, place, "it is not a JSON object", _JSON_HELP)
    return value


def _read_text(file: str, place: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        refuse_file(file, place, "it is not text", _JSON_HELP)
    return clean(str(value)).strip()


def _read_name(file: str, place: str, value: Any) -> str:
    """Read who sits in a seat: a name, or an object with ``model`` or ``name``."""
    if isinstance(value, dict):
        value = value.get("model") or value.get("name") or ""
    return _read_text(file, place, value)


def _read_json_turn(file: str, place: str, value: Any) -> SpokenTurn:
    rest = dict(_read_object(file, place, value))
    seat = normalise_seat_name(_read_text(file, f"{place}.seat", rest.pop("seat", "")))
    if not seat:
        refuse_file(file, f"{place}.seat", "it does not name a seat", "Give each turn the seat that spoke.")
    claims = rest.pop("claims", None)
    said: tuple[Claim, ...]
    if claims is None:
        said = (Claim("", _read_text(file, f"{place}.text", rest.pop("text", ""))),)
    elif isinstance(claims, list):
        said = tuple(_read_claim(file, f"{place}.claims[{number}]", row) for number, row in enumerate(claims))
    else:
        refuse_file(file, f"{place}.claims", "it is not a list of claims", _JSON_HELP)
    phase = one_line(_read_text(file, f"{place}.phase", rest.pop("phase", "")), 60).lower()
    at = one_line(_read_text(file, f"{place}.at", rest.pop("at", "")), 60)
    return SpokenTurn(seat, phase, said, at, _read_stated(file, place, rest))


def _read_claim(file: str, place: str, value: Any) -> Claim:
    row = {"text": value} if isinstance(value, str) else _read_object(file, place, value)
    name = _read_text(file, f"{place}.id", row.get("id", ""))
    if name and not CLAIM_ID.fullmatch(name):
        refuse_file(file, f"{place}.id", "it is not an id", "Write ids like P1.2 or CON-3: letters, then a number.")
    return Claim(name, _read_text(file, f"{place}.text", row.get("text", "")))


def _read_judgment(file: str, place: str, value: Any) -> Judgment:
    rest = dict(_read_object(file, place, value))
    judge = one_line(_read_text(file, f"{place}.judge", rest.pop("judge", "")), 120)
    winner = one_line(_read_text(file, f"{place}.winner", rest.pop("winner", "")), 120)
    return Judgment(judge or "unnamed", winner, _read_stated(file, place, rest))


def _read_stated(file: str, place: str, rest: Mapping[str, Any]) -> dict[str, str]:
    """Keep other facts as text; nested values as JSON."""
    try:
        return clean_facts(
            (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
            for key, value in rest.items()
        )
    except RecursionError:
        # From Python 3.14 on the JSON reader nests deeper than the writer can.
        refuse_file(file, place, _TOO_DEEP, _JSON_HELP)


MAX_TRANSCRIPT_BYTES = 8 * 1024 * 1024
"""The largest file that is read."""


def read_transcript(path: str | Path) -> ImportedTranscript:
    """Read the transcript at ``path``.

    Raises:
        InvalidInputError: it cannot be read or is not a transcript; the sentence names the file and the line or key.
    """
    file = take_file_name(str(path))
    try:
        # Read no more than needed: some files, such as devices, never end.
        with Path(path).open("rb") as opened:
            raw = opened.read(MAX_TRANSCRIPT_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InvalidInputError(
            f"The transcript {one_line(str(path), 200)} cannot be read: {reason}.",
            "Give the path of a transcript in Markdown or JSON.",
        ) from None
    if len(raw) > MAX_TRANSCRIPT_BYTES:
        refuse_file(file, "", f"it is larger than {MAX_TRANSCRIPT_BYTES:,} bytes", "Give one debate a file.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        refuse_file(file, "", "it is not UTF-8 text", "Save it as UTF-8.")
    if "\x00" in text:
        refuse_file(file, "", "it looks like binary data, not text", "Give a transcript in Markdown or JSON.")
    is_json = file.lower().endswith(".json") or text.lstrip("\ufeff \t\r\n").startswith("{")
    transcript = read_json_transcript(file, text) if is_json else read_markdown_transcript(file, text)
    if len(transcript.motion) > MAX_MOTION_CHARS:
        refuse_file(
            file, "", f"its motion is longer than {MAX_MOTION_CHARS:,} characters", "State it in a sentence or two."
        )
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
    """The lines under one heading. ``line`` is the line number of the heading, from one."""

    title: str
    line: int
    facts: list[tuple[str, str]] = field(default_factory=list)
    body: list[str] = field(default_factory=list)


def read_markdown_transcript(file: str, text: str) -> ImportedTranscript:
    """Read a Markdown transcript.

    Raises:
        InvalidInputError: it has no motion or no turn, or a turn is malformed; the sentence names the line.
    """
    head, *sections = _split_sections(text)
    judged = [row for row in sections if _JUDGMENTS.fullmatch(row.title)]
    turns = [(f"line {row.line}", _read_markdown_turn(file, row)) for row in sections if row not in judged]
    if not turns:
        refuse_file(file, "", "it has no turn", _MARKDOWN_HELP)
    check_claims(file, turns)
    facts = clean_facts(head.facts)
    motion = _take_fact(facts, _MOTION)
    if not any(char.isalnum() for char in motion):
        refuse_file(file, "", "it does not say what was debated", "Add a line `- motion: ...` before the first turn.")
    named = dict.fromkeys(turn.seat for _, turn in turns)
    seats = {seat: one_line(_take_fact(facts, (f"model_{seat}", f"model-{seat}", seat)), 120) for seat in named}
    return ImportedTranscript(
        file=file,
        text=text,
        motion=one_line(motion),
        language=one_line(_take_fact(facts, ("language",)), 60),
        held=one_line(_take_fact(facts, _HELD), 60),
        seats=seats,
        turns=tuple(turn for _, turn in turns),
        judgments=tuple(row for section in judged for row in _read_judgments(file, section)),
        stated=facts,
    )


def _split_sections(text: str) -> Iterator[_Section]:
    """Yield the lines before the first heading, then each heading with its lines."""
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


def _take_fact(facts: dict[str, str], names: tuple[str, ...]) -> str:
    """Remove and return the value of the first of ``names`` that is stated."""
    for name in names:
        key = next((key for key in facts if key.lower().replace(" ", "_") == name), None)
        if key is not None:
            return facts.pop(key)
    return ""


def _read_markdown_turn(file: str, section: _Section) -> SpokenTurn:
    found = _TURN.fullmatch(section.title)
    words = found[1] if found else section.title
    who, colon, what = words.partition(":")
    if not colon:
        who, _, what = words.partition(" ")
    seat = normalise_seat_name(who)
    if not seat:
        refuse_file(file, f"line {section.line}", "the heading does not name a seat", _MARKDOWN_HELP)
    facts = clean_facts(section.facts)
    at = _take_fact(facts, ("at", *_HELD))
    return SpokenTurn(seat, one_line(what.strip(" -"), 60).lower(), tuple(_split_claims(section.body)), at, facts)


def _split_claims(body: list[str]) -> Iterator[Claim]:
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


def _read_judgments(file: str, section: _Section) -> Iterator[Judgment]:
    rows = [_split_cells(line) for line in section.body if line.strip().startswith("|")]
    head = [cell.lower() for cell in rows[0]] if rows else []
    if "judge" not in head:
        what = "the judgments are not a table with a column `judge`"
        refuse_file(
            file, f"line {section.line}", what, "Write them as `| Judge | Winner | ... |` with a row for each judge."
        )
    for row in rows[1:]:
        if all(set(cell) <= set("-: ") for cell in row):
            continue
        stated = clean_facts(zip(head, row, strict=False))
        judge, winner = stated.pop("judge", ""), stated.pop("winner", "")
        yield Judgment(one_line(judge, 120) or "unnamed", one_line(winner, 120), stated)


def _split_cells(line: str) -> list[str]:
    return [one_line(cell.replace("\\|", "|"), 400) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
