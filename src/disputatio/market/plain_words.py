"""What the parts of a pointer are called in a base that tells neither names nor dates.

Names of indices, of funds and of data providers' series stand in the schema itself (``sp500_pe_approx``,
``macro.FEDFUNDS``). A base that was made unrecognisable (`disputatio.market.blinding`) has these words instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

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
"""Fields of the schema whose names name a market."""

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


def in_plain_words(pointer: str) -> str:
    """``pointer``, or an expression over pointers, with the words of a base that tells no names."""
    return _ANY.sub(lambda found: _KNOWN[found.group()], pointer)
