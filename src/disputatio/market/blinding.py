"""Remove names and dates from a knowledge base and rebase its series.

A language model has read what followed most days in history. A date, a name or a known level may remind it of the
outcome. Blinding cannot prove otherwise; `disputatio.evaluation.backtest.recognition` measures how well a model still
recognises the series and the month.

removed       the day, all dates, vintages and sources; names and keys of indices, sectors and macroeconomic series;
              the order of indices and sectors; reasons and warnings, which contain both; the chart
rebased       prices, averages, MACD and ATR of each index, prices of funds, and housing starts: the latest is 100 kept
ratios, changes, signs, labels, shares, rates in per cent and the level of fear, on which rules rest

The same base and seed give the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from datetime import date
from decimal import Context, Decimal
from hashlib import sha256
from itertools import count, product
from string import ascii_uppercase
from typing import Any, TypeVar

from disputatio.market.knowledge import (
    SERIES,
    Datum,
    Failed,
    GlobalMarket,
    IndexQuote,
    KnowledgeBase,
    Known,
    MacroSeries,
    Meta,
    Missing,
    PriceHistory,
    Sector,
    Technicals,
    Unit,
)

_Row = TypeVar("_Row")
REBASED_LEVEL = Decimal(100)
"""The latest price of every series."""
HIDDEN = "untold"
_EXACT = Context(prec=9)
_LEVELS = frozenset({Unit.POINTS, Unit.USD, Unit.THOUSANDS})
_NONE = Missing("there is none for this moment")
_FAILED = Failed("its source did not give it")


def blind(base: KnowledgeBase, seed: int = 0) -> KnowledgeBase:
    """Blind ``base``; ``seed`` decides which index is called A, B, C.

    Ratios of levels keep nine digits. Signs, labels and the conclusions of rule-based analysts stay the same.
    """
    day, subject = base.meta.day, base.meta.subject
    indices = assign_blind_keys(base, seed)
    sectors = _assign_names(_shuffle(base.sectors, f"{seed}/{day}/sector"), "SEC")
    factors = {key: _find_factor(row, base.technicals.get(key)) for key, row in base.indices.items()}
    name = {key: f"Index {word.rpartition('_')[2]}" for key, word in indices.items()}
    return KnowledgeBase(
        meta=Meta("", "", "", HIDDEN, indices[subject], name[subject], (HIDDEN,), (), base.meta.synthetic),
        indices={word: _blind_index(base.indices[key], name[key], factors[key]) for key, word in indices.items()},
        technicals={
            word: _blind_technicals(base.technicals[key], name[key], factors[key])
            for key, word in indices.items()
            if key in base.technicals
        },
        sectors={
            word: _blind_sector(base.sectors[key], f"Sector {word.rpartition('_')[2]}") for key, word in sectors.items()
        },
        fundamentals=replace(
            base.fundamentals,
            sp500_pe_approx=_map_data(base.fundamentals.sp500_pe_approx, _strip_dates),
            sp500_earnings_yield_approx=_strip_dates(base.fundamentals.sp500_earnings_yield_approx),
            sector_rotation_signal=_strip_dates(base.fundamentals.sector_rotation_signal),
        ),
        macro=_blind_macro(base),
        sentiment=replace(
            _map_data(base.sentiment, _strip_dates),
            sector_breadth=_map_data(base.sentiment.sector_breadth, _strip_dates),
        ),
        global_markets={
            word: _blind_global_market(base.global_markets[key], name[key], factors[key])
            for key, word in indices.items()
            if key in base.global_markets
        },
        history=PriceHistory(),
    )


def assign_blind_keys(base: KnowledgeBase, seed: int = 0) -> Mapping[str, str]:
    """Return the name of each index of ``base`` after `blind`, the subject first."""
    subject = base.meta.subject
    others = _shuffle((key for key in base.indices if key != subject), f"{seed}/{base.meta.day}/index")
    return _assign_names((subject, *others), "IDX")


def _shuffle(keys: Iterable[str], salt: str) -> tuple[str, ...]:
    return tuple(sorted(keys, key=lambda key: sha256(f"{salt}/{key}".encode()).digest()))


def _assign_names(keys: Iterable[str], prefix: str) -> dict[str, str]:
    """Assign a letter to each key in order: A to Z, then AA, AB and so on."""
    letters = ("".join(row) for size in count(1) for row in product(ascii_uppercase, repeat=size))
    return {key: f"{prefix}_{letter}" for key, letter in zip(keys, letters, strict=False)}


def _strip_dates(datum: Datum) -> Datum:
    """Remove the dates and the source of ``datum``."""
    content = (
        _NONE if isinstance(datum.content, Missing) else _FAILED if isinstance(datum.content, Failed) else datum.content
    )
    return Datum(content, datum.unit, source=HIDDEN if datum.is_known else "")


def _rebase(datum: Datum, factor: Decimal | None) -> Datum:
    """Rebase a level; withhold it if the scale is unknown."""
    plain = _strip_dates(datum)
    if datum.number is None or datum.unit not in _LEVELS:
        return plain
    if factor is None:
        return Datum(_NONE, Unit.POINTS)
    return replace(plain, content=Known(_EXACT.multiply(datum.number, factor)), unit=Unit.POINTS)


def _find_scale(*levels: Datum | None) -> Decimal | None:
    """Return the factor that makes the first known positive level 100."""
    known = (row.number for row in levels if row is not None and row.number is not None and row.number > 0)
    first = next(known, None)
    return None if first is None else REBASED_LEVEL / first


def _find_factor(row: IndexQuote, chart: Technicals | None) -> Decimal | None:
    return _find_scale(row.price, *(chart.ma_levels.values() if chart is not None else ()))


def _map_data(row: _Row, change: Callable[[Datum], Datum]) -> _Row:
    """Apply ``change`` to every datum of ``row``, also in its mappings."""
    whole: Any = row
    changes: dict[str, object] = {}
    for field in fields(whole):
        value = getattr(whole, field.name)
        if isinstance(value, Datum):
            changes[field.name] = change(value)
        elif isinstance(value, Mapping):
            changes[field.name] = {key: change(inner) for key, inner in value.items()}
    changed: _Row = replace(whole, **changes)
    return changed


def _blind_index(row: IndexQuote, name: str, factor: Decimal | None) -> IndexQuote:
    return replace(_map_data(row, _strip_dates), name=name, price=_rebase(row.price, factor))


def _blind_technicals(row: Technicals, name: str, factor: Decimal | None) -> Technicals:
    return replace(
        _map_data(row, _strip_dates),
        name=name,
        ma_levels={key: _rebase(level, factor) for key, level in row.ma_levels.items()},
        macd={key: _rebase(level, factor) for key, level in row.macd.items()},
        atr_14=_rebase(row.atr_14, factor),
    )


def _blind_sector(row: Sector, name: str) -> Sector:
    return replace(_map_data(row, _strip_dates), name=name, price=_rebase(row.price, _find_scale(row.price)))


def _blind_global_market(row: GlobalMarket, name: str, factor: Decimal | None) -> GlobalMarket:
    return replace(_map_data(row, _strip_dates), name=name, price=_rebase(row.price, factor))


def _blind_macro(base: KnowledgeBase) -> dict[str, MacroSeries]:
    """Rename the series by their plain keys, and others by letters."""
    strange = _assign_names((key for key in base.macro if key not in SERIES), "SERIES")
    found = {}
    for key, row in base.macro.items():
        word = strange.get(key)
        plain, name = SERIES[key] if word is None else (word, f"Series {word.rpartition('_')[2]}")
        factor = _find_scale(row.latest_value, row.previous_value)
        found[plain] = MacroSeries(
            name,
            _add_age(_rebase(row.latest_value, factor), row.latest_value, base.meta.day),
            _add_age(_rebase(row.previous_value, factor), row.previous_value, base.meta.day),
            _strip_dates(row.trend),
            _strip_dates(row.yoy_change_pct),
        )
    return found


def _add_age(plain: Datum, datum: Datum, day: str) -> Datum:
    """Add the age in months, which reveals the value's worth but not its date."""
    try:
        seen, now = date.fromisoformat(datum.observed_at[:10]), date.fromisoformat(day)
    except ValueError:
        return plain
    months = 12 * (now.year - seen.year) + now.month - seen.month
    age = "the same month" if months < 1 else f"{months} month{'s' if months > 1 else ''} before"
    return replace(plain, observed_at=age)
