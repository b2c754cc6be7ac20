"""A result that lacks something says so in its heading, wherever it is shown (requirement K8)."""

import inspect
import io
import json

import pytest
from ended_debates import ended
from rich.console import Console
from staged_debates import ENDINGS, Staged, go_on, held, hold, silent

from disputatio._terminal import print_report, print_result
from disputatio.ledger.budget import Budget
from disputatio.record.chain import seal
from disputatio.record.events import DebateInterrupted
from disputatio.record.history import History
from disputatio.report.headings import heading
from disputatio.report.json_export import render_json
from disputatio.report.markdown import render_markdown
from disputatio.report.reading import DebateReport
from disputatio.report.text import render_result_text, render_text


def printed(show: object, report: DebateReport) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, width=200, color_system="truecolor")
    show(console, report)  # type: ignore[operator]
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


def surfaces(report: DebateReport) -> dict[str, str]:
    """Every surface, without styles and line breaks."""
    shown = {
        "text": render_text(report, 200),
        "result": render_result_text(report, 200),
        "markdown": render_markdown(report).replace("\\_", "_").replace("&quot;", '"').replace("**", ""),
        "json": json.loads(render_json(report))["heading"],
        "terminal": printed(print_report, report),
        "terminal result": printed(print_result, report),
    }
    return {name: " ".join(unstyled(text).replace("> ", " ").split()) for name, text in shown.items()}


def unstyled(text: str) -> str:
    pieces = text.split("\x1b[")
    return pieces[0] + "".join(piece.partition("m")[2] for piece in pieces[1:])


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_surface_says_what_a_result_lacks(ending: str) -> None:
    report = held(ending).report
    head = heading(report)
    assert not head.whole
    for name, text in surfaces(report).items():
        assert f"{head.status.value}:" in text, name
        assert head.sentence in text, name


@pytest.mark.parametrize("name", ["complete", "freeform"])
def test_a_whole_result_has_no_warning_in_its_heading(name: str) -> None:
    report = held(name).report
    assert heading(report).text == "COMPLETE"
    for word in ("DEGRADED", "TRUNCATED", "FAILED", "abstained"):
        assert word not in render_text(report)


def test_an_abstention_names_seat_phase_and_cause() -> None:
    text = heading(held("degraded").report).text
    assert text.startswith("DEGRADED: con abstained in the closing (3 answers did not fit the form")


def test_a_missing_judge_leaves_the_debate_unjudged() -> None:
    text = heading(held("unjudged").report).text
    assert "judge abstained in the judging (OpenAI answered 401" in text
    assert "nothing was judged" in text


def test_a_truncated_debate_names_ceiling_and_next_step() -> None:
    head = heading(held("truncated").report)
    assert "5 of 5 calls" in head.sentence
    assert "not heard: con in the closing and judge in the judging" in head.sentence
    assert head.next_step.endswith(f"disputatio resume {held('truncated').id} --max-calls N")


def test_a_truncated_match_names_few_turns_and_counts_the_rest() -> None:
    report = ended("competition", "truncated")
    unheard = sum(row.get("reason") == "budget" for row in report.missing)
    assert unheard > 20
    assert f" and {unheard - 6} more turns." in heading(report).sentence


def test_a_failed_debate_says_that_nobody_spoke() -> None:
    assert "no seat took a turn" in heading(held("failed").report).sentence


def test_an_unjudged_debate_shows_no_score() -> None:
    for ending in ("unjudged", "truncated"):
        text = render_text(held(ending).report)
        assert "None: " in text.partition("Worst doubt")[0]
        assert "0.00 " not in text.replace("0.00 USD", "")


async def test_only_unfinished_debates_say_how_to_resume() -> None:
    debate = await hold(max_calls="5")
    cut = [row for row in debate.events if row.kind not in {"BudgetReached", "DebateClosed"}]
    last = cut[-1]
    stop = seal(DebateInterrupted(reason="stopped"), debate=debate.id, seq=last.seq + 1, at=last.at, previous=last.hash)
    head = heading(DebateReport.of(debate.id, [*cut, stop]))
    assert head.text.startswith("INTERRUPTED: stopped before its end, with 5 turns")
    assert head.next_step.endswith(f"disputatio resume {debate.id}")
    running = heading(DebateReport.of(debate.id, cut))
    assert running.text.startswith("RUNNING: the record has no end")
    await go_on(debate, budget=Budget(calls=50))
    assert heading(debate.report).text == "COMPLETE"


async def test_a_resumed_abstention_leaves_the_heading() -> None:
    debate = await hold(answering=silent("judge", "adjudication"))
    assert heading(debate.report).next_step.endswith(f"disputatio resume {debate.id}")
    await go_on(debate)
    report = debate.report
    assert heading(report).whole
    assert [row.seat for row in report.taken_back] == ["judge"]
    assert len(report.rejections) == 2


def test_the_heading_follows_from_events_alone() -> None:
    debate: Staged = held("degraded")
    events = [row.event() for row in debate.events]
    assert History.of(events).status == heading(DebateReport.of(debate.id, events)).status
    assert heading(DebateReport.of(debate.id, events)) == heading(debate.report)


def test_a_record_with_nothing_in_it_is_shown_without_failing() -> None:
    report = DebateReport.of("00000000", [])
    assert "RUNNING" in render_text(report)
    assert "RUNNING" in render_markdown(report)
    assert json.loads(render_json(report))["status"] == "RUNNING"


def test_held_debates_are_what_their_names_say() -> None:
    assert [held(name).report.status.value for name in ENDINGS] == [
        "DEGRADED",
        "DEGRADED",
        "FAILED",
        "DEBATE_TRUNCATED",
    ]
    assert inspect.iscoroutinefunction(hold)
