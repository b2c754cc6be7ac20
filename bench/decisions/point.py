"""One point of the table, and a debate of scripted turns to measure it on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from disputatio.formats.debate_context import DebateContext
from disputatio.formats.registry import FORMATS
from disputatio.kernel import Ask, Driver
from disputatio.motion import Motion
from disputatio.testing.instances import instance

Answering = Callable[[Ask, dict[str, Any]], dict[str, Any]]
"""Makes the content of a turn from the ask and a legal content that was made up for it."""


@dataclass(frozen=True)
class Point:
    """A point: ``before`` is quoted, ``measure`` gives what is said now and whether that holds."""

    number: int
    about: str
    before: str
    measure: Callable[[], tuple[str, bool]]


@dataclass(frozen=True)
class Played:
    """A debate that was held to its end, and every ask of it by its path."""

    outcome: dict[str, Any]
    asks: dict[str, Ask]


def play(form: str, motion: str, answering: Answering, **rules: Any) -> Played:
    """Hold a debate of ``form`` in which ``answering`` writes every turn."""
    chosen = FORMATS[form]
    driver: Driver[Any] = Driver(chosen.rulebook(chosen.rules(**rules), DebateContext(chosen.seats, Motion(motion))))
    asks: dict[str, Ask] = {}
    while not driver.finished:
        path, ask = next(iter(driver.open_asks.items()))
        asks[str(path)] = ask
        driver.answer(path, ask.spec.read(answering(ask, instance(ask.spec.schema, str(path)))))
    return Played(driver.outcome.as_json(), asks)
