"""Sets up a review: its brief, its usual ceiling, a warning about its moderator, and evidence by round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from disputatio.config import Settings
from disputatio.config.presets import preset_named
from disputatio.engine.seat_assignments import ModelSeat, SeatAssignments, fallback_chain
from disputatio.errors import InvalidInputError
from disputatio.evidence.source_files import read_sources
from disputatio.evidence.sources import Source, SourceSet
from disputatio.formats.debate_context import place_of
from disputatio.formats.format import Format
from disputatio.formats.options import Review
from disputatio.formats.rule_values import Brief
from disputatio.ledger.budget import Budget
from disputatio.ledger.prices import PriceBook
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import family
from disputatio.participants.reasoning import first_allowance, most_reasoning
from disputatio.prompts import PromptContext


def review_rules(form: Format, settings: Settings) -> dict[str, Any]:
    """The brief of a review; empty for another format.

    Raises:
        InvalidInputError: there is no such preset, or the numbers of positions and proposers differ.
    """
    chosen = settings.format
    if not hasattr(form.rules(), "brief") or not isinstance(chosen, Review):
        return {}
    proposers = sum(place_of(seat, "proposer") is not None for seat in settings.seats)
    if chosen.positions and proposers and len(chosen.positions) != proposers:
        raise InvalidInputError(
            f"There are {len(chosen.positions)} positions and {proposers} proposers.",
            "Give each position with --position; each has a proposer of its own, and there are at most 5.",
        )
    brief = preset_named(chosen.preset, settings.sources["preset"]) if chosen.preset else Brief()
    return {"brief": brief if chosen.task_type is None else replace(brief, task_type=chosen.task_type)}


def read_sources_by_round(
    first: Iterable[Any], later: Sequence[tuple[int, Any]]
) -> tuple[tuple[Source, ...], dict[str, int]]:
    """All sources of a debate, and the ids of those that a later round introduces, each with its round.

    Args:
        first: the sources from the beginning: paths, texts or sources.
        later: the round and the source, for each of the others.

    Raises:
        InvalidInputError: one cannot be read.
    """
    sources = tuple(read_sources([*first, *(row for _, row in later)]))
    rounds = zip(sources[len(sources) - len(later) :], later, strict=True)
    return sources, {source.source_id: number for source, (number, _) in rounds if number > 1}


def default_budget(form: Format, seatings: Iterable[ModelSeating], given: Budget, prices: PriceBook) -> Budget:
    """The ceilings of a debate: ``given``, and the format's usual one in dollars if all prices are known.

    The usual one is for the answers. If models reason, the most that ``_REASONED_CALLS`` of the dearest model may cost
    is added. If a price is unknown there is no ceiling in dollars, because it could not be kept.
    """
    usual: Decimal | None = getattr(form.rules, "USUAL_USD", None)
    if usual is None or given.usd is not None:
        return given
    rows = [each for row in seatings for each in fallback_chain(row)]
    reasoned = [prices.bound(row, 0, _REASONED_CALLS * most_reasoning(first_allowance(row))) for row in rows]
    costs = [cost for cost in reasoned if cost is not None]
    return replace(given, usd=usual + max(costs)) if costs and len(costs) == len(rows) else given


_REASONED_CALLS = 16
"""The calls of a review of three rounds: its roles are asked thirteen times, and three answers are asked for again."""


def warn_of_moderator_family(form: Format, assignments: SeatAssignments) -> tuple[str, ...]:
    """A warning if the moderator's model is of the same family as that of another seat."""
    if "moderator" not in form.judges:
        return ()
    families = {
        seat: {family(row.model, row.provider) for row in occupant.seatings}
        for seat, occupant in assignments.items()
        if isinstance(occupant, ModelSeat)
    }
    moderator = families.pop("moderator", set())
    related = [seat for seat, row in families.items() if row & moderator and seat != "framer"]
    if not related:
        return ()
    model, others = ", ".join(sorted(moderator)), " and ".join(related)
    warning = f"The moderator's model is of the same family ({model}) as that of {others}, and may share its bias."
    return (f"{warning} Seat another with --seat moderator=PROVIDER:MODEL.",)


def check_introduced(prompt_context: PromptContext, rules: Any, introduced: Mapping[str, int]) -> None:
    """Refuse sources for rounds that do not exist, and sources that are too long for a seat.

    Raises:
        InvalidInputError: names the source and the next step.
    """
    if not introduced:
        return
    if not hasattr(rules, "brief"):
        raise InvalidInputError("Evidence by round is for reviews.", "Add --format review, or give it with --evidence.")
    most = min(rules.rounds, rules.MAXIMUM_ROUNDS)
    sources = SourceSet(prompt_context.evidence)
    share = min(prompt_context.shares.values(), default=0)
    for name, number in introduced.items():
        source = sources.find(name)
        if number > most:
            rounds = "1 round" if most == 1 else f"{most} rounds"
            raise InvalidInputError(
                f"The source {name} is for round {number}, and the review has {rounds} at most.",
                f"Give --rounds, up to {rules.MAXIMUM_ROUNDS}, or an earlier round.",
            )
        if source is not None and share and len(source.text) > share:
            raise InvalidInputError(
                f"The source {name} has {len(source.text):,} characters, and a seat is shown {share:,} at most.",
                "Shorten it, give it from the beginning with --evidence, or raise limits.evidence_chars.",
            )
