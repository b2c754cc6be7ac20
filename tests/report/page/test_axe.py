"""Axe finds nothing on any page: every format, however it ended, in both lights, at two widths, items struck or not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ended_debates import ENDED, ended
from staged_pages import page_of

from disputatio.report.page import render_page
from disputatio.results import Result
from disputatio.results.shown import notebook_html

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here; on Debian: apt-get install chromium"),
]
SCRIPT = Path(axe.__file__).with_name("axe.min.js").read_text("utf-8")
SCREENS = ((1440, "light"), (390, "dark"), (1440, "dark"), (390, "light"))
TAKES_LONG = "color-contrast"
"""Three quarters of the time of all rules. Colours depend on the light alone: the first two screens have both."""
STRUCK = {
    "cited": "#without=PRO-2,CON%20on%20PRO-1,CON-1%20quote%201,PRO%20on%20CON-1",
    "review": "#without=REB-2,CRIT-1,PROP-1%20quote%201",
    "market": "#without=tech_bear%20on%20tech_bull_arg_0,fund_bear_arg_0",
}
RUN = """async (left) => (await axe.run(document, {resultTypes: ["violations"], rules: left})).violations.map(
  (row) => [row.id, row.nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`)])"""


@pytest.fixture(scope="module")
def pages() -> Iterator[Any]:
    """An empty page for each light; pages are opened in it one after the other."""
    with playwright.sync_playwright() as running:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
        browser = running.chromium.launch(executable_path=CHROMIUM, args=flags)

        @cache
        def page(scheme: str) -> Any:
            return browser.new_context(color_scheme=scheme, reduced_motion="reduce").new_page()

        yield page
        browser.close()


def violations(page: Any, *left_out: str) -> list[Any]:
    page.evaluate("document.querySelectorAll('details').forEach(box => box.open = true)")
    page.evaluate(SCRIPT)
    found: list[Any] = page.evaluate(RUN, {name: {"enabled": False} for name in left_out})
    return found


def checked(pages: Any, folder: Path, text: str, address: str = "") -> list[Any]:
    file = folder / "debate.html"
    file.write_text(text, "utf-8")
    found: list[Any] = []
    for width, scheme in SCREENS:
        page = pages(scheme)
        page.set_viewport_size({"width": width, "height": 900})
        page.goto("about:blank")
        page.goto(f"{file.as_uri()}{address}")
        left_out = () if (width, scheme) in SCREENS[:2] else (TAKES_LONG,)
        found += [(width, scheme, row) for row in violations(page, *left_out)]
    return found


@pytest.mark.parametrize(("name", "ending"), ENDED)
def test_axe_finds_nothing_on_a_page_of_any_format(pages, tmp_path, name, ending) -> None:
    assert checked(pages, tmp_path, render_page(ended(name, ending))) == []


@pytest.mark.parametrize("name", STRUCK)
def test_axe_finds_nothing_where_items_are_struck(pages, tmp_path, name) -> None:
    assert checked(pages, tmp_path, page_of(name), STRUCK[name]) == []


@pytest.mark.parametrize(("name", "ending"), ENDED)
def test_decision_and_doubt_stand_in_the_first_700_pixels(pages, tmp_path, name, ending) -> None:
    file = tmp_path / "debate.html"
    file.write_text(render_page(ended(name, ending)), "utf-8")
    for width in (1440, 390):
        page = pages("light")
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(file.as_uri())
        for place, edge in ((".first > div:first-child", "top"), (".first .doubt", "bottom")):
            at = page.evaluate(
                "([place, edge]) => document.querySelector(place).getBoundingClientRect()[edge]", [place, edge]
            )
            assert at <= 700, (width, place)


def test_axe_finds_nothing_in_a_notebook(pages, tmp_path) -> None:
    """A notebook shows many results on one page, and brings the language, the title and the headings."""
    cells = [f"<h2>{name}, {ending}</h2>{notebook_html(Result(ended(name, ending)))}" for name, ending in ENDED]
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Notebook</title>'
    page = f"{head}<body><main><h1>Notebook</h1>{''.join(cells)}</main></body></html>"
    assert checked(pages, tmp_path, page) == []


def test_axe_would_notice_a_control_without_a_name(pages, tmp_path) -> None:
    text = page_of("complete").replace("</h1>", "</h1><button></button>", 1)
    assert [row[:2] for row in checked(pages, tmp_path, text) if row[2][0] == "button-name"] == list(SCREENS)


def test_axe_would_notice_pale_words_in_each_light(pages, tmp_path) -> None:
    text = page_of("complete").replace(
        "</h1>", '</h1><table><tr><td bgcolor="#777777"><font color="#888888">pale</font>', 1
    )
    found = checked(pages, tmp_path, text)
    assert {scheme for _, scheme, row in found if row[0] == TAKES_LONG} == {"light", "dark"}
