"""Reading a view for a knowledge base: each series once, checked, with a warning for whatever is odd."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal

from disputatio.market.indicators import Floats, find_last_jump
from disputatio.market.knowledge import Datum, Failed, Known, Missing, Share, Unit
from disputatio.market.sources.errors import LookAheadError, SourceError
from disputatio.market.sources.moments import count_days, format_moment
from disputatio.market.sources.port import View
from disputatio.market.sources.rows import Days, Rows

WINDOW = 600
"""Sessions that a base is computed from: 252 for a year's high, and so many before that no smoothing remembers more."""

MAX_AGE_DAYS = 10
"""Days after which a last session says nothing of now; the longest closure in the data, of September 2001, took 7."""

MAX_MOVE = 0.3
"""A move between two closes above this is a change of the series (a split, another currency), not of the market."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a value comes from and when it could be known."""

    source: str
    observed_at: str
    available: int
    vintage: str = ""

    def number(self, value: float, unit: Unit, digits: int = 2) -> Datum:
        """A number rounded to ``digits``; missing where it is none."""
        if not math.isfinite(value):
            return Datum(Missing("it cannot be computed"), unit)
        return self.exact(Decimal(f"{value:.{digits}f}"), unit)

    def exact(self, value: Decimal | Share | str, unit: Unit) -> Datum:
        """A value as it is."""
        return Datum(Known(value), unit, self.observed_at, format_moment(self.available), self.source, self.vintage)

    def label(self, text: str) -> Datum:
        """A word."""
        return self.exact(text, Unit.LABEL)

    def joined(self, other: Provenance) -> Provenance:
        """The origin of what is computed from both."""
        sources = self.source if self.source == other.source else f"{self.source} + {other.source}"
        return Provenance(sources, max(self.observed_at, other.observed_at), max(self.available, other.available))


def without_value(content: Missing | Failed, unit: Unit) -> Datum:
    """No value, and why."""
    return Datum(content, unit)


def missing_value(reason: str, unit: Unit) -> Datum:
    """No value, and none to be expected."""
    return Datum(Missing(reason), unit)


@dataclass(frozen=True, slots=True)
class Prices:
    """The last sessions of one series, without gaps or jumps, oldest first.

    ``before`` says why there are no more: a clause.
    """

    origin: Provenance
    days: Days
    close: Floats
    high: Floats | None
    low: Floats | None
    volume: Floats | None
    before: str

    def too_few(self, sessions: int) -> Missing:
        """Why something that needs ``sessions`` of them is missing."""
        return Missing(f"{self.close.size} of {sessions} sessions are at hand{self.before}")


@dataclass
class ViewReader:
    """A view, read.

    Attributes:
        view: of the sources.
        cut: the moment up to which anything is known, in UTC seconds.
        day: that day in New York.
        warnings: one sentence each, in the order in which they came up.
        unkept: names of the series that the sources do not keep.
    """

    view: View
    cut: int
    day: str
    warnings: dict[str, None] = field(default_factory=dict)
    unkept: list[str] = field(default_factory=list)
    _read: dict[str, Rows | Missing | Failed] = field(default_factory=dict)
    _prices: dict[str, Prices | Missing | Failed] = field(default_factory=dict)

    def warn(self, sentence: str) -> None:
        """Note ``sentence``, once."""
        self.warnings.setdefault(sentence)

    def rows(self, key: str, name: str) -> Rows | Missing | Failed:
        """The rows of ``key``, which people call ``name``.

        Raises:
            LookAheadError: if the view shows what could not be known.
        """
        if key not in self._read:
            self._read[key] = self._fetched(key, name)
        return self._read[key]

    def _fetched(self, key: str, name: str) -> Rows | Missing | Failed:
        try:
            rows = self.view.rows(key)
        except SourceError as error:
            self.warn(f"{name} failed: {error}.")
            return Failed(str(error))
        if rows is None:
            self.unkept.append(name)
            return Missing("these sources do not keep it")
        if not rows.is_empty and int(rows.available.max()) > self.cut:
            late = format_moment(int(rows.available.max()))
            raise LookAheadError(f"{key} has a row known only at {late}, after {format_moment(self.cut)}")
        for _, sentence in rows.warnings[-3:]:
            self.warn(sentence)
        if rows.is_empty:
            self.warn(f"{name} is missing: it has no values up to {self.day}.")
            return Missing(f"there are no values up to {self.day}")
        return rows

    def prices(self, key: str, name: str, largest: float = MAX_MOVE) -> Prices | Missing | Failed:
        """The last sessions of ``key``, if they are of now; ``largest`` is the move that a market can make."""
        if key not in self._prices:
            self._prices[key] = self._checked(key, name, largest)
        return self._prices[key]

    def _checked(self, key: str, name: str, largest: float) -> Prices | Missing | Failed:
        rows = self.rows(key, name)
        if not isinstance(rows, Rows):
            return rows
        if old := self.too_old(str(rows.days[-1]), MAX_AGE_DAYS, name):
            return old
        close = rows.columns["close"][-WINDOW:]
        start, before = find_last_jump(close, largest), ""
        days = rows.days[-WINDOW:]
        if start:
            self.warn(
                f"{name} moved by more than {100 * largest:.0f} % from one close to the next on {days[start]}; what "
                "came before is not compared with what came after."
            )
            before = f" since the jump of {days[start]}"
        columns = {column: values[-WINDOW:][start:] for column, values in rows.columns.items()}
        origin = Provenance(rows.source, str(rows.days[-1]), int(rows.available[-1]))
        get = columns.get
        return Prices(origin, days[start:], columns["close"], get("high"), get("low"), get("volume"), before)

    def too_old(self, last: str, most: int, name: str) -> Missing | None:
        """Why ``last``, the latest day of ``name``, says nothing of now; None where it does."""
        age = count_days(last, self.day)
        if age <= most:
            return None
        self.warn(f"{name} is missing: its latest value is of {last}, {age} days before.")
        return Missing(f"the latest value is of {last}, {age} days before")


def derive_datum(like: Datum, value: Decimal | Share | str, unit: Unit) -> Datum:
    """What is concluded from ``like``: known from where and when it is."""
    return Datum(Known(value), unit, like.observed_at, like.available_at, like.source, like.vintage)
