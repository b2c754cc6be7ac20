"""``--baseline``: what one model alone, or a free-form debate, says of the same motion, held beside the debate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from disputatio._cli.streams import tell

if TYPE_CHECKING:
    from disputatio.config import CommandLine, Settings
    from disputatio.engine.opening import Proposal
    from disputatio.record.store import Store

BaselineOption = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="NAMES",
        help="Held beside it, in the same report: single, vote (at the debate's own token spend), freeform, or all.",
        rich_help_panel="How it is judged",
    ),
]
HoldBeside: TypeAlias = "Callable[[str, Store], Awaitable[None]]"


def beside_of(given: str | None, proposal: Proposal, arguments: CommandLine) -> HoldBeside | None:
    """What holds the baselines that were asked for; None where none were.

    Raises:
        InvalidInputError: one of them is none, or its seats cannot be set.
    """
    if given is None:
        return None
    from disputatio.evaluation.beside import Beside, baselines_named

    names = baselines_named(given)
    settings = _settings(arguments, proposal.settings)

    async def hold(debate: str, store: Store) -> None:
        from disputatio.engine.debates import House
        from disputatio.engine.ports import Nobody
        from disputatio.observing.setting import observed
        from disputatio.participants.gateways import open_gateway

        traced = observed(Nobody())
        house = House(store, watcher=traced, opener=lambda seating, key: open_gateway(seating, key, on_progress=tell))
        budget = proposal.settings.budget
        held = await Beside(proposal, settings, house, budget, tell, proposal.prompts).hold(debate, names)
        if not held:
            tell("No baseline was held: the debate has no result to put beside it.")

    return hold


def _settings(arguments: CommandLine, debate: Settings) -> dict[str, Settings]:
    """Of the two formats baselines are held in: seats as named, and whatever else the command line says of them."""
    from disputatio._cli.given import settings_for
    from disputatio.evaluation.beside import answerer_seat
    from disputatio.formats.registry import find_format

    nothing: dict[str, Any] = dict.fromkeys(_OF_ONE_FORMAT)
    base = replace(
        arguments,
        **nothing,
        tools=(),
        mcp=(),
        position=(),
        personality=(),
        set=tuple((path, value) for path, value in arguments.set if path[0] not in _KEYS_OF_ONE_FORMAT),
    )
    sides = {"pro", "con", "judge", "all"}
    found = {}
    for name in ("single", "freeform"):
        seats = (
            answerer_seat(arguments.seat, debate)
            if name == "single"
            else tuple((seat, who) for seat, who in arguments.seat if seat.lower() in sides)
        )
        form = find_format(name)
        found[name] = replace(settings_for(form, replace(base, seat=seats)), store=debate.store)
    return found


_OF_ONE_FORMAT = (
    *("judges", "both_orders", "anonymous", "retest", "panel_method", "debaters", "options", "rounds", "decision"),
    *("threshold", "escalate", "preset", "task_type", "personalities"),
)
_KEYS_OF_ONE_FORMAT = frozenset({"limits", "rules", "judging", "decision", "rubric", "seats"})
