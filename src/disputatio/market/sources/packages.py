"""Read history from installed packages, without network or key.

- ``arch``: the S&P 500 and the NASDAQ Composite, 1999 to 2018, and the VIX, 2014 to 2019;
- ``skfolio``: closes of the S&P 500, 1990 to 2022, on days that ``arch`` lacks;
- ``statsmodels``: one vintage of quarterly macroeconomic data, of 2009.

Only their files are read, because importing the libraries takes seconds. The single vintage of ``statsmodels`` counts
as known from the end of 2009, whatever its period. There are no sectors, earnings or markets abroad.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path

from disputatio.errors import InvalidInputError
from disputatio.market.sources.errors import SourceError
from disputatio.market.sources.moments import NEW_YORK, second_at
from disputatio.market.sources.port import Catalogue, StoredSources
from disputatio.market.sources.rows import (
    Rows,
    Table,
    clock_on,
    make_price_rows,
    make_value_rows,
    parse_numbers,
    read_table,
)
from disputatio.market.sources.series_catalogue import CLOSES, NEW_YORK_CLOSE

_COMPOSITE = Catalogue("GSPC", {"GSPC": "S&P 500", "IXIC": "NASDAQ Composite"}, {}, ())
_OHLCV = ("open", "high", "low", "close", "volume")
_VINTAGE, _PUBLISHED = "2009-11", "2009-11-30"
"""statsmodels took its data from FRED with the third quarter of 2009 as the last, released in November."""


def open_installed_packages() -> StoredSources:
    """Find the installed packages, without reading their data.

    Raises:
        InvalidInputError: if neither `arch` nor `skfolio` is installed.
    """
    readers: dict[str, Callable[[], Rows]] = {}
    if _find_package_folder("arch"):
        readers |= {"index:GSPC": _read_sp500, "index:IXIC": _read_composite, "vix": _read_vix}
    elif _find_package_folder("skfolio"):
        readers["index:GSPC"] = _read_sp500
    if not readers:
        raise InvalidInputError(
            "No installed package brings market history.",
            "Install the extra: pip install 'disputatio[market]', or give --source csv:FOLDER.",
        )
    if _find_package_folder("statsmodels"):
        readers |= {"macro:GDP": lambda: _read_macro("realgdp"), "macro:CPI": lambda: _read_macro("cpi")}
        readers["macro:UNRATE"] = lambda: _read_macro("unemp")
    return StoredSources("packages", _COMPOSITE, readers)


def _find_package_folder(package: str) -> Path | None:
    """Find the folder of ``package`` without importing it."""
    found = importlib.util.find_spec(package)
    places = found.submodule_search_locations if found is not None else None
    return Path(places[0]) if places else None


@cache
def _read_package_table(package: str, place: str) -> Table:
    folder = _find_package_folder(package)
    if folder is None:
        raise SourceError(f"{package} is not installed")
    return read_table(folder / place)


def _read_arch_table(name: str) -> Table:
    return _read_package_table("arch", f"data/{name}/{name}.csv.gz")


def _read_sessions(table: Table, source: str) -> tuple[list[str], dict[str, list[float]]]:
    days = table.days()
    columns = {name: parse_numbers(table.column(name))[0] for name in _OHLCV if name == "close" or table.has(name)}
    if not columns or not days:
        raise SourceError(f"{source} has no sessions")
    return days, columns


def _read_sp500() -> Rows:
    """Return sessions of `arch`, and closes of `skfolio` before and after them."""
    days: list[str] = []
    columns: dict[str, list[float]] = {name: [] for name in _OHLCV}
    sources = []
    if _find_package_folder("arch"):
        days, columns = _read_sessions(_read_arch_table("sp500"), "arch")
        sources.append("arch")
    if _find_package_folder("skfolio"):
        table = _read_package_table("skfolio", "datasets/data/sp500_index.csv.gz")
        closes, _ = parse_numbers(table.column("sp500"))
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
    return make_price_rows(f"packages:{'+'.join(sources)}", days, columns, clock_on(*NEW_YORK_CLOSE))


def _read_composite() -> Rows:
    days, columns = _read_sessions(_read_arch_table("nasdaq"), "arch")
    return make_price_rows("packages:arch", days, columns, clock_on(*NEW_YORK_CLOSE))


def _read_vix() -> Rows:
    table = _read_arch_table("vix")
    values, _ = parse_numbers(table.column("vix"))
    return make_price_rows("packages:arch", table.days(), {"close": values}, clock_on(*CLOSES["vix"]))


def _read_macro(column: str) -> Rows:
    """Return one column of statsmodels' quarterly data."""
    table = _read_package_table("statsmodels", "datasets/macrodata/macrodata.csv")
    values, _ = parse_numbers(table.column(column))
    quarters = zip(table.column("year"), table.column("quarter"), strict=True)
    days = [f"{int(float(year)):04d}-{3 * int(float(quarter)) - 2:02d}-01" for year, quarter in quarters]
    known = second_at(_PUBLISHED, "16:00", NEW_YORK)
    return make_value_rows("packages:statsmodels", days, values, [known] * len(days), [_VINTAGE] * len(days))
