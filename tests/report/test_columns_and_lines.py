"""Laid-out text keeps to its width and loses nothing. The oracle for widths is Rich's own table."""

import unicodedata
from functools import cache
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import disputatio.report.columns as layout
from disputatio.motion import clean
from disputatio.report.columns import columns, cut, pad
from disputatio.report.text_spans import Column, Role, flow, line_columns, plain, span, table

_SCRIPTS = st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_WORDS = st.one_of(
    st.text(_SCRIPTS, max_size=30),
    st.sampled_from(
        ["微服务架构", "（成本）", "。", "👩\u200d👩\u200d👧", "e\u0301", "x" * 60, "\n", "한국어", "日本語、"]
    ),
)
_TEXTS = st.lists(_WORDS, max_size=20).map(" ".join).map(clean)


@cache
def _cells() -> dict[str, int]:
    """Rich's width of each character. Beyond the end are only ideographs, which one block of the rule holds."""
    return {char: cell_len(char) for char in map(chr, range(0x80, 0x20000))}


def test_no_character_is_measured_too_narrow() -> None:
    unseen = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    drawn = {char: cells for char, cells in _cells().items() if unicodedata.category(char) not in unseen}
    assert [char for char, cells in drawn.items() if cells > columns(char)] == []


def test_newer_wide_characters_are_wide_under_every_python(monkeypatch) -> None:
    """To the oldest Python, which has Unicode 14, a later character is unassigned and has no width."""
    later = [char for char, cells in _cells().items() if cells == 2 and cell_len(char, "14.0.0") < 2]
    assert len(later) > 300
    unknown = SimpleNamespace(category=lambda _: "Cn", east_asian_width=lambda _: "N")
    monkeypatch.setattr(layout, "unicodedata", unknown)
    assert [char for char in later if layout.char_columns.__wrapped__(char) < 2] == []


@settings(max_examples=30, deadline=None)
@given(_TEXTS)
def test_no_text_is_measured_too_narrow(text: str) -> None:
    for row in text.split("\n"):
        assert cell_len(row) <= columns(row)


@settings(max_examples=30, deadline=None)
@given(_TEXTS, st.integers(40, 200), st.integers(0, 20))
def test_no_line_is_wider_than_the_width_it_is_laid_out_for(text: str, width: int, hang: int) -> None:
    for line in flow([span("mark ", Role.MARK), span(text)], width, hang=hang):
        assert line_columns(line) <= width


@settings(max_examples=30, deadline=None)
@given(_TEXTS, st.integers(40, 120))
def test_laying_out_loses_and_adds_no_visible_character(text: str, width: int) -> None:
    shown = "".join(plain(line) for line in flow([span(text)], width, hang=4))
    assert "".join(shown.split()) == "".join(text.split())


@settings(max_examples=30, deadline=None)
@given(_TEXTS, st.integers(1, 50))
def test_a_cut_text_fits(text: str, width: int) -> None:
    assert columns(cut(text.replace("\n", " "), width)) <= width


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(_TEXTS, _TEXTS.map(lambda text: text[:12])), min_size=1, max_size=4), st.integers(72, 160))
def test_a_table_keeps_to_its_width(rows: list[tuple[str, str]], width: int) -> None:
    head = (Column("claim", flexible=True), Column("word"))
    body = [(span(claim), span(word.replace("\n", " "))) for claim, word in rows]
    for group in table(head, body, width):
        for line in group:
            assert line_columns(line) <= width


def test_words_are_kept_whole_where_they_fit() -> None:
    lines = [plain(line) for line in flow([span("one two three four five six seven eight nine")], 40)]
    assert lines == ["one two three four five six seven eight", "nine"]


def test_closing_punctuation_never_begins_a_line() -> None:
    for width in range(40, 60):
        for line in flow([span("微服务架构，是否。应该（采用）？" * 8)], width):
            assert plain(line)[:1] not in "，。）？"


def test_opening_punctuation_never_ends_a_line() -> None:
    for width in range(40, 60):
        for line in flow([span("微服务架构（是否）应该「采用」" * 8)], width):
            assert plain(line)[-1:] not in "（「"


@pytest.mark.parametrize(("text", "size"), [("", 0), ("abc", 3), ("中文", 4), ("e\u0301", 1), ("👍", 2)])
def test_columns_of_known_texts(text: str, size: int) -> None:
    assert columns(text) == size
    assert columns(pad(text, 10)) == 10
