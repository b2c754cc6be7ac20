"""The commands of ``disputatio``, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from disputatio._cli.afterwards import outcome, sign_off
from disputatio._cli.assistants import mcp
from disputatio._cli.checking import check_fallacies, check_judge
from disputatio._cli.critic import check_critic
from disputatio._cli.debating import debate, resume
from disputatio._cli.dossier import dossier
from disputatio._cli.evaluating import evaluate
from disputatio._cli.gating import gate
from disputatio._cli.importing import import_files
from disputatio._cli.keys import keys
from disputatio._cli.market import market
from disputatio._cli.market_options import market_rules
from disputatio._cli.match_options import topics
from disputatio._cli.measuring import metrics
from disputatio._cli.reading import list_debates, show, verify
from disputatio._cli.serving import serve
from disputatio._cli.setup import doctor, models
from disputatio._cli.tournament import tournament
from disputatio._cli.working import cancel, enqueue, limits, list_queue, worker

_EPILOG = (
    "Exit codes: 0 complete, 2 invalid input, 3 truncated at a ceiling, 4 seats missing, 5 provider failure, "
    "6 failed verification, 7 store failure, 8 judge worse than its baseline, 9 a threshold passed, 130 interrupted."
)

app = typer.Typer(
    name="disputatio",
    help=(
        "Structured debate between AI models, with rules kept by code and a record that verifies.\n\n"
        'Start with: disputatio debate "We should adopt microservices"'
    ),
    epilog=_EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("debate")(debate)
app.command("resume")(resume)
app.command("list")(list_debates)
app.command("show")(show)
app.command("verify")(verify)
app.command("outcome")(outcome)
app.command("sign-off")(sign_off)
app.command("dossier")(dossier)
app.command("metrics")(metrics)
app.command("import")(import_files)
app.command("gate")(gate)
app.command("models")(models)
app.command("topics")(topics)
market.command("rules")(market_rules)
app.add_typer(market)
app.command("doctor")(doctor)
app.command("tournament")(tournament)
app.command("check-judge")(check_judge)
app.command("check-critic")(check_critic)
app.command("check-fallacies")(check_fallacies)
app.command("eval")(evaluate)
app.command("serve")(serve)
app.add_typer(keys, name="keys")
app.command("worker")(worker)
app.command("enqueue")(enqueue)
app.command("queue")(list_queue)
app.command("cancel")(cancel)
app.command("limits")(limits)
app.command("mcp")(mcp)


def _version(value: bool) -> None:  # noqa: FBT001  (the signature Typer calls)
    if value:
        from importlib.metadata import version

        typer.echo(f"disputatio {version('disputatio')}")
        raise typer.Exit


_VERSION = typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version.")


@app.callback()
def _options(version: Annotated[bool, _VERSION] = False) -> None:
    """What comes before a command."""
