"""A LangGraph state graph. Run by the benchmark: langgraph_debate.py BASE_URL plain|sqlite

Layout: a call is the seat's system message, the motion, and one assistant's message for each turn so far. No schema.
With ``sqlite`` every step of the graph is kept by its checkpointer, in a file.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import operator
import sys
import tempfile
from typing import Annotated, Any, TypedDict

from blocks import MOTION, ROUNDS, SEATS, TASK, serve
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    """What the graph hands on."""

    messages: Annotated[list[Any], operator.add]
    turns: int


def graph(model: ChatOpenAI) -> Any:
    """One node a seat, round and round."""
    built = StateGraph(State)
    for seat in SEATS:
        built.add_node(seat, speaking(model, seat))
    built.add_edge(START, SEATS[0])
    for before, after in itertools.pairwise(SEATS):
        built.add_edge(before, after)
    most = len(SEATS) * ROUNDS
    built.add_conditional_edges(SEATS[-1], lambda state: END if state["turns"] >= most else SEATS[0])
    return built


def speaking(model: ChatOpenAI, seat: str) -> Any:
    """The node of ``seat``."""

    async def speak(state: State) -> dict[str, Any]:
        answer = await model.ainvoke([("system", TASK % seat), ("user", MOTION), *state["messages"]])
        return {"messages": [("assistant", answer.content)], "turns": state["turns"] + 1}

    return speak


async def main() -> None:
    model = ChatOpenAI(model="fake", base_url=sys.argv[1], api_key="none")
    async with contextlib.AsyncExitStack() as stack:
        saver = None
        if sys.argv[2] == "sqlite":
            from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

            folder = stack.enter_context(tempfile.TemporaryDirectory())
            saver = await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(f"{folder}/checkpoints.sqlite"))
        app = graph(model).compile(checkpointer=saver)

        async def one_debate(number: int) -> int:
            settings = {"recursion_limit": 100, "configurable": {"thread_id": str(number)}}
            state = await app.ainvoke({"messages": [], "turns": 0}, settings)
            return int(state["turns"])

        await serve(one_debate)


if __name__ == "__main__":
    asyncio.run(main())
