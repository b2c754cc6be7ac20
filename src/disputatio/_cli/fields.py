"""The options of the command line, made from the fields of requests: none of those is written here."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer
from typer.models import OptionInfo

from disputatio.formats.options import FormatOptions
from disputatio.options import Option, options_in
from disputatio.request.configuration import Configuration
from disputatio.request.formats import options_of, options_of_formats
from disputatio.request.model import DebateRequest, SeatOptions

OF_REVIEWS = ("evidence_round", "review")
"""The option of a format that is no field of its options, and the format."""
_LETTERS = {"format": "-f", "evidence": "-e"}
_HERE = {
    "format": "The format by its name, structured unless set; or a file of your own rules: ./my_debate.py:rules.",
    "human": "A seat that you take at this terminal; all and the name of a team cover several.",
    "evidence": "A source that seats may cite: a text, Markdown, HTML, PDF or JSON file; '-' is standard input.",
    "topic": "A built-in motion in place of MOTION; `disputatio topics` lists them.",
}
"""What the command line says of an option in its own words."""
_LARGEST_SHOWN = 1_000


def common_options() -> dict[str, Option]:
    """The options of every debate and of the configuration, by their names on the command line."""
    seats = [row for row in options_in(SeatOptions) if row.name == "base_url"]
    rows = [*options_in(DebateRequest), *seats, *options_in(Configuration)]
    return {row.flat_name: row for row in rows if row.flag}


def all_options(format_name: str = "") -> dict[str, Option]:
    """Every option by its name on the command line; where several formats have one, as ``format_name`` has it."""
    names = [*(name for name in options_of_formats() if name != format_name), *([format_name] if format_name else [])]
    return {row.flat_name: row for name in names for row in options_of(name) if row.flag} | common_options()


def _info(row: Option, about: str, panel: str) -> OptionInfo:
    found: OptionInfo = typer.Option(
        *(row.flag, *([_LETTERS[row.flat_name]] if row.flat_name in _LETTERS else [])),
        metavar="" if row.is_flag else row.about.metavar or row.name.upper(),
        help=about,
        rich_help_panel=panel or None,
        show_default=False,
    )
    return found


def make_panel(row: Option) -> str:
    """The part of a help page in which an option stands."""
    if issubclass(row.owner, FormatOptions):
        return f"Options of the format {row.owner.model_fields['name'].default}"
    if row.owner is Configuration:
        return ""
    return "Debate" if row.owner in {DebateRequest, SeatOptions} else row.owner.GROUP.capitalize()


def help_of(row: Option) -> str:
    """What the help says of an option: its sentence, its bounds, its words and an example."""
    said = [_HERE.get(row.flat_name, row.help)]
    bounds = row.bounds
    if row.kind is int and bounds.get("le", _LARGEST_SHOWN) < _LARGEST_SHOWN:
        said.append(f"From {bounds.get('ge', 0)} to {bounds['le']}.")
    if row.choices and row.choices[0] not in row.help:
        said.append(f"One of {', '.join(row.choices)}.")
    if row.about.repeat:
        said.append("Repeatable.")
    if row.example and row.example not in row.help:
        said.append(f"Such as {row.flag} {row.example}.")
    return " ".join(said)


def names_of_format_options() -> set[str]:
    """The options that only some formats have, by their names on the command line."""
    return {OF_REVIEWS[0], *(row.flat_name for name in options_of_formats() for row in options_of(name))}


def options_of_a_debate() -> tuple[str, ...]:
    """The names of all that a debate may be given, as help shows them."""
    first = ("format", "seat", "base_url", "config", "set")
    return tuple(dict.fromkeys([*first, *common_options(), *all_options(), OF_REVIEWS[0]]))


_OWN = {
    "config": typer.Option("--config", metavar="FILE", help="Settings in TOML or YAML.", rich_help_panel="Debate"),
    "set": typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any key of the configuration file, such as limits.closing_words=150. Repeatable.",
        rich_help_panel="Debate",
    ),
    "evidence_round": typer.Option(
        "--evidence-round",
        metavar="N=PATH",
        help="A source that round N brings. Repeatable.",
        rich_help_panel="Options of the format review",
    ),
}
"""The options that are no field of a request."""


def parameter(name: str, known: dict[str, Option], own: Any = None) -> inspect.Parameter:
    """The parameter of a command for the option called ``name``, of the type ``own`` where it has one of its own."""
    info = _OWN[name] if name in _OWN else _info(known[name], help_of(known[name]), make_panel(known[name]))
    many = name in {"set", "evidence_round"} or (name in known and known[name].about.repeat)
    is_flag = name in known and known[name].is_flag
    kind: Any = own or (bool if is_flag else list[str] | None if many else str | None)
    default = False if is_flag else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])
