"""The modules of this package and the names in each; see ``disputatio._rooms``."""

from __future__ import annotations

from typing import Final

from disputatio._rooms import front

_ROOMS: Final = {
    "calculator": ("Calculation", "calculate"),
    "citations": ("CheckedCitation", "Citation", "Quotation", "Reading", "check_citation", "citation_json"),
    "findings": ("Match", "Reason", "Span", "Status"),
    "passages": ("Passage",),
    "quantities": ("Tolerance",),
    "retrieval": ("Excerpt", "Hit", "LeftOut", "Retriever"),
    "source_files": ("MAX_SOURCE_BYTES", "MAX_SOURCES", "read_source", "read_sources"),
    "source_set": ("SourceSet",),
    "sources": ("Source", "SourceKind"),
    "tools": ("TOOLS", "call_tool", "read_passage", "search_sources"),
    "words": ("normalise",),
}

__getattr__, __dir__ = front("disputatio.evidence", _ROOMS)
