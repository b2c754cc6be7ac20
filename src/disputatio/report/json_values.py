"""Reads values of recorded JSON without trusting their types, so records of other versions can still be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disputatio.motion import one_line


def as_object(value: Any) -> Mapping[str, Any]:
    """``value`` where it is an object; else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    """``value`` where it is a list; else an empty one."""
    return list(value) if isinstance(value, list | tuple) else []


def objects_in(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list."""
    return [row for row in as_list(value) if isinstance(row, Mapping)]


def as_number(value: Any) -> float | None:
    """``value`` where it is a number; truth values are not."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def as_int(value: Any) -> int:
    """``value`` where it is a whole number; else 0."""
    return value if isinstance(value, int) else 0


def short(value: Any, most: int) -> str:
    """``value`` as one line of at most ``most`` characters; empty where there is none."""
    return one_line(str(value or ""), most)


def text_of(value: Any) -> str:
    """A single value as words; empty where it is an object, a list or null."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    return str(value) if isinstance(value, str | int | float) else ""
