"""HTTP requests with one time limit for the whole exchange, and a limit on the decompressed size of the answer.

The time limits of HTTP libraries apply to each read, so a server that sends byte by byte never exceeds them. Here the
time runs from the request to the end of the body, including the headers. Bodies are decompressed in steps and counted
before they are stored.

This module imports httpx2, so import it only before a request.
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
    """``headers`` without those that describe the compressed body."""
    return tuple(row for row in headers if row[0].lower() not in _ABOUT_ENCODING)


def is_encoded(headers: RawHeaders) -> bool:
    """Whether ``headers`` say that the body is compressed."""
    return any(name.lower() == b"content-encoding" for name, _ in headers)


def decompressed(status: int, headers: RawHeaders, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Decompress the body in ``parts``, a megabyte at a time, so that a small part cannot become a huge one unnoticed.

    Raises:
        httpx2.DecodingError: while it is read, if it cannot be decompressed.
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
    """An answer took too long or was too large, and was cut off. ``str`` is half a sentence that says which.

    It has two base classes, because libraries expect one for bodies and the other for streams of events.
    """


class LimitedClient(httpx2.AsyncClient):
    """A client of httpx2 with limits. It follows redirects only if asked.

    Reading a body that passes a limit raises `StoppedError`. Headers that take too long raise
    `httpx2.TimeoutException`.

    Args:
        bound: the limits of one body, after decompression.
        seconds: the time limit of one exchange.
        options: options of `httpx2.AsyncClient`.
    """

    def __init__(self, bound: Bound, seconds: float, **options: Any) -> None:
        super().__init__(timeout=httpx2.Timeout(seconds), verify=_certificates(), **options)
        self._bound, self._seconds = bound, seconds

    def end_of(self, request: httpx2.Request) -> float:  # noqa: ARG002  (subclasses use the request)
        """The time, on the event loop's clock, at which the exchange must be over."""
        return asyncio.get_running_loop().time() + self._seconds

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """Send ``request``.

        Raises:
            StoppedError: the body takes too long or is too large.
            httpx2.HTTPError: as in httpx2.
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
            raise StoppedError("it was not complete in time") from None
        except OverlongError as error:
            raise StoppedError(str(error)) from None

    async def aclose(self) -> None:
        await self._inner.aclose()


def get_apart(url: str, params: Mapping[str, str], bound: Bound, seconds: float) -> httpx2.Response:
    """Get what is at ``url``, for synchronous code. It may be called while an event loop runs.

    Raises:
        StoppedError: as `LimitedClient.send`.
        httpx2.HTTPError: as in httpx2.
    """

    async def get() -> httpx2.Response:
        async with LimitedClient(bound, seconds) as client:
            return await client.get(url, params=dict(params))

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, get()).result()


@cache
def _certificates() -> ssl.SSLContext:
    """The certificates, read once: reading them takes longer than a request."""
    return httpx2.create_ssl_context()
