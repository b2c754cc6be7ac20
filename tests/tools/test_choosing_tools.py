"""The form in which a seat says what to look up: plain for every provider, whatever a stranger's schema holds."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.record.text import canonical
from disputatio.testing.instances import instance
from disputatio.testing.provider.answers import strict_flaw
from disputatio.tools.builtin import BUILTIN_TOOLS
from disputatio.tools.protocol import OfferedTool
from disputatio.tools.tool_choice import build_choice_schema, describe_tools, read_choice, simplify_arguments
from strategies import examples, json_objects

LEAVES = st.sampled_from(
    [
        {"type": "string", "description": "words"},
        {"type": "string", "pattern": "(a+)+$", "maxLength": 9},
        {"type": "integer", "minimum": 1, "maximum": 9},
        {"type": "number"},
        {"type": "boolean", "default": True},
        {"type": "string", "enum": ["one", "two"]},
        {"type": "array", "items": {"type": "string"}},
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
    ]
)
STRANGE = st.sampled_from(
    [
        {"$ref": "http://203.0.113.1/x"},
        {"type": "object", "properties": {}},
        {"allOf": [{"type": "string"}]},
        {"type": "string", "enum": ["a\u202eb"]},
        {"type": "array", "items": {"$ref": "#"}},
        {"type": "string", "if": {}},
        True,
        {},
    ]
)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)


def offered(name: str, properties: dict[str, Any], required: list[str]) -> OfferedTool:
    schema = {"type": "object", "properties": properties, "required": required}
    return OfferedTool(name, name.partition(".")[0], "What it does.", schema)


@st.composite
def tools(draw: st.DrawFn) -> list[OfferedTool]:
    made = []
    for number in range(draw(st.integers(1, 3))):
        properties = draw(st.dictionaries(NAMES, LEAVES | STRANGE, max_size=4))
        required = [name for name in properties if draw(st.booleans())]
        made.append(offered(f"s.tool{number}", properties, required))
    return made


@examples(15)
@given(tools(), st.integers(1, 4), st.integers(0, 2**30))
def test_the_form_is_one_that_strict_providers_take(made, most, seed):
    """The form is one that strict providers take and every answer to it can be read."""
    schema = build_choice_schema(made, most)
    assert strict_flaw(schema) is None
    assert "203.0.113.1" not in canonical(schema)
    answer = instance(schema, str(seed))
    assert jsonschema_rs.is_valid(schema, answer)
    requests = read_choice(answer, made, most)
    assert len(requests) <= most
    for request in requests:
        tool = next(row for row in made if row.name == request.tool)
        named = tool.parameters["properties"]
        if simplify_arguments(tool.parameters) is not None:
            required = set(tool.parameters["required"])
            assert required <= set(request.arguments) <= set(named)
            assert None not in [value for name, value in request.arguments.items() if name not in required]


@examples(10)
@given(json_objects)
def test_any_schema_is_plain_or_asked_for_as_text(parameters):
    tool = OfferedTool("s.any", "s", "Anything.", parameters)
    try:
        schema = build_choice_schema([tool], 1)
    except (AttributeError, TypeError) as error:  # pragma: no cover
        raise AssertionError(f"{parameters} is not borne") from error
    assert strict_flaw(schema) is None
    assert describe_tools([tool])


@pytest.mark.parametrize("text", ["", "{}", '{"a": 1}', "[1]", "no", '{"a": NaN}', "{" * 2_000, '"x"', "null"])
def test_arguments_as_text_are_read_or_told_to_be_unreadable(text):
    tool = OfferedTool("s.any", "s", "", {"type": "object", "$defs": {}})
    (request,) = read_choice({"calls": [{"tool": "s.any", "arguments": text}]}, [tool], 3)
    readable = text in {"", "{}", '{"a": 1}'}
    assert bool(request.misuse) is not readable
    assert request.arguments == (json.loads(text or "{}") if readable else {"text": text})


def test_the_same_call_is_made_once():
    """The same call is made once and no more than there may be."""
    rows = [{"tool": "calculate", "arguments": {"expression": text}} for text in ("1+1", "1+1", "2", "3", "4")]
    requests = read_choice({"calls": rows}, tuple(BUILTIN_TOOLS.values()), 4)
    assert [row.arguments["expression"] for row in requests] == ["1+1", "2", "3"]


def test_the_tools_of_the_package_are_asked_for_by_the_names():
    """The tools of the package are asked for by the names of their arguments."""
    for tool in BUILTIN_TOOLS.values():
        plain = simplify_arguments(tool.parameters)
        assert plain is not None
        assert list(plain["properties"]) == list(tool.parameters["properties"])
