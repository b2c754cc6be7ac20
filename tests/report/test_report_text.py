"""The plain text tells the whole debate, at any width, and nothing in it can command a terminal."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from staged_debates import ENDINGS, held

from disputatio.motion import clean
from disputatio.record.events import DebateClosed, DebateOpened, Event, TurnAsked, TurnTaken
from disputatio.report.presenters.registry import sureness
from disputatio.report.reading import DebateReport
from disputatio.report.text import render_text
from disputatio.report.verdict import structured_reading

pytestmark = pytest.mark.slow

ALL = ("complete", "freeform", *ENDINGS, "embedded", "hostile", "hostile freeform", "wide", "long")


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("width", [40, 71, 80, 200])
def test_no_line_passes_the_width(name: str, width: int) -> None:
    for line in render_text(held(name).report, width).splitlines():
        assert cell_len(line) <= width
        assert line == line.rstrip()


@pytest.mark.parametrize("name", ALL)
def test_no_character_can_command_a_terminal(name: str) -> None:
    text = render_text(held(name).report)
    assert clean(text) == text
    assert {char for char in text if unicodedata.category(char) in {"Cc", "Cs"}} == {"\n"}


def test_participant_text_is_never_a_title() -> None:
    for line in render_text(held("hostile").report).splitlines():
        assert not line.startswith(("# heading", "- item", "> quote", "```", "---", "==="))


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_argument_response_and_standing_is_shown(width: int) -> None:
    report = held("complete").report
    text = squeezed(render_text(report, width))
    verdict = structured_reading(report)
    assert verdict is not None
    assert [row.id for row in verdict.trace] == ["PRO-1", "PRO-2", "PRO-3", "CON-1", "CON-2", "CON-3"]
    for row in verdict.trace:
        assert row.id in text
        assert squeezed(row.claim)[:20] in text
    for said in ("CON -> PRO-2 refute", "PRO -> CON-1 concede", "PRO-1.Q1 answer", "PRO -> CON-1 accepts"):
        assert said in text


def test_every_sentence_is_shown_once() -> None:
    report = held("complete").report
    transcript = squeezed(render_text(report).partition("\nArgument trace\n")[0])
    sentences = [sentence for entry in report.turns[:4] for sentence in sentences_in(entry.content)]
    assert len(sentences) > 20
    for sentence in set(sentences):
        # A question is shown again above its answer.
        again = 2 if sentence.endswith("?") else 1
        assert transcript.count(sentence) == again * sentences.count(sentence), sentence


def sentences_in(content: Any) -> list[str]:
    if isinstance(content, Mapping):
        return [row for value in content.values() for row in sentences_in(value)]
    if isinstance(content, list | tuple):
        return [row for value in content for row in sentences_in(value)]
    return [content] if isinstance(content, str) and " " in content else []


def test_differing_standings_are_marked() -> None:
    lines = render_text(held("complete").report, 200).splitlines()
    rows = {row.split()[0]: row for row in lines if "<- differ" in row}
    verdict = structured_reading(held("complete").report)
    assert verdict is not None
    assert tuple(rows) == verdict.differing
    assert "PARTLY" in rows["PRO-2"]
    assert "UPHELD" in rows["PRO-2"], "its answer met the question"


@pytest.mark.parametrize("width", [40, 72, 80, 100, 140])
def test_each_argument_has_its_weighted_score_at_any_width(width: int) -> None:
    report = held("complete").report
    text = render_text(report, width)
    verdict = structured_reading(report)
    assert verdict is not None
    for row in verdict.trace:
        assert row.score is not None
        place = text.index("Argument trace")
        argument = text[text.index(row.id, place) :].split("Scores", 1)[0]
        assert f"{row.score:.2f}" in argument, (row.id, width)


def test_scores_follow_the_order_of_the_rubric() -> None:
    text = " ".join(render_text(held("complete").report, 120).split())
    assert re.search(r"logic \d+, evidence \d+, responsiveness \d+, honesty \d+", text)


def test_scores_explain_themselves() -> None:
    text = render_text(held("complete").report, 120)
    assert "Quality of argument, not truth: Pro 6.25, Con 6.75; evenly matched (gap 0.50)." in text


def test_the_briefing_names_what_was_not_checked() -> None:
    text = squeezed(render_text(held("complete").report))
    assert "Key insight Both sides describe the same cost" in text
    assert "Agreed CON-1 Operations cost more than they save (pro conceded it)" in text
    assert "Open Release time for a team of five was never measured." in text
    assert 'PRO-3, anecdotal evidence: "Three public accounts of such splits"' in text
    assert "judged once: not judged again, the sides not swapped" in text
    assert "7 calls, 7,280 tokens (67% of the input cached), 0.00 USD" in text


def test_words_of_a_fallacy_that_nobody_said_are_marked() -> None:
    report = held("embedded").report
    verdict = structured_reading(report)
    assert verdict is not None
    lost = [row for row in verdict.fallacies if not row.quoted]
    assert lost
    assert squeezed(render_text(report)).count("(nobody said these words)") == len(lost)
    assert any(f"{len(lost)} of them with words that nobody said" in row for row in sureness(report))


def test_an_accepted_broken_rule_and_a_rejected_answer_are_shown() -> None:
    report = held("wide").report
    broken = [row for entry in report.turns for row in entry.violations]
    assert broken
    text = render_text(report, 200)
    assert text.count("! rule broken") == len(broken)
    assert "not accepted before this one" in text


def test_the_five_headings_of_a_free_debate_are_shown() -> None:
    text = render_text(held("freeform").report)
    for title in (
        "\n  Pro strengths ",
        "\n  Con strengths ",
        "\n  Areas of agreement ",
        "\nOpen ",
        "\nRecommendation ",
    ):
        assert title in text
    assert "ROUND 3" in text


def test_the_small_model_is_told_of_and_no_other_is() -> None:
    told = squeezed(render_text(held("embedded").report))
    assert (
        "This model has 135 million parameters: the protocol is real, the arguments are weak, its scores tell" in told
    )
    assert "--seat all=embedded:qwen3-4b" in told
    assert "disputatio models embedded" in told
    assert f"Read it again: disputatio show {held('embedded').id}" in told
    assert "135 million" not in render_text(held("complete").report)


def test_unknown_formats_are_shown_key_by_key() -> None:
    events: list[Event] = [
        DebateOpened(format="senate", motion={"text": "Hear, hear"}, seats={}, rules={}, prompts={}, budget={}),
        TurnAsked(path="speech/cato", seat="cato", phase="speech", form="oration", mode="", prompt=""),
        TurnTaken(
            path="speech/cato",
            seat="cato",
            phase="speech",
            form="oration",
            content={"thesis": "It must be destroyed", "grounds": [{"fact": "fresh figs"}, {"fact": "three days"}]},
        ),
        DebateClosed(
            status="COMPLETE", missing=(), outcome={"motion_carried": True, "votes": {"for": 9, "against": 3}}
        ),
    ]
    text = squeezed(render_text(DebateReport.of("abc", events)))
    for shown in ("CATO", "Thesis It must be destroyed", "1 / fact: fresh figs", "2 / fact: three days"):
        assert shown in text
    for shown in ("Motion carried yes", "For: 9", "Against: 3"):
        assert shown in text


def test_a_known_form_name_with_another_content_is_not_swallowed() -> None:
    events: list[Event] = [
        TurnAsked(path="o", seat="bull", phase="opening", form="opening", mode="", prompt=""),
        TurnTaken(path="o", seat="bull", phase="opening", form="opening", content={"outlook": "rates will fall"}),
    ]
    assert "rates will fall" in render_text(DebateReport.of("abc", events))


def test_hostile_words_from_a_provider_are_cleaned_too() -> None:
    debate = held("degraded")
    nasty = "\x1b]0;owned\x07\x9b31m"
    events = [row.event() for row in debate.events]
    spoiled = [
        replace(event, detail=nasty, reason=nasty)
        if event.kind == "Abstained"
        else replace(event, missing=({"seat": nasty, "phase": nasty, "reason": nasty, "detail": nasty, "path": "x"},))
        if isinstance(event, DebateClosed)
        else replace(event, served_models=(nasty,), violations=({"rule": nasty, "detail": nasty},))
        if isinstance(event, TurnTaken)
        else replace(event, seats={nasty: {"kind": "model", "provider": nasty, "model": nasty}}, warnings=(nasty,))
        if isinstance(event, DebateOpened)
        else event
        for event in events
    ]
    text = render_text(DebateReport.of(nasty, spoiled))  # type: ignore[arg-type]
    assert clean(text) == text
    assert "owned" in text
