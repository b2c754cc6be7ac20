"""The series, their names, and the moment from which each was known.

Each rule is the latest plausible moment, so that nothing is known too early:

- a session's prices at the close of its exchange (the VIX 15 minutes after New York's, Frankfurt at its latest close
  of the period, 20:00);
- the effective federal funds rate and Treasury yields of H.15 on the next weekday (New York Fed, Federal Reserve);
- a real-time vintage at the last weekday of its month: the Philadelphia Fed's vintages show what was known in the
  middle of the month or some days later, always within it;
- a quarter's earnings four months after it ended.

``earliest_known`` states these rules a second time, for the controls of a backtest: it catches a source or file that
knows something too early.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from disputatio.market.sources.moments import NEW_YORK, add_months, last_weekday_of_month, next_weekday, second_at
from disputatio.market.sources.port import Catalogue

INDICES: Mapping[str, str] = MappingProxyType(
    {
        "GSPC": "S&P 500",
        "DJI": "Dow Jones",
        "NDX": "NASDAQ-100",
        "FTSE": "FTSE 100",
        "GDAXI": "DAX",
        "N225": "Nikkei 225",
        "HSI": "Hang Seng",
    }
)
SECTORS: Mapping[str, str] = MappingProxyType(
    {
        "XLB": "Materials",
        "XLE": "Energy",
        "XLF": "Financials",
        "XLI": "Industrials",
        "XLK": "Technology",
        "XLP": "Consumer staples",
        "XLU": "Utilities",
        "XLV": "Health care",
        "XLY": "Consumer discretionary",
        "XLRE": "Real estate",
        "XLC": "Communication services",
    }
)
SECTOR_STARTS: Mapping[str, str] = MappingProxyType({"XLRE": "2015-10-08", "XLC": "2018-06-19"})
"""First trading days of the younger sector funds. The other nine began on 1998-12-22 (State Street)."""

FIRST_SECTOR_START = "1998-12-22"
CYCLICAL = ("XLB", "XLE", "XLF", "XLI", "XLK", "XLY")
DEFENSIVE = ("XLP", "XLU", "XLV")

US = Catalogue("GSPC", INDICES, SECTORS, ("FTSE", "GDAXI", "N225", "HSI"))

CLOSES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "FTSE": ("16:30", "Europe/London"),
        "GDAXI": ("20:00", "Europe/Berlin"),
        "N225": ("15:30", "Asia/Tokyo"),
        "HSI": ("16:10", "Asia/Hong_Kong"),
        "vix": ("16:15", NEW_YORK),
    }
)
"""Local time at which the day's close is known; all others at 16:00 in New York."""

NEW_YORK_CLOSE = ("16:00", NEW_YORK)


@dataclass(frozen=True, slots=True)
class MacroRule:
    """How a macroeconomic series is stored.

    Attributes:
        name: for people.
        fred: its name at FRED.
        growth: whether yearly growth is stored instead of the level.
        rate: whether the level is in per cent.
        months: between two observations; 0 for daily series.
        stale: the age in days at which an observation is too old.
    """

    name: str
    fred: str
    growth: bool = False
    rate: bool = False
    months: int = 1
    stale: int = 200


MACRO: Mapping[str, MacroRule] = MappingProxyType(
    {
        "GDP": MacroRule("Growth of real GDP on a year earlier", "GDPC1", growth=True, months=3, stale=330),
        "CPI": MacroRule("Growth of consumer prices on a year earlier", "CPIAUCSL", growth=True),
        "CORE_CPI": MacroRule("Growth of core consumer prices on a year earlier", "CPILFESL", growth=True),
        "FEDFUNDS": MacroRule("Effective federal funds rate", "DFF", rate=True, months=0, stale=14),
        "UNRATE": MacroRule("Unemployment rate", "UNRATE", rate=True),
        "T10Y2Y": MacroRule("Ten-year less two-year Treasury yield", "T10Y2Y", rate=True, months=0, stale=14),
        "DGS10": MacroRule("Ten-year Treasury yield", "DGS10", rate=True, months=0, stale=14),
        "PAYEMS": MacroRule("Growth of payroll employment on a year earlier", "PAYEMS", growth=True),
        "INDPRO": MacroRule("Growth of industrial production on a year earlier", "INDPRO", growth=True),
        "HOUST": MacroRule("Housing starts at an annual rate", "HOUST"),
    }
)


UNKNOWN_MOMENT = 1 << 62
"""Later than any moment, for a row whose delay is unknown."""
_EARNINGS_MONTHS = 4


def earliest_known(key: str, day: str, vintage: str = "") -> int:
    """Return the UTC second from which a row of ``key`` about ``day`` was known, or `UNKNOWN_MOMENT`."""
    kind, _, name = key.partition(":")
    if kind in {"index", "sector"}:
        return second_at(day, *CLOSES.get(name, NEW_YORK_CLOSE))
    if kind == "vix":
        return second_at(day, *CLOSES["vix"])
    if kind == "earnings":
        return second_at(_add_months(day, _EARNINGS_MONTHS), "00:00", NEW_YORK)
    if kind == "macro" and name in MACRO and not MACRO[name].months:
        return second_at(next_weekday(day), "16:00", NEW_YORK)
    if kind == "macro" and len(vintage) == len("2008-10"):
        return second_at(last_weekday_of_month(vintage), "16:00", NEW_YORK)
    return second_at(vintage, "23:59:59", NEW_YORK) if kind == "macro" and vintage else UNKNOWN_MOMENT


def earliest_known_all(key: str, days: Sequence[str], vintages: Sequence[str] | None) -> list[int]:
    """Apply `earliest_known` to every row of a series."""
    told = vintages if vintages is not None else [""] * len(days)
    return [earliest_known(key, day, vintage) for day, vintage in zip(days, told, strict=True)]


def _add_months(day: str, months: int) -> str:
    """Return the same day so many months later, or the last of that month."""
    month = add_months(day[:7], months)
    last = (date.fromisoformat(f"{add_months(month, 1)}-01") - date.resolution).isoformat()
    return min(f"{month}{day[7:]}", last)
