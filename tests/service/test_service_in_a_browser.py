"""A real browser starts a debate on the page, watches it live and reads its record; at three widths, in both lights."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import pytest
from dictated import Dictated
from served import ended, served, started

from browser_fonts import widest
from disputatio.testing.instances import instance
from disputatio.testing.provider import FakeProvider
from strategies import FULL

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here; on Debian: apt-get install chromium"),
]


AXE = None
if find_spec("axe_playwright_python") is not None:
    AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
WINDOWS = ((390, "light"), (820, "dark"), (1440, "light"))
FAINT = """() => {
  // The contrast of every text with what lies under it (WCAG 2.2, 1.4.3): 4.5, or 3 where it is large.
  const read = (text) => [...text.match(/[\\d.]+/g).map(Number), 1].slice(0, 4);
  const over = (one, other) => one.slice(0, 3).map((part, at) => part * one[3] + other[at] * (1 - one[3])).concat(1);
  const light = (row) => row.slice(0, 3).map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const known = new Map([[null, [255, 255, 255, 1]]]);
  const ground = (box) => {
    if (!known.has(box)) known.set(box, over(read(getComputedStyle(box).backgroundColor), ground(box.parentElement)));
    return known.get(box);
  };
  const found = [];
  for (const box of document.querySelectorAll("body *")) {
    const said = [...box.childNodes].filter((one) => one.nodeType === 3).map((one) => one.data.trim()).join(" ");
    const hint = box.placeholder && !box.value ? "::placeholder" : null;
    if (!(said.trim() || hint) || !box.checkVisibility({ opacityProperty: true }) || box.closest("svg")) continue;
    const style = getComputedStyle(box, hint), under = ground(box), ink = read(style.color);
    ink[3] *= Number(style.opacity);
    const [low, high] = [light(under), light(over(ink, under))].sort((one, other) => one - other);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < (large ? 3 : 4.5)) found.push(`${box.tagName} ${said.slice(0, 30) || hint} ${contrast.toFixed(2)}`);
  }
  return found;
}"""


async def held(url: str, fonts: Mapping[str, str], *, besides: tuple[str, ...] = ()) -> list[str]:
    """Start, watch and read; returns what the browser complained about. Then look at all pages, and at ``besides``."""
    from playwright.async_api import async_playwright

    complaints: list[str] = []
    async with async_playwright() as play:
        browser = await play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], env=dict(fonts))
        page = await browser.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await page.goto(url)
        await page.click("a.button")
        await page.fill("#motion", "A town should ban cars from its centre")
        await page.click("text=Start the debate")
        await page.wait_for_selector("#live")
        # It is watched: words appear before the turn they belong to is whole, and nobody loads the page again.
        await page.wait_for_selector("#writing:not([hidden]) .writer span", timeout=120_000)
        await page.wait_for_selector("#said .said", timeout=120_000)
        # Live, in the middle of a debate.
        assert await violations(page) == []
        await page.wait_for_selector("#verdict", timeout=480_000)
        # Read: from the verdict to the words that decided, in one click.
        await page.click("#grounds .pair a >> nth=0")
        target = page.url.partition("#")[2]
        assert await page.is_visible(f"[id='{target}']")
        if besides:
            await look_over(browser, (url, *(f"{url}{path}" for path in besides), page.url.partition("#")[0]))
        await browser.close()
    return complaints


async def look_over(browser: Any, pages: tuple[str, ...]) -> None:
    """No page is wider than its window; all fields have labels; no text is too faint on its ground."""
    page = await browser.new_page()
    for path in pages:
        await page.goto(path, wait_until="domcontentloaded")
        unnamed = await page.evaluate(
            "[...document.querySelectorAll('input:not([type=hidden]), select, textarea')]"
            ".filter((one) => !one.labels.length).map((one) => one.name)"
        )
        assert unnamed == []
        for width, scheme in WINDOWS:
            await page.set_viewport_size({"width": width, "height": 900})
            await page.emulate_media(color_scheme=scheme)
            wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
            assert not await page.evaluate(wide), (path, width)
            assert await page.evaluate(FAINT) == [], (path, scheme)
            assert await violations(page) == [], (path, width, scheme)


async def violations(page: Any) -> list[Any]:
    """What axe finds on a page; nothing is looked for where axe is not installed."""
    if AXE is None:
        return []
    await page.evaluate(AXE)
    found: list[Any] = await page.evaluate(
        "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"
        ".map((row) => [row.id, row.nodes.slice(0, 3).map((node) => node.target.join(' ') + node.failureSummary)])"
    )
    return found


async def test_a_debate_is_started_watched_and_read_in_a_browser(tmp_path):
    provider = FakeProvider(latency=0.2, chunk_latency_s=0.004)
    async with served(tmp_path, provider=provider) as here, here.client() as client:
        waits = await started(client, people=["con"])
        turn = f"/debates/{waits}/turn?path=opening/con"
        besides = ("/new", "/compare", "/figures", "/login", "/nothing", f"/debates/{waits}", turn)
        assert await held(here.url, widest(tmp_path), besides=besides) == []


async def test_an_argument_is_struck_and_the_debate_forked(tmp_path):
    """From the map of a served page to the verdict of the fork, by a reader's clicks."""
    from playwright.async_api import async_playwright

    async with served(tmp_path) as here, here.client() as client, async_playwright() as play:
        parent = await started(client, format="structured", seed=3)
        assert (await ended(client, parent))["status"] in {"COMPLETE", "DEGRADED"}
        browser = await play.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], env=dict(widest(tmp_path))
        )
        page = await browser.new_page()
        await page.goto(f"{here.url}/debates/{parent}")
        await page.click("button[data-strike='PRO-2'] >> nth=0")
        await page.click("text=Ask again without these")
        await page.wait_for_selector("text=Ask again without this")
        assert "strike=PRO-2" in page.url
        await look_over(browser, (page.url,))
        await page.click("main button.button")
        await page.wait_for_selector("#verdict", timeout=60_000)
        fork = page.url.partition("#")[0].rsplit("/", 1)[1]
        assert fork != parent
        terms = await page.locator("#record dt", has_text="Fork of").locator("xpath=..").text_content()
        assert parent in terms
        await browser.close()


async def written(page: Any) -> str:
    """What the page shows of the turn that is being written."""
    return str(await page.evaluate("[...document.querySelectorAll('.writer p')].map((one) => one.innerText).join()"))


async def test_a_page_opened_mid_turn_reads_like_others(tmp_path):
    from playwright.async_api import async_playwright

    speech = 'Let us "begin": buses are full, and nobody has shown that {braces} or [brackets] hurt. ' * 3
    provider = Dictated(json.dumps({"speech": speech}) + " " * 40, size=20)
    async with served(tmp_path, provider=provider) as here, here.client() as client, async_playwright() as play:
        browser = await play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        debate = await started(client, format="freeform")
        early = await browser.new_page()
        await early.goto(f"{here.url}/debates/{debate}")
        provider.write(2)
        await early.wait_for_selector("#writing:not([hidden]) .writer span")
        for _ in range(11):
            before = await written(early)
            provider.write()
            async with asyncio.timeout(20):
                while await written(early) == before:
                    await asyncio.sleep(0.02)
            late = await browser.new_page()
            await late.goto(f"{here.url}/debates/{debate}")
            await late.wait_for_selector("#writing:not([hidden]) .writer span")
            shown = await written(late)
            assert shown == await written(early)
            assert shown
            assert speech.startswith(shown), shown
            await late.close()
        await browser.close()


async def signed_in(browser: Any, url: str, key: str) -> Any:
    """A browser of its own, in which somebody has signed in."""
    page = await (await browser.new_context()).new_page()
    await page.goto(f"{url}/login")
    await page.fill("#key", key)
    await page.click("button.button")
    await page.wait_for_selector("text=Sign out")
    return page


async def filled_in(page: Any, words: str) -> None:
    """Something in every field of a turn, and the turn given."""
    await page.evaluate(
        """(words) => {
          for (const one of document.querySelectorAll("form.sheet [name^='f.']")) {
            if (one.tagName === "SELECT") one.selectedIndex = 1;
            else if (one.type === "number") one.value = one.min;
            else if (one.type !== "hidden") one.value = words;
          }
        }""",
        words,
    )
    await page.click("button[value=give]")


async def test_people_in_three_browsers_see_what_their_seats_may_know(tmp_path):
    from playwright.async_api import async_playwright

    team = {"pro_2": "pro", "con_2": "con", "judge": "judge"}
    async with served(tmp_path, keyless=False) as here, async_playwright() as play:
        browser = await play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        keys = {seat: here.key() for seat in team}
        clients = {seat: here.client(key) for seat, key in keys.items()}
        settings = {"rules.free_speeches": 2}
        debate = await started(clients["pro_2"], format="competition", people=list(team), settings=settings)
        where = f"{here.url}/debates/{debate}"
        pages = {seat: await signed_in(browser, here.url, key) for seat, key in keys.items()}
        for seat, page in pages.items():
            await page.goto(where)
            await page.click(f"text=Sit as {seat.upper()}")
            await page.wait_for_selector("text=your seat")
        given = dict.fromkeys(team, 0)
        checked = dict.fromkeys(team, 0)
        while (await clients["judge"].get(f"/v1/debates/{debate}")).json()["goes_on"]:
            for seat, page in pages.items():
                rows = (await clients[seat].get(f"/v1/debates/{debate}/turns")).json()
                if not rows:
                    continue
                turns = [json.loads(row.body) for row in here.service.store.read(debate) if row.kind == "TurnTaken"]
                secret = [
                    row["content"]["direction"]
                    for row in turns
                    if row["form"] == "direction" and not row["seat"].startswith(team[seat])
                ]
                secret += [row["content"]["comment"] for row in turns if row["form"] == "scoring" and seat != "judge"]
                await page.goto(where)
                shown = await page.inner_text("main")
                await page.click(f"text=Speak as {seat.upper()}")
                await page.wait_for_selector("form.sheet")
                await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
                shown += await page.inner_text("main")
                assert not [text for text in secret if text in shown], seat
                checked[seat] += bool(secret)
                if given[seat] < 2:
                    await filled_in(page, f"Does {seat} know what was counted in the town?")
                    await page.wait_for_url(where)
                else:
                    content = instance(rows[0]["form"], rows[0]["path"])
                    turn = {"path": rows[0]["path"], "content": content}
                    assert (await clients[seat].post(f"/v1/debates/{debate}/turns", json=turn)).is_success
                given[seat] += 1
        assert all(checked.values()), checked
        for seat, page in pages.items():
            await page.goto(where)
            await page.wait_for_selector("#verdict, #match, #record")
            # It is over: everybody reads everything.
            await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            over = " ".join((await page.inner_text("body")).split())
            assert all(" ".join(text.split()) in over for text in secret), seat
        for client in clients.values():
            await client.aclose()
        await browser.close()


@pytest.mark.embedded
@pytest.mark.skipif(not FULL, reason="half a minute of the embedded model: in full runs")
async def test_the_same_on_the_embedded_model(tmp_path, monkeypatch):
    pytest.importorskip("xllamacpp")
    (tmp_path / "disputatio.toml").write_text("[limits]\nminimum_arguments = 1\nmaximum_arguments = 1\n")
    async with served(tmp_path) as here:
        for name in ("LLM_PROVIDER", "LLM_BASE_URL", "LLM_MODEL", "LLM_API_KEY"):
            monkeypatch.delenv(name, raising=False)
        async with asyncio.timeout(600):
            assert await held(here.url, widest(tmp_path)) == []
