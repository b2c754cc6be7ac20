"""Shortens a JSON Schema: a part that occurs several times becomes a definition, and the places refer to it.

A schema in a prompt is paid for by its length, and the schemas of judges repeat the same piece for every argument. The
shorter one allows the same (JSON Schema 2020-12, 8.2.4 and 8.2.3.1: ``$defs`` and ``$ref``). Answers are checked
against the long one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from disputatio.kernel import JsonObject
from disputatio.record.text import canonical, read_json

_PREFIX: Final = "#/$defs/"
_NAMED: Final = frozenset({"properties", "$defs"})
"""Keywords whose values are schemas by name, rather than a schema."""
_DEEPER: Final = frozenset({"items", "additionalProperties"})
_WORD: Final = re.compile("[a-z][a-z_]*")
_OVERHEAD: Final = 16
"""Signs around a definition: its name's quotation marks, a colon, a comma, and those of the keyword at most."""


def with_definitions(schema: JsonObject) -> JsonObject:
    """``schema`` with each piece that repeats written once, wherever that makes it shorter.

    Schemas that have definitions or references already are returned as they are.
    """
    return read_json(_shortened(canonical(schema)))  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def _shortened(text: str) -> str:
    if '"$ref"' in text or '"$defs"' in text:
        return text
    schema: dict[str, Any] = read_json(text)
    names: dict[str, str] = {}
    while found := _worth_most(schema, names):
        piece, name = found
        schema = _replaced(schema, piece, {"$ref": _PREFIX + name})
        schema.setdefault("$defs", {})[name] = read_json(piece)
        names[piece] = name
    return canonical(schema)


def _worth_most(schema: dict[str, Any], names: Mapping[str, str]) -> tuple[str, str] | None:
    """The piece whose definition saves most, with a name for it; None where none saves anything."""
    counts: Counter[str] = Counter()
    said: dict[str, str] = {}
    for name, piece in _pieces(schema, ""):
        text = canonical(piece)
        counts[text] += 1
        said.setdefault(text, name)
    best, most = None, 0
    for text, count in counts.items():
        if count < 2 or text in names:
            continue
        name = _free_name(said[text], names.values())
        saved = (count - 1) * len(text) - count * len(canonical({"$ref": _PREFIX + name})) - len(name) - _OVERHEAD
        if saved > most:
            best, most = (text, name), saved
    return best


def _free_name(said: str, taken: Any) -> str:
    """The name under which a piece stood first, with a number where another has that name."""
    number, name = 2, said or "piece"
    while name in taken:
        name, number = f"{said or 'piece'}_{number}", number + 1
    return name


def _pieces(schema: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema within ``schema``, with the name of the property it is for; not ``schema`` itself.

    A property named by an id, as ``PRO-1`` is, says nothing of what the piece is: the name around it does.
    """
    for keyword, value in schema.items():
        inner = value.items() if keyword in _NAMED else ((name, value),) if keyword in _DEEPER else ()
        for own, piece in inner:
            within = own if _WORD.fullmatch(own) else name
            if isinstance(piece, dict) and "$ref" not in piece:
                if keyword != "$defs":
                    yield within, piece
                yield from _pieces(piece, within)


def _replaced(schema: dict[str, Any], piece: str, reference: dict[str, Any]) -> dict[str, Any]:
    """``schema`` with ``reference`` in every place of ``piece``."""

    def put(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return dict(reference) if canonical(value) == piece else _replaced(value, piece, reference)

    made = dict(schema)
    for keyword, value in schema.items():
        if keyword == "$defs":
            made[keyword] = {name: _replaced(each, piece, reference) for name, each in value.items()}
        elif keyword in _NAMED:
            made[keyword] = {name: put(each) for name, each in value.items()}
        elif keyword in _DEEPER:
            made[keyword] = put(value)
    return made


def without_definitions(schema: JsonObject) -> JsonObject:
    """``schema`` with each reference replaced by its definition. A reference that leads to itself stays."""
    definitions = schema.get("$defs")
    if not isinstance(definitions, Mapping):
        return schema

    def put(value: Any, within: frozenset[str]) -> Any:
        if isinstance(value, list):
            return [put(each, within) for each in value]
        if not isinstance(value, Mapping):
            return value
        name = str(value.get("$ref", "")).removeprefix(_PREFIX)
        if len(value) == 1 and name in definitions and name not in within:
            return put(definitions[name], within | {name})
        return {keyword: put(each, within) for keyword, each in value.items()}

    whole: JsonObject = put({name: value for name, value in schema.items() if name != "$defs"}, frozenset())
    return whole
