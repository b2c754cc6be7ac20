"""Instances made from a text are valid, stay the same, and read like a debate's answer."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from disputatio.failures import InvalidInputError
from disputatio.testing.instances import Maker, instance
from strategies import examples

pytestmark = pytest.mark.slow

Schema = dict[str, Any]

NAMES = ("claim", "reasoning", "evidence", "follow_up_question", "score", "title", "PRO-1", "note", "id")


def holds(schema: Schema, value: object) -> bool:
    return jsonschema_rs.validator_for(schema, validate_formats=True).is_valid(value)


def bounded(word: str, least: st.SearchStrategy[int], width: int) -> st.SearchStrategy[Schema]:
    """Any of no bound, one bound and two bounds that leave room."""
    low, high = f"min{word}", f"max{word}"
    both = st.tuples(least, st.integers(0, width)).map(lambda pair: {low: pair[0], high: pair[0] + pair[1]})
    return st.one_of(st.just({}), least.map(lambda n: {low: n}), least.map(lambda n: {high: n}), both)


texts = bounded("Length", st.integers(0, 300), 300).map(lambda bounds: {"type": "string", **bounds})
integers = st.tuples(st.integers(-(10**20), 10**20), st.integers(0, 1000)).map(
    lambda pair: {"type": "integer", "minimum": pair[0], "maximum": pair[0] + pair[1]}
)
open_integers = st.sampled_from(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")).flatmap(
    lambda word: st.integers(-(10**6), 10**6).map(lambda n: {"type": "integer", word: n})
)
numbers = st.tuples(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
    st.sampled_from(("m", "exclusiveM")),
    st.sampled_from(("m", "exclusiveM")),
).map(lambda t: {"type": "number", f"{t[2]}inimum": t[0], f"{t[3]}aximum": t[0] + t[1]})
multiples = st.tuples(st.sampled_from((2, 5, 25, 0.5, 0.1, 0.01)), st.integers(-50, 50)).map(
    lambda pair: {"type": "number", "multipleOf": pair[0], "minimum": pair[1]}
)
constants = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=5))
listed = st.one_of(
    st.lists(constants, min_size=1, max_size=5).map(lambda values: {"enum": values}),
    constants.map(lambda value: {"const": value}),
)
dated = st.sampled_from(("date", "date-time", "time", "email", "uri", "uuid", "hostname", "ipv4", "duration")).map(
    lambda form: {"type": "string", "format": form}
)
several = st.lists(
    st.sampled_from(("string", "integer", "number", "boolean", "null")), min_size=1, max_size=3, unique=True
).map(lambda names: {"type": names})
leaves = st.one_of(
    texts, integers, open_integers, numbers, multiples, listed, dated, several, st.just({"type": "boolean"})
)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    fields = draw(st.dictionaries(st.sampled_from(NAMES), inner, max_size=4))
    required = draw(st.lists(st.sampled_from(sorted(fields)), unique=True)) if fields else []
    made: Schema = {"type": "object", "properties": fields, "required": required}
    others = draw(st.one_of(st.just(False), st.none(), inner))
    if others is not None:
        made["additionalProperties"] = others
    return made


@st.composite
def arrays(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    return {"type": "array", "items": draw(inner), **draw(bounded("Items", st.integers(0, 4), 3))}


schemas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        objects(inner),
        arrays(inner),
        st.lists(inner, min_size=1, max_size=3).map(lambda branches: {"anyOf": branches}),
    ),
    max_leaves=8,
)


@given(schema=schemas, seed=st.text(max_size=10))
@settings(max_examples=12, deadline=None)
def test_an_instance_is_valid_under_its_schema(schema: Schema, seed: str) -> None:
    assert holds(schema, instance(schema, seed))


@pytest.mark.slow
@given(schema=schemas, seed=st.text(max_size=10))
@examples(400)
def test_an_instance_is_valid_under_its_schema_for_very_many_schemas(schema: Schema, seed: str) -> None:
    assert holds(schema, instance(schema, seed))


@pytest.mark.slow
@given(first=schemas, second=schemas, word=st.sampled_from(("allOf", "oneOf")), seed=st.text(max_size=5))
@examples(80)
def test_combined_schemas_give_a_valid_instance_or_a_named_error(
    first: Schema, second: Schema, word: str, seed: str
) -> None:
    schema: Schema = {word: [first, second]}
    try:
        value = instance(schema, seed)
    except InvalidInputError:
        # An honest refusal: no instance of one schema was found that the other allows.
        assume(False)
    assert holds(schema, value)


@given(schema=schemas, seed=st.text(max_size=10))
@settings(max_examples=12, deadline=None)
def test_a_schema_merged_with_itself_allows_what_it_allowed(schema: Schema, seed: str) -> None:
    assert holds(schema, instance({"allOf": [schema, schema]}, seed))


@given(schema=schemas, seed=st.text(max_size=10))
@settings(max_examples=12, deadline=None)
def test_the_same_schema_and_text_give_the_same_instance(schema: Schema, seed: str) -> None:
    assert json.dumps(instance(schema, seed)) == json.dumps(Maker(schema).make(seed))


@pytest.mark.slow
def test_another_process_with_another_hash_seed_gives_the_same_instance() -> None:
    code = (
        "import json,sys; from disputatio.testing.instances import instance;"
        "print(json.dumps(instance(json.loads(sys.argv[1]), 'x')))"
    )
    schema: Schema = {
        "type": "object",
        "properties": {"claim": {"type": "string"}, "tag": {"type": "string", "pattern": "^[a-f]{4}[^a-z]$"}},
        "required": ["claim", "tag", "more"],
        "additionalProperties": {"enum": ["a", "b", "c"]},
    }
    answers = {
        subprocess.run(
            [sys.executable, "-c", code, json.dumps(schema)],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for hash_seed in ("1", "2", "3")
    }
    assert answers == {json.dumps(instance(schema, "x")) + "\n"}


def test_another_text_gives_another_instance() -> None:
    schema: Schema = {"type": "object", "properties": {"claim": {"type": "string"}}, "required": ["claim"]}
    assert len({json.dumps(instance(schema, str(n))) for n in range(200)}) > 190


def test_the_order_of_keys_in_a_schema_changes_no_value() -> None:
    fields: Schema = {"claim": {"type": "string"}, "score": {"type": "integer", "minimum": 1, "maximum": 10}}
    turned = dict(reversed(fields.items()))
    first = instance({"type": "object", "properties": fields, "required": ["claim", "score"]}, "x")
    second = instance({"type": "object", "properties": turned, "required": ["score", "claim"]}, "x")
    assert first == second


def test_changing_a_schema_in_place_is_noticed() -> None:
    schema: Schema = {"type": "integer", "minimum": 1, "maximum": 1}
    assert instance(schema, "x") == 1
    schema["minimum"] = schema["maximum"] = 2
    assert instance(schema, "x") == 2


@given(low=st.integers(0, 40), width=st.integers(0, 40), name=st.sampled_from(NAMES), seed=st.text(max_size=8))
@settings(max_examples=30, deadline=None)
def test_a_string_keeps_its_bounds_and_is_empty_only_where_it_must_be(
    low: int, width: int, name: str, seed: str
) -> None:
    text = {"type": "string", "minLength": low, "maxLength": low + width}
    schema: Schema = {"type": "object", "properties": {name: text}, "required": [name]}
    made = instance(schema, seed)
    assert isinstance(made, dict)
    assert low <= len(made[name]) <= low + width
    assert made[name] or low + width == 0


@given(seed=st.text(max_size=20), high=st.one_of(st.none(), st.integers(2, 80)))
@settings(max_examples=30, deadline=None)
def test_a_question_ends_in_a_question_mark(seed: str, high: int | None) -> None:
    text: Schema = {"type": "string"} if high is None else {"type": "string", "maxLength": high}
    schema: Schema = {
        "type": "object",
        "properties": {"followUpQuestion": text, "questions": {"type": "array", "items": text, "minItems": 3}},
        "required": ["followUpQuestion", "questions"],
    }
    made: Any = instance(schema, seed)
    assert made["followUpQuestion"].endswith("?")
    assert all(question.endswith("?") for question in made["questions"])


@given(seed=st.text(max_size=20), high=st.integers(1, 120))
@settings(max_examples=30, deadline=None)
def test_the_free_strings_of_one_object_differ(seed: str, high: int) -> None:
    fields: Schema = {name: {"type": "string", "maxLength": high} for name in NAMES}
    made: Any = instance({"type": "object", "properties": fields, "required": list(fields)}, seed)
    assert len(set(made.values())) == len(NAMES)


RECURSIVE: dict[str, Schema] = {
    "tree by definition": {
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                },
                "required": ["text", "children"],
                "additionalProperties": False,
            }
        },
        "$ref": "#/$defs/node",
    },
    "chain to the root": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["text", "next"],
        "additionalProperties": False,
    },
    "optional self": {"type": "object", "properties": {"again": {"$ref": "#"}}, "additionalProperties": False},
    "two that need each other": {
        "$defs": {
            "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}}, "required": ["b"]},
            "b": {"oneOf": [{"type": "integer"}, {"$ref": "#/$defs/a"}]},
        },
        "$ref": "#/$defs/a",
    },
    "an object that must not be empty": {
        "type": "object",
        "properties": {"again": {"$ref": "#"}, "leaf": {"type": "integer"}},
        "minProperties": 1,
        "additionalProperties": False,
    },
    "merged with itself": {
        "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}},
        "allOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}],
    },
}


@pytest.mark.parametrize("name", RECURSIVE)
def test_a_recursive_schema_gives_a_small_valid_instance(name: str) -> None:
    schema = RECURSIVE[name]
    for seed in range(20):
        made = instance(schema, str(seed))
        assert holds(schema, made)
        assert len(json.dumps(made)) < 20_000


MORE: dict[str, Schema] = {
    "a set of all the options": {"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 3, "uniqueItems": True},
    "distinct small numbers": {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 4},
        "minItems": 5,
        "maxItems": 5,
        "uniqueItems": True,
    },
    "distinct booleans and nulls": {
        "type": "array",
        "items": {"type": ["boolean", "null"]},
        "minItems": 3,
        "uniqueItems": True,
    },
    "numbers and booleans that only look alike": {
        "type": "array",
        "items": {"enum": [0, False, 1, True]},
        "minItems": 4,
        "uniqueItems": True,
    },
    "an array of at most one": {"type": "array", "items": {"type": "integer"}, "maxItems": 1},
    "an integer strictly between": {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5},
    "a multiple strictly between": {"multipleOf": 0.5, "exclusiveMinimum": 3, "exclusiveMaximum": 4},
    "a tuple": {
        "type": "array",
        "prefixItems": [{"type": "string"}, {"type": "integer"}],
        "items": False,
        "minItems": 2,
    },
    "a pattern": {"type": "string", "pattern": r"^(PRO|CON)-[1-9]\d?$"},
    "a pattern of a length": {"type": "string", "pattern": "^[a-z]+$", "minLength": 31, "maxLength": 31},
    "a pattern of two parts": {"type": "string", "pattern": r"^[\w.-]{2,5}@(?:[a-z]+\.)+(org|net)$"},
    "a pattern against blanks": {"type": "string", "pattern": r"\S", "minLength": 10},
    "a mapping": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 4},
    "a mapping with named keys": {
        "type": "object",
        "propertyNames": {"enum": ["left", "right"]},
        "additionalProperties": {"type": "integer"},
        "minProperties": 1,
    },
    "all of three": {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "number", "minimum": 3}}, "required": ["a"]},
            {"properties": {"a": {"type": "integer", "maximum": 4}, "b": {"type": "string"}}, "required": ["b"]},
            {"anyOf": [{"properties": {"b": {"maxLength": 9}}}, {"properties": {"a": {"const": 3}}}]},
        ]
    },
    "bounds from several sides": {
        "type": "array",
        "items": {
            "allOf": [
                {"type": ["integer", "string"], "minimum": 0, "maximum": 10**9},
                {"type": ["number", "null"], "minimum": 10**9 - 1, "maximum": 10**10},
            ]
        },
    },
    "one of two kinds": {
        "oneOf": [
            {
                "type": "object",
                "properties": {"kind": {"const": kind}, "text": {"type": "string"}},
                "required": ["kind", "text"],
                "additionalProperties": False,
            }
            for kind in ("refute", "concede")
        ]
    },
    "a reference with a rule beside it": {
        "$defs": {"share": {"type": "number", "minimum": 0, "maximum": 1}},
        "type": "object",
        "properties": {"share": {"$ref": "#/$defs/share", "minimum": 0.9}},
        "required": ["share"],
    },
    "a condition": {
        "type": "object",
        "properties": {"vote": {"enum": ["yes", "no"]}, "why": {"type": "string"}},
        "required": ["vote"],
        "if": {"properties": {"vote": {"const": "no"}}},
        "then": {"required": ["why"]},
    },
    "an enum under a bound": {"enum": ["a", "bb", "ccc", 4], "type": "string", "minLength": 3},
    "an escaped place": {"$defs": {"a/b~c": {"const": 7}}, "$ref": "#/$defs/a~1b~0c"},
    "anything": {},
    "long numbers": {"type": "number", "minimum": 2**70, "maximum": 2**70 + 3},
    "hardly any room": {"type": "number", "exclusiveMinimum": 0.1, "exclusiveMaximum": 0.10000000000000003},
}


@pytest.mark.parametrize("name", MORE)
def test_an_instance_is_valid_where_the_schema_is(name: str) -> None:
    for seed in range(30):
        made = instance(MORE[name], str(seed))
        assert holds(MORE[name], made), made


def test_every_branch_and_option_comes_up() -> None:
    schema: Schema = {
        "anyOf": [{"enum": ["a", "b"]}, {"type": "integer", "minimum": 1, "maximum": 2}, {"type": "null"}]
    }
    assert {instance(schema, str(seed)) for seed in range(200)} == {"a", "b", 1, 2, None}


NO_INSTANCE: dict[str, Schema] = {
    "nothing is allowed": {"not": {}},
    "bounds the wrong way round": {"type": "integer", "minimum": 2, "maximum": 1},
    "an endless object": {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
    "a loop of references": {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    "a required key that is forbidden": {"type": "object", "required": ["a"], "additionalProperties": False},
    "more options than there are": {"type": "array", "items": {"enum": [1]}, "minItems": 2, "uniqueItems": True},
    "no such type": {"type": "strng"},
    "no such place": {"$ref": "#/$defs/absent"},
    "somewhere else": {"$ref": "https://example.org/schema"},
    "a pattern that looks around": {"type": "string", "pattern": "^(?=.*a.*b.*c.*d.*e.*f.*g$)x"},
}


@pytest.mark.parametrize("name", NO_INSTANCE)
def test_a_schema_without_instances_is_refused_by_one_sentence(name: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        instance(NO_INSTANCE[name], "x")
    assert caught.value.cause.endswith(".")
    assert "\n" not in str(caught.value)
