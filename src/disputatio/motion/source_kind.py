"""What a source is read from, and the ids of sources."""

from __future__ import annotations

import re
from enum import StrEnum


class SourceKind(StrEnum):
    """What a source was read from."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"
    JSON = "json"


_GIVEN_ID = re.compile(r"[^\W_][\w.-]{0,59}")


def is_source_id(text: str) -> bool:
    """Whether ``text`` can be the id of a source: up to 60 letters, digits, hyphens, underscores and full stops."""
    return _GIVEN_ID.fullmatch(text) is not None
