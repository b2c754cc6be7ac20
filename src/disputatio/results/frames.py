"""Tables of debates as pandas data frames. Every column has one type, whatever the debates have in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from disputatio.errors import InvalidInputError
from disputatio.results.result import Result
from disputatio.results.tables import ColumnType, TableName, table_called

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

INSTALL = "Install it: pip install 'disputatio[frames]'."
DTYPES: dict[ColumnType, Any] = {
    ColumnType.TEXT: "string",
    ColumnType.INTEGER: "Int64",
    ColumnType.NUMBER: "Float64",
    ColumnType.FLAG: "boolean",
    ColumnType.TIME: "datetime64[us, UTC]",
}
"""The types of pandas that allow a missing value; a time has NaT."""


def frame_of(results: Iterable[Result], table: TableName) -> DataFrame:
    """The rows of ``results`` in a table, one after another.

    Raises:
        InvalidInputError: there is no such table, or pandas is not installed.
    """
    chosen = table_called(table)
    try:
        from pandas import DataFrame, Series, to_datetime
    except ImportError as error:
        raise InvalidInputError("A data frame needs pandas, which is not installed.", INSTALL) from error
    rows = [row for result in results for row in chosen.rows(result)]
    columns = {}
    for place, column in enumerate(chosen.columns):
        values = Series([row[place] for row in rows], dtype="object")
        if column.type is ColumnType.TIME:
            values = to_datetime(values, utc=True)
        columns[column.name] = values.astype(DTYPES[column.type])
    return DataFrame(columns)
