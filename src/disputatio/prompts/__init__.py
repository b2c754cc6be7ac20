"""Prompts of models: one file for each format, phase and way of asking, with locked hashes."""

from disputatio.prompts.book import LOCK_FILE, PromptBook, current_hashes, packaged_book
from disputatio.prompts.compose import (
    DebatePrompts,
    PromptContext,
    choosing_segment,
    compose,
    compose_part,
    looked_up_segment,
    reasons_segment,
    role_for_person,
    rules_for_person,
    schema_segment,
    task_for_person,
)
from disputatio.prompts.fence import fence

__all__ = [
    "LOCK_FILE",
    "DebatePrompts",
    "PromptBook",
    "PromptContext",
    "choosing_segment",
    "compose",
    "compose_part",
    "current_hashes",
    "fence",
    "looked_up_segment",
    "packaged_book",
    "reasons_segment",
    "role_for_person",
    "rules_for_person",
    "schema_segment",
    "task_for_person",
]
