"""Streams of events: each event once and in order, whoever breaks the line: client, server or a slow reader."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from typing import Any

import httpx
import pytest
from served import MOTION, ended, environment, served, started

from disputatio._service import streaming
from disputatio.testing.provider import FakeProvider

pytestmark = pytest.mark.slow


async def frames(
    client: httpx.AsyncClient, debate: str, last: int | None = None, most: int = 10_000
) -> list[dict[str, Any]]:
    """The frames of a stream until it ends, breaks or there are ``most`` of them."""
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    found: list[dict[str, Any]] = []
    row: dict[str, Any] = {}
    try:
        async with client.stream("GET", f"/v1/debates/{debate}/events", headers=headers) as stream:
            if stream.status_code == 204:
                return []
            assert stream.status_code == 200
            assert stream.headers["content-type"].startswith("text/event-stream")
            async for line in stream.aiter_lines():
                name, _, value = line.partition(": ")
                if not line and row.get("data"):
                    found.append(row)
                    row = {}
                    if len(found) >= most:
                        break
                elif line and not line.startswith(":"):
                    row[name] = value
    except httpx.TransportError:
        pass
    return found


def numbers(rows: list[dict[str, Any]]) -> list[int]:
    return [int(row["id"]) for row in rows if "id" in row]


async def test_a_stream_has_every_event_once(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        debate = await started(client, format="freeform")
        rows = await frames(client, debate)
        record = here.service.store.read(debate)
        assert numbers(rows) == [row.seq for row in record]
        assert [json.loads(row["data"])["hash"] for row in rows[:-1]] == [row.hash for row in record]
        assert rows[-1]["event"] == "end"
        # An EventSource that comes back after the end is told to stay away.
        assert await frames(client, debate, last=record[-1].seq) == []


async def test_a_reconnecting_client_gets_each_event_once(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        debate = await started(client, format="freeform")
        seen: list[int] = []
        while True:
            rows = await frames(client, debate, last=seen[-1] if seen else None, most=3)
            seen += numbers(rows)
            if not rows or rows[-1].get("event") == "end":
                break
        assert seen == list(range(1, len(here.service.store.read(debate)) + 1))


async def test_a_stalled_reader_is_disconnected(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "SEND_S", 0.3)
    async with served(tmp_path) as here, here.client() as client:
        here.provider.hold()
        debate = await started(client)
        # What waits to be sent is larger than what the system takes without a reader.
        monkeypatch.setattr(streaming, "whole_event", lambda row: json.dumps({"padding": "x" * 3_000_000}))
        idle = socket.create_connection(("127.0.0.1", here.port))
        idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        idle.sendall(f"GET /v1/debates/{debate}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        while here.service.hub.count() < 1:
            await asyncio.sleep(0.01)
        here.provider.release()
        async with asyncio.timeout(30):
            while here.service.hub.count() > 0:
                await asyncio.sleep(0.02)
        idle.close()
        monkeypatch.undo()
        assert (await ended(client, debate))["status"] in {"COMPLETE", "DEGRADED"}


async def test_no_tenant_opens_more_streams_than_it_may(tmp_path):
    async with served(tmp_path, most_streams=2) as here, here.client() as client:
        here.provider.hold()
        debate = await started(client)
        path = f"/v1/debates/{debate}/events"
        async with client.stream("GET", path), client.stream("GET", path):
            refused = await client.get(path)
            assert refused.status_code == 429
            assert "retry-after" in refused.headers
        here.provider.release()
        await ended(client, debate)


class Process:
    """A server in a process of its own that can be killed and started again on the same port."""

    def __init__(self, folder: Any, port: int, provider: str) -> None:
        self._folder, self._port, self._provider = folder, port, provider
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "disputatio", "serve", "--port", str(self._port), "--drain", "0"]
        self.process = subprocess.Popen(
            [*command, "--store", f"sqlite:///{self._folder}/store.sqlite"],
            env={**os.environ, **environment(self._provider), "PYTHONUNBUFFERED": "1"},
            cwd=self._folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout
        assert "serves" in self.process.stdout.readline()

    def end(self, number: int) -> int:
        assert self.process
        self.process.send_signal(number)
        code = self.process.wait(30)
        assert self.process.stdout
        self.process.stdout.close()
        return code


async def test_a_killed_server_and_its_stream_continue(tmp_path):
    async with FakeProvider() as provider:
        # Each call waits to be let go, so that the kill finds the debate in its midst.
        provider.hold()
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        server = Process(tmp_path, port, provider.base_url)
        await asyncio.to_thread(server.start)
        try:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
                debate = await started(client, motion=MOTION)
                await provider.arrived.reach(2)
                following = asyncio.create_task(frames(client, debate))
                provider.release(0)
                await provider.answered.reach(1)
                rows: list[dict[str, Any]] = []
                while not any(row["event"] == "TurnTaken" for row in rows):
                    rows = await frames(client, debate, most=len(rows) + 1)
                server.end(signal.SIGKILL)
                before = await following
            await asyncio.to_thread(server.start)
            provider.release()
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                after = await frames(client, debate, last=numbers(before)[-1])
                over = (await client.get(f"/v1/debates/{debate}")).json()
                verified = (await client.get(f"/v1/debates/{debate}/verify")).json()
            assert numbers(before + after) == list(range(1, verified["events"] + 1))
            assert after[-1]["event"] == "end"
            assert over["status"] in {"COMPLETE", "DEGRADED"}
            kinds = [row["event"] for row in before + after]
            assert kinds.count("DebateOpened") == 1
            assert "DebateResumed" in kinds
            # The turn that was taken before the kill was not asked for again.
            taken = [json.loads(row["data"])["body"]["path"] for row in before + after if row["event"] == "TurnTaken"]
            assert len(taken) == len(set(taken))
        finally:
            provider.release()
            assert server.end(signal.SIGTERM) == 0
