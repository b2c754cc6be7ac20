"""What the check of citations came to is told on every surface: fabricated words nowhere pass for the source's own."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import cache
from typing import Any

import pytest
from cited_debates import CHANGED, FABRICATED, FIGURES, NEAR, STUDY, VERIFIED, citing, hold_cited
from staged_debates import Staged, staged

from disputatio.participants.call import Call
from disputatio.record.events import AnswerRejected, TurnTaken
from disputatio.report.argdown import render_argdown
from disputatio.report.citations import citation_readings
from disputatio.report.json_export import export_json, render_json
from disputatio.report.markdown import render_markdown
from disputatio.report.page import render_page
from disputatio.report.presenters.registry import sureness
from disputatio.report.reading import DebateReport
from disputatio.report.text import render_text
from disputatio.report.verdict import structured_reading

EXPECTED = {
    ("PRO-1", CHANGED): "unverified",
    ("PRO-2", NEAR): "repaired",
    ("PRO-2", FABRICATED): "unverified",
    ("PRO-3", "3.84"): "verified",
    ("CON-1", VERIFIED): "verified",
    ("PRO-1", "The study covers one company with 140 engineers."): "verified",
    ("PRO-3", "21.4 %"): "unverified",
}
SURFACES = {
    "text": lambda report: " ".join(render_text(report, 120).split()),
    "narrow text": lambda report: " ".join(render_text(report, 40).split()),
    "Markdown": render_markdown,
    "JSON": render_json,
    "Argdown": render_argdown,
    "page": render_page,
}


@cache
def debate() -> Staged:
    return asyncio.run(hold_cited())


def report() -> DebateReport:
    return debate().report


def test_every_citation_is_in_the_record_with_what_it_came_to() -> None:
    found = {(row.about, row.said): row.status for row in report().citations}
    assert found == EXPECTED
    assert report().status.value == "COMPLETE"


def test_a_false_citation_is_asked_again_once() -> None:
    events = [row.event() for row in debate().events]
    asked_again = [row.path for row in events if isinstance(row, AnswerRejected)]
    assert asked_again == ["opening/pro", "cross-examination/con"]
    broken = Counter(violation["rule"] for row in events if isinstance(row, TurnTaken) for violation in row.violations)
    assert broken == {"unverified_citation": 3}


def test_a_corrected_citation_is_no_violation() -> None:
    tried: set[tuple[str, str]] = set()

    def mending(seat: str, call: Call) -> dict[str, object]:
        first = (seat, call.schema_name) not in tried
        tried.add((seat, call.schema_name))
        return citing(seat, call) if first else staged(seat, call)

    held = asyncio.run(hold_cited(mending)).report
    assert [row.violations for row in held.turns] == [()] * len(held.turns)
    assert {row.said for row in held.citations} == {VERIFIED}
    assert len(held.rejections) == 2


@pytest.mark.parametrize("surface", SURFACES)
def test_each_surface_shows_words_source_and_status(surface: str) -> None:
    shown = SURFACES[surface](report())
    # An apostrophe or a hyphen may be written as an escape; the words chosen here have neither.
    for words in (CHANGED, FABRICATED, VERIFIED, "and fell back to the old level in the third"):
        assert words in shown
    for status in ("verified", "repaired", "unverified"):
        assert status in shown
    assert "the source says 3.8 hours, the quote 8.3 hours" in shown
    assert "the source has no such words" in shown


def test_the_briefing_counts_and_names_failed_citations() -> None:
    said = [row for row in sureness(report()) if "citation" in row and "checked" in row]
    (sentence,) = said
    assert sentence.startswith("7 citations checked against the sources: 3 verified, 1 repaired and 3 unverified")
    assert "(at PRO-1, PRO-2 and PRO-3)" in sentence
    uncited = asyncio.run(hold_cited(staged)).report
    assert any(row.startswith("nothing was cited from the sources") for row in sureness(uncited))


def test_the_trace_has_all_citations() -> None:
    assert structured_reading(report()) is not None
    trace = {row["id"]: row for row in export_json(report())["outcome"]["trace"]}
    assert [row["status"] for row in trace["PRO-2"]["citations"]] == ["repaired", "unverified"]
    assert [row["status"] for drawn in trace["PRO-1"]["drew"] for row in drawn["citations"]] == ["verified"]


def test_the_page_marks_exactly_the_quoted_words() -> None:
    from xml.etree.ElementTree import Element

    import html5lib

    tree: Element = html5lib.parse(render_page(report()), namespaceHTMLElements=False)
    marks = {"".join(mark.itertext()): mark.get("class") for mark in tree.iter("mark")}
    assert marks[VERIFIED] is None
    assert marks["The study covers one company with 140 engineers."] is None
    assert marks["3.8412"] is None
    assert marks["12.4"] == "near"
    assert marks[CHANGED.replace("8.3", "3.8").rstrip(".")] == "near"
    assert not any(FABRICATED in words for words in marks)
    for words in marks:
        assert words in STUDY or words in FIGURES or words == "Three public accounts of such splits"


@pytest.mark.parametrize("rows", [None, 7, "x", [7], [{}], [{"spans": 7}], [{"spans": [7, [1], ["a", 2], [0, True]]}]])
def test_foreign_citation_findings_are_shown(rows: object) -> None:
    for row in citation_readings(rows):
        assert (row.spans, row.sound, row.sentence) == ((), False, '""')


def with_a_loose_figure(seat: str, call: Call) -> dict[str, Any]:
    """PRO backs its first argument with numbers that stand in no source; its second states what the study says."""
    answer = citing(seat, call)
    if call.schema_name == "opening" and seat == "pro":
        answer["arguments"][0]["evidence"] = "A 2018 study saw 36 % fewer incidents."
        answer["arguments"][1]["evidence"] = "The release took 3.8 hours, and 0.7 hours after the split."
    return answer


@pytest.mark.parametrize("surface", SURFACES)
def test_figures_in_no_source_are_marked_everywhere(surface: str) -> None:
    held = asyncio.run(hold_cited(with_a_loose_figure)).report
    shown = " ".join(SURFACES[surface](held).split())
    if surface not in {"Argdown", "JSON"}:
        assert "in no source (PRO-1: 2018, 36 %; PRO-3: 20 months" in shown
    assert "in no source" in shown.lower()
    (turn,) = [row for row in held.turns if row.form == "opening" and row.seat == "pro"]
    assert turn.unstated[0] == ("PRO-1", ("2018", "36 %"))
    assert [about for about, _ in turn.unstated] == ["PRO-1", "PRO-3"]


def test_the_other_seats_see_which_figures_stand_in_no_source() -> None:
    staged_debate = asyncio.run(hold_cited(with_a_loose_figure))
    texts = staged_debate.store.texts(staged_debate.id)
    assert any("⟦in no source⟧ 2018, 36 %" in text for text in texts.values())
