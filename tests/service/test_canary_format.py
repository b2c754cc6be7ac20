"""A format registered at run time, as by another package, is on every remote surface without further code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import pytest
from served import MOTION, served
from test_request_form import controls

from disputatio._mcp.server import server_of
from disputatio._mcp.tools import Debates
from disputatio.formats import registry
from disputatio.formats.options import FormatOptions
from disputatio.formats.registry import find_format, register
from disputatio.options import Amount, Flag, Number, Share, Whole, option
from disputatio.record.sql import SqlStore
from disputatio.request.remote import request_schema
from disputatio.workers.in_process_runner import InProcessRunner


class Canary(FormatOptions):
    """A format with an option of each type."""

    name: Literal["canary"] = "canary"
    feathers: Whole | None = option(None, "How many feathers it has.", ge=1, le=40)
    weight: Number | None = option(None, "What it weighs.", ge=0.5, le=9)
    price: Amount | None = option(None, "What it costs.", gt=0, le=100)
    part: Share | None = option(None, "The part that sings.")
    sings: Flag = option(False, "Whether it sings.")
    colour: Literal["yellow", "green"] | None = option(None, "Its colour.")
    songs: tuple[str, ...] | None = option(None, "What it sings.", max_length=3)
    cages: dict[str, Whole] = option(default_factory=dict, help="Where it sat, and how often.")
    nest: str | None = option(None, "A file with its nest.", local="a file of this machine")


@pytest.fixture
def canary() -> Iterator[type[Canary]]:
    register(replace(find_format("freeform"), name="canary", about="a bird", options=Canary))
    yield Canary
    registry._PACKAGED._makers.pop("canary")


def tables(schema: dict[str, Any]) -> dict[str, Any]:
    """The tables of formats in a schema, by name."""
    rows = schema["properties"]["format"]["anyOf"][1]["oneOf"]
    return {row["properties"]["name"]["const"]: row for row in rows}


async def test_a_further_format_is_on_every_remote_surface(tmp_path, canary):
    own = set(canary.model_fields) - {"name", "nest"}
    async with served(tmp_path) as here, here.client() as client:
        document = (await client.get("/openapi.json")).json()
        posted = document["components"]["schemas"]["PostedRequest"]
        found = tables(posted)["canary"]["properties"]
        assert found.keys() - {"name"} == own
        feathers = found["feathers"]["anyOf"][0]
        assert (feathers["minimum"], feathers["maximum"]) == (1, 40)
        fields = controls((await client.get("/new")).text)
        assert {f"canary.{name}" for name in own} <= set(fields)
        assert "canary.nest" not in fields
        assert (fields["canary.feathers"].get("min"), fields["canary.feathers"].get("max")) == ("1", "40")
        assert fields["canary.sings"].get("type") == "checkbox"
        for more, cause in (
            ({"feathers": 41}, "feathers is 41"),
            ({"nest": "/etc/passwd"}, "may not set nest"),
            ({"fethers": 3}, "has no option 'fethers'"),
        ):
            answer = await client.post("/v1/estimates", json={"motion": MOTION, "format": {"name": "canary", **more}})
            assert answer.status_code == 422
            assert cause in answer.json()["detail"]
    assert tables(request_schema()).keys() == tables(posted).keys()


async def test_a_further_format_is_offered_to_assistants(tmp_path, canary):
    from mcp import Client

    store = SqlStore(f"sqlite:///{tmp_path}/store.sqlite")
    async with Client(server_of(Debates(store, InProcessRunner(store, concurrency=0)))) as client:
        listed = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        for name in ("start_debate", "estimate_debate"):
            assert tables(listed[name])["canary"]["properties"].keys() - {"name"} == set(canary.model_fields) - {
                *("name", "nest")
            }
    await store.aclose()
