"""The interfaces that the engine needs from outside: a clock, observers, a call limiter and batches."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import UTC, datetime
from typing import Protocol, runtime_checkable

from disputatio.participants.call import ModelClient
from disputatio.participants.model_seat import ModelSeating
from disputatio.record.chain import Sealed
from disputatio.record.events import Event


class Clock(Protocol):
    """Time for the engine."""

    def now(self) -> str:
        """UTC as ``2026-01-31T12:00:00.000000Z``."""

    def monotonic(self) -> float:
        """Seconds of a clock that is never set back."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The machine's own clock."""

    def __init__(self) -> None:
        self._second, self._text = -1, ""

    def now(self) -> str:
        """UTC with microseconds."""
        second, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        if second != self._second:
            self._second = second
            self._text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._text}.{nanoseconds // 1000:06d}Z"

    def monotonic(self) -> float:
        """Seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class Observer(Protocol):
    """Sees a debate as it happens. Its methods run in the engine's event loop and must return at once."""

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """An event was written to the record."""

    def on_text(self, path: str, part: str, text: str) -> None:
        """New raw output ``text`` arrived for the ask at ``path``."""


@runtime_checkable
class DetachAware(Protocol):
    """An observer that keeps state for each debate while it runs here."""

    def on_detach(self, debate: str) -> None:
        """``debate`` no longer runs here, with or without an event; another process may run it."""


class CallLimiter(Protocol):
    """Limits calls to providers: how many at once and how many a minute, over all debates."""

    def slot(self, seating: ModelSeating) -> AbstractAsyncContextManager[None]:
        """Wait until a call to ``seating`` may be sent. The call counts as in flight until the context ends."""


class Batches(Protocol):
    """Sends calls of many debates together (`disputatio.participants.batch.collector`)."""

    def open(self, seating: ModelSeating, api_key: str | None) -> ModelClient:
        """A client of a model that may send its calls in batches."""

    def takes(self, seating: ModelSeating) -> bool:
        """Whether calls to ``seating`` can go in batches."""

    def running(self, debate: str) -> AbstractContextManager[None]:
        """In this context the debate runs."""

    def waiting(self, debate: str) -> AbstractContextManager[None]:
        """In this context a part of the debate waits for an answer."""

    async def recall(self, debate: str) -> None:
        """Learn which calls of a resumed debate were handed to a batch."""


class NullObserver:
    """Ignores everything."""

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """Ignore the event."""

    def on_text(self, path: str, part: str, text: str) -> None:
        """Ignore the text."""


class CombinedObserver:
    """Forwards everything to several observers."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """Forward the event."""
        for observer in self._observers:
            observer.on_event(event, sealed)

    def on_text(self, path: str, part: str, text: str) -> None:
        """Forward the text."""
        for observer in self._observers:
            observer.on_text(path, part, text)

    def on_detach(self, debate: str) -> None:
        """Forward to the observers that have this method."""
        for observer in self._observers:
            if isinstance(observer, DetachAware):
                observer.on_detach(debate)
