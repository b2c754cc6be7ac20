"""Clocks that are set forward and back: nobody is locked out, nothing is given twice, and every record stays whole."""

from __future__ import annotations

import itertools
import re
import time
from datetime import timedelta
from decimal import Decimal

import httpx
import pytest
import sqlalchemy as sa
from attack_table import Attack
from fleet_stage import Stage
from served import Served, ended, served

from disputatio._service.keys import Period, Scope
from disputatio._service.limits import OwnRateLimits
from disputatio._service.problems import RefusedError
from disputatio._service.tables import rates, sessions

pytestmark = pytest.mark.slow
HOURS = (0, 30, -30, 24 * 400, -24 * 400, 1, -1)
"""How far the clock is set, one reading after the other."""
A_NEGATIVE_TIME = re.compile(r"(?<![\w.-])-\d[\d.,]* ?(?:s|min|h|seconds|minutes|hours)\b")
PER_MINUTE = 5


@pytest.fixture
def jumping(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock of the machine that is set forward or back between any two readings of it."""
    real, jumps = time.time_ns, itertools.cycle(HOURS)
    monkeypatch.setattr(time, "time_ns", lambda: real() + next(jumps) * 3_600 * 10**9)


async def every_page(client: httpx.AsyncClient) -> list[str]:
    """The ids in the list of debates, three to a page."""
    found, cursor = [], ""
    while cursor is not None:
        page = (await client.get("/v1/debates", params={"limit": 3, **({"cursor": cursor} if cursor else {})})).json()
        found += [row["id"] for row in page["items"]]
        cursor = page["next"]
    return found


@pytest.mark.parametrize("kind", ["file", "postgresql"])
async def test_debates_under_a_jumping_clock_stay_whole(tmp_path, attack: Attack, jumping, kind, request):
    store = "" if kind == "file" else request.getfixturevalue("fleet").url
    async with served(tmp_path, keyless=False, store=store) as here, here.client(here.key(Scope.ADMIN)) as client:
        begun = []
        for form in ("freeform", "structured", "review", "panel", "competition", "market"):
            body = {"format": form, **({} if form == "market" else {"motion": "We should split the service"})}
            answer = await client.post("/v1/debates", json={**body, "budget_tokens": 10**9})
            attack.check(answer.status_code == 201, answer.text[:200])
            begun.append(answer.json()["id"])
            attack.check((await ended(client, begun[-1]))["status"] in {"COMPLETE", "DEGRADED"}, form)
        for debate in begun:
            told = await client.post(f"/v1/debates/{debate}/sign-off", json={"by": "A", "decision": "approve"})
            attack.check(told.status_code == 200, told.text[:200])
            attack.check((await client.get(f"/v1/debates/{debate}/verify")).status_code == 200, "verify")
            for form in ("json", "md", "txt", "html", "dossier.md", "dossier.html"):
                told = await client.get(f"/v1/debates/{debate}/export/{form}")
                below = A_NEGATIVE_TIME.findall(re.sub(r"<[^>]*>", " ", told.text))
                attack.check(
                    told.status_code == 200 and not below, f"{form} of {debate}: {told.status_code} {below[:3]}"
                )
            told = (await client.get(f"/v1/debates/{debate}/export/json")).json()
            seconds = told["totals"]["seconds"]
            attack.check(seconds is None or seconds >= 0, f"{seconds} s")
        attack.check(sorted(await every_page(client)) == sorted(begun), "each debate is on one page")
        for address in ("/v1/metrics", "/metrics", "/v1/key", "/v1/keys"):
            attack.check((await client.get(address)).status_code == 200, address)


@pytest.mark.parametrize("kind", ["file", "postgresql"])
async def test_no_jump_of_the_clock_gives_a_budget_twice(tmp_path, attack: Attack, jumping, kind, request, monkeypatch):
    monkeypatch.setenv("LLM_PRICE", "30/120")
    store = "" if kind == "file" else request.getfixturevalue("fleet").url
    async with served(tmp_path, keyless=False, store=store) as here:
        budget = Decimal("0.90")
        token = here.key(Scope.RUN, budget_usd=budget, period=Period.TOTAL)
        async with here.client(token) as client:
            spent, last = Decimal(0), Decimal(1)
            for _ in range(6):
                answer = await client.post("/v1/debates", json={"motion": "We should split it", "format": "structured"})
                attack.check(answer.status_code in {201, 429}, answer.text[:200])
                last = Decimal(0)
                if answer.status_code == 201:
                    debate = answer.json()["id"]
                    await ended(client, debate)
                    told = (await client.get(f"/v1/debates/{debate}/export/json")).json()
                    last = Decimal(str(told["totals"]["usd"] or 0))
                spent += last
            attack.check(budget / 2 < spent <= budget, f"{spent} USD of {budget}")
            attack.check(last == 0, f"the last of six debates spent {last} USD")
            attack.figure(f"spent of {budget} USD", float(spent), "USD")


def taken(here: Served, token: str, most: int = 50) -> int:
    """How many requests a key may make at once."""
    key = here.service.keys.find(token)
    assert key is not None
    for count in range(most):
        try:
            here.service.rates.take(key.id, key.per_minute)
        except RefusedError:
            return count
    return most


async def test_a_database_whose_clock_is_set_locks_nobody_out(fleet: Stage, tmp_path, attack: Attack):
    async with served(tmp_path, keyless=False, store=fleet.url) as here:
        for hours in (-1, 1, -24 * 365, 24 * 365):
            token = here.key(Scope.READ, per_minute=PER_MINUTE)
            assert taken(here, token) == PER_MINUTE
            # The server's clock was so much further when these were counted.
            with here.service.database.writing() as connection:
                connection.execute(sa.update(rates).values(at=rates.c.at - timedelta(hours=hours)))
            found = taken(here, token)
            attack.check(1 <= found <= PER_MINUTE + 1, f"set by {hours} hours: {found} requests")
            attack.check(taken(here, token) <= 1, f"set by {hours} hours: the next ones")


def test_a_server_counts_requests_by_a_clock_that_nobody_sets(attack: Attack) -> None:
    now = [1_000.0]
    limits = OwnRateLimits(clock=lambda: now[0])

    def count() -> int:
        for number in range(50):
            try:
                limits.take("a key", PER_MINUTE)
            except RefusedError:
                return number
        return 50

    attack.check(count() == PER_MINUTE, "a minute's worth")
    for jump in (10**9, 60, 12):
        now[0] += jump
        attack.check(count() == min(PER_MINUTE, jump * PER_MINUTE // 60), f"after {jump} s")
    assert OwnRateLimits().clock is time.monotonic


async def test_no_session_outlives_its_hours_for_a_clock_set_back(tmp_path, attack: Attack, monkeypatch):
    async with served(tmp_path, keyless=False) as here, here.client() as browser:
        real = time.time_ns
        await browser.post("/login", data={"key": here.key(Scope.READ)})
        for hours, good in ((0, True), (11, True), (13, False), (24 * 365, False)):
            monkeypatch.setattr(time, "time_ns", lambda hours=hours: real() + hours * 3_600 * 10**9)
            attack.check(((await browser.get("/")).status_code == 200) == good, f"{hours} hours on")
        # Begun while the clock was a year ahead: it would last a year and a half day.
        monkeypatch.setattr(time, "time_ns", lambda: real() + 24 * 365 * 3_600 * 10**9)
        await browser.post("/login", data={"key": here.key(Scope.READ)})
        monkeypatch.setattr(time, "time_ns", real)
        with here.service.database.reading() as connection:
            assert any(str(row) > "2027" for row in connection.execute(sa.select(sessions.c.expires_at)).scalars())
        attack.check((await browser.get("/")).status_code == 303, "begun in a time to come")
