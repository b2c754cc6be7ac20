"""What people call the series of a knowledge base, and where a sentence names them.

A name leads to the pointers that it may mean. Names that mean many things (growth, momentum, strength) are not here:
a name in this table that fits none of an item's pointers speaks of another series.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

_DAY = r"[- ]?(?:d|day|session|trading[- ]day)s?"
_AVERAGE = rf"{_DAY}[- ](?:simple |moving )*(?:average|ma|sma)"

# The name as people write it, and what the pointers that it may mean look like.
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
"""What a slice's pointers are about: ``section.key`` and the name for people."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a sentence and its place.

    Attributes:
        start: of the name in the sentence.
        end: of the name in the sentence.
        shape: what the pointers look like that it may mean; None for an owner or a difference.
        owner: the key of an index, a sector or a series called by its own name; empty for others.
    """

    start: int
    end: int
    shape: re.Pattern[str] | None = None
    owner: str = ""

    def fits(self, pointers: tuple[str, ...], *, difference: bool) -> bool:
        """Whether it may mean what rests on ``pointers``; ``difference`` says that this is how far two are apart."""
        if self.shape is not None:
            return any(self.shape.search(pointer) for pointer in pointers)
        if self.owner:
            return any(pointer.split(".")[1] == self.owner for pointer in pointers)
        return difference


@lru_cache(maxsize=8_192)
def mentions(sentence: str, names: Names) -> tuple[Mention, ...]:
    """Every name of a series in ``sentence``, in order."""
    found = [
        Mention(row.start(), row.end(), _SHAPES[int((row.lastgroup or "n0")[1:])])
        for row in _ANY_NAME.finditer(sentence)
    ]
    called, owners = _owners(names)
    found += [
        Mention(row.start(), row.end(), None, owners[row.group().casefold()]) for row in called.finditer(sentence)
    ]
    found += [Mention(row.start(), row.end()) for row in _DIFFERENCE.finditer(sentence)]
    return tuple(sorted(found, key=lambda row: (row.start, row.end)))


@lru_cache(maxsize=64)
def _owners(names: Names) -> tuple[re.Pattern[str], dict[str, str]]:
    """The keys and names of indices, sectors and series, and whose they are."""
    owners: dict[str, str] = {}
    for place, name in names:
        section, _, owner = place.partition(".")
        for called in (owner, *(() if section == "macro" else (name,))):
            owners[called.casefold()] = owner
    words = "|".join(re.escape(word) for word in sorted(owners, key=len, reverse=True))
    return re.compile(rf"(?<![\w.])(?:{words or '(?!)'})(?![\w.])", re.IGNORECASE), owners
