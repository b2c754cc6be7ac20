"""One process that holds very many debates at once: its memory and CPU, over a provider that takes a second.

Each number of debates is held by a process of its own; the provider is another one. The debates are free-form ones and
begin together, their calls follow one another. What is printed:

- seconds: from the first debate's beginning to the last one's end; at least as long as the calls of one debate take;
- CPU a call: all of the process, in user and system mode, the opening of the debates included;
- used: the least time that its own processor time allows, over the seconds; at 1 it was idle only where it had nothing
  to do. That least time is what the process computed or waited for a free core, or, where that is longer, what its
  event loop computed until the last debate's first call had left, and the calls of that debate;
- memory: the largest resident set.

Run: .venv/bin/python bench/thousand.py [DEBATES ...]      (1 10 100 1000 unless said otherwise)
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from disputatio.engine.process_tuning import raise_file_limit, tune_gc
from disputatio.engine.runtime import Runtime, start
from disputatio.kernel import JsonObject
from disputatio.participants.shared_clients import open_client
from disputatio.proposals import proposal_of, read_request
from disputatio.record.events import CallMade
from disputatio.record.sql import SqlStore
from disputatio.record.verified import read_verified
from disputatio.testing import provider_process

LATENCY_S = 1.0
SIZES = (1, 10, 100, 1_000)
FORM = {"format": "freeform"}


@dataclasses.dataclass(frozen=True)
class Held:
    """What came of holding debates at once.

    Attributes:
        debates: how many were under way at once.
        complete: how many were held to their end.
        calls: the calls of all.
        seconds: from the first beginning to the last end.
        cpu_s: CPU time of the process.
        beginning_s: CPU time of the event loop until every debate's first call had left.
        waited_s: how long threads of it could have run and had no core.
        before_mb: the largest resident set after one debate.
        peak_mb: the largest resident set.
    """

    debates: int
    complete: int
    calls: int
    seconds: float
    cpu_s: float
    beginning_s: float
    waited_s: float
    before_mb: float
    peak_mb: float

    @property
    def least_s(self) -> float:
        """What the calls of one debate take."""
        return LATENCY_S * self.calls / self.debates

    @property
    def used(self) -> float:
        """How much of the time something was computed, or there was nothing to compute."""
        return max(self.beginning_s + self.least_s, self.cpu_s + self.waited_s) / self.seconds


class _UnderWay:
    def __init__(self) -> None:
        self.now = self.peak = 0

    async def hold(self, runtime: Runtime, order: JsonObject) -> str:
        self.now += 1
        self.peak = max(self.peak, self.now)
        try:
            return await start(proposal_of(order, {}), runtime)
        finally:
            self.now -= 1


class _Beginnings:
    """Opens gateways, one for each debate, and notes when the latest of their first calls left."""

    def __init__(self) -> None:
        self.begun, self.latest_s = 0, 0.0

    def open(self, *given: Any) -> Any:
        return _Noting(open_client(*given), self)


class _Noting:
    """A gateway whose first call is noted."""

    def __init__(self, inner: Any, beginnings: _Beginnings) -> None:
        self.inner, self.modes, self.beginnings = inner, inner.modes, beginnings
        self.probe, self.aclose = inner.probe, inner.aclose

    async def call(self, call: Any, on_text: Any = None) -> Any:
        self.beginnings.begun += 1
        self.beginnings.latest_s = time.thread_time()
        # It was the first: the others need not be noted.
        self.call = self.inner.call  # type: ignore[method-assign]
        return await self.inner.call(call, on_text)


async def hold(debates: int) -> Held:
    """Hold so many debates at once, over the provider that the environment names."""
    with tempfile.TemporaryDirectory() as folder:
        store, beginnings = SqlStore(f"{folder}/bench.sqlite"), _Beginnings()
        runtime, counted = Runtime(store, checks_first=False, client_factory=beginnings.open), _UnderWay()
        # Orders are read when they come, and by whoever takes them.
        orders = [read_request({"motion": f"Motion {number}: we should act"} | FORM) for number in range(debates + 1)]
        # What one process shares is opened by the first debate, and is no part of what each one takes.
        await counted.hold(runtime, orders[0])
        tune_gc()
        beginnings.begun = 0
        before, loop_s, cpu = peak_megabytes(), time.thread_time(), time.process_time()
        waited, begun = waited_seconds(), time.monotonic()
        ids = await asyncio.gather(*(counted.hold(runtime, order) for order in orders[1:]))
        took, spent = time.monotonic() - begun, time.process_time() - cpu
        waited, after = waited_seconds() - waited, peak_megabytes()
        calls = sum(row.kind == CallMade.kind for debate in ids for row in read_verified(store, debate))
        complete = sum(row.status == "COMPLETE" for row in store.debates()) - 1
        await store.aclose()
    if beginnings.begun != debates:
        raise RuntimeError(f"{beginnings.begun} of {debates} debates made a call")
    return Held(counted.peak, complete, calls, took, spent, beginnings.latest_s - loop_s, waited, before, after)


def peak_megabytes() -> float:
    """The largest resident set of this process so far; what it was before it became this program is not in it."""
    status = Path("/proc/self/status").read_text("ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def waited_seconds() -> float:
    """How long the main thread of this process has waited for a core; 0 where the system does not count it."""
    counts = Path("/proc/self/schedstat")
    return int(counts.read_text("ascii").split()[1]) / 1e9 if counts.exists() else 0.0


def apart(debates: int) -> Held:
    """``hold`` in a process of its own."""
    own = [sys.executable, __file__, "--here", str(debates)]
    return Held(**json.loads(subprocess.run(own, check=True, stdout=subprocess.PIPE, text=True).stdout))


HEAD = ("debates at once", "calls", "seconds", "at least", "CPU a call", "used", "memory at most", "a debate more")


def row(held: Held) -> tuple[str, ...]:
    """One line of the table."""
    assert held.complete == held.debates, f"{held.complete} of {held.debates} were held to their end"
    each = (held.peak_mb - held.before_mb) / held.debates * 1024
    return (
        f"{held.debates:,}",
        f"{held.calls:,}",
        f"{held.seconds:.1f}",
        f"{held.least_s:.0f}",
        f"{held.cpu_s / held.calls * 1000:.1f} ms",
        f"{held.used:.2f}",
        f"{held.peak_mb:.0f} MB",
        f"{each:.0f} kB" if held.debates >= 100 else "",
    )


def main() -> None:
    words = sys.argv[1:]
    if words[:1] == ["--here"]:
        raise_file_limit()
        print(json.dumps(dataclasses.asdict(asyncio.run(hold(int(words[1]))))))
        return
    print("| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD), sep="\n", flush=True)
    with provider_process("--latency", str(LATENCY_S)) as url:
        os.environ |= {"LLM_PROVIDER": "openai_compatible", "LLM_MODEL": "fake", "LLM_BASE_URL": url}
        for debates in [int(word) for word in words] or SIZES:
            print("| " + " | ".join(row(apart(debates))) + " |", flush=True)


if __name__ == "__main__":
    main()
