"""Every event type goes into the record and comes back as it was."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import StoreError
from disputatio.record.chain import seal
from disputatio.record.events import CLOCK_FIELDS, KINDS, decode, encode
from disputatio.record.text import canonical, read_json
from record_makers import BY_ANNOTATION, EVENT_TYPES, any_event
from strategies import examples


def test_every_kind_of_event_is_registered_and_has_samples() -> None:
    assert len(EVENT_TYPES) >= 15
    for kind in EVENT_TYPES:
        assert KINDS[kind.__name__] is kind
        assert kind.kind == kind.__name__
        assert is_dataclass(kind)
        for row in fields(kind):
            assert str(row.type) in BY_ANNOTATION, f"{kind.__name__}.{row.name} needs a sample"


def test_clock_fields_exist() -> None:
    names = {row.name for kind in EVENT_TYPES for row in fields(kind)}
    assert names >= CLOCK_FIELDS


@pytest.mark.parametrize("kind", EVENT_TYPES, ids=lambda kind: kind.__name__)
@examples(12)
@given(data=st.data())
def test_an_event_survives_its_record(kind: type[Any], data: st.DataObject) -> None:
    event = data.draw(any_event(kind))
    assert decode(kind.kind, read_json(canonical(encode(event)))) == event
    sealed = seal(event, debate="d", seq=1, at="2026-01-01T00:00:00Z", previous="0" * 64)
    assert sealed.event() == event
    assert sealed.body == canonical(encode(event)), "an event holds its fields and nothing else"
    assert sealed.kind == kind.__name__


def test_events_are_values_that_cannot_be_changed() -> None:
    for kind in EVENT_TYPES:
        assert kind.__dataclass_params__.frozen, kind.__name__


def test_an_unknown_kind_is_a_store_error_that_names_it() -> None:
    with pytest.raises(StoreError, match=r"does not know \(TurnSkipped\)"):
        decode("TurnSkipped", {})


@pytest.mark.parametrize("kind", EVENT_TYPES, ids=lambda kind: kind.__name__)
def test_an_event_with_a_field_of_another_version(kind: type[Any]) -> None:
    """An event with a field of another version is a store error."""
    body = dict.fromkeys((row.name for row in fields(kind)), "")
    with pytest.raises(StoreError, match=kind.__name__):
        decode(kind.kind, {**body, "mood": "cheerful"})


@pytest.mark.parametrize("kind", EVENT_TYPES, ids=lambda kind: kind.__name__)
def test_an_event_that_lacks_a_field_is_a_store_error(kind: type[Any]) -> None:
    with pytest.raises(StoreError, match=kind.__name__):
        decode(kind.kind, {})


@pytest.mark.parametrize("kind", EVENT_TYPES, ids=lambda kind: kind.__name__)
@examples(5)
@given(data=st.data())
def test_an_event_that_was_read_is_like_a_new_one(kind: type[Any], data: st.DataObject) -> None:
    body = canonical(encode(data.draw(any_event(kind))))
    read = decode(kind.kind, read_json(body))
    # As text, because 1 and 1.0 are equal and not the same.
    assert canonical(encode(read)) == body
    with pytest.raises(FrozenInstanceError):
        setattr(read, fields(kind)[0].name, "another")


@pytest.mark.parametrize("body", [[], ["call"], "text", 7, None, {}])
def test_a_body_that_is_no_object_is_a_store_error(body: Any) -> None:
    with pytest.raises(StoreError, match=r"lacks a part \(CallMade\)"):
        decode("CallMade", body)


def test_a_list_that_is_none_is_a_store_error() -> None:
    body = dict.fromkeys((row.name for row in fields(KINDS["CallSent"])), "")
    with pytest.raises(StoreError, match=r"lacks a part \(CallSent\)"):
        decode("CallSent", {**body, "prompt": 7})
