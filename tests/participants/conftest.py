"""Fixtures for the tests of participants."""

from __future__ import annotations

import asyncio

import pytest


@pytest.fixture(scope="session")
def warm_libraries() -> None:
    """Lets no test be charged with the second that the model libraries take before their first call."""
    from remote_server import a_call, opened, serving

    async def first_calls() -> None:
        async with serving() as server:
            for provider in ("openai", "openai_compatible"):
                async with opened(server.seat(provider)) as model_client:
                    await model_client.call(a_call())
                    await model_client.call(a_call(), on_text=lambda _: None)

    asyncio.run(first_calls())
