"""Build the command line from all commands or from one of them, and their help pages."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from disputatio._cli.index import ABOUT, COMMANDS, EPILOG, GROUPS
from disputatio._cli.options import add_signature
from disputatio._version import VERSION


def _without_types(rows: Any) -> Any:
    for row in rows:
        if getattr(row, "is_flag", False):
            row.metavar = ""
    return rows


class Command(TyperCommand):
    """A command whose flags show no type."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, including ``--help``."""
        return _without_types(super().get_params(ctx))


class Group(TyperGroup):
    """A group whose flags show no type."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, including ``--help``."""
        return _without_types(super().get_params(ctx))


class DebateCommand(Command):
    """``disputatio debate``: takes the options of every format, and shows those of the chosen one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Find the format among ``args`` before the help page is made."""
        ctx.meta["format"] = name = self._format_in(ctx, args)
        self.for_format(name)
        return super().parse_args(ctx, args)

    def for_format(self, name: str) -> list[Any]:
        """Show the options that only the format ``name`` has, hide those of other formats, and return the shown."""
        from disputatio._cli.fields import EVIDENCE_ROUND, format_option_names, panel_of, write_help
        from disputatio.request.formats import options_of

        known = {row.flat_name: row for row in options_of(name)} if name else {}
        shown = []
        for param in self.params:
            row: Any = param
            if row.name in format_option_names():
                row.hidden = row.name not in known and (row.name, name) != EVIDENCE_ROUND
                if not row.hidden:
                    shown.append(row)
                if row.name in known:
                    row.help, row.rich_help_panel = write_help(known[row.name]), panel_of(known[row.name])
        return shown

    def _format_in(self, ctx: Any, args: Sequence[str]) -> str:
        try:
            given, _, _ = self.make_parser(ctx).parse_args(list(args))
        except TyperException:
            return ""
        return str(given.get("format") or "")

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the page, followed by a list of formats if none was chosen.

        Raises:
            InvalidInputError: the chosen format does not exist.
        """
        from disputatio.request.formats import known_formats, unknown_format

        name = ctx.meta.get("format", "")
        if name and name not in known_formats() and ".py" not in name:
            raise unknown_format(name)
        super().format_help(ctx, formatter)
        if not name:
            _print_formats()


def _print_formats() -> None:
    from rich.console import Console
    from rich.panel import Panel
    from rich.table import Table

    from disputatio.formats.options import FormatOptions
    from disputatio.request.formats import known_formats, options_of_formats

    table = Table.grid(padding=(0, 2))
    for name, model in options_of_formats().items():
        # Its options have the sentence for a packaged format, so its module need not be imported.
        about = known_formats()[name].about if model is FormatOptions else str(model.__doc__).partition("\n")[0]
        table.add_row(f"[bold cyan]{name}[/]", about)
    Console().print(Panel(table, title="Formats", title_align="left", border_style="dim"))
    Console().print(" [bold]disputatio debate -f panel --help[/] shows the options of a format.\n", highlight=False)


def make_app(*names: str) -> typer.Typer:
    """The command line with only these commands, because importing the modules of commands takes long."""
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
            group = _load_command(name)
            for row in group.registered_commands:
                row.cls = Command
            app.add_typer(group, name=name, cls=Group)
        else:
            command = _load_command(name)
            app.command(name, cls=DebateCommand if name == "debate" else Command)(add_signature(command))
    app.callback()(_options)
    return app


def make_app_of_names() -> typer.Typer:
    """The command line with the names of all commands but without their code, to suggest one of them."""
    app = make_app()
    for name in COMMANDS:
        app.command(name)(_do_nothing)
    return app


def _do_nothing() -> None:
    """Takes the place of a command that is not called."""


def _load_command(name: str) -> Any:
    """The function of a command, or the Typer app of a group."""
    module, attribute = COMMANDS[name]
    return getattr(import_module(f"disputatio._cli.{module}"), attribute)


def _version(value: bool) -> None:  # noqa: FBT001  (the signature Typer calls)
    if value:
        typer.echo(f"disputatio {VERSION}")
        raise typer.Exit


_VERSION = typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version.")


def _options(version: Annotated[bool, _VERSION] = False) -> None:
    """The options before a command."""
