"""No key of a server spends more than its budget: by ordering, by resuming, through another key or on another day."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import MOTION, Served, ended, served, started

from disputatio._service.keys import Period

pytestmark = pytest.mark.slow
PRICE = "30/120"
"""Dollars a million tokens: a structured debate costs more than 1 USD."""
BUDGET = Decimal("1.00")
DAY_NS = 86_400 * 10**9


@asynccontextmanager
async def priced(folder: Path, **more: Any) -> AsyncIterator[Served]:
    """A server whose models have a price."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLM_PRICE", PRICE)
        async with served(folder, keyless=False, **more) as here:
            yield here


def events_of(folder: Path, debate: str) -> list[tuple[str, str, dict[str, Any]]]:
    """The raw record: when, what kind, and the body of each event."""
    query = "SELECT at, kind, body FROM events WHERE debate = ? ORDER BY seq"
    with sqlite3.connect(folder / "store.sqlite") as connection:
        rows = [(at, kind, json.loads(body)) for at, kind, body in connection.execute(query, (debate,))]
    connection.close()
    return rows


def spent(folder: Path, debates: Iterable[str], *, day: str = "", after: int = 0) -> Decimal:
    """What records say was spent: by whole calls, on one day where it is given, after so many events."""
    found = Decimal(0)
    for debate in debates:
        for at, kind, body in events_of(folder, debate)[after:]:
            if kind == "CallMade" and at.startswith(day):
                found += Decimal(body["cost_usd"])
    return found


async def over(client: httpx.AsyncClient, debate: str) -> dict[str, Any]:
    """The debate once it is over and its order too, so that it can be resumed."""
    found = await ended(client, debate)
    async with asyncio.timeout(20):
        while found["job"]["state"] in {"RUNNING", "WAITING"}:
            await asyncio.sleep(0.02)
            found = (await client.get(f"/v1/debates/{debate}")).json()
    return found


async def resumed(client: httpx.AsyncClient, debate: str, **ceilings: Any) -> int:
    """The status of a resumption, once the debate is over again where it went on."""
    answer = await client.post(f"/v1/debates/{debate}/resume", json=ceilings)
    if answer.is_success:
        await over(client, debate)
    else:
        assert answer.headers["content-type"] == "application/problem+json", answer.text
    return answer.status_code


async def test_resuming_with_another_key_passes_no_budget(tmp_path, attack):
    """The owner's budget holds whoever resumes, and the resumer's whoever ordered."""
    async with priced(tmp_path) as here:
        owner, rich = here.key(budget_usd=BUDGET), here.key()
        async with here.client(owner) as one, here.client(rich) as two:
            debates = [await started(one, budget_usd="0.48") for _ in range(2)]
            for debate in debates:
                assert (await over(one, debate))["status"] == "DEBATE_TRUNCATED"
            for client, ceiling in ((two, "1.40"), (two, "0.60"), (one, "0.70"), (two, "0.55"), (two, "")):
                for debate in debates:
                    await resumed(client, debate, **({"budget_usd": ceiling} if ceiling else {}))
                    cost = spent(tmp_path, debates)
                    attack.check(cost <= BUDGET, f"{cost} USD of {BUDGET} after resuming to {ceiling}")
            attack.figure("spent of 1.00 through another key", float(cost), "USD")
            # The ledger says what the record says.
            assert Decimal((await one.get("/v1/key")).json()["left_usd"]) == BUDGET - cost


async def test_resuming_many_debates_of_others_passes_no_budget(tmp_path, attack):
    async with priced(tmp_path) as here:
        rich, poor = here.key(), here.key(budget_usd=BUDGET)
        async with here.client(rich) as one, here.client(poor) as two:
            debates = [await started(one, budget_usd="0.50") for _ in range(4)]
            for debate in debates:
                await over(one, debate)
            before = {debate: len(events_of(tmp_path, debate)) for debate in debates}
            statuses = Counter([await resumed(two, debate, budget_usd="1.20") for debate in debates])
            statuses += Counter([await resumed(two, debate, budget_usd="0.80") for debate in debates])
            caused = sum((spent(tmp_path, [row], after=before[row]) for row in debates), Decimal(0))
            attack.check(caused <= BUDGET, f"{caused} USD of {BUDGET} by resuming four debates")
            attack.check(caused > 0, "a resumption within the budget")
            attack.check(statuses[429], "a resumption without room is refused")
            attack.figure("caused of 1.00 by resuming", float(caused), "USD")
            assert Decimal((await two.get("/v1/key")).json()["left_usd"]) == BUDGET - caused


async def test_a_debate_of_yesterday_is_paid_from_todays_budget(tmp_path, attack, monkeypatch):
    shift, now = 0, time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + shift)
    async with priced(tmp_path) as here, here.client(here.key(budget_usd=BUDGET, period=Period.DAY)) as client:
        debates = []
        for _ in range(3):
            debates.append(await started(client, budget_usd="0.45"))
            await over(client, debates[-1])
            # They may be of three days, so that each has a budget.
            shift += DAY_NS
        for ceiling in ("0.95", "0.80", "0.60"):
            for debate in debates:
                await resumed(client, debate, budget_usd=ceiling)
                day = max(events_of(tmp_path, row)[-1][0][:10] for row in debates)
                cost = spent(tmp_path, debates, day=day)
                attack.check(cost <= BUDGET, f"{cost} USD of {BUDGET} a day after resuming to {ceiling}")
        attack.check(cost > 0, "what the day leaves can be spent on older debates")
        attack.figure("spent of 1.00 a day", float(cost), "USD")
        assert Decimal((await client.get("/v1/key")).json()["left_usd"]) == BUDGET - cost
        shift += DAY_NS
        assert Decimal((await client.get("/v1/key")).json()["left_usd"]) == BUDGET


@pytest.mark.parametrize("unit", ["usd", "tokens"])
async def test_parallel_orders_are_refused_in_words(tmp_path, attack, unit):
    """A hundred orders without a ceiling at once: each begins, or is told that the budget is spent."""
    limits = {"usd": {"budget_usd": Decimal("1.00")}, "tokens": {"budget_tokens": 30_000}}[unit]
    async with priced(tmp_path) as here, here.client(here.key(per_minute=100_000, **limits)) as client:
        client.timeout = httpx.Timeout(300)
        here.provider.hold()
        body = {"motion": MOTION, "format": "freeform"}
        answers = await asyncio.gather(*(client.post("/v1/debates", json=body) for _ in range(100)))
        # With nearly nothing left there is no other answer either.
        answers += [await client.post("/v1/debates", json=body) for _ in range(20)]
        for answer in answers:
            problem = answer.json().get("type", "")
            refused = answer.status_code == 429 and problem.endswith(":budget-spent")
            attack.check(answer.status_code == 201 or refused, f"{answer.status_code} {problem}")
        debates = [answer.json()["id"] for answer in answers if answer.status_code == 201]
        assert debates
        # The last may begin: a debate whose share is too small for a call ends at once and gives it back.
        assert 429 in {answer.status_code for answer in answers}
        here.provider.release()
        for debate in debates:
            await over(client, debate)
        if unit == "usd":
            cost = spent(tmp_path, debates)
            attack.check(cost <= limits["budget_usd"], f"{cost} USD by parallel orders")
            attack.figure("debates begun of 100 at once", len(debates))


async def test_resumptions_at_once_are_one(tmp_path, attack):
    async with priced(tmp_path) as here:
        owner, other = here.key(budget_usd=BUDGET), here.key(budget_usd=BUDGET)
        async with here.client(owner) as one, here.client(other) as two:
            debate = await started(one, budget_usd="0.40")
            await over(one, debate)
            statuses = await asyncio.gather(
                *(resumed(client, debate, budget_usd="0.80") for client in (one, two) for _ in range(8))
            )
            attack.check(statuses.count(200) == 1, f"one of 16 resumptions at once, not {statuses.count(200)}")
            attack.check(set(statuses) <= {200, 409, 429}, sorted(set(statuses)))
            attack.check(spent(tmp_path, [debate]) <= Decimal("0.80"), "the ceiling of a resumption")
