"""The pages: read without scripts, hostile words on each of them harmless, a person's turn taken in plain forms."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import html5lib
import pytest
from served import ended, served, started

from disputatio._service.keys import Scope
from disputatio._service.pages.sheets import faults_of, items_of, read_turn, values_of
from disputatio.market.sources.files import load_example, serialize
from disputatio.participants.human import form_from_schema
from disputatio.testing.instances import instance

CANARY = "window.canary=1"
HOSTILE = (
    f"</title></textarea></script><script>{CANARY}</script><img src=x onerror={CANARY}>\"' onfocus={CANARY} "
    "<form action=http://e.example> {{ 7*7 }} \x1b[31m \u202e <style>body{display:none}</style>"
)


def tree(html: str) -> Any:
    return html5lib.parse(html, namespaceHTMLElements=False)


def is_harmless(html: str) -> None:
    """No script but the service's own, no handler, no style, no address elsewhere."""
    for node in tree(html).iter():
        if not isinstance(node.tag, str):
            continue
        if node.tag == "script" and node.get("src") is None:
            assert CANARY not in (node.text or "")
        assert node.tag not in {"iframe", "object", "base"}
        assert node.tag != "img"
        for name, value in node.attrib.items():
            assert not str(name).startswith("on"), (node.tag, name)
            if name in {"href", "src", "action"}:
                assert not value.lower().strip().startswith(("javascript:", "http://e.example")), value
    assert "\x1b" not in html
    assert "\u202e" not in html


def field(html: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', html)
    assert found, name
    return found[1]


def filled(sheet: Any, content: Any) -> dict[str, str]:
    return values_of(sheet, content)


@pytest.mark.slow
async def test_hostile_words_are_harmless_on_every_page(tmp_path):
    async with served(tmp_path, keyless=False) as here:
        token = here.key(Scope.ADMIN)
        async with here.client(follow_redirects=True) as client:
            login = await client.get("/login")
            bad = await client.post("/login", data={"key": HOSTILE})
            home = await client.post("/login", data={"key": token})
            csrf = field(home.text, "csrf")
            here.provider.hold()
            order = {"csrf": csrf, "motion": HOSTILE, "people": "con", "pasted": f"{HOSTILE} and a source"}
            running = await client.post("/new", data=order)
            debate = running.url.path.rsplit("/", 1)[1]
            async with asyncio.timeout(60):
                while not (await client.get(f"/v1/debates/{debate}/turns")).json():
                    await asyncio.sleep(0.05)
            turn = await client.get(f"/debates/{debate}/turn", params={"path": "opening/con"})
            assert "Your turn as CON" in turn.text
            broken = await client.post(
                f"/debates/{debate}/turn?path=opening/con", data={"csrf": csrf, "f.arguments.0.claim": HOSTILE}
            )
            assert broken.status_code == 422
            refused = await client.post(
                "/new", data={"csrf": csrf, "motion": HOSTILE, "seats": HOSTILE, "judging.judges": "x"}
            )
            assert refused.status_code == 422
            fragments = [await client.get(f"/debates/{debate}/{name}") for name in ("transcript", "asked")]
            await client.post(f"/debates/{debate}/cancel", data={"csrf": csrf})
            here.provider.release()
            whole = await started_by(client, csrf)
            over = await client.get(f"/debates/{whole}")
            after = await client.post(
                f"/debates/{whole}/afterwards",
                data={"csrf": csrf, "what": "outcome", "result": HOSTILE, "who": HOSTILE[:100], "verdict": "right"},
            )
            pages = [login, bad, home, running, turn, broken, refused, *fragments, over, after]
            others = ("/", "/new", f"/compare?a={debate}&b={whole}", "/figures", f"/debates/{HOSTILE[:20]}", "/nope")
            pages += [await client.get(path) for path in others]
            pages.append(await client.get("/", params={"format": HOSTILE[:60]}))
            assert sum("window.canary" in page.text for page in pages) >= 6
            for page in pages:
                is_harmless(page.text)
                policy = page.headers["content-security-policy"]
                assert "default-src 'none'" in policy
                assert "unsafe" not in policy
                assert "frame-ancestors 'none'" in policy


async def started_by(client: Any, csrf: str) -> str:
    """A debate on hostile words that was held to its end."""
    answer = await client.post("/new", data={"csrf": csrf, "motion": HOSTILE})
    debate = str(answer.url.path.rsplit("/", 1)[1])
    await ended(client, debate)
    return debate


@pytest.mark.slow
async def test_the_same_form_sent_twice_starts_one_debate(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        form = await client.get("/new")
        order = {"csrf": field(form.text, "csrf"), "once": field(form.text, "once"), "format": "market"}
        # What was filled in for another format, and is not shown with this one, does not count.
        order |= {"seats": "all=rules", "review.preset": "contract-risk", "panel.options": "a", "pasted": "a source"}
        base = {"market.knowledge": ("base.json", serialize(load_example()))}
        first, second = [await client.post("/new", data=order, files=base) for _ in range(2)]
        assert first.headers["location"] == second.headers["location"]
        (debate,) = (await client.get("/v1/debates")).json()["items"]
        assert debate["motion"] == "Will ExampleIndex rise within a month?"
        await ended(client, debate["id"])
        # The list says what came out of it.
        assert "bull arguments upheld" in (await client.get("/")).text


@pytest.mark.slow
async def test_a_person_takes_a_seat_with_plain_forms(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        csrf = field((await client.get("/new")).text, "csrf")
        debate = await started(client, people=["con"])
        taken = 0
        while True:
            asked = (await client.get(f"/v1/debates/{debate}/turns")).json()
            if not asked:
                if not (await client.get(f"/v1/debates/{debate}")).json()["goes_on"]:
                    break
                continue
            row = asked[0]
            assert all(post["seat"] in {"pro", "con"} for post in row["heard"])
            sheet = form_from_schema(row["form"])
            path = f"/debates/{debate}/turn?path={row['path']}"
            assert f"Your turn as {row['seat'].upper()}" in (await client.get(path)).text
            if taken == 0:
                unfinished = await client.post(path, data={"csrf": csrf, "do": "give"})
                assert unfinished.status_code == 422
                assert 'aria-invalid="true"' in unfinished.text
                wrong = {"path": row["path"], "content": {"arguments": []}}
                assert (await client.post(f"/v1/debates/{debate}/turns", json=wrong)).status_code == 422
            content = instance(row["form"], f"turn {taken}")
            answer = await client.post(path, data={"csrf": csrf, "do": "give", **filled(sheet, content)})
            assert answer.status_code == 303, answer.text
            taken += 1
        assert taken >= 3
        report = (await client.get(f"/v1/debates/{debate}/report")).json()
        assert report["status"] == "COMPLETE"
        assert report["seats"]["con"]["kind"] == "person"
        gone = await client.post(f"/v1/debates/{debate}/turns", json={"path": "opening/con", "passes": True})
        assert gone.status_code == 409


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "arguments": {
            "type": "array",
            "minItems": 1,
            "maxItems": 3,
            "items": {
                "type": "object",
                "properties": {
                    "claim": {"type": "string", "minLength": 3, "maxLength": 50},
                    "kind": {"enum": ["fact", "value"]},
                    "about": {"enum": ["PRO-1"]},
                },
            },
        },
        "sure": {"type": "integer", "minimum": 1, "maximum": 5},
        "agrees": {"type": "boolean"},
    },
}


def test_a_filled_form_is_read_back():
    sheet = form_from_schema(SCHEMA)
    for size in (1, 2, 3):
        content = {
            "arguments": [{"claim": f"claim {place}", "kind": "value", "about": "PRO-1"} for place in range(size)],
            "sure": 4,
            "agrees": False,
        }
        values = values_of(sheet, content)
        assert read_turn(sheet, values) == content
        assert faults_of(sheet, values) == []
        shown = items_of(sheet, values)
        assert [row.kind for row in shown] == ["list", "number", "choice"]
        assert sum(row.filled for row in shown[0].further) == max(0, size - 1)


def test_what_is_missing_in_a_form_is_told_field_by_field():
    sheet = form_from_schema(SCHEMA)
    found = dict(faults_of(sheet, {"f.arguments.1.claim": "ok?", "f.sure": "9"}))
    assert set(found) == {"f.arguments.0.claim", "f.arguments.0.kind", "f.arguments.1.kind", "f.sure", "f.agrees"}
    assert found["f.arguments.0.claim"].startswith("Argument 1: Claim")
