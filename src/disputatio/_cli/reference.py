"""Write the reference of the command line from the commands: ``python -m disputatio._cli.reference``."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from disputatio._cli.fields import format_option_names
from disputatio.request.formats import options_of_formats

_CODES = {
    0: "complete",
    1: "a bug in disputatio; the record so far is safe",
    2: "invalid input: a motion, option, file or setting that cannot be used",
    3: "truncated at a ceiling; resume with a higher one",
    4: "degraded: a seat is missing from the result",
    5: "provider failure: no model answered",
    6: "failed verification: the record was altered",
    7: "the store cannot be read or written",
    8: "the judge is worse than its baseline, beyond chance (check-judge)",
    9: "a figure passed its threshold (metrics --alert), or the critic is not strong enough (check-critic)",
    130: "interrupted; `disputatio resume` continues",
}


def reference() -> str:
    """The whole reference as Markdown."""
    from typer.main import get_command

    from disputatio._cli.app import app

    group: Any = get_command(app)
    lines = ["# Command line", "", "Generated from the program by `python -m disputatio._cli.reference`.", ""]
    for name, command in _commands(group):
        lines += [f"## disputatio {name}", "", inspect.cleandoc(command.help or ""), ""]
        params = [row for row in command.params if not (name == "debate" and row.name in format_option_names())]
        lines += [*_table(params), ""]
        if name == "debate":
            lines += _formats(command)
    lines += ["## Exit codes", "", "| code | meaning |", "|---|---|"]
    lines += [f"| {code} | {meaning} |" for code, meaning in _CODES.items()]
    return "\n".join(lines) + "\n"


def _table(params: Sequence[Any]) -> list[str]:
    arguments = [row for row in params if row.param_type_name == "argument"]
    options = [row for row in params if row.param_type_name == "option" and not row.hidden]
    if not params:
        return []
    return [
        *("| argument or option | meaning |", "|---|---|"),
        *(f"| `{row.metavar or row.name}` | {_cell(row.help)} |" for row in arguments),
        *(f"| `{_usage(row)}` | {_cell(row.help)} |" for row in options),
    ]


def _formats(command: Any) -> Iterator[str]:
    """A section for each format, with the options that only it has."""
    for name, model in options_of_formats().items():
        yield from (f"### disputatio debate --format {name}", "", (model.__doc__ or "").partition("\n")[0], "")
        options = command.for_format(name)
        yield from [*_table(options), ""] if options else ["It has no options of its own.", ""]


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by the words that call it, including those in groups."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def _usage(option: Any) -> str:
    names = ", ".join(sorted(option.opts, key=len, reverse=True))
    return names if option.is_flag else f"{names} {option.metavar or option.name.upper()}"


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def main() -> None:
    """Print the reference."""
    sys.stdout.write(reference())


if __name__ == "__main__":
    main()
