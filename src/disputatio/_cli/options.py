"""The options that commands share.

A command names the request options that it takes. ``add_signature`` gives it a signature from which Typer makes them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

Function = TypeVar("Function", bound=Callable[..., Any])

MODELS = ("seat", "base_url", "config", "set")
"""The options for models and their configuration."""
CEILINGS = ("budget_usd", "budget_tokens", "max_calls")
EVERY_DEBATE = "every option of a debate"

DebateArgument = Annotated[str, typer.Argument(metavar="ID", help="The debate's id, or its beginning.")]
OutFileOption = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write to this file.")]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="Where records are stored: a path or a database URL. The default is in the user's data folder.",
    ),
]
"""A copy of the field ``store``, so that commands that only need a store do not import the options of debates."""
JsonOption = Annotated[bool, typer.Option("--json", metavar="", help="Print the record as JSON.")]
PlainOption = Annotated[
    bool, typer.Option("--plain", metavar="", help="Print plain lines, without colours and without redrawing.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", metavar="", help="Estimate calls, tokens and cost. Call no model.")
]


def takes(*names: str) -> Callable[[Function], Function]:
    """Name the request options that a command takes. They reach it in ``**given``, as text.

    Args:
        *names: names of ``fields.all_options``, ``config``, ``set``, or ``EVERY_DEBATE``.
    """

    def mark(command: Function) -> Function:
        command.__dict__["takes"] = names
        return command

    return mark


def add_signature(command: Function) -> Function:
    """Give ``command`` a signature for Typer. This happens when it is called, so that it knows every format.

    A parameter that has the name of an option keeps its own type.
    """
    names: tuple[str, ...] = command.__dict__.get("takes", ())
    if not names:
        return command
    from disputatio._cli.fields import all_options, debate_options, make_parameter

    if EVERY_DEBATE in names:
        names = debate_options()
    command.__dict__.pop("__signature__", None)
    hints, known = get_type_hints(command, include_extras=True), all_options()
    rows = [row for row in inspect.signature(command).parameters.values() if row.kind is not row.VAR_KEYWORD]
    own = [row.replace(annotation=hints[row.name]) for row in rows if row.name not in names]
    made = [make_parameter(name, known, hints.get(name)) for name in names]
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [row.replace(kind=row.KEYWORD_ONLY) for row in (*own, *made)]
    )
    return command
