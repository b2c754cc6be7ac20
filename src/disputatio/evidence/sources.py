"""Sources: the texts a debate rests on, as everybody sees them: the seats, the judge and the check of citations.

Reading files, bytes and standard input into sources is the business of ``source_files``; nothing here reads anything.
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
from disputatio.motion.source_kind import SourceKind


@dataclass(frozen=True)
class Source:
    """A source as everybody sees it.

    Attributes:
        source_id: short and unique in the debate.
        title: one line for people.
        text: the cleaned text; all offsets are offsets in it.
        kind: what it was read from.
        value: the value of a JSON source, with numbers as ``int`` and ``Decimal``.
        places: where in ``text`` the value at each JSON pointer stands; empty where ``kind`` is not JSON.
    """

    source_id: str
    title: str
    text: str
    kind: SourceKind = SourceKind.TEXT
    value: Value = field(default=None, compare=False)
    places: Mapping[str, Span] = field(default_factory=lambda: MappingProxyType({}), compare=False, repr=False)

    @classmethod
    def of(cls, evidence: Evidence, kind: SourceKind = SourceKind.TEXT) -> Source:
        """The source that ``evidence`` was laid before the seats as; its text is taken as it stands.

        Raises:
            InvalidInputError: ``kind`` is JSON and the text is none.
        """
        if kind is SourceKind.JSON:
            return read_json_source(evidence.text, evidence.source_id, evidence.title, f"The source {evidence.title}")
        return cls(evidence.source_id, evidence.title, evidence.text, kind)

    def as_evidence(self) -> Evidence:
        """What is laid before the seats."""
        return Evidence(self.source_id, self.title, self.text)

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """The passages, in order."""
        return split_passages(self.source_id, self.text)

    @cached_property
    def index(self) -> TextIndex:
        """The text, prepared for finding quotes; made at first use."""
        return TextIndex(self.text)


def read_json_source(text: str, source_id: str, title: str, what: str) -> Source:
    """The JSON source in ``text``; ``what`` names it in an error.

    Raises:
        InvalidInputError: it is no JSON, or its strings hold what no reader sees.
    """
    value = read_json(text, what)
    rendered, places = render_json(value, what)
    evidence = read_evidence(source_id, title, rendered)
    # Cleaning shortens the text where strings hold control characters; the places would then be wrong.
    if evidence.text != rendered:
        raise InvalidInputError(
            f"{what} holds hidden or control characters in its strings.", "Take them out: readers cannot see them."
        )
    return Source(source_id, title, rendered, SourceKind.JSON, value, MappingProxyType(places))


_COUNTS = range(11)
_ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})


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

    def find_unstated_figures(self, text: str) -> tuple[str, ...]:
        """The figures in ``text`` that stand in no source, as they are written there, each once.

        A figure stands in a source that has the same number, whatever its unit, or the same reading of it: ``36 %`` is
        ``36 per cent``, and ``1.2 million`` is ``1,200,000``. Whole numbers up to ten, places such as ``2nd``
        and numbers in words are left out: they count the arguments themselves more often than they state a fact.
        """
        atoms = Tokens.of(text)
        found = find_figures(atoms, 0, len(atoms) - 1)
        written = {row: text[atoms.starts[row.first] : atoms.ends[row.last]] for row in found}
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
        """The numbers and readings of all figures in the sources."""
        rows = [row for source in self for row in find_figures(source.index.atoms, 0, len(source.index.atoms) - 1)]
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
        """The passage with this id, if there is one."""
        return self._by_passage_id.get(passage_id)
