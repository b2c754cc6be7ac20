"""JSON of a shape that is not known beforehand, from somebody far away: no deeper than what walks it can go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator

DEEPEST = 40
"""Levels. A knowledge base has five; writers and checkers of JSON go down by calling themselves."""


def not_too_deep(value: dict[str, Any]) -> dict[str, Any]:
    """``value`` itself.

    Raises:
        ValueError: it has more than ``DEEPEST`` levels.
    """
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        level = [each for row in level for each in _inside(row)]
        if not level:
            return value
    raise ValueError(f"it is nested deeper than {DEEPEST} levels")


def _inside(row: Any) -> Sequence[Any]:
    if isinstance(row, Mapping):
        return list(row.values())
    return row if isinstance(row, list) else ()


ShallowObject = Annotated[dict[str, Any], AfterValidator(not_too_deep)]
