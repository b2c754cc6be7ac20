"""Events, chains and writings for the tests of the record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from hypothesis import strategies as st

from disputatio.record.chain import GENESIS, Sealed, seal
from disputatio.record.events import KINDS, Abstained, CallSent, DebateClosed, DebateOpened, Event, TurnAsked, TurnTaken
from disputatio.record.store import EventBatch
from disputatio.record.text import digest
from strategies import json_objects, texts

EVENT_TYPES: tuple[type[Any], ...] = tuple(KINDS.values())

# By the words of the annotation: an event with a field of another kind needs a line here.
BY_ANNOTATION: dict[str, st.SearchStrategy[Any]] = {
    "str": texts,
    "int": st.integers(-(2**63), 2**63 - 1),
    "bool": st.booleans(),
    "str | None": st.none() | texts,
    "int | None": st.none() | st.integers(-(2**63), 2**63 - 1),
    "float | None": st.none() | st.floats(0, 2),
    "JsonObject": json_objects,
    "tuple[str, ...]": st.lists(texts, max_size=3).map(tuple),
    "tuple[JsonObject, ...]": st.lists(json_objects, max_size=3).map(tuple),
    "tuple[str, int] | tuple[()]": st.just(()) | st.tuples(texts, st.integers(1, 9)),
    "tuple[tuple[str, str], ...]": st.lists(st.tuples(texts, texts), max_size=3).map(tuple),
}


def any_event(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Any event of ``kind`` that its field types allow."""
    return st.builds(kind, **{row.name: BY_ANNOTATION[str(row.type)] for row in fields(kind)})


any_events = st.sampled_from(EVENT_TYPES).flatmap(any_event)


short_texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
_roles = st.sampled_from(("system", "user"))
_named_texts = st.lists(st.tuples(_roles, short_texts), min_size=1, max_size=2)
_DRAFTS: st.SearchStrategy[tuple[str, Any]] = st.one_of(
    st.tuples(st.just("call"), _named_texts),
    st.tuples(st.just("opening"), _named_texts),
    st.tuples(st.just("abstention"), short_texts),
    st.tuples(st.just("turn"), st.dictionaries(short_texts, short_texts | st.integers() | st.none(), max_size=2)),
)


def _event_of(kind: str, value: Any, kept: dict[str, str]) -> Event:
    def name(text: str) -> str:
        kept[digest(text)] = text
        return digest(text)

    match kind:
        case "call":
            prompt = tuple((role, name(text)) for role, text in value)
            return call_sent("closing/pro", prompt=prompt, schema=name(value[0][1]))
        case "opening":
            return replace(opened(), evidence=tuple({"source_id": role, "text": name(text)} for role, text in value))
        case "abstention":
            return Abstained(path="closing/pro", seat="pro", phase="closing", reason="timed_out", detail=value)
        case _:
            return TurnTaken(path="closing/pro", seat="pro", phase="closing", form="closing", content=value)


@st.composite
def chains(draw: st.DrawFn, most: int = 6) -> tuple[list[Sealed], dict[str, str]]:
    """A chain of events of several kinds, with every text they name."""
    kept: dict[str, str] = {}
    pen = Pen("d1")
    for kind, value in draw(st.lists(_DRAFTS, min_size=1, max_size=most)):
        pen.write(_event_of(kind, value, kept))
    return pen.chain, kept


def call_sent(path: str, number: int = 1, **changes: Any) -> CallSent:
    """A call that left."""
    reserved = {"input_tokens": 1, "output_tokens": 1, "usd": None, "bytes": 9}
    values: dict[str, Any] = {"model": "m:x", "mode": "native", "temperature": 0.5, "max_tokens": 10}
    values |= {"prompt": (("system", "a" * 64),), "schema": "", "reserved": reserved, **changes}
    return CallSent(call=f"{path}!{number}", path=path, part="", seat="pro", **values)


def opened(motion: str = "Is it so?") -> DebateOpened:
    return DebateOpened(
        format="freeform",
        motion={"text": motion, "language": "English"},
        seats={},
        rules={},
        prompts={},
        budget={"usd": None, "tokens": None, "calls": None},
    )


def closed(status: str = "COMPLETE") -> DebateClosed:
    return DebateClosed(status=status, missing=(), outcome={"judged": True})


def asked(number: int = 1) -> TurnAsked:
    return TurnAsked(
        path=f"round-{number}/pro", seat="pro", phase=f"round-{number}", form="monologue", mode="", prompt=""
    )


class Pen:
    """Writes the chain of one debate."""

    def __init__(self, debate: str, written: Iterable[Sealed] = ()) -> None:
        self.debate, self.chain = debate, list(written)

    def write(self, *events: Event, texts: Mapping[str, str] | None = None, at: str = "") -> EventBatch:
        """The next writing of this debate."""
        fresh = []
        for event in events:
            head = self.chain[-1].hash if self.chain else GENESIS
            stamp = at or f"2026-01-01T00:00:00.{len(self.chain):06}Z"
            self.chain.append(seal(event, debate=self.debate, seq=len(self.chain) + 1, at=stamp, previous=head))
            fresh.append(self.chain[-1])
        return EventBatch(self.debate, tuple(fresh), texts or {})
