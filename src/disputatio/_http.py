"""Limit what a client may cost an HTTP/1.1 server of this package, on uvicorn.

The rules
    1. Head. A client has ``patience_s`` seconds to send the whole head of a request, from its connection or from the
       end of the last answer. Then the server answers 408 and closes the connection. If the client sent nothing, it
       closes silently. A head has at most 64 KiB and 100 fields. A larger one gets 431.
    2. Framing. The server refuses with 400, and closes the connection, what two readers could take for different
       messages: Content-Length together with Transfer-Encoding, or Transfer-Encoding in HTTP/1.0. Other text than HTTP
       gets 400 too, and versions other than 1.0 and 1.1 get 505.
    3. Body. It may pause for ``patience_s`` and must bring 1,000 bytes for each further second. Then the server answers
       408. A body larger than its limit gets 413, whether or not its header says so.
    4. The client can read every refusal. Closing a connection with unread bytes resets it, and the answer is lost. So
       the server first reads and discards what the client still sends, within limits.

Sources: RFC 9112, sections 6.1 (framing) and 9.6 (closing); RFC 9110, section 15. See ``docs/design/service.md`` for
the servers that were compared.
"""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATIENCE_S = 10.0
MOST_HEAD_BYTES = 65_536
MOST_FIELDS = 100
MIN_BYTES_S = 1_000
"""The bytes that a body must bring for each second of waiting."""
MOST_DISCARDED = 64_000_000
"""The most bytes that are read and discarded so that a client can read why it was refused."""
DISCARD_S, DISCARD_BYTES_S, QUIET_S = 10.0, 100_000, 1.0
"""The most seconds that discarding may take, the bytes that must come in each, and the longest pause in seconds."""
_CURRENT: ContextVar[Connection | None] = ContextVar("connection", default=None)


def http_config(app: ASGIApp, *, patience_s: float = PATIENCE_S, **more: Any) -> uvicorn.Config:
    """The configuration with which uvicorn serves ``app`` under the rules above.

    Args:
        app: a `Bounded` application.
        patience_s: see the rules; in seconds.
        more: further settings of uvicorn.
    """
    kind = type("PatientConnection", (Connection,), {"patience_s": patience_s})
    usual: dict[str, Any] = {
        # Its warnings are about what clients send, and the clients get an answer.
        "log_level": "error",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "ws": "none",
        # A client that stays connected must not keep the process alive.
        "timeout_graceful_shutdown": 5,
        "h11_max_incomplete_event_size": MOST_HEAD_BYTES,
    }
    return uvicorn.Config(app, http=kind, **{**usual, **more})


class HttpServer(uvicorn.Server):
    """Uvicorn's server, which returns to its caller after a signal."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals until the block ends. Uvicorn itself would raise them again, which ends the process."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class Connection(H11Protocol):
    """One connection: uvicorn's protocol, with a time limit for heads, and refusals that reach the client."""

    patience_s = PATIENCE_S

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for a request."""
        self._wire = transport
        # The requests in progress (a pipeline may briefly have two), and the bytes since the last request.
        self._served = self._received = 0
        self._answering = self._refused = False
        self._clock: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Pass on what the client sends, or discard it if the client was refused."""
        self._received += len(data)
        if self._refused:
            if self._received > MOST_DISCARDED:
                self._wire.abort()
            return
        # The task of a request inherits this variable.
        _CURRENT.set(self)
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Shut down without waiting for a client that was refused."""
        if self._refused:
            self._wire.close()
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  (uvicorn's message says less)
        """Answer a request that cannot be parsed."""
        if self._answering:
            self._wire.close()
        elif self._received > MOST_HEAD_BYTES and not self._served:
            self._refuse(431, *_TOO_LONG)
        else:
            self._refuse(400, "This is not a readable HTTP/1.1 request.", "See RFC 9112.")

    def begin_request(self) -> None:
        """Note that a request is being served."""
        self._served += 1
        self._received = 0
        self._stop()

    def begin_answer(self) -> None:
        """Note that its answer has begun."""
        self._answering = True

    def end_request(self, *, whole: bool) -> None:
        """Note that a request was served. If its body was not read to the end, close the connection."""
        self._served -= 1
        self._answering = False
        if not whole:
            self._wire.close()
        elif not self._served and not self._wire.is_closing():
            self._wait()

    def _wait(self) -> None:
        self._stop()
        self._received = 0
        self._clock = self.loop.call_later(self.patience_s, self._expired)

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _expired(self) -> None:
        if self._received:
            self._refuse(
                408,
                f"The head of the request was not complete within {self.patience_s:g} seconds.",
                "Send it in one piece, and send nothing on an idle connection.",
            )
        else:
            self._wire.close()

    def _refuse(self, status: int, cause: str, step: str) -> None:
        """Answer without a request, and close the connection once the client can have read the answer."""
        if self._wire.is_closing():
            return
        self._refused, self._received = True, 0
        phrase = HTTPStatus(status).phrase
        head = "".join(f"{name}: {value}\r\n" for name, value in _REFUSAL_FIELDS.items())
        body = problem_bytes(status, cause, step)
        self._wire.write(f"HTTP/1.1 {status} {phrase}\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self._stop()
        if self._served or not self._wire.can_write_eof():
            # More of another answer may be written, so writing must not end here.
            self._wire.close()
            return
        self._wire.write_eof()
        self._wire.resume_reading()
        self._clock = self.loop.call_later(min(DISCARD_S, 2 * QUIET_S), self._wire.close)


class Bounded:
    """The outermost ASGI layer: framing, limits of the body, and refusals that clients can read.

    It works without `Connection` too, but then the time for a head has no limit.

    Args:
        app: the application.
        most: returns the largest body of a path, in bytes.
        patience_s: how long a body may pause, in seconds.
    """

    def __init__(self, app: ASGIApp, most: Callable[[str], int], patience_s: float = PATIENCE_S) -> None:
        self._app, self._most, self._patience = app, most, patience_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        connection = _CURRENT.get()
        # Tasks that this request starts may run for long. They must not keep its connection.
        _CURRENT.set(None)
        exchange = _Exchange(scope, receive, send, self._most(scope["path"]), self._patience, connection)
        if connection is not None:
            connection.begin_request()
        try:
            fault = _framing_fault(scope)
            if fault is not None:
                await exchange.refuse(*fault)
            else:
                await self._app(_origin_form(scope), exchange.receive, exchange.send)
        finally:
            if connection is not None:
                connection.end_request(whole=exchange.whole)


class _Exchange:
    """One request and its answer. ``whole`` says whether its body, if any, was read to the end."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, most: int, patience: float, connection: Connection | None
    ) -> None:
        self._receive, self._send, self._connection = receive, send, connection
        self._most, self._patience = most, patience
        headers = Headers(scope=scope)
        declared = headers.get("content-length", "0")
        self._declared = int(declared) if declared.isascii() and declared.isdigit() and len(declared) < 19 else 0
        self.whole = not self._declared and "transfer-encoding" not in headers
        # A client that waits for 100 Continue (RFC 9110, 10.1.1) sends nothing after a refusal.
        self._waits = headers.get("expect", "").lower() == "100-continue"
        self._closes = "close" in headers.get("connection", "").lower() or scope["http_version"] == "1.0"
        self._arrived, self._waited = 0, 0.0

    async def receive(self) -> Message:
        """The next part of the body.

        Raises:
            HTTPException: the body is too large, or too slow.
        """
        if self._declared > self._most:
            raise self._too_large()
        if self.whole:
            return await self._receive()
        began = time.monotonic()
        try:
            async with asyncio.timeout(min(self._patience, self._allowance - self._waited)):
                message = await self._receive()
        except TimeoutError:
            self._closes = True
            raise HTTPException(
                408, f"The body came too slowly: {self._arrived:,} bytes in {self._waited + self._patience:.0f} s"
            ) from None
        self._waited += time.monotonic() - began
        self._waits = False
        self._take(message)
        if self._arrived > self._most:
            raise self._too_large()
        return message

    @property
    def _allowance(self) -> float:
        """The total seconds of waiting for the body, by its size so far."""
        return self._patience + self._arrived / MIN_BYTES_S

    def _take(self, message: Message) -> None:
        self._arrived += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self.whole = True

    def _too_large(self) -> HTTPException:
        self._closes = True
        # The framework passes on this exception from wherever the body is read.
        return HTTPException(413, f"The body is larger than {self._most:,} bytes")

    async def send(self, message: Message) -> None:
        """Send a part of the answer. Before the last part, discard what the client still sends."""
        if message["type"] == "http.response.start":
            if self._connection is not None:
                self._connection.begin_answer()
            if (self._closes or self._waits) and not self.whole:
                MutableHeaders(scope=message)["Connection"] = "close"
        elif not message.get("more_body", False) and not self.whole:
            await self._send({**message, "more_body": True})
            await self._discard()
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)

    async def refuse(self, status: int, cause: str, step: str) -> None:
        """Answer with a refusal, and close the connection."""
        self._closes, self.whole = True, False
        body = problem_bytes(status, cause, step)
        fields = {**_REFUSAL_FIELDS, "Content-Length": str(len(body))}
        headers = [(name.lower().encode(), value.encode()) for name, value in fields.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})

    async def _discard(self) -> None:
        """Read and discard what the client still sends, within the limits."""
        began, before = time.monotonic(), self._arrived
        try:
            while not self.whole and self._arrived - before < MOST_DISCARDED:
                spent = time.monotonic() - began
                allowed = QUIET_S + (self._arrived - before) / DISCARD_BYTES_S
                async with asyncio.timeout(min(QUIET_S, allowed - spent, DISCARD_S - spent)):
                    self._take(await self._receive())
        except TimeoutError:
            return


def problem_bytes(status: int, cause: str, step: str) -> bytes:
    """A problem document (RFC 9457) for a request that the application never sees."""
    name, title = _NAMES[status]
    problem = {"type": f"urn:disputatio:problem:{name}", "title": title, "status": status}
    return json.dumps({**problem, "detail": cause, "next_step": step}).encode()


_NAMES = {
    400: ("bad-request", "The request cannot be read"),
    408: ("too-slow", "Too slow"),
    431: ("too-large", "Too large"),
    505: ("bad-request", "The request cannot be read"),
}
_REFUSAL_FIELDS = {
    "Content-Type": "application/problem+json",
    "Connection": "close",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
_TOO_LONG = (
    f"The head of the request is larger than {MOST_HEAD_BYTES:,} bytes or has more than {MOST_FIELDS} fields.",
    "Send fewer cookies and headers, or a shorter address.",
)


def _framing_fault(scope: Scope) -> tuple[int, str, str] | None:
    """Why the end of a request is uncertain, or why requests of its kind are not served here."""
    names = [name for name, _ in scope["headers"]]
    if scope["http_version"] not in {"1.0", "1.1"}:
        return 505, f"HTTP/{scope['http_version']} is not supported.", "Send HTTP/1.1."
    if len(names) > MOST_FIELDS or _size(scope["headers"]) + len(scope["raw_path"]) > MOST_HEAD_BYTES:
        return 431, *_TOO_LONG
    if b"transfer-encoding" not in names:
        return None
    if b"content-length" in names:
        return 400, "The request has both Content-Length and Transfer-Encoding.", "Send one of the two."
    if scope["http_version"] == "1.0":
        return 400, "A request of HTTP/1.0 may not have Transfer-Encoding.", "Send Content-Length, or HTTP/1.1."
    return None


def _size(headers: Iterable[tuple[bytes, bytes]]) -> int:
    return sum(len(name) + len(value) + 4 for name, value in headers)


def _origin_form(scope: Scope) -> Scope:
    """Turn a request for a whole address into one for a path; the address replaces Host (RFC 9112, 3.2.2)."""
    path = scope["path"]
    if not path.lower().startswith(("http://", "https://")):
        return scope
    place, slash, rest = path.partition("://")[2].partition("/")
    headers = [row for row in scope["headers"] if row[0] != b"host"]
    raw = scope["raw_path"].partition(b"://")[2].partition(b"/")[2]
    return {
        **scope,
        "path": f"{slash or '/'}{rest}",
        "raw_path": b"/" + raw,
        "headers": [(b"host", place.encode("latin-1", "replace")), *headers],
    }
