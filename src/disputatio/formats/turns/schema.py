"""The few shapes that turns are built from, as JSON Schema.

Objects require every key and allow no other, which is what providers' strict modes demand and what makes
a grammar unable to skip an argument or invent one. Bounds on lengths and integers are stated too; a
provider that drops them is corrected by validation afterwards. What a field is for stands in the prompt, once,
and not in the schema, where it would be repeated and billed for every argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from disputatio.formats.turns.sizes import CHARACTERS_PER_WORD
from disputatio.kernel import JsonObject

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
