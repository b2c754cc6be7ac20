"""What a debate said and decided, apart from clocks, arrival order and interruptions.

Two records have the same semantic content exactly when the same asks drew the same calls, answers, turns,
scores and verdict. A debate that was killed and resumed must equal one that was not: what the kill added
(lost calls, the resumption, an earlier truncated closing) is left out, and so are call numbers and the sizes of
reservations, which depend on what had been measured by then, and what a provider's cache served, which depends on
who else asked it. So does how much room a model is given to reason, and with it whether a call was cut there and made
again. Outcomes and sign-offs that were attached after the end are about the debate and no part of it, and
an estimate of its cost is a guess.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from disputatio.record.events import CLOCK_FIELDS, CallMade, CallSent, Event, encode
from disputatio.record.history import History
from disputatio.record.text import canonical


def semantic_content(events: Iterable[Event]) -> dict[str, Any]:
    """The semantic content as JSON, everything keyed by path."""
    history = History.of(events)
    paths = sorted(history.asked)
    return {
        "opened": _meaning(history.opened, drop=("budget", "software", "warnings", "estimate")),
        "asked": {path: _meaning(history.asked[path]) for path in paths},
        "calls": {
            path: [
                {"sent": _sent_meaning(sent, history), "made": _call_meaning(made)}
                for sent, made in history.settled(path)
                if made.fault not in _RESIZED
            ]
            for path in paths
        },
        "rejected": {path: [_meaning(row) for row in history.rejected.get(path, ())] for path in paths},
        "consulted": {path: [_meaning(row) for row in history.consulted.get(path, ())] for path in paths},
        "answered": {
            path: {"kind": history.answered[path].kind, **_meaning(history.answered[path])}
            for path in sorted(history.answered)
        },
        "facts": sorted(({"kind": row.kind, **_meaning(row)} for row in history.facts), key=canonical),
        "closed": _meaning(history.closed),
    }


_RESIZED = frozenset({"cut_while_reasoning", "limit_too_large"})
"""Faults after which the same call is made again with another limit."""


def _sent_meaning(sent: CallSent, history: History) -> dict[str, Any]:
    """A call that left, with its whole prompt: how it is shortened depends on which call left before it."""
    meaning = _meaning(sent, drop=("call", "reserved", "begins", "reasoning_allowance"))
    answer = sent.max_tokens - sent.reasoning_allowance
    return {**meaning, "max_tokens": answer, "prompt": history.prompts[sent.call]}


def _call_meaning(made: CallMade) -> dict[str, Any]:
    """A call without what only the provider's cache decided: the cached share of its input, and so its cost."""
    meaning = _meaning(made, drop=("call", "cost_usd", "cost_basis"))
    cache = {"cached_tokens", "written_tokens"}
    return {**meaning, "usage": {name: made.usage[name] for name in made.usage if name not in cache}}


def _meaning(event: Event | None, drop: tuple[str, ...] = ()) -> dict[str, Any]:
    if event is None:
        return {}
    return {name: value for name, value in encode(event).items() if name not in CLOCK_FIELDS and name not in drop}
