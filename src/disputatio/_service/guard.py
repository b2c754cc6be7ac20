"""What holds for every request: which host it was sent to, how it is answered, and that it is counted."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException

from disputatio._service.problems import RefusedError, problem_response

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_UPLOADS = frozenset({"/v1/evidence", "/v1/knowledge", "/new"})
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Guard:
    """An ASGI layer around the application.

    Args:
        app: what is guarded.
        hosts: names that requests may be sent to, without a port; empty takes any. Without keys only those of this
            machine are: another site's name may lead here too (DNS rebinding).
        registry: counts requests.
        most: the largest body, in bytes.
        most_upload: the largest body where files are sent.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: frozenset[str],
        registry: CollectorRegistry,
        most: int,
        most_upload: int,
    ) -> None:
        from prometheus_client import Counter, Histogram

        self._app, self._hosts = app, hosts
        self._most, self._most_upload = most, most_upload
        self._requests = Counter(
            "disputatio_http_requests", "Requests answered.", ["method", "route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "disputatio_http_seconds", "To the beginning of the answer.", ["route"], registry=registry
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the host, add the headers, count."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        headers = Headers(scope=scope)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._count(scope, message["status"], time.monotonic() - began)
                answer = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    answer.setdefault(name, value)
                answer.setdefault("Content-Security-Policy", POLICY)
                answer.setdefault("Cache-Control", "no-store")
            await send(message)

        refused = self._refused(headers)
        if refused is not None:
            await problem_response(refused)(scope, receive, sending)
            return
        if scope["method"] == "HEAD" and not scope["path"].endswith("/events"):
            # What a GET would answer; the server leaves the body out. A stream would have no end.
            scope = {**scope, "method": "GET"}
        await self._app(scope, self._limited(scope, headers, receive), sending)

    def _refused(self, headers: Headers) -> RefusedError | None:
        if self._hosts and _name(headers.get("host", "")) not in self._hosts:
            return RefusedError(
                400,
                "bad-request",
                "This server does not answer under that host name.",
                "Call it by the name it was started with (--host-name).",
            )
        return None

    def _limited(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """``receive``, which refuses a body that is too large, whether or not it says so beforehand."""
        most = self._most_upload if scope["path"] in _UPLOADS else self._most
        declared = headers.get("content-length", "")
        got = int(declared) if declared.isascii() and declared.isdigit() and len(declared) < 19 else 0
        arrived = 0

        async def receiving() -> Message:
            nonlocal arrived
            if got > most:
                raise _too_large(most)
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > most:
                raise _too_large(most)
            return message

        return receiving

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        # Whatever fits no route counts as one, so that nobody can make up labels.
        route = str(getattr(scope.get("route"), "path", "other"))
        method = scope["method"] if scope["method"] in {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"} else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)


def _too_large(most: int) -> HTTPException:
    # The framework lets this kind through from wherever a body is read.
    return HTTPException(413, f"The body is larger than {most:,} bytes")


def _name(host: str) -> str:
    host = host.strip().lower()
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].rstrip(".")
