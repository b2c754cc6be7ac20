"""``disputatio metrics`` and ``export``: figures and tables over the debates of a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.given import check_kept, command_line, kept_store
from disputatio._cli.kept import reading
from disputatio._cli.options import StoreOption, takes
from disputatio._cli.streams import print_json, print_lines
from disputatio.errors import ExitCode, InvalidInputError, StoreError, VerificationError
from disputatio.errors.quoting import quote

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
        bool, typer.Option("--alert", metavar="", help="Leave with exit code 9 where a threshold is passed.")
    ] = False,
    reread: Annotated[
        bool,
        typer.Option(
            "--reread", metavar="", help="Read every record and check its chain, whatever the store keeps of it."
        ),
    ] = False,
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print the figures as JSON.")] = False,
    **given: Any,
) -> None:
    """Count over the store: challenge strength, confidence, cost against its estimate, agreement, tilt, failures.

    The thresholds are the keys under metrics of the configuration: --set metrics.cost_ratio=2.
    """
    from disputatio.config.process import configured_store
    from disputatio.metrics.collecting import Selection, collect
    from disputatio.metrics.figures import figures_json
    from disputatio.metrics.report import find_alerts, render_figures

    selection = Selection(since, format_name, task_type)
    settings = configured_store(command_line(**given))
    check_kept(settings)
    with reading(settings.store) as opened:
        figures = collect(opened, selection, rereads=reread)
    alerts = find_alerts(figures, settings.metrics)
    if json_:
        chosen = {"since": since, "format": format_name, "task_type": task_type}
        print_json({**figures_json(figures, chosen), "alerts": [row.as_json() for row in alerts]})
    else:
        print_lines("\n".join(render_figures(figures, alerts)))
    if alert and alerts:
        raise typer.Exit(int(ExitCode.ALERT))


_MOST_NAMED = 5


def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go; made where it is not there.")],
    as_: Annotated[str, typer.Option("--as", metavar="KIND", help="parquet or csv.")] = "parquet",
    since: SinceOption = None,
    format_name: FormatNameOption = None,
    replace: Annotated[
        bool, typer.Option("--replace", metavar="", help="Replace the files of an earlier export.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Write the debates of the store as tables: debates, turns, arguments, scores, votes, citations, doubts, calls.

    One file is written for each table. The debate's id is the first column of each. One debate is in memory at a time,
    and the chain of each is checked: a record that was altered is left out and named, with exit code 6.
    """
    from disputatio.formats.registry import FORMATS
    from disputatio.metrics.collecting import Selection
    from disputatio.report.amounts import counted
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
            "\n".join(f"{writer.path(name)}: {counted(number, 'row')}" for name, number in writer.rows.items()),
        )
    if left_out:
        names = ", ".join(list(left_out)[:_MOST_NAMED])
        more = f" and {len(left_out) - _MOST_NAMED} more" if len(left_out) > _MOST_NAMED else ""
        first = next(iter(left_out.values()))
        raise VerificationError(f"Left out: {names}{more}. {first.cause}", first.next_step)


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
