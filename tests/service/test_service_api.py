"""The API over a real socket: debates are started once, read, exported, stopped, paid for; refusals say what to do."""

from __future__ import annotations

import asyncio
import json
from datetime import date
from decimal import Decimal

import jsonschema_rs
import pytest
from served import MOTION, ended, served, started

from disputatio._service import service
from disputatio._service.keys import Period, Scope
from disputatio.market.sources.builder import build, open_source
from disputatio.market.sources.files import serialize
from disputatio.report.json_export import export_schema

pytestmark = pytest.mark.slow


async def test_a_debate_is_started_followed_read_exported_and_verified(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        debate = await started(client, evidence=[{"title": "log.md", "text": "Release took 3.8 hours."}])
        over = await ended(client, debate)
        assert over["status"] in {"COMPLETE", "DEGRADED"}
        assert over["goes_on"] is False
        report = (await client.get(f"/v1/debates/{debate}/report")).json()
        jsonschema_rs.validator_for(export_schema()).validate(report)
        assert report["motion"]["text"] == MOTION
        for form in ("json", "md", "txt", "html", "argdown", "dossier.md", "dossier.html"):
            answer = await client.get(f"/v1/debates/{debate}/export/{form}")
            assert answer.status_code == 200
            assert MOTION in answer.text
            assert "attachment" in answer.headers["content-disposition"]
        verified = (await client.get(f"/v1/debates/{debate}/verify")).json()
        assert verified["head"] == over["head"]
        listed = (await client.get("/v1/debates")).json()["items"]
        assert [row["id"] for row in listed] == [debate]
        # No key of a provider is in any of it.
        assert "secret-of-the-server" not in json.dumps([report, over, listed])


async def test_an_idempotency_key_starts_one_debate(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        headers = {"Idempotency-Key": "one"}
        order = {"motion": MOTION}
        answers = await asyncio.gather(*(client.post("/v1/debates", json=order, headers=headers) for _ in range(4)))
        assert sorted(row.status_code for row in answers) == [200, 200, 200, 201]
        assert len({row.json()["id"] for row in answers}) == 1
        other = await client.post("/v1/debates", json={"motion": "Another"}, headers=headers)
        assert other.status_code == 422
        assert other.json()["type"] == "urn:disputatio:problem:idempotency"


async def test_bad_requests_are_refused_and_leave_nothing(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        for order, word in (
            ({}, "motion"),
            ({"motion": MOTION, "format": "strctured"}, "structured"),
            ({"motion": MOTION, "seats": {"pro": "openai:gpt-5 at http://127.0.0.1/"}}, "address"),
            ({"motion": MOTION, "seats": {"pro": "embedded:/etc/passwd"}}, "weights"),
            ({"motion": MOTION, "seats": {"nobody": "embedded"}}, "nobody"),
            ({"motion": MOTION, "settings": {"mcp_servers.x": "sh -c true"}}, "mcp_servers"),
            ({"motion": MOTION, "settings": {"seats.pro.base_url": "http://127.0.0.1"}}, "seats.pro"),
            ({"motion": MOTION, "seats": {"pro": "openai:gpt-5"}}, "key"),
            ({"motion": MOTION, "evidence_ids": ["ev_0123456789abcdef"]}, "upload"),
            ({"motion": MOTION, "store": "sqlite:////tmp/x"}, "store"),
            ({"motion": MOTION, "budget_usd": "1"}, "price"),
            ({"motion": MOTION, "knowledge": "example"}, "market"),
            ({"format": "market", "knowledge": "/etc/passwd"}, "JSON"),
            ({"format": "market", "seats": {"all": "rules:/etc/passwd.toml"}}, "file"),
            ({"motion": MOTION, "format": "/srv/own_format.py"}, "structured"),
        ):
            answer = await client.post("/v1/debates", json=order, headers={"Idempotency-Key": "same"})
            problem = answer.json()
            assert answer.status_code in {404, 422}, (order, answer.text)
            assert answer.headers["content-type"] == "application/problem+json"
            assert word in problem["detail"] + problem["next_step"], problem
            assert problem["next_step"]
        assert (await client.get("/v1/debates")).json()["items"] == []
        assert (
            await client.post("/v1/debates", json={"motion": MOTION}, headers={"Idempotency-Key": "same"})
        ).is_success


async def test_bodies_that_are_too_large_or_no_json_are_refused(tmp_path):
    async with served(tmp_path, upload_bytes=20_000) as here, here.client() as client:

        async def chunks():
            for _ in range(50):
                yield b" " * 100_000

        kind = {"Content-Type": "application/json"}
        for answer, status in (
            (await client.post("/v1/debates", content=b"x" * 4_000_001, headers=kind), 413),
            (await client.post("/v1/debates", content=chunks(), headers=kind), 413),
            (await client.post("/v1/debates", content=b"{", headers=kind), 422),
            (await client.post("/v1/evidence", files={"file": ("a.txt", b"x" * 30_000)}), 413),
            (await client.post("/v1/evidence", files={"file": ("a.pdf", b"%PDF-1.7 nonsense")}), 422),
        ):
            assert answer.status_code == status
            assert answer.json()["detail"]


async def test_uploads_become_sources_or_knowledge(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        base = serialize(build(date(2008, 10, 31), open_source("packages")))
        known = await client.post("/v1/knowledge", files={"file": ("base.json", base)})
        assert (known.json()["subject"], known.json()["day"]) == ("S&P 500", "2008-10-31")
        changed = {"file": ("base.json", base.replace(b'"S&P 500"', b'"FTSE 100"', 1))}
        assert (await client.post("/v1/knowledge", files=changed)).status_code == 422
        rules = {"format": "market", "seats": {"all": "rules"}}
        # Uploaded, sent whole, or built here as of the same day: the debate is the same, word for word.
        held = []
        for order in ({"knowledge_id": known.json()["id"]}, {"knowledge": json.loads(base)}, {"as_of": "2008-10-31"}):
            debate = await started(client, motion="", **rules, **order)
            await ended(client, debate)
            report = (await client.get(f"/v1/debates/{debate}/report")).json()
            assert report["motion"]["text"] == "Will S&P 500 rise within a month?"
            held.append((report["evidence"], report["phases"], report["scores"]))
        assert held[0] == held[1] == held[2]
        assert len(held[0][2]) >= 5
        # Nobody asked a model.
        assert here.provider.requests == []
        kept = (await client.post("/v1/evidence", files={"file": ("log.md", b"# Log\n\n3.8 hours")})).json()
        debate = await started(client, evidence_ids=[kept["id"]])
        report = (await client.get(f"/v1/debates/{debate}/report")).json()
        assert [row["source_id"] for row in report["evidence"]] == ["log"]


async def test_stopping_ends_the_debate_and_its_stream(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        here.provider.hold()
        debate = await started(client, format="freeform")
        following = asyncio.create_task(ended(client, debate))
        await here.provider.arrived.reach(1)
        assert (await client.post(f"/v1/debates/{debate}/cancel")).json() == {"cancelled": True}
        assert (await following)["status"] == "INTERRUPTED"
        assert (await client.post(f"/v1/debates/{debate}/cancel")).json() == {"cancelled": False}
        here.provider.release()


async def test_a_keys_budget_is_never_exceeded(tmp_path):
    async with served(tmp_path, keyless=False) as here:
        token = here.key(Scope.RUN, budget_tokens=60_000, period=Period.DAY)
        async with here.client(token) as client:
            here.provider.hold()
            first = await started(client, budget_tokens=40_000)
            refused = await client.post("/v1/debates", json={"motion": MOTION, "budget_tokens": 30_000})
            assert refused.status_code == 429
            assert int(refused.headers["retry-after"]) > 0
            assert "20000 tokens" in refused.json()["detail"]
            here.provider.release()
            await ended(client, first)
            await settled(here, first)
            left = (await client.get("/v1/key")).json()["left_tokens"]
            assert 20_000 < left < 60_000
            # Without a ceiling of its own an order gets one that fits.
            second = await started(client)
            budget = (await client.get(f"/v1/debates/{second}/report")).json()["budget"]
            assert 0 < budget["tokens"] <= left
            await ended(client, second)
            await settled(here, second)
            assert (await client.get("/v1/key")).json()["left_tokens"] >= 0


@pytest.mark.slow
async def test_the_largest_panel_is_begun_while_its_client_waits(tmp_path):
    """Its key has a budget and the order has no ceiling, so the answer waits for an estimate. That took minutes."""
    async with served(tmp_path, keyless=False) as here:
        token = here.key(Scope.RUN, budget_tokens=60_000, period=Period.DAY)
        async with here.client(token) as client, asyncio.timeout(60):
            debate = await started(client, format="panel", debaters=[f"d{n}" for n in range(40)], rounds=10)
            assert (await client.get(f"/v1/debates/{debate}/report")).json()["budget"]["tokens"] == 60_000
            await ended(client, debate)
            await settled(here, debate)
            assert (await client.get("/v1/key")).json()["left_tokens"] >= 0


@pytest.mark.parametrize(
    "budget",
    [
        {"budget_tokens": 1},
        {"budget_usd": Decimal("0.000000001")},
        {"budget_usd": Decimal("0.0000000001")},
        {"budget_usd": Decimal(1), "budget_tokens": 1},
    ],
)
async def test_a_key_with_next_to_nothing_left_is_told_so(tmp_path, monkeypatch, budget):
    monkeypatch.setenv("LLM_PRICE", "10/40")
    async with served(tmp_path, keyless=False) as here, here.client(here.key(**budget)) as client:
        for more in ({}, {"budget_usd": "2", "budget_tokens": 50_000}):
            refused = await client.post("/v1/debates", json={"motion": MOTION, **more})
            assert refused.status_code == 429, refused.text
            assert refused.json()["type"] == "urn:disputatio:problem:budget-spent"
            assert int(refused.headers["retry-after"]) > 0
        assert here.provider.requests == []
        assert (await client.get("/v1/debates")).json()["items"] == []


async def test_an_order_sent_again_stands_when_nothing_is_left(tmp_path):
    async with served(tmp_path, keyless=False) as here, here.client(here.key(budget_tokens=30_000)) as client:
        body, headers = {"motion": MOTION, "budget_tokens": 30_000}, {"Idempotency-Key": "one"}
        here.provider.hold()
        first = await client.post("/v1/debates", json=body, headers=headers)
        assert (await client.get("/v1/key")).json()["left_tokens"] == 0
        again = await client.post("/v1/debates", json=body, headers=headers)
        assert (first.status_code, again.status_code) == (201, 200)
        assert first.json()["id"] == again.json()["id"]
        other = await client.post("/v1/debates", json={"motion": MOTION}, headers={"Idempotency-Key": "two"})
        assert other.status_code == 429
        here.provider.release()


async def test_a_long_ceiling_of_the_server_fits_into_an_order(tmp_path, monkeypatch):
    """Ceilings of a configuration may have any number of digits; those of an order have sixteen."""
    monkeypatch.setenv("LLM_PRICE", "0.01/0.04")
    monkeypatch.setenv("DISPUTATIO_BUDGET_USD", "0.1234567890123456789")
    async with served(tmp_path, keyless=False) as here, here.client(here.key(budget_usd=Decimal(1))) as client:
        debate = await started(client, format="freeform")
        assert (await ended(client, debate))["status"] in {"COMPLETE", "DEGRADED"}
        report = (await client.get(f"/v1/debates/{debate}/report")).json()
        assert Decimal(report["budget"]["usd"]) == Decimal("0.123456789")


async def settled(here, debate):
    """Wait until the budget knows what the debate has spent."""
    async with asyncio.timeout(20):
        while debate in here.service.book.unsettled():
            await asyncio.sleep(0.02)


async def test_too_many_requests_are_told_when_to_come_again(tmp_path):
    async with served(tmp_path, keyless=False) as here, here.client(here.key(Scope.READ, per_minute=3)) as client:
        statuses = [(await client.get("/v1/debates")).status_code for _ in range(5)]
        assert statuses == [200, 200, 200, 429, 429]
        assert 1 <= int((await client.get("/v1/debates")).headers["retry-after"]) <= 20


async def test_lists_are_paged_without_gap_or_repetition(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        made = [await started(client, format="freeform") for _ in range(3)]
        for debate in made:
            await ended(client, debate)
        seen, cursor = [], None
        for _ in range(3):
            page = (
                await client.get("/v1/debates", params={"limit": 1} | ({"cursor": cursor} if cursor else {}))
            ).json()
            seen += [row["id"] for row in page["items"]]
            cursor = page["next"]
        assert seen == made[::-1]
        assert cursor is None
        assert (await client.get("/v1/debates", params={"cursor": "nonsense"})).status_code == 422


async def test_an_altered_record_is_a_problem_of_its_own(tmp_path):
    import sqlite3

    async with served(tmp_path) as here, here.client() as client:
        debate = await started(client, format="freeform")
        await ended(client, debate)
        with sqlite3.connect(tmp_path / "store.sqlite") as connection:
            connection.execute("UPDATE events SET body = replace(body, 'split', 'merge') WHERE seq = 1")
        connection.close()
        answer = await client.get(f"/v1/debates/{debate}/verify")
        assert answer.status_code == 409
        assert answer.json()["type"] == "urn:disputatio:problem:altered"
        assert "altered" in (await client.get(f"/v1/debates/{debate}/export/dossier.md")).text.lower()


async def test_a_store_that_fails_is_not_named_to_callers(tmp_path):
    import sqlite3

    async with served(tmp_path) as here, here.client() as client:
        with sqlite3.connect(tmp_path / "store.sqlite") as connection:
            connection.execute("DROP TABLE service_uploads")
        connection.close()
        answer = await client.post("/v1/evidence", files={"file": ("a.md", b"words")})
        assert answer.status_code == 503
        assert answer.json()["type"] == "urn:disputatio:problem:store"
        assert str(tmp_path) not in answer.text
        assert answer.json()["next_step"]


async def test_a_truncated_debate_resumes_with_a_higher_ceiling(tmp_path):
    async with served(tmp_path, keyless=False) as here:
        token = here.key(Scope.RUN, budget_tokens=200_000)
        async with here.client(token) as client:
            debate = await started(client, budget_tokens=9_000)
            assert (await ended(client, debate))["status"] == "DEBATE_TRUNCATED"
            await settled(here, debate)
            spent = 200_000 - (await client.get("/v1/key")).json()["left_tokens"]
            assert 0 < spent <= 9_000
            path = f"/v1/debates/{debate}/resume"
            same = await client.post(path, json={})
            assert same.status_code == 422
            assert "ceiling" in same.json()["detail"]
            assert (await client.post(path, json={"budget_tokens": 300_000})).status_code == 429
            before = len(here.provider.requests)
            answer = await client.post(path, json={"budget_tokens": 100_000})
            assert answer.status_code == 200, answer.text
            over = await ended(client, debate)
            assert over["status"] in {"COMPLETE", "DEGRADED"}
            assert len(here.provider.requests) > before
            assert (await client.post(path, json={})).status_code == 409
            await settled(here, debate)
            assert 200_000 - (await client.get("/v1/key")).json()["left_tokens"] > spent
            assert (await client.get(f"/v1/debates/{debate}/verify")).is_success


async def test_the_gate_figures_sign_off_and_outcome_are_at_hand(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        gate = await client.post("/v1/gate", json={"task_type": "contract", "downside_usd": 25_000})
        assert gate.json()["debate"] is True
        debate = await started(client, format="freeform")
        await ended(client, debate)
        signed = await client.post(f"/v1/debates/{debate}/sign-off", json={"by": "A. Reader", "decision": "approve"})
        assert signed.status_code == 200
        refused = await client.post(f"/v1/debates/{debate}/sign-off", json={"by": "A. Reader", "decision": "reject"})
        assert refused.status_code == 422
        assert (
            await client.post(f"/v1/debates/{debate}/outcome", json={"result": "It held.", "verdict": "right"})
        ).is_success
        figures = (await client.get("/v1/metrics")).json()
        assert figures["debates"] == 1
        assert figures["sign_offs"] == {"approve": 1}
        assert Decimal(1) == figures["outcomes"]["right"]


async def test_a_number_of_a_request_is_no_text_and_no_boolean(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        question = {"task_type": "contract"}
        for path, body, place in (
            ("gate", {**question, "confidence": True}, "confidence"),
            ("gate", {**question, "downside_usd": True}, "downside_usd"),
            ("gate", {**question, "cost_usd": True}, "cost_usd"),
            ("gate", {**question, "confidence": "0.5"}, "confidence"),
            ("debates", {"motion": MOTION, "judges": True}, "judges"),
            ("debates", {"motion": MOTION, "budget_tokens": "9000"}, "budget.tokens"),
            ("debates", {"motion": MOTION, "budget": {"tokens": "9000"}}, "budget.tokens"),
            ("debates", {"motion": MOTION, "both_orders": 1}, "both_orders"),
            ("debates/x/resume", {"max_calls": True}, "max_calls"),
            ("debates/x/resume", {"budget_usd": True}, "budget_usd"),
            ("debates/x/turns", {"path": "opening/pro", "passes": 1}, "passes"),
        ):
            answer = await client.post(f"/v1/{path}", json=body)
            assert answer.status_code == 422, (path, body)
            assert place in answer.json()["detail"]
        for number in ("1" * 5_000, "NaN", "Infinity", "1e400"):
            raw = f'{{"task_type": "contract", "confidence": {number}}}'
            answer = await client.post("/v1/gate", content=raw, headers={"Content-Type": "application/json"})
            assert answer.status_code in {400, 422}, (number[:9], answer.text)
        assert (await client.get("/v1/debates")).json()["items"] == []


async def test_a_debate_that_has_not_started_has_nothing_to_verify(tmp_path, monkeypatch):
    async with served(tmp_path) as here, here.client() as client:
        # No place is free, and nobody waits for one.
        monkeypatch.setattr(here.service.runner, "_concurrency", 0)
        monkeypatch.setattr(service, "PATIENCE_S", 0.0)
        debate = await started(client)
        assert (await client.get(f"/v1/debates/{debate}")).json()["status"] == "WAITING"
        answer = await client.get(f"/v1/debates/{debate}/verify")
        assert answer.status_code == 409
        assert "has not started" in answer.json()["detail"]
