"""A schema with definitions allows exactly what it allowed, and is never longer."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from disputatio.prompts.definitions import with_definitions, without_definitions
from disputatio.record.text import canonical
from strategies import examples

names = st.sampled_from(("reason", "questions", "CRIT-1", "PRO-1.A1", "type", "items", "properties", "$ref"))
leaves = st.sampled_from(
    (
        {"type": "string", "minLength": 10, "maxLength": 500},
        {"type": "integer", "minimum": 1, "maximum": 10},
        {"enum": ["resolved_for_proposition", "resolved_for_critique", "unresolved"], "type": "string"},
    )
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    properties = st.dictionaries(names.filter(lambda name: name != "$ref"), inner, min_size=1, max_size=4)
    return properties.map(
        lambda rows: {"type": "object", "properties": rows, "required": list(rows), "additionalProperties": False}
    )


schemas = objects(
    st.recursive(
        leaves, lambda inner: objects(inner) | inner.map(lambda row: {"type": "array", "items": row}), max_leaves=12
    )
)
FINDING = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": 300}, "validity": {"type": "integer", "maximum": 10}},
    "required": ["reason", "validity"],
    "additionalProperties": False,
}
FINDINGS = {"type": "object", "properties": {f"CRIT-{n}": FINDING for n in range(1, 5)}, "required": ["CRIT-1"]}


@examples(200)
@given(schemas)
def test_definitions_stand_for_exactly_what_was_there(schema: dict[str, Any]) -> None:
    short = with_definitions(schema)
    assert without_definitions(short) == schema
    assert len(canonical(short)) <= len(canonical(schema))
    Draft202012Validator.check_schema(short)


def test_piece_repeats_is_written_once_and_named_for_what_it_is() -> None:
    """A piece that repeats is written once and named for what it is."""
    short: Any = with_definitions({"type": "object", "properties": {"findings": FINDINGS}})
    assert list(short["$defs"]) == ["findings"]
    assert short["$defs"]["findings"] == FINDING
    assert short["properties"]["findings"]["properties"]["CRIT-3"] == {"$ref": "#/$defs/findings"}


def test_a_validator_holds_answers_to_the_definitions() -> None:
    check = Draft202012Validator(with_definitions(FINDINGS))
    assert check.is_valid({"CRIT-1": {"reason": "so", "validity": 3}})
    assert not check.is_valid({"CRIT-1": {"reason": "so", "validity": 11}})
    assert not check.is_valid({"CRIT-1": {"reason": "so"}})


def test_a_schema_with_definitions_of_its_own_stays_as_it_is() -> None:
    own = {"$defs": {"a": FINDING}, "type": "object", "properties": {n: {"$ref": "#/$defs/a"} for n in "xyz"}}
    assert with_definitions(own) == own


def test_a_definition_that_leads_to_itself_is_left_alone() -> None:
    loop = {
        "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}},
        "properties": {"x": {"$ref": "#/$defs/a"}},
    }
    assert without_definitions(loop)["properties"] == {"x": {"type": "array", "items": {"$ref": "#/$defs/a"}}}
