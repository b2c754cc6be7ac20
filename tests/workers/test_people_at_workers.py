"""People take seats in debates that workers hold: asked and answered over the API, whatever becomes of the worker."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
from fleet_stage import Ground, Stage

from disputatio._service import open_questions
from disputatio._service.app import create_app
from disputatio._service.keys import KEYLESS
from disputatio._service.service import Choices, Service
from disputatio.participants.human import Situation
from disputatio.participants.human.surface import PendingTurn
from disputatio.record.sql import SqlStore
from disputatio.record.verified import read_verified
from disputatio.testing.instances import instance
from disputatio.workers.job_table import JobTable
from disputatio.workers.port import Job, JobState
from disputatio.workers.questions import QuestionTable
from strategies import FULL


@asynccontextmanager
async def api(fleet: Stage) -> AsyncIterator[tuple[Service, httpx.AsyncClient]]:
    """A server that leaves its debates to workers, and a client of it."""
    service = Service(Choices(fleet.url, keyless=True, workers=True))
    await service.open()
    transport = httpx.ASGITransport(create_app(service))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
        try:
            yield service, client
        finally:
            await service.close(0)


async def test_whoever_asks_anew_finds_the_question_as_it_was_left(file_store: SqlStore) -> None:
    book, job_table = QuestionTable(file_store), JobTable(file_store)
    job_table.add_job(Job("d1", JobState.WAITING, "debates", 0, "2026-01-31"), {"motion": "We should act"}, None)
    around = Situation("d1", "We should act", "English", "rules", "", "task", (("a", "A", "text"),))
    first = PendingTurn("opening/con", "con", "opening", around, (), {"type": "object"})
    again = replace(first, because="rule", reasons=("It is too long.",), last={"speech": "long"})
    book.ask(first)
    assert book.submit_answer("d1", "opening/con", {"speech": "long"})
    assert not book.submit_answer("d1", "opening/con", {"speech": "another"})
    assert book.violations("d1", "opening/con") is None
    # A worker that died now was not the last to be told.
    book.ask(first)
    place = ("d1", "opening/con")
    assert book.answers([place])[place].content == {"speech": "long"}
    assert book.asked("d1") == []
    book.took(*place, ["It is too long."])
    assert book.violations(*place) == ("It is too long.",)
    book.ask(again)
    # Whoever takes over asks from the beginning, and the person still sees why and what to change.
    book.ask(first)
    assert book.asked("d1") == [again]
    assert book.violations(*place) == ("It is too long.",)
    assert book.submit_answer(*place, None)
    assert book.answers([place])[place].content is None
    # They go with the debate.
    job_table.finish("d1", JobState.ENDED)
    assert not book.submit_answer(*place, None)


@pytest.mark.slow
async def test_a_key_has_one_rate_limit_over_all_servers(fleet: Stage) -> None:
    async with api(fleet) as (one, first), api(fleet) as (_, second):
        token = one.keys.add(replace(KEYLESS, name="test", per_minute=3))[1]
        headers = {"Authorization": f"Bearer {token}"}
        answers = [await client.get("/v1/key", headers=headers) for client in (first, second, first, second, first)]
        assert [row.status_code for row in answers] == [200, 200, 200, 429, 429]
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 20


async def asked(client: httpx.AsyncClient, debate: str, *, besides: str = "") -> dict[str, Any]:
    """The one question that is open, once there is one at another path than ``besides``."""
    async with asyncio.timeout(60):
        while True:
            rows = (await client.get(f"/v1/debates/{debate}/turns")).json()
            if rows and rows[0]["path"] != besides:
                return dict(rows[0])
            await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_a_turn_handed_in_while_its_worker_is_gone_is_taken(
    fleet_ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn handed in while its worker is gone is taken by the next."""
    monkeypatch.setattr(open_questions, "TAKEN_S", 0.1)
    with fleet_ground.stage() as fleet:
        first = fleet.worker("-c 4 --drain 0.1")
        async with api(fleet) as (service, client):
            order = {"motion": "We should act", "format": "freeform", "people": ["con"]}
            debate = (await client.post("/v1/debates", json=order)).json()["id"]
            fleet.ordered.append(debate)
            question = await asked(client, debate)
            path = question["path"]
            assert question["seat"] == "con"
            assert [row["seat"] for row in question["heard"]] == ["pro"]
            # What was shown is what any other process would show: it comes whole out of the database.
            (kept,) = await service.open_questions.asked(debate)
            assert PendingTurn.from_json(json.loads(json.dumps(kept.as_json()))) == kept
            turns = f"/v1/debates/{debate}/turns"
            assert (await client.post(turns, json={"path": path, "content": {"speech": 7}})).status_code == 422
            assert f"turn?path={path}" in (await client.get(f"/debates/{debate}")).text
            if FULL:
                fleet.kill(first)
            else:
                # That a worker is dead is known after some ten seconds; that one went in peace, at once.
                first.send(signal.SIGTERM)
            await fleet.until(lambda *_: not first.lives, 20)
            content = instance(question["form"], "said while nobody listened")
            answers = await asyncio.gather(
                *(client.post(turns, json={"path": path, "content": content}) for _ in range(2))
            )
            assert sorted(row.status_code for row in answers) == [200, 409]
            taken = next(row for row in answers if row.status_code == 200)
            # Nobody is there who could say which rules it breaks.
            assert taken.json() == {"breaches": None}
            assert (await client.get(turns)).json() == []
            fleet.worker("-c 4")
            monkeypatch.setattr(open_questions, "TAKEN_S", 30.0)
            question = await asked(client, debate, besides=path)
            given = {"path": question["path"], "content": instance(question["form"], "said to one who listens")}
            assert isinstance((await client.post(turns, json=given)).json()["breaches"], list)
            while (await client.get(f"/v1/debates/{debate}")).json()["goes_on"]:
                rows = (await client.get(turns)).json()
                if rows and (rows[0]["path"] != question["path"] or rows[0]["reasons"]):
                    await client.post(turns, json={"path": rows[0]["path"], "passes": True})
                await asyncio.sleep(0.05)
        store = fleet.store()
        record = [row.event() for row in read_verified(store, debate)]
        kinds = [type(row).__name__ for row in record]
        said = [row for row in record if type(row).__name__ == "TurnTaken" and str(row.path) == path]
        tried = [row for row in record if type(row).__name__ == "AnswerRejected" and str(row.path) == path]
        assert kinds.count("DebateResumed") == 1
        assert [row.content for row in said] == [content]
        # The answer that had not the form stands in the record, once.
        assert len(tried) == 1
        assert QuestionTable(store).asked(debate) == []
        await store.aclose()
