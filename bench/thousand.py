"""One process that holds very many debates at once: its memory and CPU, over a provider that takes a second.

The provider is a process of its own. The debates are free-form ones and begin together; memory is the process's
resident set at its largest, CPU its own time in user and system mode.

Run: .venv/bin/python bench/thousand.py [DEBATES]
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import tempfile
import time

from disputatio.engine.debates import House, read_verified, start
from disputatio.orders import proposal_of, read_order
from disputatio.record.events import CallMade
from disputatio.record.sql import SqlStore
from disputatio.testing import provider_process

LATENCY_S = 1.0


class InFlight:
    """A watcher that counts debates under way."""

    def __init__(self) -> None:
        self.now = self.peak = 0

    async def held(self, house: House, number: int) -> str:
        self.now += 1
        self.peak = max(self.peak, self.now)
        order = read_order({"motion": f"Motion {number}: we should act", "format": "freeform"})
        try:
            return await start(proposal_of(order, {}), house)
        finally:
            self.now -= 1


def megabytes() -> float:
    """The largest resident set so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def measure(debates: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = SqlStore(f"{folder}/bench.sqlite")
        # What one process shares is opened by the first debate, and is no part of what each one takes.
        house = House(store, checks_first=False)
        await InFlight().held(house, 0)
        before, cpu, begun = megabytes(), time.process_time(), time.monotonic()
        counted = InFlight()
        ids = await asyncio.gather(*(counted.held(house, number) for number in range(1, debates + 1)))
        took, spent, after = time.monotonic() - begun, time.process_time() - cpu, megabytes()
        calls = 0
        for debate in ids:
            calls += sum(row.kind == CallMade.kind for row in read_verified(store, debate))
        ended = sum(row.status == "COMPLETE" for row in store.debates())
        await store.aclose()
    print(f"{counted.peak} debates at once in one process, {ended - 1} complete, {calls} calls in {took:.1f} s")
    print(f"CPU: {spent / calls * 1000:.1f} ms a call, {spent / took:.2f} of one core")
    each = (after - before) / debates * 1024
    print(f"memory: {before:.0f} MB after one debate, {after:.0f} MB at most, {each:.0f} kB a debate")
    print(f"least time that {calls / debates:.0f} calls of {LATENCY_S:g} s take: {LATENCY_S * calls / debates:.0f} s")


def main() -> None:
    debates = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8_192)), hard))
    with provider_process("--latency", str(LATENCY_S)) as url:
        os.environ |= {"LLM_PROVIDER": "openai_compatible", "LLM_MODEL": "fake", "LLM_BASE_URL": url}
        asyncio.run(measure(debates))


if __name__ == "__main__":
    main()
