"""Runs the server: listens, says where, and goes down without losing anything."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from disputatio._http import PATIENCE_S, HttpServer, http_config
from disputatio._service.app import create_app
from disputatio._service.service import Service
from disputatio.errors import InvalidInputError


class Server(HttpServer):
    """A server that ends its streams when it shuts down, so that their clients reconnect elsewhere."""

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


async def serve(
    service: Service,
    listening: socket.socket,
    drain_seconds: float,
    on_ready: Callable[[], None],
    patience_s: float = PATIENCE_S,
) -> None:
    """Serve until a signal says to stop.

    Args:
        service: what is served.
        listening: where.
        drain_seconds: how long debates may go on for after the signal.
        on_ready: called once requests are taken.
        patience_s: how long the head of a request may take, and its body rest, in seconds.

    Raises:
        StoreError: the store could not be opened or was lost at the start.
    """
    config = http_config(create_app(service, drain_seconds, patience_s), patience_s=patience_s, lifespan="on")
    await Server(config, service, on_ready).serve([listening])


__all__ = ["Server", "is_loopback", "listener", "serve"]
