"""HTTP requests whose answers have an end: one time for the whole exchange, and a bound of bytes after decompression.

The time limits of HTTP libraries hold for each read, and a server that drips passes them for ever. Here the time runs
from the request to the end of the body, headers included. Bodies are decompressed step by step and counted before they
are kept.

This module imports httpx2 when it is imported, so import it only where something is about to be asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import httpx2

from disputatio._intake import Bound, Intake, OverlongError

if TYPE_CHECKING:
    import ssl

RawHeaders: TypeAlias = Sequence[tuple[bytes, bytes]]
_ABOUT_ENCODING: Final = frozenset({b"content-encoding", b"content-length"})


def plain_headers(headers: RawHeaders) -> tuple[tuple[bytes, bytes], ...]:
    """``headers`` without those that are about the compressed body."""
    return tuple(row for row in headers if row[0].lower() not in _ABOUT_ENCODING)


def is_encoded(headers: RawHeaders) -> bool:
    """Whether they say that the body is compressed."""
    return any(name.lower() == b"content-encoding" for name, _ in headers)


def decompressed(status: int, headers: RawHeaders, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The body that comes in ``parts``, a megabyte at a time, so a small part cannot become a large one unseen.

    Raises:
        httpx2.DecodingError: while it is read: it cannot be decompressed.
    """
    if not is_encoded(headers):
        return parts
    return httpx2.Response(status, headers=list(headers), stream=_Raw(parts)).aiter_bytes()


class _Raw(httpx2.AsyncByteStream):
    def __init__(self, parts: AsyncIterator[bytes]) -> None:
        self._parts = parts

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._parts


class StoppedError(httpx2.StreamError, httpx2.SSEError):
    """An answer was cut off, because it took too long or was too large; ``str`` is half a sentence that says so.

    It is of two kinds, because libraries on top expect the one of bodies and the other of streams of events.
    """


class LimitedClient(httpx2.AsyncClient):
    """A client of httpx2 whose exchanges end. It follows redirects only if asked.

    A body that passes a limit raises `StoppedError` where it is read; `httpx2.TimeoutException` says that the headers
    took too long.

    Args:
        bound: the most of one body, after decompression.
        seconds: the most that one exchange may take.
        options: of `httpx2.AsyncClient`.
    """

    def __init__(self, bound: Bound, seconds: float, **options: Any) -> None:
        super().__init__(timeout=httpx2.Timeout(seconds), verify=_certificates(), **options)
        self._bound, self._seconds = bound, seconds

    def end_of(self, request: httpx2.Request) -> float:  # noqa: ARG002  (for those who know more of a request)
        """The moment, on the clock of the event loop, at which the exchange has to be over."""
        return asyncio.get_running_loop().time() + self._seconds

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """Send ``request``.

        Raises:
            StoppedError: the body takes too long or is too large.
            httpx2.HTTPError: as ever.
        """
        end = self.end_of(request)
        try:
            async with asyncio.timeout_at(end):
                response = await super().send(request, stream=True, **options)
        except TimeoutError:
            raise httpx2.ReadTimeout("no headers came in time", request=request) from None
        body = _Limited(response, Intake(self._bound), end)
        response.headers = httpx2.Headers(list(plain_headers(response.headers.raw)))
        response.stream = body
        if not stream:
            try:
                await response.aread()
            finally:
                await response.aclose()
        return response


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, response: httpx2.Response, intake: Intake, end: float) -> None:
        self._inner, self._intake, self._end = cast("httpx2.AsyncByteStream", response.stream), intake, end
        self._events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        self._parts = decompressed(response.status_code, response.headers.raw, aiter(self._inner))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while True:
                async with asyncio.timeout_at(self._end):
                    part = await anext(self._parts)
                self._intake.take(part, events=self._events)
                yield part
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise StoppedError("it was not at its end in time") from None
        except OverlongError as error:
            raise StoppedError(str(error)) from None

    async def aclose(self) -> None:
        await self._inner.aclose()


def get_apart(url: str, params: Mapping[str, str], bound: Bound, seconds: float) -> httpx2.Response:
    """What is at ``url``, for code that is not asynchronous. It may be called where an event loop runs.

    Raises:
        StoppedError: as `LimitedClient.send`.
        httpx2.HTTPError: as ever.
    """

    async def get() -> httpx2.Response:
        async with LimitedClient(bound, seconds) as client:
            return await client.get(url, params=dict(params))

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, get()).result()


@cache
def _certificates() -> ssl.SSLContext:
    """Reading the certificates takes longer than asking; once is enough."""
    return httpx2.create_ssl_context()
