"""Sources: the texts a debate rests on, as everybody sees them: the seats, the judge and the check of citations.

Reading files, bytes and standard input into sources is the business of ``source_files``; nothing here reads anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from disputatio.errors import InvalidInputError
from disputatio.evidence.findings import Span
from disputatio.evidence.json_text import Value, read_json, render_json
from disputatio.evidence.passages import Passage, passages_of
from disputatio.evidence.text_index import TextIndex
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
            return json_source(evidence.text, evidence.source_id, evidence.title, f"The source {evidence.title}")
        return cls(evidence.source_id, evidence.title, evidence.text, kind)

    def as_evidence(self) -> Evidence:
        """What is laid before the seats."""
        return Evidence(self.source_id, self.title, self.text)

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """The passages, in order."""
        return passages_of(self.source_id, self.text)

    @cached_property
    def index(self) -> TextIndex:
        """The text, prepared for finding quotes; made at first use."""
        return TextIndex(self.text)


def json_source(text: str, source_id: str, title: str, what: str) -> Source:
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
