"""``disputatio``: the commands, and what every one of them does with a failure.

Exit codes are in ``disputatio.failures.ExitCode`` and in the reference. No traceback reaches a user; set
``DISPUTATIO_DEBUG=1`` to see one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

from disputatio._cli.debating import debate, resume
from disputatio._cli.reading import list_debates, show, verify
from disputatio._cli.setup import doctor, models
from disputatio.failures import DisputatioError, ExitCode

_EPILOG = (
    "Exit codes: 0 complete, 2 invalid input, 3 truncated at a ceiling, 4 seats missing, 5 provider failure, "
    "6 failed verification, 7 store failure, 130 interrupted."
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
app.command("models")(models)
app.command("doctor")(doctor)


def _version(value: bool) -> None:  # noqa: FBT001  (the signature Typer calls)
    if value:
        from importlib.metadata import version

        typer.echo(f"disputatio {version('disputatio')}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),  # noqa: FBT001
) -> None:
    """What comes before a command."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code."""
    try:
        app(args=None if arguments is None else list(arguments))
    except DisputatioError as failure:
        _say(failure.cause, failure.next_step)
        sys.exit(failure.exit_code)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has left; nothing is lost, the record is written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitCode.COMPLETE)
    except Exception as error:
        if os.environ.get("DISPUTATIO_DEBUG"):
            raise
        _say(
            f"Something went wrong inside disputatio: {type(error).__name__}: {str(error)[:200]}",
            "This is a bug; what was recorded is kept. Please report it with the output under DISPUTATIO_DEBUG=1.",
        )
        sys.exit(ExitCode.INTERNAL)


def _say(cause: str, next_step: str) -> None:
    from disputatio.motion import clean

    lines = clean(f"{cause}\n{next_step}" if next_step else cause)
    print(lines, file=sys.stderr)


if __name__ == "__main__":
    main()
