"""What the tests of the embedded model share: a calls' form, a tiny GGUF, a listener played by the test."""

from __future__ import annotations

import importlib.util
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from disputatio.participants.call import Call, OutputMode, Segment
from disputatio.participants.embedded import EmbeddedClient, obtain
from disputatio.participants.embedded.cache import FileLock
from disputatio.participants.embedded.server_spec import Address, ServerSpec

SECRET = "s3cret-of-this-test"  # noqa: S105 - made up here, opens nothing

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"claim": {"type": "string", "minLength": 10, "maxLength": 160}},
    "required": ["claim"],
    "additionalProperties": False,
}

needs_library = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None, reason="the extra `embedded` is not installed"
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def a_call(text: str = "Name one benefit of trees.", **changes: Any) -> Call:
    settled: dict[str, Any] = {
        "segments": (Segment("system", "You write short, clear sentences."), Segment("user", text)),
        "schema": SCHEMA,
        "schema_name": "opening",
        "mode": OutputMode.NATIVE,
        "temperature": 0.3,
        "max_tokens": 120,
        "seed": 7,
    }
    return Call(**{**settled, **changes})


def hollow_gguf(path: Path) -> Path:
    """A file that begins like a model and holds none."""
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 1, 0) + b"\0" * 64)
    return path


def own_cache(monkeypatch: pytest.MonkeyPatch, place: Path, linger_s: float = 0.1) -> Path:
    """Give the test a cache of its own, and servers that end soon after their last client."""
    monkeypatch.setenv("DISPUTATIO_CACHE", str(place))
    monkeypatch.setenv("DISPUTATIO_EMBEDDED_LINGER_S", str(linger_s))
    monkeypatch.delenv("DISPUTATIO_EMBEDDED_THREADS", raising=False)
    return place


async def cache_with_weights(monkeypatch: pytest.MonkeyPatch, place: Path, linger_s: float = 0.1) -> Path:
    """A cache of its own that already holds the default weights (as a link to the user's)."""
    weights = (await obtain()).path
    own = own_cache(monkeypatch, place, linger_s) / "embedded" / "weights"
    own.mkdir(parents=True)
    (own / weights.name).symlink_to(weights)
    return place


@asynccontextmanager
async def played_listener(model: Path, handler: Handler, **settings: Any) -> AsyncIterator[EmbeddedClient]:
    """A gateway attached to ``handler``, which stands where the model server would: same files, same locks."""
    spec = ServerSpec.of(await obtain(str(model)))
    serving = FileLock(spec.file("serving.lock"))
    assert serving.try_exclusive()
    application = web.Application()
    application.router.add_post("/v1/chat/completions", handler)
    runner = web.AppRunner(application, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    model_client = EmbeddedClient(str(model), **settings)
    try:
        Address((site.name,), SECRET, 0, compact_grammar=True).write(spec.file("address.json"))
        yield model_client
    finally:
        await model_client.aclose()
        await runner.cleanup()
        serving.close()
