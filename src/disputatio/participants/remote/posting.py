"""Whole exchanges over aiohttp's connections, without a session's work for each of them.

`aiohttp.ClientSession.request` prepares every request as if it were the first of its kind: it merges and checks the
headers, looks for cookies, traces, redirects and other ways to log in, and writes the body in a task of its own. What
is posted to a model differs in its body alone, so the rest is written once. Looking up, connecting, TLS, the pool and
the reading of responses are aiohttp's, as in a session.

This module imports aiohttp and httpx2 when it is imported, so import it only where a gateway is opened.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Final, NamedTuple

import aiohttp
from aiohttp.hdrs import CONNECTION
from aiohttp.http import HttpProcessingError
from multidict import CIMultiDict
from yarl import URL

from disputatio._http_client import plain_headers
from disputatio._intake import Intake
from disputatio.participants.remote.receiving import read_whole

# A line break would begin a header of its own.
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_SCHEMES: Final = ("http", "https")
_INTERIM: Final = frozenset(range(100, 200)) - {101}
"""Status codes that announce another response; after 101 the connection speaks another protocol."""


class Arrived(NamedTuple):
    """A whole response: its status, its headers but those about encoding, and its body, decompressed."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Destination:
    """Where bodies are posted, again and again.

    Attributes:
        url: the address.
        headers: what every request carries, without the length of its body.
        head: all that goes over the wire before that length, b"" where this is no way to post there.
    """

    url: URL
    headers: CIMultiDict[str]
    head: bytes

    def __repr__(self) -> str:
        # The headers may hold a key, and so may the rest of the address.
        return f"Destination({self.url.host})"

    @classmethod
    def of(cls, url: URL, headers: CIMultiDict[str]) -> Destination:
        """The destination at ``url``. It is made in a running event loop."""
        try:
            return cls(url, headers, _head(url, headers) if url.scheme in _SCHEMES and url.raw_host else b"")
        except ValueError:
            # A session says what is wrong with it.
            return cls(url, headers, b"")


def _head(url: URL, headers: CIMultiDict[str]) -> bytes:
    """The request line and the headers as a session would send them, up to the length of the body."""
    request = aiohttp.ClientRequest("POST", url, headers=headers, data=b"", loop=asyncio.get_running_loop())
    lines = [f"POST {url.raw_path_qs} HTTP/1.1"]
    lines += (f"{name}: {value}" for name, value in request.headers.items() if name.lower() != "content-length")
    written = [line.encode() for line in lines]
    if any(_FORBIDDEN.search(line) for line in written):
        raise ValueError("a header holds a control character")
    return b"\r\n".join((*written, b"Content-Length: "))


async def exchanged(
    connector: aiohttp.BaseConnector,
    opening: aiohttp.ClientRequest,
    to: Destination,
    body: bytes,
    timeout: aiohttp.ClientTimeout,
    intake: Intake,
) -> Arrived:
    """Post ``body`` and read the whole response, once.

    Args:
        connector: the pool of connections.
        opening: a request to this address; connections are kept and made by it, and nothing of it is sent.
        to: the destination, which has a head.
        body: what is posted.
        timeout: how long connecting may take.
        intake: bounds the response.

    Raises:
        aiohttp.ClientError: what a session would raise.
        OSError: as for a session.
        OverlongError: the response passes its bound.
        httpx2.DecodingError: it cannot be decompressed.
    """
    connection = await _connected(connector, opening, to, timeout)
    try:
        transport, protocol = connection.transport, connection.protocol
        if transport is None or protocol is None or transport.is_closing():
            raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")
        protocol.set_response_params(read_until_eof=True, auto_decompress=False)
        transport.write(b"%b%d\r\n\r\n%b" % (to.head, len(body), body))
        try:
            message, payload = await protocol.read()
            while message.code in _INTERIM:
                message, payload = await protocol.read()
        except HttpProcessingError as error:
            asked = opening.request_info
            raise aiohttp.ClientResponseError(
                asked, (), status=error.code, message=error.message, headers=error.headers
            ) from error
        content = await read_whole(message.code, message.raw_headers, payload, intake)
        # What was not read would be taken for the next response. Answered before all of it was sent, the rest would go
        # ahead of the next request; and a server that was asked to close may do so without having said it would.
        if not payload.is_eof() or transport.get_write_buffer_size() or to.headers.get(CONNECTION) == "close":
            connection.close()
    except BaseException:
        connection.close()
        raise
    connection.release()
    return Arrived(message.code, plain_headers(message.raw_headers), content)


async def _connected(
    connector: aiohttp.BaseConnector, opening: aiohttp.ClientRequest, to: Destination, timeout: aiohttp.ClientTimeout
) -> aiohttp.connector.Connection:
    while True:
        try:
            connection = await connector.connect(opening, traces=[], timeout=timeout)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError(f"Connection timeout to host {to.url}") from error
        # What a server said while nothing was asked of it would be taken for the answer to this, and the answer to
        # this for that to the next. Over a new connection nothing is read as a response yet, so this comes to an end.
        if connection.protocol is None or not len(connection.protocol):
            return connection
        connection.close()
