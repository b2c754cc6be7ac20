"""How much faster two workers clear a queue than one, each with the same concurrency.

The debates wait for a fake provider nearly all the time, as they do for real ones. One worker and two workers take
turns, several times; what is compared is the time from the first call to the last end of a debate.

Run: .venv/bin/python bench/workers.py [DEBATES] [ROUNDS]
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time

from fleet_stage import Ground, Stage, ground, inspect

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


def main() -> None:
    debates = int(sys.argv[1]) if len(sys.argv) > 1 else 32
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    ratios = []
    with ground() as base:
        for _ in range(rounds):
            one, two = timed(base, 1, debates), timed(base, 2, debates)
            ratios.append(two / one)
            print(
                f"{debates} debates: one worker {one:.1f} s, two workers {two:.1f} s, ratio {two / one:.2f}", flush=True
            )
    print(f"median ratio {statistics.median(ratios):.2f} (at most 0.55 is asked for)")


if __name__ == "__main__":
    main()
