"""Where market data come from, and the knowledge bases built from them. Nothing pure imports this package.

What needs numpy is imported where it is first called, so that reading a file needs none.
"""

from disputatio.market.sources.building import build
from disputatio.market.sources.choosing import open_source
from disputatio.market.sources.faults import LookAheadError, SourceError
from disputatio.market.sources.files import EXAMPLE, content_hash, example_index, knowledge_named, load, save
from disputatio.market.sources.moments import read_as_of

__all__ = [
    "EXAMPLE",
    "LookAheadError",
    "SourceError",
    "build",
    "content_hash",
    "example_index",
    "knowledge_named",
    "load",
    "open_source",
    "read_as_of",
    "save",
]
