"""The first screen of every result says what a careful reader would say: the decision, and what is worst about it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from read_debates import READINGS, read_report
from staged_debates import MOTION

from disputatio.formats.registry import FORMATS
from disputatio.record.history import Status
from disputatio.report.block_text import block_lines
from disputatio.report.doubts import DoubtKind, doubts
from disputatio.report.markdown import render_markdown
from disputatio.report.summary import first_blocks, first_screen
from disputatio.report.text import Detail, render_briefing, render_text
from disputatio.report.text_spans import plain

EVERY = (*READINGS, "complete", "freeform", "competition", "panel", "review")
DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "worst-doubt.md"


def shown(name: str) -> str:
    """The first screen of a debate as one line."""
    return " ".join(plain(line).strip() for line in block_lines(first_blocks(read_report(name)), 100))


@pytest.mark.parametrize("name", READINGS)
def test_it_says_what_a_careful_reader_would_say(name: str) -> None:
    reading, screen, text = READINGS[name], first_screen(read_report(name)), shown(name)
    assert screen.worst_doubt.kind is reading.worst, [row.kind.name for row in screen.doubts]
    assert screen.decided is reading.decided
    for words in reading.says:
        assert words in text
    for words in reading.never:
        assert words not in text


@pytest.mark.parametrize("width", [80, 100, 140])
@pytest.mark.parametrize("name", EVERY)
def test_decision_and_doubt_stand_in_the_first_twelve_lines(name: str, width: int) -> None:
    lines = render_text(read_report(name), width).splitlines()[:12]
    screen = first_screen(read_report(name))
    assert any(line.startswith(screen.label) for line in lines)
    found = next(place for place, line in enumerate(lines) if line.startswith("Worst doubt"))
    assert screen.worst_doubt.text[:20] in lines[found]


@pytest.mark.parametrize("name", EVERY)
def test_a_long_decision_leaves_room_for_the_doubt(name: str) -> None:
    report = read_report(name)
    long = replace(report, motion="word " * 400, outcome={**report.outcome, "recommendation": "word " * 400})
    lines = render_text(long, 80).splitlines()[:12]
    assert any(line.startswith("Worst doubt") for line in lines)


@pytest.mark.parametrize("name", sorted({*EVERY} - {"competition"}))
def test_nothing_stands_before_the_doubt_that_scores_the_sides(name: str) -> None:
    for text in (
        render_text(read_report(name)),
        render_markdown(read_report(name)),
        render_briefing(read_report(name)),
    ):
        before = text.partition("Worst doubt")[0]
        assert not re.search(r"\b(pro|con|proposer|critic|bull|bear) \d\.\d\d\b", before, re.IGNORECASE)


@pytest.mark.parametrize("name", EVERY)
def test_scores_say_what_contradicts_them(name: str) -> None:
    screen = first_screen(read_report(name))
    against = [row for row in screen.doubts if row.kind is DoubtKind.CONTRADICTED]
    for row in against:
        assert row.text.partition(";")[0] in screen.scores


@pytest.mark.parametrize("name", EVERY)
def test_a_short_text_has_at_most_120_lines(name: str) -> None:
    for width in (80, 120):
        short = render_text(read_report(name), width, Detail.SHORT)
        assert short.count("\n") <= 120
        assert "--full" in short
        assert render_text(read_report(name), width, Detail.BRIEF).count("\n") <= 40


@pytest.mark.parametrize("name", EVERY)
def test_every_text_ends_with_the_command_for_its_page(name: str) -> None:
    report, store = read_report(name), "sqlite:///a b.sqlite"
    for detail in Detail:
        *_, last = " ".join(render_text(report, 200, detail, store).split()).partition("As a page: ")
        assert last == f"disputatio show {report.id} --as html --open --store 'sqlite:///a b.sqlite'"
        assert "--store" not in render_text(report, 200, detail)


@pytest.mark.parametrize("status", [Status.RUNNING, Status.INTERRUPTED, Status.FAILED])
def test_a_debate_without_an_end_has_no_decision(status: Status) -> None:
    screen = first_screen(replace(read_report("complete"), status=status, outcome={}))
    assert not screen.decided
    assert screen.decision.startswith("None")
    assert screen.worst_doubt.kind is DoubtKind.NO_RESULT


@pytest.mark.parametrize("name", FORMATS)
def test_a_record_with_an_empty_outcome_names_no_decision(name: str) -> None:
    screen = first_screen(replace(read_report("complete"), format=name, outcome={"format": name}))
    assert not screen.decided
    assert screen.title == MOTION


def test_the_worst_doubt_ranks_first_and_there_is_always_one() -> None:
    ranks = {kind: place for place, kind in enumerate(DoubtKind)}
    for name in EVERY:
        found = [ranks[row.kind] for row in doubts(read_report(name))]
        assert found
        assert found == sorted(found)


def test_the_documentation_states_the_same_order() -> None:
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    assert [(int(number), words.strip().lower()) for number, words in rows] == [
        (place, kind.value.lower()) for place, kind in enumerate(DoubtKind, start=1)
    ]
