"""Clients of the API: some follow debates to their end and come back when the line breaks, some read nothing."""

from __future__ import annotations

import asyncio
import json
import socket

import httpx


class Follower:
    """Follows one debate, and comes back with the number of the last event that it saw."""

    def __init__(self, url: str, debate: str) -> None:
        self._url, self.debate = url, debate
        self.hashes: list[str] = []
        self.seen: list[int] = []
        self.connections = 0
        self.ended = False

    async def follow(self) -> None:
        """Until the debate has ended."""
        async with httpx.AsyncClient(base_url=self._url, timeout=httpx.Timeout(60, connect=5)) as client:
            while not self.ended:
                try:
                    await self._once(client)
                except httpx.TransportError:
                    await asyncio.sleep(0.1)

    async def _once(self, client: httpx.AsyncClient) -> None:
        headers = {"Last-Event-ID": str(self.seen[-1])} if self.seen else {}
        async with client.stream("GET", f"/v1/debates/{self.debate}/events", headers=headers) as stream:
            if stream.status_code == httpx.codes.NO_CONTENT:
                self.ended = True
            if stream.status_code != httpx.codes.OK:
                await asyncio.sleep(0.1)
                return
            self.connections += 1
            number, event = 0, ""
            async for line in stream.aiter_lines():
                name, _, value = line.partition(": ")
                if name == "id":
                    number = int(value)
                elif name == "event":
                    event = value
                elif name == "data" and event == "end":
                    self.ended = True
                elif name == "data" and number:
                    self.seen.append(number)
                    self.hashes.append(json.loads(value)["hash"])
                    number = 0


def reader_of_nothing(url: str, debate: str) -> socket.socket:
    """A client that asks for a stream and never reads it."""
    place = httpx.URL(url)
    found = socket.create_connection((place.host, place.port or 80))
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
    found.sendall(f"GET /v1/debates/{debate}/events HTTP/1.1\r\nHost: {place.host}\r\n\r\n".encode())
    return found
