"""Chooses how models are asked for structured answers, where a provider's cache makes it a question of money.

Some providers put the schema of an answer in front of the prompt. Every form of a debate then begins a prompt of its
own, and the history before the task, most of what is sent, is paid in full with nearly every call. In prompted mode the
schema follows the task, and the history is served from the cache. Code checks the answer in either mode,
but only the native one keeps a model from breaking the form, so an answer may have to be asked for again.

The rule: one course of the debate is held with made-up answers of usual length, and its input is billed both ways, by
the provider's rules and the table of prices. A model is asked in prompted mode where that saves at least a fiftieth of
its whole bill: it then costs less as long as fewer than one answer in fifty has to be asked for again. Nothing is
chosen where a mode was set, or where the price or the cache is not known. The record keeps the mode with the seat.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from disputatio.engine.opening import Proposal, make_rules
from disputatio.engine.preview import course_plan, seat_profiles
from disputatio.engine.simulation import LaidOutCall, Simulation, TooLongError
from disputatio.ledger.prices import PriceBook
from disputatio.participants.caching import CachedCall, Prices, bill, cache_rules
from disputatio.participants.call import OutputMode, Usage
from disputatio.participants.model_seat import ModelSeating
from disputatio.prompts.definitions import with_definitions
from disputatio.record.text import canonical

LEAST_SAVED: Final = 0.02
"""Of the bill of a model, input and output together."""
MOST_CALLS: Final = 400
"""Of a course that is billed: a cache is looked through for every call, which takes the square of their number."""
_FORM_BYTES: Final = 120
"""Of the sentence before a schema in a prompt."""
_FEW: Final = 1000
"""Tokens at which prices are asked for: they rise for prompts of hundreds of thousands."""
_MOST_KEPT: Final = 64
_CHOSEN: OrderedDict[str, tuple[ModeChoice, ...]] = OrderedDict()


@dataclass(frozen=True, slots=True)
class ModeChoice:
    """How a model is asked because it costs less.

    Attributes:
        model: the model, with its provider.
        seats: the seats that it takes.
        usd: what its input is expected to cost so, in US dollars.
        native_usd: what it would cost in native mode.
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
    """``proposal`` with the cheaper mode in each seat for which none is set, and what was chosen."""
    open_seats = _open_seats(proposal)
    if not open_seats:
        return proposal, ()
    key = _key(proposal, open_seats)
    if key not in _CHOSEN:
        _CHOSEN[key] = await _choices(proposal, open_seats)
        if len(_CHOSEN) > _MOST_KEPT:
            _CHOSEN.popitem(last=False)
    chosen = _CHOSEN[key]
    prompted = {seat for row in chosen for seat in row.seats}
    seats = {
        seat: replace(row, mode=OutputMode.PROMPTED) if seat in prompted else row
        for seat, row in proposal.settings.seats.items()
    }
    return replace(proposal, settings=replace(proposal.settings, seats=seats)) if chosen else proposal, chosen


def _open_seats(proposal: Proposal) -> dict[str, ModelSeating]:
    """The seats whose mode is a question of money."""
    seats = proposal.format.seats_named([*proposal.settings.seats, *proposal.participants])
    rows = {seat: proposal.settings.seats[seat] for seat in seats if seat not in proposal.participants}
    return {
        seat: row
        for seat, row in rows.items()
        if row.mode is None and not row.piecewise and (rules := cache_rules(row)) and rules.schema_in_front
    }


def _key(proposal: Proposal, seats: Mapping[str, ModelSeating]) -> str:
    """What a choice rests on, sizes to the kilobyte: a few words more in a motion change nothing."""
    sizes = [len(proposal.motion.text) >> 10, sum(len(row.text) for row in proposal.evidence) >> 10]
    seated = [[seat, row.address, repr(row.price)] for seat, row in seats.items()]
    settings = proposal.settings
    length_profile = repr(seat_profiles(proposal))
    rules = repr(make_rules(proposal.format, settings))
    tools = repr((settings.tools, settings.tool_limits))
    return canonical([proposal.format.name, rules, seated, sizes, settings.stagger, length_profile, tools])


async def _choices(proposal: Proposal, seats: Mapping[str, ModelSeating]) -> tuple[ModeChoice, ...]:
    length_profile = {seat: replace(row, draws=False) for seat, row in seat_profiles(proposal).items()}
    try:
        course = Simulation(await course_plan(proposal, length_profile), length_profile, lays_out=True)
        await course.run()
    except (LookupError, TypeError, ValueError, AttributeError, TooLongError):
        # As of an estimate: there is none for forms of a user's own that no typical answer is known for.
        return ()
    if len(course.laid_out) > MOST_CALLS:
        return ()
    by_model: dict[str, list[str]] = {}
    for seat, row in seats.items():
        by_model.setdefault(row.address, []).append(seat)
    found = []
    for names in by_model.values():
        calls = [row for row in course.laid_out if row.seat in names]
        reasoning = sum(length_profile[row.seat].reasoning for row in calls)
        choice = _choice(seats[names[0]], tuple(names), calls, reasoning, staggered=proposal.settings.stagger)
        found += [choice] if choice else []
    return tuple(found)


def _choice(
    seating: ModelSeating, seats: tuple[str, ...], calls: Sequence[LaidOutCall], reasoning: int, *, staggered: bool
) -> ModeChoice | None:
    """The choice for one model; None where it is asked as usual."""
    rules, prices = cache_rules(seating), PriceBook()
    fresh = _usd(prices, seating, Usage(_FEW, 0, 0))
    if rules is None or fresh is None or not fresh:
        return None
    read, written, said = (
        _usd(prices, seating, usage) for usage in (Usage(_FEW, 0, _FEW), Usage(_FEW, 0, 0, _FEW), Usage(0, _FEW, 0))
    )
    if read is None or written is None or said is None:
        return None
    parts = Prices(float(read / fresh), float(written / fresh))
    native, prompted = (
        fresh * Decimal(bill(sent, rules, parts, staggered=staggered).cost)
        for sent in (native_calls(calls), prompted_calls(calls))
    )
    output = said * (sum(row.output_tokens for row in calls) + reasoning)
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
    """The calls with their schemas behind the task."""
    sent = []
    for row in calls:
        words = 0 if row.call.schema is None else len(canonical(with_definitions(row.call.schema))) + _FORM_BYTES
        sent.append(CachedCall(row.wave, row.shared, row.task + words // 4))
    return sent


def _usd(prices: PriceBook, seating: ModelSeating, usage: Usage) -> Decimal | None:
    """What one token of that kind costs."""
    charged = prices.charge(seating, None, usage).usd
    return None if charged is None else charged / _FEW
