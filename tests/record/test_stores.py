"""What every store does, whatever it keeps its records in."""

from __future__ import annotations

import asyncio

import pytest

from disputatio.errors import StoreError
from disputatio.record.chain import find_fault
from disputatio.record.events import DebateInterrupted, DebateResumed
from disputatio.record.store import Store
from disputatio.record.text import digest
from record_makers import Pen, asked, closed, opened


async def test_what_is_appended_is_read_as_it_was(store: Store) -> None:
    pen = Pen("d1")
    body = {"system": "Zeile\n中文 🙂 \\ \"quoted\" 'it' %s :name \x1f"}
    await store.append(pen.write(opened("Übergrößenträger — 质疑?"), texts={digest(body["system"]): body["system"]}))
    await store.append(pen.write(asked(1), asked(2)))
    assert list(store.read("d1")) == pen.chain
    assert store.texts("d1") == {digest(body["system"]): body["system"]}
    assert find_fault(store.read("d1"), store.texts("d1")) is None


async def test_an_unknown_debate_is_empty(store: Store) -> None:
    assert list(store.read("nowhere")) == []
    assert dict(store.texts("nowhere")) == {}
    assert list(store.debates()) == []
    assert list(store.find("")) == []


async def test_writings_keep_their_order_without_anybody_waiting(store: Store) -> None:
    pen = Pen("d1")
    waiting = [store.append(pen.write(opened()))]
    waiting += [store.append(pen.write(asked(number))) for number in range(1, 60)]
    await asyncio.gather(*waiting)
    assert list(store.read("d1")) == pen.chain


async def test_what_is_read_in_parts_is_what_is_read_at_once(store: Store) -> None:
    pen = Pen("d1")
    await store.append(pen.write(opened(), *map(asked, range(150))))
    for after in (0, 1, 64, 150, 151, 152):
        parts = list(store.parts("d1", after=after))
        assert [row for part in parts for row in part] == list(store.read("d1", after=after)) == pen.chain[after:]
        assert all(1 <= len(part) < 100 for part in parts)
    assert list(store.parts("nowhere")) == []


async def test_two_hundred_debates_at_once_keep_the_order_of_each(store: Store) -> None:
    pens = [Pen(f"debate-{number:03}") for number in range(200)]

    async def held(pen: Pen) -> None:
        store.append(pen.write(opened(pen.debate), texts={digest(pen.debate): pen.debate}))
        store.append(pen.write(asked(1), asked(2)))
        await store.append(pen.write(asked(3), texts={digest("shared"): "shared"}))
        await store.append(pen.write(closed()))

    await asyncio.gather(*map(held, pens))
    for pen in pens:
        assert list(store.read(pen.debate)) == pen.chain
        assert store.texts(pen.debate) == {digest(pen.debate): pen.debate, digest("shared"): "shared"}
    assert len(store.debates()) == 200
    assert {row.status for row in store.debates()} == {"COMPLETE"}


async def test_a_number_that_the_debate_has_already_is_refused(store: Store) -> None:
    """A number that the debate has already is refused and nothing is changed."""
    pen = Pen("d1")
    await store.append(pen.write(opened(), asked(1)))
    other = Pen("d1", pen.chain)
    await store.append(pen.write(asked(2)))
    with pytest.raises(StoreError, match="Another process is writing this debate"):
        await store.append(other.write(asked(3), texts={digest("late"): "late"}))
    with pytest.raises(StoreError, match="Another process is writing this debate"):
        await store.append(Pen("d1").write(opened()))
    assert list(store.read("d1")) == pen.chain
    assert digest("late") not in store.texts("d1")


async def test_all_events_of_a_writing_are_stored_or_none(store: Store) -> None:
    pen = Pen("d1")
    await store.append(pen.write(opened()))
    behind = Pen("d1", pen.chain)
    await store.append(pen.write(asked(1)))
    half_known = behind.write(asked(9), asked(10))
    with pytest.raises(StoreError):
        await store.append(half_known)
    assert list(store.read("d1")) == pen.chain


async def test_nothing_is_stored_behind_a_writing_that_failed(store: Store) -> None:
    """A hole in a record would never verify again."""
    pen = Pen("d1")
    await store.append(pen.write(opened()))
    taken = Pen("d1", pen.chain).write(asked(1))
    await store.append(taken)
    lost, later = store.append(pen.write(asked(2))), store.append(pen.write(asked(3)))
    results = await asyncio.gather(lost, later, return_exceptions=True)
    assert [type(row) for row in results] == [StoreError, StoreError]
    assert [sealed.seq for sealed in store.read("d1")] == [1, 2]
    resumed = Pen("d1", store.read("d1"))
    await store.append(resumed.write(asked(4)))
    assert list(store.read("d1")) == resumed.chain, "who begins anew from the record may go on"


async def test_a_writing_that_fails_does_not_fail_its_neighbours(store: Store) -> None:
    first = Pen("d0")
    await store.append(first.write(opened()))
    pens = [Pen(f"d{number}") for number in range(1, 20)]
    waiting = []
    for pen in pens:
        waiting.append(store.append(pen.write(opened(), texts={digest(pen.debate): pen.debate})))
        waiting.append(store.append(Pen("d0").write(opened())))
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [row is None for row in results] == [True, False] * len(pens)
    for pen in pens:
        assert list(store.read(pen.debate)) == pen.chain
        assert store.texts(pen.debate) == {digest(pen.debate): pen.debate}


async def test_debates_are_listed_newest_first_with_their_status(store: Store) -> None:
    pens = {name: Pen(name) for name in ("a1", "b2", "c3", "d4")}
    for number, pen in enumerate(pens.values()):
        await store.append(pen.write(opened(f"Motion of {pen.debate}?"), at=f"2026-01-0{number + 1}T00:00:00.000000Z"))
    await store.append(pens["a1"].write(closed("DEGRADED")))
    await store.append(pens["b2"].write(DebateInterrupted(reason="stopped")))
    await store.append(pens["c3"].write(closed("DEBATE_TRUNCATED")))
    await store.append(pens["c3"].write(DebateResumed(budget={}, software="")))
    rows = store.debates()
    assert [(row.id, row.status) for row in rows] == [
        ("d4", "RUNNING"),
        ("c3", "RUNNING"),
        ("b2", "INTERRUPTED"),
        ("a1", "DEGRADED"),
    ]
    assert [row.motion for row in rows] == [f"Motion of {row.id}?" for row in rows]
    assert {row.format for row in rows} == {"freeform"}
    assert (rows[3].events, rows[3].head) == (2, pens["a1"].chain[-1].hash)


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("", {"ab12", "ab34", "AB56", "a_b7", "c%d8"}),
        ("ab", {"ab12", "ab34"}),
        ("ab1", {"ab12"}),
        ("AB", {"AB56"}),
        ("a_", {"a_b7"}),
        ("c%", {"c%d8"}),
        ("%", set()),
        ("b", set()),
        ("ab12", {"ab12"}),
        ("ab123", set()),
    ],
)
async def test_find_takes_a_prefix_literally(store: Store, prefix: str, found: set[str]) -> None:
    for name in ("ab12", "ab34", "AB56", "a_b7", "c%d8"):
        await store.append(Pen(name).write(opened()))
    assert set(store.find(prefix)) == found


async def test_a_refused_debate_is_not_there(store: Store) -> None:
    with pytest.raises(StoreError):
        await store.append(Pen("d1", Pen("d1").write(opened()).events).write(asked(1)))
    assert list(store.debates()) == []
    assert list(store.find("d")) == []


async def test_raw_output_that_utf_8_cannot_hold_is_stored_readably(store: Store) -> None:
    pen = Pen("d1")
    raw = "half an emoji \ud83d and more"
    await store.append(pen.write(opened(raw), texts={digest(raw): raw}))
    assert find_fault(store.read("d1"), {digest(raw): store.texts("d1")[digest(raw)]}) is None
    assert digest(store.texts("d1")[digest(raw)]) == digest(raw)


async def test_closing_writes_what_waits_and_may_be_repeated(store: Store) -> None:
    pen = Pen("d1")
    waiting = [store.append(pen.write(opened())), *(store.append(pen.write(asked(n))) for n in range(30))]
    await store.aclose()
    await asyncio.gather(*waiting)
    await store.aclose()
    assert list(store.read("d1")) == pen.chain
