"""Rows of a series with the moment from which each was known, and CSV tables read into them.

A reader gets rows only through ``until``, which cuts them. Odd cells give a warning and NaN, never another number.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from disputatio.market.indicators import Floats
from disputatio.market.sources.errors import SourceError
from disputatio.market.sources.moments import second_at

Days: TypeAlias = NDArray[np.str_]
Seconds: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Observations of one series, ordered by the moment from which they were known.

    Attributes:
        source: of the data.
        days: the ISO day that each row is about.
        available: UTC seconds, ascending.
        columns: numbers by name; NaN for none.
        vintages: for revised series, the publication of each row.
        warnings: sentences about oddities, each with the moment from which it applies.
    """

    source: str
    days: Days
    available: Seconds
    columns: Mapping[str, Floats]
    vintages: Days | None = None
    warnings: tuple[tuple[int, str], ...] = field(default=())

    def until(self, cut: int) -> Rows:
        """Return rows and warnings known at ``cut``."""
        end = int(np.searchsorted(self.available, cut, side="right"))
        return Rows(
            self.source,
            self.days[:end],
            self.available[:end],
            {name: values[:end] for name, values in self.columns.items()},
            None if self.vintages is None else self.vintages[:end],
            tuple(row for row in self.warnings if row[0] <= cut),
        )

    @property
    def is_empty(self) -> bool:
        """Whether there are no rows."""
        return self.days.size == 0


def sort_rows(rows: Rows) -> Rows:
    """Sort by the moment from which rows were known, then by day."""
    order = np.lexsort((rows.days, rows.available))
    return Rows(
        rows.source,
        rows.days[order],
        rows.available[order],
        {name: values[order] for name, values in rows.columns.items()},
        None if rows.vintages is None else rows.vintages[order],
        rows.warnings,
    )


_EMPTY_CELLS = frozenset({"", ".", "nan", "na", "n/a", "null", "none", "#n/a", "-"})
_DAY_NAMES = ("date", "day", "observation_date", "")


@dataclass(frozen=True)
class Table:
    """A table's cells by column, and its name for people."""

    name: str
    columns: Mapping[str, Sequence[str]]

    def column(self, *names: str) -> Sequence[str]:
        """Return the first existing column of ``names``, in any case.

        Raises:
            SourceError: if there is none.
        """
        for name in names:
            for own, cells in self.columns.items():
                if own.strip().casefold() == name.casefold():
                    return cells
        has = ", ".join(list(self.columns)[:12])
        raise SourceError(f"{self.name} has no column '{names[0]}'; it has {has}")

    def has(self, name: str) -> bool:
        """Whether there is a column ``name``, in any case."""
        return any(own.strip().casefold() == name.casefold() for own in self.columns)

    def days(self) -> list[str]:
        """Return the column of days, as ISO days.

        Raises:
            SourceError: if there is none, or a cell is not a day.
        """
        return self._days

    @cached_property
    def _days(self) -> list[str]:
        return [parse_day(cell, self.name) for cell in self.column(*_DAY_NAMES)]


def read_table(path: Path) -> Table:
    """Read the table at ``path``.

    Raises:
        SourceError: if it cannot be read or is not a table.
    """
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no readable text"
        raise SourceError(f"{path.name} cannot be read: {why}") from None
    rows = list(csv.reader(io.StringIO(text)))
    if len(rows) < 2:
        raise SourceError(f"{path.name} has no rows")
    head = rows[0]
    body = [row for row in rows[1:] if row]
    if any(len(row) != len(head) for row in body):
        raise SourceError(f"{path.name} has rows of different lengths")
    return Table(path.name, dict(zip(head, zip(*body, strict=True), strict=True)))


def parse_day(cell: str, name: str) -> str:
    """Parse an ISO day, or one with the month first (``1/31/1999``) as in some packages.

    Raises:
        SourceError: if it is neither.
    """
    text = cell.strip()[:10]
    if "/" in text:
        month, _, rest = text.partition("/")
        day, _, year = rest.partition("/")
        text = f"{year.zfill(4)}-{month.zfill(2)}-{day.zfill(2)}"
    if len(text) == 10 and text[4] == text[7] == "-" and text.replace("-", "").isdigit():
        return text
    raise SourceError(f"{name} has '{cell[:20]}' where a day is expected")


def parse_numbers(cells: Sequence[str]) -> tuple[list[float], list[int]]:
    """Return the numbers of ``cells``, with NaN, and the places of cells that hold something else."""
    out: list[float] = []
    odd: list[int] = []
    for place, cell in enumerate(cells):
        if not cell:
            out.append(math.nan)
            continue
        try:
            number = float(cell)
        except ValueError:
            number = math.nan
            if cell.strip().casefold() not in _EMPTY_CELLS:
                odd.append(place)
        if math.isinf(number):
            number = math.nan
            odd.append(place)
        out.append(number)
    return out, odd


def make_price_rows(
    source: str,
    days: Sequence[str],
    columns: Mapping[str, Sequence[float]],
    available: Callable[[str], int],
    odd: Sequence[int] = (),
) -> Rows:
    """Make sessions of days with a close. Prices not above zero and volumes of zero become missing.

    A day that appears twice with different numbers is dropped.
    """
    warnings: list[tuple[int, str]] = [
        (available(days[place]), f"{source}: {days[place]} holds something that is no number; it is left out.")
        for place in odd
    ]
    names = list(columns)
    values = np.array([columns[name] for name in names], dtype=float).reshape(len(names), len(days))
    closes = values[names.index("close")]
    for place in np.flatnonzero(closes <= 0).tolist():
        day = days[place]
        warnings.append((available(day), f"{source}: the close of {day} is {closes[place]:g}; it is left out."))
    values = np.where(values > 0, values, np.nan)
    first: dict[str, int] = {}
    for place, day in enumerate(days):
        if first.setdefault(day, place) == place:
            continue
        if not np.array_equal(values[:, place], values[:, first[day]], equal_nan=True):
            warnings.append((available(day), f"{source}: {day} stands there twice with different numbers."))
            values[:, first[day]] = np.nan
        values[:, place] = np.nan
    kept = np.flatnonzero(~np.isnan(values[names.index("close")]))
    sessions = [days[place] for place in kept.tolist()]
    return sort_rows(
        Rows(
            source,
            np.array(sessions, dtype="U10"),
            np.array([available(day) for day in sessions], dtype=np.int64),
            {name: values[place][kept] for place, name in enumerate(names)},
            None,
            tuple(dict.fromkeys(warnings)),
        )
    )


def make_value_rows(
    source: str,
    days: Sequence[str],
    values: Sequence[float],
    available: Sequence[int],
    vintages: Sequence[str] | None = None,
) -> Rows:
    """Make observations of one number each, without empty ones. Zero and negative numbers are valid."""
    kept = [place for place, value in enumerate(values) if not math.isnan(value)]
    return sort_rows(
        Rows(
            source,
            np.array([days[place] for place in kept], dtype="U10"),
            np.array([available[place] for place in kept], dtype=np.int64),
            {"value": np.array([values[place] for place in kept], dtype=float)},
            None if vintages is None else np.array([vintages[place] for place in kept], dtype="U10"),
        )
    )


def clock_on(clock: str, zone: str) -> Callable[[str], int]:
    """Return a function from a day to the second at which ``clock`` shows this time."""
    return lambda day: second_at(day, clock, zone)
