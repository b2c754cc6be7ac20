"""Transcripts in JSON: one object with ``motion`` and ``turns``, and what else is known.

Each turn has ``seat`` and either ``text`` or ``claims`` (objects with ``text`` and, where there is one, ``id``). It may
have ``phase`` and ``at``, and the debate ``language``, ``held``, ``seats`` (seat to name) and ``judgments`` (objects
with ``judge`` and ``winner``). What else stands there is kept as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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

_FORM = "See the reference on transcripts for the form."
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
        fail(file, "turns", "it is no list of turns", _FORM)
    turns = [(f"turns[{number}]", _turn(file, f"turns[{number}]", row)) for number, row in enumerate(rows)]
    check_claims(file, turns)
    names = _object(file, "seats", rest.pop("seats", {}))
    known = {seat_name(key): one_line(_named(file, f"seats.{key}", value), 120) for key, value in names.items()}
    judged = rest.pop("judgments", [])
    if not isinstance(judged, list):
        fail(file, "judgments", "it is no list", _FORM)
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
        fail(file, "", _MOST_DEEP, _FORM)
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        fail(file, f"line {line}" if line else "", "it is no JSON", "Correct it, or give the transcript as Markdown.")


def _object(file: str, place: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        fail(file, place, "it is no JSON object", _FORM)
    return value


def _text(file: str, place: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        fail(file, place, "it is no text", _FORM)
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
        fail(file, f"{place}.claims", "it is no list of claims", _FORM)
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
        fail(file, place, _MOST_DEEP, _FORM)
