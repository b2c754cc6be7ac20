"""A real browser starts a debate on the page, watches it live and reads its record; at three widths, in both lights."""

from __future__ import annotations

import asyncio
import shutil
from typing import Any

import pytest
from served import served

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


async def held(url: str, *, widths: bool) -> list[str]:
    """Start, watch and read; returns what the browser complained about."""
    from playwright.async_api import async_playwright

    complaints: list[str] = []
    async with async_playwright() as play:
        browser = await play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await browser.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await page.goto(url)
        await page.click("text=Start a debate")
        await page.fill("#motion", "A town should ban cars from its centre")
        await page.click("text=Start the debate")
        await page.wait_for_selector("#live")
        # It is watched: words appear before the turn they belong to is whole, and nobody loads the page again.
        await page.wait_for_selector("#writing:not([hidden]) .writer span", timeout=120_000)
        await page.wait_for_selector("#said .said", timeout=120_000)
        await page.wait_for_selector("#verdict", timeout=240_000)
        # Read: from the verdict to the words that decided, in one click.
        await page.click("#verdict .pair a >> nth=0")
        target = page.url.partition("#")[2]
        assert await page.is_visible(f"[id='{target}']")
        if widths:
            await fits(browser, url, page.url.partition("#")[0])
        await browser.close()
    return complaints


async def fits(browser: Any, url: str, record: str) -> None:
    """No page is wider than its window; all fields have labels; no text is too faint on its ground."""
    for width, schemes in ((380, ("light",)), (820, ("dark",)), (1440, ("light",))):
        for scheme in schemes:
            context = await browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page = await context.new_page()
            for path in (url, f"{url}/new", f"{url}/compare", f"{url}/figures", record):
                await page.goto(path)
                assert await page.evaluate(
                    "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
                ), (path, width)
                unnamed = await page.evaluate(
                    "[...document.querySelectorAll('input:not([type=hidden]), select, textarea')]"
                    ".filter((one) => !one.labels.length).map((one) => one.name)"
                )
                assert unnamed == []
            await context.close()


async def test_a_debate_is_started_watched_and_read_in_a_browser(tmp_path):
    provider = FakeProvider(latency=0.2, chunk_latency_s=0.004)
    async with served(tmp_path, provider=provider) as here:
        assert await held(here.url, widths=True) == []


@pytest.mark.embedded
@pytest.mark.skipif(not FULL, reason="half a minute of the embedded model: in full runs")
async def test_the_same_on_the_embedded_model(tmp_path, monkeypatch):
    pytest.importorskip("xllamacpp")
    (tmp_path / "disputatio.toml").write_text("[limits]\nminimum_arguments = 1\nmaximum_arguments = 1\n")
    async with served(tmp_path) as here:
        for name in ("LLM_PROVIDER", "LLM_BASE_URL", "LLM_MODEL", "LLM_API_KEY"):
            monkeypatch.delenv(name, raising=False)
        async with asyncio.timeout(300):
            assert await held(here.url, widths=False) == []
