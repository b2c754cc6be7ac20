"""Yahoo Finance through yfinance: closes as they were quoted, not adjusted for dividends.

Yahoo changes its past: closes before a split are divided by it. Changes in per cent are not touched by that, and what a
fund cost before it is told as Yahoo tells it today.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from disputatio.market.sources.faults import SourceError
from disputatio.market.sources.fetching import BusyError, Fetcher
from disputatio.market.sources.moments import days_before
from disputatio.market.sources.names import CLOSES, NEW_YORK_CLOSE
from disputatio.market.sources.rows import Rows
from disputatio.market.sources.tables import at_clock, price_rows

TICKERS: Mapping[str, str] = {
    **{f"index:{key}": f"^{key}" for key in ("GSPC", "DJI", "NDX", "FTSE", "GDAXI", "N225", "HSI")},
    "vix": "^VIX",
}
_HISTORY = 1_300
"""Days that are asked for: some 890 sessions."""

_COLUMNS = ("Open", "High", "Low", "Close", "Volume")

Download = Callable[[str, str, str], "tuple[list[str], dict[str, list[float]]]"]
"""From a ticker, a first day and the day after the last: ISO days and columns by name."""


@dataclass(frozen=True)
class Yahoo:
    """Yahoo Finance.

    Attributes:
        fetcher: asks and keeps.
        download: how a ticker is fetched.
    """

    fetcher: Fetcher
    download: Download

    def rows(self, key: str, day: str) -> Rows:
        """Sessions of ``key`` up to ``day``.

        Raises:
            SourceError: if they cannot be had.
        """
        ticker = TICKERS.get(key, key.partition(":")[2])
        # The day after: Yahoo's end is exclusive.
        query = {"ticker": ticker, "start": days_before(day, _HISTORY), "end": days_before(day, -1)}
        answer, notes = self.fetcher.get("Yahoo Finance", query, lambda: self._fetched(ticker, query))
        days, columns = answer
        clock = at_clock(*CLOSES.get(key.partition(":")[2] or key, NEW_YORK_CLOSE))
        rows = price_rows("Yahoo Finance", days, {name: _floats(values) for name, values in columns.items()}, clock)
        said = tuple((0, f"{ticker}: {note}") for note in notes)
        return replace(rows, warnings=(*rows.warnings, *said))

    def _fetched(self, ticker: str, query: Mapping[str, str]) -> list[Any]:
        days, columns = self.download(ticker, query["start"], query["end"])
        if not days:
            raise SourceError(f"Yahoo Finance gave no rows of {ticker}")
        if "Close" not in columns:
            raise SourceError(f"Yahoo Finance gave no Close of {ticker}; it gave {', '.join(list(columns)[:8])}")
        kept = {name.lower(): columns[name] for name in _COLUMNS if name in columns}
        return [days, {name: [None if math.isnan(row) else row for row in values] for name, values in kept.items()}]


def _floats(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else float(value) for value in values]


def download_with_yfinance(
    ticker: str, start: str, end: str, session: Any = None
) -> tuple[list[str], dict[str, list[float]]]:
    """The sessions of ``ticker`` by yfinance; ``session`` is its transport, None for its own.

    Raises:
        BusyError: if Yahoo limits requests or is not reachable.
        SourceError: if yfinance is not installed, or Yahoo has nothing.
    """
    try:
        import yfinance  # type: ignore[import-untyped]
        from yfinance.exceptions import YFException, YFRateLimitError  # type: ignore[import-untyped]
    except ImportError:
        raise SourceError("Yahoo Finance needs yfinance: pip install 'disputatio[market]'") from None
    try:
        # Else a failure would be a line in a log, and an empty frame.
        yfinance.config.debug.hide_exceptions = False
        logging.getLogger("yfinance").setLevel(logging.CRITICAL)
        with warnings.catch_warnings():
            # What yfinance uses of pandas is nothing that a user could mend.
            warnings.simplefilter("ignore")
            frame = yfinance.Ticker(ticker, session=session).history(
                start=start, end=end, interval="1d", auto_adjust=False, actions=False, timeout=20
            )
    except YFRateLimitError:
        raise BusyError("Yahoo Finance limits requests for now") from None
    except YFException as error:
        raise SourceError(f"Yahoo Finance: {str(error)[:120]}") from None
    except Exception as error:  # noqa: BLE001  # yfinance lets the errors of its transport through, of several libraries
        raise BusyError(f"Yahoo Finance is not reachable ({type(error).__name__})") from None
    if frame is None or frame.empty:
        return [], {}
    # The index is midnight in the exchange's own zone: its date is the session's, whatever the zone here.
    days = [stamp.strftime("%Y-%m-%d") for stamp in frame.index]
    return days, {str(name): [float(value) for value in frame[name]] for name in frame.columns}
