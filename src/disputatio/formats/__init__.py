"""The rulebooks: each file reads as the rules of one kind of debate."""

from disputatio.formats.freeform import FreeformRules, FreeformVerdict, freeform
from disputatio.formats.registry import FORMATS, Format, find_format
from disputatio.formats.structured import StructuredRules, structured
from disputatio.formats.trace import StructuredVerdict, TraceRow

__all__ = [
    "FORMATS",
    "Format",
    "FreeformRules",
    "FreeformVerdict",
    "StructuredRules",
    "StructuredVerdict",
    "TraceRow",
    "find_format",
    "freeform",
    "structured",
]
