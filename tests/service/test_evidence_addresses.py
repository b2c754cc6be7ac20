"""Evidence is fetched from hosts on the list alone, and never from an address that is not public."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
from served import served

from disputatio._service.fetching import fetch, is_public
from disputatio._service.problems import RefusedError


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.1.2.3", "100.64.0.1"),
        *("224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1"),
        *("::ffff:10.0.0.1", "2002:7f00:1::", "192.0.2.1", "198.18.0.1", "240.0.0.1", "fec0::1", "64:ff9b::7f00:1"),
    ],
)
def test_an_address_that_not_everybody_has_is_private(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_an_address_of_the_internet_is_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://example.com/",
            "https://EXAMPLE.com.evil.example/",
            "https://user@allowed.example/",
            "file:///etc/passwd",
        ),
        *(
            "ftp://allowed.example/",
            "http://allowed.example:22/",
            "http://[::1/",
            "http://",
            "gopher://allowed.example",
        ),
        "http://allowed.example\\@evil.example/",
    ],
)
async def test_a_host_that_is_not_on_the_list_is_not_asked(url):
    with pytest.raises(RefusedError) as refused:
        await fetch(url, frozenset({"allowed.example"}), 1_000)
    assert refused.value.status == 422
    assert "not fetched" in refused.value.cause or "cannot be fetched" in refused.value.cause


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]"),  # noqa: S104
        # What a resolver of C takes for addresses: a whole number, hexadecimal, octal, parts left out.
        *("2130706433", "0x7f000001", "0177.0.0.1", "127.1"),
    ],
)
async def test_a_listed_host_with_private_address_is_refused(host):
    with pytest.raises(RefusedError) as refused:
        await fetch(f"http://{host}/", frozenset({host.strip("[]")}), 1_000)
    assert "not public" in refused.value.cause or "not known" in refused.value.cause


@dataclass
class Wires:
    """A network in which names have the addresses that a test gives them, and every line ends at one local server.

    ``addresses_of`` has for each name what it is found to be, look-up by look-up; the last one stays.
    """

    port: int
    addresses_of: dict[str, list[list[str]]]
    looked_up: list[str] = field(default_factory=list)
    reached: list[tuple[str, int]] = field(default_factory=list)

    async def addresses(self, host: str) -> list[str]:
        self.looked_up.append(host)
        rows = self.addresses_of[host]
        return rows.pop(0) if len(rows) > 1 else rows[0]

    def end_of(self, address: str, port: int) -> tuple[str, int]:
        self.reached.append((address, port))
        return "127.0.0.1", self.port


PUBLIC, OTHER = "93.184.216.34", "1.1.1.1"
ALLOWED = frozenset({"docs.example", "more.example", "inside.example", "127.0.0.1", "169.254.169.254"})


@asynccontextmanager
async def site(answers: dict[str, tuple[int, dict[str, str], bytes]]) -> AsyncIterator[tuple[int, list[str]]]:
    """A real server with these answers by host and path; its port, and what it was asked."""
    asked: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        host = next(line.partition(": ")[2] for line in lines if line.lower().startswith("host:"))
        asked.append(f"{host}{lines[0].split()[1]}")
        status, headers, body = answers.get(asked[-1], (404, {}, b""))
        head = "".join(f"{name}: {value}\r\n" for name, value in {**headers, "Content-Length": str(len(body))}.items())
        writer.write(f"HTTP/1.1 {status} x\r\n{head}Connection: close\r\n\r\n".encode() + body)
        with suppress(ConnectionError):
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], asked


TEXT = (200, {"Content-Type": "text/html"}, b"<p>3.8 hours</p>")


async def test_connections_go_to_the_checked_address():
    async with site({"docs.example/report": TEXT}) as (port, asked):
        wires = Wires(port, {"docs.example": [[PUBLIC], ["127.0.0.1"]]})
        assert await fetch("http://docs.example/report", ALLOWED, 1_000, wires) == ("report.html", TEXT[2])
        assert (wires.looked_up, wires.reached, asked) == (
            ["docs.example"],
            [(PUBLIC, 80)],
            ["docs.example/report"],
        )
        # The next time the name leads inside, and so it does if only one of its addresses is inside.
        for addresses in (["127.0.0.1"], [PUBLIC, "10.0.0.1"], [PUBLIC, "::ffff:10.0.0.1"], []):
            wires = Wires(port, {"docs.example": [addresses]})
            with pytest.raises(RefusedError, match="not public"):
                await fetch("http://docs.example/report", ALLOWED, 1_000, wires)
            assert wires.reached == []


@pytest.mark.parametrize(
    "location",
    [
        *("http://127.0.0.1/", "http://169.254.169.254/latest/meta-data", "//inside.example/", "http://evil.example/"),
        *("file:///etc/passwd", "http://more.example@127.0.0.1/", "http://more.example:22/", "http://more.example:x/"),
    ],
)
async def test_redirects_are_checked_like_addresses(location):
    async with site({"docs.example/": (302, {"Location": location}, b"")}) as (port, asked):
        names = {"docs.example": [[PUBLIC]], "more.example": [[OTHER]], "inside.example": [["10.0.0.1"]]}
        wires = Wires(port, {**names, "127.0.0.1": [["127.0.0.1"]], "169.254.169.254": [["169.254.169.254"]]})
        with pytest.raises(RefusedError):
            await fetch("http://docs.example/", ALLOWED, 1_000, wires)
        assert asked == ["docs.example/"]
        assert wires.reached == [(PUBLIC, 80)]


async def test_redirects_are_limited():
    answers = {
        "docs.example/": (301, {"Location": "http://more.example/b"}, b""),
        "more.example/b": (307, {"Location": "/c.md"}, b""),
        "more.example/c.md": (200, {"Content-Type": "text/markdown"}, b"# 3.8 hours"),
        "docs.example/round": (302, {"Location": "/round"}, b""),
        "docs.example/large": (200, {"Content-Encoding": "gzip"}, gzip.compress(b"x" * 2_000_000)),
    }
    async with site(answers) as (port, asked):
        wires = Wires(port, {"docs.example": [[PUBLIC]], "more.example": [[OTHER]]})
        assert await fetch("http://docs.example/", ALLOWED, 1_000, wires) == ("c.md", b"# 3.8 hours")
        assert wires.reached == [(PUBLIC, 80), (OTHER, 80), (OTHER, 80)]
        with pytest.raises(RefusedError, match="on and on"):
            await fetch("http://docs.example/round", ALLOWED, 1_000, wires)
        assert len(asked) == 3 + 4
        # A few kilobytes on the line, two megabytes once they are unpacked.
        with pytest.raises(RefusedError) as refused:
            await fetch("http://docs.example/large", ALLOWED, 100_000, wires)
        assert refused.value.status == 413


@pytest.mark.slow
async def test_without_a_list_nothing_is_fetched_at_all(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        answer = await client.post("/v1/evidence/fetch", json={"url": "https://example.com/a.html"})
        assert answer.status_code == 422
        assert "--allow-host" in answer.json()["next_step"]


@pytest.mark.slow
async def test_the_api_reference_is_generated():
    import asyncio
    from pathlib import Path

    from disputatio._service.reference import reference

    written = (Path(__file__).parents[2] / "docs/reference/http-api.md").read_text("utf-8")
    assert written == await asyncio.to_thread(reference), (
        "python -m disputatio._service.reference > docs/reference/http-api.md"
    )
