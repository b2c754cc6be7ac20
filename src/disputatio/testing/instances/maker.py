"""Valid instances of a JSON Schema, made from a text: the answers of a model that always obeys.

Only what the schemas of turns are written in is understood: see ``_WORDS``, ``anyOf``, ``enum`` and the two patterns
of ``formats.turns.schema``. Any other schema is refused, so that an instance is valid by the way it is made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import ceil, floor
from typing import Any, Final, NamedTuple

from disputatio.errors import InvalidInputError
from disputatio.formats.turns.schema import NUMBER, beginnings_in
from disputatio.kernel import Json, JsonObject
from disputatio.testing.instances.phrases import Kind, fraction, kind_for, mix, phrase, seed_from

_CACHED_SCHEMAS: Final = 2048
_USUAL_ITEMS: Final = 3
_TELL_APART_TRIES: Final = 64
_SPAN: Final = 100
"""How far an open bound of a number is from the other one."""

_NOTES: Final = frozenset({"$schema", "default", "description", "examples", "title"})
_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items", "minItems", "maxItems"}),
    "string": frozenset({"minLength", "maxLength", "pattern"}),
    "integer": frozenset({"minimum", "maximum"}),
    "number": frozenset({"minimum", "maximum"}),
    "boolean": frozenset(),
    "null": frozenset(),
}
"""The keywords that each type allows."""


class _Part(NamedTuple):
    """What makes the instances of one schema, and whether they are free texts, which should differ."""

    make: Callable[[int], Json]
    is_text: bool = False


class Maker:
    """Makes instances of one schema. The work on the schema is done once, when this is made.

    Args:
        schema: a JSON Schema in the words that the schemas of turns use.

    Raises:
        InvalidInputError: it is no schema, uses other words, or nothing is valid under it.
    """

    def __init__(self, schema: JsonObject) -> None:
        self.schema_text = schema_text(schema)
        """The schema as compact JSON."""
        self._part = _part(_checked(json.loads(self.schema_text)), Kind.STATEMENT)

    def make(self, seed_text: str) -> Json:
        """The instance that ``seed_text`` leads to: the same one every time, everywhere."""
        return self.make_from(seed_from(seed_text))

    def make_from(self, seed: int) -> Json:
        """The same for a seed, 0 to 2**64 - 1, that was worked out already."""
        return self._part.make(seed)


def instance(schema: JsonObject, seed_text: str) -> Json:
    """A valid instance of ``schema``, decided by ``schema`` and ``seed_text`` alone.

    Strings are made-up English sentences within their length bounds, never empty unless the schema allows
    no character; the free strings of one object differ; a property whose name speaks of a question holds
    one. Every property is given, also one that is not required. Schemas are remembered, so asking again for one costs
    little.

    Args:
        schema: a JSON Schema in the words that the schemas of turns use.
        seed_text: any text; the same text gives the same instance, in every process.

    Raises:
        InvalidInputError: it is no schema, uses other words, or nothing is valid under it.
    """
    return maker_of(schema).make(seed_text)


def maker_of(schema: JsonObject) -> Maker:
    """The cached maker of ``schema``, found by content and not by identity."""
    return _maker(schema_text(schema))


@lru_cache(maxsize=_CACHED_SCHEMAS)
def _maker(text: str) -> Maker:
    return Maker(json.loads(text))


def schema_text(schema: JsonObject) -> str:
    """The schema as compact JSON text, its keys in their own order."""
    return json.dumps(schema, default=_bare, separators=(",", ":"))


def _bare(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"a schema holds JSON values, not {type(value).__name__}")


def _checked(schema: dict[str, Any]) -> dict[str, Any]:
    """``schema``, whose words have values of the right types."""
    import jsonschema_rs

    try:
        jsonschema_rs.meta.validate(schema)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        place = "/".join(map(str, getattr(error, "instance_path", ())))
        reason = str(error).partition("\n")[0]
        raise InvalidInputError(
            f"This is not a usable JSON Schema: {place}: {reason}.", "Correct the schema."
        ) from error
    return schema


def _refusal(why: str) -> InvalidInputError:
    return InvalidInputError(
        f"No instance of the schema can be made: {why}.", "Use the words of the schemas of turns, and leave room."
    )


def _part(schema: Any, kind: Kind) -> _Part:
    """What makes instances of ``schema``; its free texts are of ``kind`` where no property name says more."""
    words = set(schema) - _NOTES if isinstance(schema, dict) else set()
    if "anyOf" in words:
        _refuse_others(words - {"anyOf"}, "anyOf")
        return _either([_part(branch, kind) for branch in schema["anyOf"]])
    if "enum" in words:
        _refuse_others(words - {"enum", "type"}, "enum")
        return _one_of(schema["enum"])
    name = schema.get("type") if words else None
    if not isinstance(name, str):
        _refuse_others(words - {"type"}, "no type")
        raise _refusal("a part of it has no single type")
    _refuse_others(words - {"type"} - _WORDS[name], f"the type {name}")
    match name:
        case "object":
            return _object(schema, kind)
        case "array":
            return _array(schema, kind)
        case "string":
            return _string(schema, kind)
        case "integer" | "number":
            return _number(schema, whole=name == "integer")
        case "boolean":
            return _one_of((True, False))
    return _one_of((None,))


def _refuse_others(words: set[str], beside: str) -> None:
    if words:
        raise _refusal(f"{' and '.join(sorted(words))} beside {beside} is not understood")


def _room(schema: Mapping[str, Any], low: str, high: str) -> tuple[int, int | None]:
    """The bounds of a length."""
    least, most = schema.get(low, 0), schema.get(high)
    if most is not None and most < least:
        raise _refusal(f"{low} {least} is over {high} {most}")
    return int(least), None if most is None else int(most)


def _one_of(values: Sequence[Json]) -> _Part:
    if not values:
        raise _refusal("an enum is empty")
    return _Part(lambda seed: values[(seed >> 7) % len(values)])


def _either(branches: Sequence[_Part]) -> _Part:
    def make(seed: int) -> Json:
        return branches[(seed >> 7) % len(branches)].make(mix(seed))

    return _Part(make, any(branch.is_text for branch in branches))


def _object(schema: Mapping[str, Any], kind: Kind) -> _Part:
    """Every property in its order, each with a seed of its own."""
    properties = schema.get("properties", {})
    if missing := set(schema.get("required", ())) - set(properties):
        raise _refusal(f"required names {min(missing)!r}, which is not among the properties")
    if isinstance(schema.get("additionalProperties", False), dict):
        raise _refusal("additionalProperties with a schema is not understood")
    fields = [(name, seed_from(name), _part(inner, _kind(name, kind))) for name, inner in properties.items()]

    def make(seed: int) -> Json:
        made: dict[str, Json] = {}
        texts: set[Json] = set()
        for name, salt, part in fields:
            inner = mix(seed ^ salt)
            value = part.make(inner)
            if part.is_text and isinstance(value, str):
                value = _unlike(texts, part, inner, value)
                texts.add(value)
            made[name] = value
        return made

    return _Part(make)


def _unlike(texts: set[Json], part: _Part, seed: int, value: Json) -> Json:
    """``value``, or another one where ``texts`` has it already, as far as a short search finds one."""
    for attempt in range(1, _TELL_APART_TRIES + 1):
        if value not in texts:
            break
        again = part.make(mix(seed + attempt))
        value = again if isinstance(again, str) else value
    return value


def _kind(name: str, around: Kind) -> Kind:
    """The kind of text for a property; one with a name that says nothing takes it from its object."""
    kind = kind_for(name)
    return around if kind is Kind.STATEMENT and around is Kind.QUESTION else kind


def _array(schema: Mapping[str, Any], kind: Kind) -> _Part:
    """A few items more than the least."""
    low, high = _room(schema, "minItems", "maxItems")
    if "items" not in schema:
        raise _refusal("an array has no items to make")
    item = _part(schema["items"], kind)

    def make(seed: int) -> Json:
        count = max(low, 1) + (seed >> 9) % _USUAL_ITEMS
        count = count if high is None else min(count, high)
        return [item.make(mix(seed + place + 1)) for place in range(count)]

    return _Part(make)


def _string(schema: Mapping[str, Any], kind: Kind) -> _Part:
    low, high = _room(schema, "minLength", "maxLength")
    if (pattern := schema.get("pattern")) is None:
        return _Part(lambda seed: phrase(kind, seed, low, high), is_text=high != 0)
    if pattern == NUMBER:
        return _Part(lambda seed: str(seed % 1000))
    begun = beginnings_in(pattern)
    if begun is None or low:
        raise _refusal(f"the pattern {pattern!r} is not understood")
    # The phrase gives up its last sign to the one that the pattern ends with.
    least = begun.minimum + 1
    rooms = [(words, None if high is None else high - len(words) - 1) for words in begun.words]
    if any(room is not None and room < least for _, room in rooms):
        raise _refusal(f"maxLength {high} leaves no room behind a beginning of the pattern {pattern!r}")

    def make(seed: int) -> Json:
        words, room = rooms[(seed >> 7) % len(rooms)]
        text = phrase(Kind.STATEMENT, mix(seed), least, room)[:-1]
        return f"{words} {text.replace('.', ',')}{begun.end}"

    return _Part(make, is_text=True)


def _number(schema: Mapping[str, Any], *, whole: bool) -> _Part:
    """A number between the bounds; an open one is a hundred from the other, or 0 where that leaves room."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None:
        low = 0 if high is None or high > 0 else high - _SPAN
    if high is None:
        high = low + _SPAN
    if whole:
        low, high = ceil(low), floor(high)
    if high < low:
        raise _refusal(f"minimum {low} is over maximum {high}")
    return _whole(low, high) if whole else _real(low, high)


def _whole(low: int, high: int) -> _Part:
    return _Part(lambda seed: low + (seed >> 7) % (high - low + 1))


def _real(low: float, high: float) -> _Part:
    def make(seed: int) -> Json:
        share = fraction(seed)
        value = min(max(low * (1 - share) + high * share, low), high)
        rounded = round(value, 2)
        return rounded if low <= rounded <= high else value

    return _Part(make)


CHARACTERS_PER_WORD: Final = 6
"""Of English, with the space."""

_WORD_COUNTS: Final = {Kind.QUESTION: (14, 28), Kind.EVIDENCE: (30, 60), Kind.REASON: (50, 100), Kind.ADVICE: (30, 60)}
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


def lengthen(schema: JsonObject, seed: int) -> dict[str, Any]:
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
            made["minLength"] = max(schema.get("minLength", 0), _least_length(name, most, variant))
    return made


def _least_length(name: str, most: int, variant: int) -> int:
    fewest, many = _SPEECH if "speech" in name else _WORD_COUNTS.get(kind_for(name), _STATEMENT)
    words = fewest + mix(seed_from(f"{name} {variant}")) % (many - fewest + 1)
    return min(words * CHARACTERS_PER_WORD, int(most * _MOST_USED))
