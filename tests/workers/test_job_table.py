"""Orders are kept once, as data, and what is over stays over."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from disputatio.errors import QueueFullError
from disputatio.record.events import TurnTaken
from disputatio.record.sql import SqlStore
from disputatio.workers.job_table import FinishedJob, JobTable
from disputatio.workers.port import Job, JobState
from record_makers import Pen, asked, opened

ORDER = {"motion": "We should act", "format": "freeform"}


def waiting(debate: str, priority: int = 0, queue: str = "debates") -> Job:
    return Job(debate, JobState.WAITING, queue, priority, f"2026-01-01T00:00:0{len(debate)}.000000Z")


@pytest.fixture
def job_table(file_store: SqlStore) -> JobTable:
    return JobTable(file_store)


def test_an_order_is_taken_once(job_table: JobTable) -> None:
    assert job_table.add_job(waiting("d1"), ORDER, None)
    assert not job_table.add_job(waiting("d1", priority=9), {"motion": "Another"}, None)
    assert job_table.begin_all(["d1"])["d1"].order == ORDER
    assert [row.priority for row in job_table.jobs()] == [0]


def test_a_full_queue_takes_no_more_and_says_how_many_wait(job_table: JobTable) -> None:
    for number in range(3):
        job_table.add_job(waiting(f"d{number}"), ORDER, 3)
    with pytest.raises(QueueFullError, match="queue debates is full: 3 debates are waiting") as caught:
        job_table.add_job(waiting("d3"), ORDER, 3)
    assert "Nothing was taken" in caught.value.next_step
    job_table.add_job(waiting("e1", queue="urgent"), ORDER, 3)
    job_table.begin_all(["d0"])
    assert job_table.add_job(waiting("d3"), ORDER, 3)


def test_the_text_of_a_source_is_kept_once_by_its_hash(job_table: JobTable, file_store: SqlStore) -> None:
    source = {"source_id": "S1", "title": "report.md", "kind": "markdown", "text": "The fee is 14 EUR."}
    for debate in ("d1", "d2"):
        job_table.add_job(waiting(debate), {**ORDER, "evidence": [source]}, None)
    job_table.add_job(waiting("d3"), ORDER, None)
    found = job_table.begin_all(["d1", "d2", "d3"])
    assert [found[debate].order.get("evidence") for debate in ("d1", "d2", "d3")] == [[source], [source], None]
    connection = sqlite3.connect(Path(str(file_store.engine.url.database)))
    try:
        assert connection.execute("SELECT count(*) FROM order_texts").fetchone() == (1,)
        (body,) = connection.execute("SELECT body FROM orders WHERE debate = 'd1'").fetchone()
    finally:
        connection.close()
    assert "14 EUR" not in body


def test_higher_priorities_are_taken_first(job_table: JobTable) -> None:
    """Higher priorities are taken first and equal ones in their order."""
    for debate, priority in (("a", 0), ("bb", 5), ("ccc", 0), ("dddd", 5)):
        job_table.add_job(waiting(debate, priority), ORDER, None)
    assert [row.debate for row in job_table.jobs(unfinished=True)] == ["bb", "dddd", "a", "ccc"]


def test_what_waits_is_cancelled_at_once(job_table: JobTable) -> None:
    """What waits is cancelled at once and what runs is asked to stop."""
    for debate in ("d1", "d2", "d3"):
        job_table.add_job(waiting(debate), ORDER, None)
    job_table.begin_all(["d2"])
    job_table.finish("d3", JobState.ENDED)
    assert [job_table.cancel(debate) for debate in ("d1", "d2", "d3", "d4")] == [True, True, False, False]
    states = {row.debate: row.state for row in job_table.jobs()}
    assert states == {"d1": JobState.CANCELLED, "d2": JobState.RUNNING, "d3": JobState.ENDED}
    assert job_table.cancelled(["d2", "d3"]) == {"d2"}
    job_table.finish("d1", JobState.ENDED)
    job = job_table.job("d1")
    assert job is not None
    assert job.state is JobState.CANCELLED


async def test_tries_are_counted_from_the_last_answer(job_table: JobTable, file_store: SqlStore) -> None:
    """Tries are counted from the last answer and a worker that stops in good order counts none."""

    def tried() -> int:
        return job_table.begin_all(["d1"])["d1"].tries

    pen = Pen("d1")
    job_table.add_job(waiting("d1"), ORDER, None)
    assert [tried() for _ in range(3)] == [1, 2, 3]
    # That it was asked for is no progress.
    await file_store.append(pen.write(opened(), asked(1)))
    assert tried() == 4
    # Whatever was answered since is a reason to go on.
    await file_store.append(pen.write(TurnTaken(path="opening/pro", seat="pro", phase="opening", form="f", content={})))
    assert tried() == 1
    assert tried() == 2
    job_table.put_back("d1")
    assert tried() == 1


def test_finished_jobs_do_not_start_again(job_table: JobTable) -> None:
    """What is over is not begun and what is to be stopped counts no try."""
    for debate in ("d1", "d2", "d3"):
        job_table.add_job(waiting(debate), ORDER, None)
    job_table.finish("d1", JobState.FAILED, "why", "then")
    job_table.begin_all(["d2"])
    job_table.cancel("d2")
    found = job_table.begin_all(["d1", "d2", "d3", "d4"])
    assert {name: (row.cancelled, row.tries, row.status) for name, row in found.items()} == {
        "d2": (True, 1, None),
        "d3": (False, 1, None),
    }


async def test_orders_that_end_together_end_each_in_its_own_way(job_table: JobTable, file_store: SqlStore) -> None:
    for debate in ("d1", "d2", "d3"):
        job_table.add_job(waiting(debate), ORDER, None)
    await file_store.append(Pen("d1").write(opened()))
    job_table.finish("d3", JobState.CANCELLED)
    ended = [
        FinishedJob("d1", JobState.ENDED),
        FinishedJob("d2", JobState.FAILED, "why", "then"),
        FinishedJob("d3", JobState.ENDED),
    ]
    assert job_table.finish_all(ended) == ["RUNNING", None, None]
    assert {row.debate: (row.state.value, row.reason, row.next_step) for row in job_table.jobs()} == {
        "d1": ("ENDED", "", ""),
        "d2": ("FAILED", "why", "then"),
        "d3": ("CANCELLED", "", ""),
    }
