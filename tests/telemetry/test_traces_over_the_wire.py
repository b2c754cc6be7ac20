"""Traces reach a collector's socket from whichever process holds a debate, in the words of OpenTelemetry."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from collector import Collector, ReceivedSpan, collector
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes, server_attributes
from opentelemetry.semconv.attributes import error_attributes

from disputatio.engine.ports import NullObserver
from disputatio.errors import InvalidInputError
from disputatio.record.events import CallMade
from disputatio.record.sql import SqlStore
from disputatio.record.verified import read_verified
from disputatio.telemetry import add_tracing
from disputatio.testing import FakeProvider
from disputatio.testing.provider import Mishap, Mishaps

FULL = os.environ.get("DISPUTATIO_TESTS") == "full"
CLIENT = 3
REPLACED = {"gen_ai.system", "gen_ai.prompt", "gen_ai.completion", "gen_ai.usage.prompt_tokens"} | {
    "gen_ai.usage.completion_tokens"
}


def environment(fake: FakeProvider, at: Collector, folder: Path) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return {
        **kept,
        "DISPUTATIO_TRACES": "otlp",
        "OTEL_EXPORTER_OTLP_ENDPOINT": at.endpoint,
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
        "DISPUTATIO_HOME": str(folder / "home"),
        "LLM_PROVIDER": "openai_compatible",
        "LLM_MODEL": "fake",
        "LLM_BASE_URL": fake.base_url,
        "PYTHONUNBUFFERED": "1",
    }


def conventional() -> set[str]:
    """The names that the conventions have now."""
    names = {
        value
        for module in (gen_ai_attributes, server_attributes, error_attributes)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str)
    }
    return names - REPLACED


def check_trace(spans: list[ReceivedSpan], store: str, form: str) -> None:
    """One trace with a root, its phases and their calls, and in it what the record says."""
    (root,) = [row for row in spans if not row.parent]
    assert root.name == f"invoke_workflow {form}"
    assert root.attributes["gen_ai.operation.name"] == "invoke_workflow"
    assert root.resource["service.name"] == "disputatio"
    opened = SqlStore(store)
    try:
        record = read_verified(opened, root.attributes["gen_ai.conversation.id"])
    finally:
        opened.engine.dispose()
    made = [row.event() for row in record if row.kind == CallMade.kind]
    assert {row.trace for row in spans} == {root.trace}
    phases = {row.id: row for row in spans if row.name.startswith("phase ")}
    assert len({row.name for row in phases.values()}) == len(phases)
    assert {row.parent for row in phases.values()} == {root.id}
    calls = [row for row in spans if row.name == "chat fake"]
    assert len(spans) == 1 + len(phases) + len(calls)
    assert {row.parent for row in calls} <= set(phases)
    assert {row.kind for row in calls} == {CLIENT}
    assert sum(row.failed for row in calls) == sum(bool(row.fault) for row in made)
    for name, key in (("input_tokens", "input"), ("output_tokens", "output")):
        told = sum(row.attributes.get(f"gen_ai.usage.{key}_tokens", 0) for row in calls)
        assert told == sum(row.usage[name] or 0 for row in made) > 0
    for row in calls:
        assert row.attributes["gen_ai.operation.name"] == "chat"
        assert row.attributes["gen_ai.request.model"] == "fake"
        assert row.attributes["server.address"] == "127.0.0.1"
        assert isinstance(row.attributes["server.port"], int)
        if not row.failed:
            assert row.attributes["gen_ai.response.finish_reasons"] == ["stop"]
    for row in spans:
        assert 0 < row.start <= row.end
        own = {name for name in row.attributes if not name.startswith("disputatio.")}
        assert own <= conventional()


@pytest.mark.slow
def test_a_debate_of_the_command_line_is_a_trace_at_a_collector(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/s.sqlite"
    command = [sys.executable, "-m", "disputatio", "debate", "We should act", "-f", "freeform", "--store", store]
    with FakeProvider() as fake, collector() as at:
        done = subprocess.run(
            command, env=environment(fake, at, tmp_path), cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert set(at.paths) == {"/v1/traces"}
        check_trace(at.spans, store, "freeform")


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="three more processes: in full runs")
async def test_debates_of_servers_are_traces_too(tmp_path: Path) -> None:
    mishaps = Mishaps().at([1], Mishap.HTTP_500)
    with FakeProvider(mishaps=mishaps) as fake, collector() as at:
        store = f"sqlite:///{tmp_path}/s.sqlite"
        env = environment(fake, at, tmp_path)
        serving = await _process("serve", "--port", "0", "--store", store, env=env, folder=tmp_path)
        line = await _line(serving, b"serves")
        url = line.split()[2]
        async with httpx.AsyncClient(base_url=url, timeout=30) as client:
            body = {"motion": "We should act", "format": "freeform"}
            assert (await client.post("/v1/debates", json=body)).status_code == 201
        await asyncio.to_thread(at.wait, "invoke_workflow", 1)
        await _ended(serving)
        check_trace(at.spans, store, "freeform")
        assert any(row.failed for row in at.spans)
        at.spans.clear()
        await _through_mcp(store, env, tmp_path)
        await asyncio.to_thread(at.wait, "invoke_workflow", 1)
        check_trace(at.spans, store, "freeform")


async def _through_mcp(store: str, env: Mapping[str, str], folder: Path) -> None:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    from mcp import Client

    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "disputatio", "mcp", "--store", store], env=dict(env), cwd=folder
    )
    async with Client(stdio_client(parameters)) as client:
        given = {"motion": "We should act", "format": "freeform"}
        started: Any = (await client.call_tool("start_debate", given)).structured_content
        told: Any = {"over": False, "after": 0}
        while not told["over"]:
            poll = {"debate_id": started["debate_id"], "after": told["after"], "wait_seconds": 5}
            told = (await client.call_tool("follow_debate", poll)).structured_content


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="one more process: in full runs")
async def test_a_collector_that_is_away_is_named_once(tmp_path: Path) -> None:
    """A collector that is away is named once and holds no debate up."""
    with FakeProvider() as fake:
        env = {**environment(fake, Collector("http://127.0.0.1:9"), tmp_path)}
        words = ("debate", "We should act", "-f", "freeform", "--store", f"{tmp_path}/s.sqlite")
        process = await _process(*words, env=env, folder=tmp_path)
        _, error = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0
        assert error.decode().count("Traces do not arrive at http://127.0.0.1:9") == 1
        assert "Traceback" not in error.decode()
        assert "HTTPConnection" not in error.decode()


async def _process(*words: str, env: Mapping[str, str], folder: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "disputatio", *words),
        env=dict(env),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def _line(process: asyncio.subprocess.Process, sign: bytes) -> str:
    assert process.stdout
    async with asyncio.timeout(60):
        while sign not in (line := await process.stdout.readline()):
            assert line
    return line.decode()


async def _ended(process: asyncio.subprocess.Process) -> None:
    process.send_signal(signal.SIGTERM)
    await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0


def test_a_protocol_that_is_not_spoken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A protocol that is not spoken is refused with what would do."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with pytest.raises(InvalidInputError, match="OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc'") as refused:
        add_tracing(NullObserver(), {"DISPUTATIO_TRACES": "otlp"})
    assert "4318" in refused.value.next_step
