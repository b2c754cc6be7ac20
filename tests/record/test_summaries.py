"""Metrics come from summaries as they come from all events, and no summary outlives its record's last event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

import disputatio
from disputatio.metrics.collecting import Selection, collect
from disputatio.metrics.measures import MEASURES_VERSION, Measures, make_summary, measure_debate, read_summary
from disputatio.record.archive import ArchivedRecord, remove
from disputatio.record.database import _migrate
from disputatio.record.events import DebateInterrupted, DebateResumed, OutcomeAttached
from disputatio.record.history import History, Status
from disputatio.record.sql import SqlStore
from disputatio.record.store import DebateRow, Summary
from disputatio.testing.prefixes import PrefixMeter
from record_makers import Pen, asked, call_sent, closed, opened
from strategies import examples

Opening = Callable[[], SqlStore]
ALL = Selection()
ROW = DebateRow("d1", "2026-01-15T00:00:00Z", "review", "m", "COMPLETE", 1, "h")
amounts = st.none() | st.decimals(0, 10**6, places=8)
counts = st.integers(0, 10**12)
any_measures = st.builds(
    Measures,
    debate=st.just(ROW.id),
    opened_at=st.just(ROW.opened_at),
    usd=amounts,
    estimated_usd=amounts,
    latencies=st.tuples(counts, counts, counts),
    models=st.frozensets(st.text(max_size=9), max_size=3),
    strengths=st.lists(st.integers(1, 10), max_size=3).map(tuple),
    claimed=st.lists(st.integers(1, 10), max_size=3).map(tuple),
    tilt=st.none() | st.floats(-9, 9),
    **{name: st.none() | counts for name in ("tokens", "estimated_tokens", "uncertainties")},
    **dict.fromkeys(("calls", "failed", "turns", "abstentions", "violations", "rejected"), counts),
    **{name: st.none() | st.booleans() for name in ("agrees", "one_conclusion")},
    **{name: st.none() | st.text(max_size=9) for name in ("verdict", "sign_off")},
    status=st.sampled_from(Status),
)


class Reading:
    """Counts the records that a store is asked for."""

    def __init__(self, store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: list[str] = []
        usual = store.read

        def counted(debate: str, after: int = 0) -> Any:
            self.read.append(debate)
            return usual(debate, after)

        monkeypatch.setattr(store, "read", counted)

    def taken(self) -> list[str]:
        """What was read since this was asked last."""
        found, self.read = self.read, []
        return found


def figures(store: Any, **given: Any) -> Any:
    return collect(store, ALL, **given).as_json()


@examples(200)
@given(any_measures)
def test_measures_come_back_from_their_summary(measures: Measures) -> None:
    assert read_summary(make_summary(measures, "h").body, ROW) == measures


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"status": "ODD"}', '{"later": 1}', '{"usd": "x"}'])
def test_a_summary_of_another_kind_is_none(body: str) -> None:
    assert read_summary(body, ROW) is None


def test_the_rules_of_measures_are_those_of_the_version() -> None:
    """Who changes what a record comes to raises MEASURES_VERSION, and notes here what comes out now."""
    pen = Pen("d1")
    pen.write(opened(), asked(), call_sent("round-1/pro"), closed("DEGRADED"))
    found = measure_debate("d1", "", History.of(row.event() for row in pen.chain))
    expected = (
        '{"abstentions":0,"calls":1,"failed":0,"format":"freeform","latencies":[0,0,0],"rejected":0,'
        '"status":"DEGRADED","task_type":"freeform","tokens":0,"turns":0,"usd":null,"violations":0}'
    )
    assert (MEASURES_VERSION, make_summary(found, "h").body) == (1, expected)


async def test_a_record_is_read_once_and_again_when_it_went_on(
    open_store: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, pens = open_store(), [Pen("d1"), Pen("d2")]
    reading = Reading(store, monkeypatch)
    for pen in pens:
        await store.append(pen.write(opened(), asked(), call_sent("round-1/pro"), closed()))
    first = figures(store)
    assert reading.taken() == ["d1", "d2"]
    assert figures(store) == first
    assert reading.taken() == []
    for event in (
        DebateResumed(budget={}, software="1"),
        asked(2),
        DebateInterrupted(reason="stopped"),
        DebateResumed(budget={}, software="1"),
        closed("DEGRADED"),
        OutcomeAttached(text="x", verdict="right", by="", note="", head=""),
    ):
        await store.append(pens[0].write(event))
        now = figures(store)
        assert reading.taken() == ["d1"], event.kind
        assert now == figures(store, rereads=True)
        assert sorted(reading.taken()) == ["d1", "d2"]
    assert now["outcomes"] == {"right": 1}


async def test_a_debate_that_ends_needs_no_reading(open_store: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store()
    for name in ("structured", "freeform"):
        await disputatio.debate(
            "We should split the service", format=name, seats={"all": "ollama:x"}, store=store,
            client_factory=lambda *_: PrefixMeter(),
        )  # fmt: skip
    reading = Reading(store, monkeypatch)
    found = figures(store)
    assert (found["debates"], reading.taken()) == (2, [])
    assert found == figures(store, rereads=True)
    assert len(reading.taken()) == 2


async def test_an_altered_record_is_left_out_until_it_is_mended(open_store: Opening) -> None:
    store, pen = open_store(), Pen("d1")
    writing = pen.write(opened(), asked(), closed())
    await store.append(writing)

    def put(body: str) -> None:
        with store.engine.begin() as connection:
            connection.execute(sa.text("UPDATE events SET body = :body WHERE seq = 2"), {"body": body})

    put("{}")
    for _ in range(2):
        assert "altered" in collect(store, ALL).left_out["d1"]
    put(pen.chain[1].body)
    for _ in range(2):
        assert not collect(store, ALL).left_out
    put("{}")
    assert "altered" in collect(store, ALL, rereads=True).left_out["d1"]


async def test_a_record_without_its_last_event_has_no_summary(open_store: Opening) -> None:
    store, pen = open_store(), Pen("d1")
    await store.append(pen.write(opened(), asked(), closed()))
    assert collect(store, ALL).formats["freeform"].statuses == {"COMPLETE": 1}
    with store.engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM events WHERE seq = 3"))
    assert collect(store, ALL).formats["freeform"].statuses == {"RUNNING": 1}


async def test_a_summary_that_another_version_wrote_is_not_used(open_store: Opening) -> None:
    store, pen = open_store(), Pen("d1")
    await store.append(pen.write(opened(), closed()))
    collect(store, ALL)
    (kept,) = store.summaries.current(["d1"], MEASURES_VERSION).values()
    head = pen.chain[-1].hash
    for odd in (Summary("d1", head, MEASURES_VERSION + 1, kept), Summary("d1", head, MEASURES_VERSION, "{")):
        store.summaries.keep([replace(odd, body=odd.body.replace("COMPLETE", "FAILED"))])
        assert collect(store, ALL).formats["freeform"].statuses == {"COMPLETE": 1}


async def test_summaries_leave_with_their_record(open_store: Opening) -> None:
    store, pen = open_store(), Pen("d1")
    await store.append(pen.write(opened(), closed()))
    collect(store, ALL)
    assert remove(store, ArchivedRecord("d1", tuple(pen.chain), {}))
    with store.engine.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM summaries")).scalar() == 0


async def test_a_store_of_before_is_measured_once_it_is_opened(store_url: str) -> None:
    url = store_url if "://" in store_url else f"sqlite:///{store_url}"
    if "://" not in store_url:
        Path(store_url).parent.mkdir(parents=True)
    _migrate(sa.create_engine(url, poolclass=sa.NullPool), "0003")
    store, pen = SqlStore(url), Pen("d1")
    await store.append(pen.write(opened(), closed()))
    assert [collect(store, ALL).debates for _ in range(2)] == [1, 1]
    assert store.summaries.current(["d1"], MEASURES_VERSION)
    await store.aclose()


async def test_metrics_need_no_table_of_summaries_nor_leave_to_write(open_store: Opening) -> None:
    store, pen = open_store(), Pen("d1")
    await store.append(pen.write(opened(), closed()))
    with store.engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE summaries"))
    assert collect(store, ALL).debates == 1
