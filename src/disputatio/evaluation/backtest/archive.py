"""All that one source of market data has, read once: the whole past and the whole future of every series.

Knowledge bases are built through views that an archive cuts at a moment, as those of any other source. Prices and the
VIX are also handed out whole, to make labels and benchmarks of: that is for the scoring of a backtest and for nothing
that argues. An archive is plain data, so that it can be given to another process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path

from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.prices import PriceSeries
from disputatio.market.sources.builder import needs_extra
from disputatio.market.sources.errors import SourceError
from disputatio.market.sources.port import Catalogue, Shelf, View
from disputatio.market.sources.rows import Rows
from disputatio.market.sources.series_catalogue import US

VIX = "vix"


@dataclass(frozen=True)
class Archive:
    """Every row of a source, by series.

    Attributes:
        name: of the source.
        catalogue: what there may be.
        rows: by key, ordered by the moment from which on each could be known.
        failed: why a series that should be there could not be read.
    """

    name: str
    catalogue: Catalogue
    rows: Mapping[str, Rows]
    failed: Mapping[str, str] = field(default_factory=dict)

    def at(self, cut: int, day: str) -> View:  # noqa: ARG002  (the port's signature)
        """What was known at ``cut``."""
        return _ArchiveView(self, cut)

    def changed(self, change: Callable[[str, Rows], Rows | None]) -> Archive:
        """The same archive with other rows; a series that becomes None is not kept."""
        found = {key: change(key, rows) for key, rows in self.rows.items()}
        return replace(self, rows={key: rows for key, rows in found.items() if rows is not None})

    @cached_property
    def digest(self) -> str:
        """SHA-256 of every row, whatever file it came from, and of a subject that is not the usual one."""
        found = hashlib.sha256()
        # What the packaged catalogue has adds nothing, so that records of earlier versions are found.
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
        """The closes of a series from its first day to its last; None where it is not kept."""
        rows = self.rows.get(key)
        if rows is None or rows.is_empty:
            return None
        days = tuple(date.fromisoformat(day) for day in rows.days.tolist())
        return PriceSeries(key.rpartition(":")[2], days, tuple(rows.columns["close"].tolist()))

    def prices(self) -> PriceSeries:
        """The closes of the index that is debated.

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
    """Everything in a folder of CSV files as ``market build`` knows them; what installed packages bring for None.

    Args:
        folder: where the files are.
        subject: the key of what is debated; of what packages bring it is the S&P 500 alone.

    Raises:
        InvalidInputError: there is no such folder, or no series of prices.
    """
    needs_extra()
    if folder is None:
        from disputatio.market.sources.packages import installed_packages

        return archive_of(installed_packages())
    from disputatio.market.sources.csv_folder import csv_folder

    return archive_of(csv_folder(folder.expanduser(), subject))


def archive_of(shelf: Shelf) -> Archive:
    """Everything on ``shelf``, read now."""
    rows: dict[str, Rows] = {}
    failed: dict[str, str] = {}
    for key in shelf.readers:
        try:
            found = shelf.whole(key)
        except SourceError as error:
            failed[key] = str(error)
            continue
        if found is not None:
            # Plain mappings: those that cannot be changed cannot be sent to another process either.
            rows[key] = replace(found, columns=dict(found.columns))
    catalogue = shelf.catalogue
    plain = replace(catalogue, indices=dict(catalogue.indices), sectors=dict(catalogue.sectors))
    return Archive(shelf.name, plain, rows, failed)
