"""All sources of one debate together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from disputatio.evidence.passages import Passage
from disputatio.evidence.sources import Source
from disputatio.failures import InvalidInputError
from disputatio.motion import Evidence


class SourceSet:
    """The sources of a debate, in the order they were given.

    Args:
        sources: each with an id of its own.

    Raises:
        InvalidInputError: two of them have the same id.
    """

    def __init__(self, sources: Iterable[Source | Evidence] = ()) -> None:
        self._sources: dict[str, Source] = {}
        for given in sources:
            source = Source.of(given) if isinstance(given, Evidence) else given
            if source.source_id in self._sources:
                raise InvalidInputError(f"Two sources have the id {source.source_id}.", "Give each its own.")
            self._sources[source.source_id] = source

    def __iter__(self) -> Iterator[Source]:
        return iter(self._sources.values())

    def __len__(self) -> int:
        return len(self._sources)

    def find(self, source_id: str) -> Source | None:
        """The source with this id, if there is one."""
        return self._sources.get(source_id)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all sources, in order."""
        return tuple(self._sources)

    @property
    def chars(self) -> int:
        """The length of all texts together, in characters."""
        return sum(len(source.text) for source in self)

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """The passages of all sources, in order."""
        return tuple(passage for source in self for passage in source.passages)

    @cached_property
    def _by_passage_id(self) -> dict[str, Passage]:
        return {passage.id: passage for passage in self.passages}

    def passage(self, passage_id: str) -> Passage | None:
        """The passage with this id, if there is one."""
        return self._by_passage_id.get(passage_id)
