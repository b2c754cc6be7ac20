"""Texts as long as those of a large model, where a schema alone would be met by one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from disputatio.kernel import JsonObject
from disputatio.testing.instances.phrases import Kind, kind_for
from disputatio.testing.instances.seeds import mixed, seed_of

CHARACTERS_PER_WORD: Final = 6
"""Of English, with the space."""

_WORDS: Final = {Kind.QUESTION: (14, 28), Kind.EVIDENCE: (30, 60), Kind.REASON: (50, 100), Kind.ADVICE: (30, 60)}
"""The fewest and the most words of a text of this kind; any other has ``_STATEMENT``."""
_STATEMENT: Final = (18, 40)
_SPEECH: Final = (300, 650)
"""Of a text that is called a speech; a form that allows less has less."""
_MOST_USED: Final = 0.6
"""The share of what a schema allows that is used at most: the words that a prompt asks for, in English."""
_VARIANTS: Final = 4
"""As many schemas are made of one, so that they can be remembered."""
_SHORTEST: Final = 60
"""A text that may have fewer characters is left alone: it is a name, a word or a number."""


def at_realistic_lengths(schema: JsonObject, seed: int) -> dict[str, Any]:
    """``schema`` with a least length for each of its free texts, so that an instance is as long as a model's.

    What is valid under it is valid under ``schema``. Texts with a pattern, a format or a list of values stay as they
    are.
    """
    return _longer(dict(schema), "", seed % _VARIANTS)


def _longer(schema: Mapping[str, Any], name: str, variant: int) -> dict[str, Any]:
    made = dict(schema)
    if isinstance(schema.get("properties"), Mapping):
        made["properties"] = {
            key: _longer(inner, key, variant) if isinstance(inner, Mapping) else inner
            for key, inner in schema["properties"].items()
        }
    if isinstance(schema.get("items"), Mapping):
        made["items"] = _longer(schema["items"], name, variant)
    if schema.get("type") == "string" and not {"enum", "const", "pattern", "format"} & schema.keys():
        most = schema.get("maxLength", 100_000)
        if most >= _SHORTEST:
            made["minLength"] = max(schema.get("minLength", 0), _length(name, most, variant))
    return made


def _length(name: str, most: int, variant: int) -> int:
    fewest, many = _SPEECH if "speech" in name else _WORDS.get(kind_for(name), _STATEMENT)
    words = fewest + mixed(seed_of(f"{name} {variant}")) % (many - fewest + 1)
    return min(words * CHARACTERS_PER_WORD, int(most * _MOST_USED))
