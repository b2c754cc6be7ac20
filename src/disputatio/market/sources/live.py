"""Live sources: Yahoo Finance for prices, FRED for macroeconomic series.

Neither keeps earnings as they were known; name a second source for them: ``live+csv:FOLDER``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from disputatio.market.sources.fetching import Fetcher
from disputatio.market.sources.fred import FRED_URL, Fred
from disputatio.market.sources.names import MACRO, US
from disputatio.market.sources.port import Catalogue, View
from disputatio.market.sources.rows import Rows
from disputatio.market.sources.yahoo import Download, Yahoo, download_with_yfinance

KEY_NAME = "FRED_API_KEY"


@dataclass(frozen=True)
class LiveSources:
    """Yahoo Finance and FRED."""

    yahoo: Yahoo
    fred: Fred
    name: str = "live"
    catalogue: Catalogue = US

    def at(self, cut: int, day: str) -> View:
        """What they say was known at ``cut``."""
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


def live(
    environment: Mapping[str, str] | None = None,
    *,
    fetcher: Fetcher | None = None,
    download: Download = download_with_yfinance,
    fred_url: str = FRED_URL,
) -> LiveSources:
    """The live sources; nothing is asked yet.

    Args:
        environment: where FRED_API_KEY is looked for; None for the process's own.
        fetcher: asks and keeps; None for a cache in the user's folder, good for an hour.
        download: how Yahoo Finance is asked.
        fred_url: where FRED's API is.
    """
    found = os.environ if environment is None else environment
    asking = Fetcher(_cache_folder()) if fetcher is None else fetcher
    return LiveSources(Yahoo(asking, download), Fred(found.get(KEY_NAME, "").strip(), asking, fred_url))


def _cache_folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("disputatio", appauthor=False)) / "market"
