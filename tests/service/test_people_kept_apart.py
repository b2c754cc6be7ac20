"""A person who sits in a debate over the web learns nowhere what its rules keep from the seat, until it has ended."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import httpx
import pytest
from served import Served, ended, served, started

from disputatio._mcp.tools import Debates
from disputatio._service.keys import Scope
from disputatio.report.audience import WITHHELD
from disputatio.testing.instances import instance
from disputatio.testing.provider import FakeProvider

pytestmark = pytest.mark.slow
PRIVATE = {"direction", "scoring", "summation"}
SHORT = {"rules.free_speeches": 2}


def words_in(value: Any) -> list[str]:
    """The texts of a turn that nobody could come upon by chance."""
    if isinstance(value, str):
        return [value] if len(value) > 20 else []
    rows = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for row in rows for text in words_in(row)]


def turns_of(here: Served, debate: str) -> list[dict[str, Any]]:
    """The turns of the record itself, as nobody may read it yet."""
    return [json.loads(row.body) for row in here.service.store.read(debate) if row.kind == "TurnTaken"]


def secrets_of(here: Served, debate: str) -> list[str]:
    """What may not be shown: directions, what the judge wrote, and the scores made of it."""
    turns = turns_of(here, debate)
    public = json.dumps([row for row in turns if row["form"] not in PRIVATE])
    bodies = [row["content"] for row in turns if row["form"] in PRIVATE]
    bodies += [json.loads(row.body) for row in here.service.store.read(debate) if row.kind == "ScoreGiven"]
    return [text for text in words_in(bodies) if json.dumps(text)[1:-1] not in public]


async def streamed(client: httpx.AsyncClient, debate: str, most: int, **more: Any) -> str:
    """The frames of a stream up to the event with the number ``most``."""
    found = ""
    async with client.stream("GET", f"/v1/debates/{debate}/events", params={"text": "true", **more}) as stream:
        async for line in stream.aiter_lines():
            found += line + "\n"
            if line.startswith("id: ") and int(line[4:]) >= most:
                break
    return found


async def surfaces(here: Served, client: httpx.AsyncClient, debate: str) -> dict[str, str]:
    """Everything that a key of the tenant can read of a debate."""
    paths = [f"/v1/debates/{debate}", "/v1/debates", "/", f"/debates/{debate}", "/figures", "/v1/metrics"]
    paths += [f"/debates/{debate}/{name}" for name in ("transcript", "asked")]
    paths += [f"/v1/debates/{debate}/{name}" for name in ("report", "verify", "turns")]
    forms = ("json", "md", "txt", "html", "argdown", "dossier.md", "dossier.html")
    paths += [f"/v1/debates/{debate}/export/{form}" for form in forms]
    paths += [f"/compare?a={debate}&b={debate}"]
    answers = {path: await client.get(path) for path in paths}
    found = {path: f"{row.text} {row.headers}" for path, row in answers.items() if row.status_code != 403}
    assert all(row.status_code in {200, 403} for row in answers.values()), answers
    most = here.service.store.read(debate)[-1].seq
    found["stream"] = await streamed(client, debate, most)
    found["stream from the middle"] = await streamed(client, debate, most, after=str(most // 2))
    return found


async def asked(client: httpx.AsyncClient, debate: str) -> list[dict[str, Any]]:
    """What a caller is shown of the turns that people are asked for, once there is one or the debate is over."""
    async with asyncio.timeout(60):
        while True:
            rows: list[dict[str, Any]] = (await client.get(f"/v1/debates/{debate}/turns")).json()
            if rows or not (await client.get(f"/v1/debates/{debate}")).json()["goes_on"]:
                return rows
            await asyncio.sleep(0.02)


def plain(text: str) -> str:
    """A text with the signs that JSON and HTML escape as people read them."""
    for sign, written in (("\\u2019", "\u2019"), ("&#39;", "'"), ("&#34;", '"'), ('\\"', '"'), ("&amp;", "&")):
        text = text.replace(sign, written)
    return text


@pytest.mark.parametrize("seat", ["con_2", "judge"])
async def test_no_surface_leaks_private_information(tmp_path, seat):
    async with served(tmp_path) as here, here.client() as client:
        order = {"format": "competition", "people": [seat], "settings": SHORT}
        debate = await started(client, **order)
        looked = spoken = 0
        while rows := await asked(client, debate):
            hidden, shown = secrets_of(here, debate), await surfaces(here, client, debate)
            speeches = [
                text for row in turns_of(here, debate) if row["form"] == "speech" for text in words_in(row["content"])
            ]
            own = json.dumps(rows)
            for name, text in shown.items():
                found = plain(text)
                for secret in hidden:
                    # The own question may show what the own seat has heard.
                    assert secret not in found or (name.endswith("/turns") and secret in plain(own)), (name, secret)
            for name in ("stream", f"/debates/{debate}/transcript", f"/v1/debates/{debate}/export/txt"):
                flat = " ".join(plain(shown[name]).split())
                assert all(" ".join(text.split()) in flat for text in speeches), name
                spoken += len(speeches)
            assert not hidden or WITHHELD in shown[f"/debates/{debate}/transcript"]
            looked += bool(hidden)
            answer = await client.post(
                f"/v1/debates/{debate}/turns",
                json={"path": rows[0]["path"], "content": instance(rows[0]["form"], rows[0]["path"])},
            )
            assert answer.status_code == 200, answer.text
        assert looked
        assert spoken > 5
        assert (await ended(client, debate))["status"] == "COMPLETE"
        # It is over: everybody reads everything.
        hidden = secrets_of(here, debate)
        whole = plain((await client.get(f"/v1/debates/{debate}/report")).text)
        assert all(text in whole for text in hidden)
        assert "withheld" not in await streamed(client, debate, here.service.store.read(debate)[-1].seq)


TEAM = {"pro_2": "pro", "con_2": "con", "judge": "judge"}


def not_for(here: Served, debate: str, seat: str) -> list[str]:
    """What ``seat`` may not be told: directions of another team; for debaters also what the judge wrote and gave."""
    turns = turns_of(here, debate)
    public = json.dumps([row for row in turns if row["form"] not in PRIVATE])
    bodies = [row["content"] for row in turns if row["form"] in PRIVATE and row["seat"].partition("_")[0] != TEAM[seat]]
    if seat != "judge":
        bodies += [json.loads(row.body) for row in here.service.store.read(debate) if row.kind == "ScoreGiven"]
    return [text for text in words_in(bodies) if json.dumps(text)[1:-1] not in public]


async def test_keys_in_seats_of_one_debate_are_kept_apart(tmp_path):
    async with served(tmp_path, keyless=False) as here:
        clients = {seat: here.client(here.key()) for seat in TEAM}
        reader, late = here.client(here.key(Scope.READ)), here.client(here.key())
        order = {"format": "competition", "people": list(TEAM), "settings": SHORT}
        debate = await started(clients["pro_2"], **order)
        base = f"/v1/debates/{debate}"
        for seat, client in clients.items():
            assert (await client.post(f"{base}/seats/{seat}")).json()["yours"] is True
        assert (await clients["con_2"].post(f"{base}/seats/pro_2")).status_code == 403
        assert (await late.post(f"{base}/seats/con_2")).status_code == 403
        assert (await late.post(f"{base}/seats/pro_3")).status_code == 404
        assert [row["yours"] for row in (await clients["con_2"].get(f"{base}/seats")).json()] == [True, False, False]
        looked = dict.fromkeys(TEAM, 0)
        while (await reader.get(base)).json()["goes_on"]:
            for seat, client in clients.items():
                rows = (await client.get(f"{base}/turns")).json()
                assert {row["seat"] for row in rows} <= {seat}
                hidden = not_for(here, debate, seat)
                shown = {"turns": json.dumps(rows)}
                if rows and hidden:
                    looked[seat] += 1
                    shown |= await surfaces(here, client, debate)
                    shown["page"] = (await client.get(f"/debates/{debate}/turn", params={"path": rows[0]["path"]})).text
                for name, text in shown.items():
                    assert not [one for one in hidden if one in plain(text)], (seat, name)
                for row in rows:
                    for other in (*clients.values(), late):
                        if other is not client:
                            stolen = await other.post(f"{base}/turns", json={"path": row["path"], "passes": True})
                            assert stolen.status_code == 403
                            assert not any(one["seat"] == seat for one in (await other.get(f"{base}/turns")).json())
                    content = instance(row["form"], row["path"])
                    answer = await client.post(f"{base}/turns", json={"path": row["path"], "content": content})
                    assert answer.status_code == 200, answer.text
        assert all(count > 0 for count in looked.values()), looked
        assert (await reader.get(base)).json()["status"] == "COMPLETE"
        whole = plain((await reader.get(f"{base}/report")).text)
        assert all(text in whole for seat in TEAM for text in not_for(here, debate, seat))
        for client in (*clients.values(), reader, late):
            await client.aclose()


async def test_a_free_seat_hides_private_information(tmp_path):
    async with served(tmp_path, keyless=False) as here, here.client(here.key()) as ada, here.client(here.key()) as ben:
        order = {"format": "competition", "people": ["judge"], "settings": SHORT}
        debate = await started(ada, **order)
        base, given = f"/v1/debates/{debate}", 0
        while given < 2:
            rows = await asked(ada, debate)
            content = instance(rows[0]["form"], rows[0]["path"])
            assert (await ada.post(f"{base}/turns", json={"path": rows[0]["path"], "content": content})).is_success
            given += 1
        # The judge has notes now, and another key does not see that it is asked.
        assert (await asked(ada, debate))[0]["heard"]
        assert (await ben.get(f"{base}/turns")).json() == []
        here.service.keys.revoke(here.service.keys.all()[0].id)
        # A key that was revoked sits nowhere.
        (row,) = (await ben.get(f"{base}/turns")).json()
        assert {post["channel"] for post in row["heard"]} == {"public"}
        assert (row["task"], row["role"], row["reasons"]) == ("", "", [])
        page = await ben.get(f"/debates/{debate}/turn", params={"path": row["path"]})
        assert page.status_code == 303
        assert (await ben.post(f"{base}/seats/judge")).json()["yours"] is True
        (row,) = (await ben.get(f"{base}/turns")).json()
        assert "judge_notes" in {post["channel"] for post in row["heard"]}


@pytest.mark.parametrize("format_name", ["structured", "panel"])
async def test_what_is_said_at_the_same_time_is_shown_afterwards(tmp_path, format_name):
    """Nobody reads another's opening, or first proposal, before the own one is given."""
    people = ["con"] if format_name == "structured" else ["ada"]
    more = {} if format_name == "structured" else {"debaters": ["ada", "ben", "cleo"], "options": ["yes", "no"]}
    async with served(tmp_path) as here, here.client() as client:
        debate = await started(client, format=format_name, people=people, **more)
        (row,) = await asked(client, debate)
        async with asyncio.timeout(30):
            while len(turns_of(here, debate)) < (1 if format_name == "structured" else 2):
                await asyncio.sleep(0.02)
        hidden = words_in([one["content"] for one in turns_of(here, debate)])
        shown = await surfaces(here, client, debate)
        assert hidden
        assert not [(name, text) for name, told in shown.items() for text in hidden if text in plain(told)]
        content = instance(row["form"], row["path"])
        assert (
            await client.post(f"/v1/debates/{debate}/turns", json={"path": row["path"], "content": content})
        ).is_success
        async with asyncio.timeout(60):
            while True:
                page = " ".join(plain((await client.get(f"/debates/{debate}")).text).split())
                if all(" ".join(text.split()) in page for text in hidden):
                    break
                await asyncio.sleep(0.05)


async def test_what_is_written_meanwhile_is_not_shown_either(tmp_path):
    provider = FakeProvider(chunk_latency_s=0.005)
    async with served(tmp_path, provider=provider) as here, here.client() as client:
        debate = await started(client, people=["con"])
        (row,) = await asked(client, debate)
        async with asyncio.timeout(60):
            while not turns_of(here, debate):
                await asyncio.sleep(0.02)
        told = await streamed(client, debate, here.service.store.read(debate)[-1].seq)
        assert "event: text" not in told
        content = instance(row["form"], row["path"])
        await client.post(f"/v1/debates/{debate}/turns", json={"path": row["path"], "content": content})
        assert await asked(client, debate)


async def test_a_debate_stopped_by_a_player_keeps_secrets(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        debate = await started(client, format="competition", people=["con_2"], settings=SHORT)
        await asked(client, debate)
        await client.post(f"/v1/debates/{debate}/cancel")
        stopped = await ended(client, debate)
        assert stopped["status"] == "INTERRUPTED"
        hidden = secrets_of(here, debate)
        assert hidden
        shown = await surfaces(here, client, debate)
        assistant = Debates(here.service.store, here.service.runner)
        shown["follow"] = json.dumps(await assistant.follow(debate, 0, 0))
        for view in ("briefing", "report", "json", "argdown"):
            shown[f"read as {view}"] = json.dumps(await assistant.read(debate, view, 0))
        for view in ("text", "text --full", "json", "md", "html", "argdown"):
            words = ["show", debate, "--as", *view.split(), "--store", here.service.choices.store]
            done = await asyncio.to_thread(
                subprocess.run, [sys.executable, "-m", "disputatio", *words], capture_output=True, text=True, timeout=60
            )
            assert debate in done.stdout, done.stderr
            shown[f"show as {view}"] = done.stdout
        assert WITHHELD in shown["follow"]
        assert WITHHELD in shown["show as text --full"]
        assert not [(name, text) for name, told in shown.items() for text in hidden if text in plain(told)]
