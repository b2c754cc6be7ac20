"""A service on a real socket, over a store of its own, with a fake provider behind it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from disputatio._service.keys import KEYLESS, Scope
from disputatio._service.running import Server, listener
from disputatio._service.service import Choices, Service
from disputatio.testing.provider import FakeProvider

MOTION = "We should split the service"


@dataclass
class Served:
    """A running service, and clients for it."""

    service: Service
    provider: FakeProvider
    url: str
    port: int

    def client(self, token: str = "", **more: Any) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=30, **more)

    def key(self, scope: Scope = Scope.RUN, tenant: str = "local", **more: Any) -> str:
        return self.service.keys.add(replace(KEYLESS, name="test", scope=scope, tenant=tenant, **more))[1]


@asynccontextmanager
async def served(
    folder: Path, *, keyless: bool = True, provider: Any = None, store: str = "", **choices: Any
) -> AsyncIterator[Served]:
    """Run a service until the block ends, over a file in ``folder`` or over ``store``."""
    from disputatio._http import http_config
    from disputatio._service.app import create_app

    async with provider or FakeProvider() as fake:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            for name, value in environment(fake.base_url).items():
                patch.setenv(name, value)
            service = Service(Choices(store or f"sqlite:///{folder}/store.sqlite", keyless=keyless, **choices))
            listening = listener("127.0.0.1", 0)
            port = listening.getsockname()[1]
            ready = asyncio.Event()
            config = http_config(create_app(service, 0.0), log_level="critical", lifespan="on")
            server = Server(config, service, ready.set)
            server.capture_signals = _nothing  # type: ignore[method-assign]  (the test runner's own are left alone)
            running = asyncio.create_task(server.serve([listening]))
            await asyncio.wait({running, asyncio.create_task(ready.wait())}, return_when=asyncio.FIRST_COMPLETED)
            try:
                yield Served(service, fake, f"http://127.0.0.1:{port}", port)
            finally:
                service.draining.set()
                service.hub.wake_all()
                server.should_exit = True
                await running


class _nothing:  # noqa: N801  (stands in for a method)
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def environment(base_url: str) -> dict[str, str]:
    """What seats every debate at the fake provider."""
    return {
        "LLM_PROVIDER": "openai_compatible",
        "LLM_BASE_URL": base_url,
        "LLM_MODEL": "fake",
        "LLM_API_KEY": "secret-of-the-server",
    }


async def ended(client: httpx.AsyncClient, debate: str) -> dict[str, Any]:
    """The debate once it is over, followed as a stream."""
    async with client.stream("GET", f"/v1/debates/{debate}/events") as stream:
        async for _ in stream.aiter_lines():
            pass
    found: dict[str, Any] = (await client.get(f"/v1/debates/{debate}")).json()
    return found


async def started(client: httpx.AsyncClient, **order: Any) -> str:
    """The id of a debate that was just begun."""
    answer = await client.post("/v1/debates", json={"motion": MOTION, **order})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
