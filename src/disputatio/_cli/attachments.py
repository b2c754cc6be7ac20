"""``disputatio outcome`` and ``disputatio sign-off``: add to a debate what became known or was decided after it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.options import DebateArgument, StoreOption
from disputatio._cli.stores import find_debate_id, open_store, store_address
from disputatio._cli.streams import print_lines

if TYPE_CHECKING:
    from disputatio.engine.runtime import Runtime


def outcome(
    debate_id: DebateArgument,
    result: Annotated[str, typer.Option("--result", metavar="TEXT", help="What happened, or what an expert found.")],
    verdict: Annotated[
        str | None,
        typer.Option("--verdict", metavar="WORD", help="Whether the debate was right, wrong or mixed."),
    ] = None,
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who says so. Recorded as given.")] = "",
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="A further remark.")] = "",
    store: StoreOption = None,
) -> None:
    """Attach a later outcome or an expert's finding to a closed debate. It is added at the end of the record.

    An outcome can be attached again; the last one counts. `disputatio metrics` counts the verdicts, and
    `disputatio gate --recompute` uses them.
    """
    from disputatio.engine.attachments import attach_outcome

    head, debate = _attach(
        debate_id,
        store,
        lambda found, runtime: attach_outcome(found, result, runtime, verdict=verdict, by=by, note=note),
    )
    print_lines(f"The outcome is attached to {debate}.\nHead {head}")


def sign_off(
    debate_id: DebateArgument,
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who decides. Recorded as given, without proof.")],
    decision: Annotated[str, typer.Option("--decision", metavar="WORD", help="approve, reject or return.")],
    comment: Annotated[
        str, typer.Option("--comment", metavar="TEXT", help="The reason. Required to reject or return.")
    ] = "",
    store: StoreOption = None,
) -> None:
    """Record a reviewer's decision on the result of a closed debate.

    The record proves that the reviewer's name was not altered later. It does not prove who typed it.
    """
    from disputatio.engine.attachments import sign_off as sign

    head, debate = _attach(debate_id, store, lambda found, runtime: sign(found, by, decision, runtime, comment=comment))
    print_lines(f"The sign-off is recorded in {debate}.\nHead {head}")


def _attach(
    prefix: str, store: str | None, attach: Callable[[str, Runtime], Coroutine[Any, Any, object]]
) -> tuple[str, str]:
    """Attach something to the debate whose id begins with ``prefix``; returns the new head of its chain and its id."""
    from disputatio.engine.runtime import Runtime

    with open_store(store_address(store)) as opened:
        debate = find_debate_id(opened, prefix)
        asyncio.run(attach(debate, Runtime(opened)))
        return opened.read(debate)[-1].hash, debate
