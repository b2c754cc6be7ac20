"""Servers whose answers do not end: what they send, and how much of it a client took."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import json
import sys
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from plain_server import answer as mcp_answer

FLOOD = 400_000_000
"""Bytes after which the server gives up. Without a bound all of them are taken."""
OK = b"HTTP/1.1 200 OK\r\n"
JSON = b"Content-Type: application/json\r\n"
EVENTS = b"Content-Type: text/event-stream\r\n"
GZIP = b"Content-Encoding: gzip\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CLOSE = b"Connection: close\r\n\r\n"
Script: TypeAlias = Callable[[], Iterable[Any]]
"""What a server sends: bytes, and parts that never end. Made anew for each call."""


def squeezed(wbits: int, begun: bytes, block: bytes) -> Iterator[bytes]:
    """``begun`` and then ``block`` for ever, compressed to about a thousandth."""
    first, same = packed(wbits, begun, block)
    yield first
    yield from itertools.repeat(same)


@functools.cache
def packed(wbits: int, begun: bytes, block: bytes) -> tuple[bytes, bytes]:
    packer = zlib.compressobj(9, wbits=wbits)
    first = packer.compress(begun) + packer.flush(zlib.Z_FULL_FLUSH)
    # After a full flush the same block becomes the same bytes.
    return first, packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)


def for_ever(part: bytes, size: int = 65_536) -> Iterator[bytes]:
    return itertools.repeat(part * max(1, size // len(part)))


def numbered(part: bytes) -> Iterator[bytes]:
    for number in itertools.count():
        yield b"".join(part % (number * 500 + more) for more in range(500))


class Attacker:
    """Sends what it is told to every client, and counts what the client took of it."""

    def __init__(self, script: Iterable[Any], pause_s: float = 0.0) -> None:
        self._parts, self._pause_s = flat(script), pause_s
        self.url, self.sent = "", 0
        self.open = self.answering = 0
        self._changed = asyncio.Event()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self.answer(*await request_of(reader), writer):
                pass
        writer.close()
        self.open -= 1
        self._changed.set()

    async def answer(self, head: bytes, body: bytes, writer: asyncio.StreamWriter) -> bool:
        """Answer a request; whether the connection stays open for another one."""
        self.answering += 1
        try:
            for part in self._parts:
                writer.write(part)
                await writer.drain()
                self.sent += len(part)
                if self._pause_s:
                    await asyncio.sleep(self._pause_s)
                if self.sent > FLOOD:
                    break
        finally:
            self.answering -= 1
            self._changed.set()
        return False

    async def is_left(self, seconds: float = 5.0) -> bool:
        """Whether clients close all connections soon."""
        return await self._comes(lambda: not self.open, seconds)

    async def is_unread(self, seconds: float = 5.0) -> bool:
        """Whether clients stop reading its answers soon."""
        return await self._comes(lambda: not self.answering, seconds)

    async def _comes(self, is_so: Callable[[], bool], seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not is_so():
                    self._changed.clear()
                    await self._changed.wait()
        return is_so()


async def request_of(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """The head and the body of the next request."""
    head = await reader.readuntil(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return head, await reader.readexactly(int(lengths[0].partition(b":")[2])) if lengths else b""


def flat(script: Iterable[Any]) -> Iterator[bytes]:
    for part in script:
        yield from [part] if isinstance(part, bytes) else part


@asynccontextmanager
async def serving(*attackers: Attacker) -> AsyncIterator[None]:
    async with contextlib.AsyncExitStack() as stack:
        for attacker in attackers:
            server = await asyncio.start_server(attacker.handle, "127.0.0.1", 0)
            await stack.enter_async_context(server)
            attacker.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield


class McpAttacker(Attacker):
    """An MCP server over HTTP that behaves until it is asked for ``method``, which it answers by its script."""

    def __init__(self, method: str, script: Callable[[int], Iterable[Any]], pause_s: float = 0.0) -> None:
        super().__init__([], pause_s)
        self._method, self._script = method, script

    async def answer(self, head: bytes, body: bytes, writer: asyncio.StreamWriter) -> bool:
        """Answer a request."""
        if not head.startswith(b"POST"):
            # A stream is resumed, or the connection ends.
            self._parts = flat(self._script(0))
            return await super().answer(head, body, writer)
        message = json.loads(body)
        if message["method"] == self._method:
            # Each call has parts of its own.
            self._parts = flat(self._script(message["id"]))
            return await super().answer(head, body, writer)
        if "id" not in message:
            writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            return True
        found = json.dumps({"jsonrpc": "2.0", "id": message["id"], **mcp_answer("", message)}).encode()
        writer.write(OK + JSON + b"Mcp-Session-Id: s\r\nContent-Length: %d\r\n\r\n" % len(found) + found)
        return True
