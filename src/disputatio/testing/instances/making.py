"""Valid instances of a JSON Schema, made from a text: the answer of a model that always does as it is told.

Understood by construction: ``type`` (also lists), ``properties``, ``required``, ``additionalProperties``,
``propertyNames``, ``minProperties`` and ``maxProperties``, ``items``, ``prefixItems``, ``minItems``,
``maxItems``, ``uniqueItems``, lengths, bounds, ``multipleOf``, ``enum``, ``const``, ``anyOf``, ``$ref``
into the document (recursive ones are kept finite). For ``oneOf``, ``allOf``, ``pattern``, ``format``,
``not``, conditions and the rest, candidates are made and checked against the schema until one is valid.
An instance that is handed out is valid, or an error says that none was found.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from disputatio.failures import InvalidInputError
from disputatio.kernel import Json, JsonObject
from disputatio.testing.instances._shapes import (
    FORMATS,
    SPARE,
    Again,
    Either,
    Field,
    Fields,
    Items,
    Listed,
    Nothing,
    Real,
    Shape,
    Text,
    Whole,
    exact,
    settle,
    span,
)
from disputatio.testing.instances.merging import Schema, plain
from disputatio.testing.instances.patterns import matcher
from disputatio.testing.instances.phrases import Kind, kind_for, phrase
from disputatio.testing.instances.seeds import mixed, seed_of

if TYPE_CHECKING:
    import jsonschema_rs

_CANDIDATES: Final = 64
_CACHED_SCHEMAS: Final = 2048
_CHECKED_WORDS: Final = frozenset(
    {
        "$dynamicRef",
        "allOf",
        "contains",
        "dependentRequired",
        "dependentSchemas",
        "dependencies",
        "else",
        "format",
        "if",
        "not",
        "oneOf",
        "pattern",
        "patternProperties",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_SCALAR_WORDS: Final = frozenset(
    {
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "required",
        "type",
        "uniqueItems",
    }
)
_INSIDE_WORDS: Final = frozenset({"additionalProperties", "items", "prefixItems", "properties"})
_NOTES: Final = frozenset({"$defs", "$schema", "default", "definitions", "description", "examples", "title"})
_LARGEST_EXACT_FLOAT: Final = 2**53
_SHAPE_LIMIT: Final = 20_000
_TYPE_SIGNS: Final = (
    ("object", ("properties", "required", "additionalProperties", "minProperties")),
    ("array", ("items", "prefixItems", "minItems", "uniqueItems", "contains")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)


class Maker:
    """Makes instances of one schema. The work on the schema is done once, when this is made.

    Args:
        schema: a JSON Schema, draft 2020-12 unless its ``$schema`` names another. It is copied.

    Raises:
        InvalidInputError: it is no schema, a reference in it leads nowhere, or nothing is valid under it.
    """

    def __init__(self, schema: JsonObject) -> None:
        self.schema_text = schema_text(schema)
        """The schema as compact JSON."""
        self._root: Schema = json.loads(self.schema_text)
        # Building a validator also finds out whether this is a schema at all.
        self._validator = _validator(self._root)
        compiler = _Compiler(self._root)
        self._shape = compiler.shape(self._root, Kind.STATEMENT)
        self._is_checked = compiler.is_loose or any(word in _CHECKED_WORDS for word in _words(self._root))
        settle(compiler.shapes)
        if self._shape.height == math.inf:
            raise _no_instance("nothing finite is valid under it")

    def make(self, seed_text: str) -> Json:
        """The instance that ``seed_text`` leads to: the same one every time, everywhere.

        Raises:
            InvalidInputError: no valid instance was found among the candidates.
        """
        return self.make_from(seed_of(seed_text))

    def make_from(self, seed: int) -> Json:
        """The same for a seed, 0 to 2**64 - 1, that was worked out already."""
        value = self._shape.make(seed, SPARE)
        if not self._is_checked:
            return value
        for attempt in range(1, _CANDIDATES):
            if self._validator.is_valid(value):
                return value
            value = self._shape.make(mixed(seed + attempt), SPARE)
        raise _no_instance(f"none of {_CANDIDATES} candidates was valid under it")


def instance(schema: JsonObject, seed_text: str) -> Json:
    """A valid instance of ``schema``, decided by ``schema`` and ``seed_text`` alone.

    Strings are made-up English sentences within their length bounds, never empty unless the schema allows
    no character; the free strings of one object differ; a property whose name speaks of a question holds
    one. Schemas are remembered, so asking again for one costs little.

    Args:
        schema: a JSON Schema of the kind structured outputs use; the module says which words it knows.
        seed_text: any text; the same text gives the same instance, in every process.

    Raises:
        InvalidInputError: it is no schema, or no valid instance was found.
    """
    return maker_of(schema).make(seed_text)


def maker_of(schema: JsonObject) -> Maker:
    """The remembered maker of ``schema``, told apart by content and not by identity."""
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


def _validator(schema: Schema) -> jsonschema_rs.Validator:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(schema, validate_formats=True, offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        first_line = str(error).partition("\n")[0]
        raise InvalidInputError(f"This is not a usable JSON Schema: {first_line}.", "Correct the schema.") from error


def _no_instance(why: str) -> InvalidInputError:
    return InvalidInputError(f"No instance of the schema can be made: {why}.", "Loosen the schema.")


def _words(value: Any) -> Iterator[str]:
    """Every key anywhere in the schema; property names count too, which costs a needless check at worst."""
    if isinstance(value, dict):
        for word, inner in value.items():
            yield word
            yield from _words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _words(inner)


class _Compiler:
    """Turns a schema and everything in it into shapes; equal parts share one."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self.shapes: list[Shape] = []
        self._known: dict[str, Shape] = {}
        self._unfinished: dict[str, list[Again]] = {}
        self.is_loose = False
        """Whether something in the schema goes beyond what the shapes say."""

    def shape(self, schema: Schema, kind: Kind) -> Shape:
        """The shape of ``schema``, whose free texts are of ``kind`` where no property name says more."""
        key = f"{kind}{json.dumps(schema)}"
        if key in self._known:
            return self._known[key]
        if key in self._unfinished:
            again = Again(Nothing())
            self._unfinished[key].append(again)
            return self._keep(again)
        if len(self.shapes) >= _SHAPE_LIMIT:
            raise _no_instance(f"it comes to more than {_SHAPE_LIMIT} parts")
        self._unfinished[key] = []
        made = self._keep(self._made(plain(schema, self._root), kind))
        for again in self._unfinished.pop(key):
            again.target = made
        self._known[key] = made
        return made

    def _keep(self, shape: Shape) -> Shape:
        self.shapes.append(shape)
        return shape

    def _made(self, schema: Schema, kind: Kind) -> Shape:
        if schema is False:
            return Nothing()
        if not isinstance(schema, dict):
            return Text(kind)
        if "anyOf" in schema:
            own = {word: value for word, value in schema.items() if word != "anyOf"}
            return Either([self.shape(_joined(own, branch), kind) for branch in schema["anyOf"]])
        if "const" in schema or "enum" in schema:
            return self._listed(schema)
        types = schema.get("type") or _type_by_signs(schema)
        if isinstance(types, list):
            return Either([self.shape(schema | {"type": name}, kind) for name in types])
        return self._typed(types, schema, kind)

    def _typed(self, name: str, schema: dict[str, Any], kind: Kind) -> Shape:
        match name:
            case "object":
                return self._object(schema, kind)
            case "array":
                return self._array(schema, kind)
            case "string":
                return _text(schema, kind)
            case "integer" | "number":
                return _number(schema, whole=name == "integer")
            case "boolean":
                return Listed((True, False))
            case _:
                return Listed((None,))

    def _listed(self, schema: dict[str, Any]) -> Shape:
        """The listed values that the other words of the schema allow."""
        values = [schema["const"]] if "const" in schema else schema["enum"]
        others = {word: value for word, value in schema.items() if word in _SCALAR_WORDS}
        self.is_loose |= any(word in _INSIDE_WORDS for word in schema)
        if others:
            validator = _validator(others)
            values = [value for value in values if validator.is_valid(value)]
        return Listed(tuple(values))

    def _object(self, schema: dict[str, Any], kind: Kind) -> Shape:
        listed: dict[str, Schema] = schema.get("properties", {})
        required = schema.get("required", [])
        low = schema.get("minProperties", 0)
        named = {**listed, **{name: _others(schema) for name in required if name not in listed}}
        fields = [
            Field(name, seed_of(name), self.shape(inner, _kind(name, kind)), name in required)
            for name, inner in named.items()
        ]
        names = schema.get("propertyNames")
        return Fields(
            fields,
            self.shape(_others(schema), kind) if _wants_others(schema, len(fields)) else Nothing(),
            None if names is None else self.shape(_as_text(names), Kind.SLUG),
            low,
            schema.get("maxProperties"),
        )

    def _array(self, schema: dict[str, Any], kind: Kind) -> Shape:
        prefix = tuple(self.shape(inner, kind) for inner in schema.get("prefixItems", ()))
        items: Schema = schema.get("items", True)
        high = schema.get("maxItems")
        if prefix and "items" not in schema and schema.get("minItems", 0) <= len(prefix):
            high = len(prefix) if high is None else min(high, len(prefix))
        low = max(schema.get("minItems", 0), 1 if "contains" in schema else 0)
        rest = self.shape(schema.get("contains", items) if items is True else items, kind)
        return Items(rest, prefix, low, high, bool(schema.get("uniqueItems")))


def _joined(own: dict[str, Any], branch: Schema) -> Schema:
    """A branch of a schema together with what the schema says beside its branches."""
    rules = {word: value for word, value in own.items() if word not in _NOTES}
    return {"allOf": [rules, branch]} if rules else branch


def _type_by_signs(schema: dict[str, Any]) -> str:
    """The type a schema without one speaks of; a string, where it does not say."""
    return next((name for name, words in _TYPE_SIGNS if any(word in schema for word in words)), "string")


def _kind(name: str, around: Kind) -> Kind:
    """The kind of text for a property; one with a name that says nothing takes it from its object."""
    kind = kind_for(name)
    return around if kind is Kind.STATEMENT and around is Kind.QUESTION else kind


def _others(schema: dict[str, Any]) -> Schema:
    """What a property that is not listed must be; a string, where anything may be."""
    others: Schema = schema.get("additionalProperties", True)
    return {"type": "string"} if others is True or others == {} else others


def _wants_others(schema: dict[str, Any], fields: int) -> bool:
    """Whether properties that are not listed should be made.

    A model has no reason to add properties that nobody named, so they are made only for a mapping, which
    names none, or to reach the least number.
    """
    if "additionalProperties" in schema:
        return schema["additionalProperties"] is not True or not fields
    return not fields or schema.get("minProperties", 0) > fields


def _as_text(names: Schema) -> Schema:
    return {"allOf": [{"type": "string"}, names]}


def _text(schema: dict[str, Any], kind: Kind) -> Shape:
    low, high = schema.get("minLength", 0), schema.get("maxLength")
    form = schema.get("format")
    pattern = schema.get("pattern")
    writer = None
    if pattern is not None and not _suits_phrases(pattern, kind, low, high):
        writer = matcher(pattern)
    return Text(kind, int(low), None if high is None else int(high), writer, form if form in FORMATS else None)


def _suits_phrases(pattern: str, kind: Kind, low: int, high: int | None) -> bool:
    """Whether ordinary phrases match, as they do where a pattern only forbids blank text."""
    try:
        found = re.compile(pattern)
    except re.error:
        return False
    if high is not None and high < low:
        return False
    return all(found.search(phrase(kind, mixed(seed), low, high)) for seed in range(8))


def _number(schema: dict[str, Any], *, whole: bool) -> Shape:
    step = exact(schema["multipleOf"]) if "multipleOf" in schema else None
    if whole:
        step = Fraction(1) if step is None else Fraction(step.numerator)
    low, low_allowed = _bound(schema, "minimum", "exclusiveMinimum", max)
    high, high_allowed = _bound(schema, "maximum", "exclusiveMaximum", min)
    # A double cannot hold a long integer, so bounds of that size are kept by whole numbers alone.
    if step is None and any(abs(bound) > _LARGEST_EXACT_FLOAT for bound in (low, high) if bound is not None):
        step = Fraction(1)
    low, high = span(low, high, step or Fraction(1))
    if step is None:
        return Real(float(low), float(high), low_allowed, high_allowed)
    least = math.ceil(low / step) if low_allowed else math.floor(low / step) + 1
    most = math.floor(high / step) if high_allowed else math.ceil(high / step) - 1
    return Whole(least, most, step)


def _bound(
    schema: dict[str, Any], inclusive: str, exclusive: str, tighter: Callable[[Fraction, Fraction], Fraction]
) -> tuple[Fraction | None, bool]:
    """The bound that holds, or None, and whether it may be reached itself."""
    reached = exact(schema[inclusive]) if inclusive in schema else None
    unreached = exact(schema[exclusive]) if exclusive in schema else None
    if reached is None or unreached is None:
        return (unreached if reached is None else reached), unreached is None
    return tighter(reached, unreached), reached != unreached and tighter(reached, unreached) == reached
