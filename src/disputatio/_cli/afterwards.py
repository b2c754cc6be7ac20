"""``disputatio outcome`` and ``disputatio sign-off``: what is known or decided after a debate has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.given import kept_store
from disputatio._cli.kept import found_in, reading
from disputatio._cli.options import StoreOption
from disputatio._cli.streams import print_lines

if TYPE_CHECKING:
    from disputatio.engine.runtime import Runtime

DebateArgument = Annotated[str, typer.Argument(metavar="ID", help="The debate's id, or its beginning.")]


def outcome(
    debate_id: DebateArgument,
    result: Annotated[str, typer.Option("--result", metavar="TEXT", help="What happened later, or was found.")],
    verdict: Annotated[
        str | None,
        typer.Option("--verdict", metavar="WORD", help="The debate's result proved right, wrong or mixed."),
    ] = None,
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who says so; recorded as given.")] = "",
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Anything else.")] = "",
    store: StoreOption = None,
) -> None:
    """Attach a later outcome or an expert's finding to a closed debate; its record stays as it was and grows by it.

    Repeatable: the last outcome counts. `disputatio metrics` counts verdicts, and the gate is recomputed from them.
    """

    async def attach(found: str, runtime: Runtime) -> str:
        from disputatio.engine.attachments import attach_outcome

        await attach_outcome(found, result, runtime, verdict=verdict, by=by, note=note)
        return f"The outcome is attached to {found}"

    _attach(debate_id, store, attach)


def sign_off(
    debate_id: DebateArgument,
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who decides; recorded as given, and no proof.")],
    decision: Annotated[str, typer.Option("--decision", metavar="WORD", help="approve, reject or return.")],
    comment: Annotated[str, typer.Option("--comment", metavar="TEXT", help="Why; needed to reject or return.")] = "",
    store: StoreOption = None,
) -> None:
    """Record what a named reviewer decides on the result of a closed debate.

    The name is what is given here. The record shows that it was not altered since, not who typed it.
    """

    async def attach(found: str, runtime: Runtime) -> str:
        from disputatio.engine.attachments import sign_off as sign

        await sign(found, by, decision, runtime, comment=comment)
        return f"The sign-off is recorded in {found}"

    _attach(debate_id, store, attach)


def _attach(prefix: str, store: str | None, attach: Callable[[str, Runtime], Coroutine[Any, Any, str]]) -> None:
    from disputatio.engine.runtime import Runtime

    with reading(kept_store(store)) as opened:
        found = found_in(opened, prefix)
        said = asyncio.run(attach(found, Runtime(opened)))
        head = opened.read(found)[-1].hash
    print_lines(f"{said}.\nHead {head}")
