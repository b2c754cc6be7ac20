"""MCP servers in processes of their own: the good ones serve, the bad ones cost one clear sentence."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from disputatio.errors import InvalidInputError
from disputatio.evidence.sources import SourceSet
from disputatio.tools import mcp_connection
from disputatio.tools.protocol import McpServer, ToolFault, ToolLimits
from disputatio.tools.toolset import Toolset, open_tools

HERE = Path(__file__).parent
# Importing the client library takes most of a second, once for all of these.
pytestmark = pytest.mark.slow


def plain(behaviour: str, *more: str) -> dict[str, McpServer]:
    return {"demo": McpServer("demo", (sys.executable, str(HERE / "plain_server.py"), behaviour, *more))}


async def opened(behaviour: str, *words: str, limits: ToolLimits | None = None) -> Toolset:
    given = {"pro": words or ("demo",)}
    return await open_tools(given, SourceSet(), plain(behaviour), limits or ToolLimits())


async def refusal(behaviour: str, *words: str) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as caught:
        await (await opened(behaviour, *words)).aclose()
    return caught.value


def names(box: Toolset) -> list[str]:
    return [tool.name for tool in box.tools_for("pro")]


def hidden(text: str) -> list[str]:
    return [char for char in text if char != "\n" and unicodedata.category(char) in {"Cc", "Cf"}]


async def test_a_server_of_the_official_library_is_started_asked():
    """A server of the official library is started asked and stopped."""
    server = McpServer("town", (sys.executable, str(HERE / "library_server.py")))
    box = await open_tools({"pro": ("town",)}, SourceSet(), {"town": server}, ToolLimits())
    try:
        assert names(box) == ["town.population"]
        assert (await box.call("town.population", {"town": "Ulm"})).text == "Ulm had 1,200 people in 2024"
        wrong = await box.call("town.population", {"town": "Ulm", "year": "1999"})
        assert wrong.fault is ToolFault.FAILED
        assert "1999" in wrong.text
    finally:
        await box.aclose()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def listening(port: int) -> None:
    async with asyncio.timeout(20):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
                continue
            writer.close()
            await writer.wait_closed()
            return


async def test_a_server_is_reached_over_http():
    port = free_port()
    command = [sys.executable, str(HERE / "library_server.py"), str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            await listening(port)
            server = McpServer("town", url=f"http://127.0.0.1:{port}/mcp", variables={"TOKEN": "secret"})
            box = await open_tools({"pro": ("town",)}, SourceSet(), {"town": server}, ToolLimits())
            assert (await box.call("town.population", {"town": "Ulm"})).text == "Ulm had 1,200 people in 2024"
            process.terminate()
            process.wait(10)
            gone = await box.call("town.population", {"town": "Ulm"})
            await box.aclose()
        finally:
            process.kill()
    assert gone.fault is not None


async def test_only_read_only_or_named_tools_are_offered():
    """Only tools declared read only are offered unless the user names them."""
    box = await opened("good")
    await box.aclose()
    assert names(box) == ["demo.lookup", "demo.measure"]
    box = await opened("good", "demo.erase", "demo.quiet", "calculate")
    await box.aclose()
    assert names(box) == ["calculate", "demo.erase", "demo.quiet"]


async def test_what_a_tool_reports_as_an_error_is_a_result():
    """What a tool reports as an error is a result that says so."""
    box = await opened("good")
    result = await box.call("demo.measure", {"word": "x"})
    await box.aclose()
    assert (result.text, result.fault) == ("no such thing", ToolFault.FAILED)


@pytest.mark.parametrize(
    ("behaviour", "words", "said"),
    [
        ("exits", (), "there is no licence"),
        ("crowd", (), "300 tools, and 16 are the most"),
        ("writes", (), "declares none of its tools read-only"),
        ("good", ("demo.nothing",), "offers no tool nothing"),
        ("good", ("elsewhere",), "no MCP server called elsewhere"),
        ("hostile", ("demo.huge",), "its parameters take"),
    ],
)
async def test_a_server_or_tool_that_cannot_be_used_is_refused(behaviour, words, said):
    """A server or tool that cannot be used is refused in a sentence."""
    failure = await refusal(behaviour, *words)
    assert said in failure.cause
    assert failure.next_step
    assert not hidden(failure.cause + failure.next_step)
    assert len(failure.cause) < 400


@pytest.mark.parametrize("behaviour", ["silent", "garbage"])
async def test_a_server_that_never_answers_is_given_up(behaviour, monkeypatch):
    monkeypatch.setattr(mcp_connection, "CONNECT_S", 0.6)
    assert "no answer within 0.6 seconds" in (await refusal(behaviour)).cause


async def test_a_program_that_is_not_there_is_named():
    server = McpServer("demo", ("/nonexistent/program",))
    with pytest.raises(InvalidInputError, match=r"no program /nonexistent/program"):
        await open_tools({"pro": ("demo",)}, SourceSet(), {"demo": server}, ToolLimits())


async def test_hostile_names_and_descriptions_are_cleaned_or_left_out():
    box = await opened("hostile")
    await box.aclose()
    assert names(box) == ["demo.far", "demo.good"]
    for tool in box.tools_for("pro"):
        assert len(tool.description) <= 800
        assert not hidden(tool.description)
    (warning,) = box.warnings
    assert "4 tools that cannot be offered" in warning
    assert not hidden(warning)


async def test_a_tool_that_takes_too_long_is_a_result_that_says_so():
    box = await opened("slow", limits=ToolLimits(timeout_s=0.2))
    result = await box.call("demo.lookup", {"word": "x"})
    await box.aclose()
    assert result.fault is ToolFault.TIMED_OUT
    assert "0.2 seconds" in result.text


async def test_a_server_that_dies_is_a_result(tmp_path):
    """A server that dies is a result and is started again for the next call."""
    log = tmp_path / "calls"
    box = await open_tools({"pro": ("demo",)}, SourceSet(), plain("dies", str(log)), ToolLimits())
    results = [await box.call("demo.lookup", {"word": str(number)}) for number in range(2)]
    await box.aclose()
    assert {row.fault for row in results} <= {ToolFault.UNREACHABLE}
    assert len(log.read_text().splitlines()) == 2


async def test_a_result_is_cut_at_the_limit():
    """A result is cut at the limit and what was left out is counted."""
    box = await opened("long", limits=ToolLimits(result_chars=300))
    result = await box.call("demo.lookup", {"word": "x"})
    await box.aclose()
    assert len(result.text) == 300
    assert 300 + result.left_out >= len("long " * 50_000) - 5


async def test_a_server_does_not_outlive_the_debate(tmp_path):
    told = tmp_path / "process"
    box = await open_tools({"pro": ("demo",)}, SourceSet(), plain("counted", str(told)), ToolLimits())
    server = int(told.read_text())
    os.kill(server, 0)
    await box.aclose()
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)
    await box.aclose()
