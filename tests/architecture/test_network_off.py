"""The tests' own wall: no socket leaves this machine."""

from __future__ import annotations

import asyncio
import socket

import pytest

# Addresses kept for documents (RFC 5737, RFC 3849): nobody is there, and nobody may be asked.
ELSEWHERE = [("192.0.2.1", 80), ("198.51.100.7", 443)]


@pytest.mark.parametrize("address", ELSEWHERE)
def test_another_machine_cannot_be_reached(address: tuple[str, int]) -> None:
    with socket.socket() as sock:
        sock.settimeout(1)
        with pytest.raises(OSError, match="the network is off in tests"):
            sock.connect(address)
        with pytest.raises(OSError, match="the network is off in tests"):
            sock.connect_ex(address)
    with socket.socket(socket.AF_INET6) as sock, pytest.raises(OSError, match="the network is off in tests"):
        sock.connect(("2001:db8::1", 80))
    with socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(OSError, match="the network is off in tests"):
        sock.sendto(b"x", address)


async def test_an_event_loop_cannot_reach_another_machine_either() -> None:
    with pytest.raises(OSError, match="the network is off in tests"):
        await asyncio.open_connection("192.0.2.1", 80)


def test_names_of_other_machines_are_not_looked_up() -> None:
    with pytest.raises(socket.gaierror):
        socket.create_connection(("example.org", 80), timeout=1)


async def test_this_machine_can_be_reached() -> None:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"here\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        for host in ("127.0.0.1", "localhost"):
            port = server.sockets[0].getsockname()[1]
            reader, writer = await asyncio.open_connection(host, port)
            assert await reader.readline() == b"here\n"
            writer.close()
