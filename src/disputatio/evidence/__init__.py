"""Sources, the passages in them, and the check of every citation by code."""

from typing import TYPE_CHECKING

from disputatio.evidence._front import __dir__ as __dir__
from disputatio.evidence._front import __getattr__ as __getattr__

if TYPE_CHECKING:
    from disputatio.evidence.calculator import Calculation, calculate
    from disputatio.evidence.citations import (
        CheckedCitation,
        Citation,
        Quotation,
        Reading,
        check_citation,
        citation_json,
    )
    from disputatio.evidence.findings import Match, Reason, Span, Status
    from disputatio.evidence.passages import Passage
    from disputatio.evidence.quantities import Tolerance
    from disputatio.evidence.retrieval import Excerpt, Hit, LeftOut, Retriever
    from disputatio.evidence.source_files import MAX_SOURCE_BYTES, MAX_SOURCES, read_source, read_sources
    from disputatio.evidence.source_set import SourceSet
    from disputatio.evidence.sources import Source, SourceKind
    from disputatio.evidence.tools import TOOLS, call_tool, read_passage, search_sources
    from disputatio.evidence.words import normalise

__all__ = [
    "MAX_SOURCES",
    "MAX_SOURCE_BYTES",
    "TOOLS",
    "Calculation",
    "CheckedCitation",
    "Citation",
    "Excerpt",
    "Hit",
    "LeftOut",
    "Match",
    "Passage",
    "Quotation",
    "Reading",
    "Reason",
    "Retriever",
    "Source",
    "SourceKind",
    "SourceSet",
    "Span",
    "Status",
    "Tolerance",
    "calculate",
    "call_tool",
    "check_citation",
    "citation_json",
    "normalise",
    "read_passage",
    "read_source",
    "read_sources",
    "search_sources",
]
