"""Sources: the texts that seats, judges and the citation check all see.

This module reads no file; ``source_files`` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from disputatio.errors import InvalidInputError
from disputatio.evidence.figures import find_figures
from disputatio.evidence.findings import Span
from disputatio.evidence.json_text import Value, read_json, render_json
from disputatio.evidence.passages import Passage, split_passages
from disputatio.evidence.tokens import TextIndex, Tokens
from disputatio.motion import Evidence, read_evidence
from disputatio.motion.motion import SourceKind


@dataclass(frozen=True)
class Source:
    """A source as everyone sees it.

    Attributes:
        source_id: short, unique in the debate.
        title: one line for people.
        text: the cleaned text, to which all offsets refer.
        kind: the format it was read from.
        value: the value of a JSON source, with numbers as ``int`` and ``Decimal``.
        places: the span in ``text`` of the value at each JSON pointer; empty for other kinds.
    """

    source_id: str
    title: str
    text: str
    kind: SourceKind = SourceKind.TEXT
    value: Value = field(default=None, compare=False)
    places: Mapping[str, Span] = field(default_factory=lambda: MappingProxyType({}), compare=False, repr=False)

    @classmethod
    def of(cls, evidence: Evidence, kind: SourceKind = SourceKind.TEXT) -> Source:
        """Make a source of ``evidence``, whose text is taken unchanged.

        Raises:
            InvalidInputError: ``kind`` is JSON, but the text is not.
        """
        if kind is SourceKind.JSON:
            return read_json_source(evidence.text, evidence.source_id, evidence.title, f"The source {evidence.title}")
        return cls(evidence.source_id, evidence.title, evidence.text, kind)

    def as_evidence(self) -> Evidence:
        """Return what the seats are shown."""
        return Evidence(self.source_id, self.title, self.text)

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """The passages, in order."""
        return split_passages(self.source_id, self.text)

    @cached_property
    def index(self) -> TextIndex:
        """The text, indexed for finding quotes at first use."""
        return TextIndex(self.text)


def read_json_source(text: str, source_id: str, title: str, what: str) -> Source:
    """Read the JSON source in ``text``; errors call it ``what``.

    Raises:
        InvalidInputError: it is not JSON, or its strings hold hidden characters.
    """
    value = read_json(text, what)
    rendered, places = render_json(value, what)
    evidence = read_evidence(source_id, title, rendered)
    # Cleaning removes control characters, which would make the places wrong.
    if evidence.text != rendered:
        raise InvalidInputError(
            f"{what} holds hidden or control characters in its strings.", "Take them out: readers cannot see them."
        )
    return Source(source_id, title, rendered, SourceKind.JSON, value, MappingProxyType(places))


_COUNTS = range(11)
_ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})


class SourceSet:
    """The sources of a debate, in the order given.

    Raises:
        InvalidInputError: two sources have the same id.
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
        """Return the source with this id, or None."""
        return self._sources.get(source_id)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all sources, in order."""
        return tuple(self._sources)

    @property
    def chars(self) -> int:
        """The total length of all texts, in characters."""
        return sum(len(source.text) for source in self)

    def find_unstated_figures(self, text: str) -> tuple[str, ...]:
        """Return the figures in ``text`` that no source states, as written, each once.

        A source states a figure if it has the same number, with any unit, or another spelling of it: ``36 %`` is ``36
        per cent``, and ``1.2 million`` is ``1,200,000``. Whole numbers up to ten, ordinals such as ``2nd`` and numbers
        in words are ignored, because they mostly count arguments.
        """
        tokens = Tokens.of(text)
        found = find_figures(tokens, 0, len(tokens) - 1)
        written = {row: text[tokens.starts[row.first] : tokens.ends[row.last]] for row in found}
        loose = [
            words
            for row, words in written.items()
            if any(char.isdigit() for char in words)
            and (row.value is not None or len(row.keys) > 1)
            and row.unit not in _ORDINAL_ENDINGS
            and not (row.value is not None and row.value in _COUNTS and not row.unit)
            and row.value not in self._stated
            and not self._stated.intersection(row.keys)
        ]
        return tuple(dict.fromkeys(loose))

    @cached_property
    def _stated(self) -> frozenset[object]:
        """The numbers and spellings of all figures in the sources."""
        rows = [row for source in self for row in find_figures(source.index.tokens, 0, len(source.index.tokens) - 1)]
        return frozenset(
            [key for row in rows for key in row.keys] + [row.value for row in rows if row.value is not None]
        )

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """The passages of all sources, in order."""
        return tuple(passage for source in self for passage in source.passages)

    @cached_property
    def _by_passage_id(self) -> dict[str, Passage]:
        return {passage.id: passage for passage in self.passages}

    def find_passage(self, passage_id: str) -> Passage | None:
        """Return the passage with this id, or None."""
        return self._by_passage_id.get(passage_id)
