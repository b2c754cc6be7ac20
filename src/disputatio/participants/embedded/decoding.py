"""How the embedded model is made to write: the grammar of its answer and the sampling of its words.

The grammar is the schema, made narrower, never wider: what it lets through is valid under the schema that
was asked for. Two things are narrowed.

* Layout. The listener's own schema grammar lets the model choose white space; a small model then spends a
  fifth of its tokens on line breaks, and after odd ones it loses its thread. Here JSON is on one line.
* Sentences, for the default model only. Free text is whole sentences of plain words: it begins with a
  capital, ends with a full stop, question or exclamation mark, and holds no addresses, code or brackets.
  Without this the model wanders into web links and stops in the middle of a word at the length limit.
  Text under ``question`` or ``questions`` begins and ends as a question, of the kinds that ask for
  something definite; left free, the model asks "What is the weakness of this statement?".

The measurements are in ``docs/design/embedded-model.md``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from disputatio.kernel import JsonObject

SAMPLING: Mapping[str, float | int] = {
    "min_p": 0.05,
    "repeat_penalty": 1.05,
    "dry_multiplier": 0.8,
    "dry_allowed_length": 4,
    "dry_penalty_last_n": 256,
}
"""For models that repeat themselves. DRY punishes runs of tokens that were there before
(https://github.com/oobabooga/text-generation-webui/pull/5677). Stronger settings forbid the words of the motion
and drive the model off its subject."""

DEFAULT_TEMPERATURE = 0.3
"""Where a call leaves the temperature to the provider."""

_PROSE_FROM = 40
"""Free text that may be at least this long (in characters) is written in sentences."""
_LEAST_AT_MOST = 60
"""A higher ``minLength`` would force one long sentence, so such text is left to its lengths alone."""
_SENTENCE_CHARACTERS = 200
_MOST_SENTENCES = 6

_LETTER = "A-Za-zÀ-ÖØ-öø-ÿ"
_CHARACTER = rf"[{_LETTER}0-9 ,'’%$&+-]"
_FIRST_WORD = rf"[A-ZÀ-ÖØ-Þ][{_LETTER}'’-]*[ ,]"
_LAST_WORD = rf"([{_LETTER}%]{{2}}|[0-9]{{4}})"
"""No decimals: a full stop inside a number lets the model run on for ever, and llguidance cannot bound it."""

_QUESTION_WORDS = "How will|How much|How many|How long|Who will|What will|What happens if|What happens when|When will"
_QUESTION_KEY = re.compile(r"(^|_)questions?$")

_INSIDE = ("$defs", "patternProperties")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_FIXED = ("enum", "const", "pattern", "format", "$ref")


def grammar(schema: JsonObject, *, sentences: bool) -> str:
    """An llguidance grammar for answers that are valid under ``schema``.

    Args:
        schema: JSON Schema of the answer.
        sentences: whether free text must be whole sentences of plain words.
    """
    narrowed: dict[str, Any] = dict(_narrow_text(schema) if sentences else schema)
    narrowed["x-guidance"] = {
        "whitespace_flexible": False,
        "item_separator": ", ",
        "key_separator": ": ",
        "lenient": True,  # a keyword it cannot enforce is left to the check that follows every answer
    }
    return f"%llguidance {{}}\nstart: %json {json.dumps(narrowed)}"


def _narrow_text(schema: Any, *, asks: bool = False) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    inside: dict[str, Any] = dict(schema)
    if isinstance(schema.get("properties"), Mapping):
        parts = schema["properties"].items()
        inside["properties"] = {
            name: _narrow_text(part, asks=_QUESTION_KEY.search(name) is not None) for name, part in parts
        }
    for key in _INSIDE:
        if isinstance(schema.get(key), Mapping):
            inside[key] = {name: _narrow_text(part) for name, part in schema[key].items()}
    for key in _LISTED:
        if isinstance(schema.get(key), list | tuple):
            inside[key] = [_narrow_text(part, asks=asks) for part in schema[key]]
    if "items" in schema:
        inside["items"] = _narrow_text(schema["items"], asks=asks)
    if _is_free_text(schema):
        # llguidance gives up on a pattern beside a ``minLength``, and the server then ignores the whole grammar:
        # the least length goes into the pattern.
        least = inside.pop("minLength", 0)
        inside["pattern"] = _question(least) if asks else _sentences(least, schema.get("maxLength"))
    return inside


def _is_free_text(schema: Mapping[str, Any]) -> bool:
    if schema.get("type") != "string" or any(key in schema for key in _FIXED):
        return False
    longest = schema.get("maxLength")
    return schema.get("minLength", 0) <= _LEAST_AT_MOST and (longest is None or longest >= _PROSE_FROM)


def _sentences(least: int, longest: int | None) -> str:
    most = _MOST_SENTENCES
    if longest is not None:
        most = max(1, min(most, longest // _SENTENCE_CHARACTERS))
    return f"^{_sentence(least)}( {_sentence(1)}){{0,{most - 1}}}$"


def _sentence(least: int) -> str:
    """A sentence with ``least`` characters or more."""
    return rf"{_FIRST_WORD}{_CHARACTER}{{{max(1, least - 5)},}}{_LAST_WORD}[.!?]"


def _question(least: int) -> str:
    """A question with ``least`` characters or more."""
    return rf"^({_QUESTION_WORDS}) {_CHARACTER}{{{max(10, least - 12)},}}{_LAST_WORD}[?]$"
