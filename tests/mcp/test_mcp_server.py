"""The official client holds a debate through the server, over standard input and output and over HTTP."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from disputatio._cli.main import main
from disputatio.formats.registry import FORMATS
from disputatio.testing import FakeProvider
from mcp import Client

pytestmark = pytest.mark.slow
COMMAND = (sys.executable, "-m", "disputatio", "mcp")


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    with FakeProvider() as provider:
        kept = {name: value for name, value in os.environ.items() if not name.endswith("API_KEY")}
        yield {
            **kept,
            "LLM_PROVIDER": "openai_compatible",
            "LLM_MODEL": "fake",
            "LLM_BASE_URL": provider.base_url,
            "DISPUTATIO_STORE": str(tmp_path / "store.sqlite"),
            "DISPUTATIO_HOME": str(tmp_path),
        }


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def followed(client: Client, debate: str) -> list[dict[str, Any]]:
    """Everything that happened, in short polls; each is asked twice, as a client does whose first was cut off."""
    happened: list[dict[str, Any]] = []
    after = 0
    while True:
        again = await call(client, "follow_debate", debate_id=debate, after=after, wait_seconds=5)
        poll = await call(client, "follow_debate", debate_id=debate, after=after, wait_seconds=0)
        assert poll["happened"][: len(again["happened"])] == again["happened"]
        happened += poll["happened"]
        after = poll["after"]
        if poll["over"]:
            return happened


async def test_an_assistant_runs_a_debate_over_stdio(environment: dict[str, str]) -> None:
    server = StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]), env=environment)
    async with Client(stdio_client(server)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {
            *("start_debate", "follow_debate", "read_debate", "list_debates", "verify_debate", "cancel_debate"),
            *("should_debate", "estimate_debate"),
        }
        for tool in tools.values():
            assert tool.output_schema is not None
            assert len(tool.description or "") > 60
            assert all("description" in row for row in tool.input_schema.get("properties", {}).values())
        name, table = tools["start_debate"].input_schema["properties"]["format"]["anyOf"]
        assert set(name["enum"]) == {row["properties"]["name"]["const"] for row in table["oneOf"]} == set(FORMATS)
        motion = "We should adopt microservices"
        first = await call(client, "start_debate", motion=motion, request_id="one")
        second = await call(client, "start_debate", motion=motion, request_id="one")
        assert first["debate_id"] == second["debate_id"]
        debate = first["debate_id"]
        happened = await followed(client, debate)
        assert [row["seat"] for row in happened if row["what"] == "turn"].count("judge") == 1
        assert happened[-1] == {
            "event": happened[-1]["event"],
            "what": "closed",
            "status": "COMPLETE",
            "missing_seats": 0,
        }
        numbers = [row["event"] for row in happened]
        assert numbers == sorted(set(numbers))
        briefing = await call(client, "read_debate", debate_id=debate)
        assert motion in briefing["text"]
        assert (briefing["status"], briefing["next_offset"]) == ("COMPLETE", None)
        assert "PRO-1" in (await call(client, "read_debate", debate_id=debate, view="trace"))["text"]
        assert (await call(client, "verify_debate", debate_id=debate))["verified"] is True
        assert [row["debate_id"] for row in (await call(client, "list_debates"))["debates"]] == [debate]
        assert (await call(client, "cancel_debate", debate_id=debate))["was_going"] is False
        assert (await call(client, "should_debate", task_type="factual"))["debate"] is False
        wrong = await client.call_tool("start_debate", {"motion": "x", "seats": {"pro": "opnai:gpt-5"}})
        assert wrong.is_error
        assert "Did you mean openai?" in str(wrong.content)


async def test_only_the_token_runs_a_debate_over_http(
    environment: dict[str, str],
) -> None:
    with subprocess.Popen(
        [*COMMAND, "--http", "--port", "0"],
        env={**environment, "DISPUTATIO_MCP_TOKEN": "swordfish-7"},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            found = re.search(r"http://\S+/mcp", process.stderr.readline())
            assert found is not None
            url = found.group()
            async with httpx2.AsyncClient() as stranger:
                assert (await stranger.post(url, json={})).status_code == 401
            headers = {"Authorization": "Bearer swordfish-7"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=30) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                market = {"format": "market", "as_of": "2008-10-31", "seats": {"all": "rules"}}
                debate = (await call(client, "start_debate", **market))["debate_id"]
                assert (await followed(client, debate))[-1]["what"] == "closed"
                report = await call(client, "read_debate", debate_id=debate, view="report")
                assert "500 rise within a month?" in report["text"]
                assert "2008-10-31" in report["text"]
                assert (await call(client, "verify_debate", debate_id=debate))["verified"] is True
                gate = await call(client, "should_debate", task_type="investment", downside_usd=50_000)
                assert gate["debate"] is True
        finally:
            process.terminate()
            process.wait(20)


def test_others_than_this_machine_are_not_served_without_a_token(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPUTATIO_MCP_TOKEN", raising=False)
    words = ["mcp", "--http", "--host", "0.0.0.0", "--port", "0", "--store", str(tmp_path / "store.sqlite")]  # noqa: S104
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "DISPUTATIO_MCP_TOKEN" in capsys.readouterr().err
