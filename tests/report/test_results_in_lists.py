"""Lists, comparisons, baselines and maps say of a result what its first screen says, the worst doubt included."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest
from read_debates import READINGS, favouring, read_report, withdrawn
from staged_debates import hold

from disputatio._service.debate_book import Listed
from disputatio._service.pages.comparing import side_of
from disputatio._service.results import Results
from disputatio.record.events import BaselineHeld
from disputatio.report.argdown import render_argdown
from disputatio.report.baselines import BaselineReading
from disputatio.report.doubts import DoubtKind
from disputatio.report.json_export import export_json
from disputatio.report.markdown import render_markdown
from disputatio.report.page import render_page
from disputatio.report.reading import DebateReport
from disputatio.report.summary import first_screen, result_sentence
from disputatio.report.text import render_text

EVERY = (*READINGS, "complete", "freeform", "competition", "panel", "review")


@pytest.mark.parametrize("name", EVERY)
def test_the_sentence_is_made_of_the_first_screen(name: str) -> None:
    report = read_report(name)
    screen, sentence = first_screen(report), result_sentence(report)
    assert sentence.startswith(screen.decision[:500])
    usual = screen.worst_doubt.kind in {DoubtKind.ONCE, DoubtKind.REPEAT}
    assert (screen.worst_doubt.text in sentence) is not usual
    assert all(note in sentence for note in screen.notes)
    assert side_of(report).lines["Result"] == sentence


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("withdrawn", "Pro withdrew all 3 of its arguments"),
        ("fabricated", "6 of 6 citations fail the check against the sources"),
        ("split jury", "The judges disagree"),
        ("weak critic", "this is no evidence that the decision was challenged"),
    ],
)
def test_what_speaks_against_a_result_is_told_in_every_place(name: str, words: str) -> None:
    report = read_report(name)
    assert words in side_of(report).lines["Result"]
    assert words.replace("(", "").replace(")", "") in render_argdown(report)
    assert words in str(export_json(report)["doubts"])


def test_a_result_without_a_decision_is_none_in_the_map() -> None:
    assert "[Verdict]" not in render_argdown(read_report("failed"))
    assert export_json(read_report("failed"))["decision"]["text"] is None


def _listed(report: DebateReport) -> Listed:
    return Listed(report.id, "2026-01-01", report.format, report.motion, report.status.value, 1, "head")


def test_the_list_of_the_service_tells_the_contradiction() -> None:
    debate = asyncio.run(hold(answering=withdrawn))
    calm = asyncio.run(hold(answering=favouring("con")))
    found = Results(debate.store).of([_listed(debate.report)])
    assert found == {debate.id: result_sentence(debate.report)}
    assert "Pro withdrew all 3 of its arguments" in found[debate.id]
    assert "withdrew" not in Results(calm.store).of([_listed(calm.report)])[calm.id]


def test_the_table_of_baselines_tells_the_contradiction() -> None:
    single = BaselineHeld(
        baseline="single",
        answer="no",
        tally={"no": 1},
        samples=1,
        debates=("d2",),
        tokens=1,
        calls=1,
        usd=None,
        debate_tokens=2,
        head="",
        failure="",
    )
    report = dataclasses.replace(read_report("withdrawn"), baselines=(BaselineReading.of(single),))
    for text in (render_text(report, 100), render_markdown(report), render_page(report)):
        own = " ".join(text.partition("This debate")[2][:600].replace("\n", " ").split())
        assert "Pro withdrew all 3 of its arguments" in own
