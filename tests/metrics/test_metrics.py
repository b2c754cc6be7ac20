"""Metrics are folds over records: counts beside every rate, nothing counted that is missing, thresholds kept."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.metrics.collecting import Selection, collect, compute_multiple
from disputatio.metrics.figures import Figures
from disputatio.metrics.measures import Measures, measure_debate
from disputatio.metrics.report import find_alerts, render_figures
from disputatio.record.events import (
    Abstained,
    CallMade,
    DebateClosed,
    DebateOpened,
    OutcomeAttached,
    TurnAsked,
    TurnTaken,
)
from disputatio.record.history import History, Status
from disputatio.record.memory import MemoryStore
from disputatio.request.configuration import Metrics
from record_makers import Pen, call_sent
from strategies import examples

pytestmark = pytest.mark.slow


def opened(format_name: str = "review", task: str = "contract-risk", estimate: int | None = 1000) -> DebateOpened:
    expected = {"calls": 1, "input_tokens": estimate, "output_tokens": 0, "usd": "0.10"} if estimate else {}
    return DebateOpened(
        format=format_name,
        motion={"text": "Is it so?", "language": "English"},
        seats={"critic": {"kind": "model", "provider": "p", "model": "m"}},
        rules={"brief": {"task_type": task}} if format_name == "review" else {},
        prompts={},
        budget={"usd": None, "tokens": None, "calls": None},
        estimate=expected,
    )


def reviewed(strengths: tuple[int, ...] = (8,), confidence: str = "HIGH", found: str = "UPHELD", **more: Any) -> Any:
    contests = [
        {
            "criticism": {"challenge": {"strength": row, "claimed": 10}},
            "rebuttals": {"answers": [{"response": more.pop("response", "refute")}]},
        }
        for row in strengths
    ]
    return {
        "format": "review",
        "judged": True,
        "task_type": "contract-risk",
        "positions": [{"id": "POSITION-1"}],
        "rounds": [{"number": 1, "contests": contests}],
        "confidence": confidence,
        "uncertainties": ["one", "two"],
        "resolved_points": [{"outcome": f"resolved_for_{more.pop('resolved', 'proposition')}"}],
        "unresolved_points": [],
        "trace": [{"round": 1, "side": "proposer", "found": found, "void": ""}],
        "tilt": {"difference": 1.5},
        **more,
    }


def made(call: str, tokens: int | None, usd: str | None) -> CallMade:
    usage = {"input_tokens": tokens, "output_tokens": None if tokens is None else 0, "cached_tokens": None}
    return CallMade(
        call=call,
        path="critique/critic",
        fault="",
        message="",
        text="",
        served_model="m",
        finish="stop",
        usage=usage,
        cost_usd=usd,
        cost_basis="",
        charged_tokens=0,
        latency_ms=1500,
    )


def events(
    outcome: Any, *, tokens: int | None = 1000, usd: str | None = "0.10", status: str = "COMPLETE", **given: Any
):
    path = "critique/critic"
    sent = call_sent(path)
    return [
        opened(**given),
        TurnAsked(path=path, seat="critic", phase="critique", form="criticism", mode="", prompt=""),
        sent,
        made(sent.call, tokens, usd),
        TurnTaken(
            path=path, seat="critic", phase="critique", form="criticism", content={}, violations=({"rule": "x"},)
        ),
        DebateClosed(status=status, missing=(), outcome=outcome),
    ]


def measured(rows: Any) -> Measures:
    return measure_debate("d", "2026-01-15T00:00:00Z", History.of(rows))


def figures_of(*rows: Any) -> Figures:
    figures = Figures()
    for row in rows:
        figures.add(measured(row))
    return figures


async def stored(*debates: Any, at: str = "2026-01-15T00:00:00.000000Z") -> MemoryStore:
    store = MemoryStore()
    for number, rows in enumerate(debates):
        pen = Pen(f"d{number}")
        await store.append(pen.write(*rows, at=at))
    return store


def test_each_problem_raises_its_own_alert():
    soft = figures_of(events(reviewed((6,))), events(reviewed((6,))))
    assert [row.name for row in find_alerts(soft, Metrics())] == ["challenge_strength"]
    vague = figures_of(*(events(reviewed(confidence=word)) for word in ("LOW", "LOW", "HIGH")))
    assert [row.sentence for row in find_alerts(vague, Metrics())] == [
        "The share of LOW confidence is 0.67, above 0.3 (of 3)"
    ]
    dear = figures_of(events(reviewed(), tokens=1501))
    (alert,) = find_alerts(dear, Metrics())
    assert (alert.name, alert.about, alert.of) == ("cost_ratio", "contract-risk", 1)
    fine = figures_of(events(reviewed((7,)), tokens=1500))
    assert find_alerts(fine, Metrics()) == ()


def test_a_figure_at_its_threshold_raises_no_alert():
    exact = figures_of(events(reviewed((6,))), events(reviewed((7,))))
    assert exact.strength.value == 6.5
    assert find_alerts(exact, Metrics()) == ()
    assert find_alerts(Figures(), Metrics(agreement=0.0, one_conclusion=0.0, tilt=0.0, degraded=0.0)) == ()


def test_thresholds_need_their_number_of_debates():
    figures = figures_of(events(reviewed((6,))))
    assert find_alerts(figures, Metrics(challenge_strength=5.0)) == ()
    assert find_alerts(figures, Metrics(fewest=2)) == ()
    assert [row.name for row in find_alerts(figures, Metrics(tilt=1.0))] == ["challenge_strength", "tilt"]


def test_what_nobody_reported_is_missing_and_never_zero():
    row = measured(events(reviewed(), tokens=None, usd=None, estimate=None))
    assert (row.tokens, row.usd, row.estimated_tokens) == (None, None, None)
    figures = figures_of(events(reviewed(), tokens=None, usd=None))
    body: Any = figures.as_json()["formats"]
    assert body["review"]["tokens"] == {"mean": None, "of": 0, "least": None, "most": None}
    assert body["review"]["usd"] == {"total": None, "of": 0}
    against: Any = figures.as_json()["against_estimate"]
    assert against["contract-risk"]["ratio"] is None
    bare: Any = figures_of(events({"format": "other"}, format_name="other")).as_json()
    assert bare["challenge_strength"]["mean"] is None
    assert bare["low_confidence"] == {"share": None, "count": 0, "of": 0}


def test_a_debate_of_three_rounds_weighs_as_much_as_one_of_one():
    figures = figures_of(events(reviewed((4, 4, 4))), events(reviewed((8,))))
    assert figures.strength.value == 6.0
    assert figures.strength.of == 2


@pytest.mark.parametrize(
    ("outcome", "agrees"),
    [
        (reviewed(found="UPHELD"), True),
        (reviewed(found="REFUTED"), False),
        (reviewed(found="UNCERTAIN"), None),
        ({"format": "structured", "gap": 1.25}, True),
        ({"format": "structured", "gap": -0.1}, False),
        ({"format": "structured", "gap": None}, None),
        ({"format": "panel", "report": {"decision": "a"}, "conduct": {"debaters": [{"votes": ["a", "b"]}]}}, True),
        ({"format": "panel", "report": {"decision": "b"}, "conduct": {"debaters": [{"votes": ["a", "b"]}]}}, False),
        ({"format": "freeform"}, None),
    ],
)
def test_agreement_with_the_first_proposer_is_by_the_stated_rule(outcome, agrees):
    assert measured(events(outcome)).agrees is agrees


@pytest.mark.parametrize(
    ("outcome", "one"),
    [
        (reviewed(resolved="critique", response="concede"), True),
        (reviewed(resolved="critique"), False),
        (reviewed((4,)), True),
        (reviewed((8,)), False),
        ({"format": "panel", "conduct": {"debaters": [{"votes": ["a"]}, {"votes": ["a"]}]}}, True),
        ({"format": "panel", "conduct": {"debaters": [{"votes": ["a"]}, {"votes": ["b"]}]}}, False),
        ({"format": "structured", "gap": 1.0}, None),
    ],
)
def test_one_conclusion_follows_the_stated_rule(outcome, one):
    assert measured(events(outcome)).one_conclusion is one


async def test_a_selection_refuses_bad_days_and_formats():
    store = await stored(events(reviewed()), events({"format": "structured", "gap": 1.0}, format_name="structured"))
    assert collect(store, Selection()).debates == 2
    assert collect(store, Selection(format="review")).debates == 1
    assert collect(store, Selection(task_type="structured")).debates == 1
    assert collect(store, Selection(since="2026-01-16")).debates == 0
    assert collect(store, Selection(since="2026-01-15")).debates == 2
    with pytest.raises(InvalidInputError, match="is not a day"):
        Selection(since="yesterday")
    with pytest.raises(InvalidInputError, match="no format called"):
        collect(store, Selection(format="reviews"))


async def test_an_altered_record_is_left_out_and_named():
    store = await stored(events(reviewed()), events(reviewed((2,))))
    chain = store._events["d1"]
    chain[2] = chain[2]._replace(body=chain[2].body.replace("0.5", "0.7"))
    figures = collect(store, Selection())
    assert figures.debates == 1
    assert "altered" in figures.left_out["d1"]
    assert any("left out: d1" in line for line in render_figures(figures, ()))


async def test_the_multiple_rests_on_verdicts_alone():
    def with_outcome(verdict: str, found: str) -> Any:
        attached = OutcomeAttached(text="x", verdict=verdict, by="", note="", head="")
        return [*events(reviewed(found=found)), attached]

    rows = (
        [with_outcome("right", "REFUTED")] * 2 + [with_outcome("right", "UPHELD")] * 18 + [with_outcome("", "UPHELD")]
    )
    store = await stored(*rows)
    assert collect(store, Selection()).outcomes == {"right": 20, "no verdict": 1}
    found = compute_multiple(store)
    assert (found.value, found.outcomes) == (10, 20)


def test_every_format_counts_its_debates():
    silent = [
        opened("freeform"),
        TurnAsked(path="p", seat="pro", phase="p", form="monologue", mode="", prompt=""),
        Abstained(path="p", seat="pro", phase="p", reason="timed_out", detail=""),
        DebateClosed(status="DEGRADED", missing=(), outcome={"format": "freeform"}),
    ]
    figures = figures_of(silent, events(reviewed()), [opened("freeform")])
    free, review = figures.formats["freeform"], figures.formats["review"]
    assert free.statuses == {Status.DEGRADED.value: 1, Status.RUNNING.value: 1}
    assert (free.abstentions, free.degraded.count, free.degraded.of) == (1, 1, 1)
    assert (review.violations, review.latency, review.priced) == (1, 1500.0, 1)


@examples(20)
@given(st.lists(st.tuples(st.integers(1, 10), st.sampled_from(("LOW", "MODERATE", "HIGH"))), max_size=12))
def test_figures_do_not_depend_on_the_order_of_debates(rows: list[tuple[int, str]]) -> None:
    def told(order: list[tuple[int, str]]) -> Any:
        return figures_of(*(events(reviewed((strength,), word)) for strength, word in order)).as_json()

    assert told(rows) == told(rows[::-1])


@pytest.mark.slow
def test_a_thousand_debates_are_counted_in_a_few_seconds() -> None:

    store = asyncio.run(stored(*[events(reviewed())] * 1000))
    begun = time.process_time()
    assert collect(store, Selection()).debates == 1000
    assert time.process_time() - begun < 5.0
