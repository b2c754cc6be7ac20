"""A key that was revoked and a session that ended are worth nothing at once, also in streams that are open."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from attack_table import Attack
from served import Served, served, started

from disputatio._service.access import COOKIE
from disputatio._service.keys import Scope
from disputatio._service.tables import sessions

pytestmark = pytest.mark.slow
SOON_S = 10.0
"""A second by the server's own rule; the rest is room for a busy machine."""
MOST, AT_ONCE = 5, 60


async def last_event(client: httpx.AsyncClient, path: str, opened: asyncio.Event) -> list[str]:
    """All events of a stream until it ends."""
    found = []
    async with client.stream("GET", path) as stream:
        assert stream.status_code == 200, stream.status_code
        async for line in stream.aiter_lines():
            opened.set()
            found += [line.removeprefix("event: ")] if line.startswith("event: ") else []
    return found


async def seconds_to_end(here: Served, client: httpx.AsyncClient, path: str, take_away: Any) -> tuple[float, list[str]]:
    """How long a stream goes on after something was taken away, and its events."""
    opened = asyncio.Event()
    following = asyncio.create_task(last_event(client, path, opened))
    await asyncio.wait_for(opened.wait(), 10)
    began = time.monotonic()
    await take_away()
    # The debate goes on meanwhile: there is something to be told.
    here.provider.release(1)
    done, _ = await asyncio.wait({following}, timeout=SOON_S)
    took = time.monotonic() - began
    if not done:
        following.cancel()
        return took, []
    return took, following.result()


@pytest.mark.parametrize("kind", ["file", "postgresql"])
async def test_a_stream_ends_with_the_key_or_session_it_began_with(tmp_path, attack: Attack, kind, request):
    if kind == "postgresql" and not attack.thorough:
        pytest.skip("over PostgreSQL: in `make attack` and in full runs")
    store = "" if kind == "file" else request.getfixturevalue("fleet").url
    async with served(tmp_path, keyless=False, store=store) as here, here.client(here.key(Scope.ADMIN)) as admin:
        here.provider.hold()
        debate = await started(admin, format="freeform")
        path, page = f"/v1/debates/{debate}/events", f"/v1/debates/{debate}/events?text=true"

        def last_key() -> str:
            return here.service.keys.all()[-1].id

        async def revoke(key: str) -> None:
            assert (await admin.post(f"/v1/keys/{key}/revoke")).status_code == 200

        async def lose_key() -> None:
            token = here.key(Scope.READ)
            key = last_key()
            async with here.client(token) as client:
                took, events = await seconds_to_end(here, client, path, lambda: revoke(key))
                attack.check(took < SOON_S and "end" not in events, f"revoked key: {took:.1f} s, {events}")
                attack.figure("slowest end", took, "s")
                attack.check((await client.get(path)).status_code == 401, "it comes back")

        async def lose_session(what: str) -> None:
            token = here.key(Scope.READ)
            key = last_key()
            async with here.client() as browser:
                await browser.post("/login", data={"key": token})
                csrf = re.findall(r'name="csrf" value="([^"]+)"', (await browser.get("/")).text)[0]

                async def log_out() -> None:
                    assert (await browser.post("/logout", data={"csrf": csrf})).status_code == 303

                async def expire() -> None:
                    with here.service.database.writing() as connection:
                        own = sa.update(sessions).where(sessions.c.key == key)
                        connection.execute(own, {"expires_at": "2020-01-01T00:00:00.000000Z"})

                cookie = browser.cookies[COOKIE]
                way = {"revoked": lambda: revoke(key), "logged out": log_out, "expired": expire}[what]
                took, events = await seconds_to_end(here, browser, page, way)
                attack.check(took < SOON_S and "end" not in events, f"session {what}: {took:.1f} s, {events}")
                attack.figure("slowest end", took, "s")
                browser.cookies.set(COOKIE, cookie)
                attack.check((await browser.get(path)).status_code == 401, f"session {what} comes back")

        # At once, since all of it is waiting for streams to end.
        await asyncio.gather(lose_key(), *map(lose_session, ("revoked", "logged out", "expired")))
        here.provider.release()


async def test_a_keyless_stream_ends_when_the_first_key_is_made(tmp_path, attack: Attack):
    async with served(tmp_path) as here, here.client() as client:
        here.provider.hold()
        debate = await started(client, format="freeform")

        async def make_key() -> None:
            here.key(Scope.READ)

        took, events = await seconds_to_end(here, client, f"/v1/debates/{debate}/events", make_key)
        attack.check(took < SOON_S and "end" not in events, f"{took:.1f} s, {events}")
        here.provider.release()


async def test_no_rush_opens_more_streams_than_a_tenant_may_have(tmp_path, attack: Attack):
    async with served(tmp_path, keyless=False, most_streams=MOST) as here, AsyncExitStack() as stack:
        here.provider.hold()
        tokens = [here.key(Scope.RUN, per_minute=10_000) for _ in range(3)]
        clients = [await stack.enter_async_context(here.client(tokens[n % 3])) for n in range(AT_ONCE)]
        path = f"/v1/debates/{await started(clients[0], format='freeform')}/events"
        opened, finish = [], asyncio.Event()

        async def follow(client: httpx.AsyncClient) -> int:
            async with client.stream("GET", path) as stream:
                if stream.status_code == 200:
                    opened.append(client)
                    await finish.wait()
                return stream.status_code

        following = [asyncio.create_task(follow(client)) for client in clients]
        async with asyncio.timeout(60):
            while len(opened) + sum(task.done() for task in following) < AT_ONCE:
                await asyncio.sleep(0.02)
        attack.check(len(opened) == MOST, f"{len(opened)} streams at once")
        attack.figure("streams of 60 asked for at once", len(opened))
        finish.set()
        answers = await asyncio.gather(*following)
        attack.check(answers.count(429) == AT_ONCE - MOST, sorted(answers))
        # Whoever left makes room again.
        async with asyncio.timeout(30):
            while any(here.service.streams.values()):
                await asyncio.sleep(0.02)
        async with clients[0].stream("GET", path) as stream:
            attack.check(stream.status_code == 200, "room again")
        here.provider.release()
