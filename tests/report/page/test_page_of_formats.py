"""What the pages of the formats show: each speech with its score, what a criticism hit, and the day of a market."""

from __future__ import annotations

import asyncio
import re
from functools import cache

from staged_pages import page_of, report_of
from test_match_shown import held as held_match

from disputatio.report.match import match_reading
from disputatio.report.page import render_page
from disputatio.report.verdict import structured_reading


@cache
def match_page() -> tuple[str, list[str]]:
    """The page of a match, and the ids of its speeches."""
    report = asyncio.run(held_match()).report()
    reading = match_reading(report)
    assert reading is not None
    return render_page(report), [row.id for row in reading.speeches]


def test_every_score_row_leads_to_its_speech() -> None:
    page, speeches = match_page()
    for speech in speeches:
        (place,) = re.findall(rf'<th scope="row"><a href="#([^"]+)">{speech}</a>', page)
        card = page.partition(f'id="{place}"')[2].partition("</article>")[0]
        assert re.search(r"\d+/\d+ words", card)
        assert "score" in card


def test_a_violation_is_shown_once_and_counted() -> None:
    page, _ = match_page()
    assert page.count("Counter question, found by code") == 1
    assert "3 penalties and" in page
    assert "data-driven" in page
    assert "data_driven" not in page.partition('id="transcript"')[0]


def test_the_scoreboard_has_a_bar_for_every_total() -> None:
    page, _ = match_page()
    board = page.partition('id="scoreboard"')[2].partition("<h3")[0]
    assert board.count('<rect class="bar"') == 10


def test_a_review_shows_what_each_argument_drew_and_no_fallacies() -> None:
    page, verdict = page_of("review"), structured_reading(report_of("review"))
    assert verdict is not None
    for row in verdict.trace:
        cells = page.partition('<table class="trace">')[2].partition(f">{row.id}<")[2].partition("</tr>")[0]
        drew = cells.partition('class="drew"')[2].partition("</td>")[0]
        assert ("nothing" in drew) is not bool(row.drew), row.id
    assert "Fallacies" not in page


def test_a_market_page_begins_with_its_day_and_folds_its_values() -> None:
    page = page_of("market")
    head = page.partition("<h1")[0]
    assert "as known on 2026-05-15" in head
    assert not re.search(r'<details class="source"[^>]* open', page)
    assert page.count('<details class="fold"') >= 4
