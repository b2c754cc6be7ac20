"""JSON Schemas of turns, and how long their answers may be.

Objects require every key and allow no other. Strict modes of providers demand this, and a grammar then cannot skip or
invent an argument. Bounds on lengths and integers are stated too; where a provider drops them, validation corrects the
answer. The prompt explains each field once; in the schema the text would be repeated, and billed, for every argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import ceil
from typing import Any, Final, NamedTuple

from disputatio.kernel import JsonObject, Limits

NUMBER: Final = r"^-?[0-9][0-9,]{0,14}([.][0-9]{1,9})?$"
"""The pattern of a number as text."""
_BEGUN: Final = re.compile(r"\^\(([^)]+)\) \[.*\]\{(\d+),\}\[([.?])\]\$")


class Beginnings(NamedTuple):
    """A pattern of ``begun_with``: one of ``words``, ``minimum`` or more characters, and ``end``."""

    words: tuple[str, ...]
    minimum: int
    end: str


def text(minimum: int, maximum: int) -> JsonObject:
    """A string of ``minimum`` to ``maximum`` characters."""
    return {"type": "string", "minLength": minimum, "maxLength": maximum}


def prose(minimum: int, words: int) -> JsonObject:
    """A string of at least ``minimum`` characters and about ``words`` words at most."""
    return text(minimum, words * CHARACTERS_PER_WORD)


def begun_with(beginnings: Iterable[str], minimum: int, maximum: int, end: str = ".") -> JsonObject:
    """A sentence with one of the given beginnings, which give the kind of answer.

    A small model chooses a separate word without regard to its text; the beginning of its own sentence decides both.
    ``end`` is the last character. The least length is in the pattern, since grammars ignore it beside a pattern.
    """
    choice = "|".join(beginnings)
    return {"type": "string", "pattern": rf"^({choice}) [\w ,'%-]{{{minimum},}}[{end}]$", "maxLength": maximum}


def beginnings_in(pattern: str) -> Beginnings | None:
    """What a pattern of ``begun_with`` says; None for any other pattern."""
    found = _BEGUN.fullmatch(pattern)
    return Beginnings(tuple(found[1].split("|")), int(found[2]), found[3]) if found else None


def number_text() -> JsonObject:
    """A number as a text of at most 30 characters, with optional commas between thousands."""
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
"""The largest limit of an answer; longer ones get shorter texts."""

_UNSAID: Final = 400
"""Assumed characters of a text, and items of a list, without a bound in the schema."""
_UNSAID_ITEMS: Final = 8
_NUMBER: Final = 6
"""Characters of a number between 0 and 1, such as 0.8125."""
_SHORTEST: Final = 120
"""The least bound of a text, in characters: ten words."""
_NO_PROSE: Final = frozenset({"basis", "pointer", "value", "unit", "source", "speech"})
"""Computed texts, whose length in words means nothing, and texts whose prompt has a limit already."""
_CALLED: Final = {"words": "exact words", "quote": "a quote"}
"""Names of texts in prompts, where the key would be misread."""
_PLAIN: Final = re.compile(r"[a-z_]+")


class Sized(NamedTuple):
    """The size of an answer.

    Attributes:
        tokens: its limit.
        usual: what such answers usually need, to which the limit may shrink; None where it may not.
        schema: its schema, whose longest answer fits the limit if possible.
        note: why it may not fit, for people; empty where it does.
    """

    tokens: int
    usual: int | None
    schema: JsonObject
    note: str


def fit_limits(schema: JsonObject, limits: Limits) -> Sized:
    """Return the limit of an answer under ``schema``, and a schema that fits it.

    The limit is that of the phase, or more where the longest answer needs more, such as many arguments to judge. A
    limit set by a user stays; then the texts are bounded instead.
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
    """Return ``schema`` with shorter texts, so that its longest answer has at most ``tokens`` tokens, if possible.

    The longest texts shrink first; none below ten words or its own least length. If that is not enough, lists are
    bounded to their fewest items, at least one.
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
    """Return how many words the texts of an answer may have, for a prompt: ``claim 25 words; reasoning 100 words``."""
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
    """Yield the texts of a schema with the name of their key; ids are no names."""
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
    """Return ``schema`` with texts of at most ``most`` characters; with ``fewest``, with the fewest items."""
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
