"""Every option is on every surface with the same bounds; where one is missing, the reason stands here."""

from __future__ import annotations

import inspect
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import disputatio
from disputatio._cli.fields import all_options, debate_options, make_parameter, write_help
from disputatio._service.app import create_app
from disputatio._service.pages.request_form import cards, sections
from disputatio._service.service import Choices, Service
from disputatio.config.keys import keys_of
from disputatio.formats.options import FormatOptions
from disputatio.options import Option, options_in
from disputatio.request.configuration import Configuration
from disputatio.request.formats import options_of, options_of_formats
from disputatio.request.model import DebateRequest, SeatOptions
from disputatio.request.remote import request_schema

DOCS = Path(__file__).parents[2] / "docs" / "reference"

COMMON = tuple(options_in(DebateRequest))
OWN = {name: options_of(name) for name in options_of_formats()}
EVERY = {f"{name}:{row.place}": (name, row) for name, rows in {"": COMMON, **OWN}.items() for row in rows}
ROWS = pytest.mark.parametrize(("form", "row"), [pytest.param(*pair, id=key) for key, pair in EVERY.items()])

# Why an option has no key in a configuration file, which serves many debates.
OF_ONE_DEBATE = {"motion", "topic", "format", "people", "evidence", "baseline", "prompts", "knowledge", "as_of"}
# Why an option has no option of its own on the command line: `--set KEY=VALUE` sets it. The motion is an argument.
SET_BY_KEY = {"motion"}
# What the page shows in a shape of its own: the text, the cards, the files.
BY_HAND = {"motion", "format", "evidence"}
# Parameters of `disputatio.debate` that stand for an option of another name.
PARAMETERS = {
    "topic": "disputatio.topics() gives the motions by name",
    "people": "a person is a participant among the seats",
}


@ROWS
def test_the_command_line_has_it(form: str, row: Option) -> None:
    known = all_options(form)
    options = {flag: make_parameter(name, known) for name, row in known.items() for flag in (row.flag,)}
    if not row.flag or row.name in SET_BY_KEY:
        assert row.key or row.name in SET_BY_KEY, "neither an option nor a key sets it"
        return
    assert row.flat_name in debate_options()
    found = options[row.flag]
    kind, about = get_args(found.annotation)[:2]
    assert (kind is bool) == row.is_flag
    assert ("list" in str(kind)) == row.about.repeat
    assert row.flag in (about.default, *about.param_decls)
    assert about.help == write_help(known[row.flat_name])


@ROWS
def test_configuration_files_have_it(form: str, row: Option) -> None:
    if row.name in OF_ONE_DEBATE:
        assert not row.key
        return
    assert row.key in {key.pattern for key in keys_of(form)}
    assert f"`{row.key}`" in (DOCS / "configuration.md").read_text("utf-8")


@ROWS
def test_an_environment_variable_sets_it_where_one_value_can(form: str, row: Option) -> None:
    """One variable holds one value; maps by seat, phase or name have keys instead."""
    if row.variable:
        assert row.variable in (DOCS / "configuration.md").read_text("utf-8")
        assert not row.is_mapping or row.variable.startswith("LLM_")


def schema_at(schema: dict[str, Any], row: Option, form: str) -> dict[str, Any] | None:
    """The schema of an option in the schema of a request; None where it is not there."""

    def resolved(part: Any) -> Any:
        while "$ref" in part:
            node: Any = schema
            for name in part["$ref"].removeprefix("#/").split("/"):
                node = node[name]
            part = node
        return part

    whole = resolved(schema)
    if form:
        tables = next(each["oneOf"] for each in whole["properties"]["format"]["anyOf"] if "oneOf" in each)
        whole = next(each for each in map(resolved, tables) if resolved(each)["properties"]["name"]["const"] == form)
    elif row.owner.GROUP:
        whole = resolved(whole["properties"][row.owner.GROUP])
    found = whole["properties"].get(row.name)
    return None if found is None else resolved(found)


BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum"}


def numbers_in(node: Any) -> dict[str, float]:
    """The bounds of numbers anywhere within a schema."""
    found: dict[str, float] = {}
    if isinstance(node, dict):
        found = {name: float(node[name]) for name in (*BOUNDS.values(), *BOUNDS) if name in node and name != "$ref"}
        for inner in node.values():
            found = {**numbers_in(inner), **found}
    elif isinstance(node, list):
        for inner in node:
            found = {**numbers_in(inner), **found}
    return found


def check_schema(schema: dict[str, Any], row: Option, form: str) -> None:
    found = schema_at(schema, row, form)
    if row.local:
        assert found is None, f"only the machine's user may set it: {row.local}"
        return
    assert found is not None
    assert row.help.split(".")[0] in found.get("description", "")
    said = numbers_in(found)
    for name, bound in row.bounds.items():
        if name in BOUNDS:
            assert said.get(BOUNDS[name], said.get(name)) == float(bound)


@cache
def http_schema() -> dict[str, Any]:
    """What /openapi.json says of the body of POST /v1/debates, with everything that it refers to."""
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Choices(f"sqlite:///{folder}/none.sqlite", keyless=True))
        whole: dict[str, Any] = create_app(service).openapi()
        service.database.close()
    body = whole["paths"]["/v1/debates"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    return {**whole, **body}


@ROWS
def test_http_has_it_with_the_same_bounds(form: str, row: Option) -> None:
    check_schema(http_schema(), row, form)


@ROWS
def test_assistants_have_it_with_the_same_bounds(form: str, row: Option) -> None:
    if row.name != "baseline":  # An assistant asks for another debate itself.
        check_schema(request_schema(), row, form)


@ROWS
def test_the_page_of_the_service_has_it(form: str, row: Option) -> None:
    shown = {control.name: control for section in sections() for control in section.controls}
    shown |= {control.name: control for card in cards() for control in card.controls}
    found = shown.get(f"{form}.{row.name}" if form else row.place)
    if row.local:
        assert found is None
        return
    if row.place in BY_HAND:
        return
    assert found is not None
    assert row.help.replace("`", "") in found.help
    bounds = dict(found.attributes)
    if found.kind == "number":
        for name, bound in (("min", row.bounds.get("ge", row.bounds.get("gt"))), ("max", row.bounds.get("le"))):
            assert bounds.get(name) == (None if bound is None else str(bound))


@ROWS
def test_the_python_door_has_it(form: str, row: Option) -> None:
    parameters = inspect.signature(disputatio.debate).parameters
    if form:
        assert row.owner.__name__ in disputatio.__all__ or row.owner is FormatOptions
        assert row.name in get_type_hints(row.owner)
    elif row.owner.GROUP:
        assert row.owner.GROUP in parameters
        assert row.owner.__name__ in disputatio.__all__
    else:
        assert (row.name in parameters) != (row.name in PARAMETERS)


def test_the_python_door_has_at_most_sixteen_parameters() -> None:
    for door in (disputatio.debate, disputatio.debate_sync):
        parameters = inspect.signature(door).parameters.values()
        assert 10 < len(parameters) <= 16
        assert all(row.annotation is not inspect.Parameter.empty for row in parameters)
        assert not any(row.kind is inspect.Parameter.VAR_POSITIONAL for row in parameters)


@pytest.mark.parametrize("row", [*options_in(SeatOptions), *options_in(Configuration)], ids=lambda row: row.place)
def test_what_no_request_sets_is_in_the_reference(row: Option) -> None:
    assert f"`{row.key}`" in (DOCS / "configuration.md").read_text("utf-8")
