"""Events, chains and writings for the tests of the record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, get_args

from hypothesis import strategies as st

from disputatio.record import GENESIS, DebateClosed, DebateOpened, Event, Sealed, TurnAsked, Writing, digest, seal
from disputatio.record.chain import text_hashes
from disputatio.record.events import encode
from strategies import json_objects, texts

EVENT_TYPES: tuple[type[Any], ...] = get_args(Event)

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
    "tuple[tuple[str, str], ...]": st.lists(st.tuples(texts, texts), max_size=3).map(tuple),
}


def any_event(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Any event of ``kind`` that its field types allow."""
    return st.builds(kind, **{row.name: BY_ANNOTATION[str(row.type)] for row in fields(kind)})


any_events = st.sampled_from(EVENT_TYPES).flatmap(any_event)


@st.composite
def chains(draw: st.DrawFn, most: int = 6) -> tuple[list[Sealed], dict[str, str]]:
    """A chain of any events, with every text they name."""
    kept: dict[str, str] = {}

    def name(text: str) -> str:
        kept[digest(text)] = text
        return digest(text)

    sealed: list[Sealed] = []
    for number in range(draw(st.integers(1, most))):
        event = draw(any_events)
        named = st.lists(st.tuples(st.sampled_from(("system", "user")), texts), max_size=2)
        changes: dict[str, Any] = {}
        if event.kind == "CallSent":
            changes["prompt"] = tuple((role, name(text)) for role, text in draw(named))
            changes["schema"] = draw(st.just("") | texts.map(name))
        if event.kind == "DebateOpened":
            changes["evidence"] = tuple({"source_id": role, "text": name(text)} for role, text in draw(named))
        event = type(event)(**{**{row.name: getattr(event, row.name) for row in fields(event)}, **changes})
        head = sealed[-1].hash if sealed else GENESIS
        sealed.append(seal(event, debate="d1", seq=number + 1, at=f"2026-01-01T00:00:0{number}Z", previous=head))
    used = {hash_ for row in sealed for hash_ in text_hashes(encode(row.event()))}  # type: ignore[arg-type]
    return sealed, {hash_: text for hash_, text in kept.items() if hash_ in used}


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

    def write(self, *events: Event, texts: Mapping[str, str] | None = None, at: str = "") -> Writing:
        """The next writing of this debate."""
        fresh = []
        for event in events:
            head = self.chain[-1].hash if self.chain else GENESIS
            stamp = at or f"2026-01-01T00:00:00.{len(self.chain):06}Z"
            self.chain.append(seal(event, debate=self.debate, seq=len(self.chain) + 1, at=stamp, previous=head))
            fresh.append(self.chain[-1])
        return Writing(self.debate, tuple(fresh), texts or {})
