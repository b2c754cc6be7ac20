"""The page as text: well formed, self-contained, the same for the same record, every link with its target."""

import base64
import hashlib
import re
from collections import Counter
from functools import cache
from itertools import pairwise
from xml.etree.ElementTree import Element

import html5lib
import pytest
from staged_debates import ENDINGS, held
from staged_pages import ATTACK, QUOTED, SOURCE, page_of, report_of

from disputatio.motion import clean
from disputatio.report.argdown import render_argdown
from disputatio.report.headings import heading
from disputatio.report.page import render_page
from disputatio.report.presenters.registry import sureness
from disputatio.report.reading import DebateReport
from disputatio.report.verdict import five_headings, structured_reading

pytestmark = pytest.mark.slow

POISONED = ("poisoned", "poisoned cited", "poisoned whole", "poisoned freeform")
PEACEFUL = ("complete", "sourced", "cited", "freeform", *ENDINGS, "embedded")
ALL = (*PEACEFUL, "hostile", "hostile freeform", "wide", "long", *POISONED)
OUR_TAGS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "script",
        "body",
        "header",
        "nav",
        "main",
        "section",
        "article",
        "footer",
        "div",
        "figure",
        "figcaption",
        "details",
        "summary",
        "svg",
        "symbol",
        "circle",
        "path",
        "rect",
        "polygon",
        "text",
        "tspan",
        "use",
        "g",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "p",
        "b",
        "span",
        "time",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "q",
        "pre",
        "code",
        "mark",
        "a",
        "br",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    ]
)


@cache
def tree_of(name: str) -> Element:
    """The parsed page; a strict parser raises at the first thing that is not well formed."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page_of(name))


def elements(name: str) -> list[tuple[str, Element]]:
    return [(row.tag.rpartition("}")[2], row) for row in tree_of(name).iter() if isinstance(row.tag, str)]


def shown(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def by_id(name: str, anchor: str) -> Element:
    return next(row for _, row in elements(name) if row.get("id") == anchor)


@pytest.mark.parametrize("name", ALL)
def test_a_page_is_well_formed(name):
    assert len(elements(name)) > 60


@pytest.mark.parametrize("name", ALL)
def test_every_link_leads_to_one_place_of_the_page(name):
    ids = Counter(row.get("id") for _, row in elements(name) if row.get("id"))
    assert not [anchor for anchor, number in ids.items() if number > 1]
    links = [row.get("href") for _, row in elements(name) if row.get("href") is not None]
    assert links
    assert {link for link in links if not link.startswith("#") or link[1:] not in ids} == set()
    named = " ".join(row.get("aria-labelledby", "") for _, row in elements(name)).split()
    assert set(named) <= set(ids)


@pytest.mark.parametrize("name", ALL)
def test_nothing_in_a_page_can_reach_outside_or_run(name):
    for tag, row in elements(name):
        assert tag in OUR_TAGS
        assert not {"src", "srcset", "style", "action", "srcdoc", "data", "autofocus"} & set(row.attrib)
        assert not [attribute for attribute in row.attrib if str(attribute).startswith("on")]
    tags = Counter(tag for tag, _ in elements(name))
    # Data for a script is no script: a browser runs what has another type never.
    data = [row for tag, row in elements(name) if tag == "script" and row.get("type")]
    assert [(row.get("type"), row.get("id")) for row in data] in ([], [("application/json", "argument-graph")])
    assert tags["script"] == 1 + 2 * len(data)
    assert (tags["style"], tags["title"]) == (1, 1 + page_of(name).count('<title id="map-'))


@pytest.mark.parametrize("name", ALL)
def test_the_policy_allows_only_own_style_and_script(name):
    policy = next(row for _, row in elements(name) if row.get("http-equiv") == "Content-Security-Policy").get("content")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    for tag in ("style", "script"):
        texts = [row.text for found, row in elements(name) if found == tag and not row.get("type")]
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert rules.pop(f"{tag}-src") == " ".join(f"'sha256-{digest}'" for digest in digests)
    assert set(rules.items()) == {("default-src", "'none'"), ("base-uri", "'none'"), ("form-action", "'none'")}


@pytest.mark.parametrize("name", ALL)
def test_no_hidden_character_comes_through(name):
    assert clean(page_of(name)) == page_of(name)


def test_hostile_text_adds_no_nesting():
    nested = {
        name: {(row.tag, child.tag) for _, row in elements(name) for child in row if isinstance(child.tag, str)}
        for name in ("sourced", "poisoned")
    }
    # A persona, which the peaceful seats lack, stands in a line of its own.
    assert nested["poisoned"] <= nested["sourced"] | {("dd", "br"), ("dd", "span")}


@pytest.mark.parametrize("name", POISONED)
def test_what_is_hostile_is_still_shown_as_it_was_written(name):
    words = " ".join(clean(ATTACK).split())
    assert words in shown(tree_of(name).find("body"))


@pytest.mark.parametrize("name", ALL)
def test_headings_step_down_one_level_at_a_time(name):
    levels = [int(tag[1]) for tag, _ in elements(name) if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


@pytest.mark.parametrize("name", ["complete", "sourced", "freeform", "poisoned"])
def test_the_same_record_gives_the_same_bytes(name):
    assert render_page(report_of(name)) == page_of(name)


@pytest.mark.parametrize("name", ALL)
def test_a_page_is_smaller_than_a_megabyte(name):
    assert len(page_of(name).encode()) < 1_000_000


@pytest.mark.parametrize("name", ENDINGS)
def test_what_a_debate_lacks_stands_before_its_scores(name):
    verdict, head = shown(by_id(name, "verdict")), heading(report_of(name))
    assert " ".join(head.text.split()) in verdict
    assert head.text[:40] in verdict.partition("Scores")[0]
    brand = next(row for _, row in elements(name) if row.get("class") == "brand")
    assert head.status.value in shown(brand)


def test_a_whole_debate_has_no_caution():
    assert not [row for _, row in elements("complete") if row.get("class") == "caution"]


def test_verdict_scores_and_sureness_are_those_of_the_record():
    report = report_of("complete")
    verdict, text = structured_reading(report), shown(by_id("complete", "verdict")).lower()
    assert verdict.reading.lower() in text
    assert all(f"{total:.2f}" in text for total in verdict.totals.values())
    text = shown(by_id("complete", "grounds")).lower()
    assert all(row.lower() in text for row in sureness(report))


def test_trace_table_has_both_standings_and_reasons():
    rows = [shown(row) for tag, row in elements("complete") if tag == "tr"]
    for line in structured_reading(report_of("complete")).trace:
        row = next(row for row in rows if line.id in row and line.claim in row)
        for word in (line.judged, line.computed):
            assert word.replace("_", " ") in row
        told = (line.judged_reason, line.computed_reason, f"{line.score:.2f}", *line.drew)
        assert [piece for piece in told if piece not in row] == []
        assert ("differs" in row) is line.differs


def follow(name: str, place: str, words: str) -> str:
    """Click the link in ``place`` that reads ``words``; where it leads."""
    links = [row for row in by_id(name, place).iter() if row.get("href") and words in shown(row)]
    assert links, f"{place} has no link that reads {words}"
    return links[0].get("href")[1:]


def test_clicks_lead_from_result_to_response_and_evidence():
    response = follow("sourced", "grounds", "con: refute")
    assert "CON → PRO-2" in shown(by_id("sourced", response))
    argument = follow("sourced", response, "PRO-2")
    assert "Teams can own services end to end" in shown(by_id("sourced", argument))
    evidence = follow("sourced", response, "the evidence it attacks")
    assert "A survey of 61 small teams" in shown(by_id("sourced", evidence))
    finding = follow("sourced", argument, "PARTIALLY UPHELD")
    assert follow("sourced", finding, "con: refute") == response


def test_clicks_lead_from_argument_to_quote_and_back():
    evidence = follow("sourced", follow("sourced", "trace", "PRO-1"), QUOTED)
    place = by_id("sourced", evidence)
    assert (place.tag.rpartition("}")[2], shown(place)) == ("mark", QUOTED)
    assert shown(by_id("sourced", follow("sourced", evidence, QUOTED))).startswith("PRO-1")
    assert shown(by_id("sourced", "source-benchmark")).endswith(" ".join(SOURCE.split()))


def test_words_of_a_fallacy_are_highlighted_where_they_were_said():
    place = by_id("complete", follow("complete", "trace", "Three public accounts"))
    assert (place.tag.rpartition("}")[2], shown(place)) == ("mark", "Three public accounts of such splits")


def test_the_map_has_every_argument_and_response():
    root = next(row for _, row in elements("complete") if row.get("class") == "map")
    told = [row.get("aria-label") for row in root.iter() if row.get("aria-label")]
    lines = structured_reading(report_of("complete")).trace
    for line in lines:
        assert [row for row in told if row.startswith(f"{line.id}: {line.claim}") and line.judged in row]
        assert [row for row in told if f" on {line.id}: {line.drew[0]}, " in row]
    kinds = Counter(row.get("class") for row in root.iter() if (row.get("class") or "").startswith("edge"))
    assert kinds == {"edge refute": 1, "edge challenge": 2, "edge partial": 2, "edge concede": 1}
    assert sum("agreed by both sides" in row for row in told) == 1
    assert len(told) == 2 * len(lines), "each is in the page once"


def test_a_freeform_page_has_headings_and_speeches():
    report, text = report_of("freeform"), shown(tree_of("freeform"))
    for title, words in five_headings(report):
        place = "verdict" if title in {"Recommendation", "Uncertain areas"} else "briefing"
        assert words in shown(by_id("freeform", place)), title
    speeches = [row.content["speech"] for row in report.turns if row.form == "monologue"]
    assert len(speeches) == 6
    assert all(" ".join(row.split()) in text for row in speeches)
    assert "Argument map" not in text


def test_every_turn_shows_model_cost_and_rejections():
    report = report_of("hostile")
    turns = [row for tag, row in elements("hostile") if tag == "article"]
    assert len(turns) == len(report.entries)
    for entry, row in zip(report.entries, turns, strict=True):
        text = shown(row)
        assert f"served by {entry.seat}-model" in text
        assert re.search(r"\d+ tokens.*USD", text)
        assert len([part for part in row.iter() if "raw" in (part.get("class") or "")]) == len(entry.rejections)
        assert all(str(row["rule"]).replace("_", " ") in text for row in entry.violations)
    assert any(entry.rejections for entry in report.entries)
    assert any(entry.violations for entry in report.entries)


def test_the_page_shows_the_head_and_how_to_verify():
    report = report_of("complete")
    assert f"disputatio verify {report.id} --head {report.head}" in shown(by_id("complete", "record"))


@pytest.mark.slow
@pytest.mark.parametrize("renderer", [render_page, render_argdown])
def test_a_debate_can_be_shown_wherever_it_stands(renderer):
    events = list(held("complete").events)
    for number in (0, 1, 2, len(events) // 3, len(events) // 2, len(events) - 1):
        text = renderer(DebateReport.of("7f3a", events[:number], {}))
        assert text.strip()
    assert "None yet: the debate has no end." in render_page(DebateReport.of("7f3a", events[:-1], {}))
