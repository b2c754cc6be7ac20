"""A real browser starts a debate on the page, watches it live and reads its record; at three widths, in both lights."""

from __future__ import annotations

import asyncio
import shutil
from typing import Any

import pytest
from served import served, started

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


async def held(url: str, *, besides: tuple[str, ...] = ()) -> list[str]:
    """Start, watch and read; returns what the browser complained about. Then look at all pages, and at ``besides``."""
    from playwright.async_api import async_playwright

    complaints: list[str] = []
    async with async_playwright() as play:
        browser = await play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
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
        await page.wait_for_selector("#verdict", timeout=480_000)
        # Read: from the verdict to the words that decided, in one click.
        await page.click("#verdict .pair a >> nth=0")
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


async def test_a_debate_is_started_watched_and_read_in_a_browser(tmp_path):
    provider = FakeProvider(latency=0.2, chunk_latency_s=0.004)
    async with served(tmp_path, provider=provider) as here, here.client() as client:
        waits = await started(client, people=["con"])
        turn = f"/debates/{waits}/turn?path=opening/con"
        besides = ("/new", "/compare", "/figures", "/login", "/nothing", f"/debates/{waits}", turn)
        assert await held(here.url, besides=besides) == []


@pytest.mark.embedded
@pytest.mark.skipif(not FULL, reason="half a minute of the embedded model: in full runs")
async def test_the_same_on_the_embedded_model(tmp_path, monkeypatch):
    pytest.importorskip("xllamacpp")
    (tmp_path / "disputatio.toml").write_text("[limits]\nminimum_arguments = 1\nmaximum_arguments = 1\n")
    async with served(tmp_path) as here:
        for name in ("LLM_PROVIDER", "LLM_BASE_URL", "LLM_MODEL", "LLM_API_KEY"):
            monkeypatch.delenv(name, raising=False)
        async with asyncio.timeout(600):
            assert await held(here.url) == []
