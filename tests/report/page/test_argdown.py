"""Argdown keeps every argument, response and answer, with a relation that says what it does to what."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from staged_debates import ENDINGS
from staged_pages import report_of

from disputatio.motion import clean, one_line
from disputatio.report.argdown import escaped, render_argdown
from disputatio.report.verdict import structured_reading

ALL = ("complete", "sourced", "freeform", *ENDINGS, "embedded", "hostile", "hostile freeform", "wide", "long")
LINE = re.compile(
    r"={3}|(title|debate|status): \".*\"|# (PRO|CON|Verdict)|"
    r"  [-+_] ([<\[])[\w -]+[>\]]|(\[[\w -]+\]|<[\w -]+>): .+|"
)


def lines_of(name: str) -> list[str]:
    return render_argdown(report_of(name)).split("\n")


def relations(name: str) -> set[tuple[str, str, str]]:
    """Each relation as (from, sign, to)."""
    found, owner = set(), ""
    for line in lines_of(name):
        if line.startswith("  "):
            found.add((line[4:].strip("[]<>"), line[2], owner))
        elif line[:1] in {"[", "<"}:
            owner = re.split(r"[\]>]:", line[1:], maxsplit=1)[0]
    return found


@pytest.mark.parametrize("name", ALL)
def test_every_line_is_one_of_the_few_that_are_written(name):
    assert [line for line in lines_of(name) if not LINE.fullmatch(line)] == []
    text = render_argdown(report_of(name))
    assert clean(text) == text


def test_each_response_does_to_its_argument_what_its_kind_says():
    assert {row for row in relations("complete") if " on " in row[0]} == {
        ("CON on PRO-1", "_", "PRO-1 case"),
        ("CON on PRO-2", "-", "PRO-2"),
        ("CON on PRO-3", "_", "PRO-3 case"),
        ("PRO on CON-1", "+", "CON-1"),
        ("PRO on CON-2", "_", "CON-2 case"),
        ("PRO on CON-3", "_", "CON-3 case"),
    }


def test_support_and_attack_relations_are_exported():
    rows = relations("complete")
    assert {row for row in rows if row[2] == "Motion"} == {
        *((f"PRO-{number}", "+", "Motion") for number in (1, 2, 3)),
        *((f"CON-{number}", "-", "Motion") for number in (1, 2, 3)),
    }
    assert ("Answer PRO-2 Q1", "-", "CON on PRO-2") in rows
    # A concession attacks nothing, so its question is answered and attacks nothing either.
    assert not [row for row in rows if row[2] == "PRO on CON-1"]


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_related_to_what_does_not_exist(name):
    defined = {match[1] for line in lines_of(name) if (match := re.match(r"[\[<]([\w -]+)[\]>]:", line))}
    assert {end for row in relations(name) for end in (row[0], row[2])} <= defined


def test_standings_and_scores_are_tags_and_data():
    text = render_argdown(report_of("complete"))
    for row in structured_reading(report_of("complete")).trace:
        line = next(line for line in text.split("\n") if line.startswith(f"[{row.id}]: "))
        assert f"#({row.judged.lower().replace('_', ' ')})" in line
        data = json.loads(re.sub(r"(\w+):", r'"\1":', line[line.rindex("{") :]))
        assert data == {"judged": row.judged, "computed": row.computed, "score": row.score}


def test_a_debate_without_arguments_keeps_its_motion_and_verdict():
    text = render_argdown(report_of("freeform"))
    assert "[Motion]: " in text
    assert "[Verdict]: " in text


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


@settings(max_examples=60, deadline=None)
@given(st.text("\\`*_{}[]()<>#+-.!|~&$^=: /ab1@w\n", max_size=60))
def test_no_sign_that_structures_argdown_stands_unescaped(text):
    written = escaped(text)
    assert unescaped(written) == one_line(text)
    bare = re.sub(r"\\.", "\0", written)
    assert not re.search(r"[@#*_\[\]<>{}]|//|/\*|===|--|\((?=\d+\))|([.:])\S+\1|^[-+(]", bare)
