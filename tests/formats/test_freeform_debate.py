"""What is true of every free-form debate."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from disputatio.kernel import Abstention, AskPath
from disputatio.record.text import canonical, read_json
from strategies import Debate, debates

any_debate = debates("freeform")


@given(any_debate)
def test_the_sides_alternate_and_the_judge_sums_up_what_was_said(debate: Debate) -> None:
    held = debate.held()
    speeches = [f"round-{number}/{seat}" for number in range(1, debate.rules.rounds + 1) for seat in ("pro", "con")]
    spoken = [path for path in speeches if not isinstance(held.answers[AskPath(path)], Abstention)]
    assert list(held.asks) == speeches + (["judging/judge"] if spoken else [])
    assert held.outcome.speeches == len(spoken)
    summing = held.answers.get(AskPath("judging/judge"))
    judged = summing is not None and not isinstance(summing, Abstention)
    assert (held.outcome.headings is not None) == judged


@given(any_debate)
def test_each_speaker_hears_all_that_came_before(debate: Debate) -> None:
    held = debate.held()
    said: list[tuple[str, str]] = []
    for path, asked in held.asks.items():
        assert [(message.seat, message.text) for message in asked.messages] == said, path
        turn = held.answers[path]
        if not isinstance(turn, Abstention):
            said.append((asked.seat, turn.text()))


@given(any_debate)
def test_the_verdict_has_five_headings_or_none(debate: Debate) -> None:
    body: Any = debate.held().outcome.as_json()
    assert read_json(canonical(body)) == body
    if body["judged"]:
        assert list(body["headings"]) == [
            "pro_strengths",
            "con_strengths",
            "areas_of_agreement",
            "uncertain_areas",
            "recommendation",
        ]
        assert body["recommendation"] == body["headings"]["recommendation"]
    else:
        assert body["headings"] is None
        assert body["recommendation"] == ""
