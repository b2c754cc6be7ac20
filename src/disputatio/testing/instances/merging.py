"""Schemas brought to a plain form: no ``$ref`` and no ``allOf`` at the top.

``plain`` follows references and merges what must hold together into one schema whose keywords say all of
it, as far as keywords can. What they cannot say is left to the check of the finished instance.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from disputatio.failures import InvalidInputError
from disputatio.testing.instances._shapes import exact, sameness

Schema: TypeAlias = "dict[str, Any] | bool"

_REFERENCE_LIMIT: Final = 64
_BRANCH_LIMIT: Final = 256
_LARGEST: Final = (
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
    "minContains",
)
_SMALLEST: Final = (
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
    "maxContains",
)
_BRANCHING: Final = ("anyOf", "oneOf")
_ALL_TYPES: Final = ("object", "array", "string", "integer", "number", "boolean", "null")


def plain(schema: Schema, root: Schema) -> Schema:
    """``schema`` without ``$ref`` and ``allOf`` at its top, its branches under ``anyOf`` alone.

    Raises:
        InvalidInputError: a reference leads nowhere, outside, or only to itself.
    """
    return _plain(schema, root, 0)


def _plain(schema: Schema, root: Schema, depth: int) -> Schema:
    if depth > _REFERENCE_LIMIT:
        raise InvalidInputError(
            "No instance can be made for the schema: a reference leads only to itself.",
            "Put something between a reference and the schema it stands in.",
        )
    if isinstance(schema, bool):
        return schema
    own: dict[str, Any] = {word: value for word, value in schema.items() if word not in {"$ref", "allOf", *_BRANCHING}}
    together: list[Schema] = list(schema.get("allOf", ()))
    if "$ref" in schema:
        together.insert(0, resolved(schema["$ref"], root))
    whole: Schema = own
    for part in together:
        whole = merged(whole, _plain(part, root, depth + 1))
    for word in _BRANCHING:
        if word in schema:
            whole = merged(whole, {"anyOf": list(schema[word])})
    return whole


def resolved(reference: str, root: Schema) -> Schema:
    """The schema that a reference inside the document points to."""
    found: Any = root
    if reference != "#" and not reference.startswith("#/"):
        raise _astray(reference)
    for step in reference.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        else:
            raise _astray(reference)
    if not isinstance(found, bool | dict):
        raise _astray(reference)
    return found


def _astray(reference: str) -> InvalidInputError:
    return InvalidInputError(
        f"No instance can be made for the schema: the reference {reference!r} is not a place inside it.",
        "Bring the definition into the schema, under $defs.",
    )


def merged(first: Schema, second: Schema) -> Schema:
    """One schema for what both allow."""
    if first is False or second is False:
        return False
    if not isinstance(first, dict) or not first:
        return second
    if not isinstance(second, dict) or not second:
        return first
    both = first | second
    for word in first.keys() & second.keys():
        both[word] = _agreed(word, first[word], second[word])
    if "type" in both and not both["type"]:
        return False
    _merge_values(both, first, second)
    if "properties" in both:
        both["properties"] = _merge_properties(first, second)
    return both


def _agreed(word: str, first: Any, second: Any) -> Any:
    """What one keyword says when both schemas use it."""
    if word in _LARGEST:
        return max(first, second)
    if word in _SMALLEST:
        return min(first, second)
    if word == "multipleOf":
        return _common_multiple(exact(first), exact(second))
    if word == "type":
        return [name for name in _ALL_TYPES if _has_type(name, first) and _has_type(name, second)]
    if word == "required":
        return list(dict.fromkeys((*first, *second)))
    if word == "uniqueItems":
        return first or second
    if word in {"items", "additionalProperties", "propertyNames"}:
        return {"allOf": [first, second]}
    if word == "anyOf":
        return _crossed(first, second)
    if word == "prefixItems":
        return _paired(first, second)
    return first


def _has_type(name: str, types: str | list[str]) -> bool:
    named = [types] if isinstance(types, str) else types
    return name in named or (name == "integer" and "number" in named)


def _common_multiple(first: Fraction, second: Fraction) -> int | float:
    common = Fraction(
        lcm(first.numerator * second.denominator, second.numerator * first.denominator),
        first.denominator * second.denominator,
    )
    return int(common) if common.denominator == 1 else float(common)


def _crossed(first: list[Schema], second: list[Schema]) -> list[Schema]:
    crossed: list[Schema] = [{"allOf": [one, other]} for one in first for other in second]
    return crossed[:_BRANCH_LIMIT]


def _paired(first: list[Schema], second: list[Schema]) -> list[Schema]:
    shorter = min(len(first), len(second))
    pairs: list[Schema] = [{"allOf": [one, other]} for one, other in zip(first, second, strict=False)]
    return pairs + first[shorter:] + second[shorter:]


def _merge_values(both: dict[str, Any], first: dict[str, Any], second: dict[str, Any]) -> None:
    """Keep the values that are in every enum and const."""
    lists = [
        [schema["const"]] if word == "const" else schema[word]
        for schema in (first, second)
        for word in ("enum", "const")
        if word in schema
    ]
    if not lists:
        return
    kept = {sameness(value) for value in lists[0]}
    for values in lists[1:]:
        kept &= {sameness(value) for value in values}
    both.pop("const", None)
    both["enum"] = [value for value in lists[0] if sameness(value) in kept]


def _merge_properties(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Schema]:
    """Each side's properties under what the other side says of them, if only by additionalProperties."""
    ours: dict[str, Schema] = first.get("properties", {})
    theirs: dict[str, Schema] = second.get("properties", {})
    joined: dict[str, Schema] = {}
    for name in dict.fromkeys((*ours, *theirs)):
        one = ours.get(name, first.get("additionalProperties", True))
        other = theirs.get(name, second.get("additionalProperties", True))
        # Equal parts are kept once: the schemas of a recursive merge would grow without end.
        parts = [part for part in ((one,) if one == other else (one, other)) if part is not True]
        joined[name] = parts[0] if len(parts) == 1 else {"allOf": parts} if parts else True
    return joined
