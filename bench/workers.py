"""What workers do with a queue: how fast one begins debates and what each costs it, and what a second worker brings.

First, many debates wait for one worker with room for all of them. What is printed, beside the same debates in one
process over a file (``bench/thousand.py``):

- begun a second: over the time from the first opening of a record to the last;
- CPU a debate: of the worker's process, in user and system mode, from the first to its end.

Then the queue is cleared by one worker and by two, each with the same few places. The debates wait for a fake provider
nearly all the time, as they do for real ones. One worker and two workers take turns, several times; what is compared
is the time from the first call to the last end of a debate.

Run: .venv/bin/python bench/workers.py [DEBATES] [ROUNDS] [DEBATES-FOR-ONE]
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import sys
import time
from datetime import datetime
from pathlib import Path

from fleet_stage import Ground, Stage, ground, inspect
from thousand import apart

from disputatio.testing import provider_process

CONCURRENCY = 4
LATENCY_S = 1.0


async def clear(fleet: Stage, workers: int, debates: int) -> float:
    """Seconds in which ``workers`` clear the queue; their start is not in it."""
    for _ in range(workers):
        fleet.worker(f"-c {CONCURRENCY}")
    # One debate for each place warms them up: libraries are loaded, connections are made.
    await fleet.order(workers * CONCURRENCY)
    await fleet.all_over(120)
    begun = time.monotonic()
    await fleet.order(debates)
    await fleet.all_over(600)
    return time.monotonic() - begun


def timed(base: Ground, workers: int, debates: int) -> float:
    with base.stage(latency=LATENCY_S) as fleet:
        seconds = asyncio.run(clear(fleet, workers, debates))
        assert inspect(fleet).faults == 0
        return seconds


async def hold(fleet: Stage, debates: int) -> tuple[float, float]:
    """Debates begun a second by one worker, and its CPU time for each, in milliseconds."""
    worker = fleet.worker(f"-c {debates}")
    warm = await fleet.order(2)
    await fleet.all_over(120)
    # It must not take the first ones before the last ones are there.
    worker.send(signal.SIGSTOP)
    await fleet.order(debates)
    before = cpu_seconds(worker.pid)
    worker.send(signal.SIGCONT)
    await fleet.all_over(600)
    spent, store = cpu_seconds(worker.pid) - before, fleet.store()
    opened = sorted(datetime.fromisoformat(row.opened_at) for row in store.debates() if row.id not in warm)
    await store.aclose()
    return (len(opened) - 1) / (opened[-1] - opened[0]).total_seconds(), spent / debates * 1000


def cpu_seconds(process: int) -> float:
    """CPU time of a process so far (proc(5): fields 14 and 15 of its stat, in ticks)."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def one(base: Ground, debates: int) -> None:
    """Print what one worker does with ``debates`` that wait, and what they cost in one process."""
    with base.stage(latency=LATENCY_S) as fleet:
        rate, cost = asyncio.run(hold(fleet, debates))
        assert inspect(fleet).faults == 0
        seats = {"LLM_PROVIDER": "openai_compatible", "LLM_MODEL": "fake"}
        with provider_process("--latency", str(LATENCY_S)) as url:
            os.environ |= seats | {"LLM_BASE_URL": url}
            held = apart(debates)
    alone = held.cpu_s / held.debates * 1000
    print(
        f"{debates} debates: one worker began {rate:.0f} a second and took {cost:.0f} ms of CPU for each; "
        f"one process over a file {alone:.0f} ms, ratio {cost / alone:.1f}",
        flush=True,
    )


def main() -> None:
    words = [int(word) for word in sys.argv[1:]]
    debates, rounds, many = words + [32, 3, 100][len(words) :]
    ratios = []
    with ground() as base:
        one(base, many)
        for _ in range(rounds):
            alone, two = timed(base, 1, debates), timed(base, 2, debates)
            ratios.append(two / alone)
            print(
                f"{debates} debates: one worker {alone:.1f} s, two workers {two:.1f} s, ratio {two / alone:.2f}",
                flush=True,
            )
    if ratios:
        print(f"median ratio {statistics.median(ratios):.2f} (at most 0.55 is asked for)")


if __name__ == "__main__":
    main()
