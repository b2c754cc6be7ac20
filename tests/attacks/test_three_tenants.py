"""Three tenants try every operation on what the others have: to the letter, it is answered as what is not there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from attack_table import Attack
from served import Served, ended, served, started
from test_authorisation import operations

from disputatio._service.access import COOKIE, CSRF_FIELD
from disputatio._service.app import create_app
from disputatio._service.keys import Scope
from disputatio.market.sources.files import load_example, serialize

pytestmark = pytest.mark.slow
TENANTS = ("north", "south", "west")
UNKNOWN = {"debate": "0badc0de", "key": "0badc0de", "evidence": "ev_" + "0" * 16, "knowledge": "kb_" + "0" * 16}
"""Ids of the same length that are nobody's."""
OPEN_PATHS = {"/openapi.json", "/health", "/ready", "/v1/schemas/debate", "/static/{name}", "/login"}


@dataclass
class Tenant:
    """One tenant: its clients, and what it has."""

    name: str
    api: httpx.AsyncClient
    browser: httpx.AsyncClient
    csrf: str = ""
    debates: list[str] = field(default_factory=list)
    evidence: str = ""
    knowledge: str = ""
    keys: list[str] = field(default_factory=list)

    @property
    def mark(self) -> str:
        """A word that stands in everything that it wrote."""
        return f"secretof{self.name}"

    def owned(self) -> Iterator[tuple[str, str]]:
        """All that it has, by kind and id."""
        yield from (("debate", debate) for debate in self.debates)
        yield from (("evidence", self.evidence), ("knowledge", self.knowledge))
        yield from (("key", key) for key in self.keys)


@asynccontextmanager
async def three_tenants(here: Served) -> AsyncIterator[list[Tenant]]:
    """Three tenants, each with a debate that ended, one with a person in a seat, uploads, keys and a browser."""
    async with AsyncExitStack() as stack:
        found = []
        for name in TENANTS:
            token = here.key(Scope.ADMIN, tenant=name, per_minute=100_000)
            here.key(Scope.READ, tenant=name)
            api = await stack.enter_async_context(here.client(token))
            browser = await stack.enter_async_context(here.client())
            await browser.post("/login", data={"key": token})
            session = here.service.keys.session(browser.cookies[COOKIE])
            assert session is not None
            tenant = Tenant(name, api, browser, csrf=session.session)
            tenant.keys = [row["id"] for row in (await api.get("/v1/keys")).json()]
            await fill(tenant)
            found.append(tenant)
        yield found


async def fill(tenant: Tenant) -> None:
    api, mark = tenant.api, tenant.mark
    file = {"file": (f"{mark}.txt", f"The {mark} is 40 metres long.")}
    tenant.evidence = (await api.post("/v1/evidence", files=file)).json()["id"]
    base = {"file": ("base.json", serialize(load_example()))}
    tenant.knowledge = (await api.post("/v1/knowledge", files=base)).json()["id"]
    order = {"motion": f"We should publish {mark}", "format": "freeform"}
    # The same idempotency key as the others use for theirs.
    whole = await api.post(
        "/v1/debates", json={**order, "evidence_ids": [tenant.evidence]}, headers={"Idempotency-Key": "one"}
    )
    assert whole.status_code == 201, whole.text
    waits = await started(api, **order, people=["con"])
    tenant.debates = [whole.json()["id"], waits]
    await ended(api, tenant.debates[0])
    await api.post(f"/v1/debates/{tenant.debates[0]}/sign-off", json={"by": mark, "decision": "approve"})
    await api.post(f"/v1/debates/{tenant.debates[0]}/outcome", json={"result": mark, "verdict": "right"})
    async with asyncio.timeout(30):
        while not (await api.get(f"/v1/debates/{waits}/turns")).json():
            await asyncio.sleep(0.05)


def requests_on(operation: tuple[str, str], debate: str, csrf: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Ways to send an operation about ``debate``: the address, and the rest of the request."""
    method, path = operation
    address = path.replace("{debate_id}", debate)
    if "{form}" in path:
        for form in ("json", "md", "txt", "html", "argdown", "dossier.md", "dossier.html"):
            yield address.replace("{form}", form), {}
        return
    if path.endswith("/turn"):
        address += "?path=opening%2Fcon"
    if path.endswith("/fork") and method == "GET":
        address += "?strike=PRO-1"
    bodies: dict[str, list[dict[str, Any]]] = {
        "/v1/debates/{debate_id}/turns": [
            {"json": {"path": "opening/con", "passes": True}},
            {"json": {"path": "round-1/con", "content": {"speech": "I was here"}}},
        ],
        "/v1/debates/{debate_id}/resume": [{"json": {}}, {"json": {"budget_tokens": 10**9}}],
        "/v1/debates/{debate_id}/fork": [{"json": {"strike": ["PRO-1"]}}],
        "/debates/{debate_id}/fork": [{"data": {CSRF_FIELD: csrf, "strike": "PRO-1"}}],
        "/v1/debates/{debate_id}/sign-off": [{"json": {"by": "A", "decision": "reject"}}],
        "/v1/debates/{debate_id}/outcome": [{"json": {"result": "It failed", "verdict": "wrong"}}],
        "/debates/{debate_id}/turn": [{"data": {CSRF_FIELD: csrf, "do": "pass"}}],
        "/debates/{debate_id}/afterwards": [
            {"data": {CSRF_FIELD: csrf, "what": "sign-off", "by": "A", "decision": "reject"}},
            {"data": {CSRF_FIELD: csrf, "what": "outcome", "result": "It failed"}},
        ],
    }
    rows = bodies.get(path, [{"data": {CSRF_FIELD: csrf}}] if not path.startswith("/v1") else [{}])
    for body in rows if method == "POST" else [{}]:
        yield address, body
    if path.endswith("/events"):
        yield f"{address}?text=true", {}
        yield address, {"headers": {"Last-Event-ID": "1"}}


async def order_with(tenant: Tenant, kind: str, upload: str) -> httpx.Response:
    """Order a debate on somebody's upload."""
    on = {"evidence": {"motion": "We should", "evidence_ids": [upload]}, "knowledge": {"knowledge_id": upload}}
    form = {"evidence": "freeform", "knowledge": "market"}[kind]
    return await tenant.api.post("/v1/debates", json={"format": form, **on[kind]})


def shape(answer: httpx.Response, *ids: str) -> tuple[int, str, dict[str, str]]:
    """All of an answer but its date, with ``ids`` made alike."""
    text, headers = answer.text, {key: value for key, value in answer.headers.items() if key != "date"}
    for each in ids:
        text = text.replace(each, "ID")
        headers = {key: value.replace(each, "ID") for key, value in headers.items()}
    return answer.status_code, text, headers


async def standing(tenants: list[Tenant]) -> list[Any]:
    """What each tenant sees of its own debates, questions, keys and budgets."""
    found: list[Any] = []
    for tenant in tenants:
        for debate in tenant.debates:
            row = (await tenant.api.get(f"/v1/debates/{debate}")).json()
            found += [row["status"], (await tenant.api.get(f"/v1/debates/{debate}/report")).text]
            found += [(await tenant.api.get(f"/v1/debates/{debate}/turns")).json()]
        found += [(await tenant.api.get("/v1/keys")).json(), (await tenant.api.get("/v1/key")).json()]
    return found


def store_address(kind: str, request: pytest.FixtureRequest) -> str:
    return "" if kind == "file" else str(request.getfixturevalue("fleet").url)


@pytest.mark.parametrize("kind", ["file", "postgresql"])
async def test_what_others_have_is_answered_as_what_is_not_there(tmp_path, attack: Attack, kind, request):
    if kind == "postgresql" and not attack.thorough:
        pytest.skip("over PostgreSQL: in `make attack` and in full runs")
    async with served(tmp_path, keyless=False, store=store_address(kind, request)) as here, three_tenants(here) as all_:
        rows = [(method, path) for method, path, _ in operations(create_app(here.service))]
        by_debate = [row for row in rows if "{debate_id}" in row[1]]
        assert len(by_debate) >= 20
        before = await standing(all_)
        for thief in all_:
            for owner in (row for row in all_ if row is not thief):
                for debate in owner.debates:
                    for operation in attack.some(by_debate):
                        api = operation[1].startswith("/v1")
                        client = thief.api if api else thief.browser
                        ways = zip(
                            requests_on(operation, debate, thief.csrf),
                            requests_on(operation, UNKNOWN["debate"], thief.csrf),
                            strict=True,
                        )
                        for (address, more), (nowhere, _) in ways:
                            told = await client.request(operation[0], address, **more)
                            none = await client.request(operation[0], nowhere, **more)
                            same = shape(told, debate) == shape(none, UNKNOWN["debate"])
                            attack.check(
                                same and told.status_code == 404, f"{operation[0]} {address}: {told.text[:200]}"
                            )
                for mine, theirs in ((thief.debates[0], owner.debates[0]), (owner.debates[0], thief.debates[0])):
                    told = await thief.browser.get("/compare", params={"a": mine, "b": theirs})
                    fake = {"a": mine, "b": theirs}
                    fake = {key: UNKNOWN["debate"] if one in owner.debates else one for key, one in fake.items()}
                    none = await thief.browser.get("/compare", params=fake)
                    same = shape(told, owner.debates[0]) == shape(none, UNKNOWN["debate"])
                    attack.check(same and told.status_code == 404, f"/compare {told.status_code}")
                for key in owner.keys:
                    told = await thief.api.post(f"/v1/keys/{key}/revoke")
                    none = await thief.api.post(f"/v1/keys/{UNKNOWN['key']}/revoke")
                    attack.check(shape(told, key) == shape(none, UNKNOWN["key"]) and told.status_code == 404, "revoke")
                for name in ("evidence", "knowledge"):
                    theirs = str(getattr(owner, name))
                    told, none = [await order_with(thief, name, each) for each in (theirs, UNKNOWN[name])]
                    attack.check(shape(told, theirs) == shape(none, UNKNOWN[name]) and told.status_code == 404, name)
        assert await standing(all_) == before


@pytest.mark.parametrize("kind", ["file", "postgresql"])
async def test_no_list_page_search_or_figure_shows_what_others_have(tmp_path, attack: Attack, kind, request):
    if kind == "postgresql" and not attack.thorough:
        pytest.skip("over PostgreSQL: in `make attack` and in full runs")
    async with served(tmp_path, keyless=False, store=store_address(kind, request)) as here, three_tenants(here) as all_:
        paths = [path for method, path, _ in operations(create_app(here.service)) if method == "GET"]
        cursors = [(await row.api.get("/v1/debates?limit=1")).json()["next"] for row in all_]
        searches = [
            *(f"{place}?{key}={value}" for place in ("/", "/v1/debates") for key in ("status", "format")
              for value in ("COMPLETE", "RUNNING", "freeform", "", "%25", "*")),
            *(f"{place}?cursor={cursor}" for place in ("/", "/v1/debates") for cursor in cursors),
            *(f"/v1/metrics?{key}={value}" for key, value in (("format", "freeform"), ("since", "2020-01-01"))),
            *(f"/v1/debates?limit={limit}" for limit in (1, 200)),
        ]  # fmt: skip
        plain = [path for path in paths if "{" not in path]
        for tenant in all_:
            others = [row for row in all_ if row is not tenant]
            theirs = [word for row in others for word in (row.mark, *(each for _, each in row.owned()))]
            own = [
                address
                for path in paths
                if "{debate_id}" in path and not path.endswith("/events")
                for debate in tenant.debates
                for address, _ in requests_on(("GET", path), debate, tenant.csrf)
            ]
            for address in [*plain, *searches, *own]:
                for client in (tenant.api, tenant.browser):
                    told = await client.get(address)
                    shown = [word for word in theirs if word in told.text]
                    attack.check(told.status_code < 500 and not shown, f"{address}: {told.status_code} {shown}")
            mine = (await tenant.api.get("/v1/debates")).json()["items"]
            attack.check({row["id"] for row in mine} == set(tenant.debates), "its own list")
            # The debate in which a person sits is left out of figures until it has ended.
            counted = (await tenant.api.get("/v1/metrics")).json()["debates"]
            attack.check(counted == 1, f"its own figures count {counted} debates")
            attack.check((await tenant.api.get("/metrics")).status_code == 403, "/metrics of the whole server")


@pytest.mark.parametrize("kind", ["file", "postgresql"])
async def test_one_tenant_takes_nothing_from_the_limits_of_another(tmp_path, attack: Attack, kind, request):
    store = store_address(kind, request)
    async with served(tmp_path, keyless=False, most_streams=2, store=store) as here, three_tenants(here) as all_:
        greedy, other, _ = all_
        # Requests a minute.
        spent = here.key(Scope.READ, tenant=greedy.name, per_minute=5)
        async with here.client(spent) as client:
            answers = [(await client.get("/v1/debates")).status_code for _ in range(8)]
            attack.check(429 in answers, answers)
        for address in ("/v1/debates", "/v1/key", "/v1/metrics"):
            attack.check((await other.api.get(address)).status_code == 200, address)
        # Streams at once.
        async with AsyncExitStack() as stack:
            path = f"/v1/debates/{greedy.debates[1]}/events"
            rows = [await stack.enter_async_context(greedy.api.stream("GET", path)) for _ in range(2)]
            assert [row.status_code for row in rows] == [200, 200]
            attack.check((await greedy.api.get(path)).status_code == 429, "a third stream")
            async with other.api.stream("GET", f"/v1/debates/{other.debates[1]}/events") as mine:
                attack.check(mine.status_code == 200, "a stream of another tenant")
        # Uploads: the oldest of a tenant make room for its newest, and for nobody else's.
        order = {"motion": "We should", "format": "freeform", "evidence_ids": [other.evidence]}
        here.service.book.upload(greedy.name, {"source_id": "a", "title": "a", "kind": "text", "text": "a"})
        attack.check((await other.api.post("/v1/debates", json=order)).status_code == 201, "its upload is there")
        # The budget of a key, and the same idempotency key.
        poor = here.key(Scope.RUN, tenant=greedy.name, budget_tokens=1)
        order = {"motion": "We should", "format": "freeform"}
        async with here.client(poor) as client:
            attack.check(
                (await client.post("/v1/debates", json={**order, "budget_tokens": 50})).status_code == 429, "poor"
            )
        same = [await row.api.post("/v1/debates", json=order, headers={"Idempotency-Key": "two"}) for row in all_]
        attack.check(len({row.json()["id"] for row in same}) == len(TENANTS), "debates of one idempotency key")


async def test_no_session_works_with_the_token_of_another_page(tmp_path, attack: Attack):
    async with served(tmp_path, keyless=False) as here, three_tenants(here) as all_:
        for thief in all_:
            for owner in (row for row in all_ if row is not thief):
                for address in ("/new", f"/debates/{thief.debates[0]}/cancel", f"/debates/{owner.debates[0]}/cancel"):
                    told = await thief.browser.post(address, data={CSRF_FIELD: owner.csrf, "motion": "We should"})
                    attack.check(told.status_code == 403, f"{address}: {told.status_code}")
                # A key in the header counts, whatever cookie comes with it.
                told = await owner.browser.get(
                    "/v1/debates", headers={"Authorization": thief.api.headers["Authorization"]}
                )
                attack.check({row["id"] for row in told.json()["items"]} == set(thief.debates), "header before cookie")
            page = (await thief.browser.get("/new")).text
            found = re.findall(rf'name="{CSRF_FIELD}" value="([^"]+)"', page)
            attack.check(set(found) == {thief.csrf}, "the token of its own page")
