"""Check citations against their sources.

A citation names a source and either the words it quotes or a JSON pointer with its value. The check returns a status:

- ``verified``: the source says so, to the letter or after normalisation (case, spaces, kinds of quotation marks and
  dashes, hyphens at line ends, an ellipsis that joins pieces in order);
- ``repaired``: the source says nearly the same. Its own words replace the quote; both are kept;
- ``unverified``, with the reason. A changed number, unit, sign, negation, direction or name is never repaired.

Precision goes before recall: a faithful quote may come out unverified, a false one must not come out verified.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from disputatio.evidence.findings import Finding, Match, Reason, Span, Status
from disputatio.evidence.passages import find_passage
from disputatio.evidence.pointers import DEFAULT_TOLERANCE, Tolerance, check_value
from disputatio.evidence.quotes import find_quote
from disputatio.evidence.sources import Source, SourceSet
from disputatio.kernel import JsonObject
from disputatio.motion import clean, one_line

MAX_QUOTE_CHARS = 4_000
"""In characters. A longer quote is unverified."""


_MAX_DETAIL_CHARS = 300


@dataclass(frozen=True, slots=True)
class Quotation:
    """Claims that the source ``source_id`` contains ``quote``."""

    source_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Claims that the source ``source_id`` has ``value`` at the JSON pointer ``pointer`` (RFC 6901)."""

    source_id: str
    pointer: str
    value: bool | float | Decimal | str | None


Citation: TypeAlias = Quotation | Reading


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """A citation and the result of its check.

    Attributes:
        citation: the citation as given.
        status: ``verified``, ``repaired`` or ``unverified``.
        match: how the citation was found.
        reason: why it is not verified.
        detail: one clause for people, such as ``the source says 3.8 h, the quote 8.3 h``.
        passage_id: the passage in which the words begin; empty without words.
        spans: places in the source's text, one for each piece of a quote with an ellipsis. For an unverified citation,
            the nearest place, if any is near.
        words: the source's own words there, pieces joined by an ellipsis.
        similarity: of the letters of quote and source, 0 to 100.
    """

    citation: Citation
    status: Status
    match: Match
    reason: Reason
    detail: str
    passage_id: str
    spans: tuple[Span, ...]
    words: str
    similarity: float

    @property
    def source_id(self) -> str:
        """The id of the cited source, which need not exist."""
        return self.citation.source_id

    @property
    def start(self) -> int | None:
        """Offset in the source's text at which the words begin."""
        return self.spans[0].start if self.spans else None

    @property
    def end(self) -> int | None:
        """Offset in the source's text at which the words end."""
        return self.spans[-1].end if self.spans else None

    @property
    def is_sound(self) -> bool:
        """Whether the source supports it, repaired or not."""
        return self.status is not Status.UNVERIFIED

    def describe(self) -> str:
        """Return the status in a few words, such as ``unverified: the source says 3.8 h, the quote 8.3 h``."""
        why = self.detail or self.reason.value
        return f"{self.status.value}: {why}" if self.status is Status.UNVERIFIED and why else self.status.value

    def as_json(self) -> JsonObject:
        """Return the recorded form; equal checks give equal JSON."""
        return {
            **citation_to_json(self.citation),
            "status": self.status.value,
            "match": self.match.value,
            "reason": self.reason.value,
            "detail": self.detail,
            "passage_id": self.passage_id,
            "spans": [[span.start, span.end] for span in self.spans],
            "words": self.words,
            "similarity": self.similarity,
        }


def citation_to_json(citation: Citation) -> JsonObject:
    """Return a citation as JSON. A ``Decimal`` becomes text, which keeps its digits."""
    if isinstance(citation, Quotation):
        return {"source_id": citation.source_id, "quote": citation.quote}
    value = str(citation.value) if isinstance(citation.value, Decimal) else citation.value
    return {"source_id": citation.source_id, "pointer": citation.pointer, "value": value}


def check_citation(sources: SourceSet, citation: Citation, tolerance: Tolerance = DEFAULT_TOLERANCE) -> CheckedCitation:
    """Check ``citation`` against ``sources``.

    Args:
        sources: the sources of the debate.
        citation: a quotation or a reading.
        tolerance: how far the number of a reading may differ. Quotes have no tolerance.
    """
    source = sources.find(citation.source_id)
    if source is None:
        known = ", ".join(sources.ids[:8]) or "none"
        detail = f"there is no source '{citation.source_id[:60]}'; there are: {known}"
        return _build_checked(citation, None, Finding(Status.UNVERIFIED, Match.NONE, Reason.NO_SUCH_SOURCE, detail))
    if isinstance(citation, Reading):
        return _build_checked(citation, source, check_value(source, citation.pointer, citation.value, tolerance))
    return _build_checked(citation, source, _find_quote(source, citation.quote))


def _find_quote(source: Source, quote: str) -> Finding:
    if len(quote) > MAX_QUOTE_CHARS:
        detail = f"the quote has {len(quote):,} characters, and {MAX_QUOTE_CHARS:,} are the most that are checked"
        return Finding(Status.UNVERIFIED, Match.NONE, Reason.NOT_FOUND, detail)
    quote = clean(quote).strip()
    found = find_quote(source.index, quote)
    if found is not None and (found.reason is not Reason.NOT_FOUND or found.spans):
        return found
    # Imported here because it loads rapidfuzz, which many programs do not need.
    from disputatio.evidence.near_miss import find_near

    near = find_near(source.index, quote)
    return near if found is None or near.reason is not Reason.NOT_FOUND else found


def _build_checked(citation: Citation, source: Source | None, found: Finding) -> CheckedCitation:
    spans = found.spans if source is not None else ()
    words = " … ".join(source.text[span.start : span.end] for span in spans) if source is not None else ""
    passage = find_passage(source.passages, spans[0].start) if source is not None and spans else None
    return CheckedCitation(
        citation=citation,
        status=found.status,
        match=found.match,
        reason=found.reason,
        detail=one_line(found.detail, _MAX_DETAIL_CHARS),
        passage_id=passage.id if passage is not None else "",
        spans=spans,
        words=words,
        similarity=found.similarity,
    )
