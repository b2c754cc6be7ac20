"""A request over HTTP: in groups or in earlier words, refused in the command line's sentences, and estimated."""

from __future__ import annotations

import json
from typing import Any

from served import MOTION, served

from disputatio._service.keys import Scope
from disputatio.engine.estimate import make_estimate
from disputatio.proposals import proposal_of, read_request
from disputatio.request.remote import request_schema

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"bugdet": {"usd": "1"}}, "has no option 'bugdet'", "Did you mean budget?"),
    ({"judging": {"judgse": 3}}, "has no option 'judging.judgse'", "Did you mean judges?"),
    ({"judging": {"judges": 12}}, "judges is 12 (from judging.judges of the request)", "a whole number from 1 to 9"),
    ({"judging": {"method": "meen"}}, "judging.method is 'meen'", "one of mean, median"),
    ({"judging": 3}, "judging is 3, and it should be a table", ""),
    ({"judging": {"criteria": {"truth": {"weigt": 1}}}}, "has no option 'weigt'", "Did you mean weight?"),
    ({"format": {"name": "panel", "treshold": 2}}, "has no option 'treshold'", "Did you mean threshold?"),
    ({"format": {"name": "review", "threshold": 2}}, "threshold is for panel debates", "choose the format panel"),
    ({"personality": {"pro_1": "none"}}, "personality is for competition debates", "choose the format competition"),
    ({"format": {"name": "panel", "threshold": 0}}, "threshold is 0", "a whole number from 1 to 10000"),
    ({"format": "pannel"}, "no format called 'pannel'", "Did you mean panel?"),
    ({"format": {"name": "panel", "escalate": "person"}}, "may not set escalate", "Leave it out"),
    ({"tools": {"mcp": {"x": "sh"}}}, "may not set tools.mcp", "Leave it out"),
    ({"prompts": "/etc"}, "may not set prompts", "Leave it out"),
    ({"evidence": [{"title": "a.md", "txt": "x"}]}, "has no option 'txt'", "Did you mean text?"),
    ({"evidence": [{"title": "a.md"}]}, "evidence.0: give either text or content", ""),
    ({"evidence": "notes.md"}, "evidence is 'notes.md', and it should be a list", ""),
    ({"seats": "openai:gpt-5"}, "seats is 'openai:gpt-5', and it should be a table", ""),
    ({"budget": {"usd": "-1"}}, "budget.usd is '-1'", "a positive amount of US dollars"),
    ({"limits": {"max_tokens": {"opening": 0}}}, "is 0", "a whole number from 1 to 1000000"),
]


async def test_what_is_wrong_is_said_at_every_depth(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        for path in ("debates", "estimates"):
            for more, cause, step in REFUSED:
                answer = await client.post(f"/v1/{path}", json={"motion": MOTION, **more})
                assert answer.status_code == 422, (more, answer.text)
                assert cause in answer.json()["detail"]
                assert step in answer.json()["next_step"]
            for body in ([], [1], None, 5, "x", True):
                answer = await client.post(f"/v1/{path}", json=body)
                assert answer.status_code == 422, (body, answer.text)
        assert (await client.get("/v1/debates")).json()["items"] == []


async def test_groups_and_earlier_words_ask_for_the_same(tmp_path, monkeypatch):
    groups = {
        "format": {"name": "panel", "debaters": ["ada", "bo"], "threshold": 2},
        "budget": {"tokens": 90_000, "usd": "0.50"},
        "limits": {"closing_words": 150},
    }
    flat = {
        "format": "panel",
        "debaters": ["ada", "bo"],
        "threshold": 2,
        "budget_tokens": 90_000,
        "budget_usd": "0.50",
        "settings": {"limits.closing_words": 150},
    }
    monkeypatch.setenv("LLM_PRICE", "0.5/1.5")
    async with served(tmp_path) as here, here.client() as client:
        client.headers["Idempotency-Key"] = "one"
        here.provider.hold()
        answers = [await client.post("/v1/debates", json={"motion": MOTION, **row}) for row in (groups, flat)]
        assert [row.status_code for row in answers] == [201, 200], [row.text for row in answers]
        one, other = [row.json() for row in answers]
        assert one["id"] == other["id"]
        here.provider.release()


async def test_openapi_has_the_fields_of_the_request(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        text = (await client.get("/openapi.json")).text.replace("#/components/schemas/", "#/$defs/")
        known = json.loads(text)["components"]["schemas"]
        own = request_schema()
        posted = known["PostedRequest"]["properties"]
        assert posted.keys() - own["properties"].keys() == {"evidence_ids", "knowledge_id"}
        assert {name: posted[name] for name in own["properties"]} == own["properties"]
        assert {name: known[name] for name in own["$defs"]} == own["$defs"]
        assert '"local"' not in text


async def test_an_estimate_is_that_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.setenv("LLM_PRICE", "0.5/1.5")
    body = {"motion": MOTION, "format": {"name": "panel", "debaters": ["ada", "bo"]}, "budget": {"tokens": 900_000}}
    async with served(tmp_path) as here, here.client() as client:
        answer = await client.post("/v1/estimates", json=body)
        assert answer.status_code == 200, answer.text
        expected = await make_estimate(proposal_of(read_request(body), {}))
        assert answer.json() == json.loads(json.dumps(expected.as_json()))
        found = answer.json()
        assert float(found["least"]["usd"]) <= float(found["usd"]) <= float(found["most"]["usd"])
        assert here.provider.requests == []
        assert (await client.get("/v1/debates")).json()["items"] == []


async def test_an_estimate_takes_uploads_and_the_scope_run(tmp_path):
    async with served(tmp_path, keyless=False) as here:
        async with here.client(here.key(Scope.READ)) as reader:
            assert (await reader.post("/v1/estimates", json={"motion": MOTION})).status_code == 403
        async with here.client(here.key(Scope.RUN)) as client:
            kept = await client.post("/v1/evidence", files={"file": ("a.md", b"Release took 3.8 hours. " * 400)})
            plain, cited = [
                (await client.post("/v1/estimates", json={"motion": MOTION, **more})).json()
                for more in ({}, {"evidence_ids": [kept.json()["id"]]})
            ]
            assert plain["input_tokens"] < cited["input_tokens"]
            missing = await client.post("/v1/estimates", json={"motion": MOTION, "evidence_ids": [f"ev_{'0' * 16}"]})
            assert missing.status_code == 404
