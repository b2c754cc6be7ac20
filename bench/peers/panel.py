"""This project's panel, its record in SQLite. Run by the benchmark: panel.py BASE_URL WHAT [CALLS.json]

Layout: two messages a call. The first holds the rules and the motion, the second the transcript so far and, last, the
seat's task. Every call carries its JSON schema, and every answer is checked against it.

    debate    whole debates, each event durable before the next call leaves; not streamed
    gateway   the calls of one again, through the gateway alone
    library   the same with the gateway held to pydantic-ai's way

With ``debate`` and a file name, the bodies of the first debate's calls are written there.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from blocks import MOTION, ROUNDS, SEATS, serve

from disputatio.engine.runtime import Runtime, start
from disputatio.participants.call import Call, Reply
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.remote import Endpoint, RemoteClient
from disputatio.participants.remote.chat import ChatPrompts
from disputatio.participants.shared_clients import open_client
from disputatio.proposals import proposal_of, read_request
from disputatio.record.sql import SqlStore


class Noting:
    """A gateway that keeps the calls it carries."""

    def __init__(self, inner: Any, calls: list[Call]) -> None:
        self.inner, self.modes, self.calls = inner, inner.modes, calls

    async def call(self, call: Call, on_text: Any = None) -> Any:
        self.calls.append(call)
        return await self.inner.call(call, on_text)

    async def probe(self) -> None:
        return None

    async def aclose(self) -> None:
        await self.inner.aclose()


def proposal(seed: int) -> Any:
    """The panel: the four phases of one round are four turns for each debater."""
    order = {"motion": MOTION, "format": "panel", "debaters": SEATS, "rounds": 1, "decision": "unanimity", "seed": seed}
    return proposal_of(read_request(order), {})


def body_of(call: Call) -> dict[str, Any]:
    """What the gateway posts for ``call``."""
    return {"model": "fake", **ChatPrompts().request(call).settings["extra_body"]}


async def main() -> None:
    base_url, what = sys.argv[1:3]
    os.environ |= {"LLM_PROVIDER": "openai_compatible", "LLM_MODEL": "fake", "LLM_BASE_URL": base_url}
    calls: list[Call] = []
    with tempfile.TemporaryDirectory() as folder:
        store = SqlStore(f"{folder}/bench.sqlite")
        noting = Runtime(store, client_factory=lambda *given: Noting(open_client(*given), calls), checks_first=False)
        # The server's votes are drawn from the prompt; where three agree by chance, a panel ends before its time.
        for seed in itertools.count():
            calls.clear()
            await start(proposal(seed), noting)
            if len(calls) == len(SEATS) * ROUNDS:
                break
        if len(sys.argv) > 3:
            Path(sys.argv[3]).write_text(json.dumps([body_of(call) for call in calls]), encoding="utf-8")
        if what == "debate":
            runtime = Runtime(store, checks_first=False)

            async def one_debate(_: int) -> int:
                await start(proposal(seed), runtime)
                return len(calls)

            await serve(one_debate)
        else:
            seating = ModelSeating(provider="openai_compatible", model="fake", base_url=base_url)
            endpoint = replace(Endpoint.of(seating, None), direct=what == "model_client")
            await again(calls, RemoteClient(endpoint))
        await store.aclose()


async def again(calls: list[Call], model_client: Any) -> None:
    """The same calls through ``model_client`` alone."""

    async def heard(call: Call) -> None:
        outcome = await model_client.call(call)
        if not isinstance(outcome, Reply):
            raise TypeError(f"a call brought {outcome}")

    async def one_debate(_: int) -> int:
        await asyncio.gather(*(heard(call) for call in calls[: len(SEATS)]))
        for call in calls[len(SEATS) :]:
            await heard(call)
        return len(calls)

    await serve(one_debate)
    await model_client.aclose()


if __name__ == "__main__":
    asyncio.run(main())
