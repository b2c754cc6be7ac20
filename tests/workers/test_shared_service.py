"""Servers and workers over one real PostgreSQL: budgets of keys hold over them, and no text breaks a statement."""

from __future__ import annotations

import asyncio
import base64
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from fleet_stage import Stage
from test_upgrading import check_upgrade

from disputatio._service.app import create_app
from disputatio._service.keys import KEYLESS
from disputatio._service.service import Choices, Service

pytestmark = pytest.mark.slow
ORDER = {"motion": "We should act", "format": "freeform"}


@asynccontextmanager
async def servers(fleet: Stage, count: int) -> AsyncIterator[list[tuple[Service, httpx.AsyncClient]]]:
    """Servers that leave their debates to workers, and a client of each."""
    found = []
    for _ in range(count):
        service = Service(Choices(fleet.url, keyless=False, workers=True))
        await service.open()
        transport = httpx.ASGITransport(create_app(service))
        found.append((service, httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60)))
    try:
        yield found
    finally:
        for service, client in found:
            await client.aclose()
            await service.close(0)


def key(service: Service, **more: Any) -> dict[str, str]:
    """The header of a new key."""
    return {"Authorization": f"Bearer {service.keys.add(replace(KEYLESS, name='test', **more))[1]}"}


async def settled(service: Service) -> None:
    """Wait until everything that was ordered is over and booked."""
    async with asyncio.timeout(60):
        while await service.runner.jobs(unfinished=True) or service.book.unsettled():
            await asyncio.sleep(0.05)


def spent(fleet: Stage) -> int:
    """Tokens by all records: of each call what it was charged, or what was reserved for it where it never came back."""
    engine = sa.create_engine(fleet.url, poolclass=sa.NullPool)
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT debate, kind, body FROM events ORDER BY debate, seq").all()
    calls: dict[tuple[str, str], int] = {}
    for debate, kind, text in rows:
        body = json.loads(text)
        if kind == "CallSent":
            calls[debate, body["call"]] = body["reserved"]["input_tokens"] + body["reserved"]["output_tokens"]
        elif kind == "CallMade":
            calls[debate, body["call"]] = body["charged_tokens"]
    return sum(calls.values())


async def left(client: httpx.AsyncClient, header: dict[str, str]) -> int:
    return int((await client.get("/v1/key", headers=header)).json()["left_tokens"])


async def test_a_database_of_the_version_before_is_taken_over(fleet: Stage) -> None:
    await check_upgrade(fleet.url, workers=True)


async def test_orders_and_resumptions_race_from_two_servers(fleet: Stage) -> None:
    fleet.worker("-c 10")
    async with servers(fleet, 2) as ((one, first), (_, second)):
        clients, mine, other = (first, second), key(one, budget_tokens=40_000), key(one, budget_tokens=40_000)
        body = {**ORDER, "budget_tokens": 9_000, "max_calls": 1}
        # A debate that is over gives back what it did not spend, so none may be over before the last order.
        fleet.provider.hold()
        answers = await asyncio.gather(
            *(clients[number % 2].post("/v1/debates", json=body, headers=mine) for number in range(12))
        )
        fleet.provider.release()
        # Four ceilings of 9,000 fit into 40,000.
        assert Counter(row.status_code for row in answers) == {201: 4, 429: 8}
        await settled(one)
        assert await left(second, mine) == 40_000 - spent(fleet)
        debate = next(row.json()["id"] for row in answers if row.status_code == 201)
        raised = {"budget_tokens": 20_000, "max_calls": 9}
        answers = await asyncio.gather(
            *(
                clients[number % 2].post(f"/v1/debates/{debate}/resume", json=raised, headers=header)
                for number in range(8)
                for header in (mine, other)
            )
        )
        assert Counter(row.status_code for row in answers) == {200: 1, 409: 15}
        before = await left(first, mine), await left(first, other)
        await settled(one)
        assert await left(second, mine) == 40_000 - spent(fleet)
        assert before[0] <= await left(first, mine)
        assert before[1] <= await left(first, other)


async def test_what_a_killed_worker_spent_is_booked_by_the_next(fleet: Stage) -> None:
    worker = fleet.worker("-c 4")
    async with servers(fleet, 1) as ((service, client),):
        mine = key(service, budget_tokens=100_000)
        fleet.provider.hold()
        answer = await client.post("/v1/debates", json={**ORDER, "budget_tokens": 60_000}, headers=mine)
        assert answer.status_code == 201, answer.text
        await fleet.provider.arrived.reach(1)
        assert await left(client, mine) == 40_000
        fleet.kill(worker)
        fleet.provider.release()
        fleet.worker("-c 4")
        await settled(service)
        record = (await client.get(f"/v1/debates/{answer.json()['id']}", headers=mine)).json()
        assert record["status"] in {"COMPLETE", "DEGRADED"}
        assert await left(client, mine) == 100_000 - spent(fleet)


async def test_a_fork_is_taken_over_from_a_killed_worker(fleet: Stage) -> None:
    first = fleet.worker("-c 4")
    async with servers(fleet, 1) as ((service, client),):
        mine = key(service, budget_tokens=500_000)
        answer = await client.post("/v1/debates", json={"motion": "We should act", "seed": 3}, headers=mine)
        parent = answer.json()["id"]
        await settled(service)
        before = len(fleet.provider.requests)
        fleet.provider.hold()
        answer = await client.post(f"/v1/debates/{parent}/fork", json={"strike": ["PRO-2"]}, headers=mine)
        assert answer.status_code == 201, answer.text
        fork = answer.json()["id"]
        await fleet.provider.arrived.reach(before + 1, 30)
        fleet.kill(first)
        fleet.provider.release()
        fleet.worker("-c 4")
        await settled(service)
        found = (await client.get(f"/v1/debates/{fork}/report", headers=mine)).json()
        assert found["status"] in {"COMPLETE", "DEGRADED"}
        assert found["forked"]["parent"] == parent
        assert (await client.get(f"/v1/debates/{fork}/verify", headers=mine)).is_success
        assert await left(client, mine) == 500_000 - spent(fleet)


async def test_a_debate_cancelled_at_a_worker_is_booked_when_it_stops(fleet: Stage) -> None:
    """Until then it counts whole: the worker may still call somebody."""
    fleet.worker("-c 4")
    async with servers(fleet, 1) as ((service, client),):
        mine = key(service, budget_tokens=100_000)
        fleet.provider.hold()
        answer = await client.post("/v1/debates", json={**ORDER, "budget_tokens": 60_000}, headers=mine)
        await fleet.provider.arrived.reach(1)
        await client.post(f"/v1/debates/{answer.json()['id']}/cancel", headers=mine)
        await settled(service)
        fleet.provider.release()
        assert 0 < spent(fleet) == 100_000 - await left(client, mine)


async def test_a_ceiling_of_the_server_binds_its_workers(fleet: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server may be configured with a ceiling, and its workers without; the key's budget must hold."""
    monkeypatch.setenv("DISPUTATIO_BUDGET_TOKENS", "9000")
    fleet.worker("-c 4")
    async with servers(fleet, 1) as ((service, client),):
        mine = key(service, budget_tokens=100_000)
        answer = await client.post("/v1/debates", json={**ORDER, "format": "structured"}, headers=mine)
        assert answer.status_code == 201, answer.text
        await settled(service)
        report = (await client.get(f"/v1/debates/{answer.json()['id']}/report", headers=mine)).json()
        assert report["budget"]["tokens"] == 9_000
        assert 0 < spent(fleet) <= 9_000


async def test_a_null_character_is_no_failure_of_the_store(fleet: Stage) -> None:
    """PostgreSQL keeps none; a file does. The caller is told so, and not where the store is."""
    fleet.worker("-c 4")
    async with servers(fleet, 1) as ((service, client),):
        mine = key(service)
        cursor = base64.urlsafe_b64encode(b"2026\x00 x").decode()
        debate = (await client.post("/v1/debates", json=ORDER, headers=mine)).json()["id"]
        turn = {"path": "opening/\x00", "content": {"speech": "x"}}
        evidence = [{"title": "a\x00.md", "text": "words"}]
        answers = [
            *[await client.get("/v1/debates", params={"status": "\x00"}, headers=mine)],
            *[await client.get("/v1/debates", params={"format": "a\x00"}, headers=mine)],
            *[await client.get("/v1/debates", params={"cursor": cursor}, headers=mine)],
            *[await client.get("/v1/metrics", params={"task_type": "\x00"}, headers=mine)],
            *[await client.post(f"/v1/debates/{debate}/turns", json=turn, headers=mine)],
            *[await client.post(f"/v1/debates/{debate}/turns", json={**turn, "passes": True}, headers=mine)],
            *[await client.post("/v1/debates", json={**ORDER, "motion": "We should \x00 act"}, headers=mine)],
            *[await client.post("/v1/debates", json={**ORDER, "evidence": evidence}, headers=mine)],
            *[await client.post("/v1/evidence", files={"file": ("a\x00.md", b"words")}, headers=mine)],
            *[await client.post("/v1/evidence", files={"file": ("a.md", b"wo\x00rds")}, headers=mine)],
        ]
        shown = [(row.request.url.path, row.status_code, row.text) for row in answers if row.status_code >= 500]
        assert not shown
        assert all("postgres" not in row.text for row in answers)
