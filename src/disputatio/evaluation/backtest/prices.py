"""Daily closes in order, read from CSV files (plain or gzip) or taken from an array, and their month-ends."""

from __future__ import annotations

import csv
import gzip
import io
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path

from disputatio.errors import InvalidInputError

_DAY, _CLOSE = ("date",), ("close", "adj close")


@dataclass(frozen=True, slots=True)
class PriceSeries:
    """Closes by day, days rising; a day without a price is not there.

    Raises:
        InvalidInputError: days do not rise, or a price is not above zero.
    """

    name: str
    days: tuple[date, ...]
    closes: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.days) != len(self.closes) or any(a >= b for a, b in pairwise(self.days)):
            raise InvalidInputError(f"The days of {self.name} do not rise.", "Sort them, and give each once.")
        if any(not close > 0 for close in self.closes):
            raise InvalidInputError(f"{self.name} has a close that is not above zero.", "Leave missing days out.")

    def place(self, day: date) -> int | None:
        """The place of the last session on or before ``day``; None before the first."""
        found = bisect_right(self.days, day) - 1
        return found if found >= 0 else None

    def until(self, day: date) -> PriceSeries:
        """What was known on the evening of ``day``."""
        cut = bisect_right(self.days, day)
        return PriceSeries(self.name, self.days[:cut], self.closes[:cut])

    def month_ends(self) -> tuple[date, ...]:
        """The last session of each month; that of the last month only if the series goes on after it."""
        return self.ends("month_end")

    def ends(self, dates: str) -> tuple[date, ...]:
        """The last session of each week, month or quarter (``week_end`` and so on), as `month_ends` has those."""
        period = _PERIODS[dates]
        return tuple(one for one, other in pairwise(self.days) if period(one) != period(other))

    def followed_by(self, later: PriceSeries) -> PriceSeries:
        """Both together; of days that both have, the first holds."""
        known = set(self.days)
        more = [(day, close) for day, close in zip(later.days, later.closes, strict=True) if day not in known]
        rows = sorted([*zip(self.days, self.closes, strict=True), *more])
        return PriceSeries(self.name, tuple(day for day, _ in rows), tuple(close for _, close in rows))


_PERIODS: Mapping[str, Callable[[date], tuple[int, int]]] = {
    "week_end": lambda day: day.isocalendar()[:2],
    "month_end": lambda day: (day.year, day.month),
    "quarter_end": lambda day: (day.year, (day.month - 1) // 3),
}


def read_prices(path: Path, name: str | None = None, column: str | None = None) -> PriceSeries:
    """The closes in a CSV file with a column of days and one of closes, in either case; empty cells are left out.

    Raises:
        InvalidInputError: it cannot be read, or lacks a column.
    """
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise InvalidInputError(
            f"{path} cannot be read: {type(error).__name__}.", "Give a CSV file, .gz or not."
        ) from None
    rows = list(csv.DictReader(io.StringIO(text)))
    heads = list(rows[0]) if rows else []
    day = _head(heads, _DAY)
    close = column or _head(heads, _CLOSE)
    if day is None or close not in heads:
        raise InvalidInputError(f"{path} lacks a column of {'days' if day is None else 'closes'}.", f"It has: {heads}.")
    found = [(date.fromisoformat(row[day][:10]), float(row[close])) for row in rows if (row[close] or "").strip()]
    return PriceSeries(name or path.stem, tuple(one for one, _ in found), tuple(other for _, other in found))


def _head(heads: Sequence[str], wanted: Sequence[str]) -> str | None:
    return next((head for head in heads if head.strip().casefold() in wanted), None)
