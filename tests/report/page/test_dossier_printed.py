"""The dossier in a real browser, on a screen and printed: nothing foreign runs, nothing is cut, pages are numbered."""

from __future__ import annotations

import io

import pytest
from staged_debates import held
from test_page_in_a_browser import Seen, chromium, pytestmark, screen, seeing  # noqa: F401  (fixtures and a mark)

from disputatio.prompts import packaged_book
from disputatio.report.dossier import Surroundings, dossier_html, dossier_of

WIDER_THAN_PAGE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def dossiers() -> dict[str, str]:
    """Made before a browser runs: the debates are held in an event loop of their own."""
    return {name: html_of(name) for name in ("complete", "hostile", "long")}


def html_of(name: str) -> str:
    around = Surroundings(None, "sqlite:///d.sqlite", "contract-risk", (), packaged_book().kept())
    return dossier_html(dossier_of(held(name).report, around))


@pytest.mark.parametrize("name", ["complete", "hostile", "long"])
def test_it_fits_screens_and_phones_without_requests(dossiers, chromium, tmp_path, name):  # noqa: F811
    for width in (1280, 390):
        with Seen(chromium, tmp_path, dossiers[name], **screen(width)) as seen:
            assert seen.noises == []
            assert seen.requests == [seen.url]
            assert seen.run(WIDER_THAN_PAGE) <= 0


@pytest.mark.parametrize("name", ["complete"])
def test_it_prints_numbered_pages_with_table_heads(
    dossiers,
    chromium,  # noqa: F811
    tmp_path,
    name,
):
    from pypdf import PdfReader

    with Seen(chromium, tmp_path, dossiers[name], **screen(1280)) as seen:
        data = seen.page.pdf(prefer_css_page_size=True, print_background=True)
    pages = PdfReader(io.BytesIO(data)).pages
    texts = [page.extract_text() for page in pages]
    assert [round(float(side)) for side in pages[0].mediabox[2:]] == [595, 842]
    for number, text in enumerate(texts, start=1):
        assert f"Page {number} of {len(texts)}" in text
    assert "Contents" in texts[0]
    prompts = [text for text in texts if "as released" in text]
    assert prompts
    assert all("SHA-256" in text for text in prompts)
