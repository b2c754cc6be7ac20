"""Runs the server: over standard input and output for one assistant, or over HTTP for several."""

from __future__ import annotations

import hmac
import logging
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any, TypeAlias

from disputatio._mcp.server import server_of
from disputatio._mcp.tools import Debates
from disputatio.engine.ports import NullObserver
from disputatio.engine.runtime import Runtime
from disputatio.errors import InvalidInputError
from disputatio.record.sql import SqlStore
from disputatio.telemetry.tracing import add_tracing
from disputatio.workers.in_process_runner import InProcessRunner
from disputatio.workers.queue_runner import QueueRunner

if TYPE_CHECKING:
    from disputatio.workers.port import Runner

TOKEN_VARIABLE = "DISPUTATIO_MCP_TOKEN"  # noqa: S105  (its name, not what it holds)
DRAIN_S = 2.0
MOST_BYTES = 4_000_000
"""The largest message, with what it brings of evidence."""
_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]
_App: TypeAlias = Callable[[_Message, _Receive, _Send], Awaitable[None]]


def check_installed() -> None:
    """Refuse where the protocol's library is missing.

    Raises:
        InvalidInputError: says how to install it.
    """
    try:
        import mcp.server.mcpserver  # noqa: F401
    except ImportError:
        raise InvalidInputError(
            "The MCP server needs the library mcp, which is not installed.", "pip install 'disputatio[mcp]'"
        ) from None


async def serve_stdio(store: SqlStore, *, workers: bool) -> None:
    """Serve one client over standard input and output, until it leaves."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    runner = await _runner(store, workers=workers)
    try:
        await server_of(Debates(store, runner)).run_stdio_async()
    finally:
        await runner.aclose(DRAIN_S)


async def serve_http(store: SqlStore, host: str, port: int, token: str, *, workers: bool) -> None:
    """Serve clients over HTTP at ``/mcp``, until a signal ends it.

    Raises:
        InvalidInputError: others than this machine could reach it, and there is no token.
    """
    from disputatio._http import Bounded, http_config

    if not token and host not in {"127.0.0.1", "::1", "localhost"}:
        raise InvalidInputError(
            f"At {host} others could start debates at your cost.",
            f"Set {TOKEN_VARIABLE} to a secret that clients send as a bearer token, or leave --host out.",
        )
    runner = await _runner(store, workers=workers)
    app: Any = server_of(Debates(store, runner)).streamable_http_app(host=host)
    served: Any = Bounded(_guarded(app, token), most=lambda _: MOST_BYTES)
    config = http_config(served, host=host, port=port)
    try:
        await _announcing(config).serve()
    finally:
        await runner.aclose(DRAIN_S)


async def _runner(store: SqlStore, *, workers: bool) -> Runner:
    if workers:
        return QueueRunner(store)
    runtime = Runtime(store, observer=add_tracing(NullObserver()))
    runner = InProcessRunner(store, runtime=lambda _debate: runtime)
    await runner.start()
    return runner


def _guarded(app: _App, token: str) -> _App:
    """``app`` for those who know the token; everybody where there is none."""
    if not token:
        return app
    expected = f"Bearer {token}".encode()

    async def guarded(scope: _Message, receive: _Receive, send: _Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, expected):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b"A bearer token is needed.\n"})
                return
        await app(scope, receive, send)

    return guarded


def _announcing(config: Any) -> Any:
    """A server that says where it listens once it does."""
    from disputatio._http import HttpServer

    class Announcing(HttpServer):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            for socket in (socket for listener in self.servers for socket in listener.sockets):
                host, port = socket.getsockname()[:2]
                sys.stderr.write(f"Serving MCP at http://{host}:{port}/mcp. Ctrl-C ends it.\n")
                sys.stderr.flush()

    return Announcing(config)
