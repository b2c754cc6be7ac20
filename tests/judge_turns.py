"""What a judge's finding holds besides scores and fallacies, filled in for judges that are written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def named_words(keys: Mapping[str, Any], answer_words: str | Callable[[str], str], mark: str = "met") -> dict[str, Any]:
    """A mark for every answer and nothing else named.

    Args:
        keys: the properties of the finding's schema.
        answer_words: words that every answer has, or those of an answer by its id.
        mark: how far every answer meets its question.
    """
    names = keys.get("answers", {"properties": {}})["properties"]
    words = answer_words if callable(answer_words) else lambda _: answer_words
    marks = {name: {"words": words(name), "mark": mark} for name in names}
    lists = {key: [] for key in ("new_arguments", "cross_references") if key in keys}
    return {**({"answers": marks} if "answers" in keys else {}), **lists}


def with_speakers(found: list[dict[str, Any]], keys: Mapping[str, Any], speaker: str = "owner") -> list[dict[str, Any]]:
    """Fallacies pinned on ``speaker`` where the form asks who said the words."""
    asked = "said_by" in keys["fallacies"]["items"]["properties"]
    return [{**row, "said_by": row.get("said_by", speaker)} if asked else row for row in found]
