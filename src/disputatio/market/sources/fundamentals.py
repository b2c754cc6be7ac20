"""Compute macroeconomic series, valuation and sector rotation of a knowledge base."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

import numpy as np

from disputatio.market.knowledge import Datum, Fundamentals, MacroSeries, Missing, PriceEarnings, Sector, Unit
from disputatio.market.sources.moments import add_months, subtract_days
from disputatio.market.sources.rows import Rows
from disputatio.market.sources.series_catalogue import CYCLICAL, DEFENSIVE, MACRO, MacroRule
from disputatio.market.sources.view_reader import (
    Prices,
    Provenance,
    ViewReader,
    derive_datum,
    missing_value,
    without_value,
)

_TAIL = 800
_FLAT_POINTS, _FLAT_PERCENT = Decimal("0.1"), Decimal(2)
"""Smaller changes over three months are flat: in percentage points, and in per cent."""


def compute_macro(view_reader: ViewReader) -> dict[str, MacroSeries]:
    """Compute the ten series."""
    return {key: _read_series(view_reader, key, rule) for key, rule in MACRO.items()}


class _Readings:
    """The readings of one vintage by day, and their provenance."""

    def __init__(self, rows: Rows, rule: MacroRule) -> None:
        start = max(0, rows.days.size - _TAIL)
        keep = np.arange(start, rows.days.size)
        if rows.vintages is not None:
            keep = keep[rows.vintages[start:] == rows.vintages[-1]]
        keep = keep[np.argsort(rows.days[keep], kind="stable")]
        self.days: list[str] = rows.days[keep].tolist()
        self._values: list[float] = rows.columns["value"][keep].tolist()
        self._available: list[int] = rows.available[keep].tolist()
        self._vintage = str(rows.vintages[-1]) if rows.vintages is not None else ""
        self._source = rows.source
        self._rule = rule

    def origin(self, day: str) -> Provenance:
        """Return the provenance for ``day``; growth needs both its readings."""
        place = self.days.index(day)
        return Provenance(self._source, day, self._available[place], self._vintage)

    def on(self, day: str) -> str | None:
        """Return the day of the reading for ``day``; for daily series the last within a week before."""
        place = bisect_right(self.days, day) - 1
        if place < 0:
            return None
        found = self.days[place]
        near = found == day if self._rule.months else found >= subtract_days(day, 7)
        return found if near else None

    def level(self, day: str) -> float | None:
        """Return the reading of ``day``."""
        found = self.on(day)
        return None if found is None else self._values[self.days.index(found)]

    def held(self, day: str) -> float | None:
        """Return the stored value for ``day``: the level, or its yearly growth in per cent."""
        level = self.level(day)
        if not self._rule.growth or level is None:
            return level
        before = self.level(self.back(day, 12))
        return None if before is None or before <= 0 else (level / before - 1) * 100

    def back(self, day: str, months: int) -> str:
        """Return the day ``months`` before ``day``."""
        if self._rule.months:
            return f"{add_months(day[:7], -months)}-01"
        return subtract_days(day, 365 if months == 12 else 91)


def _read_series(view_reader: ViewReader, key: str, rule: MacroRule) -> MacroSeries:
    unit = Unit.PERCENT if rule.growth or rule.rate else Unit.THOUSANDS
    change_unit = Unit.PERCENTAGE_POINTS if unit is Unit.PERCENT else Unit.PERCENT
    rows = view_reader.rows(f"macro:{key}", rule.name)
    if isinstance(rows, Rows):
        readings = _Readings(rows, rule)
        old = view_reader.too_old(readings.days[-1], rule.stale, rule.name)
        if old is None:
            return _compute_series(readings, rule, unit, change_unit)
        rows = old
    value, label, change = (without_value(rows, row) for row in (unit, Unit.LABEL, change_unit))
    return MacroSeries(rule.name, value, value, label, change)


def _compute_series(readings: _Readings, rule: MacroRule, unit: Unit, change_unit: Unit) -> MacroSeries:
    last = readings.days[-1]
    latest = _make_datum(readings, last, unit)
    previous = _make_datum(readings, readings.back(last, 3), unit)
    return MacroSeries(
        rule.name,
        latest,
        previous,
        _classify_trend(latest, previous),
        _compute_yearly_change(readings, last, latest, change_unit),
    )


def _make_datum(readings: _Readings, day: str, unit: Unit) -> Datum:
    found = readings.on(day)
    value = readings.held(found) if found is not None else None
    if found is None or value is None:
        return missing_value(f"this vintage has no value for {day[:7]}", unit)
    return readings.origin(found).number(value, unit)


def _classify_trend(latest: Datum, previous: Datum) -> Datum:
    if latest.number is None or previous.number is None:
        return missing_value(latest.why_not or previous.why_not, Unit.LABEL)
    change, band = latest.number - previous.number, _FLAT_POINTS
    if latest.unit is not Unit.PERCENT:
        band = abs(previous.number) * _FLAT_PERCENT / 100
    return derive_datum(latest, "flat" if abs(change) < band else "rising" if change > 0 else "falling", Unit.LABEL)


def _compute_yearly_change(readings: _Readings, last: str, latest: Datum, unit: Unit) -> Datum:
    """Return the yearly change, in points if the series is in per cent, else in per cent."""
    day = readings.on(readings.back(last, 12))
    before = readings.held(day) if day is not None else None
    if latest.number is None or before is None:
        return missing_value(latest.why_not or "this vintage does not go back far enough", unit)
    if unit is Unit.PERCENTAGE_POINTS:
        return derive_datum(latest, latest.number - Decimal(f"{before:.2f}"), unit)
    if before <= 0:
        return missing_value("a change in per cent is measured from a value above zero", unit)
    return readings.origin(last).number((float(latest.number) / before - 1) * 100, unit)


MIN_QUARTERS = 20
"""For a long-term average: five years."""

EARNINGS_OF = "GSPC"
"""Sources have earnings of this subject only."""
_MAX_EARNINGS_AGE_DAYS = 330
_ROTATION_POINTS = Decimal(1)


def compute_fundamentals(
    view_reader: ViewReader, subject: str, name: str, sectors: Mapping[str, Sector]
) -> Fundamentals:
    """Compute the valuation of the subject and the rotation of its sectors."""
    current, average = _compute_price_earnings(view_reader, subject, name)
    return Fundamentals(PriceEarnings(current, average), _compute_earnings_yield(current), _classify_rotation(sectors))


def _compute_price_earnings(view_reader: ViewReader, subject: str, name: str) -> tuple[Datum, Datum]:
    if subject != EARNINGS_OF:
        other = missing_value(f"the earnings at hand are those of the S&P 500, and not of {name}", Unit.TIMES)
        return other, other
    prices, earnings = view_reader.prices(f"index:{subject}", name), view_reader.rows("earnings", "Earnings")
    for held in (prices, earnings):
        if not isinstance(held, (Prices, Rows)):
            return without_value(held, Unit.TIMES), without_value(held, Unit.TIMES)
    closes = view_reader.rows(f"index:{subject}", name)
    if not (isinstance(prices, Prices) and isinstance(earnings, Rows) and isinstance(closes, Rows)):
        raise TypeError("what is neither missing nor failed is there")
    if old := view_reader.too_old(str(earnings.days[-1]), _MAX_EARNINGS_AGE_DAYS, "Earnings"):
        return without_value(old, Unit.TIMES), without_value(old, Unit.TIMES)
    reported = earnings.columns["value"]
    origin = Provenance(earnings.source, prices.origin.observed_at, int(earnings.available[-1])).joined(prices.origin)
    origin = replace(origin, vintage=f"earnings to {earnings.days[-1]}")
    if not reported[-1] > 0:
        why = f"the earnings of {earnings.days[-1]} are not above zero"
        return missing_value(why, Unit.TIMES), missing_value(why, Unit.TIMES)
    # Price each quarter at the close of the day when its earnings were known, not by a monthly average.
    places = np.searchsorted(closes.available, earnings.available, side="right") - 1
    usable = (places >= 0) & (reported > 0)
    ratios = closes.columns["close"][places[usable]] / reported[usable]
    average = (
        origin.number(float(ratios.mean()), Unit.TIMES)
        if ratios.size >= MIN_QUARTERS
        else without_value(Missing(f"{ratios.size} of {MIN_QUARTERS} quarters are at hand"), Unit.TIMES)
    )
    return origin.number(float(prices.close[-1] / reported[-1]), Unit.TIMES), average


def _compute_earnings_yield(current: Datum) -> Datum:
    """Compute earnings over price in per cent from the stored ratio, so that anyone can check it."""
    if current.number is None:
        return missing_value(current.why_not, Unit.PERCENT)
    held = (100 / current.number).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return derive_datum(current, held, Unit.PERCENT)


def _classify_rotation(sectors: Mapping[str, Sector]) -> Datum:
    """Compare cyclical and defensive sectors over 20 sessions; a lead needs more than a point on average."""
    groups = [[sectors[key].change_20d_pct for key in group if key in sectors] for group in (CYCLICAL, DEFENSIVE)]
    means = []
    for group in groups:
        numbers = [datum.number for datum in group if datum.number is not None]
        if not group or len(numbers) < len(group):
            return missing_value("not every cyclical and defensive sector's change is known", Unit.LABEL)
        means.append(sum(numbers, Decimal(0)) / len(numbers))
    lead = means[0] - means[1]
    word = "cyclical" if lead > _ROTATION_POINTS else "defensive" if lead < -_ROTATION_POINTS else ""
    return derive_datum(groups[0][0], f"{word}_rotation" if word else "mixed", Unit.LABEL)
