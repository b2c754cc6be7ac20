"""What the engine needs from outside: time, and somebody who watches."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import UTC, datetime
from typing import Protocol, runtime_checkable

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
        self._second, self._shown = -1, ""

    def now(self) -> str:
        """UTC with microseconds."""
        second, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        if second != self._second:
            self._second = second
            self._shown = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._shown}.{nanoseconds // 1000:06d}Z"

    def monotonic(self) -> float:
        """Seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class Observer(Protocol):
    """Sees a debate as it happens. Its methods are called in the engine's loop and must return at once."""

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """An event was written to the record."""

    def on_text(self, path: str, part: str, text: str) -> None:
        """Raw output arrived for the ask at ``path``; ``text`` is what is new."""


@runtime_checkable
class DetachAware(Protocol):
    """A watcher that keeps something of a debate for as long as it is held here."""

    def on_detach(self, debate: str) -> None:
        """``debate`` is not held here any more, whether or not an event said so: another process may hold it."""


class CallLimiter(Protocol):
    """Lets calls through to providers: so many at once and so many a minute, whoever makes them."""

    def slot(self, seating: ModelSeating) -> AbstractAsyncContextManager[None]:
        """Waits until a call to ``seating`` may leave; it counts as under way until the context ends."""


class Batches(Protocol):
    """Sends calls of many debates together (`disputatio.participants.batch.collector`)."""

    def takes(self, seating: ModelSeating) -> bool:
        """Whether calls to ``seating`` can go in batches."""

    def running(self, debate: str) -> AbstractContextManager[None]:
        """A debate runs while the context lasts."""

    def waiting(self, debate: str) -> AbstractContextManager[None]:
        """A part of a debate waits, while the context lasts, for what only an answer can bring."""

    async def recall(self, debate: str) -> None:
        """Learn which calls of a debate that goes on were handed to a batch."""


class NullObserver:
    """Watches nothing."""

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """Nothing."""

    def on_text(self, path: str, part: str, text: str) -> None:
        """Nothing."""


class CombinedObserver:
    """Tells each of its watchers."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """An event was written."""
        for observer in self._observers:
            observer.on_event(event, sealed)

    def on_text(self, path: str, part: str, text: str) -> None:
        """Output arrived."""
        for observer in self._observers:
            observer.on_text(path, part, text)

    def on_detach(self, debate: str) -> None:
        """A debate is not held here any more."""
        for observer in self._observers:
            if isinstance(observer, DetachAware):
                observer.on_detach(debate)
