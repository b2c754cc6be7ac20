"""The market as it was known at one moment, what each lens sees of it, and the check of evidence against it.

All of this is pure. Where the data come from, and files, are in ``disputatio.market.sources``.
"""

from disputatio.market.checking import (
    CheckedItem,
    EvidenceItem,
    Fault,
    Finding,
    Inferred,
    NotInBase,
    NotInSlice,
    Verified,
    Wrong,
    check_item,
    check_items,
    item_for,
)
from disputatio.market.expressions import Evaluation, Unresolved, evaluate, pointers_in
from disputatio.market.knowledge import (
    SCHEMA_VERSION,
    Datum,
    Failed,
    KnowledgeBase,
    Known,
    Missing,
    Section,
    Share,
    Unit,
    data_of,
    names_of,
)
from disputatio.market.knowledge_json import as_json, from_json
from disputatio.market.loose_numbers import LooseNumber, loose_numbers
from disputatio.market.rendering import render_slice, written
from disputatio.market.slices import SECTIONS, Lens, Slice, slice_of, whole

__all__ = [
    "SCHEMA_VERSION",
    "SECTIONS",
    "CheckedItem",
    "Datum",
    "Evaluation",
    "EvidenceItem",
    "Failed",
    "Fault",
    "Finding",
    "Inferred",
    "KnowledgeBase",
    "Known",
    "Lens",
    "LooseNumber",
    "Missing",
    "NotInBase",
    "NotInSlice",
    "Section",
    "Share",
    "Slice",
    "Unit",
    "Unresolved",
    "Verified",
    "Wrong",
    "as_json",
    "check_item",
    "check_items",
    "data_of",
    "evaluate",
    "from_json",
    "item_for",
    "loose_numbers",
    "names_of",
    "pointers_in",
    "render_slice",
    "slice_of",
    "whole",
    "written",
]
