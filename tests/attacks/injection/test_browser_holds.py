"""All attacks on pages in a real browser: nothing runs, nothing is fetched, no element comes out of a text."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from injection_corpus import Words, attacks, in_turn
from laden_reports import laden

from disputatio.report.page import render_page
from disputatio.report.reading import DebateReport

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here; on Debian: apt-get install chromium"),
]
_FLAGS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update"
_KINDS = """() => [...new Set([...document.querySelectorAll('*')].map(
    row => row.localName + ' ' + row.getAttributeNames().sort().join(' ')))].sort()"""
_CALM = ("Plain words about a road.", "Plain words about two bridges.", "Plain words about the river.")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=_FLAGS.split())
        yield browser
        browser.close()


PAGES = {"sourced": (0, 122), "degraded": (61,)}
"""Pages on which every attack stands somewhere: the debate, and the attacks with which its places begin."""


def test_no_attack_runs_fetches_or_adds_an_element(chromium: Any, tmp_path: Path) -> None:
    noises: list[str] = []
    requests: set[str] = set()
    told = ""
    context = chromium.new_context()
    page = context.new_page()
    page.on("console", lambda message: noises.append(message.text))
    page.on("pageerror", lambda error: noises.append(str(error)))
    page.on("dialog", lambda dialog: (noises.append(dialog.message), dialog.dismiss()))
    page.on("popup", lambda other: noises.append(other.url))
    page.on("request", lambda request: requests.add(request.url.partition("#")[0]))
    file = tmp_path / "debate.html"

    def seen(report: DebateReport) -> list[str]:
        # Without the policy of the page, so that nothing but the escaping holds.
        text, found = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", render_page(report))
        assert found == 1
        file.write_text(text.replace("<style>", "<script>window.canary=()=>{window.ran=1}</script><style>", 1), "utf-8")
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(box => box.open = true)")
        assert page.evaluate("'ran' in window") is False
        kinds: list[str] = page.evaluate(_KINDS)
        return kinds

    for name, starts in PAGES.items():
        allowed = set(seen(laden(name, Words(*_CALM, most=1))))
        for start in starts:
            assert set(seen(laden(name, in_turn(start=start)))) <= allowed
            told += page.evaluate("document.body.textContent")
            assert page.evaluate("getComputedStyle(document.body).display") == "block"
    assert noises == []
    assert requests == {file.as_uri()}
    shown = " ".join(told.split())
    assert sum(" ".join(attack.text.split())[:60] in shown for attack in attacks()) > 300
    context.close()
