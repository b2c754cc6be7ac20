"""The chain finds every change: any character of any field of any event or text, what is dropped, swapped or put in."""

from __future__ import annotations

import hashlib
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from disputatio.record.chain import GENESIS, Sealed, find_fault, seal
from record_makers import chains
from strategies import examples

Chain = tuple[list[Sealed], dict[str, str]]
FIELDS = ("debate", "at", "kind", "body", "previous", "hash")


@given(chains())
def test_a_whole_chain_has_no_broken_link(chain: Chain) -> None:
    assert find_fault(*chain) is None


@given(chains())
def test_the_hash_is_the_documented_one(chain: Chain) -> None:
    previous = "0" * 64
    for row in chain[0]:
        lines = ["disputatio-1", row.debate, str(row.seq), row.at, row.kind, row.body, previous]
        assert row.previous == previous
        assert row.hash == hashlib.sha256("\n".join(lines).encode()).hexdigest()
        previous = row.hash


def altered(text: str, data: st.DataObject) -> str:
    """``text`` with one character changed, taken out or put in; or one bit of its bytes turned."""
    way = data.draw(st.sampled_from(("change", "drop", "insert", "bit") if text else ("insert",)))
    other = data.draw(st.characters(exclude_categories=("Cs",)) | st.sampled_from('\n0a"{'))
    place = data.draw(st.integers(0, max(len(text) - 1, 0)))
    if way == "bit":
        raw = bytearray(text.encode())
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        changed = raw.decode("utf-8", "replace")
    else:
        changed = text[:place] + ("" if way == "drop" else other) + text[place + (way != "insert") :]
    assume(changed != text)
    return changed


@examples(40)
@given(chains(), st.data())
def test_any_change_of_any_field_of_any_event_is_found(chain: Chain, data: st.DataObject) -> None:
    events, texts = chain
    number = data.draw(st.integers(0, len(events) - 1))
    field = data.draw(st.sampled_from((*FIELDS, "seq")))
    before: Any = getattr(events[number], field)
    after = data.draw(st.integers().filter(lambda n: n != before)) if field == "seq" else altered(before, data)
    events[number] = events[number]._replace(**{field: after})
    assert find_fault(events, texts) is not None


@given(chains(), st.data())
def test_any_change_of_any_text_is_found(chain: Chain, data: st.DataObject) -> None:
    events, texts = chain
    if not texts:
        return
    name = data.draw(st.sampled_from(sorted(texts)))
    changed = {**texts, name: altered(texts[name], data)}
    assert "a text of event" in (find_fault(events, changed) or "")
    without = {other: text for other, text in texts.items() if other != name}
    assert "names a text that is missing" in (find_fault(events, without) or "")


@given(chains(), st.data())
def test_an_event_that_is_dropped_swapped_doubled(chain: Chain, data: st.DataObject) -> None:
    """An event that is dropped swapped doubled or put in is found."""
    events, texts = chain
    number = data.draw(st.integers(0, len(events) - 1))
    if number < len(events) - 1:
        assert find_fault(events[:number] + events[number + 1 :], texts) is not None, "dropped before the end"
        swapped = [*events]
        swapped[number], swapped[number + 1] = swapped[number + 1], swapped[number]
        assert find_fault(swapped, texts) is not None
        renumbered = [row._replace(seq=place) for place, row in enumerate(swapped, start=1)]
        assert find_fault(renumbered, texts) is not None
        assert find_fault(events[number + 1 :], texts) is not None, "the beginning cut off"
    assert find_fault(events[: number + 1] + events[number:], texts) is not None, "doubled"
    forged = seal(events[number].event(), debate="d1", seq=number + 1, at="2026", previous=events[number].previous)
    assert find_fault([*events[:number], forged, *events[number:]], texts) is not None


@given(chains(), chains())
def test_an_event_of_another_chain_is_found(one: Chain, other: Chain) -> None:
    events, texts = one[0], {**one[1], **other[1]}
    assume(events[0].hash != other[0][0].hash)
    for place, foreign in enumerate(other[0][1:], start=1):
        assert find_fault([*events[:place], foreign], texts) is not None


@given(chains())
def test_a_chain_that_was_resealed_after_a_change_hangs(chain: Chain) -> None:
    """What a chain cannot tell by itself: the head, kept elsewhere, tells it."""
    events, texts = chain
    changed, previous = [], GENESIS
    for row in events:
        changed.append(seal(row.event(), debate="d2", seq=row.seq, at=row.at, previous=previous))
        previous = changed[-1].hash
    assert find_fault(changed, texts) is None
    assert changed[-1].hash != events[-1].hash


def test_an_empty_chain_is_whole() -> None:
    assert find_fault([], {}) is None
