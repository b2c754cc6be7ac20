"""The briefing is the result in brief: bounded whatever a record holds, and with what a reader may not miss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import staged_debates
from hypothesis import given
from hypothesis import strategies as st

import disputatio
from disputatio.record.history import Status
from disputatio.report.reading import DebateReport
from disputatio.report.text import MOST_BRIEFING, render_briefing
from disputatio.testing import instance
from strategies import examples

LONG = "word " * 2_000


@pytest.fixture(scope="module")
def report() -> DebateReport:
    return staged_debates.held("complete").report


@pytest.mark.parametrize("format_name", ["structured", "freeform", "panel", "review", "competition"])
async def test_it_has_the_result_and_none_of_the_turns(format_name: str) -> None:
    scripted = disputatio.Scripted(lambda ask, path, _: instance(ask.spec.schema, path))
    held = await disputatio.debate(
        staged_debates.MOTION, format=format_name, seats={"all": scripted}, store=disputatio.MemoryStore()
    )
    text = render_briefing(held.report())
    lines = text.split("\n")
    assert [line.partition(":")[0] for line in lines[:2]] == ["Debate", "Motion"]
    assert lines[2].partition(":")[0] in {"Recommendation", "Decision", "Result"}
    assert "\nWorst doubt" in text
    assert "\nCost: " in text
    assert len(text) <= MOST_BRIEFING
    assert all(line.isprintable() for line in lines)


def test_what_is_missing_is_told_before_the_scores(report: DebateReport) -> None:
    text = render_briefing(replace(report, status=Status.DEGRADED, missing=(_silent("con"),)))
    assert "DEGRADED" in text.partition("\n")[0]
    assert text.index("con abstained in the closing") < text.index("\nScores")


def _silent(seat: str) -> dict[str, Any]:
    return {"seat": seat, "phase": "closing", "reason": "timeout", "detail": "no answer"}


HUGE: Mapping[str, Mapping[str, Any]] = {
    "structured": {
        "trace": [
            {"id": f"PRO-{n}", "claim": LONG, "fallacies": [{"fallacy": "x", "words": LONG}] * 9} for n in range(99)
        ],
        "totals": {f"side {n}": 5.0 for n in range(50)},
        "judged": True,
        "key_insight": LONG,
        "agreed": [{"id": f"CON-{n}", "claim": LONG, "conceded_by": "pro"} for n in range(99)],
        "unresolved_questions": [LONG] * 99,
        "recommendation": LONG,
        "reading": LONG,
    },
    "own": {"format": "own", "reading": LONG, "result": {f"key {n}": LONG for n in range(500)}},
    "other": {f"key {n}": [LONG] * 20 for n in range(500)},
    "headings": {"headings": {f"heading {n}": LONG for n in range(200)}, "recommendation": LONG},
}


@pytest.mark.parametrize("kind", HUGE)
def test_it_is_bounded_and_keeps_its_ends(report: DebateReport, kind: str) -> None:
    text = render_briefing(replace(report, outcome=HUGE[kind], motion=LONG, warnings=(LONG,) * 50))
    assert len(text) <= MOST_BRIEFING
    assert "\nWorst doubt" in text
    assert "\nCost: " in text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


@examples(60)
@given(outcome=st.dictionaries(st.sampled_from(["trace", "headings", "reading", "result", "format", "x"]), json_values))
def test_it_is_text_for_any_outcome(report: DebateReport, outcome: dict[str, Any]) -> None:
    """A record of a later version, or of rules of a user's own, may hold anything."""
    text = render_briefing(replace(report, outcome=outcome))
    assert len(text) <= MOST_BRIEFING
    assert text.startswith("Debate: ")
