"""Markdown shows what participants wrote and takes no structure from it. The oracle is a CommonMark parser."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from staged_debates import ENDINGS, HOSTILE, held

from disputatio.motion import clean, one_line
from disputatio.report.markdown import escaped, render_markdown
from disputatio.report.verdict import structured_reading

_ALL = ("complete", "freeform", *ENDINGS, "embedded", "hostile", "hostile freeform", "wide", "long")
_BREAKS = {"hardbreak", "softbreak"}
_OURS = {"strong", "em", "hardbreak", "text", "softbreak", "text_special"}


def tokens_of(text: str) -> list[Token]:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)


def inline_kinds(tokens: list[Token]) -> Counter[str]:
    children = [child for token in tokens for child in token.children or ()]
    return Counter(child.type.removesuffix("_open").removesuffix("_close") for child in children)


def shown(tokens: list[Token]) -> str:
    """The text a reader sees."""
    rows = [token.children or () for token in tokens if token.type == "inline"]
    return "\n".join("".join(" " if child.type in _BREAKS else child.content for child in row) for row in rows)


@pytest.mark.parametrize("name", _ALL)
def test_no_html_link_image_code_or_control_character_comes_out(name: str) -> None:
    text = render_markdown(held(name).report)
    tokens = tokens_of(text)
    assert set(inline_kinds(tokens)) <= _OURS
    assert not {token.type for token in tokens} & {"html_block", "fence", "code_block", "ordered_list_open"}
    assert clean(text) == text


def outline(name: str) -> list[tuple[str, str]]:
    tokens = tokens_of(render_markdown(held(name).report))
    return [
        (token.tag, tokens[place + 1].content) for place, token in enumerate(tokens) if token.type == "heading_open"
    ]


def test_hostile_text_adds_no_headings() -> None:
    peaceful, attacked = outline("complete"), outline("hostile")
    assert [row for row in attacked if row[0] != "h1"] == [row for row in peaceful if row[0] != "h1"]
    assert peaceful[0] == ("h1", "A startup with fewer than ten people should build microservices from day one")


def test_no_text_becomes_an_automatic_link_of_git_hosts() -> None:
    text = render_markdown(held("hostile").report)
    assert not re.search(r"https?://|(?i:www\.)|(?<!\\)@", text)


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_an_escaped_text_reads_exactly_as_it_was_written(text: str) -> None:
    for written in (text, f"{HOSTILE[:40]}{text}"):
        assert shown(tokens_of(escaped(written))) == one_line(written).strip()


@settings(max_examples=40, deadline=None)
@given(st.text("\\`*_{}[]()<>#+-.!|~&$^=: \nab1@w", max_size=40))
def test_markup_characters_in_any_mixture_stay_text(text: str) -> None:
    tokens = tokens_of(f"**x** {escaped(text)}")
    assert set(inline_kinds(tokens)) <= {"strong", "text", "text_special"}
    assert shown(tokens).strip() == f"x {one_line(text)}".strip()


def test_every_argument_is_in_the_trace_table() -> None:
    report = held("complete").report
    verdict = structured_reading(report)
    assert verdict is not None
    rows = [line for line in render_markdown(report).splitlines() if re.match(r"\| (PRO|CON)-\d", line)]
    assert len(rows) == len(verdict.trace)
    for row, line in zip(verdict.trace, rows, strict=True):
        for part in (row.id, row.claim, row.computed, row.judged or "-", row.computed_reason):
            assert part in line.replace("\\", "")
        assert ("differ" in line) is row.differs


def test_the_transcript_names_every_ask() -> None:
    text = render_markdown(held("degraded").report)
    assert "**con abstained in the closing (" in text
    for phase in ("### Opening", "### Cross-examination", "### Closing", "### Judging"):
        assert phase in text


def test_numbers_and_dashes_of_ours_bring_no_backslash() -> None:
    report = held("complete").report
    text = render_markdown(
        replace(report, outcome={**report.outcome, "unresolved_questions": ["Why is it?", "When was it?"]})
    )
    assert "\\" not in text
    assert "- Release time for a team of five" in text
