"""``disputatio export``: the debates of a store as tables, one file for each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.given import kept_store
from disputatio._cli.options import StoreOption
from disputatio._cli.streams import print_lines
from disputatio.errors import InvalidInputError, StoreError, VerificationError
from disputatio.errors.quoting import quote

if TYPE_CHECKING:
    from disputatio.record.sql import SqlStore
    from disputatio.results.writing import TableWriter

_MOST_NAMED = 5


def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go; made where it is not there.")],
    as_: Annotated[str, typer.Option("--as", metavar="KIND", help="parquet or csv.")] = "parquet",
    since: Annotated[
        str | None, typer.Option("--since", metavar="DATE", help="Only debates from this day on, such as 2026-01-31.")
    ] = None,
    format_name: Annotated[
        str | None, typer.Option("--format", "-f", metavar="NAME", help="Only debates of this format.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", metavar="", help="Replace the files of an earlier export.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Write the debates of the store as tables: debates, turns, arguments, scores, votes, citations, doubts, calls.

    One file is written for each table. The debate's id is the first column of each. One debate is in memory at a time,
    and the chain of each is checked: a record that was altered is left out and named, with exit code 6.
    """
    from disputatio._cli.kept import reading
    from disputatio.formats.registry import FORMATS
    from disputatio.metrics.collecting import Selection
    from disputatio.results.writing import FileKind, TableWriter

    if as_ not in list(FileKind):
        raise InvalidInputError(f"--as {quote(as_)} is no kind of file.", "Give parquet or csv.")
    selection = Selection(since, format_name)
    with reading(kept_store(store)) as opened:
        with TableWriter(folder, FileKind(as_), replace=replace) as writer:
            left_out = _write(opened, selection.since or "", format_name, writer)
            if not writer.debates and format_name is not None and format_name not in FORMATS:
                raise InvalidInputError(
                    f"There is no format called {quote(format_name)}.", f"Formats are: {', '.join(sorted(FORMATS))}."
                )
        print_lines(
            "\n".join(f"{writer.path(name)}: {_rows(number)}" for name, number in writer.rows.items()),
        )
    if left_out:
        names = ", ".join(list(left_out)[:_MOST_NAMED])
        more = f" and {len(left_out) - _MOST_NAMED} more" if len(left_out) > _MOST_NAMED else ""
        first = next(iter(left_out.values()))
        raise VerificationError(f"Left out: {names}{more}. {first.cause}", first.next_step)


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


def _write(
    store: SqlStore, since: str, format_name: str | None, writer: TableWriter
) -> dict[str, VerificationError | StoreError]:
    """Write every debate; those that cannot be read or were altered are given back, with the reason."""
    from disputatio.record.verified import read_verified
    from disputatio.report.reading import DebateReport
    from disputatio.results import Result

    left_out: dict[str, VerificationError | StoreError] = {}
    for row in store.debates_in_order(since):
        if format_name not in {None, row.format}:
            continue
        try:
            writer.add(Result(DebateReport.of(row.id, read_verified(store, row.id))))
        except (VerificationError, StoreError) as error:
            # An altered record, or one of a newer version. If the store itself fails, it fails here again.
            store.row(row.id)
            left_out[row.id] = error
    return left_out
