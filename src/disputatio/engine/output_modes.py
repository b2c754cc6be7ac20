"""Chooses the output mode of models whose provider's cache makes one mode cheaper than another.

Some providers put the schema of an answer in front of the prompt. Then every schema begins a prompt of its own, and
nearly every call pays in full for the history, which is most of the prompt. In prompted mode the schema follows the
task, and the cache serves the history. Code checks the answer in either mode. But only native mode prevents answers
that do not fit the schema, and such an answer has to be requested again.

The rule: simulate one course of the debate with made-up answers of usual length, and compute the bill for both modes
from the provider's cache rules and its prices. Choose prompted mode if it saves at least a fiftieth of a model's whole
bill. It then costs less if fewer than one answer in fifty is requested again. A configured mode stays, and so does the
usual one if the price or the cache is unknown. The record keeps the mode with the seat.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from disputatio.engine.opening import Proposal, make_rules
from disputatio.engine.preview import seat_profiles, simulated_plan
from disputatio.engine.simulation import LaidOutCall, Simulation, TooLongError
from disputatio.ledger.prices import PriceBook
from disputatio.participants.caching import CachedCall, Prices, bill, cache_rules
from disputatio.participants.call import OutputMode, Usage
from disputatio.participants.model_seat import ModelSeating
from disputatio.prompts.definitions import with_definitions
from disputatio.record.text import canonical

LEAST_SAVED: Final = 0.02
"""The part of the bill of a model (input and output) that prompted mode must save."""
MOST_CALLS: Final = 400
"""Calls of the longest simulation that is billed. The time grows with the square of their number."""
_FORM_BYTES: Final = 120
"""Bytes of the sentence before a schema in a prompt."""
_SAMPLE: Final = 1000
"""Tokens by which prices are compared. Some prices rise for prompts of hundreds of thousands."""
_CACHE_SIZE: Final = 64
_CACHE: OrderedDict[str, tuple[ModeChoice, ...]] = OrderedDict()


@dataclass(frozen=True, slots=True)
class ModeChoice:
    """A model that is asked in prompted mode because that costs less.

    Attributes:
        model: the model, with its provider.
        seats: the seats that it takes.
        usd: the expected cost of its input in US dollars.
        native_usd: the same in native mode.
    """

    model: str
    seats: tuple[str, ...]
    usd: Decimal
    native_usd: Decimal

    @property
    def sentence(self) -> str:
        """The choice, for people."""
        return (
            f"{self.model} is asked in prompted mode: its provider puts schemas in front of what prompts share, so its "
            f"input is expected to cost {self.usd:.4f} USD instead of {self.native_usd:.4f}. "
            f"A seat's own mode goes before this, such as --set seats.{self.seats[0]}.mode=native."
        )


async def with_cheaper_modes(proposal: Proposal) -> tuple[Proposal, tuple[ModeChoice, ...]]:
    """``proposal`` with the cheaper mode in each seat that has no configured one, and the choices."""
    open_seats = _open_seats(proposal)
    if not open_seats:
        return proposal, ()
    key = _key(proposal, open_seats)
    if key not in _CACHE:
        _CACHE[key] = await _choose_modes(proposal, open_seats)
        if len(_CACHE) > _CACHE_SIZE:
            _CACHE.popitem(last=False)
    choices = _CACHE[key]
    prompted = {seat for row in choices for seat in row.seats}
    seats = {
        seat: replace(row, mode=OutputMode.PROMPTED) if seat in prompted else row
        for seat, row in proposal.settings.seats.items()
    }
    return replace(proposal, settings=replace(proposal.settings, seats=seats)) if choices else proposal, choices


def _open_seats(proposal: Proposal) -> dict[str, ModelSeating]:
    """The seats whose mode may be chosen by cost."""
    seats = proposal.format.seats_named([*proposal.settings.seats, *proposal.participants])
    rows = {seat: proposal.settings.seats[seat] for seat in seats if seat not in proposal.participants}
    return {
        seat: row
        for seat, row in rows.items()
        if row.mode is None and not row.piecewise and (rules := cache_rules(row)) and rules.schema_in_front
    }


def _key(proposal: Proposal, seats: Mapping[str, ModelSeating]) -> str:
    """The inputs of a choice. Sizes are in kilobytes, because a few more words in a motion change nothing."""
    sizes = [len(proposal.motion.text) >> 10, sum(len(row.text) for row in proposal.evidence) >> 10]
    models = [[seat, row.address, repr(row.price)] for seat, row in seats.items()]
    settings = proposal.settings
    profiles = repr(seat_profiles(proposal))
    rules = repr(make_rules(proposal.format, settings))
    tools = repr((settings.tools, settings.tool_limits))
    return canonical([proposal.format.name, rules, models, sizes, settings.stagger, profiles, tools])


async def _choose_modes(proposal: Proposal, seats: Mapping[str, ModelSeating]) -> tuple[ModeChoice, ...]:
    profiles = {seat: replace(row, draws=False) for seat, row in seat_profiles(proposal).items()}
    try:
        simulation = Simulation(await simulated_plan(proposal, profiles), profiles, lays_out=True)
        await simulation.run()
    except (LookupError, TypeError, ValueError, AttributeError, TooLongError):
        # As for an estimate: some forms of a user's own have no typical answer.
        return ()
    if len(simulation.laid_out) > MOST_CALLS:
        return ()
    by_model: dict[str, list[str]] = {}
    for seat, row in seats.items():
        by_model.setdefault(row.address, []).append(seat)
    choices = []
    for names in by_model.values():
        calls = [row for row in simulation.laid_out if row.seat in names]
        reasoning = sum(profiles[row.seat].reasoning for row in calls)
        choice = _choose_mode(seats[names[0]], tuple(names), calls, reasoning, staggered=proposal.settings.stagger)
        choices += [choice] if choice else []
    return tuple(choices)


def _choose_mode(
    seating: ModelSeating, seats: tuple[str, ...], calls: Sequence[LaidOutCall], reasoning: int, *, staggered: bool
) -> ModeChoice | None:
    """The choice for one model; None if it keeps its usual mode."""
    rules, prices = cache_rules(seating), PriceBook()
    fresh, read, written, output = (
        _usd_per_token(prices, seating, usage)
        for usage in (
            Usage(_SAMPLE, 0, 0),
            Usage(_SAMPLE, 0, _SAMPLE),
            Usage(_SAMPLE, 0, 0, _SAMPLE),
            Usage(0, _SAMPLE, 0),
        )
    )
    if rules is None or not fresh or read is None or written is None or output is None:
        return None
    parts = Prices(float(read / fresh), float(written / fresh))
    native, prompted = (
        fresh * Decimal(bill(sent, rules, parts, staggered=staggered).cost)
        for sent in (native_calls(calls), prompted_calls(calls))
    )
    output *= sum(row.output_tokens for row in calls) + reasoning
    if native - prompted < Decimal(LEAST_SAVED) * (native + output):
        return None
    return ModeChoice(seating.address, seats, prompted, native)


def native_calls(calls: Sequence[LaidOutCall]) -> list[CachedCall]:
    """The calls with their schemas outside the prompt."""
    return [
        CachedCall(row.wave, row.shared, row.task, row.call.schema_text, len(row.call.schema_text) // 4)
        for row in calls
    ]


def prompted_calls(calls: Sequence[LaidOutCall]) -> list[CachedCall]:
    """The calls with their schemas after the task."""
    sent = []
    for row in calls:
        size = 0 if row.call.schema is None else len(canonical(with_definitions(row.call.schema))) + _FORM_BYTES
        sent.append(CachedCall(row.wave, row.shared, row.task + size // 4))
    return sent


def _usd_per_token(prices: PriceBook, seating: ModelSeating, usage: Usage) -> Decimal | None:
    """The price of one token, from the price of a sample."""
    charged = prices.charge(seating, None, usage).usd
    return None if charged is None else charged / _SAMPLE
