"""``disputatio fork``: ask again without what was struck."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.debating import run
from disputatio._cli.given import command_line, kept_store, say_notes, store_url
from disputatio._cli.options import CEILINGS, DryRunOption, JsonOption, PlainOption, takes
from disputatio._cli.screen import Screen
from disputatio._cli.streams import print_json, print_lines
from disputatio.errors import ExitCode

if TYPE_CHECKING:
    from disputatio.config import Arguments
    from disputatio.engine.forking import Fork


@takes(*CEILINGS, "config", "mcp", "store")
def fork(
    debate_id: Annotated[str, typer.Argument(metavar="ID", help="The debate's id, or its beginning.")],
    strike: Annotated[
        list[str] | None,
        typer.Option("--strike", metavar="NAME", help="What was never said: PRO-2, 'CON on PRO-1'. Repeatable."),
    ] = None,
    dry_run: DryRunOption = False,
    json_: JsonOption = False,
    plain: PlainOption = False,
    **given: Any,
) -> None:
    """Ask a finished debate again without what is struck; turns that do not depend on it are kept.

    The new record names its parent, which stays as it is. Ceilings are those of the new debate alone.
    """
    names = strike or []
    if dry_run:
        _preview(debate_id, names, command_line(**given), as_json=json_)
        return
    screen = Screen(as_json=json_, plain=plain)
    run(_fork(debate_id, names, command_line(**given), screen), screen)


def _preview(prefix: str, struck: list[str], arguments: Arguments, *, as_json: bool) -> None:
    from disputatio._cli.kept import reading_debate
    from disputatio.engine.forking import fork_of
    from disputatio.record.verified import load_verified

    with reading_debate(kept_store(arguments.value("store")), prefix) as (store, parent):
        found = fork_of(parent, load_verified(store, parent), struck)
    if as_json:
        print_json(
            {
                "parent": found.parent,
                "struck": list(found.struck),
                "kept": list(found.kept),
                "asked_again": list(found.again),
                "estimate": found.estimate,
            }
        )
        return
    print_lines(told(found))


def told(found: Fork) -> str:
    """What a fork would keep and ask again."""
    from disputatio.report.amounts import counted, listed

    tokens = f"{found.input_tokens:,} tokens in and {found.output_tokens:,} out"
    cost = "at an unknown cost" if found.usd is None else f"for {found.usd:f} USD"
    return "\n".join(
        [
            f"A fork of {found.parent} without {listed(list(found.struck))}.",
            f"Kept         {counted(len(found.kept), 'turn')}: {', '.join(found.kept) or 'none'}",
            f"Asked again  {counted(len(found.again), 'turn')}: {', '.join(found.again) or 'none'}",
            f"In {found.parent} these took {counted(found.calls, 'call')}, {tokens}, {cost}.",
        ]
    )


async def _fork(prefix: str, struck: list[str], arguments: Arguments, screen: Screen) -> ExitCode:
    from contextlib import aclosing

    from disputatio._cli.kept import found_in
    from disputatio.engine.forking import fork as run_fork
    from disputatio.engine.forking import fork_of
    from disputatio.engine.recorded import recorded_settings
    from disputatio.engine.runtime import Resumption
    from disputatio.record.sql import SqlStore
    from disputatio.record.verified import load_verified

    async with aclosing(SqlStore(store_url(arguments), create=False)) as store:
        parent = found_in(store, prefix)
        read = load_verified(store, parent)
        planned = fork_of(parent, read, struck)
        settings = recorded_settings(planned.opened, arguments)
        say_notes(settings)
        resumption = Resumption(settings, settings.asked_budget)
        async with screen.showing():
            debate_id = await run_fork(planned, read, resumption, screen.runtime(store), on_opened=screen.opened)
        return screen.result(store, debate_id)
