"""One thing that a seat said, and the plainest way to read any content as such things."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from disputatio.report.amounts import spoken
from disputatio.report.citations import CitationReading

_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that was said.

    Attributes:
        mark: what it is or is about: ``PRO-1``, ``CON -> PRO-1``, ``Key insight``; may be empty.
        word: the word of the rules for it: ``challenge``, ``withdrawn``, ``UPHELD``; may be empty.
        lead: its main text.
        points: further texts, each with its label, which may be empty.
        context: what it answers, in somebody else's words.
        citations: what it cites, and how the check came out.
        overall: whether it is part of the result, which every surface shows in its own place.
    """

    mark: str
    word: str = ""
    lead: str = ""
    points: tuple[tuple[str, str], ...] = ()
    context: str = ""
    citations: tuple[CitationReading, ...] = ()
    overall: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """The words of the seat in it."""
        return tuple(text for text in (self.lead, *(text for _, text in self.points)) if text)


Questions: TypeAlias = Mapping[str, str]
"""The text of each follow-up question by its id."""


def natural(key: str) -> tuple[Any, ...]:
    """A sort key that puts ``PRO-2`` before ``PRO-10``, and pro before con."""
    key = f" {key}" if key.startswith("PRO") else key
    return tuple((int(piece), "") if piece.isdecimal() else (-1, piece) for piece in re.split(r"(\d+)", key))


def text_of(value: Any) -> str:
    """A value that a turn holds, as words; empty for what is no single value."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    return str(value) if isinstance(value, str | int | float) else ""


def any_content(content: Mapping[str, Any]) -> Iterable[Statement]:
    """Any content: its texts, each under its keys."""
    for key, value in content.items():
        points = tuple(_flat(value)) if isinstance(value, Mapping | list | tuple) else ()
        if points or text_of(value):
            yield Statement(_title(key), "", text_of(value), points)


def _title(key: str) -> str:
    words = spoken(key)
    return words[:1].upper() + words[1:]


def _flat(value: Any, label: str = "", depth: int = 0) -> Iterable[tuple[str, str]]:
    if depth > _DEEPEST:
        yield label, "..."
    elif isinstance(value, Mapping):
        for key, row in value.items():
            yield from _flat(row, f"{label} / {spoken(key)}" if label else _title(key), depth + 1)
    elif isinstance(value, list | tuple):
        for number, row in enumerate(value, start=1):
            yield from _flat(row, f"{label} {number}".strip(), depth + 1)
    elif text_of(value):
        yield label, text_of(value)
