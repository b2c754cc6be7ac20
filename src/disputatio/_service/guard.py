"""What holds for every request: which host it was sent to, how it is answered, and that it is counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

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
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Guard:
    """An ASGI layer around the application.

    Args:
        app: what is guarded.
        hosts: names that requests may be sent to, without a port; empty takes any. Without keys only those of this
            machine are: another site's name may lead here too (DNS rebinding).
        registry: counts requests.
        methods: gives the methods that the address of a request takes; none where nothing is there.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: frozenset[str],
        registry: CollectorRegistry,
        methods: Callable[[Scope], Sequence[str]],
    ) -> None:
        from prometheus_client import Counter, Histogram

        self._app, self._hosts, self._methods = app, hosts, methods
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
        began, method = time.monotonic(), scope["method"]
        allowed = self._methods(scope) if method in {"HEAD", "OPTIONS"} else ()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._count(method, scope, message["status"], time.monotonic() - began)
                answer = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    answer.setdefault(name, value)
                answer.setdefault("Content-Security-Policy", POLICY)
                answer.setdefault("Cache-Control", "no-store")
                if method == "HEAD" and allowed:
                    answer.setdefault("Allow", ", ".join(allowed))
            await send(message)

        refused = self._refused(Headers(scope=scope))
        if refused is not None:
            await problem_response(refused)(scope, receive, sending)
            return
        if method == "OPTIONS" and allowed:
            await Response(status_code=204, headers={"Allow": ", ".join(allowed)})(scope, receive, sending)
            return
        if method == "HEAD" and "HEAD" in allowed:
            # What a GET would answer; the server leaves the body out.
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, sending)

    def _refused(self, headers: Headers) -> RefusedError | None:
        if self._hosts and _name(headers.get("host", "")) not in self._hosts:
            return RefusedError(
                400,
                "bad-request",
                "This server does not answer under that host name.",
                "Call it by the name it was started with (--host-name).",
            )
        return None

    def _count(self, method: str, scope: Scope, status: int, seconds: float) -> None:
        # All unknown paths count as one route, so that clients cannot invent labels.
        route = str(getattr(scope.get("route"), "path", "other"))
        known = method if method in {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"} else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)


def _name(host: str) -> str:
    host = host.strip().lower()
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].rstrip(".")
