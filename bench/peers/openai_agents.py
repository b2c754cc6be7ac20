"""The OpenAI Agents SDK. Run by the benchmark: openai_agents.py BASE_URL

Layout: a call is the seat's instructions, the motion, and one user's message for each turn so far. No schema.
Tracing, which would post to OpenAI, is off.
"""

from __future__ import annotations

import asyncio
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from blocks import MOTION, ROUNDS, SEATS, TASK, serve
from openai import AsyncOpenAI


async def main() -> None:
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=sys.argv[1], api_key="none")
    model = OpenAIChatCompletionsModel(model="fake", openai_client=client)

    async def one_debate(_: int) -> int:
        agents = [Agent(name=seat, instructions=TASK % seat, model=model) for seat in SEATS]
        said = [{"role": "user", "content": MOTION}]
        for _ in range(ROUNDS):
            for agent in agents:
                result = await Runner.run(agent, said)
                said = [*said, {"role": "user", "content": f"{agent.name}: {result.final_output}"}]
        return len(said) - 1

    await serve(one_debate)


if __name__ == "__main__":
    asyncio.run(main())
