"""All data of one source of market data, read once: the whole past and future of every series, and daily closes.

Knowledge bases are built through views that the archive cuts at a moment, like those of any other source. Whole series
of prices and the VIX are only for labels and benchmarks, never for anything that argues. An archive is plain data, so
it can be sent to another process.

`mirror_prices` exchanges up and down by reflecting every price in its log returns: a close p becomes c² / p, where c is
the first close of the series. Highs become lows. Other series (volumes, the VIX, rates, the economy) stay, and earnings
are left out since a reflected price has none. A lens that reads prices must change its mind; others are exposed.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from disputatio.errors import InvalidInputError
from disputatio.market.sources.builder import require_numpy
from disputatio.market.sources.errors import SourceError
from disputatio.market.sources.port import Catalogue, StoredSources, View
from disputatio.market.sources.rows import Rows
from disputatio.market.sources.series_catalogue import US

_DAY, _CLOSE = ("date",), ("close", "adj close")


@dataclass(frozen=True, slots=True)
class PriceSeries:
    """Closes by day, in rising order; days without a price are missing.

    Raises:
        InvalidInputError: days do not rise, or a price is not above zero.
    """

    name: str
    days: tuple[date, ...]
    closes: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.days) != len(self.closes) or any(a >= b for a, b in pairwise(self.days)):
            raise InvalidInputError(f"The days of {self.name} do not rise.", "Sort them, and give each once.")
        if any(not close > 0 for close in self.closes):
            raise InvalidInputError(f"{self.name} has a close that is not above zero.", "Leave missing days out.")

    def place(self, day: date) -> int | None:
        """The index of the last session on or before ``day``; None before the first."""
        found = bisect_right(self.days, day) - 1
        return found if found >= 0 else None

    def until(self, day: date) -> PriceSeries:
        """The series as known on the evening of ``day``."""
        cut = bisect_right(self.days, day)
        return PriceSeries(self.name, self.days[:cut], self.closes[:cut])

    def month_ends(self) -> tuple[date, ...]:
        """The last session of each month; that of the last month only if the series continues after it."""
        return self.ends("month_end")

    def ends(self, dates: str) -> tuple[date, ...]:
        """The last session of each week, month or quarter (``week_end`` and so on), like `month_ends`."""
        period = _PERIODS[dates]
        return tuple(one for one, other in pairwise(self.days) if period(one) != period(other))

    def followed_by(self, later: PriceSeries) -> PriceSeries:
        """Join two series; where both have a day, the first wins."""
        known = set(self.days)
        more = [(day, close) for day, close in zip(later.days, later.closes, strict=True) if day not in known]
        rows = sorted([*zip(self.days, self.closes, strict=True), *more])
        return PriceSeries(self.name, tuple(day for day, _ in rows), tuple(close for _, close in rows))


_PERIODS: Mapping[str, Callable[[date], tuple[int, int]]] = {
    "week_end": lambda day: day.isocalendar()[:2],
    "month_end": lambda day: (day.year, day.month),
    "quarter_end": lambda day: (day.year, (day.month - 1) // 3),
}


def read_prices(path: Path, name: str | None = None, column: str | None = None) -> PriceSeries:
    """Read a CSV file with a column of days and one of closes, in any case; empty cells are left out.

    Raises:
        InvalidInputError: it cannot be read, or lacks a column.
    """
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise InvalidInputError(
            f"{path} cannot be read: {type(error).__name__}.", "Give a CSV file, .gz or not."
        ) from None
    rows = list(csv.DictReader(io.StringIO(text)))
    heads = list(rows[0]) if rows else []
    day = _head(heads, _DAY)
    close = column or _head(heads, _CLOSE)
    if day is None or close not in heads:
        raise InvalidInputError(f"{path} lacks a column of {'days' if day is None else 'closes'}.", f"It has: {heads}.")
    found = [(date.fromisoformat(row[day][:10]), float(row[close])) for row in rows if (row[close] or "").strip()]
    return PriceSeries(name or path.stem, tuple(one for one, _ in found), tuple(other for _, other in found))


def _head(heads: Sequence[str], wanted: Sequence[str]) -> str | None:
    return next((head for head in heads if head.strip().casefold() in wanted), None)


VIX = "vix"


@dataclass(frozen=True)
class Archive:
    """Every row of a source, by series.

    Attributes:
        name: of the source.
        catalogue: which series there may be.
        rows: by key, ordered by the moment each row became known.
        failed: why a series could not be read.
    """

    name: str
    catalogue: Catalogue
    rows: Mapping[str, Rows]
    failed: Mapping[str, str] = field(default_factory=dict)

    def at(self, cut: int, day: str) -> View:  # noqa: ARG002  (the port's signature)
        """The view of what was known at ``cut``."""
        return _ArchiveView(self, cut)

    def changed(self, change: Callable[[str, Rows], Rows | None]) -> Archive:
        """Return the archive with changed rows; series that become None are removed."""
        found = {key: change(key, rows) for key, rows in self.rows.items()}
        return replace(self, rows={key: rows for key, rows in found.items() if rows is not None})

    @cached_property
    def digest(self) -> str:
        """SHA-256 of every row, whatever file it came from, and of an unusual subject."""
        found = hashlib.sha256()
        # The packaged catalogue adds nothing to the hash, so records of earlier versions are found.
        if self.catalogue.subject != US.subject:
            found.update(f"subject {self.catalogue.subject}\n".encode())
        usual = {**US.indices, **US.sectors}
        for key, name in (*self.catalogue.indices.items(), *self.catalogue.sectors.items()):
            if usual.get(key) != name:
                found.update(f"{key} is {name}\n".encode())
        for key in sorted(self.rows):
            rows = self.rows[key]
            found.update(f"{key}\n{rows.source}\n".encode())
            found.update(rows.days.astype("S10").tobytes())
            found.update(rows.available.tobytes())
            for name in sorted(rows.columns):
                found.update(name.encode() + rows.columns[name].tobytes())
            if rows.vintages is not None:
                found.update(rows.vintages.astype("S10").tobytes())
        return found.hexdigest()

    def closes(self, key: str) -> PriceSeries | None:
        """All closes of a series; None if the archive lacks it."""
        rows = self.rows.get(key)
        if rows is None or rows.is_empty:
            return None
        days = tuple(date.fromisoformat(day) for day in rows.days.tolist())
        return PriceSeries(key.rpartition(":")[2], days, tuple(rows.columns["close"].tolist()))

    def prices(self) -> PriceSeries:
        """The closes of the debated index.

        Raises:
            InvalidInputError: there are none.
        """
        found = self.closes(f"index:{self.catalogue.subject}")
        if found is None:
            raise InvalidInputError(
                f"{self.name} has no prices of {self.catalogue.subject}.", "Give a folder that has them with --data."
            )
        return found

    def vix(self) -> PriceSeries | None:
        """The closes of the VIX."""
        return self.closes(VIX)


@dataclass(frozen=True, slots=True)
class _ArchiveView:
    archive: Archive
    cut: int

    def rows(self, key: str) -> Rows | None:
        if key in self.archive.failed:
            raise SourceError(self.archive.failed[key])
        whole = self.archive.rows.get(key)
        return None if whole is None else whole.until(self.cut)


def open_archive(folder: Path | None = None, subject: str = US.subject) -> Archive:
    """Read a folder of CSV files as ``market build`` does, or the data of installed packages.

    Args:
        folder: the folder; None for installed packages.
        subject: the key of what is debated; installed packages only have the S&P 500.

    Raises:
        InvalidInputError: there is no such folder, or no series of prices.
    """
    require_numpy()
    if folder is None:
        from disputatio.market.sources.packages import open_installed_packages

        return read_archive(open_installed_packages())
    from disputatio.market.sources.csv_folder import open_csv_folder

    return read_archive(open_csv_folder(folder.expanduser(), subject))


def read_archive(shelf: StoredSources) -> Archive:
    """Read everything on ``shelf`` now."""
    rows: dict[str, Rows] = {}
    failed: dict[str, str] = {}
    for key in shelf.readers:
        try:
            found = shelf.whole(key)
        except SourceError as error:
            failed[key] = str(error)
            continue
        if found is not None:
            # Plain mappings, since read-only ones cannot be sent to another process.
            rows[key] = replace(found, columns=dict(found.columns))
    catalogue = shelf.catalogue
    plain = replace(catalogue, indices=dict(catalogue.indices), sectors=dict(catalogue.sectors))
    return Archive(shelf.name, plain, rows, failed)


_OPPOSITE = {"open": "open", "high": "low", "low": "high", "close": "close"}
_PRICES = ("index:", "sector:")


def mirror_prices(archive: Archive) -> Archive:
    """Return ``archive`` with every price reflected; its name says so."""
    changed = archive.changed(_reflected)
    return Archive(f"{archive.name}:mirrored", changed.catalogue, changed.rows, changed.failed)


def _reflected(key: str, rows: Rows) -> Rows | None:
    if key == "earnings":
        return None
    if not key.startswith(_PRICES) or rows.is_empty:
        return rows
    square = float(rows.columns["close"][0]) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = {
            name: square / rows.columns[_OPPOSITE[name]] if _OPPOSITE.get(name) in rows.columns else values
            for name, values in rows.columns.items()
        }
    return Rows(rows.source, rows.days, rows.available, columns, rows.vintages, rows.warnings)
