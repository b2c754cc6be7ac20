"""CPU that a debate adds to each of its calls, over the same calls made directly.

Debates run against a fake provider in another process, with their records in SQLite, not streamed. Then the very
same prompts and schemas are sent again through pydantic-ai's direct request alone: its own model and openai's own
client, over the transport that debates use, which costs half of the library's. The two alternate, block by block, in
one process; what is compared is the CPU time of this process.

Run: .venv/bin/python bench/overhead.py [BLOCKS] [DEBATES]
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx2

from disputatio.config import Arguments, resolve
from disputatio.config.process import format_scope
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import Runtime, start
from disputatio.formats.registry import find_format
from disputatio.motion import read_motion
from disputatio.participants.call import Call, Reply
from disputatio.participants.remote.transport import AiohttpTransport
from disputatio.participants.shared_clients import open_client
from disputatio.record.sql import SqlStore
from disputatio.testing import provider_process


class Noting:
    """A gateway that keeps the calls it carries."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.modes, self.calls = inner, inner.modes, []

    async def call(self, call: Call, on_text: Any = None) -> Any:
        self.calls.append(call)
        return await self.inner.call(call, on_text)

    async def probe(self) -> None:
        return None

    async def aclose(self) -> None:
        return None


def directly(model: Any, call: Call) -> Any:
    """The same request through pydantic-ai alone."""
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    system = "\n\n".join(row.text for row in call.segments if row.role == "system")
    user = "\n\n".join(row.text for row in call.segments if row.role != "system")
    return model_request(
        model,
        [ModelRequest(parts=[SystemPromptPart(system), UserPromptPart(user)])],
        model_settings={"temperature": call.temperature, "max_tokens": call.max_tokens},
        model_request_parameters=ModelRequestParameters(
            output_mode="native",
            output_object=OutputObjectDefinition(
                json_schema=dict(call.schema or {}), name=call.schema_name, strict=True
            ),
        ),
        instrument=False,
    )


def plain_model(base_url: str, http: httpx2.AsyncClient) -> Any:
    """A model as pydantic-ai's documentation shows it, held to the same key for token limits as the debates' one."""
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from disputatio.participants.remote.models import compatible_profile

    client = AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0, http_client=http)
    return OpenAIChatModel("fake", provider=OpenAIProvider(openai_client=client), profile=compatible_profile)


async def measure(base_url: str, blocks: int, debates: int) -> None:
    form = find_format("structured")
    arguments = Arguments(base_url=base_url).with_seats([("all", "openai_compatible:fake")])
    settings = resolve(
        format_name=form.name,
        seats=tuple(form.seats),
        environ={},
        directory=Path("/nonexistent"),
        arguments=arguments,
        options=format_scope(form),
    )
    model_client = Noting(open_client(settings.seats["pro"], None))
    proposal = Proposal(read_motion("Should we release the risky migration?"), form, settings)
    with tempfile.TemporaryDirectory() as folder:
        store = SqlStore(f"sqlite:///{folder}/bench.sqlite")
        runtime = Runtime(store, client_factory=lambda *_: model_client, checks_first=False)
        await start(proposal, runtime)
        http = httpx2.AsyncClient(transport=AiohttpTransport())
        model = plain_model(base_url, http)
        differences, own, direct = [], [], []
        for _ in range(blocks):
            model_client.calls.clear()
            begun = time.process_time()
            await asyncio.gather(*(start(proposal, runtime) for _ in range(debates)))
            with_debate = (time.process_time() - begun) / len(model_client.calls)
            calls = list(model_client.calls)
            begun = time.process_time()
            for place in range(0, len(calls), 2 * debates):
                await asyncio.gather(*(directly(model, call) for call in calls[place : place + 2 * debates]))
            alone = (time.process_time() - begun) / len(calls)
            begun = time.process_time()
            for place in range(0, len(calls), 2 * debates):
                replies = await asyncio.gather(
                    *(model_client.inner.call(call) for call in calls[place : place + 2 * debates])
                )
                assert all(isinstance(row, Reply) for row in replies)
            through = (time.process_time() - begun) / len(calls)
            own.append(with_debate * 1e3)
            direct.append(alone * 1e3)
            differences.append((with_debate - through) * 1e3)
        await store.aclose()
        await http.aclose()
        await model_client.inner.aclose()
    middle = statistics.median
    added = [a - b for a, b in zip(own, direct, strict=True)]
    print(f"medians of {blocks} blocks of {debates} structured debates, {len(calls)} calls in the last")
    print(f"CPU per call in a debate, record in SQLite       {middle(own):.2f} ms")
    print(f"the same call directly through pydantic-ai       {middle(direct):.2f} ms")
    print(f"added to the direct call                         {middle(added):.2f} ms  (ceiling 0.5 ms)")
    print(f"of that: all but the gateway                     {middle(differences):.2f} ms")
    share = middle(a / b for a, b in zip(added, direct, strict=True))
    print(f"added, as a share of the direct call             {share:.2f}")


def main() -> None:
    blocks, debates = (
        (int(row) for row in (*sys.argv[1:3], 5, 20)[:2]) if len(sys.argv) < 3 else map(int, sys.argv[1:3])
    )
    with provider_process("--no-prefix-cache") as base_url:
        asyncio.run(measure(base_url, blocks, debates))


if __name__ == "__main__":
    main()
