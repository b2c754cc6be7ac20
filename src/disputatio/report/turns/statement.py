"""One thing that a seat said, and the plainest way to read any content as such things."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from disputatio.report.amounts import capital, spoken
from disputatio.report.citations import CitationReading
from disputatio.report.json_values import as_object, text_of

_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that was said.

    Attributes:
        mark: what it is or is about: ``PRO-1``, ``CON -> PRO-1``, ``Key insight``; may be empty.
        word: the word of the rules for it: ``challenge``, ``withdrawn``, ``UPHELD``; may be empty.
        lead: its main text.
        points: further texts, each with its label, which may be empty.
        context: the words that it answers.
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


def any_content(content: Mapping[str, Any]) -> Iterable[Statement]:
    """Any content: its texts, each under its keys."""
    for key, value in content.items():
        points = tuple(_flat(value)) if isinstance(value, Mapping | list | tuple) else ()
        if points or text_of(value):
            yield Statement(_title(key), "", text_of(value), points)


def _title(key: str) -> str:
    return capital(spoken(key))


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


def in_natural_order(value: Any) -> list[tuple[str, Any]]:
    """The rows of an object in the order of their ids; the record keeps keys in another."""
    return sorted(as_object(value).items(), key=lambda row: natural(row[0]))


def present(*points: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """The labelled texts that hold anything."""
    return tuple((label, text) for label, text in points if text)


def enumerated(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Texts under their numbers."""
    return tuple((f"{number}.", text) for number, text in enumerate(texts, start=1))


def scores_in(finding: Mapping[str, Any]) -> str:
    """The numbers of a finding with their criteria."""
    rows = [(key, value) for key, value in finding.items() if isinstance(value, int) and not isinstance(value, bool)]
    return ", ".join(f"{spoken(key)} {value}" for key, value in rows)


def target_of(row: Statement) -> str:
    """The argument that a statement supports or answers."""
    return row.mark.rpartition(" -> ")[2]


def part_number(part: str, most: int) -> int:
    """The number of a part such as ``argument-2``; at most ``most``, and 1 where it has none."""
    number = part.rpartition("-")[2]
    return min(int(number), most) if number.isdecimal() else 1
