"""Several watchers of one debate."""

from __future__ import annotations

from disputatio.engine.ports import Leaving, Observer
from disputatio.record.chain import Sealed
from disputatio.record.events import Event


class Several:
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
            if isinstance(observer, Leaving):
                observer.on_detach(debate)
