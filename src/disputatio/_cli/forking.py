"""``disputatio fork``: run a debate again without some of its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.arguments import make_arguments, print_notes
from disputatio._cli.debating import run_and_exit
from disputatio._cli.options import CEILINGS, DebateArgument, DryRunOption, JsonOption, PlainOption, takes
from disputatio._cli.screen import Screen
from disputatio._cli.stores import configured_address, find_debate_id, open_debate, store_address
from disputatio._cli.streams import print_json, print_lines
from disputatio.errors import ExitCode

if TYPE_CHECKING:
    from disputatio.config import Arguments
    from disputatio.engine.forking import Fork


@takes(*CEILINGS, "config", "mcp", "store")
def fork(
    debate_id: DebateArgument,
    strike: Annotated[
        list[str] | None,
        typer.Option(
            "--strike", metavar="NAME", help="What to leave out, by its name: PRO-2 or 'CON on PRO-1'. Repeatable."
        ),
    ] = None,
    dry_run: DryRunOption = False,
    json_: JsonOption = False,
    plain: PlainOption = False,
    **given: Any,
) -> None:
    """Run a finished debate again without some of its arguments. Turns that do not depend on them are kept.

    The result is a new debate whose record names the old one. The old record does not change. Ceilings count for the
    new debate alone.
    """
    names = strike or []
    if dry_run:
        _preview(debate_id, names, make_arguments(**given), as_json=json_)
        return
    screen = Screen(as_json=json_, plain=plain)
    run_and_exit(_fork(debate_id, names, make_arguments(**given), screen), screen)


def _preview(prefix: str, struck: list[str], arguments: Arguments, *, as_json: bool) -> None:
    from disputatio.engine.forking import fork_of
    from disputatio.record.verified import load_verified

    with open_debate(store_address(arguments.value("store")), prefix) as (store, parent):
        planned = fork_of(parent, load_verified(store, parent), struck)
    if as_json:
        print_json(
            {
                "parent": planned.parent,
                "struck": list(planned.struck),
                "kept": list(planned.kept),
                "asked_again": list(planned.again),
                "estimate": planned.estimate,
            }
        )
        return
    print_lines(_describe(planned))


def _describe(planned: Fork) -> str:
    """Say which turns a fork would keep and which it would ask again."""
    from disputatio.report.amounts import counted, listed

    tokens = f"{planned.input_tokens:,} tokens in and {planned.output_tokens:,} out"
    cost = "at an unknown cost" if planned.usd is None else f"for {planned.usd:f} USD"
    return "\n".join(
        [
            f"A fork of {planned.parent} without {listed(list(planned.struck))}.",
            f"Kept         {counted(len(planned.kept), 'turn')}: {', '.join(planned.kept) or 'none'}",
            f"Asked again  {counted(len(planned.again), 'turn')}: {', '.join(planned.again) or 'none'}",
            f"In {planned.parent} these took {counted(planned.calls, 'call')}, {tokens}, {cost}.",
        ]
    )


async def _fork(prefix: str, struck: list[str], arguments: Arguments, screen: Screen) -> ExitCode:
    from contextlib import aclosing

    from disputatio.engine.forking import fork as run_fork
    from disputatio.engine.forking import fork_of
    from disputatio.engine.recorded import recorded_settings
    from disputatio.engine.runtime import Resumption
    from disputatio.record.sql import SqlStore
    from disputatio.record.verified import load_verified

    async with aclosing(SqlStore(configured_address(arguments), create=False)) as store:
        parent = find_debate_id(store, prefix)
        read = load_verified(store, parent)
        planned = fork_of(parent, read, struck)
        settings = recorded_settings(planned.opened, arguments)
        print_notes(settings)
        resumption = Resumption(settings, settings.asked_budget)
        async with screen.showing():
            debate_id = await run_fork(planned, read, resumption, screen.runtime(store), on_opened=screen.opened)
        return screen.result(store, debate_id)
