"""``disputatio metrics``: what the debates of the store come to, and whether a threshold is passed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from disputatio._cli.given import check_kept, command_line
from disputatio._cli.kept import reading
from disputatio._cli.options import takes
from disputatio._cli.streams import print_json, print_lines
from disputatio.errors import ExitCode


@takes("config", "set", "store")
def metrics(
    since: Annotated[
        str | None, typer.Option("--since", metavar="DATE", help="Only debates from this day on, such as 2026-01-31.")
    ] = None,
    format_name: Annotated[
        str | None, typer.Option("--format", "-f", metavar="NAME", help="Only debates of this format.")
    ] = None,
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
