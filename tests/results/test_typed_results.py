"""A result is typed values that say what the first screen says, for every format and however the debate ended."""

from __future__ import annotations

import asyncio
import dataclasses
import pickle
from collections import Counter
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from read_debates import READINGS, read_report
from staged_debates import held, hold

import disputatio
from disputatio.debates import read_debate
from disputatio.formats.market_verdict import DISCLAIMERS
from disputatio.record.archive import ArchivedRecord
from disputatio.record.sql import SqlStore
from disputatio.record.store import EventBatch
from disputatio.report.json_export import export_json
from disputatio.report.reading import DebateReport
from disputatio.report.summary import first_screen
from disputatio.results import (
    CompetitionVerdict,
    DecisionKind,
    FreeformVerdict,
    MarketVerdict,
    PanelVerdict,
    Result,
    ReviewVerdict,
    ScoreOf,
    ScoreState,
    StructuredVerdict,
    TurnState,
    VoteState,
)

FORMATS = {
    "complete": StructuredVerdict,
    "freeform": FreeformVerdict,
    "competition": CompetitionVerdict,
    "panel": PanelVerdict,
    "review": ReviewVerdict,
    "market": MarketVerdict,
}
EVERY = (*READINGS, *FORMATS)


def result(name: str) -> Result:
    return Result(read_report(name))


@pytest.mark.parametrize("name", EVERY)
def test_it_says_what_the_first_screen_says(name: str) -> None:
    screen, read = first_screen(read_report(name)), result(name)
    assert bool(read.decision) is screen.decided
    assert str(read.decision) == screen.decision
    assert (read.decision.text is None) is bool(read.decision.missing)
    assert read.decision.open == screen.open
    assert read.doubts == screen.doubts
    assert read.cost.text == screen.cost
    recommends = screen.decided and screen.label == "Recommendation"
    assert read.recommendation == (screen.decision if recommends else None)


@pytest.mark.parametrize("name", EVERY)
def test_turns_and_calls_are_those_of_the_export(name: str) -> None:
    read, export = result(name), export_json(read_report(name))
    asks = [ask for phase in export["phases"] for ask in phase["asks"]]
    assert [(row.path, row.state) for row in read.turns] == [(ask["path"], ask["state"]) for ask in asks]
    assert [row.number for row in read.turns] == list(range(1, len(asks) + 1))
    assert all((row.text is None) is (row.state is not TurnState.TAKEN) for row in read.turns)
    assert all(bool(row.reason) is (row.state is TurnState.ABSTAINED) for row in read.turns)
    assert [(row.id, row.state, row.input_tokens) for row in read.calls] == [
        (row["call"], row["state"], row["usage"]["input_tokens"]) for row in export["calls"]
    ]
    assert [row.status for row in read.citations] == [
        row["status"] for ask in asks for said in ask["said"] for row in said["citations"]
    ]


@pytest.mark.parametrize("name", EVERY)
def test_a_score_has_a_value_exactly_where_it_was_given(name: str) -> None:
    for row in result(name).scores:
        assert (row.value is None) is (row.state is not ScoreState.GIVEN), row


@pytest.mark.parametrize("name", EVERY)
def test_standings_and_totals_are_those_of_the_record(name: str) -> None:
    read, outcome = result(name), read_report(name).outcome
    rows = {row["id"]: row for row in outcome.get("trace") or ()}
    found = {row.id: row for row in read.arguments}
    assert len(found) == len(read.arguments)
    assert set(rows) <= set(found)
    for key, row in rows.items():
        assert found[key].score == row.get("weighted")
        assert found[key].computed == (row.get("computed") or None)
        assert found[key].claim
    totals = {row.about: row.value for row in read.scores if row.of is ScoreOf.SIDE}
    recorded = outcome.get("totals") or {key: row["total"] for key, row in (outcome.get("teams") or {}).items()}
    assert totals == dict(recorded)


@pytest.mark.parametrize(("name", "kind"), FORMATS.items())
def test_every_format_has_a_verdict_of_its_own_type(name: str, kind: type) -> None:
    assert type(result(name).verdict) is kind


def test_a_market_verdict_names_its_subject_day_and_analysts() -> None:
    verdict = result("market").verdict
    assert isinstance(verdict, MarketVerdict)
    assert verdict.subject
    assert date.fromisoformat(verdict.as_of)
    assert {row.seat for row in verdict.analysts} <= {row.seat for row in read_report("market").seats}
    assert len(verdict.analysts) >= 4
    assert verdict.disclaimers == DISCLAIMERS


def test_what_contradicts_the_totals_stands_beside_them() -> None:
    verdict = result("withdrawn").verdict
    assert isinstance(verdict, StructuredVerdict)
    assert verdict.leader == "pro"
    assert verdict.contradicted_by == "Pro withdrew all 3 of its arguments"
    assert Counter(row.owner for row in result("withdrawn").arguments if row.side == "pro") == {"withdrawn": 3}


def test_a_weak_challenge_is_told_apart_from_none() -> None:
    weak, silent = result("weak critic").verdict, result("silent critic").verdict
    assert isinstance(weak, ReviewVerdict)
    assert isinstance(silent, ReviewVerdict)
    assert (weak.challenge_strength, weak.weak_challenge) == (1, True)
    assert (silent.challenge_strength, silent.weak_challenge) == (None, True)


def test_missing_zero_failed_and_unknown_are_different() -> None:
    failed, imported, truncated, silent = map(result, ("failed", "imported", "truncated", "con never spoke"))
    assert failed.cost.calls == 6
    assert {row.state.value for row in failed.turns} == {"abstained"}
    assert result("panel").cost.usd == Decimal(0)
    assert result("panel").cost.tokens == 0
    assert (imported.cost.calls, imported.cost.usd, imported.cost.tokens) == (None, None, None)
    assert not imported.cost.usd_complete
    assert {row.score_state for row in truncated.arguments} == {ScoreState.NOT_JUDGED}
    assert {(row.about, row.value, row.state) for row in silent.scores if row.of is ScoreOf.SIDE} == {
        ("pro", 6.25, ScoreState.GIVEN),
        ("con", None, ScoreState.MISSING),
    }


def test_no_result_is_false_and_says_why() -> None:
    for name in ("failed", "imported", "interrupted", "running", "truncated", "unjudged"):
        decision = result(name).decision
        assert not decision, name
        assert decision.kind is DecisionKind.DECISION
        assert decision.missing.startswith("None")


def test_a_debate_without_a_verdict_still_has_its_arguments() -> None:
    whole, stopped = result("complete"), result("interrupted")
    assert stopped.verdict is None
    assert [row.id for row in stopped.arguments] == [row.id for row in whole.arguments]
    assert all(row.judged is None and row.computed is None for row in stopped.arguments)


def test_votes_of_a_jury_and_of_a_panel() -> None:
    assert [(row.body, row.voter, row.option) for row in result("split jury").votes] == [
        ("jury", "judge", "pro"),
        ("jury", "judge_2", "con"),
    ]
    panel = result("level panel")
    verdict = panel.verdict
    assert isinstance(verdict, PanelVerdict)
    last = Counter(row.option for row in panel.votes if row.last and row.state is not VoteState.MISSING)
    assert last == {key: number for key, number in verdict.tally.items() if number}


def test_a_panel_that_was_stopped_has_the_votes_counted_so_far() -> None:
    debate = disputatio.debate_sync(
        "We should release",
        format=disputatio.Panel(debaters=["ada", "bo"], options=["release", "revise"], rounds=2, threshold=2),
        seats={"ada": voting("release"), "bo": voting("revise")},
        store=disputatio.MemoryStore(),
    )
    counted = [place for place, row in enumerate(debate.record) if row.kind == "VoteCounted"]
    part = dataclasses.replace(debate, record=debate.record[: counted[0] + 1])
    assert part.verdict is None
    assert [(row.voter, row.option, row.last) for row in part.votes] == [
        ("ada", "release", True),
        ("bo", "revise", True),
    ]


def voting(option: str) -> disputatio.Scripted:
    def answer(ask: object, _path: object, _reasons: object) -> dict[str, str]:
        keys = ask.spec.schema["properties"]  # type: ignore[attr-defined]
        return {key: option if "enum" in row else f"I say {option}." for key, row in keys.items()}

    return disputatio.Scripted(answer)


def test_every_prefix_of_a_record_has_a_result() -> None:
    debate = held("degraded")
    for length in range(len(debate.events) + 1):
        read = Result(DebateReport.of(debate.id, debate.events[:length]))
        assert read.decision or read.decision.missing
        assert read.doubts
        assert all((row.value is None) is (row.state is not ScoreState.GIVEN) for row in read.scores)
        assert read.cost.usd is None or read.cost.usd >= 0
        assert (len(read.turns), len(read.calls), len(read.votes)) >= (0, 0, 0)


def test_a_debate_opened_from_a_file_later_gives_the_same_values(tmp_path: Path) -> None:
    debate = held("degraded")
    url = f"sqlite:///{tmp_path}/s.sqlite"
    record = ArchivedRecord(debate.id, tuple(debate.events), debate.store.texts(debate.id))

    async def keep() -> None:
        store = SqlStore(url)
        await store.append(EventBatch(record.debate, record.events, record.texts))
        await store.aclose()

    asyncio.run(keep())
    fresh, kept = read_debate(debate.store, debate.id), disputatio.load(debate.id[:6], store=url)
    for name in ("decision", "verdict", "arguments", "scores", "citations", "votes", "turns", "calls", "cost"):
        assert getattr(kept, name) == getattr(fresh, name), name
    assert [row.id for row in disputatio.load_all(store=url)] == [debate.id]
    assert list(disputatio.load_all(store=url, format="panel")) == []


def test_loading_inside_an_event_loop_works(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.sqlite"

    async def inside() -> None:
        await SqlStore(url).aclose()
        assert list(disputatio.load_all(store=url)) == []
        with pytest.raises(disputatio.UnknownDebateError):
            disputatio.load("nothing", store=url)

    asyncio.run(inside())


def test_an_altered_record_is_not_loaded() -> None:
    debate = asyncio.run(hold())
    rows = debate.store._events[debate.id]
    rows[0] = rows[0]._replace(body=rows[0].body.replace("startup", "company", 1))
    with pytest.raises(disputatio.VerificationError):
        disputatio.load(debate.id, store=debate.store)


def test_values_are_read_once_and_debates_can_be_pickled() -> None:
    debate = read_debate(held("complete").store, held("complete").id)
    assert debate.arguments is debate.arguments
    again = dataclasses.replace(debate, id="other")
    assert again.result.report.id == "other"
    assert pickle.loads(pickle.dumps(debate)) == debate  # noqa: S301  (our own bytes)


def test_a_call_that_never_came_back_has_no_cost() -> None:
    debate = held("complete")
    upto = next(place for place, row in enumerate(debate.events) if row.kind == "CallSent") + 1
    read = Result(DebateReport.of(debate.id, debate.events[:upto]))
    assert [row.state.value for row in read.calls] == ["in flight"]
    assert {row.state for row in read.turns} == {TurnState.OPEN}
    assert read.cost.usd is None
