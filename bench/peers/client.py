"""The calls of a panel again, with nothing around them. Run by the benchmark: client.py BASE_URL HOW CALLS.json

HOW is the way the very same messages and schemas travel:
    pydantic-ai   its direct request over the transport that this project's debates use, half as dear as its own
    sdk           OpenAI's client
    sdk-aiohttp   OpenAI's client over its aiohttp adapter
    bare          a post of aiohttp, the response parsed

The calls of a debate follow one another as they did in it: the first three side by side, the others one by one.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from blocks import SEATS, serve

Post: TypeAlias = Callable[[dict[str, Any]], Awaitable[object]]
Close: TypeAlias = Callable[[], Awaitable[object]]


def by_pydantic_ai(base_url: str) -> tuple[Post, Close]:
    """As pydantic-ai's documentation shows it, held to the key for token limits that compatible servers know."""
    import httpx2
    from openai import AsyncOpenAI
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.providers.openai import OpenAIProvider

    from disputatio.participants.remote.models import compatible_profile
    from disputatio.participants.remote.transport import AiohttpTransport

    http = httpx2.AsyncClient(transport=AiohttpTransport())
    client = AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0, http_client=http)
    model = OpenAIChatModel("fake", provider=OpenAIProvider(openai_client=client), profile=compatible_profile)

    def post(body: dict[str, Any]) -> Awaitable[object]:
        system, user = (row["content"] for row in body["messages"])
        named = body["response_format"]["json_schema"]
        output = OutputObjectDefinition(json_schema=named["schema"], name=named["name"], strict=True)
        return model_request(
            model,
            [ModelRequest(parts=[SystemPromptPart(system), UserPromptPart(user)])],
            model_settings={"temperature": body["temperature"], "max_tokens": body["max_tokens"]},
            model_request_parameters=ModelRequestParameters(output_mode="native", output_object=output),
            instrument=False,
        )

    return post, http.aclose


def by_sdk(base_url: str, *, aiohttp: bool) -> tuple[Post, Close]:
    """OpenAI's client as its documentation shows it."""
    from openai import AsyncOpenAI, DefaultAioHttpClient

    over = {"http_client": DefaultAioHttpClient()} if aiohttp else {}
    client = AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0, **over)
    return lambda body: client.chat.completions.create(**body), client.close


def bare(base_url: str) -> tuple[Post, Close]:
    """The least that Python does for a call."""
    import aiohttp

    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def post(body: dict[str, Any]) -> object:
        async with session.post(f"{base_url}/chat/completions", json=body) as response:
            return (await response.json())["choices"][0]["message"]["content"]

    return post, session.close


WAYS = {
    "pydantic-ai": by_pydantic_ai,
    "sdk": lambda base_url: by_sdk(base_url, aiohttp=False),
    "sdk-aiohttp": lambda base_url: by_sdk(base_url, aiohttp=True),
    "bare": bare,
}


async def main() -> None:
    post, close = WAYS[sys.argv[2]](sys.argv[1])
    bodies: list[dict[str, Any]] = json.loads(Path(sys.argv[3]).read_text(encoding="utf-8"))

    async def one_debate(_: int) -> int:
        await asyncio.gather(*(post(body) for body in bodies[: len(SEATS)]))
        for body in bodies[len(SEATS) :]:
            await post(body)
        return len(bodies)

    await serve(one_debate)
    await close()


if __name__ == "__main__":
    asyncio.run(main())
