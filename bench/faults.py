"""What happens to debates when machines fail: each fault on real processes over a real PostgreSQL, as a table.

Every scenario leaves free-form debates for workers, brings its fault about, waits until nothing waits or runs, and
reads all records and the fake provider's own list of requests. The columns after ``lost calls`` must all be zero:

- repeated: calls whose answer was settled and that were made again;
- budget: debates that spent more than their ceiling;
- chain: records that do not verify;
- no end: orders or debates without a terminal status.

Run: .venv/bin/python bench/faults.py [DEBATES]      (200 unless said otherwise, for the killed workers)
"""

from __future__ import annotations

import asyncio
import random
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from fleet_stage import Findings, Ground, Stage, ground, inspect

from disputatio.record.events import DebateResumed
from disputatio.record.sql import SqlStore
from disputatio.testing.provider.mishaps import Mishap, Mishaps

TAKEOVER_S = 15.0
BUDGET = {"max_calls": 40, "budget_tokens": 2_000_000}


def warm() -> float:
    """Seconds that a worker needs to start here, at most."""
    return 30.0


async def killed(fleet: Stage, debates: int, seed: int = 0) -> None:
    """Three workers, one of them killed at a random moment again and again, and started anew."""
    chance = random.Random(seed)
    for _ in range(3):
        fleet.worker("-c 10")
    await fleet.order(debates, **BUDGET)
    over = asyncio.create_task(fleet.all_over(60 + debates * 1.5))
    while not over.done():
        await asyncio.wait([over], timeout=chance.uniform(1.0, 4.0))
        if not over.done():
            fleet.kill(chance.choice(fleet.workers))
            fleet.worker("-c 10")
    await over


async def restarted(fleet: Stage, debates: int) -> None:
    """PostgreSQL crashes and is started again while debates run."""
    for _ in range(2):
        fleet.worker("-c 10")
    await fleet.order(debates, **BUDGET)
    await _calls(fleet, debates)
    await asyncio.to_thread(fleet.restart_database)
    await fleet.all_over(90)


async def cut(fleet: Stage, debates: int) -> None:
    """The lines to the database are cut while calls are under way: after the reservation, before the answer."""
    for _ in range(2):
        fleet.worker("-c 10")
    await fleet.order(debates, **BUDGET)
    for times in (1, 2):
        await _calls(fleet, debates * times)
        fleet.provider.hold()
        await _held(fleet)
        assert fleet.cut_connections() > 0
        fleet.provider.release()
    await fleet.all_over(90)


async def troubled(fleet: Stage, debates: int) -> None:
    """The provider fails one call in five and hangs in one of twenty."""
    for _ in range(2):
        fleet.worker("-c 20")
    settings = {"max_calls": 60, "budget_tokens": 2_000_000}
    await fleet.order(debates, **settings)
    await fleet.all_over(240)


async def given_twice(fleet: Stage, debates: int) -> None:
    """Every debate is brought to two workers at once."""
    for _ in range(2):
        fleet.worker("-c 20")
    ids = await fleet.order(debates, **BUDGET)
    await asyncio.to_thread(_double, fleet, ids)
    await fleet.all_over(90)


async def everything(fleet: Stage, debates: int) -> None:
    """All at once, one after the other: the short form of the others, for the usual run of the tests."""
    workers = [fleet.worker("-c 8") for _ in range(3)]
    ids = await fleet.order(debates, **BUDGET)
    await _calls(fleet, debates // 2)
    await asyncio.to_thread(fleet.restart_database)
    await asyncio.to_thread(_double, fleet, ids[::2])
    fleet.provider.hold()
    await _held(fleet)
    assert fleet.cut_connections() > 0
    fleet.provider.release()
    await _calls(fleet, 2 * debates)
    fleet.kill(workers[0])
    fleet.worker("-c 8", jumping_clock=True)
    await fleet.all_over(90)


async def jumping(fleet: Stage, debates: int) -> None:
    """The clocks of the workers jump by hours, forward and back, every second; one of them is killed."""
    for _ in range(2):
        fleet.worker("-c 10", jumping_clock=True)
    await fleet.order(debates, **BUDGET)
    await _calls(fleet, debates // 2)
    fleet.kill(fleet.workers[0])
    fleet.worker("-c 10", jumping_clock=True)
    await fleet.all_over(90)


async def stalled(fleet: Stage, debates: int) -> None:
    """A worker stops in the midst of its calls, its debates are taken over within 15 seconds, and then it wakes up."""
    fleet.provider.hold()
    first = fleet.worker("-c 20")
    await fleet.order(debates, **BUDGET)
    await _held(fleet, debates)
    second = fleet.worker("-c 20")
    await fleet.until(lambda *_: "Working on" in second.log.read_text(), warm())
    first.send(signal.SIGSTOP)
    fleet.provider.release()
    await fleet.until(lambda _, store: all(_resumed(store, debate) for debate in fleet.ordered), TAKEOVER_S)
    await fleet.all_over(90)
    first.send(signal.SIGCONT)
    # It has seen that it was overtaken, once for each debate.
    await fleet.until(lambda *_: first.log.read_text().count("was taken over") == debates, 30)


def _resumed(store: SqlStore, debate: str) -> bool:
    return any(row.kind == DebateResumed.kind for row in store.read(debate))


async def _calls(fleet: Stage, count: int) -> None:
    await fleet.provider.answered.reach(count, warm())


async def _held(fleet: Stage, count: int = 1) -> None:
    until = time.monotonic() + warm()
    while fleet.provider.in_flight < count:
        assert time.monotonic() < until, f"{fleet.provider.in_flight} calls are under way, not {count}"
        await asyncio.sleep(0.02)


def _double(fleet: Stage, ids: list[str]) -> None:
    import sqlalchemy as sa

    engine = sa.create_engine(fleet.url, poolclass=sa.NullPool)
    query = sa.text(
        "INSERT INTO procrastinate_jobs (queue_name, task_name, args) "
        "SELECT 'debates', 'disputatio.hold', jsonb_build_object('debate', id) FROM unnest(CAST(:ids AS text[])) AS id"
    )
    with engine.begin() as connection:
        connection.execute(query, {"ids": ids})


_TROUBLE: dict[str, Any] = {
    "mishaps": Mishaps().at_random(0.05, Mishap.HANG, seed=1).at_random(0.2, Mishap.HTTP_500, seed=2)
}
Play = Callable[[Stage, int], Awaitable[None]]
Scenario = tuple[str, Play, dict[str, Any], float]
SCENARIOS: tuple[Scenario, ...] = (
    ("worker killed -9 at random moments", killed, {"latency": 0.3}, 1.0),
    ("PostgreSQL crashes and restarts", restarted, {"latency": 0.3}, 0.1),
    ("connections cut under calls", cut, {"latency": 0.1}, 0.1),
    ("20 % errors, 5 % hangs", troubled, {"latency": 0.1, **_TROUBLE}, 0.1),
    ("two workers, one debate", given_twice, {"latency": 0.1}, 0.1),
    ("clocks jump, a worker is killed", jumping, {"latency": 0.3}, 0.1),
    ("worker stops, is overtaken, wakes", stalled, {"latency": 0.1}, 0.05),
)


def play(base: Ground, scenario: Play, debates: int, provider: dict[str, Any]) -> Findings:
    """Bring one fault about, and inspect everything afterwards."""
    with base.stage(**provider) as fleet:
        asyncio.run(scenario(fleet, debates))
        return inspect(fleet)


HEAD = ("fault", "debates", "ended as", "calls", "lost calls", "resumed", "repeated", "budget", "chain", "no end")


def row(name: str, found: Findings) -> tuple[str, ...]:
    """One line of the table."""
    ends = ", ".join(f"{count} {status}" for status, count in found.statuses.items())
    ends += f", {found.failed} never begun" if found.failed else ""
    unended = found.without_end + found.ordered - found.ended - found.failed - found.cancelled
    numbers = (found.calls, found.lost, found.resumed, found.repeated, found.past_budget, found.not_verifying, unended)
    return (name, str(found.ordered), ends, *(str(number) for number in numbers))


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    print("| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD), sep="\n", flush=True)
    faults = 0
    with ground() as base:
        for name, scenario, provider, part in SCENARIOS:
            if only in name:
                found = play(base, scenario, max(5, round(most * part)), provider)
                faults += found.faults
                print("| " + " | ".join(row(name, found)) + " |", flush=True)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
