"""FRED, with the real-time period: what the series said on that day, and since when.

https://fred.stlouisfed.org/docs/api/fred/series_observations.html: with ``realtime_start`` and ``realtime_end`` every
observation carries the period in which it stood. A release counts as known at the end of its day in New York.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from disputatio._intake import SizeBound
from disputatio.market.sources.faults import SourceError
from disputatio.market.sources.fetching import BusyError, Fetcher
from disputatio.market.sources.moments import NEW_YORK, days_before, moment
from disputatio.market.sources.names import MacroRule
from disputatio.market.sources.rows import Rows
from disputatio.market.sources.tables import value_rows

FRED_URL = "https://api.stlouisfed.org"
_HISTORY, _REVISIONS = 3 * 366, 120
_ANSWER_BOUND = SizeBound(16 << 20, "a series")
"""Three years of a daily series with all its revisions take less than a megabyte."""
_BUSY = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Fred:
    """The FRED API.

    Attributes:
        key: of the API; empty where there is none.
        fetcher: asks and keeps.
        url: where the API is.
        timeout: seconds for one whole answer.
    """

    key: str
    fetcher: Fetcher
    url: str = FRED_URL
    timeout: float = 20.0

    def rows(self, rule: MacroRule, cut: int, day: str) -> Rows:
        """What ``rule``'s series said at ``cut``, which lies on ``day``.

        Raises:
            SourceError: if it cannot be had.
        """
        if not self.key:
            raise SourceError("FRED needs a key, which is free: set FRED_API_KEY")
        query = {
            "series_id": rule.fred,
            "observation_start": days_before(day, _HISTORY),
            "realtime_start": days_before(day, _REVISIONS),
            "realtime_end": day,
            "file_type": "json",
        }
        answer, warnings = self.fetcher.get("FRED", query, lambda: self._observations(query))
        rows = _as_known(rule, answer, cut, day)
        if not warnings:
            return rows
        said = tuple((0, f"{rule.name}: {warning}") for warning in warnings)
        return Rows(rows.source, rows.days, rows.available, rows.columns, rows.vintages, said)

    def _observations(self, query: Mapping[str, str]) -> list[list[str]]:
        import httpx2

        from disputatio._http_client import StoppedError, get_apart

        address = f"{self.url}/fred/series/observations"
        try:
            reply = get_apart(address, {**query, "api_key": self.key}, _ANSWER_BOUND, self.timeout)
        except StoppedError as error:
            raise SourceError(f"FRED's answer for {query['series_id']} was given up: {error}") from None
        except httpx2.HTTPError as error:
            # The request's address holds the key, so nothing of the error but its kind is told.
            raise BusyError(f"FRED is not reachable ({type(error).__name__})") from None
        if reply.status_code in _BUSY:
            raise BusyError(f"FRED answered {reply.status_code}", _seconds(reply.headers.get("retry-after")))
        if reply.status_code != 200:
            raise SourceError(f"FRED answered {reply.status_code}: {_error_message(reply)}")
        try:
            found = reply.json()["observations"]
            return [[row["date"], row["realtime_start"], row["value"]] for row in found]
        except (ValueError, KeyError, TypeError):
            raise SourceError(f"FRED's answer for {query['series_id']} has another form than it should") from None


def _seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None


def _error_message(reply: Any) -> str:
    try:
        return str(reply.json().get("error_message", ""))[:120] or "no reason given"
    except (ValueError, AttributeError):
        return "no reason given"


def _as_known(rule: MacroRule, observations: Sequence[Sequence[str]], cut: int, day: str) -> Rows:
    """The latest version of every observation that was known at ``cut``."""
    latest: dict[str, tuple[int, float]] = {}
    for observed, since, text in observations:
        known = moment(since, "23:59:59", NEW_YORK)
        if known <= cut and (observed not in latest or known > latest[observed][0]):
            latest[observed] = known, _number(text)
    days = sorted(latest)
    if not days:
        raise SourceError(f"FRED gave no observations of {rule.fred}")
    return value_rows(
        "FRED",
        days,
        [latest[row][1] for row in days],
        [latest[row][0] for row in days],
        [day] * len(days) if rule.months else None,
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
