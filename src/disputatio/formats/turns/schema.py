"""The few shapes that turns are built from, as JSON Schema.

Objects require every key and allow no other, which is what providers' strict modes demand and what makes
a grammar unable to skip an argument or invent one. Bounds on lengths and integers are stated too; a
provider that drops them is corrected by validation afterwards. What a field is for stands in the prompt, once,
and not in the schema, where it would be repeated and billed for every argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import ceil
from typing import Any, Final, NamedTuple

from disputatio.kernel import JsonObject, Limits

NUMBER: Final = r"^-?[0-9][0-9,]{0,14}([.][0-9]{1,9})?$"
"""The pattern of a number that is written as a text."""
_BEGUN: Final = re.compile(r"\^\(([^)]+)\) \[.*\]\{(\d+),\}\[([.?])\]\$")


class Beginnings(NamedTuple):
    """What a pattern of ``begun_with`` says: one of ``words``, ``minimum`` characters or more, and ``end``."""

    words: tuple[str, ...]
    minimum: int
    end: str


def text(minimum: int, maximum: int) -> JsonObject:
    """A string of ``minimum`` to ``maximum`` characters."""
    return {"type": "string", "minLength": minimum, "maxLength": maximum}


def prose(minimum: int, words: int) -> JsonObject:
    """A string of ``minimum`` characters or more that is to have ``words`` words at most; see ``sizes``."""
    return text(minimum, words * CHARACTERS_PER_WORD)


def begun_with(beginnings: Iterable[str], minimum: int, maximum: int, end: str = ".") -> JsonObject:
    """A sentence with one of the given beginnings, which say what kind of answer it is.

    A small model chooses a word beside a text without regard to the text; the way its own sentence begins decides
    both. ``end`` is its last sign. The least length is in the pattern, since grammars do not take it beside one.
    """
    choice = "|".join(beginnings)
    return {"type": "string", "pattern": rf"^({choice}) [\w ,'%-]{{{minimum},}}[{end}]$", "maxLength": maximum}


def beginnings_in(pattern: str) -> Beginnings | None:
    """What a pattern of ``begun_with`` says; None for any other pattern."""
    found = _BEGUN.fullmatch(pattern)
    return Beginnings(tuple(found[1].split("|")), int(found[2]), found[3]) if found else None


def number_text() -> JsonObject:
    """A number as a text of 30 characters at most, with commas between thousands allowed."""
    return {"type": "string", "pattern": NUMBER, "maxLength": 30}


def one_of(words: Iterable[str]) -> JsonObject:
    """One of the given words."""
    return {"type": "string", "enum": list(words)}


def whole(minimum: int, maximum: int) -> JsonObject:
    """An integer from ``minimum`` to ``maximum``."""
    return {"type": "integer", "minimum": minimum, "maximum": maximum}


def several(items: JsonObject, minimum: int, maximum: int) -> JsonObject:
    """A list of ``minimum`` to ``maximum`` items."""
    return {"type": "array", "items": items, "minItems": minimum, "maxItems": maximum}


def record(keys: Mapping[str, JsonObject]) -> JsonObject:
    """An object with exactly these keys."""
    return {
        "type": "object",
        "properties": dict(keys),
        "required": list(keys),
        "additionalProperties": False,
    }


def share() -> JsonObject:
    """A number from 0 to 1. Grammars do not keep the bounds; code does."""
    return {"type": "number", "minimum": 0, "maximum": 1}


CHARACTERS_PER_WORD: Final = 10
CHARACTERS_PER_TOKEN: Final = 4
SIGNS_PER_TOKEN: Final = 2

MOST_TOKENS: Final = 16_000
"""The largest limit that an answer grows to; texts of an answer that could be longer are bounded to it."""

_UNSAID: Final = 400
"""Characters that are counted for a text, and its share for a list, where a schema sets no bound."""
_UNSAID_ITEMS: Final = 8
_NUMBER: Final = 6
"""Signs of a number between 0 and 1, such as 0.8125."""
_SHORTEST: Final = 120
"""Characters below which no text is bounded: ten words."""
_NO_PROSE: Final = frozenset({"basis", "pointer", "value", "unit", "source", "speech"})
"""Texts that are computed, so that words say nothing about them, and those whose prompt has a limit already."""
_CALLED: Final = {"words": "exact words", "quote": "a quote"}
"""What a text is called in a prompt where its key would be misread."""
_PLAIN: Final = re.compile(r"[a-z_]+")


class Sized(NamedTuple):
    """What an answer may have.

    Attributes:
        tokens: its limit.
        usual: what such answers usually need, to which the limit may shrink; None where it may not.
        schema: its schema, whose longest answer fits the limit as far as that can be.
        note: why it may not fit, for people; empty where it does.
    """

    tokens: int
    usual: int | None
    schema: JsonObject
    note: str


def fit_limits(schema: JsonObject, limits: Limits) -> Sized:
    """The limit of an answer under ``schema``, and the schema that fits it.

    The limit is that of the phase, or what the longest answer needs where that is more: so it grows with every argument
    that is to be judged and every question that is to be answered. A limit that a user set stays; then the texts are
    bounded to it.
    """
    base, needed = limits.max_tokens, tokens_needed(schema)
    if needed <= base:
        return Sized(base, None, schema, "")
    if not limits.fixed and needed <= MOST_TOKENS:
        return Sized(needed, base, schema, "")
    tokens = base if limits.fixed else max(base, MOST_TOKENS)
    found = bound_schema(schema, tokens)
    least = tokens_needed(found)
    note = f"max_tokens is set to {base:,} here, and what is asked needs about {least:,}" if least > tokens else ""
    return Sized(tokens, None if limits.fixed else min(base, tokens), found, note)


def tokens_needed(schema: JsonObject) -> int:
    """The tokens of the longest answer that is valid under ``schema``."""
    text, signs = _longest(schema)
    return ceil(text / CHARACTERS_PER_TOKEN + signs / SIGNS_PER_TOKEN)


def bound_schema(schema: JsonObject, tokens: int) -> JsonObject:
    """``schema`` with shorter texts, so that its longest answer has ``tokens`` tokens, as far as that can be.

    The longest texts give way first; none is bounded below ten words or its own least length. Where that does not do,
    lists are bounded to their fewest items, one at least.
    """
    for fewest in (False, True):
        longest = max((row.get("maxLength", _UNSAID) for _, row in _texts(schema)), default=0)
        low, high = _SHORTEST, max(longest, _SHORTEST)
        while low < high:
            middle = (low + high + 1) // 2
            fits = tokens_needed(_cut(schema, middle, fewest=fewest)) <= tokens
            low, high = (middle, high) if fits else (low, middle - 1)
        found = _cut(schema, low, fewest=fewest)
        if tokens_needed(found) <= tokens:
            break
    return found


def describe_lengths(schema: JsonObject) -> str:
    """How many words the texts of an answer may have, for a prompt: ``claim 25 words; reasoning 100 words``."""
    words: dict[str, int] = {}
    for name, row in _texts(schema):
        most = row.get("maxLength")
        if most is not None and most >= _SHORTEST and "pattern" not in row and name not in _NO_PROSE:
            called = _CALLED.get(name, name)
            words[called] = max(words.get(called, 0), most // CHARACTERS_PER_WORD)
    return "; ".join(f"{name} {_rounded(count)} words" for name, count in words.items())


def _rounded(words: int) -> int:
    """Down to a number that a person would have said."""
    step = 50 if words >= 300 else 10 if words >= 50 else 5
    return words - words % step


def _longest(schema: Mapping[str, Any]) -> tuple[int, int]:
    """The characters of text in the longest answer, and those around them."""
    if "enum" in schema:
        return 0, max(len(str(word)) for word in schema["enum"]) + 2
    match schema.get("type"):
        case "object":
            rows = [(len(name) + 6, *_longest(inner)) for name, inner in schema.get("properties", {}).items()]
            return sum(row[1] for row in rows), sum(row[0] + row[2] for row in rows) + 2
        case "array":
            text, signs = _longest(schema["items"])
            most = schema.get("maxItems", schema.get("minItems", 0) + _UNSAID_ITEMS)
            return most * text, most * (signs + 2) + 2
        case "string":
            return schema.get("maxLength", _UNSAID), 2
        case "integer":
            return 0, max(len(str(schema.get(end, 0))) for end in ("minimum", "maximum"))
    return 0, _NUMBER


def _texts(schema: Mapping[str, Any], name: str = "text") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The texts of a schema, by the name of the key they stand under; ids are no names."""
    match schema.get("type"):
        case "object":
            properties: Mapping[str, Any] = schema.get("properties", {})
            plain = all(_PLAIN.fullmatch(key) for key in properties)
            for key, inner in properties.items():
                yield from _texts(inner, key if plain else name)
        case "array":
            yield from _texts(schema["items"], name)
        case "string" if "enum" not in schema:
            yield name, schema


def _cut(schema: Mapping[str, Any], most: int, *, fewest: bool) -> dict[str, Any]:
    """``schema`` with no text longer than ``most``; with ``fewest``, with no more items than there must be."""
    made = dict(schema)
    match schema.get("type"):
        case "object":
            properties: Mapping[str, Any] = schema.get("properties", {})
            made["properties"] = {key: _cut(inner, most, fewest=fewest) for key, inner in properties.items()}
        case "array":
            made["items"] = _cut(schema["items"], most, fewest=fewest)
            if fewest and "maxItems" in schema:
                made["maxItems"] = min(schema["maxItems"], max(schema.get("minItems", 0), 1))
        case "string" if "enum" not in schema and "pattern" not in schema and "maxLength" in schema:
            made["maxLength"] = min(schema["maxLength"], max(schema.get("minLength", 0), most))
    return made


ANGLES = ("the budget", "the people involved", "safety and risk", "the time it takes", "the years to come")
"""Nouns that can stand after "for"."""
