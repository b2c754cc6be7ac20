"""Workers as processes: they take what waits, keep to limits, stop when they are told, and can be told from afar."""

from __future__ import annotations

import asyncio
import signal
import socket
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from fleet_stage import Ground, Stage, inspect

from disputatio._cli.main import main
from disputatio.record.events import DebateInterrupted, DebateResumed
from disputatio.record.sql import SqlStore
from disputatio.workers.job_table import JobTable
from disputatio.workers.limits import set_limit
from disputatio.workers.port import JobState

pytestmark = pytest.mark.slow


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


async def run(*words: str) -> int:
    """The exit code of a command; it has an event loop of its own, and so a thread."""

    def command() -> int:
        with pytest.raises(SystemExit) as end:
            main(words)
        code = end.value.code
        return code if isinstance(code, int) else -1

    return await asyncio.to_thread(command)


async def test_a_worker_told_to_stop_puts_back_what_does_not_end(fleet_ground: Ground) -> None:
    """A worker told to stop puts back what does not end and others go on with it."""
    with fleet_ground.stage(latency=0.05) as fleet:
        fleet.provider.hold()
        port = free_port()
        first = fleet.worker(f"-c 4 --drain 0.5 --metrics {port}")
        (debate,) = await fleet.order(1)
        await fleet.provider.arrived.reach(1, 30)
        told = await asyncio.to_thread(lambda: httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=30).text)
        assert 'disputatio_orders{queue="debates",state="running"} 1.0' in told
        assert "disputatio_debates_running 1.0" in told
        assert "disputatio_places 4.0" in told
        first.send(signal.SIGTERM)
        await fleet.until(lambda job_table, _: [row.state for row in job_table.jobs()] == [JobState.WAITING], 20)
        await fleet.until(lambda *_: not first.lives, 10)
        assert "put back" in first.log.read_text()
        assert first.log.read_text().endswith("Left with exit code 0.\n")
        fleet.provider.release()
        fleet.worker("-c 4")
        await fleet.all_over(30)
        store = fleet.store()
        kinds = [row.event() for row in store.read(debate)]
        await store.aclose()
        reasons = [row.reason for row in kinds if isinstance(row, DebateInterrupted)]
        assert len(reasons) == 1
        assert sum(isinstance(row, DebateResumed) for row in kinds) == 1
        found = inspect(fleet)
    assert (found.faults, found.statuses) == (0, {"COMPLETE": 1})


async def test_a_running_debate_is_cancelled_from_another_process(
    fleet: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    """A running debate is cancelled from another process and the most urgent is next."""
    fleet.provider.hold()
    (low,) = await fleet.order(1, priority=-5)
    (high,) = await fleet.order(1, priority=5)
    (middle,) = await fleet.order(1)
    fleet.worker("-c 1")
    await fleet.provider.arrived.reach(1, 30)

    def states(job_table: JobTable) -> dict[str, JobState]:
        return {row.debate: row.state for row in job_table.jobs()}

    running = {high: JobState.RUNNING, middle: JobState.WAITING, low: JobState.WAITING}
    await fleet.until(lambda job_table, _: states(job_table) == running, 10)
    capsys.readouterr()
    assert await run("cancel", high, "--store", fleet.url) == 0
    assert "is stopping it" in capsys.readouterr().out
    await fleet.until(lambda job_table, _: states(job_table)[high] is JobState.CANCELLED, 10)
    await fleet.until(lambda job_table, _: states(job_table)[middle] is JobState.RUNNING, 10)
    assert await run("cancel", low, "--store", fleet.url) == 0
    fleet.provider.release()
    await fleet.all_over(30)
    found = inspect(fleet)
    assert (found.faults, found.cancelled, found.ended) == (0, 2, 1)


async def test_all_workers_together_keep_to_the_limit_of_a_provider(fleet_ground: Ground) -> None:
    with fleet_ground.stage(latency=0.05) as fleet:
        store = fleet.store()
        set_limit(store, "openai_compatible", at_once=3, per_minute=None)
        await store.aclose()
        for _ in range(2):
            fleet.worker("-c 10")
        await fleet.order(8)
        await fleet.all_over(60)
        assert fleet.provider.peak_in_flight <= 3
        assert inspect(fleet).faults == 0


async def test_a_full_queue_and_other_mistakes_are_answered(
    fleet: Stage, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    """A full queue and other mistakes are answered in one sentence."""
    way = ("--store", fleet.url)
    assert await run("enqueue", "We should act", "--format", "freeform", "--most-waiting", "1", *way) == 0
    debate = capsys.readouterr().out.strip()
    assert await run("enqueue", "We should act", "--format", "freeform", "--most-waiting", "1", *way) == 7
    assert "The queue debates is full: 1 debates are waiting" in capsys.readouterr().err
    assert await run("queue", *way) == 0
    assert f"{debate}  WAITING" in capsys.readouterr().out
    assert await run("limits", "opanai", "--at-once", "3", *way) == 2
    assert "Did you mean openai?" in capsys.readouterr().err
    assert await run("limits", "openai", "--per-minute", "30", *way) == 0
    assert "openai" in capsys.readouterr().out
    file = SqlStore(str(tmp_path / "s.sqlite"))
    await file.aclose()
    assert await run("worker", "--store", str(tmp_path / "s.sqlite")) == 2
    assert "share a PostgreSQL database" in capsys.readouterr().err
    assert await run("worker", "--metrics", "here", *way) == 2
    assert "--metrics 9464" in capsys.readouterr().err


async def test_a_worker_names_what_its_tasks_raised(fleet: Stage) -> None:
    """A debate that cannot be taken up is tried again and again, and a queue that fails too: the log says why."""
    worker = fleet.worker("-c 4")
    fleet.provider.hold()
    (debate,) = await fleet.order(1)
    await fleet.provider.arrived.reach(1, 30)
    worker.send(signal.SIGSTOP)
    engine = sa.create_engine(fleet.url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE orders SET body = 'no JSON', state = 'WAITING'")
        connection.exec_driver_sql("DROP FUNCTION procrastinate_update_heartbeat_v1")
    worker.send(signal.SIGKILL)
    second = fleet.worker("-c 4")

    def told(*_: object) -> bool:
        log = second.log.read_text() if second.log.exists() else ""
        return f"debate {debate}: JSONDecodeError" in log and "heartbeat of this worker failed" in log

    await fleet.until(told, 60)
    log = second.log.read_text()
    assert "procrastinate_update_heartbeat_v1" in log
    assert log.count("heartbeat of this worker failed") == 1, "what lasts is not told every second"
    assert "Traceback" not in log
