"""Compute prices, indicators, sectors and sentiment of a knowledge base."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal

import numpy as np

from disputatio.market.indicators import WARM_UP, Floats, atr, macd, moving_average, rsi
from disputatio.market.knowledge import (
    Breadth,
    Datum,
    Failed,
    GlobalMarket,
    IndexQuote,
    Known,
    Missing,
    PriceHistory,
    Sector,
    Sentiment,
    Share,
    Technicals,
    Unit,
)
from disputatio.market.sources.port import Catalogue
from disputatio.market.sources.series_catalogue import FIRST_SECTOR_START, SECTOR_STARTS
from disputatio.market.sources.view_reader import Prices, ViewReader, derive_datum, missing_value, without_value

SESSIONS_PER_YEAR = 252
"""Sessions in 52 weeks."""

_HORIZONS = (5, 20, 50, 200)
_AVERAGES = (20, 50, 200)
_MACD = ("line", "signal", "histogram")
_VOLUME_SESSIONS, _VOLUME_NEEDED = 20, 15
_HIGH_VOLUME, _LOW_VOLUME = Decimal("1.2"), Decimal("0.8")
_TREND_BAND = 0.1
_VIX_REGIMES = ((Decimal(15), "low"), (Decimal(20), "normal"), (Decimal(30), "elevated"))
_VIX_MOVE = 4.0
"""The VIX can more than double in a day (2018-02-05), so even a jump to five times is not a split."""

_BROAD_SHARE = Decimal("0.7")
_CHARTED_SESSIONS = 250


def _compute_change(prices: Prices | Missing | Failed, sessions: int) -> Datum:
    """Compute the change of the close over ``sessions``, in per cent."""
    if not isinstance(prices, Prices):
        return without_value(prices, Unit.PERCENT)
    if prices.close.size <= sessions:
        return without_value(prices.too_few(sessions + 1), Unit.PERCENT)
    return prices.origin.number(float(prices.close[-1] / prices.close[-1 - sessions] - 1) * 100, Unit.PERCENT)


def _last_price(prices: Prices | Missing | Failed, unit: Unit) -> Datum:
    return (
        prices.origin.number(float(prices.close[-1]), unit)
        if isinstance(prices, Prices)
        else without_value(prices, unit)
    )


def _compare_with_year(prices: Prices | Missing | Failed, *, high: bool) -> Datum:
    """Compare the close with the highest or lowest close of 52 weeks, in per cent."""
    if not isinstance(prices, Prices):
        return without_value(prices, Unit.PERCENT)
    if prices.close.size < SESSIONS_PER_YEAR:
        return without_value(prices.too_few(SESSIONS_PER_YEAR), Unit.PERCENT)
    year = prices.close[-SESSIONS_PER_YEAR:]
    extreme = year.max() if high else year.min()
    return prices.origin.number(float(prices.close[-1] / extreme - 1) * 100, Unit.PERCENT)


def _recent_volumes(prices: Prices) -> Floats | Missing:
    """Return the last 21 volumes, the session's own last; NaN for missing ones."""
    if prices.volume is None or prices.volume.size == 0 or bool(np.isnan(prices.volume[-60:]).all()):
        return Missing("this source has no volume")
    if math.isnan(prices.volume[-1]):
        return Missing("the volume of the last session is missing")
    last = prices.volume[-_VOLUME_SESSIONS - 1 :]
    if int((~np.isnan(last[:-1])).sum()) < _VOLUME_NEEDED:
        return Missing(f"fewer than {_VOLUME_NEEDED} of the {_VOLUME_SESSIONS} sessions before have a volume")
    return last


def _compute_volume_ratio(prices: Prices | Missing | Failed) -> Datum:
    """Divide the session's volume by the mean of the 20 before it."""
    if not isinstance(prices, Prices):
        return without_value(prices, Unit.TIMES)
    volumes = _recent_volumes(prices)
    if isinstance(volumes, Missing):
        return without_value(volumes, Unit.TIMES)
    return prices.origin.number(float(volumes[-1] / np.nanmean(volumes[:-1])), Unit.TIMES)


def _classify_volume_trend(prices: Prices) -> Datum:
    """Compare the mean volume of five sessions with the sessions before; a tenth makes a trend."""
    volumes = _recent_volumes(prices)
    if isinstance(volumes, Missing):
        return without_value(volumes, Unit.LABEL)
    if bool(np.isnan(volumes[-5:]).all()):
        return missing_value("the last five volumes are missing", Unit.LABEL)
    ratio = float(np.nanmean(volumes[-5:]) / np.nanmean(volumes[:-5]))
    flat = abs(ratio - 1) < _TREND_BAND
    return prices.origin.label("flat" if flat else "increasing" if ratio > 1 else "decreasing")


def compute_index_quote(view_reader: ViewReader, key: str, name: str) -> IndexQuote:
    """Compute the ``indices`` entry of one index."""
    prices = view_reader.prices(f"index:{key}", name)
    return IndexQuote(
        name,
        _last_price(prices, Unit.POINTS),
        _compute_change(prices, 1),
        {f"{sessions}d": _compute_change(prices, sessions) for sessions in _HORIZONS},
        _compare_with_year(prices, high=True),
        _compare_with_year(prices, high=False),
        _compute_volume_ratio(prices),
    )


def compute_global_market(quote: IndexQuote) -> GlobalMarket:
    """Take the ``global_markets`` entry from an index quote."""
    returns = {horizon: quote.returns[horizon] for horizon in ("5d", "20d")}
    return GlobalMarket(quote.name, quote.price, quote.change_pct, returns)


def compute_technicals(view_reader: ViewReader, key: str, name: str) -> Technicals:
    """Compute the ``technicals`` entry of one index."""
    prices = view_reader.prices(f"index:{key}", name)
    if not isinstance(prices, Prices):
        points, label = without_value(prices, Unit.POINTS), without_value(prices, Unit.LABEL)
        averages = {f"ma{period}": points for period in _AVERAGES}
        states = dict.fromkeys(averages, label)
        return Technicals(name, states, averages, points, label, dict.fromkeys(_MACD, points), points, label)
    levels = {f"ma{period}": _compute_average(prices, period) for period in _AVERAGES}
    price = _last_price(prices, Unit.POINTS)
    lines, crossing = _compute_macd(prices)
    return Technicals(
        name,
        {period: _compare_with_average(prices, price, level) for period, level in levels.items()},
        levels,
        _compute_recursive(prices, lambda: rsi(prices.close)),
        crossing,
        lines,
        _compute_atr(prices),
        _classify_volume_trend(prices),
    )


def _compute_average(prices: Prices, period: int) -> Datum:
    if prices.close.size < period:
        return without_value(prices.too_few(period), Unit.POINTS)
    return prices.origin.number(float(prices.close[-period:].mean()), Unit.POINTS)


def _compare_with_average(prices: Prices, price: Datum, level: Datum) -> Datum:
    """Return ``above`` or ``below``; a close on its average is below."""
    if price.number is None or level.number is None:
        return missing_value(level.why_not or price.why_not, Unit.LABEL)
    return prices.origin.label("above" if price.number > level.number else "below")


def _compute_recursive(prices: Prices, compute: Callable[[], Floats]) -> Datum:
    if prices.close.size <= WARM_UP:
        return without_value(prices.too_few(WARM_UP + 1), Unit.POINTS)
    return prices.origin.number(float(compute()[-1]), Unit.POINTS)


def _compute_macd(prices: Prices) -> tuple[Mapping[str, Datum], Datum]:
    """Compute line, signal and histogram, and whether the line is above its signal."""
    if prices.close.size <= WARM_UP:
        why = prices.too_few(WARM_UP + 1)
        return dict.fromkeys(_MACD, without_value(why, Unit.POINTS)), without_value(why, Unit.LABEL)
    line, signal, _ = (float(values[-1]) for values in macd(prices.close))
    origin = prices.origin
    held = {"line": origin.number(line, Unit.POINTS), "signal": origin.number(signal, Unit.POINTS)}
    difference = (held["line"].number or Decimal(0)) - (held["signal"].number or Decimal(0))
    held["histogram"] = origin.exact(difference, Unit.POINTS)
    return held, origin.label("bullish" if difference > 0 else "bearish")


def _compute_atr(prices: Prices) -> Datum:
    high, low = prices.high, prices.low
    if high is None or low is None or np.isnan(high).any() or np.isnan(low).any():
        return missing_value("there are no highs and lows of every session", Unit.POINTS)
    return _compute_recursive(prices, lambda: atr(high, low, prices.close))


def compute_sectors(view_reader: ViewReader, catalogue: Catalogue, benchmark: Datum) -> dict[str, Sector]:
    """Compute the sector funds that existed; ``benchmark`` is the subject's change over 20 sessions."""
    held = {}
    for key, name in catalogue.sectors.items():
        if SECTOR_STARTS.get(key, FIRST_SECTOR_START) > view_reader.day:
            continue
        prices = view_reader.prices(f"sector:{key}", f"The sector fund {key}")
        change = _compute_change(prices, 20)
        held[key] = Sector(
            name,
            _last_price(prices, Unit.USD),
            _compute_change(prices, 5),
            change,
            _compute_relative_strength(change, benchmark),
        )
    return held


def _compute_relative_strength(change: Datum, benchmark: Datum) -> Datum:
    """Subtract the subject's stored change from the sector's, so that anyone can check it."""
    if change.number is None or benchmark.number is None:
        return missing_value(change.why_not or f"the index: {benchmark.why_not}", Unit.PERCENTAGE_POINTS)
    sources = change.source if change.source == benchmark.source else f"{change.source} + {benchmark.source}"
    return Datum(
        Known(change.number - benchmark.number),
        Unit.PERCENTAGE_POINTS,
        max(change.observed_at, benchmark.observed_at),
        max(change.available_at, benchmark.available_at),
        sources,
    )


def compute_sentiment(view_reader: ViewReader, subject: IndexQuote, held: Mapping[str, Sector]) -> Sentiment:
    """Compute fear, volume and breadth."""
    prices = view_reader.prices("vix", "The VIX", _VIX_MOVE)
    level = _last_price(prices, Unit.POINTS)
    regime = (
        without_value(prices, Unit.LABEL)
        if not isinstance(prices, Prices)
        else missing_value(level.why_not, Unit.LABEL)
    )
    if isinstance(prices, Prices) and level.number is not None:
        number = level.number
        regime = prices.origin.label(next((word for bound, word in _VIX_REGIMES if number < bound), "high"))
    return Sentiment(level, regime, _classify_volume(subject), compute_breadth(view_reader, held))


def _classify_volume(subject: IndexQuote) -> Datum:
    """Classify whether the day's move came with much or little volume."""
    ratio, change = subject.volume_ratio.number, subject.change_pct.number
    if ratio is None or change is None:
        return missing_value(subject.volume_ratio.why_not or subject.change_pct.why_not, Unit.LABEL)
    word = "normal"
    if change != 0 and not _LOW_VOLUME < ratio < _HIGH_VOLUME:
        much = "high" if ratio >= _HIGH_VOLUME else "low"
        word = f"{much}_volume_{'rally' if change > 0 else 'selloff'}"
    return derive_datum(subject.volume_ratio, word, Unit.LABEL)


def compute_breadth(view_reader: ViewReader, held: Mapping[str, Sector]) -> Breadth:
    """Count the sectors that rose over 5 and 20 sessions, among those with a known change."""
    shares = [_compute_share(view_reader, held, field) for field in ("change_5d_pct", "change_20d_pct")]
    share = shares[1].share
    if share is None:
        return Breadth(shares[0], shares[1], missing_value(shares[1].why_not, Unit.LABEL))
    part = Decimal(share.part) / share.whole
    word = "broad_strength" if part >= _BROAD_SHARE else "broad_weakness" if part <= 1 - _BROAD_SHARE else "mixed"
    return Breadth(shares[0], shares[1], derive_datum(shares[1], word, Unit.LABEL))


def _compute_share(view_reader: ViewReader, held: Mapping[str, Sector], field: str) -> Datum:
    data = [getattr(sector, field) for sector in held.values()]
    known = [datum for datum in data if datum.number is not None]
    if not known:
        return missing_value("no sector's change is known", Unit.SHARE)
    if len(known) < len(data):
        view_reader.warn(f"Breadth counts {len(known)} of {len(data)} sectors, those whose change is known.")
    last = max(known, key=lambda datum: (datum.observed_at, datum.available_at))
    share = Share(sum(datum.number > 0 for datum in known), len(known))
    return derive_datum(last, share, Unit.SHARE)


def collect_history(view_reader: ViewReader, key: str, name: str, sessions: int = _CHARTED_SESSIONS) -> PriceHistory:
    """Collect the subject's last sessions, for charts."""
    prices = view_reader.prices(f"index:{key}", name)
    if not isinstance(prices, Prices) or not sessions:
        return PriceHistory()
    line, signal, _ = macd(prices.close)
    lines = {
        "close": prices.close,
        **{f"ma{period}": moving_average(prices.close, period) for period in _AVERAGES},
        "rsi_14": rsi(prices.close),
        "macd": line,
        "macd_signal": signal,
    }
    return PriceHistory(
        tuple(prices.days[-sessions:].tolist()),
        {
            label: tuple(None if math.isnan(value) else round(value, 2) for value in values[-sessions:].tolist())
            for label, values in lines.items()
        },
    )
