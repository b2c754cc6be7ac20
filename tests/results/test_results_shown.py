"""A result is a few lines in a terminal and one escaped piece of HTML in a notebook."""

from __future__ import annotations

import dataclasses
import re

import html5lib
import pytest
from read_debates import READINGS, read_report
from staged_debates import held

from disputatio.debates import Debate, read_debate
from disputatio.report.summary import first_screen
from disputatio.results import Result
from disputatio.results.shown import notebook_html, short_text

EVERY = (*READINGS, "complete", "freeform", "competition", "panel", "review")
_ALLOWED = {"div", "style", "p", "dl", "dt", "dd", "ol", "ul", "li", "details", "summary", "b"}


def debate(name: str) -> Debate:
    return read_debate(held(name).store, held(name).id)


@pytest.mark.parametrize("name", EVERY)
def test_the_short_text_has_the_decision_the_doubt_and_the_cost(name: str) -> None:
    text, screen = short_text(Result(read_report(name))), first_screen(read_report(name))
    lines = text.splitlines()
    assert len(lines) == 5
    assert max(map(len, lines)) <= 120
    assert screen.status.value in lines[0]
    assert screen.decision[:40] in lines[2]
    assert screen.worst_doubt.text[:40] in lines[3]


@pytest.mark.parametrize("name", ["hostile", "long", "wide"])
def test_the_short_text_stays_short_whatever_was_said(name: str) -> None:
    text = repr(debate(name))
    assert len(text.splitlines()) == 5
    assert len(text) <= 620
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text)


def test_a_record_that_cannot_be_read_has_a_short_text_too() -> None:
    whole = debate("complete")
    newer = whole.record[0]._replace(kind="FromTheFuture")
    assert repr(dataclasses.replace(whole, record=(newer,))).startswith(f"<Debate {whole.id}: ")


@pytest.mark.parametrize("name", [*EVERY, "hostile"])
def test_the_html_is_whole_and_runs_nothing(name: str) -> None:
    html = notebook_html(Result(held(name).report if name == "hostile" else read_report(name)))
    parsed = html5lib.HTMLParser(strict=False, namespaceHTMLElements=False)
    tree = parsed.parseFragment(html)
    assert [row for row in parsed.errors if row[1] != "expected-closing-tag-but-got-eof"] == []
    names = {row.tag for row in tree.iter() if isinstance(row.tag, str)} - {"DOCUMENT_FRAGMENT"}
    assert names <= _ALLOWED
    attributes = {key for row in tree.iter() for key in row.attrib}
    assert attributes <= {"class", "dir", "open"}


def test_every_rule_of_the_style_names_its_root() -> None:
    html = notebook_html(Result(read_report("complete")))
    style = html.partition("<style>")[2].partition("</style>")[0]
    rules = re.findall(r"^([^{}]+)\{[^{}]*\}$", style, re.MULTILINE)
    assert len(rules) > 10
    for selector in ",".join(rules).split(","):
        assert selector.strip().startswith(".disputatio-result"), selector
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.parametrize("name", EVERY)
def test_the_html_has_the_first_screen_and_every_argument(name: str) -> None:
    report = read_report(name)
    tree = html5lib.parseFragment(notebook_html(Result(report)), namespaceHTMLElements=False)
    text = " ".join("".join(tree.itertext()).split())
    screen = first_screen(report)
    assert " ".join(screen.decision.split()) in text
    assert " ".join(screen.worst_doubt.text.split()) in text
    for row in Result(report).arguments:
        if row.turn and report.imported is None:
            assert row.id in text


def test_a_large_map_is_cut_and_says_so() -> None:
    report = read_report("complete")
    opening = next(row for row in report.phases if row.entries[0].form == "opening")
    entry = opening.entries[0]
    many = {**entry.content, "arguments": list(entry.content["arguments"]) * 20}  # type: ignore[call-overload]
    larger = dataclasses.replace(opening, entries=(dataclasses.replace(entry, content=many), *opening.entries[1:]))
    phases = tuple(larger if row is opening else row for row in report.phases)
    html = notebook_html(Result(dataclasses.replace(report, phases=phases)))
    assert html.count('class="dsp-argument') == 23
    assert "40 further arguments not shown here" in html
