"""The schema of a knowledge base: the market as known at one moment.

Every value is a `Datum`: its content (a known value, or why there is none), its unit, the day it is about, the moment
from which it was known, its source and, for macroeconomic series, its vintage. Missing (not published, or too little
history), failed (the source did not answer) and zero are three different things.

The pointer of a datum joins the names on its path by dots, such as ``indices.EXI.returns.200d``. Numbers are decimals
of at most 15 digits, which JSON keeps. Dates are ISO 8601 texts: a day (``2008-11-28``) or a UTC moment
(``2008-11-28T21:00:00Z``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

SCHEMA_VERSION = 1

_MAX_DIGITS = 15
_V = TypeVar("_V")


class Unit(StrEnum):
    """What a number counts."""

    POINTS = "points"
    USD = "USD"
    PERCENT = "%"
    PERCENTAGE_POINTS = "pp"
    TIMES = "x"
    THOUSANDS = "thousand"
    SHARE = "share"
    LABEL = "label"


class Section(StrEnum):
    """The modules of a knowledge base; each pointer begins with one."""

    INDICES = "indices"
    TECHNICALS = "technicals"
    SECTORS = "sectors"
    FUNDAMENTALS = "fundamentals"
    MACRO = "macro"
    SENTIMENT = "sentiment"
    GLOBAL_MARKETS = "global_markets"


@dataclass(frozen=True, slots=True)
class Share:
    """``part`` of ``whole``, such as 7 of 10 sectors.

    Raises:
        ValueError: if it is not a part of a whole.
    """

    part: int
    whole: int

    def __post_init__(self) -> None:
        if not 0 <= self.part <= self.whole or self.whole == 0:
            raise ValueError(f"{self.part}/{self.whole} is no share")

    def __str__(self) -> str:
        return f"{self.part}/{self.whole}"


@dataclass(frozen=True, slots=True)
class Known:
    """A number, a share, or a label such as ``above`` or ``bullish``.

    Numbers lose trailing zeros, so equal numbers are written alike.

    Raises:
        ValueError: if a number is not finite or has more than 15 digits.
    """

    value: Decimal | Share | str

    def __post_init__(self) -> None:
        if isinstance(self.value, Decimal):
            object.__setattr__(self, "value", normalise_number(self.value))


@dataclass(frozen=True, slots=True)
class Missing:
    """No value was to be expected; ``reason`` is a clause such as ``fewer than 200 sessions``."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A source failed to give the value; ``reason`` is a clause that says what happened."""

    reason: str


Content = Known | Missing | Failed


def normalise_number(value: Decimal) -> Decimal:
    """Remove trailing zeros and the exponent.

    Raises:
        ValueError: if it is not finite or has more than 15 digits.
    """
    if not value.is_finite():
        raise ValueError(f"{value} is not a number that can be held")
    plain = Decimal(f"{value:f}".rstrip("0").rstrip(".") if "." in f"{value:f}" else f"{value:f}")
    if len(plain.as_tuple().digits) > _MAX_DIGITS:
        raise ValueError(f"{value} has more than {_MAX_DIGITS} digits")
    return abs(plain) if plain.is_zero() else plain


@dataclass(frozen=True, slots=True)
class Datum:
    """One value of the knowledge base, or why there is none.

    Attributes:
        content: known, missing or failed.
        unit: of the value; ``Unit.LABEL`` for words, ``Unit.SHARE`` for shares.
        observed_at: the day that the value is about; the first day of a month or quarter; empty without a value.
        available_at: the UTC moment from which it was known; empty without a value.
        source: such as ``csv:spx_ohlcv`` or ``FRED``.
        vintage: the month or day of publication of a macroeconomic value; for a valuation, the quarter of its earnings
            (``earnings to 2008-06-30``).
    """

    content: Content
    unit: Unit
    observed_at: str = ""
    available_at: str = ""
    source: str = ""
    vintage: str = ""

    @property
    def number(self) -> Decimal | None:
        """The number, if known; shares and labels are not numbers."""
        return (
            self.content.value if isinstance(self.content, Known) and isinstance(self.content.value, Decimal) else None
        )

    @property
    def label(self) -> str | None:
        """The word, if known."""
        return self.content.value if isinstance(self.content, Known) and isinstance(self.content.value, str) else None

    @property
    def share(self) -> Share | None:
        """The share, if known."""
        return self.content.value if isinstance(self.content, Known) and isinstance(self.content.value, Share) else None

    @property
    def is_known(self) -> bool:
        """Whether there is a value."""
        return isinstance(self.content, Known)

    @property
    def why_not(self) -> str:
        """The reason without a value, else empty."""
        return "" if isinstance(self.content, Known) else self.content.reason


def _freeze(rows: Mapping[str, _V]) -> Mapping[str, _V]:
    return rows if isinstance(rows, MappingProxyType) else MappingProxyType(dict(rows))


class _Frozen:
    """Makes the mappings of a dataclass unchangeable."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for row in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, row.name)
            if isinstance(value, Mapping):
                object.__setattr__(self, row.name, _freeze(value))


@dataclass(frozen=True, slots=True)
class Meta:
    """What a knowledge base says of itself.

    Attributes:
        as_of: the UTC moment of its knowledge; empty in a blinded base.
        day: the day in New York at that moment.
        generated_at: when it was built, in UTC; equal to ``as_of`` for history.
        market_status: of the subject's market: ``open``, ``closed``, ``holiday``, ``weekend`` or ``unknown``.
        subject: the key in ``indices`` of the index under debate.
        subject_name: its name for people.
        data_sources: such as ``csv:market``.
        warnings: one sentence for each missing, failed or odd thing.
        synthetic: whether the values are invented.
    """

    as_of: str
    day: str
    generated_at: str
    market_status: str
    subject: str
    subject_name: str
    data_sources: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    synthetic: bool = False

    @property
    def blinded(self) -> bool:
        """Whether names and dates were removed (`disputatio.market.blinding`)."""
        return not self.as_of


@dataclass(frozen=True, slots=True)
class IndexQuote(_Frozen):
    """One of the seven indices, with ``returns`` over 5d, 20d, 50d and 200d sessions; all changes in per cent."""

    name: str
    price: Datum
    change_pct: Datum
    returns: Mapping[str, Datum]
    vs_52w_high_pct: Datum
    vs_52w_low_pct: Datum
    volume_ratio: Datum


@dataclass(frozen=True, slots=True)
class Technicals(_Frozen):
    """Indicators of one index.

    ``ma_status`` says whether the close is above or below its averages over 20, 50 and 200 sessions (``ma20``,
    ``ma50``, ``ma200``); ``ma_levels`` has the averages. ``macd`` has ``line``, ``signal`` and ``histogram``.
    """

    name: str
    ma_status: Mapping[str, Datum]
    ma_levels: Mapping[str, Datum]
    rsi_14: Datum
    macd_signal: Datum
    macd: Mapping[str, Datum]
    atr_14: Datum
    volume_trend: Datum


@dataclass(frozen=True, slots=True)
class Sector:
    """A sector fund. ``relative_strength_vs_spx``: its 20-session change less the subject's, in percentage points."""

    name: str
    price: Datum
    change_5d_pct: Datum
    change_20d_pct: Datum
    relative_strength_vs_spx: Datum


@dataclass(frozen=True, slots=True)
class PriceEarnings:
    """Price over the earnings of the last four published quarters, and its average as known that day."""

    current_pe_approx: Datum
    long_term_avg_pe: Datum


@dataclass(frozen=True, slots=True)
class Fundamentals:
    """Valuation of the subject, and the kind of sector that leads."""

    sp500_pe_approx: PriceEarnings
    sp500_earnings_yield_approx: Datum
    sector_rotation_signal: Datum


@dataclass(frozen=True, slots=True)
class MacroSeries:
    """One macroeconomic series in the vintage of that day.

    Output, prices and payrolls are stored as yearly growth in per cent. ``previous_value`` is three months older, and
    ``trend`` (``rising``, ``falling`` or ``flat``) compares the two. ``yoy_change_pct`` is the yearly change, in
    percentage points if the value is in per cent, else in per cent.
    """

    name: str
    latest_value: Datum
    previous_value: Datum
    trend: Datum
    yoy_change_pct: Datum


@dataclass(frozen=True, slots=True)
class Breadth:
    """How many sectors rose."""

    positive_5d: Datum
    positive_20d: Datum
    breadth_regime: Datum


@dataclass(frozen=True, slots=True)
class Sentiment:
    """Fear, volume and breadth."""

    vix_level: Datum
    vix_regime: Datum
    volume_signal: Datum
    sector_breadth: Breadth


@dataclass(frozen=True, slots=True)
class GlobalMarket(_Frozen):
    """An index outside the United States; ``returns`` over 5d and 20d sessions."""

    name: str
    price: Datum
    change_pct: Datum
    returns: Mapping[str, Datum]


@dataclass(frozen=True, slots=True)
class PriceHistory(_Frozen):
    """The subject's last sessions, for charts only: prompts and pointers do not include them.

    Attributes:
        days: ISO days, oldest first.
        lines: one number or None a day, by name: ``close``, ``ma20``, ``ma50``, ``ma200``, ``rsi_14``, ``macd``,
            ``macd_signal``.
    """

    days: tuple[str, ...] = ()
    lines: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class KnowledgeBase(_Frozen):
    """All that is known of a market at one moment, built by `disputatio.market.sources.builder.build`."""

    meta: Meta
    indices: Mapping[str, IndexQuote]
    technicals: Mapping[str, Technicals]
    sectors: Mapping[str, Sector]
    fundamentals: Fundamentals
    macro: Mapping[str, MacroSeries]
    sentiment: Sentiment
    global_markets: Mapping[str, GlobalMarket]
    history: PriceHistory = field(default_factory=PriceHistory)

    @cached_property
    def data(self) -> Mapping[str, Datum]:
        """Every datum by its pointer, in schema order."""
        rows = (row for section in Section for row in _walk(section.value, getattr(self, section)))
        if self.meta.blinded:
            return MappingProxyType({blind_pointer(pointer): datum for pointer, datum in rows})
        return MappingProxyType(dict(rows))

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The name for people of every pointer's owner, such as ``macro.CPI`` to ``Consumer prices``."""
        return MappingProxyType(
            {
                f"{section.value}.{key}": row.name
                for section in Section
                if isinstance(rows := getattr(self, section), Mapping)
                for key, row in rows.items()
            }
        )


def collect_names(base: KnowledgeBase) -> Mapping[str, str]:
    """Map every pointer's owner to its name for people."""
    return base.names


def collect_data(base: KnowledgeBase) -> Mapping[str, Datum]:
    """Map every pointer to its datum, in schema order."""
    return base.data


def _walk(pointer: str, node: Any) -> Iterator[tuple[str, Datum]]:
    if isinstance(node, Datum):
        yield pointer, node
    elif isinstance(node, Mapping):
        for key, inner in node.items():
            yield from _walk(f"{pointer}.{key}", inner)
    elif is_dataclass(node):
        for row in fields(node):
            yield from _walk(f"{pointer}.{row.name}", getattr(node, row.name))


FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "sp500_pe_approx": "price_earnings",
        "sp500_earnings_yield_approx": "earnings_yield",
        "current_pe_approx": "current_pe",
        "relative_strength_vs_spx": "relative_strength",
        "vix_level": "fear_level",
        "vix_regime": "fear_regime",
    }
)
"""Fields whose names name a market, and their names in a blinded base."""

SERIES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "GDP": ("GDP", "Growth of real GDP on a year earlier"),
        "CPI": ("CPI", "Growth of consumer prices on a year earlier"),
        "CORE_CPI": ("CORE_CPI", "Growth of core consumer prices on a year earlier"),
        "FEDFUNDS": ("POLICY_RATE", "Policy rate"),
        "UNRATE": ("JOBLESS_RATE", "Unemployment rate"),
        "T10Y2Y": ("TERM_SPREAD", "Ten-year less two-year government yield"),
        "DGS10": ("LONG_YIELD", "Ten-year government yield"),
        "PAYEMS": ("EMPLOYMENT", "Growth of employment on a year earlier"),
        "INDPRO": ("PRODUCTION", "Growth of industrial production on a year earlier"),
        "HOUST": ("HOUSING", "Housing starts, rebased"),
    }
)
"""Macroeconomic series: key and name without a country or a provider."""

_KNOWN: Mapping[str, str] = {**FIELDS, **{key: word for key, (word, _) in SERIES.items()}}
_ANY = re.compile(rf"(?<!\w)(?:{'|'.join(sorted(_KNOWN, key=len, reverse=True))})(?!\w)")


def blind_pointer(pointer: str) -> str:
    """Replace the parts of ``pointer`` or an expression by their names in a blinded base."""
    return _ANY.sub(lambda found: _KNOWN[found.group()], pointer)
