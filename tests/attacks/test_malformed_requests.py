"""Requests that no client of good will sends, over PostgreSQL: each is refused in a sentence, and none fails inside."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
from attack_table import Attack
from fastapi.routing import iter_route_contexts
from fleet_stage import Stage
from served import Served, ended, served, started
from test_authorisation import BODIES, operations

from disputatio._service.access import COOKIE, CSRF_FIELD
from disputatio._service.app import create_app
from disputatio._service.keys import Scope
from disputatio.formats.registry import FORMATS

pytestmark = pytest.mark.slow
SLOW_S = 5.0
"""The machine may be busy. A request that takes longer than this was not refused, but worked on."""

TOKENS = {
    "a lone surrogate": '"\\ud800 x"',
    "a null character": '"a\\u0000b"',
    "an escape sequence": '"\\u001b[2J\\u0007"',
    "a line break": '"a\\r\\nSet-Cookie: a=b"',
    "words from right to left": '"\\u202e\\u2066evil"',
    "no characters that show": '"\\u200b\\u2060"',
    "many letters": json.dumps("x" * 4_000),
    "many accents": json.dumps("a" + "\u0301" * 3_999),
    "many full stops": json.dumps("." * 3_999 + "x"),
    "a path": '"../../../../etc/passwd"',
    "an address": '"http://169.254.169.254/latest"',
    "a template": '"{{7*7}}${7*7}<%= 7*7 %>"',
    "a statement": '"\'; DROP TABLE service_keys; --"',
    "a tag": '"<script>alert(1)</script>"',
    "NaN": "NaN",
    "Infinity": "-Infinity",
    "a large exponent": "1e999",
    "a large exponent in a text": '"1E+999999"',
    "5,000 digits": "9" * 5_000,
    "64 bits": str(2**63),
    "32 bits": str(2**31),
    "below zero": "-1",
    "minus nothing": '"-0"',
    "a signalling NaN": '"sNaN"',
    "true": "true",
    "null": "null",
    "a list": "[]",
    "an object": "{}",
    "deep lists": "[" * 100_000 + "]" * 100_000,
    "deep objects": '{"a":' * 5_000 + "1" + "}" * 5_000,
    "open lists": "[" * 100_000,
    "a key twice": '{"a":1,"a":2}',
    "an own key": '{"__proto__":{"admin":true},"__class__":"x"}',
}
"""JSON as it is sent, some of it none."""

QUERIES = (
    *("%00", "%ff%fe", "a%00b", "-1", "1e9", "99999999999999999999", "%0d%0aSet-Cookie:a=b", "' OR 1=1 --", "../.."),
    *("", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "%25", "%", "x" * 3_000),
)
"""Values of a parameter, encoded."""


@asynccontextmanager
async def opened(here: Served) -> AsyncIterator[tuple[httpx.AsyncClient, httpx.AsyncClient, str]]:
    """A client with a key, one with a session, and the token of its pages."""
    token = here.key(Scope.ADMIN, per_minute=1_000_000)
    async with here.client(token) as api, here.client() as browser:
        await browser.post("/login", data={"key": token})
        session = here.service.keys.session(browser.cookies[COOKIE])
        assert session is not None
        yield api, browser, session.session


class Sender:
    """Sends requests and counts those that were answered well: no failure inside, at once, in one sentence."""

    def __init__(self, attack: Attack) -> None:
        self._attack = attack
        self.seen: set[int] = set()

    async def __call__(
        self, client: httpx.AsyncClient, method: str, address: str, what: str, **more: Any
    ) -> httpx.Response:
        began = time.monotonic()
        answer = await client.request(method, address, **more)
        took = time.monotonic() - began
        self.seen.add(answer.status_code)
        quiet = not any(word in answer.text for word in ("Traceback", "sqlalchemy", "psycopg", ".py"))
        clean = "set-cookie" not in answer.headers or address.startswith(("/login", "/logout"))
        held = answer.status_code < 500 and took < SLOW_S and quiet and clean
        self._attack.check(held, f"{method} {address[:80]} with {what}: {answer.status_code}, {took:.1f} s")
        self._attack.figure("slowest answer", took, "s")
        return answer


def fields_of(document: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    """The fields of a body, those of its groups and of tables within it too: what stands before and after a value."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for name, row in schema.get("properties", {}).items():
        yield f"{json.dumps(name)}: %"
        if "$ref" in row:
            yield from (f"{json.dumps(name)}: {{{inner}}}" for inner in fields_of(document, row))
        for table in [table for each in row.get("anyOf", ()) for table in each.get("oneOf", ())]:
            chosen = json.dumps(table["properties"]["name"]["const"])
            inner = [f"{json.dumps(option)}: %" for option in table["properties"] if option != "name"]
            yield from (f'{json.dumps(name)}: {{"name": {chosen}, {one}}}' for one in inner)


class Controls(HTMLParser):
    """The names of the fields of a page's forms."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name = dict(attrs).get("name")
        if tag in {"input", "select", "textarea"} and name:
            self.names.add(name)


def parameters(app: Any) -> dict[str, list[str]]:
    """The names of the parameters that each address takes behind its question mark."""
    found: dict[str, list[str]] = {}
    for context in iter_route_contexts(app.routes):
        taken = getattr(getattr(context.original_route, "dependant", None), "query_params", [])
        found.setdefault(context.path, []).extend(row.alias for row in taken)
    return found


async def test_no_value_in_a_body_fails_inside(fleet: Stage, tmp_path, attack: Attack):
    async with served(tmp_path, keyless=False, store=fleet.url) as here:
        send = Sender(attack)
        async with opened(here) as (api, browser, _):
            debate = await started(api, format="freeform")
            await ended(api, debate)
            here.provider.hold()
            document = (await api.get("/openapi.json")).json()
            begun = set()
            for path, methods in document["paths"].items():
                content = methods.get("post", {}).get("requestBody", {}).get("content", {})
                if "application/json" not in content:
                    continue
                good = BODIES[f"POST {path}"]["json"]
                for field in fields_of(document, content["application/json"]["schema"]):
                    name = json.loads(field.partition(":")[0])
                    for what, token in attack.some(TOKENS.items()):
                        rest = json.dumps({key: value for key, value in good.items() if key != name})[1:-1]
                        body = f"{{{rest}{', ' if rest else ''}{field.replace('%', token)}}}".encode()
                        headers = {"Content-Type": "application/json"}
                        address = path.replace("{debate_id}", debate)
                        told = await send(api, "POST", address, f"{what} for {field}", content=body, headers=headers)
                        if told.status_code == 201 and path == "/v1/debates":
                            begun.add(told.json()["id"])
            for each in begun:
                await send(api, "POST", f"/v1/debates/{each}/cancel", "nothing")
            assert {200, 201, 400, 422} <= send.seen
            # What was taken is listed and shown.
            for client, address in ((api, "/v1/debates?limit=200"), (browser, "/"), (browser, f"/debates/{debate}")):
                assert (await send(client, "GET", address, "nothing")).status_code == 200
            here.provider.release()


async def test_no_parameter_or_path_fails_inside(fleet: Stage, tmp_path, attack: Attack):
    async with served(tmp_path, keyless=False, store=fleet.url) as here:
        send = Sender(attack)
        async with opened(here) as (api, browser, csrf):
            debate = await started(api, format="freeform")
            await ended(api, debate)
            taken = parameters(create_app(here.service))
            for method, path, _ in operations(create_app(here.service)):
                client = api if path.startswith("/v1") else browser
                if method == "GET":
                    address = (
                        path.replace("{debate_id}", debate).replace("{form}", "json").replace("{name}", "page.css")
                    )
                    for name in [*taken[path], "unknown"]:
                        for value in attack.some(QUERIES):
                            await send(client, "GET", f"{address}?{name}={value}", "a strange value")
                for value in attack.some(QUERIES) if "{" in path else ():
                    address = path
                    for hole in ("{debate_id}", "{form}", "{name}", "{key_id}"):
                        address = address.replace(hole, value)
                    more = {"data": {CSRF_FIELD: csrf}} if method == "POST" else {}
                    await send(client, method, address, "a strange id", **more)
            assert {200, 404, 422} <= send.seen


async def test_no_form_of_a_page_fails_inside(fleet: Stage, tmp_path, attack: Attack):
    values = [
        "a\0b",
        "\ud800".encode("utf-8", "surrogatepass"),
        "x" * 100_000,
        "\r\n" * 1_000,
        "-1",
        "9" * 5_000,
        "=",
        "a=b=c\n=\n",
    ]
    values += ["all=openai:x at http://127.0.0.1:1/", "NaN", "<script>", "\u202e", ",,,,", "2008-10-31", "99999-01-01"]
    after = ("what", "by", "decision", "comment", "verdict", "who", "result")
    async with served(tmp_path, keyless=False, store=fleet.url) as here:
        send = Sender(attack)
        async with opened(here) as (api, browser, csrf):
            debate = await started(api, format="freeform")
            await ended(api, debate)
            here.provider.hold()
            page = Controls()
            page.feed((await browser.get("/new")).text)
            names = sorted(page.names - {CSRF_FIELD})
            assert {"motion", "judging.judges", "panel.threshold", "market.knowledge"} <= page.names
            good = {"motion": "We should", "format": "freeform"}
            forms = {
                "/new": (names, good),
                "/new/estimate": (names, good),
                f"/debates/{debate}/afterwards": (after, {"what": "sign-off", "by": "A", "decision": "approve"}),
                f"/debates/{debate}/resume": (("budget_tokens",), {}),
                f"/debates/{debate}/fork": (("strike", "budget_usd", "budget_tokens", "once"), {"strike": "PRO-1"}),
                f"/debates/{debate}/turn?path=a": (("do", "json", "f.speech", "f." + "a." * 5_000), {}),
                "/login": (("key",), {}),
            }
            for address, (fields, good) in forms.items():
                for name in fields:
                    for value in attack.some(values):
                        chosen = name.partition(".")[0]
                        own = {"format": chosen} if chosen in FORMATS else {}
                        form = {CSRF_FIELD: csrf, **good, **own, name: value}
                        await send(browser, "POST", address, f"{value[:20]!r} for {name}", data=form)
            for order in (row["id"] for row in (await api.get("/v1/debates?limit=200")).json()["items"]):
                await api.post(f"/v1/debates/{order}/cancel")
            assert {303, 422} <= send.seen
            here.provider.release()
