"""How a contestant of the benchmark is asked for blocks of debates, one at a time, in a process of its own.

The frame writes a number of debates on a line, the contestant holds that many at once and answers with one line of
JSON: its calls, the processor time of its process in seconds, and the seconds it took. So contestants can take
turns, block by block, and a machine that is busy for a while is busy for all.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable

MOTION = "Should we release the risky migration?"
SEATS = ("planner", "critic", "operator")
ROUNDS = 4
TASK = "You are %s in a debate; give stance, rationale, vote."


def processor_s() -> float:
    """Processor time of this process, all threads, user and system."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def serve(one_debate: Callable[[int], Awaitable[int]]) -> None:
    """Hold blocks until the input ends.

    Args:
        one_debate: holds the debate with this number and says how many calls it made.
    """
    number = 0
    await one_debate(number)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        debates = int(line)
        began, spent = time.perf_counter(), processor_s()
        calls = await asyncio.gather(*(one_debate(number + place) for place in range(1, debates + 1)))
        number += debates
        told = {"calls": sum(calls), "cpu_s": processor_s() - spent, "wall_s": time.perf_counter() - began}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
