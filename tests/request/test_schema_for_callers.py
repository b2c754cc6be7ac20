"""The schema of a remote request has every option with its bounds, and none that is for the machine's user alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from disputatio.options import Option, options_in
from disputatio.request.formats import options_of_formats
from disputatio.request.model import DebateRequest
from disputatio.request.remote import remote_schema, request_schema

_WORDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum"}


def _rows() -> Iterator[tuple[str, Option]]:
    for row in options_in(DebateRequest):
        yield "", row
    for name, model in options_of_formats().items():
        yield from ((name, row) for row in options_in(model))


def _place(schema: Mapping[str, Any], name: str, row: Option) -> Mapping[str, Any] | None:
    """Where ``schema`` describes an option; None where it does not."""
    found: Any = schema["properties"]
    if name:
        tables = found["format"]["anyOf"][1]["oneOf"]
        found = next(each for each in tables if each["properties"]["name"]["const"] == name)["properties"]
    elif row.owner.GROUP:
        found = schema["$defs"][found[row.owner.GROUP]["$ref"].rpartition("/")[2]]["properties"]
    place: Mapping[str, Any] | None = found.get(row.name)
    return place


def _numbers(schema: Any) -> Iterator[tuple[str, Any]]:
    """All bounds of numbers in a schema."""
    if isinstance(schema, Mapping):
        yield from ((name, schema[name]) for name in _WORDS.values() if name in schema)
        for value in schema.values():
            yield from _numbers(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _numbers(value)


@pytest.mark.parametrize(("name", "row"), [pytest.param(*row, id=f"{row[0]}-{row[1].place}") for row in _rows()])
def test_each_option_is_there_as_declared_or_is_local(name: str, row: Option) -> None:
    place = _place(request_schema(), name, row)
    if row.local:
        assert place is None
        return
    assert place is not None
    assert place["description"] == row.help or row.name == "format"
    declared = {_WORDS[bound]: value for bound, value in row.bounds.items() if bound in _WORDS}
    if row.name not in {"rules", "format"}:
        assert {bound: float(value) for bound, value in _numbers(place)} == {
            bound: float(value) for bound, value in declared.items()
        }
    choices = {json.dumps(each) for each in row.choices}
    assert all(choice in json.dumps(place) for choice in choices)


def test_no_schema_has_a_word_that_is_none_of_json_schema() -> None:
    text = json.dumps(request_schema())
    assert not [word for word in ('"ge":', '"gt":', '"le":', '"local":') if word in text]


def test_a_local_option_goes_wherever_it_stands() -> None:
    field = {"type": "string", "local": "a file of this machine"}
    inner = {"properties": {"path": field, "local": {"type": "string"}}}
    assert remote_schema({"$defs": {"Group": inner}, "properties": {"list": {"items": inner}}}) == {
        "$defs": {"Group": {"properties": {"local": {"type": "string"}}}},
        "properties": {"list": {"items": {"properties": {"local": {"type": "string"}}}}},
    }
