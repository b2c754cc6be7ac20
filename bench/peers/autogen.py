"""AutoGen's RoundRobinGroupChat. Run by the benchmark: autogen.py BASE_URL

Layout: each agent keeps its own copy of the chat; a call is the agent's system message, the task, and one message
for each turn so far, its own as the assistant's, others' as the user's. No schema.
"""

from __future__ import annotations

import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient
from blocks import MOTION, ROUNDS, SEATS, TASK, serve

ABILITIES = {
    "vision": False,
    "function_calling": True,
    "json_output": True,
    "structured_output": True,
    "family": "unknown",
}


async def main() -> None:
    client = OpenAIChatCompletionClient(model="fake", base_url=sys.argv[1], api_key="none", model_info=ABILITIES)

    async def one_debate(_: int) -> int:
        agents = [AssistantAgent(seat, model_client=client, system_message=TASK % seat) for seat in SEATS]
        # The task is the first message of the chat.
        ending = MaxMessageTermination(1 + len(SEATS) * ROUNDS)
        result = await RoundRobinGroupChat(agents, termination_condition=ending).run(task=MOTION)
        return len(result.messages) - 1

    await serve(one_debate)


if __name__ == "__main__":
    asyncio.run(main())
