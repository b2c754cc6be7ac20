"""Parse the values, numbers and names of series that people write in a claim.

A name leads to the pointers that it may mean. Ambiguous names (growth, momentum, strength) are omitted: a listed name
that fits no pointer of an item refers to another series.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from disputatio.market.expressions import BASIS_POINTS, NUMBER
from disputatio.market.knowledge import Share, Unit

_SPELLINGS: dict[str, tuple[str, ...]] = {
    Unit.PERCENT.value: ("%", "percent", "per cent", "pct"),
    Unit.PERCENTAGE_POINTS.value: (
        *("pp", "ppt", "percentage point", "percentage points", "%-points", "percent points"),
        *("percentage-points", "percentage_points", "pct points"),
    ),
    BASIS_POINTS: ("bp", "bps", "basis point", "basis points"),
    Unit.POINTS.value: ("points", "point", "pts", "index points"),
    NUMBER: ("x", "times", "\u00d7", "ratio", "multiple", "number"),
    Unit.USD.value: ("usd", "$", "dollars", "us dollars", "us$"),
    Unit.THOUSANDS.value: ("thousand", "thousands"),
    Unit.SHARE.value: ("share", "sectors", "of sectors"),
    Unit.LABEL.value: ("label", "state", "status", "word"),
}
UNITS = {spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings}
"""Every spelling of a unit, in lower case."""

MAX_VALUE_CHARS = 60
"""A longer text states no number."""

_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_STATED = re.compile(rf"([+-]?)\s*(?:(us\$|\$)\s*)?({_DIGITS})\s*(.*)", re.IGNORECASE | re.DOTALL)
_SHARE = re.compile(r"\+?(\d{1,6})\s*(?:/|of|out of)\s*(\d{1,6})(?:\s+sectors)?", re.IGNORECASE)
_MINUS = str.maketrans({"\u2212": "-", "\u2013": "-", "\u2011": "-", "\u00a0": " ", "\u202f": " "})


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A number as it was stated.

    Attributes:
        value: its exact value.
        decimals: digits after the point.
        unit: as stated; may be empty.
    """

    value: Fraction
    decimals: int
    unit: str = ""


def parse_value(text: str) -> StatedValue | Share | str:
    """Parse a number, a share such as 7/10, or else return the text itself."""
    plain = text.translate(_MINUS).strip()
    if len(plain) > MAX_VALUE_CHARS:
        return plain
    if found := _SHARE.fullmatch(plain):
        part, whole = int(found[1]), int(found[2])
        return Share(part, whole) if 0 <= part <= whole and whole else plain
    found = _STATED.fullmatch(plain)
    if found is None:
        return plain
    sign, dollar, digits, rest = found.groups()
    unit = parse_unit(rest) if rest else (Unit.USD.value if dollar else "")
    if unit is None or (rest and dollar):
        return plain
    number = Decimal(digits.replace(",", ""))
    value = Fraction(number) * (-1 if sign == "-" else 1)
    return StatedValue(value, max(0, -int(number.as_tuple().exponent)), unit)


def parse_unit(text: str) -> str | None:
    """Return the unit that ``text`` spells; empty for an empty text, None for an unknown unit."""
    plain = " ".join(text.casefold().split())
    return UNITS.get(plain) if plain else ""


# Numbers that are not values: periods (200-day, 52w), parts of names (RSI-14, MA50, S&P 500, 10Y), years, ids.
_PERIOD = (
    r"\s?-?\s?(?:d|day|days|week|weeks|w|wk|month|months|m|mo|quarter|quarters|q|year|years|y|yr|yrs|session|sessions"
    r"|trading)\b"
)
# Bounded, because it is searched after every number, which would take quadratic time.
_MAX_NAME_CHARS = 100
_NOT_A_VALUE = re.compile(
    rf"(?<![\w.,/])(?<![A-Za-z]-)([+-]?)(?<![\w])\$?({_DIGITS})(?!\.?\d)"
    rf"(?:\s*/\s*(\d+)|\s+(?:out )?of\s+(\d+)\b)?(?!{_PERIOD})(?![-\w/]{{0,{_MAX_NAME_CHARS}}}[A-Za-z_])",
    re.IGNORECASE,
)
_UNIT_AFTER = re.compile(r"\s*(%|percent(?:age points?)?|per cent|pp|bps?|points?|x)(?!\w)")
_MAX_DIGITS = 200
"""Longer digits state no value. Python limits whole numbers to 4,300 digits."""
_BEFORE = 40
"""Characters before a number that show whether it is a year or part of a name."""
_NAME_BEFORE = re.compile(r"(?:s&p|rsi|atr|s?ma|ema|nikkei|ftse|nasdaq|dow|r)[- ]?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StatedNumber:
    """A number in a sentence, with its place."""

    start: int
    end: int
    figure: StatedValue | Share


@lru_cache(maxsize=8_192)
def find_numbers(sentence: str) -> tuple[StatedNumber, ...]:
    """Return the numbers of ``sentence`` that are values, not periods, years or parts of names."""
    return tuple(_iterate_numbers(sentence))


def _iterate_numbers(sentence: str) -> Iterator[StatedNumber]:
    text = sentence.translate(_MINUS)
    for found in _NOT_A_VALUE.finditer(text):
        sign, digits, *wholes = found.groups()
        if found.end() - found.start() > _MAX_DIGITS:
            continue
        number = Decimal(digits.replace(",", ""))
        before = text[max(0, found.start() - _BEFORE) : found.start()]
        if _NAME_BEFORE.search(before) or _is_year(before, found, number):
            continue
        whole = next((int(row) for row in wholes if row), 0)
        if whole and number == number.to_integral_value() and number <= whole:
            yield StatedNumber(found.start(), found.end(), Share(int(number), whole))
            continue
        rest = _UNIT_AFTER.match(text, found.end())
        unit = (parse_unit(rest[1]) or "") if rest else ""
        value = Fraction(number) * (-1 if sign == "-" else 1)
        yield StatedNumber(
            found.start(), found.end(), StatedValue(value, max(0, -int(number.as_tuple().exponent)), unit)
        )


def _is_year(before: str, found: re.Match[str], number: Decimal) -> bool:
    if re.fullmatch(r"(?:18|19|20)\d\d", found[0]) is None or not 1800 <= number < 2100:
        return False
    led = re.search(
        r"(?:\b(?:in|since|of|from|until|before|after|by|to|year|and|january|february|march|april|may|june|july|august|september|october|november"
        r"|december|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)|[-/(])\s*$",
        before,
        re.IGNORECASE,
    )
    return led is not None


_DAY = r"[- ]?(?:d|day|session|trading[- ]day)s?"
_AVERAGE = rf"{_DAY}[- ](?:simple |moving )*(?:average|ma|sma)"

# Each name as people write it, with a pattern of the pointers that it may mean.
_NAMES: tuple[tuple[str, str], ...] = (
    *((rf"s?ma[- ]?{n}|{n}{_AVERAGE}", rf"\.ma_(?:status|levels)\.ma{n}$") for n in (20, 50, 200)),
    *((rf"{n}{_DAY} (?:return|change|gain|loss)", rf"(?:\.{n}d|_{n}d_pct)$") for n in (5, 20, 50, 200)),
    (r"(?:moving )?averages", r"\.ma_(?:status|levels)\."),
    (r"rsi(?:[- ]?14)?", r"\.rsi_14$"),
    (r"macd(?: (?:line|signal|histogram))?", r"\.macd"),
    (r"atr(?:[- ]?14)?|average true range", r"\.atr_14$"),
    (r"52[- ]?week high|52w high|yearly high", r"\.vs_52w_high_pct$"),
    (r"52[- ]?week low|52w low|yearly low", r"\.vs_52w_low_pct$"),
    (r"volume(?: ratio| trend)?", r"volume_"),
    (r"price|close", r"\.price$|\.change_pct$|\.returns\.|\.vs_52w"),
    (r"relative strength", r"relative_strength"),
    (r"vix|fear index", r"sentiment\.(?:vix|fear)_"),
    (r"breadth", r"sector_breadth"),
    (r"p/?e(?: ratio)?|price[-/ ]to[-/ ]earnings|price[-/]earnings", r"sp500_pe_approx|price_earnings"),
    (r"earnings yield", r"earnings_yield|current_pe"),
    (r"gdp", r"macro\.GDP\."),
    (r"core (?:cpi|inflation)", r"macro\.CORE_CPI\."),
    (r"(?<!core )(?:cpi|inflation|consumer prices)", r"macro\.(?:CORE_)?CPI\."),
    (r"fed(?:eral)? funds(?: rate)?|fedfunds|policy rate", r"macro\.(?:FEDFUNDS|POLICY_RATE)\."),
    (r"unemployment(?: rate)?|unrate|jobless rate", r"macro\.(?:UNRATE|JOBLESS_RATE)\."),
    (r"t?10y-?2y|yield curve|term spread|curve", r"macro\.(?:T10Y2Y|TERM_SPREAD)\."),
    (r"(?:ten|10)[- ]year(?: treasury)? yield|dgs10", r"macro\.(?:DGS10|LONG_YIELD)\."),
    (r"payrolls?|payems", r"macro\.(?:PAYEMS|EMPLOYMENT)\."),
    (r"industrial production|indpro", r"macro\.(?:INDPRO|PRODUCTION)\."),
    (r"housing starts|houst", r"macro\.(?:HOUST|HOUSING)\."),
)
_SHAPES = tuple(re.compile(pointers) for _, pointers in _NAMES)
_ANY_NAME = re.compile(
    r"(?<![\w.])(?:" + "|".join(f"(?P<n{place}>{name})" for place, (name, _) in enumerate(_NAMES)) + r")(?!\w)",
    re.IGNORECASE,
)
_DIFFERENCE = re.compile(r"\b(?:spread|gap|difference|premium|discount)\b", re.IGNORECASE)

Names: TypeAlias = tuple[tuple[str, str], ...]
"""The subjects of a slice's pointers: ``section.key`` and the name for people."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a sentence and its place.

    Attributes:
        start: of the name in the sentence.
        end: of the name in the sentence.
        shape: the pattern of its pointers; None for an owner or a difference.
        owner: the key of an index, sector or series called by its own name; else empty.
    """

    start: int
    end: int
    shape: re.Pattern[str] | None = None
    owner: str = ""

    def fits(self, pointers: tuple[str, ...], *, difference: bool) -> bool:
        """Whether it may mean ``pointers``; ``difference`` says that the value measures a difference."""
        if self.shape is not None:
            return any(self.shape.search(pointer) for pointer in pointers)
        if self.owner:
            return any(pointer.split(".")[1] == self.owner for pointer in pointers)
        return difference


@lru_cache(maxsize=8_192)
def find_mentions(sentence: str, names: Names) -> tuple[Mention, ...]:
    """Return every name of a series in ``sentence``, in order."""
    found = [
        Mention(row.start(), row.end(), _SHAPES[int((row.lastgroup or "n0")[1:])])
        for row in _ANY_NAME.finditer(sentence)
    ]
    called, owners = _owner_names(names)
    found += [
        Mention(row.start(), row.end(), None, owners[row.group().casefold()]) for row in called.finditer(sentence)
    ]
    found += [Mention(row.start(), row.end()) for row in _DIFFERENCE.finditer(sentence)]
    return tuple(sorted(found, key=lambda row: (row.start, row.end)))


@lru_cache(maxsize=64)
def _owner_names(names: Names) -> tuple[re.Pattern[str], dict[str, str]]:
    """Return a pattern of the keys and names of indices, sectors and series, and their owners."""
    owners: dict[str, str] = {}
    for place, name in names:
        section, _, owner = place.partition(".")
        for called in (owner, *(() if section == "macro" else (name,))):
            owners[called.casefold()] = owner
    words = "|".join(re.escape(word) for word in sorted(owners, key=len, reverse=True))
    return re.compile(rf"(?<![\w.])(?:{words or '(?!)'})(?![\w.])", re.IGNORECASE), owners
