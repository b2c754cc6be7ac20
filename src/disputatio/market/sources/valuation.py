"""Price over earnings as it was known, and which sectors lead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

import numpy as np

from disputatio.market.knowledge import Datum, Fundamentals, Missing, PriceEarnings, Sector, Unit
from disputatio.market.sources.assemble import Desk, Origin, Prices, derived, missing, nothing
from disputatio.market.sources.names import CYCLICAL, DEFENSIVE
from disputatio.market.sources.rows import Rows

QUARTERS_NEEDED = 20
"""For a long-term average: five years."""

EARNINGS_OF = "GSPC"
"""Whose earnings sources keep: those of another subject would make a price-earnings ratio of two companies."""
_STALE_EARNINGS = 330
_ROTATION = Decimal(1)


def fundamentals(desk: Desk, subject: str, name: str, sectors: Mapping[str, Sector]) -> Fundamentals:
    """Valuation of the subject and the rotation of its sectors."""
    current, average = _price_earnings(desk, subject, name)
    return Fundamentals(PriceEarnings(current, average), _earnings_yield(current), _rotation(sectors))


def _price_earnings(desk: Desk, subject: str, name: str) -> tuple[Datum, Datum]:
    if subject != EARNINGS_OF:
        other = missing(f"the earnings at hand are those of the S&P 500, and not of {name}", Unit.TIMES)
        return other, other
    prices, earnings = desk.prices(f"index:{subject}", name), desk.rows("earnings", "Earnings")
    for held in (prices, earnings):
        if not isinstance(held, (Prices, Rows)):
            return nothing(held, Unit.TIMES), nothing(held, Unit.TIMES)
    closes = desk.rows(f"index:{subject}", name)
    if not (isinstance(prices, Prices) and isinstance(earnings, Rows) and isinstance(closes, Rows)):
        raise TypeError("what is neither missing nor failed is there")
    if old := desk.too_old(str(earnings.days[-1]), _STALE_EARNINGS, "Earnings"):
        return nothing(old, Unit.TIMES), nothing(old, Unit.TIMES)
    reported = earnings.columns["value"]
    origin = Origin(earnings.source, prices.origin.observed_at, int(earnings.available[-1])).joined(prices.origin)
    origin = replace(origin, vintage=f"earnings to {earnings.days[-1]}")
    if not reported[-1] > 0:
        why = f"the earnings of {earnings.days[-1]} are not above zero"
        return missing(why, Unit.TIMES), missing(why, Unit.TIMES)
    # The price of each quarter is the close of the day on which its earnings were known, never a monthly average.
    places = np.searchsorted(closes.available, earnings.available, side="right") - 1
    usable = (places >= 0) & (reported > 0)
    ratios = closes.columns["close"][places[usable]] / reported[usable]
    average = (
        origin.number(float(ratios.mean()), Unit.TIMES)
        if ratios.size >= QUARTERS_NEEDED
        else nothing(Missing(f"{ratios.size} of {QUARTERS_NEEDED} quarters are at hand"), Unit.TIMES)
    )
    return origin.number(float(prices.close[-1] / reported[-1]), Unit.TIMES), average


def _earnings_yield(current: Datum) -> Datum:
    """Earnings over price in per cent, from the ratio as it is held, so that anybody can check it."""
    if current.number is None:
        return missing(current.why_not, Unit.PERCENT)
    held = (100 / current.number).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return derived(current, held, Unit.PERCENT)


def _rotation(sectors: Mapping[str, Sector]) -> Datum:
    """Whether cyclical sectors beat defensive ones over 20 sessions by more than a point on average."""
    groups = [[sectors[key].change_20d_pct for key in group if key in sectors] for group in (CYCLICAL, DEFENSIVE)]
    means = []
    for group in groups:
        numbers = [datum.number for datum in group if datum.number is not None]
        if not group or len(numbers) < len(group):
            return missing("not every cyclical and defensive sector's change is known", Unit.LABEL)
        means.append(sum(numbers, Decimal(0)) / len(numbers))
    lead = means[0] - means[1]
    word = "cyclical" if lead > _ROTATION else "defensive" if lead < -_ROTATION else ""
    return derived(groups[0][0], f"{word}_rotation" if word else "mixed", Unit.LABEL)
