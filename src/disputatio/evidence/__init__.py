"""Sources, the passages in them, and the check of every citation by code."""

from disputatio.evidence.citations import CheckedCitation, Citation, Quotation, Reading, check_citation
from disputatio.evidence.passages import Passage
from disputatio.evidence.retrieval import Retriever
from disputatio.evidence.source_files import read_source, read_sources
from disputatio.evidence.source_set import SourceSet
from disputatio.evidence.sources import Source

__all__ = [
    "CheckedCitation",
    "Citation",
    "Passage",
    "Quotation",
    "Reading",
    "Retriever",
    "Source",
    "SourceSet",
    "check_citation",
    "read_source",
    "read_sources",
]
