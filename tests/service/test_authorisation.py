"""Every route by every scope, for one's own debate and another tenant's: nothing is open by being forgotten."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.routing import iter_route_contexts
from served import ended, served, started

from disputatio._service.access import COOKIE, Needs
from disputatio._service.app import create_app
from disputatio._service.keys import Scope
from disputatio.market.sources.files import load_example, serialize

OPEN = frozenset({"/openapi.json", "/health", "/ready", "/v1/schemas/debate", "/static/{name}", "/login"})
"""What needs no key. Each is here on purpose."""
UPLOAD = {"files": {"file": ("a.txt", b"a text")}}
BODIES: dict[str, dict[str, Any]] = {
    "POST /v1/debates": {"json": {"motion": "We should"}},
    "POST /v1/estimates": {"json": {"motion": "We should"}},
    "POST /v1/evidence": UPLOAD,
    "POST /v1/knowledge": UPLOAD,
    "POST /v1/evidence/fetch": {"json": {"url": "http://127.0.0.1/x"}},
    "POST /v1/gate": {"json": {"task_type": "contract"}},
    "POST /v1/debates/{debate_id}/turns": {"json": {"path": "opening/pro", "passes": True}},
    "POST /v1/debates/{debate_id}/resume": {"json": {}},
    "POST /v1/debates/{debate_id}/fork": {"json": {"strike": ["PRO-1"]}},
    "POST /v1/debates/{debate_id}/sign-off": {"json": {"by": "A", "decision": "approve"}},
    "POST /v1/debates/{debate_id}/outcome": {"json": {"result": "It held."}},
}


def operations(app: Any) -> list[tuple[str, str, Scope | None]]:
    """Method, path and needed scope of every route of the application."""
    found = []
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        needs = (
            [each.call for each in getattr(route, "dependant", None).dependencies]
            if hasattr(route, "dependant")
            else []
        )
        scopes = [each.scope for each in needs if isinstance(each, Needs)]
        assert len(scopes) <= 1
        needed = scopes[0] if scopes else None
        found += [(method, context.path, needed) for method in sorted(context.methods - {"HEAD"})]
    return found


def bodied(app: Any) -> set[str]:
    """The operations of the API that take a body."""
    return {
        f"{method} {context.path}"
        for context in iter_route_contexts(app.routes)
        if getattr(context.original_route, "body_field", None) is not None
        for method in context.methods
    }


def addressed(path: str, debate: str) -> str:
    filled = path.replace("{debate_id}", debate).replace("{form}", "json").replace("{key_id}", "00000000")
    query = {"turn": "?path=opening%2Fpro", "fork": "?strike=PRO-1"}
    return filled + query.get(path.rpartition("/")[2], "")


async def send(client: Any, method: str, path: str, debate: str) -> Any:
    body = BODIES.get(f"{method} {path}", {"data": {"a": "b"}} if method == "POST" else {})
    return await client.request(method, addressed(path, debate), **body)


@pytest.mark.slow
async def test_every_route_checks_scope_and_tenant(tmp_path):
    async with served(tmp_path, keyless=False) as here:
        rows = operations(create_app(here.service))
        assert len(rows) > 35
        assert {path for _, path, scope in rows if scope is None} == OPEN
        # A route that takes a body is sent one that fits, so that it is the scope that decides.
        assert bodied(create_app(here.service)) == set(BODIES)
        tokens = {scope: here.key(scope) for scope in Scope}
        other = here.key(Scope.ADMIN, tenant="other")
        async with here.client(tokens[Scope.RUN]) as client:
            debate = await started(client, format="freeform")
            await ended(client, debate)
        here.provider.hold()
        async with here.client() as nobody, here.client(other) as stranger:
            for method, path, scope in rows:
                if scope is None:
                    continue
                answer = await send(nobody, method, path, debate)
                expected = {303} if not path.startswith(("/v1", "/metrics")) else {401}
                assert answer.status_code in expected, (method, path, answer.text)
                if "{debate_id}" in path:
                    answer = await send(stranger, method, path, debate)
                    unknown = await send(stranger, method, path, "00000000")
                    assert answer.status_code == 404, (method, path, answer.text)
                    # Nobody can tell what is another tenant's from what is not there.
                    assert answer.text.replace(debate, "ID") == unknown.text.replace("00000000", "ID")
            for name, token in tokens.items():
                async with here.client(token) as client:
                    for method, path, scope in rows:
                        if scope is None or path == "/logout":
                            continue
                        answer = await send(client, method, path, debate)
                        assert (answer.status_code == 403) == (not name.covers(scope)), (
                            name,
                            method,
                            path,
                            answer.text,
                        )
                        assert answer.status_code < 500, (method, path, answer.text)
        async with here.client(tokens[Scope.RUN]) as client:
            kept = (await client.post("/v1/evidence", **UPLOAD)).json()["id"]
            base = {"file": ("base.json", serialize(load_example()))}
            known = (await client.post("/v1/knowledge", files=base)).json()["id"]
        async with here.client(other) as stranger:
            for order in ({"evidence_ids": [kept], "motion": "We should"}, {"format": "market", "knowledge_id": known}):
                assert (await stranger.post("/v1/debates", json=order)).status_code == 404
            assert (await stranger.get("/v1/debates")).json()["items"] == []
            assert (await stranger.get("/v1/metrics")).json()["debates"] == 0
            assert [row["tenant"] for row in (await stranger.get("/v1/keys")).json()] == ["other"]
            mine = here.service.keys.all("local")[0].id
            assert (await stranger.post(f"/v1/keys/{mine}/revoke")).status_code == 404


@pytest.mark.slow
async def test_a_revoked_key_ends_its_sessions(tmp_path):
    async with served(tmp_path, keyless=False) as here:
        token = here.key(Scope.RUN)
        async with here.client() as client:
            assert (await client.post("/login", data={"key": "dsp_00000000_" + "x" * 43})).status_code == 401
            answer = await client.post("/login", data={"key": token})
            assert answer.status_code == 303
            cookie = answer.headers["set-cookie"].lower()
            assert "httponly" in cookie
            assert "samesite=lax" in cookie
            assert (await client.get("/")).status_code == 200
            here.service.keys.revoke(here.service.keys.all()[0].id)
            assert (await client.get("/")).status_code == 303
            assert (await client.get("/v1/debates")).status_code == 401
        # The key itself is nowhere in the database.
        assert token.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("store*"))


@pytest.mark.slow
async def test_changes_by_cookie_need_a_page_token(tmp_path):
    async with served(tmp_path, keyless=False) as here, here.client() as client:
        await client.post("/login", data={"key": here.key(Scope.RUN)})
        caller = here.service.keys.session(client.cookies[COOKIE])
        order = {"motion": "We should"}
        assert (await client.post("/v1/debates", json=order)).status_code == 403
        assert (await client.post("/new", data=order)).status_code == 403
        assert (await client.post("/new", data={**order, "csrf": "x" * 32})).status_code == 403
        good = {**order, "csrf": caller.session}
        evil = {"Origin": "http://evil.example"}
        assert (await client.post("/new", data=good, headers=evil)).status_code == 403
        assert (await client.post("/new", data=good, headers={"Sec-Fetch-Site": "cross-site"})).status_code == 403
        assert (await client.post("/new", data=good)).status_code == 303


@pytest.mark.slow
async def test_without_a_key_other_sites_are_refused(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        order = {"motion": "We should"}
        assert (await client.get("/", headers={"Host": "rebound.example"})).status_code == 400
        assert (
            await client.post("/v1/debates", json=order, headers={"Origin": "http://evil.example"})
        ).status_code == 403
        assert (await client.post("/new", data=order)).status_code == 403
        # What a form of another site can send without asking is no JSON body.
        plain = await client.post("/v1/debates", content=b'{"motion": "x"}', headers={"Content-Type": "text/plain"})
        assert plain.status_code == 422
        assert (await client.get("/v1/debates")).json()["items"] == []
        # The first key that is made closes the server at once.
        here.key(Scope.READ)
        assert (await client.get("/v1/debates")).status_code == 401
        assert (await client.get("/")).status_code == 303
