"""The votes of a panel are on every surface, and nothing that a debater writes gets out of its place there."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

import disputatio
from disputatio.record.memory import MemoryStore
from disputatio.report.columns import columns
from disputatio.report.json_export import export_schema
from disputatio.report.panel import escalation_words

WILD = "<script>alert(1)</script> | # heading \x1b[31m **bold** "


async def held(votes: dict[str, list[str | None]], **options: Any) -> disputatio.Debate:
    """A panel whose debaters vote as told, phase by phase; None is a debater who says nothing usable."""
    taken: dict[str, int] = dict.fromkeys(votes, 0)

    def script(ask: Any, path: Any, reasons: Any) -> Any:
        if not reasons:
            taken[ask.seat] += 1
        vote = votes[ask.seat][min(taken[ask.seat], len(votes[ask.seat])) - 1]
        if vote is None:
            return "nothing"
        return {"stance": f"{WILD}{ask.seat} stands here.", "rationale": f"{WILD}and has a reason.", "vote": vote}

    return await disputatio.debate(
        "We should release the migration",
        format=disputatio.Panel(rounds=1, **options),
        seats={name: disputatio.Scripted(script) for name in votes},
        store=MemoryStore(),
    )


VOTES: dict[str, list[str | None]] = {
    "planner": ["release", "release", "revise", "revise"],
    "critic": ["revise", None, None, None],
    "operator": [None, "escalate", "escalate", "revise"],
}


@pytest.mark.parametrize("width", [40, 60, 80, 200])
async def test_text_shows_every_count_at_any_width(width: int):
    text = (await held(VOTES, threshold=3)).text(width)
    assert all(columns(line) <= width for line in text.splitlines())
    assert "\x1b" not in text
    flat = " ".join(text.split())
    for after in ("round 1 proposal", "round 1 critique", "round 1 revision", "round 1 consensus"):
        assert after in flat
    assert "revise, by threshold_vote after the consensus of round 1: revise has 3 of 3 votes, 3 needed" in flat
    assert "revise*" in flat
    assert "* kept from an earlier phase" in flat
    assert "- no vote" in flat
    assert "Findings for the author" in flat
    assert "vote_tally: {revise: 3}" in flat


async def test_the_table_of_votes_is_the_counts_of_the_record():
    result = await held(VOTES, threshold=3)
    table = result.text(80).split("Votes after each phase", 1)[1].split("Debaters", 1)[0].splitlines()
    rows = [line.split() for line in table if line.strip().startswith("round")]
    counts: Any = result.outcome["votes"]
    assert [row[:3] for row in rows] == [["round", "1", count["phase"]] for count in counts]
    assert [[int(cell) for cell in row[3:6]] for row in rows] == [
        [count["tally"][option] for option in ("release", "revise", "escalate")] for count in counts
    ]


async def test_votes_and_findings_are_shown_as_text():
    result = await held(VOTES, threshold=3)
    markdown, page = result.markdown(), result.html()
    assert "| round 1 consensus | 0 | 3 | 0 | revise | revise\\* | revise | revise is decided |" in markdown
    assert "    decision_rule: threshold_vote\n" in markdown
    for text in (markdown, page):
        assert "<script>alert(1)" not in text
        assert "\x1b" not in text
    assert '<section id="votes"' in page
    assert '<th scope="row">round 1 consensus</th>' in page
    assert "vote_tally: {revise: 3}" in page
    assert "Findings for the author" in page


@pytest.mark.parametrize(
    "more",
    [{"threshold": 3}, {"decision": "weighted", "weights": {"planner": "2.5"}}, {"decision": "unanimity"}],
)
async def test_the_export_is_valid_under_the_published_schema(more: dict[str, Any]):
    result = await held(VOTES, escalate=lambda debate: "it is released", **more)
    export = result.as_json()
    jsonschema_rs.validate(dict(export_schema()), export)
    outcome: Any = export["outcome"]
    escalated = outcome["report"]["decision"] == "escalate"
    assert [row["answer"] for row in export["escalations"]] == (["it is released"] if escalated else [])  # type: ignore[union-attr,call-overload,index]
    assert export["verdict"] == outcome["reading"]


async def test_an_export_with_a_tenth_key_in_its_report_is_none():
    export: Any = (await held(VOTES, threshold=3)).as_json()
    export["outcome"]["report"]["confidence"] = "high"
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.validate(dict(export_schema()), export)


async def test_the_seats_are_shown_in_the_order_in_which_they_speak():
    result = await held(VOTES, threshold=3)
    assert [seat.seat for seat in result.report().seats] == list(VOTES)


def test_what_became_of_an_escalation_is_said_in_a_sentence():
    assert escalation_words("callback", "http://h", "", "", "") == "It was handed over to the callback at http://h."
    assert "which came to: pro is ahead" in escalation_words("debate", "structured", "pro is ahead", "7f3a", "")
    assert "(7f3a)" in escalation_words("debate", "structured", "pro is ahead", "7f3a", "")
    failed = escalation_words("function", "decide", "", "", "ValueError: no\x1b[2J queue.")
    assert failed == "It could not be handed over to the function decide: ValueError: no[2J queue."
