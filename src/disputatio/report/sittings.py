"""Under which names a judge saw the sides, read from the path of its ask; and the real names back in what it said."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from disputatio.formats.jury import make_revealer

_ORDER = re.compile(r"/(pro|con)-first(-again)?/|/(again)/")


def sitting_of(path: str) -> str:
    """``pro shown first``, ``con shown first``, ``again, pro shown first``; empty for the one ordinary sitting."""
    found = _ORDER.search(path)
    if found is None:
        return ""
    words = ["again"] if found[2] or found[3] else []
    return ", ".join([*words, f"{found[1]} shown first"] if found[1] else words)


def with_real_names(path: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """``content`` with the real names of the sides and arguments, where the judge saw neutral ones."""
    found = _ORDER.search(path)
    arguments = content.get("arguments")
    if found is None or not found[1]:
        return content
    order = ("pro", "con") if found[1] == "pro" else ("con", "pro")
    named: dict[str, Any] = _renamed(content, make_revealer(order, arguments if isinstance(arguments, Mapping) else {}))
    return named


def _renamed(value: Any, reveal: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {reveal(key): _renamed(row, reveal) for key, row in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(row, reveal) for row in value]
    return reveal(value) if isinstance(value, str) else value
