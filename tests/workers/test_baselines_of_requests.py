"""Baselines that a remote caller asks for: run after the debate, within its ceilings, and never twice."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from served import ended, served, started
from test_in_process_runner import ended as order_ended

from disputatio._service.keys import Scope
from disputatio.engine.runtime import baseline_id, debate_of_baseline
from disputatio.errors import InvalidInputError
from disputatio.proposals import read_request
from disputatio.record.history import History
from disputatio.record.sql import SqlStore
from disputatio.testing import FakeProvider
from disputatio.workers.in_process_runner import InProcessRunner
from disputatio.workers.job_table import MAX_TRIES, JobTable
from disputatio.workers.port import JobState

pytestmark = pytest.mark.slow
REQUEST: dict[str, Any] = {"motion": "We should act", "format": "freeform", "baseline": "single,freeform"}


def history(store: SqlStore, debate: str) -> History:
    return History.of(row.event() for row in store.read(debate))


async def test_the_record_names_the_baselines_of_its_request(file_store: SqlStore, provider: FakeProvider) -> None:
    runner = InProcessRunner(file_store)
    await runner.submit("d1", read_request(REQUEST))
    assert (await order_ended(runner, "d1")).state is JobState.ENDED
    rows = {row.baseline: row for row in history(file_store, "d1").baselines}
    assert set(rows) == {"single", "freeform"}
    assert rows["single"].answer in {"for", "against"}
    assert rows["single"].debates == (baseline_id("d1", "single/1"),)
    assert debate_of_baseline(rows["single"].debates[0]) == "d1"
    await runner.aclose()


async def test_a_restart_pays_for_no_baseline_twice(file_store: SqlStore, provider: FakeProvider) -> None:
    first = InProcessRunner(file_store)
    await first.submit("d1", read_request(REQUEST))
    async with asyncio.timeout(30):
        while not (file_store.row("d1") and history(file_store, "d1").baselines):
            await asyncio.sleep(0.01)
    provider.hold()
    await first.aclose()
    told = len(provider.requests)
    provider.release()
    second = InProcessRunner(file_store)
    await second.start()
    assert (await order_ended(second, "d1")).state is JobState.ENDED
    await second.aclose()
    rows = history(file_store, "d1").baselines
    assert [row.baseline for row in rows] == ["single", "freeform"]
    paid = [row.id for row in file_store.debates()]
    assert sorted(paid) == sorted({"d1", *(debate for row in rows for debate in row.debates)})
    made = sum(len(history(file_store, debate).made) for debate in paid)
    lost = len(provider.requests) - made
    assert 0 <= lost <= max(1, told - made), "only what was under way when it stopped is asked for again"


async def test_baselines_that_fail_leave_the_result(file_store: SqlStore, provider: FakeProvider) -> None:
    runner = InProcessRunner(file_store)
    order = read_request({**REQUEST, "baseline": "single"})
    # An earlier version let this name through.
    await runner.submit("d1", {**order, "baseline": "none of them"})
    assert (await order_ended(runner, "d1")).state is JobState.ENDED
    await runner.submit("d2", {**order, "budget": {"calls": 4}})
    job = await order_ended(runner, "d2")
    assert job.state is JobState.ENDED, job
    assert {row.id: row.status for row in file_store.debates()}["d1"] == "COMPLETE"
    await runner.aclose()


async def test_a_result_stays_when_its_baselines_are_given_up(
    file_store: SqlStore, provider: FakeProvider, tmp_path: Path
) -> None:
    first = InProcessRunner(file_store)
    await first.submit("d1", read_request({**REQUEST, "baseline": None}))
    await order_ended(first, "d1")
    await first.aclose()
    # As if it had asked for a baseline, and each process that ran it had been killed.
    with sqlite3.connect(tmp_path / "store.sqlite") as connection:
        connection.execute("UPDATE orders SET state = 'WAITING', body = json_set(body, '$.baseline', 'single')")
    connection.close()
    for _ in range(MAX_TRIES):
        JobTable(file_store).begin_all({"d1"})
    second = InProcessRunner(file_store)
    await second.start()
    assert (await order_ended(second, "d1")).state is JobState.ENDED
    await second.aclose()
    assert not history(file_store, "d1").baselines


def test_a_name_of_no_baseline_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no baseline called 'singel'"):
        read_request({**REQUEST, "baseline": "singel"})


async def test_baselines_are_their_tenants_and_are_booked(tmp_path) -> None:
    async with served(tmp_path, keyless=False) as here:
        tenants = [here.key(Scope.RUN, tenant=name, budget_tokens=10**9) for name in ("one", "other")]
        async with here.client(tenants[0]) as one, here.client(tenants[1]) as other:
            debate = await started(one, format="freeform", baseline="single")
            await ended(one, debate)
            async with asyncio.timeout(30):
                while (await one.get(f"/v1/debates/{debate}")).json()["job"]["state"] != "ENDED":
                    await asyncio.sleep(0.02)
            (row,) = history(here.service.store, debate).baselines
            (baseline,) = row.debates
            assert (await one.get(f"/v1/debates/{baseline}")).status_code == 200
            assert (await other.get(f"/v1/debates/{baseline}")).status_code == 404
            for client in (one, other):
                assert baseline not in {each["id"] for each in (await client.get("/v1/debates")).json()["items"]}
            # The same motion of another tenant pays for a baseline of its own.
            again = await started(other, format="freeform", baseline="single")
            await ended(other, again)
            here.service._settle_over()
            spent = 10**9 - (await one.get("/v1/key")).json()["left_tokens"]
            records = [here.service.store.read(name) for name in (debate, baseline)]
            made = [event.event() for record in records for event in record if event.kind == "CallMade"]
            assert spent == sum(event.charged_tokens for event in made)
