"""Processor time of a model call, record on, beside peers on the same work and beside less and less."""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from measured import Figure

from disputatio.testing import provider_process

TITLE = "Processor time of a model call"
ABOUT = (
    "Panels of three debaters and twelve calls, ten at once in one process, on a local server that answers at once, "
    "not streamed. Contestants take turns, block by block, each in a process of its own; medians over blocks. Peers "
    "send no schema and check none."
)

PEERS: Final = Path(__file__).parent.parent / "peers"
BLOCKS: Final = 5
DEBATES: Final = 10
CALLS: Final = 12


@dataclass
class Contestant:
    """Somebody who makes calls: a process that is told how many debates to hold."""

    name: str
    command: list[str]
    process: Any = None
    cpu_ms: list[float] = field(default_factory=list)

    def block(self) -> None:
        """One block of debates; notes the processor time of a call."""
        self.process.stdin.write(f"{DEBATES}\n")
        self.process.stdin.flush()
        told = json.loads(self.process.stdout.readline() or "null")
        if told is None:
            raise RuntimeError(f"{self.name} ended before it was done")
        if told["calls"] != CALLS * DEBATES:
            raise RuntimeError(f"{self.name} made {told['calls']} calls in place of {CALLS * DEBATES}")
        self.cpu_ms.append(told["cpu_s"] * 1000 / told["calls"])


def figures() -> list[Figure]:
    """The rows of this part."""
    with (
        provider_process("--no-prefix-cache") as url,
        tempfile.TemporaryDirectory() as folder,
        contextlib.ExitStack() as stack,
    ):
        said = f"{folder}/calls.json"
        contestants = {row.name: row for row in _contestants(url, said)}
        for row in contestants.values():
            stack.enter_context(_running(row))
            row.block()  # warms up; the first also writes down what it said
            row.cpu_ms.clear()
        for _ in range(BLOCKS):
            for row in contestants.values():
                row.block()
    return list(_rows(contestants))


def _contestants(url: str, said: str) -> list[Contestant]:
    def own(name: str, *words: str) -> Contestant:
        return Contestant(name, [sys.executable, str(PEERS / words[0]), url, *words[1:]])

    rows = [
        own("debate", "panel.py", "debate", said),
        own("model_client", "panel.py", "model_client"),
        own("library", "panel.py", "library"),
        own("pydantic-ai", "client.py", "pydantic-ai", said),
        own("sdk", "client.py", "sdk", said),
        own("sdk-aiohttp", "client.py", "sdk-aiohttp", said),
        own("bare", "client.py", "bare", said),
    ]
    python = PEERS / ".venv" / "bin" / "python"
    if python.exists():
        rows += [
            Contestant("autogen", [str(python), str(PEERS / "autogen.py"), url]),
            Contestant("langgraph", [str(python), str(PEERS / "langgraph_debate.py"), url, "plain"]),
            Contestant("langgraph-sqlite", [str(python), str(PEERS / "langgraph_debate.py"), url, "sqlite"]),
            Contestant("openai-agents", [str(python), str(PEERS / "openai_agents.py"), url]),
        ]
    return rows


@contextlib.contextmanager
def _running(row: Contestant) -> Iterator[None]:
    with subprocess.Popen(row.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as row.process:
        try:
            yield
        finally:
            row.process.stdin.close()


def _rows(contestants: dict[str, Contestant]) -> Iterator[Figure]:
    debate = contestants["debate"].cpu_ms

    def beside(name: str) -> float | None:
        """The median over blocks of the contestant's time in units of the debate's beside it."""
        row = contestants.get(name)
        return row and statistics.median(theirs / ours for theirs, ours in zip(row.cpu_ms, debate, strict=True))

    def of(name: str, other: str) -> float:
        pairs = zip(contestants[name].cpu_ms, contestants[other].cpu_ms, strict=True)
        return statistics.median(one / two for one, two in pairs)

    absent = "" if "autogen" in contestants else "peers are not installed: make bench-peers"
    milliseconds = statistics.median(debate)
    yield Figure(name="A call in a debate, record on", value=milliseconds, unit="ms", note="on this machine, today")
    yield Figure(
        name="Debate, over the same direct request alone",
        value=of("debate", "pydantic-ai"),
        unit="x",
        at_most=1.3,
        note="pydantic-ai's, the same messages, schemas and transport",
    )
    for title, name, least, note in (
        ("AutoGen RoundRobinGroupChat", "autogen", 2.5, "no record; a message for each turn"),
        ("LangGraph with its SQLite checkpointer", "langgraph-sqlite", 3.0, "a message for each turn"),
        ("LangGraph", "langgraph", None, "no record; a message for each turn"),
        ("openai-agents", "openai-agents", None, "no record; a message for each turn"),
        ("OpenAI's client alone", "sdk", None, "the same messages and schemas"),
        ("OpenAI's client over aiohttp, alone", "sdk-aiohttp", None, "the same messages and schemas"),
        ("Bare post of aiohttp, alone", "bare", None, "the same messages and schemas"),
    ):
        yield Figure(
            name=f"{title}, over the debate",
            value=beside(name),
            unit="x",
            at_least=least,
            note=note if name in contestants else absent,
        )
    yield Figure(name="The gateway's part of a debate", value=100 * of("model_client", "debate"), unit="%")
    yield Figure(
        name="Gateway, over the bare post", value=of("model_client", "bare"), unit="x", note="its thin path, alone"
    )
    yield Figure(
        name="Gateway without its thin path, over the gateway",
        value=of("library", "model_client"),
        unit="x",
        note="what the thin path saves",
    )
