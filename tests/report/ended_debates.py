"""One debate of every format for each way to end: complete, degraded, and truncated at a ceiling."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from staged_debates import Answering, hold, staged

from disputatio.participants.call import Call
from disputatio.record.history import Status
from disputatio.report.reading import DebateReport

FORMATS = ("structured", "freeform", "panel", "review", "competition", "market", "single")
STATUSES = {"complete": Status.COMPLETE, "degraded": Status.DEGRADED, "truncated": Status.TRUNCATED}
ENDED = tuple((name, ending) for name in FORMATS for ending in STATUSES if name != "single" or ending == "complete")
"""One seat speaks once in a single answer: without its turn the debate failed."""


def _only_first() -> Answering:
    """Answers that fill the first form they are asked for twice, and nothing else."""
    known: list[str] = []

    def answering(seat: str, call: Call) -> dict[str, Any] | str:
        known.append(call.schema_name)
        return staged(seat, call) if call.schema_name == known[0] and len(known) <= 2 else "{}"

    return answering


@cache
def ended(name: str, ending: str) -> DebateReport:
    """The report of a debate of the format ``name`` that ended so."""
    more: dict[str, Any] = {"max_calls": "2"} if ending == "truncated" else {}
    answering = _only_first() if ending == "degraded" else staged
    seats = ("all=ollama:fake-model",)

    def work() -> DebateReport:
        return asyncio.run(hold(name, answering, seats=seats, **more)).report

    # A test that drives a browser has a loop in its own thread.
    with ThreadPoolExecutor(1) as pool:
        report = pool.submit(work).result()
    assert report.status is STATUSES[ending], report.status
    return report
