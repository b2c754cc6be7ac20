"""Writes the reference of the tables from their declaration: ``python -m disputatio.results.reference`` prints it."""

from __future__ import annotations

import sys

from disputatio.results.frames import DTYPES
from disputatio.results.tables import TABLES, ColumnType, Table

_PARQUET = {
    ColumnType.TEXT: "string",
    ColumnType.INTEGER: "int64",
    ColumnType.NUMBER: "double",
    ColumnType.FLAG: "bool",
    ColumnType.TIME: "timestamp[us, UTC]",
}
_CSV = {
    ColumnType.TEXT: "in quotation marks",
    ColumnType.INTEGER: "digits",
    ColumnType.NUMBER: "digits with a point",
    ColumnType.FLAG: "`true` or `false`",
    ColumnType.TIME: "`2026-01-31T12:00:00.000000Z`",
}
_BEGINNING = """\
# The tables of debates

A debate has eight tables. `result.to_frame("arguments")` gives one of them for one debate, and
`disputatio export FOLDER --as parquet` writes all of them for a whole store. Both have the same columns and rows. The
first column of every table is the id of the debate, so tables join by `debate`.

[Results in Python](../how-to/results.md) shows how to use them. `make reference` writes this page.

## Types

| type | pandas | Parquet | CSV |
|---|---|---|---|
"""
_MISSING = """
Every column can be missing, and a missing value is never 0 and never an empty text. pandas shows `<NA>` or `NaT`,
Parquet has a null, and CSV has nothing between two commas. Where a value can be missing for several reasons, a column
beside it (`state`, `score_state`, `usd_complete`) says which.

Money is a floating-point number with about 15 exact digits. The record and `result.cost` keep exact decimal numbers.

Texts are the words of participants and users, without control characters. Treat them as data: a program that puts them
on a page must escape them. In CSV, a text that begins with `=`, `+`, `-` or `@` has an apostrophe before it, so that no
spreadsheet runs it. The Parquet files have every text as it is.
"""


def reference() -> str:
    """The whole page."""
    types = [f"| {row.value} | `{DTYPES[row]}` | `{_PARQUET[row]}` | {_CSV[row]} |" for row in ColumnType]
    return "\n".join([_BEGINNING + "\n".join(types), _MISSING, *map(_section, TABLES.values())])


def _section(table: Table) -> str:
    rows = [f"| `{row.name}` | {row.type.value} | {row.about} |" for row in table.columns]
    return "\n".join([f"## {table.name}", "", table.row, "", "| column | type | holds |", "|---|---|---|", *rows, ""])


def main() -> None:
    """Print the reference."""
    sys.stdout.write(reference())


if __name__ == "__main__":
    main()
