"""Base debates for checking a judge: short complete debates with the sources they quote.

A case is JSON under ``CASE_SCHEMA``; twelve are packaged. One of its sources contains every quotation in its evidence.
Each side responds to every argument of the other. No argument is named by its number, so the sides can be swapped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.evaluation.input_files import read_json
from disputatio.kernel import Abstention, Ask, AskPath, JsonObject
from disputatio.participants.scripted import Scripted
from disputatio.record.text import canonical, digest

SIDES = ("pro", "con")


def _text(least: int, most: int = 3000) -> dict[str, Any]:
    return {"type": "string", "minLength": least, "maxLength": most}


def _object(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _array(items: dict[str, Any], least: int = 1, most: int = 5) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


_SIDE = _object(
    {
        "arguments": _array(_object({"claim": _text(10, 400), "reasoning": _text(20), "evidence": _text(5, 2000)})),
        "responses": _array(
            _object(
                {
                    "response": {"enum": ["refute", "challenge", "concede", "partial"]},
                    "reasoning": _text(20, 2000),
                    "question": _text(8, 600),
                },
                {"accepted": _text(2, 600)},
            )
        ),
        "defences": _array(
            _object(
                {
                    "answer": _text(2, 1200),
                    "status": {"enum": ["stands", "narrowed", "withdrawn"]},
                    "because": _text(2, 600),
                }
            )
        ),
        "final_position": _text(10, 1600),
        "shift": {"enum": ["strengthened", "weakened", "partly_adjusted", "unchanged"]},
    }
)
CASE_SCHEMA: JsonObject = _object(
    {
        "id": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,39}$"},
        "motion": _text(10, 400),
        "counter_motion": _text(10, 400),
        "subject": _text(2, 100),
        "change": _text(2, 100),
        "sources": _array(
            _object(
                {
                    "id": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,40}$"},
                    "title": _text(2, 200),
                    "text": _text(10, 20000),
                }
            ),
            0,
        ),
        "pro": _SIDE,
        "con": _SIDE,
    },
    {
        "written_by": _object({"pro": _text(1, 200), "con": _text(1, 200)}),
        "reference": _object({"judge": _text(1, 200), "pro": {"type": "number"}, "con": {"type": "number"}}),
    },
)
"""``written_by`` names the model that wrote each side (PROVIDER:MODEL), ``reference`` the totals of another judge."""


@dataclass(frozen=True, slots=True)
class CaseDebate:
    """One base debate or a variant of it. ``body`` is valid under ``CASE_SCHEMA`` and is never changed."""

    id: str
    body: Mapping[str, Any] = field(hash=False)

    @property
    def motion(self) -> str:
        """The motion."""
        return str(self.body["motion"])

    @property
    def digest(self) -> str:
        """The SHA-256 of its text."""
        return digest(canonical(self.body))

    def argument_ids(self) -> tuple[str, ...]:
        """The ids of its arguments, pro first."""
        return tuple(
            f"{side.upper()}-{number}" for side in SIDES for number in range(1, len(self.body[side]["arguments"]) + 1)
        )

    def speaker(self, side: str, label: str) -> Scripted:
        """Return a participant that speaks the lines of ``side``. Its name includes a digest, so records of other
        variants are never reused.
        """
        words = self.body[side]

        def said(ask: Ask, _path: AskPath, _reasons: tuple[str, ...]) -> JsonObject | Abstention:
            form: Any = ask.spec
            match form.name:
                case "opening":
                    content: dict[str, Any] = {"arguments": [dict(row) for row in words["arguments"]]}
                case "cross_examination":
                    content = _responses(words, form.opposing)
                case _:
                    content = _closing(words, form, side.upper())
            filled: JsonObject = _fill_lists(content, form.schema)
            return filled

        return Scripted(said, f"{self.id}, {label} ({self.digest[:12]})")


def _responses(words: Mapping[str, Any], opposing: Sequence[Any]) -> dict[str, Any]:
    return {
        target.id: {"reasoning": row["reasoning"], "response": row["response"], "questions": [row["question"]]}
        for target, row in zip(opposing, words["responses"], strict=True)
    }


def _closing(words: Mapping[str, Any], form: Any, prefix: str) -> dict[str, Any]:
    defences = {f"{prefix}-{place}": row for place, row in enumerate(words["defences"], start=1)}
    accepted = {
        row_id: row.get("accepted") or "This much is accepted."
        for row_id, row in zip(_other_ids(words, prefix), words["responses"], strict=True)
    }
    content: dict[str, Any] = {}
    if form.questions:
        content["answers"] = {row.id: defences[row.id.split(".")[0]]["answer"] for row in form.questions}
    if form.conceded:
        content["concessions"] = {row.id: accepted[row.id] for row in form.conceded}
    content["own_arguments"] = {
        name: {"status": row["status"], "because": row["because"]} for name, row in defences.items()
    }
    return {**content, "final_position": words["final_position"], "shift": words["shift"]}


def _other_ids(words: Mapping[str, Any], prefix: str) -> list[str]:
    other = "CON" if prefix == "PRO" else "PRO"
    return [f"{other}-{place}" for place in range(1, len(words["responses"]) + 1)]


def _fill_lists(content: Any, schema: Any) -> Any:
    """Add an empty list for every list that the schema requires and a case lacks, such as citations."""
    if isinstance(content, list):
        return [_fill_lists(row, schema.get("items", {})) for row in content]
    if not isinstance(content, dict):
        return content
    properties = schema.get("properties", {})
    whole = {key: _fill_lists(row, properties.get(key, {})) for key, row in content.items()}
    return {**{key: [] for key, row in properties.items() if key not in whole and row.get("type") == "array"}, **whole}


@cache
def load_packaged_cases() -> tuple[CaseDebate, ...]:
    """Load the twelve packaged cases, by id."""
    folder = files("disputatio.evaluation").joinpath("debates")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".json"))
    return tuple(_case(json.loads(folder.joinpath(name).read_text("utf-8")), name) for name in names)


def read_cases(path: Path) -> tuple[CaseDebate, ...]:
    """Read one case or a list of cases from a JSON file.

    Raises:
        InvalidInputError: the file cannot be read, or a case does not fit the schema; names the line or the key.
    """
    body = read_json(path, "Give cases as JSON with --cases FILE.")
    rows = body if isinstance(body, list) else [body]
    cases = tuple(_case(row, f"{path}, case {place}") for place, row in enumerate(rows, start=1))
    if not cases:
        raise InvalidInputError(f"{path} contains no case.", "Give at least one.")
    twice = next((row.id for row in cases if sum(other.id == row.id for other in cases) > 1), None)
    if twice:
        raise InvalidInputError(f"{path} has two cases called {twice}.", "Give each case an id of its own.")
    return cases


def _case(body: Any, where: str) -> CaseDebate:
    from jsonschema_rs import validator_for

    fault = next(iter(validator_for(dict(CASE_SCHEMA)).iter_errors(body)), None)
    if fault is not None:
        key = ".".join(map(str, fault.instance_path)) or "the case itself"
        raise InvalidInputError(
            f"{where}: {key}: {str(fault.message)[:200]}.", "The schema is in docs/reference/judge-checks.md."
        )
    for side, other in (SIDES, SIDES[::-1]):
        for key, whose in (("responses", other), ("defences", side)):
            wanted, given = len(body[whose]["arguments"]), len(body[side][key])
            if wanted != given:
                raise InvalidInputError(
                    f"{where}: {side}.{key}: there are {given}, and {whose} has {wanted} arguments.",
                    "Give one for each argument, in their order.",
                )
    return CaseDebate(body["id"], body)
