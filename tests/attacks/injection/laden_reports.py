"""Debates whose every word is somebody's attack: recorded events with the corpus in each place that holds words.

What decides how a record is read (seats, paths, kinds, standings) stays; all else is said by the attacker, the raw
output, faults, reasons, violations, personas, titles of sources and texts included.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from injection_corpus import Words
from staged_debates import held
from staged_pages import _sourced

from disputatio.record.events import Event, ToolCalled, TurnTaken, decode, encode
from disputatio.record.text import digest
from disputatio.report.reading import DebateReport

KEPT = frozenset(
    {
        *("path", "part", "seat", "phase", "form", "mode", "prompt", "schema", "call", "fault", "finish", "because"),
        *("status", "format", "side", "response", "judged", "computed", "drew", "found", "id", "about", "kind"),
        *(
            "cost_usd",
            "reserved",
            "budget",
            "usage",
            "rules",
            "prompts",
            "limit",
            "ceiling",
            "spent",
            "needed",
            "argument",
        ),
        *("conceded_by", "fallacy", "standing", "shift", "rule", "language", "source_id", "by", "state"),
    }
)
"""Fields that code fills in and reads; a word of the rules in them decides what a surface shows."""
STAGES = ("sourced", "freeform", "degraded", "unjudged", "truncated")


@cache
def _staged(name: str) -> tuple[list[Event], Mapping[str, str]]:
    # In a thread of its own: a test that drives a browser has a loop in this one.
    with ThreadPoolExecutor(1) as pool:
        debate = pool.submit(lambda: asyncio.run(_sourced()) if name == "sourced" else held(name)).result()
    events = [row.event() for row in debate.events]
    place = next(number for number, event in enumerate(events) if isinstance(event, TurnTaken))
    taken = events[place]
    assert isinstance(taken, TurnTaken)
    events.insert(place, looked_up(taken.path, taken.seat))
    return events, {**debate.store.texts(debate.id), digest("found"): "found"}


def looked_up(path: str, seat: str) -> ToolCalled:
    """A seat consulted a tool, which the stage has none of."""
    return ToolCalled(
        path=path,
        seat=seat,
        tool="maps.find",
        server="maps",
        arguments={"q": "a bridge"},
        result=digest("found"),
        summary="found",
        fault="",
        left_out=0,
        latency_ms=3,
    )


def laden_events(name: str, words: Words) -> list[Event]:
    """The events of the staged debate ``name`` with ``words`` in every place for words."""
    return [decode(event.kind, _laden(encode(event), words)) for event in _staged(name)[0]]


def laden(name: str, words: Words) -> DebateReport:
    """The report of ``laden_events``."""
    texts = {digest: words() for digest in _staged(name)[1]}
    return DebateReport.of("7f3a", laden_events(name, words), texts)


def _laden(value: Any, words: Words, name: str = "") -> Any:
    if name in KEPT or (name in {"text", "result"} and _is_hash(value)):
        return value
    if isinstance(value, str):
        return words() if value and value not in _WORDS else value
    if isinstance(value, Mapping):
        return {key: _laden(row, words, str(key)) for key, row in value.items()}
    if isinstance(value, list | tuple):
        return [_laden(row, words, name) for row in value]
    return value


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


_WORDS = frozenset({"stands", "narrowed", "withdrawn", "model", "scripted", "unverified", "verified", "repaired"})
