"""Which options a command takes. A command names them; ``signed`` gives it a signature, from which Typer makes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

Function = TypeVar("Function", bound=Callable[..., Any])

MODELS = ("seat", "base_url", "config", "set")
"""Who sits where, and what is configured."""
CEILINGS = ("budget_usd", "budget_tokens", "max_calls")
EVERY_DEBATE = "every option of a debate"

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="Where records are stored: a path or a database URL; in the user's data folder unless set.",
    ),
]
"""Written here and not made from its field: commands that only need a store import no options of debates."""
JsonOption = Annotated[bool, typer.Option("--json", metavar="", help="Print the record as JSON.")]
PlainOption = Annotated[bool, typer.Option("--plain", metavar="", help="Plain lines: no colours, nothing redrawn.")]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", metavar="", help="Estimate calls, tokens and cost. Call no model.")
]


def takes(*names: str) -> Callable[[Function], Function]:
    """Name the options that a command takes besides its own parameters; they reach it as ``**given``, as text.

    Args:
        *names: names as in ``option_of``, ``config``, ``set``, or ``EVERY_DEBATE``.
    """

    def mark(command: Function) -> Function:
        command.__dict__["takes"] = names
        return command

    return mark


def signed(command: Function) -> Function:
    """``command`` with a signature for Typer. It is made when the command is called, so that every format is in it.

    A parameter of the command that has the name of an option keeps its own type.
    """
    names: tuple[str, ...] = command.__dict__.get("takes", ())
    if not names:
        return command
    from disputatio._cli.fields import all_options, options_of_a_debate, parameter

    if EVERY_DEBATE in names:
        names = options_of_a_debate()
    command.__dict__.pop("__signature__", None)
    hints, known = get_type_hints(command, include_extras=True), all_options()
    rows = [row for row in inspect.signature(command).parameters.values() if row.kind is not row.VAR_KEYWORD]
    own = [row.replace(annotation=hints[row.name]) for row in rows if row.name not in names]
    made = [parameter(name, known, hints.get(name)) for name in names]
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [row.replace(kind=row.KEYWORD_ONLY) for row in (*own, *made)]
    )
    return command
