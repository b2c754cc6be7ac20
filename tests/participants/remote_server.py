"""Small servers for the gateway's tests: one that speaks HTTP, one that only moves bytes."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aiohttp import web

from disputatio.participants.call import Call, OutputMode, Segment
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.remote import RemoteClient, open_client

KEY = "sk-test-5f0c1d2e3b4a59687766554433221100"

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "score": {"type": "integer", "minimum": 1, "maximum": 10},
        "why": {"type": "string", "minLength": 3, "maxLength": 50, "description": "One sentence."},
        "pick": {"type": "string", "enum": ["pro", "con"]},
    },
    "required": ["score", "why", "pick"],
    "additionalProperties": False,
}

Answer: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


def a_call(mode: OutputMode = OutputMode.NATIVE, **changes: Any) -> Call:
    settled: dict[str, Any] = {
        "segments": (Segment("system", "Rules."), Segment("user", "Transcript."), Segment("user", "Your task.")),
        "schema": None if mode is OutputMode.TEXT else SCHEMA,
        "schema_name": "judging",
        "mode": mode,
        "temperature": 0.2,
        "max_tokens": 100,
        "seed": 7,
    }
    return Call(**{**settled, **changes})


def completion(content: str | None = "{}", **changes: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    message.update(changes.pop("message", {}))
    body = {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [{"index": 0, "message": message, "finish_reason": changes.pop("finish_reason", "stop")}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17},
    }
    return {**body, **changes}


def chunk(delta: Mapping[str, Any] | None = None, finish: str | None = None, **changes: Any) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    body = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "served-model", "choices": choices}
    return {**body, **changes}


def tool_call(arguments: str, name: str = "judging") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"id": "t-1", "type": "function", "index": 0, "function": function}]}


def answer(body: object = None, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    async def send(_: web.Request) -> web.StreamResponse:
        if isinstance(body, str | bytes):
            raw = body.encode() if isinstance(body, str) else body
            given = dict(headers or {"Content-Type": "application/json"})
            return web.Response(body=raw, status=status, headers=given)
        return web.json_response(completion() if body is None else body, status=status, headers=headers)

    return send


def stream(events: Sequence[object], *, done: bool = True, then: Callable[[web.Request], None] | None = None) -> Answer:
    """Server-sent events, one write each; ``then`` may do violence to the connection before the end."""

    async def send(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in events:
            data = event if isinstance(event, str) else json.dumps(event)
            await response.write(f"data: {data}\n\n".encode())
        if then is not None:
            then(request)
            return response
        if done:
            await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    return send


@dataclass
class Endless:
    """Sends ``part`` again and again; ``gave_up`` once nobody stopped it for long."""

    part: bytes = b"data: {" + b" " * 2**16
    status: int = 200
    content_type: str = "application/json"
    most: int = 2**27
    sent: int = 0

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=self.status, headers={"Content-Type": self.content_type})
        await response.prepare(request)
        while not self.gave_up:
            await response.write(self.part)
            self.sent += len(self.part)
        return response

    @property
    def gave_up(self) -> bool:
        return self.sent >= self.most


def hang_up(request: web.Request) -> None:
    assert request.transport is not None
    request.transport.abort()


@dataclass
class Received:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class Server:
    """Answers with ``answers`` in turn, the last one for ever, and keeps what it was sent."""

    url: str
    answers: list[Answer] = field(default_factory=lambda: [answer()])
    received: list[Received] = field(default_factory=list)
    connections: set[int] = field(default_factory=set)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw) if raw else None
        self.received.append(Received(request.method, request.path_qs, request.headers.copy(), body))
        self.connections.add(id(request.transport))
        return await (self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])(request)

    def seat(self, provider: str = "openai_compatible", **changes: Any) -> ModelSeating:
        settled = {"provider": provider, "model": "qwen3", "base_url": f"{self.url}/v1"}
        return ModelSeating(**{**settled, **changes})


@asynccontextmanager
async def serving(*answers: Answer) -> AsyncIterator[Server]:
    app = web.Application(client_max_size=2**24)
    # Cancelled when the client hangs up, so that a test can see that it did.
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    server = Server("")
    app.router.add_route("*", "/{path:.*}", server.handle)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    if answers:
        server.answers = list(answers)
    try:
        yield server
    finally:
        await runner.cleanup()


@asynccontextmanager
async def opened(seating: ModelSeating, key: str | None = KEY) -> AsyncIterator[RemoteClient]:
    model_client = open_client(seating, key)
    try:
        yield model_client
    finally:
        await model_client.aclose()


@asynccontextmanager
async def bytes_only(*scripts: bytes | None, reset: bool = False) -> AsyncIterator[str]:
    """Reads a request and writes the next script (None: nothing), then closes or resets the connection."""
    turns = list(scripts)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                (int(line[15:]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"), 0
            )
            await reader.readexactly(length)
            script = turns.pop(0) if len(turns) > 1 else turns[0]
            if script:
                writer.write(script)
                await writer.drain()
            if reset:
                raw = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
