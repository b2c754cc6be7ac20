"""Make the options of the command line from the fields of requests."""

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

EVIDENCE_ROUND = ("evidence_round", "review")
"""An option that only one format has, though it is no field of its options; with that format."""
_LETTERS = {"format": "-f", "evidence": "-e"}
_HERE = {
    "format": "The name of a format, or a file of your own rules (./my_debate.py:rules). The default is structured.",
    "human": "A seat that you take at this terminal. all and the name of a team cover several seats.",
    "evidence": "A source that seats may cite: a text, Markdown, HTML, PDF or JSON file; '-' is standard input.",
    "topic": "A built-in motion instead of MOTION. `disputatio topics` lists them.",
}
"""Help texts that replace those of the fields."""
_LARGEST_SHOWN = 1_000


def common_options() -> dict[str, Option]:
    """The options of every debate and of the configuration, by name."""
    seats = [row for row in options_in(SeatOptions) if row.name == "base_url"]
    rows = [*options_in(DebateRequest), *seats, *options_in(Configuration)]
    return {row.flat_name: row for row in rows if row.flag}


def all_options(format_name: str = "") -> dict[str, Option]:
    """Every option by name. ``format_name`` decides if several formats have an option of the same name."""
    names = [*(name for name in options_of_formats() if name != format_name), *([format_name] if format_name else [])]
    return {row.flat_name: row for name in names for row in options_of(name) if row.flag} | common_options()


def _make_option(row: Option, about: str, panel: str) -> OptionInfo:
    option: OptionInfo = typer.Option(
        *(row.flag, *([_LETTERS[row.flat_name]] if row.flat_name in _LETTERS else [])),
        metavar="" if row.is_flag else row.about.metavar or row.name.upper(),
        help=about,
        rich_help_panel=panel or None,
        show_default=False,
    )
    return option


def panel_of(row: Option) -> str:
    """The part of a help page for an option."""
    if issubclass(row.owner, FormatOptions):
        return f"Options of the format {row.owner.model_fields['name'].default}"
    if row.owner is Configuration:
        return ""
    return "Debate" if row.owner in {DebateRequest, SeatOptions} else row.owner.GROUP.capitalize()


def write_help(row: Option) -> str:
    """The help text of an option: its sentence, bounds, choices and an example."""
    parts = [_HERE.get(row.flat_name, row.help)]
    bounds = row.bounds
    if row.kind is int and bounds.get("le", _LARGEST_SHOWN) < _LARGEST_SHOWN:
        parts.append(f"From {bounds.get('ge', 0)} to {bounds['le']}.")
    if row.choices and row.choices[0] not in row.help:
        parts.append(f"One of: {', '.join(row.choices)}.")
    if row.about.repeat:
        parts.append("Repeatable.")
    if row.example and row.example not in row.help:
        parts.append(f"Example: {row.flag} {row.example}.")
    return " ".join(parts)


def format_option_names() -> set[str]:
    """The names of the options that only some formats have."""
    return {EVIDENCE_ROUND[0], *(row.flat_name for name in options_of_formats() for row in options_of(name))}


def debate_options() -> tuple[str, ...]:
    """The names of all options of a debate, in the order of the help page."""
    first = ("format", "seat", "base_url", "config", "set")
    return tuple(dict.fromkeys([*first, *common_options(), *all_options(), EVIDENCE_ROUND[0]]))


_NO_FIELDS = {
    "config": typer.Option(
        "--config", metavar="FILE", help="A configuration file in TOML or YAML.", rich_help_panel="Debate"
    ),
    "set": typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any key of the configuration file, such as limits.closing_words=150. Repeatable.",
        rich_help_panel="Debate",
    ),
    "evidence_round": typer.Option(
        "--evidence-round",
        metavar="N=PATH",
        help="A source that seats get in round N. Repeatable.",
        rich_help_panel="Options of the format review",
    ),
}
"""The options that no field of a request declares."""


def make_parameter(name: str, known: dict[str, Option], kind: Any = None) -> inspect.Parameter:
    """The parameter of a command for the option ``name``; ``kind`` replaces the type of the option."""
    info = (
        _NO_FIELDS[name]
        if name in _NO_FIELDS
        else _make_option(known[name], write_help(known[name]), panel_of(known[name]))
    )
    many = name in {"set", "evidence_round"} or (name in known and known[name].about.repeat)
    is_flag = name in known and known[name].is_flag
    kind = kind or (bool if is_flag else list[str] | None if many else str | None)
    default = False if is_flag else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])
