"""``disputatio metrics`` and ``export``: figures and tables of all debates in a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.arguments import make_arguments
from disputatio._cli.options import StoreOption, takes
from disputatio._cli.stores import open_store, refuse_memory_store, store_address
from disputatio._cli.streams import print_json, print_lines
from disputatio.errors import ExitCode, InvalidInputError, StoreError, VerificationError
from disputatio.errors.quoting import name_some, quote

if TYPE_CHECKING:
    from disputatio.record.sql import SqlStore
    from disputatio.results.writing import TableWriter


SinceOption = Annotated[
    str | None, typer.Option("--since", metavar="DATE", help="Only debates from this day on, such as 2026-01-31.")
]
FormatNameOption = Annotated[
    str | None, typer.Option("--format", "-f", metavar="NAME", help="Only debates of this format.")
]


@takes("config", "set", "store")
def metrics(
    since: SinceOption = None,
    format_name: FormatNameOption = None,
    task_type: Annotated[
        str | None, typer.Option("--task-type", metavar="TYPE", help="Only debates about this kind of decision.")
    ] = None,
    alert: Annotated[
        bool, typer.Option("--alert", metavar="", help="Exit with code 9 if a figure passes its threshold.")
    ] = False,
    reread: Annotated[
        bool,
        typer.Option(
            "--reread", metavar="", help="Read and verify every record instead of using the summaries in the store."
        ),
    ] = False,
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print the figures as JSON.")] = False,
    **given: Any,
) -> None:
    """Show figures of all debates in the store: challenge strength, confidence, costs, agreement, tilt, failures.

    Thresholds are configuration keys, such as --set metrics.cost_ratio=2.
    """
    from disputatio.config.process import configured_store
    from disputatio.metrics.collecting import Selection, collect
    from disputatio.metrics.figures import figures_json
    from disputatio.metrics.report import find_alerts, render_figures

    selection = Selection(since, format_name, task_type)
    settings = configured_store(make_arguments(**given))
    refuse_memory_store(settings.store)
    with open_store(settings.store) as opened:
        figures = collect(opened, selection, rereads=reread)
    alerts = find_alerts(figures, settings.metrics)
    if json_:
        chosen = {"since": since, "format": format_name, "task_type": task_type}
        print_json({**figures_json(figures, chosen), "alerts": [row.as_json() for row in alerts]})
    else:
        print_lines("\n".join(render_figures(figures, alerts)))
    if alert and alerts:
        raise typer.Exit(int(ExitCode.ALERT))


def export(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder for the files. It is made if necessary.")
    ],
    as_: Annotated[str, typer.Option("--as", metavar="KIND", help="parquet or csv.")] = "parquet",
    since: SinceOption = None,
    format_name: FormatNameOption = None,
    replace: Annotated[
        bool, typer.Option("--replace", metavar="", help="Replace the files of an earlier export.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Write the debates of the store as tables: debates, turns, arguments, scores, votes, citations, doubts, calls.

    Each table is one file whose first column is the debate's id. Every record is verified. Altered records are left
    out: the command names them and ends with exit code 6.
    """
    from disputatio.formats.registry import FORMATS
    from disputatio.metrics.collecting import Selection
    from disputatio.report.amounts import counted
    from disputatio.results.writing import FileKind, TableWriter

    if as_ not in list(FileKind):
        raise InvalidInputError(f"--as {quote(as_)} is not a kind of file.", "Give parquet or csv.")
    selection = Selection(since, format_name)
    with open_store(store_address(store)) as opened:
        with TableWriter(folder, FileKind(as_), replace=replace) as writer:
            left_out = _write(opened, selection.since or "", format_name, writer)
            if not writer.debates and format_name is not None and format_name not in FORMATS:
                raise InvalidInputError(
                    f"There is no format called {quote(format_name)}.", f"Formats are: {', '.join(sorted(FORMATS))}."
                )
        print_lines(
            "\n".join(f"{writer.path(name)}: {counted(number, 'row')}" for name, number in writer.rows.items()),
        )
    if left_out:
        first = next(iter(left_out.values()))
        raise VerificationError(f"Left out: {name_some(list(left_out))}. {first.cause}", first.next_step)


def _write(
    store: SqlStore, since: str, format_name: str | None, writer: TableWriter
) -> dict[str, VerificationError | StoreError]:
    """Write every debate, and return why some could not be read or verified, by their ids."""
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
            # The record was altered or is of a newer version. If the store itself failed, this read fails too.
            store.row(row.id)
            left_out[row.id] = error
    return left_out
