"""Instances made from a text are valid, stay the same, and read like a debate's answer."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.formats.turns import schema as turn_schema
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
open_bounds = st.tuples(
    st.sampled_from(("integer", "number")), st.sampled_from(("minimum", "maximum")), st.integers(-(10**6), 10**6)
).map(lambda row: {"type": row[0], row[1]: row[2]})
numbers = st.tuples(st.floats(-1e6, 1e6), st.floats(0, 1e6)).map(
    lambda pair: {"type": "number", "minimum": pair[0], "maximum": pair[0] + pair[1]}
)
listed = st.lists(st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=5)), min_size=1).map(
    lambda values: {"enum": values}
)
words = st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=20)
begun = st.tuples(
    st.lists(words, min_size=1, max_size=3), st.integers(1, 60), st.integers(25, 300), st.sampled_from(".?")
).map(lambda row: turn_schema.begun_with(row[0], row[1], row[1] + row[2], end=row[3]))
plain = st.sampled_from(("string", "integer", "number", "boolean", "null")).map(lambda name: {"type": name})
leaves = st.one_of(texts, integers, open_bounds, numbers, listed, begun, plain, st.just(turn_schema.number_text()))


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    fields = draw(st.dictionaries(st.sampled_from(NAMES), inner, max_size=4))
    required = draw(st.lists(st.sampled_from(sorted(fields)), unique=True)) if fields else []
    return {"type": "object", "properties": fields, "required": required, "additionalProperties": False}


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
def test_instance_valid_under_its_schema_for_very_many_schemas(schema: Schema, seed: str) -> None:
    """An instance is valid under its schema for very many schemas."""
    assert holds(schema, instance(schema, seed))


@given(schema=schemas, seed=st.text(max_size=10))
@settings(max_examples=12, deadline=None)
def test_the_same_schema_and_text_give_the_same_instance(schema: Schema, seed: str) -> None:
    assert json.dumps(instance(schema, seed)) == json.dumps(Maker(schema).make(seed))


@pytest.mark.slow
def test_another_process_with_another_hash_seed_gives_same() -> None:
    """Another process with another hash seed gives the same instance."""
    code = (
        "import json,sys; from disputatio.testing.instances import instance;"
        "print(json.dumps(instance(json.loads(sys.argv[1]), 'x')))"
    )
    schema: Schema = {
        "type": "object",
        "properties": {"claim": {"type": "string"}, "tag": {"enum": ["a", "b", "c"]}},
        "required": ["claim", "tag"],
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
def test_string_keeps_its_bounds_and_empty_only_where_it_must_be(low: int, width: int, name: str, seed: str) -> None:
    """A string keeps its bounds and is empty only where it must be."""
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


def test_every_branch_and_option_comes_up() -> None:
    schema: Schema = {
        "anyOf": [{"enum": ["a", "b"]}, {"type": "integer", "minimum": 1, "maximum": 2}, {"type": "null"}]
    }
    assert {instance(schema, str(seed)) for seed in range(200)} == {"a", "b", 1, 2, None}


REFUSED: dict[str, tuple[Schema, str]] = {
    "parts that all hold": ({"allOf": [{"type": "string"}]}, "allOf"),
    "exactly one of several": ({"oneOf": [{"type": "string"}]}, "oneOf"),
    "a reference": ({"$defs": {"a": {"type": "string"}}, "$ref": "#/$defs/a"}, "$defs and $ref"),
    "a format": ({"type": "string", "format": "date"}, "format"),
    "a pattern of a stranger": ({"type": "string", "pattern": "^[a-z]+$"}, "the pattern '^[a-z]+$'"),
    "a bound of another kind": ({"type": "integer", "exclusiveMinimum": 3}, "exclusiveMinimum"),
    "a word of another type": ({"type": "string", "minItems": 3}, "minItems"),
    "different items": ({"type": "array", "items": {"type": "null"}, "uniqueItems": True}, "uniqueItems"),
    "a list without items": ({"type": "array"}, "no items"),
    "several types at once": ({"type": ["string", "null"]}, "type"),
    "no type": ({"minLength": 3}, "type"),
    "a mapping": ({"type": "object", "additionalProperties": {"type": "integer"}}, "additionalProperties"),
    "a required key that is not there": ({"type": "object", "required": ["a"]}, "required"),
    "words beside branches": ({"anyOf": [{"type": "null"}], "minLength": 3}, "minLength"),
    "bounds the wrong way round": ({"type": "integer", "minimum": 2, "maximum": 1}, "minimum"),
    "lengths the wrong way round": ({"type": "string", "minLength": 2, "maxLength": 1}, "minLength"),
    "an enum without values": ({"enum": []}, "enum"),
    "no room behind a beginning": ({**turn_schema.begun_with(["It is"], 20, 20)}, "maxLength"),
    "no schema at all": ({"type": "object", "properties": 3}, "properties"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_any_other_schema_is_refused_by_a_sentence_that_says_why(name: str) -> None:
    refused, named = REFUSED[name]
    with pytest.raises(InvalidInputError) as caught:
        instance({"type": "object", "properties": {"inside": refused}, "required": ["inside"]}, "x")
    assert caught.value.cause.endswith(".")
    assert named in caught.value.cause
    assert "\n" not in str(caught.value)
