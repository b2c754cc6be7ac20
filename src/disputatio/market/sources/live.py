"""Live sources: Yahoo Finance for prices and FRED for macroeconomic series, through a cache.

Neither has past earnings; add a second source for them: ``live+csv:FOLDER``.

FRED has real-time periods: with ``realtime_start`` and ``realtime_end`` each observation has the period in which it was
current (https://fred.stlouisfed.org/docs/api/fred/series_observations.html). A release counts as known at the end of
its day in New York.

Yahoo has closes as quoted, not adjusted for dividends. It divides closes before a split, which keeps changes in per
cent but not the price paid then.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from disputatio._intake import SizeBound
from disputatio.market.sources.errors import SourceError
from disputatio.market.sources.moments import NEW_YORK, format_moment, second_at, subtract_days
from disputatio.market.sources.port import Catalogue, View
from disputatio.market.sources.rows import Rows, clock_on, make_price_rows, make_value_rows
from disputatio.market.sources.series_catalogue import CLOSES, MACRO, NEW_YORK_CLOSE, US, MacroRule

CACHE_SECONDS = 3_600.0
"""Seconds for which the cache answers."""

ATTEMPTS = 4
_FIRST_PAUSE = 1.0
_MAX_PAUSE = 60.0


class BusyError(Exception):
    """The server asks to wait ``seconds``, or None if it does not say how long."""

    def __init__(self, cause: str, seconds: float | None = None) -> None:
        super().__init__(cause)
        self.seconds = seconds


@dataclass
class Fetcher:
    """Fetches with retries and a cache.

    Attributes:
        folder: of the cache.
        time_to_live: seconds for which an answer counts as new.
        now: returns the time in seconds.
        pause: waits for a number of seconds.
        attempts: how often to ask a busy server.
    """

    folder: Path
    time_to_live: float = CACHE_SECONDS
    now: Callable[[], float] = time.time
    pause: Callable[[float], None] = time.sleep
    attempts: int = ATTEMPTS
    _tired: dict[str, str] = field(default_factory=dict)

    def get(self, provider: str, query: Mapping[str, str], fetch: Callable[[], Any]) -> tuple[Any, tuple[str, ...]]:
        """Return the answer to ``query``: cached if new, else fetched, else cached with a warning.

        Args:
            provider: such as ``FRED``.
            query: without secrets; it names the cache file.
            fetch: raises `BusyError` to be called again, and `SourceError` if that is useless.

        Raises:
            SourceError: if there is no answer.
        """
        path = self._path(provider, query)
        kept = _read_cache(path)
        if kept is not None and 0 <= self.now() - kept["fetched_at"] < self.time_to_live:
            return kept["answer"], ()
        try:
            answer = self._asked(provider, fetch)
        except SourceError as error:
            if kept is None:
                raise
            when = format_moment(int(kept["fetched_at"]))
            return kept["answer"], (f"{error}; what was fetched at {when} stands in.",)
        _write_cache(path, {"fetched_at": self.now(), "query": dict(query), "answer": answer})
        return answer, ()

    def _asked(self, provider: str, fetch: Callable[[], Any]) -> Any:
        if provider in self._tired:
            # Once waiting did not help one series, the others do not wait.
            raise SourceError(self._tired[provider])
        pause = _FIRST_PAUSE
        for attempt in range(1, self.attempts + 1):
            try:
                return fetch()
            except BusyError as error:
                if attempt == self.attempts:
                    self._tired[provider] = f"{error} (asked {attempt} times)"
                    raise SourceError(self._tired[provider]) from None
                self.pause(min(pause if error.seconds is None else error.seconds, _MAX_PAUSE))
                pause *= 2
        raise SourceError(f"{provider} was not asked")

    def _path(self, provider: str, query: Mapping[str, str]) -> Path:
        text = json.dumps([provider, dict(query)], sort_keys=True)
        return (
            self.folder / f"{provider.lower().replace(' ', '-')}-{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"
        )


def _read_cache(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    sound = isinstance(found, dict) and isinstance(found.get("fetched_at"), int | float) and "answer" in found
    return found if sound else None


def _write_cache(path: Path, content: dict[str, Any]) -> None:
    """Store an answer; a cache that cannot be written is ignored."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(content))
        part.replace(path)
    except OSError:
        return


FRED_URL = "https://api.stlouisfed.org"
_MACRO_HISTORY_DAYS, _REVISION_DAYS = 3 * 366, 120
_ANSWER_BOUND = SizeBound(16 << 20, "a series")
"""Three years of a daily series with all revisions take less than a megabyte."""
_BUSY = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Fred:
    """The FRED API.

    Attributes:
        key: of the API; may be empty.
        fetcher: asks and caches.
        url: of the API.
        timeout: seconds for one whole answer.
    """

    key: str
    fetcher: Fetcher
    url: str = FRED_URL
    timeout: float = 20.0

    def rows(self, rule: MacroRule, cut: int, day: str) -> Rows:
        """Return the series of ``rule`` as known at ``cut``, which is on ``day``.

        Raises:
            SourceError: if it is not available.
        """
        if not self.key:
            raise SourceError("FRED needs a key, which is free: set FRED_API_KEY")
        query = {
            "series_id": rule.fred,
            "observation_start": subtract_days(day, _MACRO_HISTORY_DAYS),
            "realtime_start": subtract_days(day, _REVISION_DAYS),
            "realtime_end": day,
            "file_type": "json",
        }
        answer, warnings = self.fetcher.get("FRED", query, lambda: self._observations(query))
        rows = _select_known(rule, answer, cut, day)
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
            # The request's address contains the key, so show only the kind of error.
            raise BusyError(f"FRED is not reachable ({type(error).__name__})") from None
        if reply.status_code in _BUSY:
            raise BusyError(f"FRED answered {reply.status_code}", _parse_seconds(reply.headers.get("retry-after")))
        if reply.status_code != 200:
            raise SourceError(f"FRED answered {reply.status_code}: {_error_message(reply)}")
        try:
            found = reply.json()["observations"]
            return [[row["date"], row["realtime_start"], row["value"]] for row in found]
        except (ValueError, KeyError, TypeError):
            raise SourceError(f"FRED's answer for {query['series_id']} has another form than it should") from None


def _parse_seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None


def _error_message(reply: Any) -> str:
    try:
        return str(reply.json().get("error_message", ""))[:120] or "no reason given"
    except (ValueError, AttributeError):
        return "no reason given"


def _select_known(rule: MacroRule, observations: Sequence[Sequence[str]], cut: int, day: str) -> Rows:
    """Select the latest version of every observation known at ``cut``."""
    latest: dict[str, tuple[int, float]] = {}
    for observed, since, text in observations:
        known = second_at(since, "23:59:59", NEW_YORK)
        if known <= cut and (observed not in latest or known > latest[observed][0]):
            latest[observed] = known, _parse_number(text)
    days = sorted(latest)
    if not days:
        raise SourceError(f"FRED gave no observations of {rule.fred}")
    return make_value_rows(
        "FRED",
        days,
        [latest[row][1] for row in days],
        [latest[row][0] for row in days],
        [day] * len(days) if rule.months else None,
    )


def _parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


TICKERS: Mapping[str, str] = {
    **{f"index:{key}": f"^{key}" for key in ("GSPC", "DJI", "NDX", "FTSE", "GDAXI", "N225", "HSI")},
    "vix": "^VIX",
}
_HISTORY_DAYS = 1_300
"""Days to fetch: some 890 sessions."""

_COLUMNS = ("Open", "High", "Low", "Close", "Volume")

Download = Callable[[str, str, str], "tuple[list[str], dict[str, list[float]]]"]
"""Takes a ticker, a first day and the day after the last; returns ISO days and columns by name."""


@dataclass(frozen=True)
class Yahoo:
    """Yahoo Finance.

    Attributes:
        fetcher: asks and caches.
        download: fetches a ticker.
    """

    fetcher: Fetcher
    download: Download

    def rows(self, key: str, day: str) -> Rows:
        """Return sessions of ``key`` up to ``day``.

        Raises:
            SourceError: if they are not available.
        """
        ticker = TICKERS.get(key, key.partition(":")[2])
        # Yahoo's end is exclusive.
        query = {"ticker": ticker, "start": subtract_days(day, _HISTORY_DAYS), "end": subtract_days(day, -1)}
        answer, notes = self.fetcher.get("Yahoo Finance", query, lambda: self._fetched(ticker, query))
        days, columns = answer
        clock = clock_on(*CLOSES.get(key.partition(":")[2] or key, NEW_YORK_CLOSE))
        rows = make_price_rows(
            "Yahoo Finance", days, {name: _to_floats(values) for name, values in columns.items()}, clock
        )
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


def _to_floats(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else float(value) for value in values]


def download_with_yfinance(
    ticker: str, start: str, end: str, session: Any = None
) -> tuple[list[str], dict[str, list[float]]]:
    """Download sessions of ``ticker`` by yfinance; ``session`` is its transport, None for its own.

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
        # Otherwise a failure would be a log line and an empty frame.
        yfinance.config.debug.hide_exceptions = False
        logging.getLogger("yfinance").setLevel(logging.CRITICAL)
        with warnings.catch_warnings():
            # Users cannot fix yfinance's warnings about pandas.
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
    # The index is midnight in the exchange's zone, so its date is the session's.
    days = [stamp.strftime("%Y-%m-%d") for stamp in frame.index]
    return days, {str(name): [float(value) for value in frame[name]] for name in frame.columns}


KEY_NAME = "FRED_API_KEY"


@dataclass(frozen=True)
class LiveSources:
    """Yahoo Finance and FRED."""

    yahoo: Yahoo
    fred: Fred
    name: str = "live"
    catalogue: Catalogue = US

    def at(self, cut: int, day: str) -> View:
        """Return what they knew at ``cut``."""
        return _LiveView(self, cut, day)


@dataclass(frozen=True)
class _LiveView:
    sources: LiveSources
    cut: int
    day: str

    def rows(self, key: str) -> Rows | None:
        if key == "earnings":
            return None
        kind, _, name = key.partition(":")
        if kind == "macro":
            rule = MACRO.get(name)
            return None if rule is None else self.sources.fred.rows(rule, self.cut, self.day).until(self.cut)
        return self.sources.yahoo.rows(key, self.day).until(self.cut)


def open_live_sources(
    environment: Mapping[str, str] | None = None,
    *,
    fetcher: Fetcher | None = None,
    download: Download = download_with_yfinance,
    fred_url: str = FRED_URL,
) -> LiveSources:
    """Open the live sources, without a request.

    Args:
        environment: contains FRED_API_KEY; None for the process's own.
        fetcher: asks and caches; None for a cache in the user's folder, valid for an hour.
        download: fetches from Yahoo Finance.
        fred_url: of FRED's API.
    """
    found = os.environ if environment is None else environment
    asking = Fetcher(_cache_folder()) if fetcher is None else fetcher
    return LiveSources(Yahoo(asking, download), Fred(found.get(KEY_NAME, "").strip(), asking, fred_url))


def _cache_folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("disputatio", appauthor=False)) / "market"
