"""HTTP for the provider libraries: aiohttp under httpx2, one pool of connections per event loop.

It carries one HTTP exchange and reports how it failed. It knows nothing of status codes, bodies or retries.

Existing adapters report a refused connection, an unknown host and a dropped connection all as a connect time-out, and
open a limited pool per client. Here every exception becomes the httpx2 class that says what happened, and all clients
of an event loop share a pool. It has no limit, because the engine decides how many calls run at once.

``aiohttp`` takes about half the processor time of httpx2's own transport per call.

Responses are decompressed step by step and counted before they are kept. Every way out of a client reads here, so one
bound holds for all. Importing this module imports aiohttp and httpx2, so import it lazily.
"""

from __future__ import annotations

import asyncio
import functools
import io
import ssl
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple
from weakref import WeakKeyDictionary

import aiohttp
import httpx2
from multidict import CIMultiDict
from yarl import URL

from disputatio._http_client import RawHeaders, decompressed, is_encoded, plain_headers
from disputatio._intake import Intake, OverlongError
from disputatio.participants.call import LARGEST_ERROR, UNASKED, AnswerBound

if TYPE_CHECKING:
    from collections.abc import Mapping

CONNECT_TIMEOUT_S: Final = 10.0
"""Seconds for looking the host up, connecting and the TLS handshake together."""


_LARGE: Final = 1 << 20


class RawResponse(NamedTuple):
    """A whole response: its status, its headers but those about encoding, and its body, decompressed."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


@dataclass(slots=True)
class ReplayedExchange:
    """Answers a library's request from a known outcome, without sending it.

    Attributes:
        outcome: the response or the failure. None stops the library where it would send.
        request: the request that it would have sent.
    """

    outcome: RawResponse | httpx2.RequestError | None = None
    request: httpx2.Request | None = None

    def respond(self, request: httpx2.Request) -> httpx2.Response:
        """Answer ``request`` with the outcome.

        Raises:
            httpx2.RequestError: the outcome is a failure, or None.
        """
        self.request = request
        match self.outcome:
            case RawResponse(status, headers, body):
                return httpx2.Response(status, headers=list(headers), stream=_Whole(body), request=request)
            case None:
                raise httpx2.WriteError("nothing is sent")
            case failure:
                raise failure


_REPLAYED: ContextVar[ReplayedExchange | None] = ContextVar("_REPLAYED", default=None)


@contextmanager
def replay_exchange(
    outcome: RawResponse | httpx2.RequestError | None, *, shows: bool = False
) -> Iterator[ReplayedExchange]:
    """Answer the requests of this context with ``outcome`` instead of sending them.

    Args:
        outcome: the response or failure. None sends the requests after all, unless ``shows`` is set.
        shows: stop each request before it is sent, and keep it.
    """
    exchange = ReplayedExchange(outcome)
    token = _REPLAYED.set(exchange if shows or outcome is not None else None)
    try:
        yield exchange
    finally:
        _REPLAYED.reset(token)


_COLLECTED_HEADERS: ContextVar[list[tuple[bytes, bytes]] | None] = ContextVar("_COLLECTED_HEADERS", default=None)


@contextmanager
def collect_headers() -> Iterator[list[tuple[bytes, bytes]]]:
    """Collect the headers of all responses in this context, which the libraries do not pass on."""
    headers: list[tuple[bytes, bytes]] = []
    token = _COLLECTED_HEADERS.set(headers)
    try:
        yield headers
    finally:
        _COLLECTED_HEADERS.reset(token)


def _collect(headers: Iterable[tuple[bytes, bytes]]) -> None:
    if (collected := _COLLECTED_HEADERS.get()) is not None:
        collected.extend(headers)


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Carries httpx2 requests over the running loop's shared pool.

    Responses are decompressed here and bounded by what ``bound_schema`` set, before any other code gets them.

    The pool is joined at the first request and left by ``aclose``; the last to leave closes it. A transport
    that is used in a second event loop joins that loop's pool. Without ``keep_alive`` a transport shares no pool.

    Args:
        connect_timeout_s: seconds until an unfinished connection counts as failed.
        keep_alive: whether the connection may serve another request afterwards. False costs a connection a
            call and suits servers that drop idle connections without a word.
    """

    def __init__(self, *, connect_timeout_s: float = CONNECT_TIMEOUT_S, keep_alive: bool = True) -> None:
        # No read limit: only the caller's limit on the whole call applies, so that there is one message.
        self._timeout = aiohttp.ClientTimeout(total=None, connect=connect_timeout_s)
        self._keep_alive = keep_alive
        self._pool: _Pool | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send ``request`` and return when the response's headers have arrived.

        Raises:
            httpx2.TransportError: the class says what happened; ``__cause__`` is the original.
        """
        exchange = _REPLAYED.get()
        if exchange is not None:
            replayed = exchange.respond(request)
            _collect(replayed.headers.raw)
            return replayed
        body = await request.aread()
        with _translate_errors():
            response = await self._send(
                request.method, address_of(request.url), request.headers.multi_items(), body or None
            )
        _collect(response.raw_headers)
        return httpx2.Response(
            response.status,
            headers=plain_headers(response.raw_headers),
            stream=_Body(response, Intake(current_bound(), len(body))),
            request=request,
        )

    async def post(self, url: URL, headers: Mapping[str, str], body: bytes) -> RawResponse:
        """Post ``body`` and read the whole response.

        Raises:
            httpx2.RequestError: as for ``handle_async_request``, or that the response cannot be decoded.
        """
        intake = Intake(current_bound(), len(body))
        with _translate_errors():
            response = await self._send("POST", url, headers, body)
            try:
                content = await read_whole(response.status, response.raw_headers, response.content, intake)
            except BaseException:
                response.close()
                raise
            response.release()
        return RawResponse(response.status, plain_headers(response.raw_headers), content)

    async def _send(
        self, method: str, url: URL, headers: Mapping[str, str] | Iterable[tuple[str, str]], body: bytes | None
    ) -> aiohttp.ClientResponse:
        pool = self._join_pool()
        proxy = pool.proxy_of(url.scheme, url.host or "")
        if not self._keep_alive:
            headers = CIMultiDict(headers)
            headers["connection"] = "close"
        return await pool.session.request(
            method,
            url,
            headers=headers,
            # aiohttp warns about large bytes, but writes a file in pieces.
            data=body if body is None or len(body) < _LARGE else io.BytesIO(body),
            allow_redirects=False,
            auto_decompress=False,
            timeout=self._timeout,
            ssl=_ssl_context(url),
            proxy=proxy[0] if proxy else None,
            proxy_headers=proxy[1] if proxy else None,
        )

    async def aclose(self) -> None:
        """Leave the pool. Safe to repeat."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.leave()

    def _join_pool(self) -> _Pool:
        loop = asyncio.get_running_loop()
        if self._pool is None or self._pool.loop is not loop:
            self._pool = _Pool.join(loop) if self._keep_alive else _Pool(loop, force_close=True)
        return self._pool


def address_of(url: httpx2.URL) -> URL:
    """Convert ``url`` for aiohttp, without name and password: httpx2 has sent them as a header."""
    if url.userinfo:
        url = url.copy_with(username=None, password=None)
    return URL(str(url), encoded=True)


class _Connector(aiohttp.TCPConnector):
    """Closes idle connections with an unrequested response, which would answer the next request."""

    async def connect(self, *request: Any, **options: Any) -> aiohttp.connector.Connection:
        while True:
            connection = await super().connect(*request, **options)
            # The loop ends: a new connection has no such response.
            if connection.protocol is None or not len(connection.protocol):
                return connection
            connection.close()


class _Pool:
    """The connections of one event loop, open while a transport uses them."""

    _open: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, _Pool]] = WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop, *, force_close: bool = False) -> None:
        self.loop = loop
        self.members = 1
        # The lookup reads the whole environment.
        self.proxy_of = functools.lru_cache(maxsize=64)(_environment_proxy)
        self.session = aiohttp.ClientSession(
            connector=_Connector(limit=0, ttl_dns_cache=60, force_close=force_close),
            # Cookies of one provider must not reach another, and no provider's API needs them.
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    @classmethod
    def join(cls, loop: asyncio.AbstractEventLoop) -> _Pool:
        """Join the shared pool of ``loop``."""
        pool = cls._open.get(loop)
        if pool is None:
            pool = cls._open[loop] = cls(loop)
        else:
            pool.members += 1
        return pool

    async def leave(self) -> None:
        self.members -= 1
        if self.members == 0 and asyncio.get_running_loop() is self.loop:
            if self._open.get(self.loop) is self:
                del self._open[self.loop]
            await self.session.close()


class _Whole(httpx2.AsyncByteStream):
    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body


class _Body(httpx2.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse, intake: Intake) -> None:
        self._response, self._intake = response, intake

    async def __aiter__(self) -> AsyncIterator[bytes]:
        response = self._response
        with _translate_errors():
            async for part in read_parts(response.status, response.raw_headers, response.content, self._intake):
                yield part

    async def aclose(self) -> None:
        # Returns the connection to the pool if it was read to the end, else closes it.
        self._response.release()
        await self._response.wait_for_close()


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise aiohttp's exceptions as the equivalent httpx2 class."""
    try:
        yield
    except _FAILURES as error:
        raise _translated(error) from error


# A TimeoutError is an OSError. Cancellation passes through.
_FAILURES: Final = (aiohttp.ClientError, OSError, ValueError, OverlongError)


def _translated(error: Exception) -> httpx2.TransportError:
    """The httpx2 exception for ``error``."""
    if not isinstance(error, (aiohttp.ClientError, OSError, OverlongError)):
        # An invalid part of an address other than its scheme, such as the port.
        return httpx2.UnsupportedProtocol(str(error))
    return _httpx_error_class(error)(str(error))


def _httpx_error_class(error: Exception) -> Callable[[str], httpx2.TransportError]:
    match error:
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return httpx2.UnsupportedProtocol
        case aiohttp.ConnectionTimeoutError():
            return httpx2.ConnectTimeout
        case aiohttp.ServerTimeoutError() | TimeoutError():
            return httpx2.ReadTimeout
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return httpx2.ProxyError
        case aiohttp.ClientConnectorError() | aiohttp.ClientSSLError():
            return httpx2.ConnectError
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientResponseError():
            return httpx2.RemoteProtocolError
        case _:
            return httpx2.ReadError


def _ssl_context(url: URL) -> ssl.SSLContext | bool:
    """The certificates to trust for ``url``."""
    return trusted_certificates() if url.scheme == "https" else True


@functools.cache
def trusted_certificates() -> ssl.SSLContext:
    """The system's trusted certificates, as httpx2 finds them (``SSL_CERT_FILE`` is honoured).

    The first use takes about 0.1 s, so clients call it in a thread before the first https request.
    """
    return httpx2.create_ssl_context()


def _environment_proxy(scheme: str, host: str) -> tuple[URL, dict[str, str] | None] | None:
    """The proxy that the environment names for ``host``, and the headers it wants.

    aiohttp's own lookup also reads ``~/.netrc`` for every request and then refuses to send a key as well.
    """
    proxies = urllib.request.getproxies()
    address = proxies.get(scheme) or proxies.get("all")
    if not address or urllib.request.proxy_bypass(host):
        return None
    proxy = URL(address if "://" in address else f"http://{address}")
    if not proxy.user:
        return proxy, None
    return proxy.with_user(None), {"Authorization": aiohttp.encode_basic_auth(proxy.user, proxy.password or "")}


_BOUND: ContextVar[AnswerBound] = ContextVar("_BOUND", default=UNASKED)


@contextmanager
def bound_schema(bound: AnswerBound) -> Iterator[None]:
    """Limit every response in this context to ``bound``."""
    token = _BOUND.set(bound)
    try:
        yield
    finally:
        _BOUND.reset(token)


def current_bound() -> AnswerBound:
    """The bound of this context; ``UNASKED`` outside a call."""
    return _BOUND.get()


async def read_whole(status: int, headers: RawHeaders, content: aiohttp.StreamReader, intake: Intake) -> bytes:
    """Read the decompressed body; of an error the first ``LARGEST_ERROR`` bytes.

    Raises:
        OverlongError: it passes the bound of ``intake``.
        httpx2.DecodingError: it cannot be decompressed.
        aiohttp.ClientError: the connection was lost.
    """
    if content.is_eof() and _is_answer(status) and not is_encoded(headers):
        # The whole body has arrived, so it is read in one step.
        body = content.read_nowait()
        intake.take(body)
        return body
    return b"".join([part async for part in read_parts(status, headers, content, intake)])


async def read_parts(
    status: int, headers: RawHeaders, content: aiohttp.StreamReader, intake: Intake
) -> AsyncIterator[bytes]:
    """Yield the body in pieces. Limits and errors are those of ``read_whole``."""
    parts = decompressed(status, headers, content.iter_any())
    if not _is_answer(status):
        async for part in _beginning(parts):
            yield part
        return
    events = any(
        name.lower() == b"content-type" and value.lower().startswith(b"text/event-stream") for name, value in headers
    )
    async for part in parts:
        intake.take(part, events=events)
        yield part


async def _beginning(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    left = LARGEST_ERROR
    async for part in parts:
        yield part[:left]
        left -= len(part)
        if left <= 0:
            return


def _is_answer(status: int) -> bool:
    return 200 <= status < 300


class CountedResponse:
    """Delegates to a response of urllib3 and counts the bytes that are read. Decompresses nothing.

    The bound is that of the context in which it is made.

    Args:
        raw: the response.
        status: its status; of an error only the first ``LARGEST_ERROR`` bytes are read.
    """

    def __init__(self, raw: Any, status: int) -> None:
        self._raw, self._status, self._intake = raw, status, Intake(current_bound())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def stream(self, *arguments: Any, **options: Any) -> Iterator[bytes]:
        """The body piece by piece.

        Raises:
            OverlongError: it passes its bound.
        """
        left = LARGEST_ERROR
        for part in self._raw.stream(*arguments, **options):
            if _is_answer(self._status):
                self._intake.take(part)
                yield part
                continue
            yield part[:left]
            left -= len(part)
            if left <= 0:
                return
