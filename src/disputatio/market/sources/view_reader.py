"""Read and check the series of a view, with warnings about oddities."""

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
"""Sessions used for a base: 252 for a year's high, the others for smoothing."""

MAX_AGE_DAYS = 10
"""Of the last session. The longest closure in the data, of September 2001, took 7 days."""

MAX_MOVE = 0.3
"""A larger move between two closes means a changed series (a split, another currency)."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a value comes from, and when it was known."""

    source: str
    observed_at: str
    available: int
    vintage: str = ""

    def number(self, value: float, unit: Unit, digits: int = 2) -> Datum:
        """Make a number rounded to ``digits``; missing if it is not finite."""
        if not math.isfinite(value):
            return Datum(Missing("it cannot be computed"), unit)
        return self.exact(Decimal(f"{value:.{digits}f}"), unit)

    def exact(self, value: Decimal | Share | str, unit: Unit) -> Datum:
        """Make a value as it is."""
        return Datum(Known(value), unit, self.observed_at, format_moment(self.available), self.source, self.vintage)

    def label(self, text: str) -> Datum:
        """Make a label."""
        return self.exact(text, Unit.LABEL)

    def joined(self, other: Provenance) -> Provenance:
        """Combine the provenance of two inputs."""
        sources = self.source if self.source == other.source else f"{self.source} + {other.source}"
        return Provenance(sources, max(self.observed_at, other.observed_at), max(self.available, other.available))


def without_value(content: Missing | Failed, unit: Unit) -> Datum:
    """Make a datum without a value."""
    return Datum(content, unit)


def missing_value(reason: str, unit: Unit) -> Datum:
    """Make a missing datum."""
    return Datum(Missing(reason), unit)


@dataclass(frozen=True, slots=True)
class Prices:
    """The last sessions of one series, without gaps or jumps, oldest first.

    ``before`` is a clause on why there are no more.
    """

    origin: Provenance
    days: Days
    close: Floats
    high: Floats | None
    low: Floats | None
    volume: Floats | None
    before: str

    def too_few(self, sessions: int) -> Missing:
        """Explain that ``sessions`` are needed."""
        return Missing(f"{self.close.size} of {sessions} sessions are at hand{self.before}")


@dataclass
class ViewReader:
    """Reads a view.

    Attributes:
        view: of the sources.
        cut: the last known moment, in UTC seconds.
        day: that day in New York.
        warnings: sentences, in order.
        unkept: names of the series that the sources do not have.
    """

    view: View
    cut: int
    day: str
    warnings: dict[str, None] = field(default_factory=dict)
    unkept: list[str] = field(default_factory=list)
    _read: dict[str, Rows | Missing | Failed] = field(default_factory=dict)
    _prices: dict[str, Prices | Missing | Failed] = field(default_factory=dict)

    def warn(self, sentence: str) -> None:
        """Add a warning, once."""
        self.warnings.setdefault(sentence)

    def rows(self, key: str, name: str) -> Rows | Missing | Failed:
        """Return the rows of ``key``, called ``name`` in warnings.

        Raises:
            LookAheadError: if the view shows data not yet known.
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
        """Return recent sessions of ``key``; ``largest`` is the largest plausible move."""
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
        """Explain why data up to ``last`` are too old; None if they are not."""
        age = count_days(last, self.day)
        if age <= most:
            return None
        self.warn(f"{name} is missing: its latest value is of {last}, {age} days before.")
        return Missing(f"the latest value is of {last}, {age} days before")


def derive_datum(like: Datum, value: Decimal | Share | str, unit: Unit) -> Datum:
    """Make a conclusion with the provenance of ``like``."""
    return Datum(Known(value), unit, like.observed_at, like.available_at, like.source, like.vintage)
