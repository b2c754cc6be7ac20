"""Addresses, names and redirects that lead evidence elsewhere, tried live: a real resolver and real servers."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from attack_table import Attack
from served import served

from disputatio._service import fetching

pytestmark = pytest.mark.slow
PUBLIC, OTHER, INSIDE = "93.184.216.34", "1.1.1.1", "127.0.0.1"
HOST = "docs.example"
PAGE = b"<html><body><p>The bridge is 40 metres long.</p></body></html>"
SECRET = b"The secret of the machine."
SECONDS = 1.0
"""How long a fetch may take in these tests."""


class Resolver(asyncio.DatagramProtocol):
    """A name server on this machine. ``answers`` has the addresses of each name, look-up by look-up; the last stays."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Sequence[str]]] = {}
        self.silent: set[str] = set()
        self.asked: list[str] = []

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        name, place = [], 12
        while data[place]:
            name.append(data[place + 1 : place + 1 + data[place]].decode())
            place += data[place] + 1
        host = ".".join(name)
        self.asked.append(host)
        if host in self.silent:
            return
        rows = self.answers.get(host, [()])
        addresses = rows.pop(0) if len(rows) > 1 else rows[0]
        head = data[:2] + struct.pack(">HHHHH", 0x8180, 1, len(addresses), 0, 0) + data[12 : place + 5]
        records = b"".join(self._record(address) for address in addresses)
        self._transport.sendto(head + records, addr)

    @staticmethod
    def _record(address: str) -> bytes:
        family, kind = (socket.AF_INET6, 28) if ":" in address else (socket.AF_INET, 1)
        packed = socket.inet_pton(family, address)
        # The name of the question, for no time at all: the next look-up asks again.
        return struct.pack(">HHHIH", 0xC00C, kind, 1, 0, len(packed)) + packed


@dataclass
class Wires:
    """The internet of a test: names by the resolver, one server for what is public, one for what is not."""

    resolver: int
    public: int
    inside: int
    reached: list[str] = field(default_factory=list)

    async def addresses(self, host: str) -> Sequence[str]:
        """As libc does it: a literal address in any spelling is itself, all else is asked of the resolver."""
        with suppress(OSError):
            return [socket.inet_ntoa(socket.inet_aton(host))]
        with suppress(OSError):
            socket.inet_pton(socket.AF_INET6, host)
            return [host]
        return await asyncio.wait_for(self._asked(host), 30)

    async def _asked(self, host: str) -> Sequence[str]:
        loop, answer = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

        class Client(asyncio.DatagramProtocol):
            def datagram_received(self, data: bytes, addr: Any) -> None:
                answer.set_result(data)

        transport, _ = await loop.create_datagram_endpoint(Client, remote_addr=("127.0.0.1", self.resolver))
        try:
            labels = b"".join(struct.pack("B", len(part)) + part for part in host.encode("idna").split(b"."))
            transport.sendto(struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", 1, 1))
            data, found = await answer, []
            place = 12 + len(labels) + 1 + 4
            for _ in range(struct.unpack(">H", data[6:8])[0]):
                kind, size = struct.unpack(">H", data[place + 2 : place + 4])[0], data[place + 11]
                family = socket.AF_INET6 if kind == 28 else socket.AF_INET
                found.append(socket.inet_ntop(family, data[place + 12 : place + 12 + size]))
                place += 12 + size
        finally:
            transport.close()
        if not found:
            raise OSError("no such name")
        return found

    def end_of(self, address: str, port: int) -> tuple[str, int]:
        self.reached.append(f"{address}:{port}")
        return "127.0.0.1", self.public if address in {PUBLIC, OTHER} else self.inside


Answer = Callable[[str, asyncio.StreamWriter], Any]


@asynccontextmanager
async def server(answer: Answer) -> AsyncIterator[tuple[int, list[str]]]:
    """A server that answers by hand; its port, and the paths it was asked for."""
    asked: list[str] = []
    serving: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                asked.append(head.split(" ")[1])
                await answer(asked[-1], writer)
                await writer.drain()
        finally:
            writer.close()
            serving.discard(task)
            with suppress(ConnectionError):
                await writer.wait_closed()

    running = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with running:
        try:
            yield running.sockets[0].getsockname()[1], asked
        finally:
            for task in list(serving):
                task.cancel()
            await asyncio.gather(*serving, return_exceptions=True)


def whole(body: bytes, status: str = "200 OK", *headers: str, kind: str = "text/html") -> bytes:
    more = "".join(f"{row}\r\n" for row in headers)
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


@dataclass
class World:
    """A service that may fetch from ``HOST``, the resolver, and what the servers were asked."""

    client: Any
    resolver: Resolver
    wires: Wires
    inside: list[str]
    public: list[str]

    async def fetch(self, url: str) -> Any:
        return await self.client.post("/v1/evidence/fetch", json={"url": url})


@asynccontextmanager
async def world(folder: Any, patch: pytest.MonkeyPatch, answer: Answer, *more: str) -> AsyncIterator[World]:
    async def secret(_path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(SECRET, kind="text/plain"))

    loop = asyncio.get_running_loop()
    transport, resolver = await loop.create_datagram_endpoint(Resolver, local_addr=("127.0.0.1", 0))
    try:
        async with server(answer) as (public, asked), server(secret) as (inside, reached):
            wires = Wires(transport.get_extra_info("sockname")[1], public, inside)
            patch.setattr(fetching, "Internet", lambda: wires)
            resolver.answers[HOST] = [(PUBLIC,)]
            allow = frozenset({HOST, "more.example", *more})
            async with served(folder, allow=allow) as here, here.client() as client:
                yield World(client, resolver, wires, reached, asked)
    finally:
        transport.close()


async def page(_path: str, writer: asyncio.StreamWriter) -> None:
    writer.write(whole(PAGE))


async def test_no_spelling_of_an_address_reaches_this_machine(tmp_path, monkeypatch, attack: Attack):
    inside = (
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "0",
        "0.0.0.0",  # noqa: S104
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
    )
    inside += (
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:0:0:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
    )
    inside += (
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fc00::1]",
        "169.254.169.254",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
    )
    inside += ("localhost", "localhost.", "LOCALHOST", "127.0.0.1.", "１２７.０.０.１", "ⓛocalhost", "①②⑦.0.0.1")
    allowed = [f"{row.strip('[]')}" for row in inside]
    urls = [
        f"{scheme}://{host}{port}/"
        for host in inside
        for scheme, port in (("http", ""), ("https", ""), ("http", ":80"))
    ]
    odd = [
        *(f"http://{HOST}:{port}/" for port in ("22", "8080", "0", "65536", "-1", "80a", "٨٠")),
        *(f"http://{before}{HOST}/" for before in ("user@", "user:word@", "127.0.0.1@", "127.0.0.1:80@", "@")),
        *(
            f"http://{HOST}{after}/"
            for after in ("@127.0.0.1", "\\@127.0.0.1", "%00.evil.example", "%2f@127.0.0.1", "。evil.example")
        ),
        *(f"{scheme}://{HOST}/" for scheme in ("file", "ftp", "gopher", "data", "unix", "jar", "ws", "HTTP+unix", "")),
        *(
            "file:///etc/passwd",
            "//etc/passwd",
            "/etc/passwd",
            "http:",
            "http:///etc/passwd",
            "http://[::1",
            "http://]/",
        ),
        *(
            f"http://{HOST}.evil.example/",
            f"http://evil{HOST}/",
            f"http://evil.example/{HOST}",
            f"http://evil.example#@{HOST}/",
        ),
        *(
            f"http://{HOST}\t.evil.example/",
            f"http://{HOST}\n@127.0.0.1/",
            f" http://evil.example/ http://{HOST}/",
            "http://./",
            "http://../",
        ),
    ]
    async with world(tmp_path, monkeypatch, page, *allowed) as here:
        for host in ("localhost", "localhost."):
            here.resolver.answers[host] = [("127.0.0.1", "::1")]
        assert (await here.fetch(f"http://{HOST}/report")).status_code == 201
        here.public.clear()
        for url in [*urls, *odd]:
            told = await here.fetch(url)
            attack.check(
                told.status_code == 422 and not here.inside and not here.public, f"{url!r}: {told.status_code}"
            )
            here.public.clear()


async def test_no_name_that_changes_its_address_reaches_this_machine(tmp_path, monkeypatch, attack: Attack):
    ways: list[list[Sequence[str]]] = [
        [(INSIDE,)],
        [(PUBLIC, INSIDE)],
        [(INSIDE, PUBLIC)],
        [(PUBLIC, "::1")],
        [(PUBLIC, "::ffff:127.0.0.1")],
        [("169.254.169.254",)],
        [()],
        [(PUBLIC,), (INSIDE,)],
        [(PUBLIC,), (INSIDE,), (PUBLIC,), (INSIDE,)],
        [(PUBLIC,), ("::1",)],
    ]

    async def onward(path: str, writer: asyncio.StreamWriter) -> None:
        # The second time the same name is looked up again, and may lead elsewhere by then.
        writer.write(whole(b"", "302 Found", "Location: /again") if path == "/onward" else whole(PAGE))

    async with world(tmp_path, monkeypatch, onward) as here:
        for way in ways:
            for path in ("/page", "/onward"):
                here.resolver.answers[HOST] = list(way)
                told = await here.fetch(f"http://{HOST}{path}")
                reached = [row for row in here.wires.reached if not row.startswith(PUBLIC)]
                held = not here.inside and not reached and SECRET.decode() not in told.text
                expected = 422 if way[0] != (PUBLIC,) or (path == "/onward" and way[1] != (PUBLIC,)) else 201
                attack.check(held and told.status_code == expected, f"{way} {path}: {told.status_code} {reached}")


async def test_no_redirect_reaches_this_machine(tmp_path, monkeypatch, attack: Attack):
    targets = [
        *(
            "http://127.0.0.1/",
            "http://[::1]/",
            "http://localhost/",
            "//127.0.0.1/",
            "http://0x7f000001/",
            "http://2130706433/",
        ),
        *(
            "http://169.254.169.254/latest/meta-data/",
            "http://[::ffff:127.0.0.1]/",
            "http://inside.example/",
            "//inside.example/x",
        ),
        *(
            "file:///etc/passwd",
            "ftp://docs.example/",
            "gopher://127.0.0.1/_x",
            "data:text/plain,x",
            "javascript:alert(1)",
        ),
        *(
            "http://docs.example:22/",
            "http://docs.example@127.0.0.1/",
            "http://127.0.0.1\\@docs.example/",
            "http://a:80@127.0.0.1/",
        ),
        *(
            "",
            " ",
            "http://",
            "http:127.0.0.1",
            "\\\\127.0.0.1\\c$",
            "http://docs.example.evil.example/",
            "/loop",
            "?",
            "http://[",
            "\x00",
        ),
    ]
    turn: dict[str, Any] = {}

    async def onward(_path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(b"", turn["status"], f"Location: {turn['to']}"))

    async with world(tmp_path, monkeypatch, onward, "inside.example") as here:
        here.resolver.answers["inside.example"] = [("10.0.0.1",)]
        for status in ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"):
            for target in targets:
                turn |= {"status": status, "to": target}
                told = await here.fetch(f"http://{HOST}/a")
                attack.check(told.status_code == 422 and not here.inside, f"{status} to {target!r}: {told.status_code}")
        attack.figure("requests to the public server for one address", max(len(here.public) // (5 * len(targets)), 1))


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
SLOW: dict[str, tuple[bytes, bytes | None, float]] = {
    "/silent": (b"", b"", 0.05),
    "/drip-head": (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.05),
    "/drip-status": (b"HTTP/1.1 200 ", b"O", 0.05),
    "/drip-headers": (HEAD, b"X-A: b\r\n", 0.05),
    "/drip-body": (HEAD + b"Content-Length: 1000000\r\n\r\n", b"a", 0.05),
    "/drip-chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n", 0.05),
    "/drip-chunk-size": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0", 0.05),
    "/endless": (HEAD + b"\r\n", b"a" * 65_536, 0.0),
    "/no-end": (HEAD + b"\r\n" + PAGE, b"", 0.05),
    "/short": (HEAD + b"Content-Length: 1000\r\n\r\n" + PAGE, None, 0.0),
    "/garbage": (b"\x00\xff" * 5_000, None, 0.0),
    "/large-head": (HEAD + b"X-A: " + b"a" * 5_000_000 + b"\r\n\r\n", None, 0.0),
    "/many-heads": (HEAD + b"X-A: b\r\n" * 200_000 + b"\r\n", None, 0.0),
    "/on-and-on": (whole(b"", "302 Found", "Location: /on-and-on"), None, SECONDS * 0.7),
}
"""Answers by path: what is sent at first, what is sent over and over, and the seconds before or between."""


async def test_no_slow_or_endless_answer_keeps_a_fetch(tmp_path, monkeypatch, attack: Attack):
    monkeypatch.setattr(fetching, "SECONDS", SECONDS)

    async def answer(path: str, writer: asyncio.StreamWriter) -> None:
        first, again, pause = SLOW[path]
        await asyncio.sleep(0 if again is not None else pause)
        writer.write(first)
        while again is not None and not writer.is_closing():
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(pause)

    async with world(tmp_path, monkeypatch, answer, "silent.example") as here:
        here.resolver.silent.add("silent.example")
        paths = (
            "silent",
            "drip-head",
            "drip-headers",
            "drip-body",
            "drip-chunks",
            "endless",
            "no-end",
            "short",
            "garbage",
        )
        urls = [f"http://{HOST}/{path}" for path in (*paths, "large-head", "many-heads", "on-and-on")]
        for url in [*urls, "http://silent.example/"]:
            began = time.monotonic()
            fetched = asyncio.create_task(here.fetch(url))
            # Others are answered meanwhile.
            alive = await here.client.get("/health")
            told = await fetched
            took = time.monotonic() - began
            held = told.status_code in {413, 422} and alive.status_code == 200 and took < SECONDS + 5
            attack.check(held, f"{url}: {told.status_code}, {took:.1f} s")
            attack.figure(f"slowest, of {SECONDS:.0f} s allowed", took, "s")
