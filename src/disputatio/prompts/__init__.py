"""What models are told: one file for each format, phase and way of asking, with locked hashes."""

from disputatio.prompts.book import LOCK_FILE, PromptBook, current_hashes, packaged_book
from disputatio.prompts.compose import Setting, compose, compose_part, reasons_segment, schema_segment
from disputatio.prompts.fence import fence

__all__ = [
    "LOCK_FILE",
    "PromptBook",
    "Setting",
    "compose",
    "compose_part",
    "current_hashes",
    "fence",
    "packaged_book",
    "reasons_segment",
    "schema_segment",
]
