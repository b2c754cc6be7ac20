"""Puts a command line together from the index: all commands, or only the one that is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from disputatio._cli.commands import Command, DebateCommand, Group
from disputatio._cli.index import ABOUT, COMMANDS, EPILOG, GROUPS
from disputatio._cli.options import signed
from disputatio._version import VERSION


def app_with(*names: str) -> typer.Typer:
    """The command line with these commands and no others; importing their modules is what takes the time."""
    app = typer.Typer(
        name="disputatio",
        cls=Group,
        help="\n\n".join(ABOUT),
        epilog=EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    for name in names:
        if name in GROUPS:
            group = _found(name)
            for row in group.registered_commands:
                row.cls = Command
            app.add_typer(group, name=name, cls=Group)
        else:
            command = _found(name)
            app.command(name, cls=DebateCommand if name == "debate" else Command)(signed(command))
    app.callback()(_options)
    return app


def app_of_names() -> typer.Typer:
    """The names of all commands and none of them: what tells a word that is no command which one is near."""
    app = app_with()
    for name in COMMANDS:
        app.command(name)(_nothing)
    return app


def _nothing() -> None:
    """Stands in for a command that is not called."""


def _found(name: str) -> Any:
    """The function of a command, or the Typer app of a group."""
    module, attribute = COMMANDS[name]
    return getattr(import_module(f"disputatio._cli.{module}"), attribute)


def _version(value: bool) -> None:  # noqa: FBT001  (the signature Typer calls)
    if value:
        typer.echo(f"disputatio {VERSION}")
        raise typer.Exit


_VERSION = typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version.")


def _options(version: Annotated[bool, _VERSION] = False) -> None:
    """What comes before a command."""
