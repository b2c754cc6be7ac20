"""Writes tables as files, a part after another, so that the memory it takes does not grow with the store.

All files of an export appear together: each is written under a name of its own, and renamed when all are whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from disputatio.errors import InvalidInputError
from disputatio.results.frames import INSTALL
from disputatio.results.result import Result
from disputatio.results.tables import TABLES, Column, ColumnType, Table

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

_MOST_ROWS, _MOST_CHARACTERS = 20_000, 4_000_000
"""A part of a table is written when it has so many rows, or its texts so many characters."""
_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")


class FileKind(StrEnum):
    """The kind of files that an export writes."""

    PARQUET = "parquet"
    CSV = "csv"


class _TableFile(Protocol):
    """One file that is being written."""

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Append rows."""

    def close(self) -> None:
        """Finish the file."""


class _CsvFile:
    """A file with a head, texts in quotation marks, and nothing between two commas where a value is missing."""

    def __init__(self, path: Path, table: Table) -> None:
        self._columns = table.columns
        self._file = path.open("w", encoding="utf-8", newline="")
        self._file.write(",".join(row.name for row in table.columns) + "\n")

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        lines = (",".join(map(_cell, self._columns, row)) for row in rows)
        self._file.writelines(f"{line}\n" for line in lines)

    def close(self) -> None:
        self._file.close()


def _cell(column: Column, value: Any) -> str:
    if value is None:
        return ""
    if column.type is ColumnType.FLAG:
        return "true" if value else "false"
    if column.type is ColumnType.TEXT:
        text = f"'{value}" if value.startswith(_RUN_BY_SPREADSHEETS) else value
        return '"{}"'.format(text.replace('"', '""'))
    return str(value)


class _ParquetFile:
    """A file with a row group for each part. Its metadata describes each column."""

    def __init__(self, path: Path, table: Table) -> None:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter  # type: ignore[import-untyped]

        kinds = {
            ColumnType.TEXT: pa.string(),
            ColumnType.INTEGER: pa.int64(),
            ColumnType.NUMBER: pa.float64(),
            ColumnType.FLAG: pa.bool_(),
            ColumnType.TIME: pa.timestamp("us", "UTC"),
        }
        self._columns = table.columns
        self._schema: pa.Schema = pa.schema(
            [pa.field(row.name, kinds[row.type], metadata={"about": row.about}) for row in table.columns]
        )
        self._writer = ParquetWriter(path, self._schema, compression="zstd")

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        import pyarrow as pa

        arrays = [
            pa.array([_stored(column, row[place]) for row in rows], self._schema.field(place).type)
            for place, column in enumerate(self._columns)
        ]
        self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


def _stored(column: Column, value: Any) -> Any:
    return datetime.fromisoformat(value) if column.type is ColumnType.TIME and value is not None else value


_FILES: Final[dict[FileKind, Callable[[Path, Table], _TableFile]]] = {
    FileKind.PARQUET: _ParquetFile,
    FileKind.CSV: _CsvFile,
}


class TableWriter:
    """Takes results one after another and writes a file for each table; a context manager.

    Left without an error, all files get their names; else nothing is left behind.

    Args:
        folder: where the files go; made where it is not there.
        kind: what files.
        replace: whether files of an earlier export may be replaced.

    Raises:
        InvalidInputError: the folder cannot be written to, a file is there already, or pyarrow is not installed.
    """

    def __init__(self, folder: Path, kind: FileKind, *, replace: bool = False) -> None:
        self._folder, self._kind, self._replace = folder, kind, replace
        self._files: dict[str, _TableFile] = {}
        self._waiting: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
        self._characters = dict.fromkeys(TABLES, 0)
        self.rows = dict.fromkeys(TABLES, 0)
        """How many rows are written to each table."""
        self.debates = 0
        """How many debates were added."""

    def path(self, table: str) -> Path:
        """The file of a table."""
        return self._folder / f"{table}.{self._kind.value}"

    def __enter__(self) -> TableWriter:
        if self._kind is FileKind.PARQUET:
            _check_pyarrow()
        there = [self.path(name).name for name in TABLES if self.path(name).exists()]
        if there and not self._replace:
            raise InvalidInputError(
                f"{self._folder} already has {', '.join(there)}.", "Name another folder, or replace them: --replace."
            )
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for name, table in TABLES.items():
                self._files[name] = _FILES[self._kind](self._part(name), table)
        except OSError as error:
            self._leave_nothing()
            raise _not_written(self._folder, error) from error
        return self

    def add(self, result: Result) -> None:
        """Write the rows of one debate.

        Raises:
            InvalidInputError: the file cannot be written.
        """
        # All of them first: what cannot be read of a debate must not leave half of it behind.
        found = {name: list(table.rows(result)) for name, table in TABLES.items()}
        self.debates += 1
        for name, rows in found.items():
            self._waiting[name] += rows
            self._characters[name] += sum(_characters(rows))
            if len(self._waiting[name]) >= _MOST_ROWS or self._characters[name] >= _MOST_CHARACTERS:
                self._write(name)

    def _write(self, name: str) -> None:
        rows = self._waiting[name]
        self._waiting[name], self._characters[name] = [], 0
        try:
            for start in range(0, len(rows), _MOST_ROWS):
                self._files[name].write(rows[start : start + _MOST_ROWS])
        except OSError as error:
            raise _not_written(self._folder, error) from error
        self.rows[name] += len(rows)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._leave_nothing()
            return
        try:
            for name in TABLES:
                self._write(name)
            self._close()
            for name in TABLES:
                os.replace(self._part(name), self.path(name))  # noqa: PTH105  (over a file that is there)
        except OSError as error:
            self._leave_nothing()
            raise _not_written(self._folder, error) from error

    def _part(self, name: str) -> Path:
        return self._folder / f".{name}.{self._kind.value}.part"

    def _close(self) -> None:
        with ExitStack() as closing:
            for file in self._files.values():
                closing.callback(file.close)

    def _leave_nothing(self) -> None:
        try:
            self._close()
        except OSError:
            # The disk is full: what is to be taken away is taken away all the same.
            pass
        finally:
            for name in self._files:
                self._part(name).unlink(missing_ok=True)


def _characters(rows: Iterable[tuple[Any, ...]]) -> Iterable[int]:
    return (len(value) for row in rows for value in row if isinstance(value, str))


def _check_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise InvalidInputError(
            "Parquet files need pyarrow, which is not installed.", f"{INSTALL} CSV files need nothing: --as csv."
        ) from error


def _not_written(folder: Path, error: OSError) -> InvalidInputError:
    return InvalidInputError(
        f"The tables cannot be written to {folder}: {error.strerror or error}.", "Name another folder."
    )
