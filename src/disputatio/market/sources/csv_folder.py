"""Read a folder of CSV files as a source.

Files are recognised by name, plain or gzipped (``.csv`` or ``.csv.gz``):

- ``index_KEY`` and ``sector_KEY``: Date, Close and optional Open, High, Low, Volume. KEY may be of your own;
- ``names``: Key, Name: names for people of indices and funds;
- ``spx_ohlcv*`` and ``spx_close_ext*``: the S&P 500, the second continuing the first;
- ``global7_close*``, ``global7_volume*``: one column an index; ``sector_spdr_close*``: one column a fund;
- ``vix_daily*``: DATE, CLOSE;
- ``shiller_monthly*``: Date, Earnings. Its SP500 column is ignored: a monthly average dated the first of the month
  would show the month before it has happened;
- ``rtdsm_asof*``: series, vintage, obs, value; ``fedfunds_daily*``, ``t10y2y_daily*``, ``tnx_daily*``: daily rates.

An absent file makes a series missing; an unreadable one makes it failed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from disputatio.errors import InvalidInputError
from disputatio.market.sources.errors import SourceError
from disputatio.market.sources.moments import (
    NEW_YORK,
    add_months,
    last_weekday_of_month,
    next_weekday,
    second_at,
    subtract_days,
)
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
from disputatio.market.sources.series_catalogue import CLOSES, INDICES, MACRO, NEW_YORK_CLOSE, SECTORS, US
from disputatio.motion import one_line

_GLOBAL_COLUMNS = {
    "GSPC": "GSPC",
    "DJI": "DOW",
    "NDX": "NASDAQ100",
    "FTSE": "FTSE_100",
    "GDAXI": "DAX",
    "N225": "N225",
    "HSI": "HSI",
}
_OHLCV = ("open", "high", "low", "close", "volume")


def open_csv_folder(folder: Path, subject: str = US.subject) -> StoredSources:
    """Open ``folder``. Only the names file is read yet.

    Args:
        folder: with the files.
        subject: the key of the subject.

    Raises:
        InvalidInputError: if the folder or prices of ``subject`` are absent, or its names cannot be read.
    """
    if not folder.is_dir():
        raise InvalidInputError(f"There is no folder {folder}.", "Give one: --source csv:FOLDER.")
    found = _Folder(folder)
    catalogue = _build_catalogue(found, subject)
    readers: dict[str, Callable[[], Rows]] = {}
    for key in catalogue.indices:
        together = key in INDICES and found.file("global7_close")
        if found.file(f"index_{key}") or together or (key == "GSPC" and found.file("spx_ohlcv")):
            readers[f"index:{key}"] = partial(found.index, key)
    for key in SECTORS:
        if found.file(f"sector_{key}") or found.file("sector_spdr_close"):
            readers[f"sector:{key}"] = partial(found.sector, key)
    if found.file("vix_daily"):
        readers["vix"] = found.vix
    if found.file("shiller_monthly"):
        readers["earnings"] = found.earnings
    if found.file("rtdsm_asof"):
        readers |= {f"macro:{key}": partial(found.vintages, rule.fred) for key, rule in MACRO.items() if rule.months}
    for key, stem, column in _DAILY_RATES:
        if found.file(stem):
            readers[f"macro:{key}"] = partial(found.rate, stem, column)
    if f"index:{subject}" not in readers:
        known = subject in INDICES
        usual = " or global7_close.csv" if known else ""
        name, more = catalogue.indices[subject], ", spx_ohlcv.csv" if subject == "GSPC" else ""
        raise InvalidInputError(
            f"The folder {folder} has no prices of {'the ' if subject == 'GSPC' else ''}{name}: there is no file "
            f"index_{subject}.csv{more}{usual} in it.",
            "The reference of knowledge bases lists the files that are read.",
        )
    return StoredSources(f"csv:{folder.resolve().name}", catalogue, readers)


def _build_catalogue(found: _Folder, subject: str) -> Catalogue:
    """List what the folder may have, the subject first, with at most seven indices."""
    if not _KEY.fullmatch(subject):
        raise InvalidInputError(
            f"{subject[:40]!r} cannot be the subject of a knowledge base.",
            "A key has up to 16 letters, digits or underscores and begins with a letter, such as AAPL.",
        )
    named = found.names()
    rest = [key for key in INDICES if key != subject][: _MAX_INDICES - 1]
    indices = {key: named.get(key, INDICES.get(key, key)) for key in (subject, *rest)}
    sectors = {key: named.get(key, name) for key, name in SECTORS.items()}
    return Catalogue(subject, indices, sectors, tuple(key for key in US.global_markets if key in rest))


_KEY = re.compile(r"[A-Za-z]\w{0,15}")
_MAX_INDICES = 7


_DAILY_RATES = (
    ("FEDFUNDS", "fedfunds_daily", "fed_funds_rate"),
    ("T10Y2Y", "t10y2y_daily", "yield_spread_10y2y"),
    ("DGS10", "tnx_daily", "close"),
)


class _Folder:
    """The files of a folder, each read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._table = cache(read_table)
        self._published = cache(lambda: parse_numbers(self.table("rtdsm_asof").column("value"))[0])

    def file(self, stem: str) -> Path | None:
        """Return the first file, by name, that begins with ``stem``."""
        named = (row for row in self._folder.glob(f"{stem}*") if row.name.endswith((".csv", ".csv.gz")))
        exact = (
            row
            for row in named
            if not stem.startswith(("index_", "sector_X", "names")) or row.name.split(".")[0] == stem
        )
        return min(exact, default=None)

    def table(self, stem: str) -> Table:
        """Return the table in that file.

        Raises:
            SourceError: if there is none, or it cannot be read.
        """
        path = self.file(stem)
        if path is None:
            raise SourceError(f"there is no file {stem}.csv")
        return self._table(path)

    def names(self) -> dict[str, str]:
        """Return the folder's names of series, by key.

        Raises:
            InvalidInputError: if the table of names cannot be read.
        """
        if self.file("names") is None:
            return {}
        try:
            table = self.table("names")
            pairs = zip(table.column("key"), table.column("name"), strict=True)
            return {key.strip(): one_line(name, 60) for key, name in pairs if name.strip()}
        except SourceError as error:
            raise InvalidInputError(
                f"The names of the folder cannot be read: {error}.", "Give names.csv two columns: Key, Name."
            ) from None

    def index(self, key: str) -> Rows:
        """Return sessions of an index."""
        clock = clock_on(*CLOSES.get(key, NEW_YORK_CLOSE))
        if self.file(f"index_{key}"):
            return self._sessions([f"index_{key}"], clock)
        if key == "GSPC" and self.file("spx_ohlcv"):
            stems = ["spx_ohlcv", "spx_close_ext"]
            return self._sessions([stem for stem in stems if self.file(stem)], clock)
        table = self.table("global7_close")
        columns = {"close": parse_numbers(table.column(_GLOBAL_COLUMNS[key]))}
        if self.file("global7_volume"):
            volumes = self.table("global7_volume")
            by_day = dict(zip(volumes.days(), parse_numbers(volumes.column(_GLOBAL_COLUMNS[key]))[0], strict=True))
            columns["volume"] = [by_day.get(day, float("nan")) for day in table.days()], []
        odd = [place for _, places in columns.values() for place in places]
        return make_price_rows(
            f"csv:{table.name.split('.')[0]}",
            table.days(),
            {name: values for name, (values, _) in columns.items()},
            clock,
            odd,
        )

    def _sessions(self, stems: list[str], clock: Callable[[str], int]) -> Rows:
        """Return sessions from tables that continue each other. The first table with a day counts."""
        days: list[str] = []
        columns: dict[str, list[float]] = {name: [] for name in _OHLCV}
        odd: list[int] = []
        for stem in stems:
            table = self.table(stem)
            read = {name: parse_numbers(table.column(name)) for name in _OHLCV if name == "close" or table.has(name)}
            seen = set(days)
            for place, day in enumerate(table.days()):
                if day in seen:
                    continue
                odd += [len(days)] if any(place in places for _, places in read.values()) else []
                days.append(day)
                for name in _OHLCV:
                    columns[name].append(read[name][0][place] if name in read else float("nan"))
        return make_price_rows(f"csv:{self.table(stems[0]).name.split('.')[0]}", days, columns, clock, odd)

    def sector(self, key: str) -> Rows:
        """Return sessions of a sector fund."""
        own = self.file(f"sector_{key}") is not None
        table = self.table(f"sector_{key}" if own else "sector_spdr_close")
        values, odd = parse_numbers(table.column("close" if own else key))
        return make_price_rows(
            f"csv:{table.name.split('.')[0]}", table.days(), {"close": values}, clock_on(*NEW_YORK_CLOSE), odd
        )

    def vix(self) -> Rows:
        """Return the VIX at its close."""
        table = self.table("vix_daily")
        values, odd = parse_numbers(table.column("close", "vix", "vixcls"))
        return make_price_rows("csv:vix_daily", table.days(), {"close": values}, clock_on(*CLOSES["vix"]), odd)

    def earnings(self) -> Rows:
        """Return earnings per share of four quarters, at quarter ends; months between are interpolated."""
        table = self.table("shiller_monthly")
        values, _ = parse_numbers(table.column("earnings"))
        kept = [
            (day[:7], value)
            for day, value in zip(table.days(), values, strict=True)
            if int(day[5:7]) % 3 == 0 and value != 0
        ]
        days = [subtract_days(f"{add_months(month, 1)}-01", 1) for month, _ in kept]
        available = [second_at(add_four_months(day), "00:00", NEW_YORK) for day in days]
        return make_value_rows("csv:shiller_monthly", days, [value for _, value in kept], available)

    def vintages(self, series: str) -> Rows:
        """Return every vintage of a revised series."""
        table = self.table("rtdsm_asof")
        names, vintages, days = table.column("series"), table.column("vintage"), table.column("obs")
        values = self._published()
        kept = [place for place, name in enumerate(names) if name == series]
        if not kept:
            raise SourceError(f"{table.name} has no series {series}")
        return make_value_rows(
            "csv:rtdsm_asof",
            [f"{days[place][:7]}-01" for place in kept],
            [values[place] for place in kept],
            [second_at(last_weekday_of_month(vintages[place][:7]), "16:00", NEW_YORK) for place in kept],
            [vintages[place] for place in kept],
        )

    def rate(self, stem: str, column: str) -> Rows:
        """Return a daily rate in per cent, known on the next weekday."""
        table = self.table(stem)
        days = table.days()
        values, _ = parse_numbers(table.column(column, "value", "close"))
        available = [second_at(next_weekday(day), "16:00", NEW_YORK) for day in days]
        return make_value_rows(f"csv:{table.name.split('.')[0]}", days, values, available)


def add_four_months(day: str) -> str:
    """Return the same day four months later, or that month's last."""
    month = add_months(day[:7], 4)
    last = subtract_days(f"{add_months(month, 1)}-01", 1)
    return min(f"{month}{day[7:]}", last)
