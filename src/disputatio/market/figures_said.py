"""Numbers as people write them: what an item states, and the numbers of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

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

LONGEST_VALUE = 60
"""In characters; what is longer states no number."""

_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_STATED = re.compile(rf"([+-]?)\s*(?:(us\$|\$)\s*)?({_DIGITS})\s*(.*)", re.IGNORECASE | re.DOTALL)
_SHARE = re.compile(r"\+?(\d{1,6})\s*(?:/|of|out of)\s*(\d{1,6})(?:\s+sectors)?", re.IGNORECASE)
_MINUS = str.maketrans({"\u2212": "-", "\u2013": "-", "\u2011": "-", "\u00a0": " ", "\u202f": " "})


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as it was stated.

    Attributes:
        value: its exact value.
        decimals: how many digits follow the point.
        unit: as stated; empty where none was.
    """

    value: Fraction
    decimals: int
    unit: str = ""


def read_stated(text: str) -> Figure | Share | str:
    """What ``text`` states: a figure, a share such as 7/10, or, where it is neither, the text itself."""
    plain = text.translate(_MINUS).strip()
    if len(plain) > LONGEST_VALUE:
        return plain
    if found := _SHARE.fullmatch(plain):
        part, whole = int(found[1]), int(found[2])
        return Share(part, whole) if 0 <= part <= whole and whole else plain
    found = _STATED.fullmatch(plain)
    if found is None:
        return plain
    sign, dollar, digits, rest = found.groups()
    unit = unit_of(rest) if rest else (Unit.USD.value if dollar else "")
    if unit is None or (rest and dollar):
        return plain
    number = Decimal(digits.replace(",", ""))
    value = Fraction(number) * (-1 if sign == "-" else 1)
    return Figure(value, max(0, -int(number.as_tuple().exponent)), unit)


def unit_of(text: str) -> str | None:
    """The unit that ``text`` spells; empty for nothing said, None for what is no unit."""
    plain = " ".join(text.casefold().split())
    return UNITS.get(plain) if plain else ""


# A number that is none of a value: periods (200-day, 52w), parts of names (RSI-14, MA50, S&P 500, 10Y), years, ids.
_PERIOD = (
    r"\s?-?\s?(?:d|day|days|week|weeks|w|wk|month|months|m|mo|quarter|quarters|q|year|years|y|yr|yrs|session|sessions"
    r"|trading)\b"
)
# Bounded, since it is looked for behind every number: a text of hyphens and digits alone would take its square.
_LONGEST_NAME = 100
_FREE = re.compile(
    rf"(?<![\w.,/])(?<![A-Za-z]-)([+-]?)(?<![\w])\$?({_DIGITS})(?!\.?\d)"
    rf"(?:\s*/\s*(\d+)|\s+(?:out )?of\s+(\d+)\b)?(?!{_PERIOD})(?![-\w/]{{0,{_LONGEST_NAME}}}[A-Za-z_])",
    re.IGNORECASE,
)
_UNIT_AFTER = re.compile(r"\s*(%|percent(?:age points?)?|per cent|pp|bps?|points?|x)(?!\w)")
_MOST_DIGITS = 200
"""More make no value. Python refuses to write or read whole numbers of more than 4,300 digits."""
_BEFORE = 40
"""Characters before a number that say whether it is a year or a part of a name."""
_NAME_BEFORE = re.compile(r"(?:s&p|rsi|atr|s?ma|ema|nikkei|ftse|nasdaq|dow|r)[- ]?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """A number in a sentence: where it stands and what it says."""

    start: int
    end: int
    figure: Figure | Share


@lru_cache(maxsize=8_192)
def numbers_said(sentence: str) -> tuple[Said, ...]:
    """The numbers of ``sentence`` that state values, not periods, years or parts of names."""
    return tuple(_numbers(sentence))


def _numbers(sentence: str) -> Iterator[Said]:
    text = sentence.translate(_MINUS)
    for found in _FREE.finditer(text):
        sign, digits, *wholes = found.groups()
        if found.end() - found.start() > _MOST_DIGITS:
            continue
        number = Decimal(digits.replace(",", ""))
        before = text[max(0, found.start() - _BEFORE) : found.start()]
        if _NAME_BEFORE.search(before) or _is_year(before, found, number):
            continue
        whole = next((int(row) for row in wholes if row), 0)
        if whole and number == number.to_integral_value() and number <= whole:
            yield Said(found.start(), found.end(), Share(int(number), whole))
            continue
        rest = _UNIT_AFTER.match(text, found.end())
        unit = (unit_of(rest[1]) or "") if rest else ""
        value = Fraction(number) * (-1 if sign == "-" else 1)
        yield Said(found.start(), found.end(), Figure(value, max(0, -int(number.as_tuple().exponent)), unit))


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
