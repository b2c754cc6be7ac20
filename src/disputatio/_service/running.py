"""Runs the server: listens, says where, and goes down without losing anything."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from disputatio._service.app import create_app
from disputatio._service.service import Service
from disputatio.failures import InvalidInputError

STREAMS_S = 5
"""How long open connections may take to end once they were told."""


class Server(uvicorn.Server):
    """A server that tells its streams when it goes down, so that they end and their clients come back elsewhere."""

    def __init__(self, config: uvicorn.Config, service: Service, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._service, self._on_ready = service, on_ready

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal drains; another one leaves at once."""
        self._service.draining.set()
        asyncio.get_running_loop().call_soon_threadsafe(self._service.hub.wake_all)
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Go down; the signal that asked for it has been heard, and is not raised once more."""
        await super().shutdown(sockets)
        self._captured_signals.clear()


def listener(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        InvalidInputError: the address is taken, or is none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(1_024)
    except OSError as error:
        found.close()
        raise InvalidInputError(
            f"The server cannot listen at {host} port {port}: {(error.strerror or str(error)).lower()}.",
            "Choose another with --port, or --host.",
        ) from None
    return found


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def serve(service: Service, listening: socket.socket, drain_seconds: float, on_ready: Callable[[], None]) -> None:
    """Serve until a signal says to stop.

    Raises:
        StoreError: the store could not be opened or was lost at the start.
    """
    config = uvicorn.Config(
        create_app(service, drain_seconds),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=STREAMS_S,
        lifespan="on",
        proxy_headers=False,
        h11_max_incomplete_event_size=65_536,
    )
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    await Server(config, service, on_ready).serve([listening])


__all__ = ["Server", "is_loopback", "listener", "serve"]
