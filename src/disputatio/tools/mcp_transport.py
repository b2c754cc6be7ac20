"""Transports of MCP: a started server's standard input and output, and an HTTP client, both with limits.

The library's own stdio transport buffers a line of any length. This one stops a server that writes too much, and reads
its standard error, so that it cannot write to the terminal. The HTTP client ends each exchange with its call.

Source: MCP specification 2025-11-25, "Transports" (stdio: one message a line) and "Lifecycle" (shutdown). Import this
module only to start or reach a server, because it imports the MCP library and httpx2.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from disputatio.tools.mcp_limits import MAX_ANSWER_BYTES, MAX_LINES, MAX_OUTPUT_BYTES, ServerOutput
from disputatio.tools.protocol import McpServer

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    Incoming = MemoryObjectSendStream[SessionMessage | Exception]
    Outgoing = MemoryObjectReceiveStream[SessionMessage]
    Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


from typing import Any

import httpx2

from disputatio._http_client import LimitedClient
from disputatio._intake import SizeBound
from disputatio.tools.mcp_limits import CONNECT_S, current_deadline

_GRACE_S: Final = 2.0
"""Seconds for a server to end after its input was closed, and again after it was told to."""
_CHUNK_BYTES: Final = 65_536


@asynccontextmanager
async def start_server(server: McpServer, noise: ServerOutput) -> AsyncIterator[Streams]:
    """Start a server that runs until the block ends, and give its message streams.

    Raises:
        OSError: it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *server.command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env={**get_default_environment(), **server.variables},
        limit=MAX_ANSWER_BYTES,
        # End its descendants with it.
        start_new_session=sys.platform != "win32",
    )
    incoming, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    talk = _ServerProcess(process, noise)
    tasks = [
        asyncio.create_task(talk.read_messages(incoming)),
        asyncio.create_task(talk.read_complaints()),
        asyncio.create_task(talk.write_messages(outgoing, incoming)),
    ]
    try:
        yield from_server, to_server
    finally:
        # A cancelled debate must leave no server behind; every wait here has a limit.
        with anyio.CancelScope(shield=True):
            await _stop_process(process, at_once=bool(noise.stopped))
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for stream in (incoming, from_server, to_server, outgoing):
                stream.close()


@dataclass
class _ServerProcess:
    """One running server, and how much it wrote since the last request.

    Attributes:
        process: of the server.
        noise: receives why it was stopped, and its standard error.
        lines: on its output.
        size: bytes of them.
        complaints: bytes on its standard error.
    """

    process: Process
    noise: ServerOutput
    lines: int = 0
    size: int = 0
    complaints: int = 0

    async def read_messages(self, incoming: Incoming) -> None:
        output = self.process.stdout
        if output is None:
            raise AssertionError("standard output was asked for as a pipe")
        try:
            while line := await output.readline():
                self.size += len(line)
                self.lines += 1
                if self.size > MAX_OUTPUT_BYTES:
                    self._stop(f"it wrote more than {MAX_OUTPUT_BYTES:,} bytes after one request")
                    return
                if self.lines > MAX_LINES:
                    self._stop(f"it wrote more than {MAX_LINES:,} lines after one request")
                    return
                # Skip other lines: some servers print a greeting.
                with suppress(ValueError):
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    await incoming.send(SessionMessage(message))
        except ValueError:
            self._stop(f"it wrote a line of more than {MAX_ANSWER_BYTES:,} bytes")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            return
        finally:
            # Tell waiting calls that there will be no answer.
            incoming.close()

    async def read_complaints(self) -> None:
        output = self.process.stderr
        if output is None:
            raise AssertionError("standard error was asked for as a pipe")
        with suppress(OSError):
            while data := await output.read(_CHUNK_BYTES):
                self.noise.add(data)
                self.complaints += len(data)
                if self.complaints > MAX_OUTPUT_BYTES:
                    self._stop(f"it wrote more than {MAX_OUTPUT_BYTES:,} bytes to its standard error after one request")
                    return

    async def write_messages(self, outgoing: Outgoing, incoming: Incoming) -> None:
        pipe = self.process.stdin
        if pipe is None:
            raise AssertionError("standard input was asked for as a pipe")
        try:
            async for sent in outgoing:
                self.lines = self.size = self.complaints = 0
                pipe.write(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await pipe.drain()
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            incoming.close()

    def _stop(self, reason: str) -> None:
        self.noise.stopped = f"{reason} and was stopped"
        _send_signal(self.process, kill=True)


async def _stop_process(process: Process, *, at_once: bool) -> None:
    """Close the server's input, wait, terminate it, wait, and kill it with its descendants."""
    if process.stdin is not None:
        process.stdin.close()
    if at_once or await _wait_for_end(process):
        return
    _send_signal(process)
    if not await _wait_for_end(process):
        _send_signal(process, kill=True)
        await _wait_for_end(process)


async def _wait_for_end(process: Process) -> bool:
    # `Process.wait` would also wait for descendants that keep the pipes open.
    end = asyncio.get_running_loop().time() + _GRACE_S
    while process.returncode is None and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.01)
    return process.returncode is not None


def _send_signal(process: Process, *, kill: bool = False) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL if kill else signal.SIGTERM)


_FAREWELL_S: Final = 1.0
"""Seconds for sending that a call or connection is over."""
_RESUMES: Final = "last-event-id"


class McpHttpClient(LimitedClient):
    """Limits each exchange by its call's time, ``MAX_ANSWER_BYTES`` and ``MAX_LINES``.

    The library abandons a call without closing its connection, and resumes ended streams. So this client knows the end
    of the call and resumes nothing after it. It does not request the server's own messages, because nothing reads them.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(SizeBound(MAX_ANSWER_BYTES, "an answer of an MCP server", MAX_LINES), CONNECT_S, **options)

    def end_of(self, request: httpx2.Request) -> float:
        """Return the end of the call; slightly later for a message that it is over."""
        now, end = asyncio.get_running_loop().time(), current_deadline()
        if request.method == "DELETE":
            return now + _FAREWELL_S
        if end is None:
            return super().end_of(request)
        return end if request.method == "GET" else max(end, now + _FAREWELL_S)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send ``request``; refuse a stream of the server's own messages."""
        if request.method == "GET" and _RESUMES not in request.headers:
            return httpx2.Response(405, request=request)
        return await super().send(request, **options)
