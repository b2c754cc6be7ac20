"""Who watches which debate in this process, and what they are told.

A listener is never sent an event: it is woken, and reads the record from where it stands. So it can only see what is
durable, a slow one holds nothing up, and one that comes back misses nothing. What a model is writing at this moment is
no event; each listener has a short buffer of it, which forgets when nobody fetches it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from disputatio.record.chain import Sealed
from disputatio.record.events import Event
from disputatio.record.store import Store, StoreInFront, Writing

MOST_WAITING = 20_000
"""Characters of a turn being written that wait for one listener; what is older is left out."""


@dataclass(slots=True, eq=False)
class Listener:
    """Somebody who watches one debate."""

    woken: asyncio.Event = field(default_factory=asyncio.Event)
    writing: dict[tuple[str, str], str] = field(default_factory=dict)

    def hear(self, path: str, part: str, text: str) -> None:
        """Take in what was just written."""
        heard = self.writing.get((path, part), "") + text
        self.writing[path, part] = heard[-MOST_WAITING:]
        self.woken.set()

    def fetch(self) -> Mapping[tuple[str, str], str]:
        """What was written since the last time, by ask and part."""
        heard, self.writing = self.writing, {}
        return heard

    async def wait(self, seconds: float) -> None:
        """Until something happens, at most this long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.woken.wait()
        self.woken.clear()


class Hub:
    """The listeners of all debates."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[Listener]] = {}
        self.held: set[str] = set()
        """The debates that this process writes: whoever listens to one of them is woken for every event."""

    @contextmanager
    def listening(self, debate: str) -> Iterator[Listener]:
        """A listener for as long as the block lasts."""
        listener = Listener()
        self._listeners.setdefault(debate, set()).add(listener)
        try:
            yield listener
        finally:
            self._listeners[debate].discard(listener)
            if not self._listeners[debate]:
                del self._listeners[debate]

    def wake(self, debate: str) -> None:
        """Something of ``debate`` became durable."""
        for listener in self._listeners.get(debate, ()):
            listener.woken.set()

    def wake_all(self) -> None:
        """Something happened that concerns everybody."""
        for debate in list(self._listeners):
            self.wake(debate)

    def hear(self, debate: str, path: str, part: str, text: str) -> None:
        """A model wrote something."""
        for listener in self._listeners.get(debate, ()):
            listener.hear(path, part, text)

    def count(self) -> int:
        """How many listen."""
        return sum(map(len, self._listeners.values()))


class Watching:
    """The watcher of one debate: tells the hub what a model writes."""

    def __init__(self, hub: Hub, debate: str) -> None:
        self._hub, self._debate = hub, debate

    def happened(self, event: Event, sealed: Sealed) -> None:
        """Nothing: what happened is told once it is durable."""

    def writing(self, path: str, part: str, text: str) -> None:
        """Hand it on."""
        self._hub.hear(self._debate, path, part, text)


class ToldStore(StoreInFront):
    """A store that tells the hub when a writing is durable, and ``let_go`` when a debate is no longer written here.

    All else is the store's own.
    """

    def __init__(self, store: Store, hub: Hub, let_go: Callable[[str], None]) -> None:
        super().__init__(store)
        self._hub, self._let_go = hub, let_go

    def append(self, writing: Writing) -> asyncio.Future[None]:
        """Hand events over, and wake who listens when they are durable."""
        done = super().append(writing)
        done.add_done_callback(lambda _: self._hub.wake(writing.debate))
        return done

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def claim(self, debate: str) -> None:
        """As the store."""
        super().claim(debate)
        self._hub.held.add(debate)

    def release(self, debate: str) -> None:
        """As the store; whoever listens looks whether it is over."""
        super().release(debate)
        if debate in self._hub.held:
            self._hub.held.discard(debate)
            self._hub.wake(debate)
            self._let_go(debate)
