"""What happens to debates when machines fail: each fault on real processes over a real PostgreSQL, as a table.

Every scenario leaves free-form debates for workers, brings its fault about, waits until nothing waits or runs, and
reads all records and the fake provider's own list of requests. One debate in four has a ceiling of just the calls that
it needs, so that budgets are tested and not only large: one lost or failed call, and it ends truncated. All columns
from ``repeated`` on must be zero:

- longest pause: how long a debate stood still before it was gone on with, at most; where workers are killed again and
  again, those that had just taken it up are among them;
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
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import sqlalchemy as sa
from fleet_followers import Follower, reader_of_nothing
from fleet_line import Line, breaking_line
from fleet_stage import Findings, Ground, Stage, ground, inspect

from disputatio.errors import QueueFullError
from disputatio.record.events import DebateResumed
from disputatio.record.sql import SqlStore
from disputatio.testing.provider.mishaps import Mishap, Mishaps
from disputatio.workers.job_table import JobTable

TAKEOVER_S = 15.0
WIDE = {"max_calls": 40, "budget_tokens": 2_000_000}
NARROW = {"max_calls": 7, "budget_tokens": 2_000_000}
"""A free-form debate has seven calls: this leaves no room for one that was lost or failed."""


def warm() -> float:
    """Seconds that a worker needs to start here, at most."""
    return 30.0


async def ordered(fleet: Stage, debates: int) -> list[str]:
    """Leave debates, one in four of them with a narrow ceiling."""
    return await fleet.order_each([WIDE if number % 4 else NARROW for number in range(debates)])


async def killed(fleet: Stage, debates: int, seed: int = 0) -> None:
    """Three workers, one of them killed at a random moment again and again, and started anew."""
    chance = random.Random(seed)
    for _ in range(3):
        fleet.worker("-c 10")

    async def held() -> None:
        await ordered(fleet, debates)
        await fleet.all_over(60 + debates * 1.5)

    over = asyncio.create_task(held())
    while not over.done():
        await asyncio.wait([over], timeout=chance.uniform(1.0, 4.0))
        if not over.done():
            fleet.kill(chance.choice(fleet.workers))
            fleet.worker("-c 10")
    await over


async def taken_over(fleet: Stage, debates: int) -> None:
    """One of three workers is killed while its calls are under way; the others have room and take its debates over."""
    workers = [fleet.worker("-c 20") for _ in range(3)]
    for worker in workers:
        await fleet.until(lambda *_, log=worker.log: "Working on" in log.read_text(), warm())  # type: ignore[misc]
    fleet.provider.hold()
    await ordered(fleet, debates)
    await _held(fleet, debates)
    victim = max(workers, key=lambda worker: worker.log.read_text().count("begins"))
    held = [line.split()[1] for line in victim.log.read_text().splitlines() if line.endswith("begins")]
    assert held
    fleet.kill(victim)
    fleet.provider.release()
    await fleet.until(lambda _, store: all(_resumed(store, debate) for debate in held), TAKEOVER_S)
    await fleet.all_over(90)


async def restarted(fleet: Stage, debates: int) -> None:
    """PostgreSQL crashes and is started again while debates run."""
    for _ in range(2):
        fleet.worker("-c 10")
    await ordered(fleet, debates)
    await _calls(fleet, debates)
    await asyncio.to_thread(fleet.restart_database)
    await fleet.all_over(90)


async def cut(fleet: Stage, debates: int) -> None:
    """The lines to the database are cut while calls are under way: after the reservation, before the answer."""
    for _ in range(2):
        fleet.worker("-c 10")
    await ordered(fleet, debates)
    for times in (1, 2):
        await _calls(fleet, debates * times)
        fleet.provider.hold()
        await _held(fleet)
        assert fleet.cut_connections() > 0
        fleet.provider.release()
    await fleet.all_over(90)


async def cut_before_calls(fleet: Stage, debates: int) -> None:
    """The line is cut between a reservation and its call: in the moment in which the note of the call is durable."""
    with breaking_line(fleet.socket, every=5) as line:
        for _ in range(2):
            fleet.worker("-c 10", url=fleet.through(line))
        await ordered(fleet, debates)
        await fleet.all_over(120)
        assert sum(line.cuts.values()) >= debates // 4, line.cuts
        assert min(line.cuts.values()) > 0, line.cuts


async def crowded(fleet: Stage, debates: int) -> None:
    """Four take orders at once for a queue that has no room for all; whoever is refused has left nothing."""
    room = debates // 2
    found = await asyncio.gather(*(_order_until_full(fleet, debates, room) for _ in range(4)))
    assert sum(found) == room, found
    store = fleet.store()
    assert {row.debate for row in JobTable(store).jobs()} == set(fleet.ordered)
    await store.aclose()
    fleet.worker("-c 20")
    await fleet.all_over(90)
    # There is room again.
    await fleet.order(1, most_waiting=1)
    await fleet.all_over(90)


async def _order_until_full(fleet: Stage, most: int, room: int) -> int:
    for count in range(most):
        try:
            await fleet.order(1, most_waiting=room, **WIDE)
        except QueueFullError:
            return count
    return most


async def streamed(fleet: Stage, debates: int) -> None:
    """The API is killed while it streams debates that it holds, to clients of which some read nothing."""
    port = _free_port()
    url, words = f"http://127.0.0.1:{port}", f"serve --port {port} --store {fleet.url}"
    api = fleet.process(words)
    fleet.provider.hold()
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        await _answers(client)
        for number in range(debates):
            body = {"motion": f"Motion {number}: we should act", "format": "freeform", **WIDE}
            answer = await client.post("/v1/debates", json=body)
            fleet.ordered.append(answer.raise_for_status().json()["id"])
        followers = [Follower(url, debate) for debate in fleet.ordered for _ in range(2)]
        following = asyncio.gather(*(follower.follow() for follower in followers))
        idle = [reader_of_nothing(url, debate) for debate in fleet.ordered]
        async with asyncio.timeout(warm()):
            while any(not follower.seen for follower in followers):
                await asyncio.sleep(0.02)
        fleet.provider.release()
        await _calls(fleet, debates)
        fleet.provider.hold()
        fleet.kill(api)
        fleet.process(words)
        await _answers(client)
        fleet.provider.release()
        idle += [reader_of_nothing(url, debate) for debate in fleet.ordered]
        await fleet.all_over(90)
        async with asyncio.timeout(60):
            await following
    for end in idle:
        end.close()
    store = fleet.store()
    for follower in followers:
        record = store.read(follower.debate)
        assert follower.connections >= 2, "it was never cut off"
        # Everything once, in order, as it stands in the record.
        assert follower.seen == [row.seq for row in record], follower.seen
        assert follower.hashes == [row.hash for row in record]
    await store.aclose()


async def _answers(client: httpx.AsyncClient) -> None:
    until = time.monotonic() + 2 * warm()
    while True:
        try:
            if (await client.get("/ready")).is_success:
                return
        except httpx.TransportError:
            assert time.monotonic() < until, "the API does not answer"
        await asyncio.sleep(0.1)


async def troubled(fleet: Stage, debates: int) -> None:
    """The provider fails one call in five and hangs in one of twenty."""
    for _ in range(2):
        fleet.worker("-c 20")
    await ordered(fleet, debates)
    await fleet.all_over(240)


async def given_twice(fleet: Stage, debates: int) -> None:
    """Every debate is brought to two workers at once."""
    for _ in range(2):
        fleet.worker("-c 20")
    ids = await ordered(fleet, debates)
    await asyncio.to_thread(_double, fleet, ids)
    await fleet.all_over(90)


async def everything(fleet: Stage, debates: int) -> None:
    """All at once, one after the other: the short form of the others, for the usual run of the tests."""
    with breaking_line(fleet.socket, every=9) as line:
        await _everything(fleet, debates, line)
        assert sum(line.cuts.values()) > 0


async def _everything(fleet: Stage, debates: int, line: Line) -> None:
    workers = [fleet.worker("-c 8"), fleet.worker("-c 8", url=fleet.through(line)), fleet.worker("-c 8")]
    ids = await ordered(fleet, debates)
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
    await ordered(fleet, debates)
    await _calls(fleet, debates // 2)
    fleet.kill(fleet.workers[0])
    fleet.worker("-c 10", jumping_clock=True)
    await fleet.all_over(90)


async def stalled(fleet: Stage, debates: int) -> None:
    """A worker stops in the midst of its calls, its debates are taken over within 15 seconds, and then it wakes up."""
    fleet.provider.hold()
    port = _free_port()
    first = fleet.worker(f"-c 20 --metrics {port}")
    await ordered(fleet, debates)
    await _held(fleet, debates)
    second = fleet.worker("-c 20")
    await fleet.until(lambda *_: "Working on" in second.log.read_text(), warm())
    assert await _running(port) == debates
    first.send(signal.SIGSTOP)
    fleet.provider.release()
    await fleet.until(lambda _, store: all(_resumed(store, debate) for debate in fleet.ordered), TAKEOVER_S)
    await fleet.all_over(90)
    first.send(signal.SIGCONT)
    # It has seen that it was overtaken, once for each debate.
    await fleet.until(lambda *_: first.log.read_text().count("was taken over") == debates, 30)
    # They run elsewhere, or are over.
    assert await _running(port) == 0


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


async def _running(port: int) -> int:
    """How many debates the worker that tells its metrics at ``port`` says it holds."""
    async with httpx.AsyncClient(timeout=30) as client:
        lines = (await client.get(f"http://127.0.0.1:{port}/metrics")).text.splitlines()
    return int(float(next(line.split()[1] for line in lines if line.startswith("disputatio_debates_running "))))


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
    ("one worker killed, others have room", taken_over, {"latency": 0.1}, 0.1),
    ("PostgreSQL crashes and restarts", restarted, {"latency": 0.3}, 0.1),
    ("connections cut under calls", cut, {"latency": 0.1}, 0.1),
    ("cut between reservation and call", cut_before_calls, {"latency": 0.1}, 0.1),
    ("20 % errors, 5 % hangs", troubled, {"latency": 0.1, **_TROUBLE}, 0.1),
    ("two workers, one debate", given_twice, {"latency": 0.1}, 0.1),
    ("clocks jump, a worker is killed", jumping, {"latency": 0.3}, 0.1),
    ("worker stops, is overtaken, wakes", stalled, {"latency": 0.1}, 0.05),
    ("full queue", crowded, {"latency": 0.1}, 0.2),
    ("API killed while it streams, slow clients", streamed, {"latency": 0.3}, 0.05),
)


def play(base: Ground, scenario: Play, debates: int, provider: dict[str, Any]) -> Findings:
    """Bring one fault about, and inspect everything afterwards."""
    with base.stage(**provider) as fleet:
        asyncio.run(scenario(fleet, debates))
        return inspect(fleet)


HEAD = (
    *("fault", "debates", "ended as", "calls", "lost calls", "resumed", "longest pause"),
    *("repeated", "budget", "chain", "no end"),
)


def row(name: str, found: Findings) -> tuple[str, ...]:
    """One line of the table."""
    ends = ", ".join(f"{count} {status}" for status, count in found.statuses.items())
    ends += f", {found.failed} never begun" if found.failed else ""
    unended = found.without_end + found.ordered - found.ended - found.failed - found.cancelled
    # Where clocks jump, the record's times do not tell.
    pause = f"{found.pause:.1f} s" if found.pause and "clock" not in name else "-"
    spent = (found.calls, found.lost, found.resumed)
    faults = (found.repeated, found.past_budget, found.not_verifying, unended)
    return (name, str(found.ordered), ends, *map(str, spent), pause, *map(str, faults))


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
