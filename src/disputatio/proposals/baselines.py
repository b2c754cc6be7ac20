"""Baselines: one model alone, or a free-form debate, on the same motion, to compare a debate with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from disputatio.config import Arguments, Settings
from disputatio.config.process import settings_for
from disputatio.engine.opening import Proposal
from disputatio.engine.ports import NullObserver
from disputatio.engine.runtime import Runtime, baseline_id
from disputatio.evaluation.baselines import Baselines, choose_answerer, parse_baselines
from disputatio.formats.registry import find_format
from disputatio.telemetry.tracing import add_tracing

RunBaselines: TypeAlias = Callable[[str, Runtime], Awaitable[bool]]
"""Runs the baselines of a debate, given its id and what it ran in; False where it has no result to compare with."""
_OF_EVERY_FORMAT = frozenset({"seats", "budget", "language", "seed", "stagger", "store", "price", "estimate"})
"""What is asked of a debate and holds for its baselines too."""


def _quiet(_: str) -> None:
    """Say nothing."""


def prepare_baselines(
    given: str | None,
    proposal: Proposal,
    arguments: Arguments,
    say: Callable[[str], None] = _quiet,
    *,
    apart: bool = False,
) -> RunBaselines | None:
    """What runs the baselines that were asked for; None where none were.

    Args:
        given: their names between commas: ``single``, ``vote``, ``freeform``, or ``all``.
        proposal: the debate.
        arguments: the options of the debate.
        say: called with a sentence on each step.
        apart: whether nothing is taken from records of other debates, which may be another caller's.

    Raises:
        InvalidInputError: one of them is none, or its seats cannot be set.
    """
    if given is None:
        return None
    names = parse_baselines(given)
    settings = {name: _settings(name, arguments, proposal.settings) for name in ("single", "freeform")}

    async def run(debate: str, runtime: Runtime) -> bool:
        unobserved = replace(runtime, observer=add_tracing(NullObserver()))
        trial_id = partial(baseline_id, debate) if apart else lambda _: ""
        baselines = Baselines(proposal, settings, unobserved, proposal.settings.budget, say, proposal.prompts, trial_id)
        return bool(await baselines.run(debate, names))

    return run


def _settings(name: str, arguments: Arguments, debate: Settings) -> Settings:
    """Of a format that baselines are run in: seats as named, and whatever else was asked for and holds for it."""
    sides = {"pro", "con", "judge", "all"}
    seats = (
        choose_answerer(arguments.seated(), debate)
        if name == "single"
        else tuple((seat, who) for seat, who in arguments.seated() if seat.lower() in sides)
    )
    base = arguments.only(lambda path: path[0] in _OF_EVERY_FORMAT).with_seats(seats)
    return replace(settings_for(find_format(name), base), store=debate.store)
