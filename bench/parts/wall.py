"""Wall time of every format against its critical path, over a provider that takes a second for each answer."""

from __future__ import annotations

import asyncio
import os
import selectors
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import thousand
from measured import Figure

from disputatio.engine.process_tuning import raise_file_limit, tune_gc
from disputatio.engine.runtime import Runtime, start
from disputatio.participants.call import Call, Fault, OutputMode, Reply
from disputatio.participants.shared_clients import open_client
from disputatio.proposals import proposal_of, read_request
from disputatio.record.memory import MemoryStore
from disputatio.record.sql import SqlStore
from disputatio.testing import provider_process

TITLE = "Wall time at a one-second model"
ABOUT = (
    "Seconds of a debate over the seconds that its rules take in any case. That critical path is found by holding the "
    "debate again with the answers it got, in a loop whose clock moves only when nothing is left to do: each answer "
    "takes exactly a second there, and computing takes no time. Record in SQLite, not streamed. A hundred at once: "
    "medians of three."
)
HERE: Final = Path(__file__).resolve().parent.parent
LATENCY_S: Final = 1.0
CROWD: Final = 100
TIMES: Final = 3
"""A crowd is held so often, and its median time counts: who else uses the machine moves it by a tenth and more."""
MANY_CALLS: Final = "market"
"""The format that makes the most calls, which is held in several processes too."""
CORES: Final = max(2, os.cpu_count() or 1)
FIRST_WORDS_S: Final = 0.3
PIECE_S: Final = 0.01
"""Of 24 characters: some 600 tokens a second."""
STAGGERED: Final = ("structured", "market")
ORDERS: Final[dict[str, dict[str, Any]]] = {
    "structured": {},
    "market": {},
    "competition": {"settings": {"rules.free_speeches": 2}},
    "review": {},
    # The server's votes are drawn by chance: among so many options they do not agree before their time.
    "panel": {"rounds": 1, "decision": "unanimity", "options": [f"option_{place}" for place in range(1, 13)]},
}
Result = TypeVar("Result")


def figures() -> list[Figure]:
    """The rows of this part."""
    raise_file_limit()
    return list(_rows())


def _rows() -> Iterator[Figure]:
    with provider_process() as at_once, provider_process("--latency", str(LATENCY_S)) as slow:
        said: dict[str, _Said] = {name: defaultdict(deque) for name in ORDERS}
        for name in ORDERS:
            # The first debate of a kind imports what it needs and compiles its forms; that is no part of a debate.
            asyncio.run(_held(name, at_once, 1))
        tune_gc()
        for name in ORDERS:
            waited = thousand.waited_seconds()
            alone = asyncio.run(_held(name, slow, 1, said[name]))
            waited = thousand.waited_seconds() - waited
            path = _critical_path(name, slow, said[name])
            yield _row(f"{name}, one debate", alone, path, waited, 1.03)
            took, waited = _crowd(name, slow)
            yield _row(f"{name}, {CROWD} at once", took, path, waited, 1.15)
            if name == MANY_CALLS:
                apart = _apart(name, at_once, slow, CORES)
                yield Figure(name=f"{name}, {CROWD} at once in {CORES} processes", value=apart / path, unit="x")
    with provider_process("--latency", str(FIRST_WORDS_S), "--chunk-latency", str(PIECE_S)) as streaming:
        for name in STAGGERED:
            seconds = {on: asyncio.run(_held(name, streaming, 1, streamed=True, staggered=on)) for on in (False, True)}
            note = f"first words after {FIRST_WORDS_S:g} s, then 24 characters in {1000 * PIECE_S:g} ms"
            yield Figure(name=f"{name}, staggered over not", value=seconds[True] / seconds[False], unit="x", note=note)


def _crowd(name: str, slow: str) -> tuple[float, float]:
    """Seconds that ``CROWD`` debates take, and how many of them were spent waiting for a core; of the median time."""
    seen = []
    for _ in range(TIMES):
        waited = thousand.waited_seconds()
        took = asyncio.run(_held(name, slow, CROWD))
        seen.append((took, thousand.waited_seconds() - waited))
    return statistics.median_low(seen)


def _apart(name: str, at_once: str, slow: str, processes: int) -> float:
    """Seconds that ``CROWD`` debates take in so many processes, which begin together."""
    command = [sys.executable, "-m", "parts.wall", name, at_once, slow, str(CROWD // processes)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": HERE}
    at_work = [subprocess.Popen(command, **pipes) for _ in range(processes)]
    try:
        ready = [each.stdout.readline() for each in at_work if each.stdout]
        for each in at_work:
            if each.stdin and all(ready):
                each.stdin.write("begin\n")
                each.stdin.flush()
        return max(float(each.stdout.readline()) for each in at_work if each.stdout)
    finally:
        for each in at_work:
            each.communicate()


def _one_of_several(name: str, at_once: str, slow: str, debates: str) -> None:
    """What each of these processes does: get ready, say so, wait for the word, hold debates, tell the seconds."""
    raise_file_limit()
    asyncio.run(_held(name, at_once, 1))
    tune_gc()
    print("ready", flush=True)
    sys.stdin.readline()
    print(asyncio.run(_held(name, slow, int(debates))), flush=True)


def _row(name: str, took: float, path: float, waited: float, most: float) -> Figure:
    """The figure; its note says how long the process waited for a core that somebody else had."""
    idle = f", {waited:.1f} s waited for a core" if waited > 0.01 * path else ""
    return Figure(name=name, value=took / path, unit="x", at_most=most, note=f"critical path {path:.0f} s{idle}")


def _proposal(name: str, url: str, *, staggered: bool = False) -> Any:
    os.environ |= {"LLM_PROVIDER": "openai_compatible", "LLM_MODEL": "fake", "LLM_BASE_URL": url}
    os.environ["DISPUTATIO_STAGGER"] = "true" if staggered else "false"
    motion = {} if name == "market" else {"motion": "Should we release the risky migration?"}
    return proposal_of(read_request({"format": name, "seed": 1, **motion, **ORDERS[name]}), {})


async def _held(
    name: str, url: str, debates: int, said: _Said | None = None, *, streamed: bool = False, staggered: bool = False
) -> float:
    """Seconds that so many debates take together; ``said`` gets what they heard."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqlStore(f"{folder}/bench.sqlite")
        client_factory = open_client if said is None else (lambda *given: _Noting(open_client(*given), said))
        runtime, proposal = (
            Runtime(store, streams=streamed, checks_first=False, client_factory=client_factory),
            _proposal(name, url, staggered=staggered),
        )
        begun = time.monotonic()
        await asyncio.gather(*(start(proposal, runtime) for _ in range(debates)))
        took = time.monotonic() - begun
        whole = all(row.status == "COMPLETE" for row in store.debates())
        await store.aclose()
    if not whole:
        raise RuntimeError(f"a {name} debate was not held to its end")
    return took


def _critical_path(name: str, url: str, said: _Said) -> float:
    """Seconds of the debate where computing takes no time."""
    runtime = Runtime(MemoryStore(), checks_first=False, client_factory=lambda *_: _Again(said))
    return _in_its_own_time(lambda: _timed(start(_proposal(name, url), runtime)))


async def _timed(work: Coroutine[Any, Any, Any]) -> float:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await work
    return loop.time() - begun


_Said = defaultdict[tuple[Any, ...], "deque[Reply | Fault]"]


def _key(call: Call) -> tuple[Any, ...]:
    return call.segments, call.schema_name, call.mode, call.max_tokens


class _Noting:
    """A gateway that keeps what it brings."""

    def __init__(self, inner: Any, said: _Said) -> None:
        self.inner, self.modes, self.said = inner, inner.modes, said

    async def call(self, call: Call, on_text: Any = None) -> Any:
        outcome = await self.inner.call(call, on_text)
        self.said[_key(call)].append(outcome)
        return outcome

    async def probe(self) -> None:
        return None

    async def aclose(self) -> None:
        await self.inner.aclose()


class _Again:
    """A gateway that brings what was brought before, each after a second."""

    def __init__(self, said: _Said) -> None:
        self.said, self.modes = said, (OutputMode.NATIVE, OutputMode.TOOL, OutputMode.PROMPTED)

    async def call(self, call: Call, on_text: Any = None) -> Any:  # noqa: ARG002  (a gateway's)
        outcome = self.said[_key(call)].popleft()
        await asyncio.sleep(LATENCY_S)
        return outcome

    async def probe(self) -> None:
        return None

    async def aclose(self) -> None:
        return None


class _Leaping(selectors.SelectSelector):
    """Instead of waiting it moves the clock of its loop on."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            # Somebody else has to wake the loop: a thread.
            return super().select(1.0)
        self.now += timeout
        return []


def _in_its_own_time(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """What ``work`` brings in a loop whose clock stands still while anything is done."""
    selector = _Leaping()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]
    try:
        return loop.run_until_complete(work())
    finally:
        loop.close()


if __name__ == "__main__":
    _one_of_several(*sys.argv[1:])
