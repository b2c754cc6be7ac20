"""Several watchers of one debate."""

from __future__ import annotations

from disputatio.engine.ports import Leaving, Watcher
from disputatio.record.chain import Sealed
from disputatio.record.events import Event


class Several:
    """Tells each of its watchers."""

    def __init__(self, *watchers: Watcher) -> None:
        self._watchers = watchers

    def happened(self, event: Event, sealed: Sealed) -> None:
        """An event was written."""
        for watcher in self._watchers:
            watcher.happened(event, sealed)

    def writing(self, path: str, part: str, text: str) -> None:
        """Output arrived."""
        for watcher in self._watchers:
            watcher.writing(path, part, text)

    def left(self, debate: str) -> None:
        """A debate is not held here any more."""
        for watcher in self._watchers:
            if isinstance(watcher, Leaving):
                watcher.left(debate)
