"""Scripts in motions, evidence and answers of models, on the pages of a running service in a real browser."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from attack_table import Attack
from dictated import Dictated
from served import served

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytest.importorskip("playwright.async_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here; on Debian: apt-get install chromium"),
]
RAN = "window.ran=1;alert(1)"
SCRIPTS = (
    f"<script>{RAN}</script>",
    f"</script><script>{RAN}</script>",
    f"</textarea></title></style></noscript><script>{RAN}</script>",
    f"<img src=x onerror='{RAN}'>",
    f"<svg onload='{RAN}'><animate onbegin='{RAN}' attributeName=x></svg>",
    f"<details open ontoggle='{RAN}'>",
    f'" autofocus onfocus="{RAN}" x="',
    f"' onmouseover='{RAN}' x='",
    f"<a href='javascript:{RAN}'>here</a> [here](javascript:{RAN})",
    f"<iframe srcdoc='<script>parent.{RAN}</script>'></iframe>",
    f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror={RAN}&gt;'>",
    f"&lt;script&gt;{RAN}&lt;/script&gt; \\u003cscript\\u003e{RAN}\\u003c/script\\u003e",
    f"${{{RAN}}} {{{{constructor.constructor('{RAN}')()}}}} `-{RAN}-`",
    "<form action='http://192.0.2.1/'><input name=a><button formaction='http://192.0.2.1/'>go</button></form>",
    "<base href='http://192.0.2.1/'><link rel=stylesheet href='http://192.0.2.1/a.css'>",
    "<meta http-equiv=refresh content='0;url=http://192.0.2.1/'>",
    "]]><!--><style>@import 'http://192.0.2.1/b.css';body{display:none}</style>",
)
ALL = "\n".join(SCRIPTS)
FOREIGN = """() => [...document.querySelectorAll('*')].filter(row =>
    ['iframe', 'object', 'embed', 'base', 'img', 'math', 'animate'].includes(row.localName)
    || (['script', 'style'].includes(row.localName) && /window.ran|192[.]0[.]2[.]1/.test(row.textContent))
    || (row.localName === 'link' && row.href.includes('192.0.2.1'))
    || (row.localName === 'meta' && row.httpEquiv.toLowerCase() === 'refresh' && row.content.includes('url'))
    || row.getAttributeNames().some(name => name.startsWith('on') || name === 'srcdoc' || name === 'formaction')
    || (row.localName === 'a' && row.href.startsWith('javascript:'))
).map(row => row.outerHTML.slice(0, 200))"""


def content(number: int) -> str:
    """A speech made of the scripts, beginning with another one each time."""
    return json.dumps({"speech": "\n".join((*SCRIPTS[number:], *SCRIPTS[:number]))})


async def read(page: Any, url: str, debate: str, attack: Attack) -> None:
    """Look at all pages that show the debate, with the policy of the service and without."""

    async def unruled(route: Any) -> None:
        # Without the policy, so that nothing but the escaping holds.
        answer = await route.fetch()
        headers = {name: value for name, value in answer.headers.items() if name != "content-security-policy"}
        await route.fulfill(response=answer, headers=headers)

    for ruled in (True, False):
        if not ruled:
            await page.route("**/debates/**", unruled)
            await page.route(f"{url}/", unruled)
        for path in ("/", f"/debates/{debate}", f"/debates/{debate}/transcript"):
            found = await page.goto(f"{url}{path}")
            policy = found.headers.get("content-security-policy", "")
            attack.check(found.status == 200 and (not ruled or policy.startswith("default-src 'none'")), (path, policy))
            foreign = await page.evaluate(FOREIGN)
            attack.check(not foreign, (ruled, path, foreign))
            attack.check(await page.evaluate("'ran' in window") is False, (ruled, path))
            attack.check("alert(1)" in await page.evaluate("document.body.textContent"), (ruled, path, "is shown"))


async def test_no_script_runs_on_a_live_page(tmp_path, attack: Attack):
    """The page is watched while the model writes, and read afterwards."""
    from playwright.async_api import async_playwright

    noises: list[str] = []
    requests: set[str] = set()
    provider = Dictated(*(content(number) for number in range(4)), size=200)
    async with served(tmp_path, provider=provider) as here, async_playwright() as play:
        # One speech and the beginning of the next, so that the page is watched while the model writes.
        provider.write(len(Dictated(content(0), size=200).pieces) + 2)
        browser = await play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = await browser.new_context()

        page = await context.new_page()
        page.on("dialog", lambda dialog: (noises.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("popup", lambda other: noises.append(f"window {other.url}"))
        page.on("request", lambda request: requests.add(request.url))
        evidence = {"title": SCRIPTS[0], "text": ALL}
        async with here.client() as client:
            order = {"motion": f"We should split it {ALL}"[:1_900], "format": "freeform", "rounds": 2}
            answer = await client.post("/v1/debates", json={**order, "evidence": [evidence]})
            assert answer.status_code == 201, answer.text
            debate = answer.json()["id"]
            live = f"{here.url}/debates/{debate}"
            await page.goto(live)
            await page.wait_for_selector("#said .said", timeout=60_000)
            foreign = await page.evaluate(FOREIGN)
            attack.check(not foreign, ("live", foreign))
            provider.write(10_000)
            async with client.stream("GET", f"/v1/debates/{debate}/events") as stream:
                async for _ in stream.aiter_lines():
                    pass
        # The page goes on to the record by itself.
        await page.wait_for_selector("#said", state="detached", timeout=60_000)
        await read(page, here.url, debate, attack)
        await browser.close()
    attack.check(not noises, noises)
    attack.check(all(url.startswith((here.url, "data:")) for url in requests), requests)
