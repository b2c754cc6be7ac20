"""Outcomes and sign-offs are chained to the record of a closed debate, which stays what it was."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from rooms import PatientClock, first_events_of, go_on, history_of, hold, proposal_of

from disputatio.engine.attachments import attach_outcome, sign_off
from disputatio.engine.runtime import Runtime
from disputatio.errors import InvalidInputError, StoreError, VerificationError
from disputatio.ledger.budget import Budget
from disputatio.record.events import DebateClosed, OutcomeAttached, SignedOff
from disputatio.record.history import History, Status, semantic_content
from disputatio.record.memory import MemoryStore
from disputatio.record.sql import SqlStore
from disputatio.record.verified import read_verified
from disputatio.report.json_export import export_json, export_schema
from disputatio.report.markdown import render_markdown
from disputatio.report.page import render_page
from disputatio.report.reading import DebateReport
from disputatio.report.text import render_text
from disputatio.testing import InstanceClient

pytestmark = pytest.mark.slow


def client_factory(_seating: Any, _key: Any) -> InstanceClient:
    return InstanceClient()


SHORT = {"set": ("rounds=1",)}


async def closed_debate(store: Any = None) -> tuple[str, Any]:
    debate, _, store = await hold(proposal_of("freeform", **SHORT), client_factory, store)
    return debate, store


async def test_the_debate_stays_as_it_was_closed_and_its_record_grows():
    """The debate stays as it was closed and its record grows and verifies."""
    debate, store = await closed_debate()
    before = tuple(store.read(debate))
    runtime = Runtime(store, clock=PatientClock())
    await attach_outcome(debate, "It held.", runtime, verdict="right", by="A. Reviewer", note="after a year")
    await sign_off(debate, "B. Head", "approve", runtime)
    after = read_verified(store, debate)
    assert after[: len(before)] == before
    assert [row.kind for row in after[len(before) :]] == ["OutcomeAttached", "SignedOff"]
    history = History.of(row.event() for row in after)
    assert history.status is Status.COMPLETE
    assert semantic_content(row.event() for row in after) == semantic_content(row.event() for row in before)
    assert history.outcomes[0].head == before[-1].hash
    assert history.sign_offs[0].head == after[-2].hash


async def test_a_store_on_disk_notices_when_a_sign_off_is_cut_off(tmp_path: Path):
    store = SqlStore(f"sqlite:///{tmp_path}/d.sqlite")
    debate, _ = await closed_debate(store)
    await sign_off(debate, "B", "approve", Runtime(store, clock=PatientClock()))
    assert read_verified(store, debate)[-1].kind == "SignedOff"
    with store._engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM events WHERE kind = 'SignedOff'")
    with pytest.raises(VerificationError, match="does not hold event"):
        read_verified(store, debate)
    await store.aclose()


async def test_every_surface_shows_them_with_what_a_name_is_worth():
    debate, store = await closed_debate()
    runtime = Runtime(store, clock=PatientClock())
    await attach_outcome(debate, "The line was <b>late</b>.", runtime, verdict="wrong", by="A")
    await sign_off(debate, "B", "return", runtime, comment="Ask with the audit.")
    report = DebateReport.of(debate, store.read(debate), store.texts(debate))
    for text in (render_text(report), render_markdown(report), render_page(report)):
        assert "Outcome: wrong, by A" in text.replace("\\", "")
        assert "Sign-off: returned, by B" in text
        assert "not who gave them" in " ".join(text.split())
        assert "Ask with the audit." in text
    assert "<b>late" not in render_page(report)
    assert "<b>late" not in render_markdown(report)
    body = export_json(report)
    assert [row["kind"] for row in body["addenda"]] == ["outcome", "sign-off"]
    import jsonschema_rs

    jsonschema_rs.validator_for(export_schema()).validate(body)


@pytest.mark.parametrize("events", [1, 5])
async def test_an_unfinished_debate_has_no_result_to_attach_to(events):
    debate, store = await closed_debate()
    cut = await first_events_of(store, debate, events)
    for attempt in (
        attach_outcome(debate, "It held.", Runtime(cut)),
        sign_off(debate, "B", "approve", Runtime(cut)),
    ):
        with pytest.raises(InvalidInputError, match="has not ended"):
            await attempt
    assert len(cut.read(debate)) == events


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"result": "  "}, "--result is empty"),
        ({"result": "x" * 4001}, "4,001 characters"),
        ({"result": "x", "verdict": "good"}, "right, wrong, mixed"),
        ({"by": " ", "decision": "approve"}, "--by is empty"),
        ({"by": "B", "decision": "maybe"}, "approve, reject, return"),
        ({"by": "B", "decision": "reject"}, "without a reason"),
    ],
)
async def test_what_cannot_be_used_is_refused_and_nothing_is_written(given, said):
    debate, store = await closed_debate()
    before = len(store.read(debate))
    act: Any = attach_outcome if "result" in given else sign_off
    first, second = (given.pop("result"),) if "result" in given else (given.pop("by"), given.pop("decision")), given
    with pytest.raises(InvalidInputError) as refused:
        await act(debate, *first, Runtime(store), **second)
    assert said in str(refused.value)
    assert len(store.read(debate)) == before


async def test_two_at_once_are_both_kept_or_one_is_told():
    """Two at once are both kept or one is told that another writes."""
    debate, store = await closed_debate()
    before = len(store.read(debate))
    runtime = Runtime(store, clock=PatientClock())
    done = await asyncio.gather(
        *(attach_outcome(debate, f"Finding {number}", runtime) for number in range(4)), return_exceptions=True
    )
    kept = [row for row in done if isinstance(row, OutcomeAttached)]
    assert all(isinstance(row, OutcomeAttached | StoreError) for row in done)
    assert len(read_verified(store, debate)) == before + len(kept)
    await attach_outcome(debate, "later", runtime)


async def test_a_claimed_debate_is_left_alone():
    debate, store = await closed_debate()
    store.claim(debate)
    with pytest.raises(StoreError, match="held by another process"):
        await sign_off(debate, "B", "approve", Runtime(store))
    store.release(debate)
    assert isinstance(await sign_off(debate, "B", "approve", Runtime(store, clock=PatientClock())), SignedOff)


async def test_a_truncated_debate_that_goes():
    """A truncated debate that goes on overtakes what was attached."""
    proposal = proposal_of("freeform", max_calls="2", **SHORT)
    debate, history, store = await hold(proposal, client_factory)
    assert history.status is Status.TRUNCATED
    await sign_off(debate, "B", "approve", Runtime(store, clock=PatientClock()))
    await go_on(debate, proposal, client_factory, store, budget=Budget(calls=10))
    history = history_of(store, debate)
    assert history.status is Status.COMPLETE
    assert history.sign_offs == []
    assert len(history.overtaken) == 1
    report = DebateReport.of(debate, store.read(debate), store.texts(debate))
    assert [row.overtaken for row in report.addenda] == [True]
    assert "before the debate was gone on with" in " ".join(render_text(report).split())


async def test_a_finished_debate_with_a_sign_off_is_resumed_as_it_is():
    proposal = proposal_of("freeform", **SHORT)
    debate, _, store = await hold(proposal, client_factory, MemoryStore())
    await sign_off(debate, "B", "approve", Runtime(store, clock=PatientClock()))
    before = tuple(store.read(debate))
    await go_on(debate, proposal, client_factory, store)
    assert tuple(store.read(debate)) == before
    assert sum(row.kind == DebateClosed.kind for row in before) == 1
