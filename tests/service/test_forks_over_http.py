"""Forks over HTTP and on the pages: previewed, started once, charged, refused in a sentence, resumed after a stop."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

import pytest
from served import Served, ended, served, started

from disputatio._service.keys import Scope
from disputatio.record.events import DebateForked
from disputatio.testing.provider import FakeProvider

pytestmark = pytest.mark.slow


async def finished(client: Any, **order: Any) -> str:
    debate = await started(client, format="structured", seed=3, **order)
    assert (await ended(client, debate))["status"] in {"COMPLETE", "DEGRADED"}
    return debate


def parent_of(here: Served, debate: str) -> DebateForked:
    row = here.service.store.read(debate)[1].event()
    assert isinstance(row, DebateForked)
    return row


async def test_a_fork_is_previewed_started_once_and_names_its_parent(tmp_path):
    async with served(tmp_path, keyless=False) as here, here.client(here.key(budget_tokens=400_000)) as client:
        parent = await finished(client)
        before = (await client.get(f"/v1/debates/{parent}")).json()["head"]
        path = f"/v1/debates/{parent}/fork"
        looked = (await client.get(path, params={"strike": "PRO-2"})).json()
        assert (looked["parent"], looked["struck"], looked["head"]) == (parent, ["PRO-2"], before)
        assert looked["kept"] == ["opening/pro", "opening/con"]
        assert 0 < len(looked["asked_again"]) <= looked["calls"]
        sent = len(here.provider.requests)
        body, header = {"strike": ["PRO-2"], "budget_tokens": 100_000}, {"Idempotency-Key": "once"}
        answer = await client.post(path, json=body, headers=header)
        assert answer.status_code == 201, answer.text
        again = await client.post(path, json=body, headers=header)
        assert (again.status_code, again.json()["id"]) == (200, answer.json()["id"])
        other = await client.post(path, json={**body, "strike": ["PRO-1"]}, headers=header)
        assert other.status_code == 422
        fork = answer.json()["id"]
        assert (await ended(client, fork))["status"] in {"COMPLETE", "DEGRADED"}
        row = parent_of(here, fork)
        assert (row.parent, row.head, row.struck, list(row.kept)) == (parent, before, ("PRO-2",), looked["kept"])
        assert 0 < len(here.provider.requests) - sent <= looked["calls"] + 3
        assert (await client.get(f"/v1/debates/{parent}")).json()["head"] == before
        assert (await client.get(f"/v1/debates/{fork}/verify")).is_success
        report = (await client.get(f"/v1/debates/{fork}/report")).json()
        assert report["forked"]["parent"] == parent
        opened = here.service.store.read(fork)[0].event()
        assert opened.budget["tokens"] == 100_000


async def test_a_repeated_fork_is_answered_if_its_parent_changed(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        parent = await finished(client)
        path, body = f"/v1/debates/{parent}/fork", {"strike": ["PRO-2"]}
        first = await client.post(path, json=body, headers={"Idempotency-Key": "once"})
        assert first.status_code == 201, first.text
        await ended(client, first.json()["id"])
        with sqlite3.connect(tmp_path / "store.sqlite") as connection:
            connection.execute("UPDATE events SET body = '{}' WHERE debate = ? AND seq = 3", (parent,))
        again = await client.post(path, json=body, headers={"Idempotency-Key": "once"})
        assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
        assert not (await client.post(path, json=body, headers={"Idempotency-Key": "twice"})).is_success


async def test_a_small_budget_lowers_the_ceilings_of_the_parent(tmp_path):
    async with served(tmp_path, keyless=False) as here:
        async with here.client(here.key()) as client:
            parent = await finished(client, budget_tokens=900_000)
        path = f"/v1/debates/{parent}/fork"
        async with here.client(here.key(budget_tokens=200_000)) as client:
            given = await client.post(path, json={"strike": ["PRO-2"], "budget_tokens": 300_000})
            assert given.status_code == 429, "a ceiling that was asked for is not lowered"
            answer = await client.post(path, json={"strike": ["PRO-2"]})
            assert answer.status_code == 201, answer.text
            fork = answer.json()["id"]
            await ended(client, fork)
            assert 0 < here.service.store.read(fork)[0].event().budget["tokens"] <= 200_000


async def test_what_cannot_be_forked_is_refused_in_a_sentence(tmp_path):
    async with served(tmp_path, keyless=False) as here:
        mine, other, reads = here.key(), here.key(tenant="other"), here.key(Scope.READ)
        async with here.client(mine) as client:
            parent = await finished(client)
            free = await started(client, format="freeform")
            await ended(client, free)
            path = f"/v1/debates/{parent}/fork"
            sent = len(here.provider.requests)

            async def refused(status: int, words: str, where: str = path, **body: Any) -> None:
                answer = await client.post(where, json={"strike": ["PRO-2"], **body})
                found = answer.json()
                assert (answer.status_code, words in found["detail"]) == (status, True), answer.text
                assert found["next_step"]

            await refused(422, "'PRO-9' is not a part of the debate", strike=["PRO-9"])
            await refused(422, "strike", strike=[])
            await refused(422, "strike", strike=["PRO-2"] * 300)
            await refused(422, "budget_usd", budget_usd=-1)
            await refused(422, "the format freeform cannot be forked", f"/v1/debates/{free}/fork")
            await refused(404, "There is no debate", "/v1/debates/nothing/fork")
            here.provider.hold()
            running = await started(client, format="structured")
            await refused(422, "has not ended", f"/v1/debates/{running}/fork")
            await client.post(f"/v1/debates/{running}/cancel")
            here.provider.release()
        async with here.client(other) as client:
            answer = await client.post(path, json={"strike": ["PRO-2"]})
            assert answer.status_code == 404
            assert (await client.get(path, params={"strike": "PRO-2"})).status_code == 404
        async with here.client(reads) as client:
            assert (await client.get(path, params={"strike": "PRO-2"})).status_code == 200
            assert (await client.post(path, json={"strike": ["PRO-2"]})).status_code == 403
        async with here.client(here.key(budget_tokens=1_000)) as client:
            poor = await client.post(path, json={"strike": ["PRO-2"]})
            assert poor.status_code == 429
            assert "budget" in poor.json()["detail"]
        assert len(here.provider.requests) <= sent + 2, "only the debate that was stopped had sent anything"


async def test_a_fork_that_was_stopped_goes_on_from_its_record(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        parent = await finished(client)
        answer = await client.post(f"/v1/debates/{parent}/fork", json={"strike": ["CON-1"], "max_calls": 2})
        fork = answer.json()["id"]
        assert (await ended(client, fork))["status"] == "DEBATE_TRUNCATED"
        more = await client.post(f"/v1/debates/{fork}/resume", json={"max_calls": 100})
        assert more.status_code == 200, more.text
        assert (await ended(client, fork))["status"] in {"COMPLETE", "DEGRADED"}
        assert parent_of(here, fork).parent == parent
        assert (await client.get(f"/v1/debates/{fork}/verify")).is_success


async def test_a_reader_confirms_a_fork_on_its_page(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        parent = await finished(client)
        path = f"/debates/{parent}/fork"
        assert f'data-fork="{path}"' in (await client.get(f"/debates/{parent}")).text
        shown = await client.get(path, params={"strike": ["PRO-2", "CON-1"]})
        assert shown.status_code == 200
        words = " ".join(re.sub(r"<[^>]+>", " ", shown.text).split())
        assert "Struck PRO-2, CON-1 Kept 2 of 7 turns" in words
        assert "Asked again 5 turns" in words
        names = re.findall(r'name="(csrf|once)" value="([^"]+)"', shown.text)
        form = {**dict(names), "strike": ["PRO-2", "CON-1"], "budget_tokens": "90000"}
        foreign = await client.post(path, data={**form, "csrf": "guessed"})
        assert foreign.status_code == 403
        wrong = await client.post(path, data={**form, "budget_tokens": "-3"})
        assert wrong.status_code == 422
        assert "is not a ceiling" in wrong.text
        assert 'value="-3"' in wrong.text
        first = await client.post(path, data=form)
        assert first.status_code == 303
        second = await client.post(path, data=form)
        assert second.headers["location"] == first.headers["location"], "the same form starts one debate"
        fork = first.headers["location"].rsplit("/", 1)[1]
        await ended(client, fork)
        assert parent_of(here, fork).struck == ("PRO-2", "CON-1")
        nothing = await client.get(path)
        assert (nothing.status_code, "No part to strike is named" in nothing.text) == (422, True)
        unknown = await client.get(path, params={"strike": "<script>"})
        assert (unknown.status_code, "<script>" in unknown.text) == (422, False)


async def test_no_link_to_a_fork_where_there_can_be_none(tmp_path):
    async with served(tmp_path, keyless=False, provider=FakeProvider()) as here:
        async with here.client(here.key()) as client:
            parent, free = await finished(client), await started(client, format="freeform")
            await ended(client, free)
            csrf = {"key": here.key(Scope.READ)}
        async with here.client(follow_redirects=True) as browser:
            assert (await browser.post("/login", data=csrf)).is_success
            assert "data-fork=" not in (await browser.get(f"/debates/{parent}")).text
        async with here.client(follow_redirects=True) as browser:
            assert (await browser.post("/login", data={"key": here.key()})).is_success
            assert "data-fork=" in (await browser.get(f"/debates/{parent}")).text
            assert "data-fork=" not in (await browser.get(f"/debates/{free}")).text
