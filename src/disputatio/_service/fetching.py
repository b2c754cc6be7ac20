"""Takes evidence from an address that a caller names: only from hosts on a list, and never from a private address.

The name is looked up once, every address it has is checked, and the connection goes to one of those, so that a second
look-up cannot lead elsewhere. Each redirect is checked the same way.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Protocol
from urllib.parse import SplitResult, urljoin, urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult

from disputatio._service.problems import RefusedError

MOST_REDIRECTS = 3
SECONDS = 20.0
"""The most that a fetch may take, look-ups and redirects included."""


class Network(Protocol):
    """How names become addresses, and where the line to an address leads."""

    async def addresses(self, host: str) -> Sequence[str]:
        """All addresses that ``host`` has now.

        Raises:
            OSError: the name is not known.
        """

    def end_of(self, address: str, port: int) -> tuple[str, int]:
        """Where to connect in order to reach ``port`` of ``address``."""


class Internet:
    """The network of this machine."""

    async def addresses(self, host: str) -> Sequence[str]:
        """As the system looks it up."""
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return [str(row[4][0]).partition("%")[0] for row in found]

    def end_of(self, address: str, port: int) -> tuple[str, int]:
        """There."""
        return address, port


async def fetch(url: str, allow: frozenset[str], most_bytes: int, network: Network | None = None) -> tuple[str, bytes]:
    """The name and the content of what is at ``url``.

    Args:
        url: http or https.
        allow: hosts that it may come from, as they are written in addresses.
        most_bytes: the most that is taken.
        network: the internet where not given.

    Raises:
        RefusedError: the address is not allowed, nothing is there, it is too large, or takes longer than ``SECONDS``
            with all look-ups and redirects.
    """
    try:
        async with asyncio.timeout(SECONDS):
            return await _followed(url, allow, most_bytes, network or Internet())
    except TimeoutError:
        raise RefusedError(
            422, "invalid", f"The address did not answer within {SECONDS:.0f} seconds.", "Upload the file instead."
        ) from None


async def _followed(url: str, allow: frozenset[str], most_bytes: int, network: Network) -> tuple[str, bytes]:
    for _ in range(MOST_REDIRECTS + 1):
        parts = _checked(url, allow)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        end = network.end_of(await public_address(parts, network), port)
        status, location, kind, raw = await _get(parts, end, most_bytes)
        if location is None:
            if status != 200:
                raise _failed(parts, f"it answered {status}")
            return _name(parts, kind), raw
        try:
            url = urljoin(url, location)
        except ValueError:
            raise _failed(parts, "it leads on to what is no address") from None
    raise RefusedError(422, "invalid", "The address leads on and on.", "Give the one where it ends.")


def _checked(url: str, allow: frozenset[str]) -> SplitResult:
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip(".").lower(), parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    if parts.scheme not in {"http", "https"} or not host or parts.username is not None or port not in {None, 80, 443}:
        raise RefusedError(
            422,
            "invalid",
            "Evidence cannot be fetched from this address.",
            "Give http(s)://HOST/PATH, or upload the file.",
        )
    if host not in allow:
        raise RefusedError(
            422,
            "invalid",
            f"Evidence is not fetched from {host[:100]}.",
            "Upload the file, or ask the server's operator to allow the host: disputatio serve --allow-host HOST",
        )
    return parts


async def public_address(parts: SplitResult, network: Network) -> str:
    """An address of the host, once all that it has were found to be public.

    Raises:
        RefusedError: it has none, or one that is not.
    """
    host = (parts.hostname or "").rstrip(".")
    try:
        addresses = await network.addresses(host)
    except (OSError, UnicodeError):
        raise _failed(parts, "its name is not known") from None
    if not addresses or not all(is_public(address) for address in addresses):
        raise RefusedError(
            422, "invalid", f"{host[:100]} has an address that is not public.", "Upload the file instead."
        )
    return addresses[0]


def is_public(address: str) -> bool:
    """Whether ``address`` is a public address of the internet."""
    found = ipaddress.ip_address(address)
    inner = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None)
    if inner is not None:
        found = inner
    # Of the newer protocol only 2000::/3 is given out to the public; the rest is private, reserved or translated.
    given_out = found.version == 4 or found in _PUBLIC_V6
    return given_out and found.is_global and not (found.is_multicast or found.is_reserved)


_PUBLIC_V6 = ipaddress.ip_network("2000::/3")


async def _get(parts: SplitResult, end: tuple[str, int], most_bytes: int) -> tuple[int, str | None, str, bytes]:
    import aiohttp
    import httpx2

    from disputatio._http_client import decompressed

    connector = aiohttp.TCPConnector(resolver=_Pinned(*end), force_close=True)
    try:
        async with (
            # The time of the whole fetch is limited, and with it that of each request.
            aiohttp.ClientSession(
                connector=connector,
                timeout=aiohttp.ClientTimeout(total=None),
                trust_env=False,
                auto_decompress=False,
            ) as session,
            session.get(parts.geturl(), allow_redirects=False) as answer,
        ):
            if answer.status in {301, 302, 303, 307, 308}:
                return answer.status, answer.headers.get("Location", ""), "", b""
            raw = bytearray()
            async for part in decompressed(answer.status, answer.raw_headers, answer.content.iter_chunked(65_536)):
                raw += part
                if len(raw) > most_bytes:
                    raise RefusedError(413, "too-large", f"It is larger than {most_bytes:,} bytes.", "Upload a part.")
            return answer.status, None, answer.content_type, bytes(raw)
    except (aiohttp.ClientError, httpx2.DecodingError, ValueError) as error:
        raise _failed(parts, type(error).__name__) from None


class _Pinned(AbstractResolver):
    """Knows one end of a line, whatever it is asked for."""

    def __init__(self, address: str, port: int) -> None:
        self._address, self._port = address, port

    async def resolve(
        self,
        host: str,
        port: int = 0,  # noqa: ARG002  (the one it was made with counts)
        family: socket.AddressFamily = socket.AF_INET,
    ) -> list[ResolveResult]:
        """That one."""
        family = socket.AF_INET6 if ":" in self._address else socket.AF_INET
        return [
            {
                "hostname": host,
                "host": self._address,
                "port": self._port,
                "family": family,
                "proto": 0,
                "flags": socket.AI_NUMERICHOST,
            }
        ]

    async def close(self) -> None:
        """Nothing."""


def _failed(parts: SplitResult, why: str) -> RefusedError:
    host = (parts.hostname or "")[:100]
    return RefusedError(422, "invalid", f"Nothing could be fetched from {host}: {why}.", "Upload the file instead.")


_ENDINGS = {"text/html": ".html", "application/pdf": ".pdf", "application/json": ".json", "text/markdown": ".md"}


def _name(parts: SplitResult, kind: str) -> str:
    name = PurePosixPath(parts.path).name or (parts.hostname or "page")
    ending = _ENDINGS.get(kind, "")
    return name if PurePosixPath(name).suffix else f"{name}{ending}"
