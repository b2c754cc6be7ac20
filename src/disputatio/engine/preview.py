"""What a debate would take, without a call: the rules are run with answers of typical length.

What is sent is counted, since every prompt is composed as it would be: rules, motion, evidence, forms. What models say
is assumed, by their habits (``disputatio.participants.length_profiles``): all of the output, and the part of the input
that is read again of it. Calls that fail are not in it. Tokens are four bytes each. Tools are counted at most: as if
every seat that has some used all its rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from statistics import fmean
from typing import Any

from disputatio.engine.debate_run import Plan
from disputatio.engine.market_setup import is_rule_based, make_analyst
from disputatio.engine.opening import Proposal, open_prompts, prepare_plan
from disputatio.engine.seat_assignments import PROCESS_ALLOWANCES, ModelSeat, Occupant, fallback_chain
from disputatio.engine.simulation import MOST_TURNS, SimulatedCall, Simulation
from disputatio.engine.tool_use import PreviewTools, name_tools
from disputatio.kernel import Limits
from disputatio.ledger.budget import TYPICAL_BYTES_PER_TOKEN
from disputatio.ledger.prices import BATCH_SHARE, PriceBook
from disputatio.participants.batch.collector import is_batched
from disputatio.participants.call import Call, Fault, OnText, OutputMode, Reply, Usage
from disputatio.participants.length_profiles import SHORT, USUAL, LengthProfile, length_profile_of
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.reasoning import FEWEST_SEEN, expected_reasoning, model_key


@dataclass(frozen=True, slots=True)
class SeatPreview:
    """What one seat would take. ``usd`` is None where no price is known.

    ``said_tokens`` is the part of the input that is assumed: what seats would have said before. ``reasoning_tokens`` is
    the part of the output that its model would reason, ``cached_usd`` the cost with all input cached.
    """

    seat: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: Decimal | None
    said_tokens: int = 0
    reasoning_tokens: int = 0
    cached_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a debate would take. ``usd`` is None where the price of a seat is not known."""

    seats: tuple[SeatPreview, ...]

    def in_batches(self, seated: Mapping[str, ModelSeating]) -> Preview:
        """The same with the price of batches, for the seats whose calls can go in batches."""
        rows = (
            replace(row, usd=_batched(row.usd), cached_usd=_batched(row.cached_usd))
            if row.seat in seated and is_batched(seated[row.seat])
            else row
            for row in self.seats
        )
        return Preview(tuple(rows))

    @property
    def calls(self) -> int:
        """All calls."""
        return sum(row.calls for row in self.seats)

    @property
    def input_tokens(self) -> int:
        """All input tokens, cached or not."""
        return sum(row.input_tokens for row in self.seats)

    @property
    def said_tokens(self) -> int:
        """The part of the input that is assumed."""
        return sum(row.said_tokens for row in self.seats)

    @property
    def output_tokens(self) -> int:
        """All output tokens."""
        return sum(row.output_tokens for row in self.seats)

    @property
    def reasoning_tokens(self) -> int:
        """The part of the output that models would reason."""
        return sum(row.reasoning_tokens for row in self.seats)

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    @property
    def usd(self) -> Decimal | None:
        """The cost with nothing cached."""
        return _sum(row.usd for row in self.seats)


class _NoClient:
    """Stands where a real gateway would; a preview makes no calls."""

    modes = (OutputMode.NATIVE,)

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:  # noqa: ARG002
        raise AssertionError("a preview calls nobody")

    async def probe(self) -> Fault | None:
        return None

    async def aclose(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Stage:
    """What a debate has taken when ``phase`` is over: calls, and tokens of input and output together."""

    phase: str
    calls: int
    tokens: int


SIMULATIONS = 6
"""Courses of a debate that an estimate is the mean of, where choices are drawn."""

_ALIKE = 0.05
_BRIEF = 120
"""Characters of a brief text: a sentence or two."""
_PLACEHOLDER = ModelSeating(provider="embedded", model="nobody")


class Simulations:
    """The simulated courses of one proposal. Each runs once, however many figures use it."""

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal
        self._held: dict[tuple[object, ...], tuple[Plan, list[SimulatedCall]]] = {}
        self._prices = PriceBook()

    async def of(
        self, length_profile: Mapping[str, LengthProfile], number: int = 0
    ) -> tuple[Plan, list[SimulatedCall]]:
        """What a course rests on whose seats have these habits, and its calls.

        Raises:
            InvalidInputError: something in the proposal cannot be used, or the course is too long.
        """
        # Reasoning comes on top of each call, and changes nothing else.
        length_profile = {
            seat: replace(row, reasoning=0, reasoning_range=(0, 0)) for seat, row in length_profile.items()
        }
        key = (number, *length_profile.items())
        if key not in self._held:
            course = Simulation(await course_plan(self.proposal, length_profile), length_profile, number)
            await course.run()
            self._held[key] = course.plan, course.calls
        return self._held[key]

    async def preview(self, length_profile: Mapping[str, LengthProfile], number: int = 0) -> Preview:
        """What such a course takes, seat by seat. Raises as ``of``."""
        plan, made = await self.of(length_profile, number)
        calls: dict[str, list[SimulatedCall]] = {seat: [] for seat in plan.table}
        for row in made:
            calls[row.seat].append(row)
        return Preview(
            tuple(
                _seat_preview(seat, occupant, calls[seat], length_profile[seat].reasoning, self._prices)
                for seat, occupant in plan.table.items()
                if isinstance(occupant, ModelSeat) and seat not in self.proposal.participants
            )
        )


def _batched(usd: Decimal | None) -> Decimal | None:
    return None if usd is None else usd * BATCH_SHARE


async def preview(proposal: Proposal, courses: Simulations | None = None, *, batch: bool = False) -> Preview:
    """What ``proposal`` would take, by the habits of the models in its seats.

    Where one of them chooses at random, a debate may be over after one round or go on to the last: the mean over
    ``SIMULATIONS`` is taken, unless the first two are alike. Of long debates fewer are taken, so that all of them
    together have no more than ``MOST_TURNS`` calls.

    Args:
        proposal: the debate.
        courses: its courses, where other figures are taken from them too.
        batch: whether calls go in batches where they can.

    Raises:
        InvalidInputError: something in it cannot be used, or it is too long.
    """
    courses, length_profile = courses or Simulations(proposal), seat_profiles(proposal)
    held = [await courses.preview(length_profile)]
    while any(row.draws for row in length_profile.values()) and len(held) < SIMULATIONS:
        if len(held) == 2 and abs(held[0].tokens - held[1].tokens) <= _ALIKE * held[0].tokens:
            break
        if sum(row.calls for row in held) + max(row.calls for row in held) > MOST_TURNS:
            break
        held.append(await courses.preview(length_profile, len(held)))
    found = _mean(held)
    return found.in_batches(proposal.settings.seats) if batch else found


async def preview_range(
    proposal: Proposal, seen: Preview, courses: Simulations | None = None
) -> tuple[Preview, Preview]:
    """The least and the most to expect of ``proposal``, whose preview is ``seen``.

    The least: a sentence where a paragraph may stand, agreement as soon as there can be, no reasoning, and all input
    cached. The most: eight tenths of what the forms allow, every round, and much reasoning. Where the length of a
    model's texts is declared or told, it holds for both, and only lists, rounds and reasoning differ. Answers that are
    not accepted, and calls that fail, are in neither.

    Raises:
        InvalidInputError: something in it cannot be used, or it is too long.
    """
    courses, seats = courses or Simulations(proposal), seat_profiles(proposal)
    least, most = ({seat: end(row) for seat, row in seats.items()} for end in (LengthProfile.least, LengthProfile.most))
    ends = [least, most]
    if any(row.reasoning_range[1] for row in seats.values()):
        # Where time is counted in words, short speeches are more calls, each of which reasons.
        ends += [
            {seat: replace(row, reasoning=end[seat].reasoning) for seat, row in length_profile.items()}
            for length_profile, end in ((least, most), (most, least), (seats, least), (seats, most))
        ]
    if hasattr(proposal.format.rules, "free_cap"):
        # Time that is counted in words holds more speeches of brief debaters than of any other.
        ends.append({seat: row if row.characters else replace(row, characters=_BRIEF) for seat, row in least.items()})
    # Where lengths are known the ends lie close together, and random choices may lead out of them.
    found = [seen, *[await courses.preview(row) for row in ends]]
    fewest = min(found, key=lambda row: row.tokens)
    longest = max(found, key=lambda row: row.tokens)
    # The course with the most tokens need not be the one with the most calls.
    calls = [[row.calls for row in same] for same in zip(*(row.seats for row in found), strict=True)]
    least_of = zip(fewest.seats, calls, strict=True)
    cached = Preview(tuple(replace(row, usd=row.cached_usd, calls=min(made)) for row, made in least_of))
    return cached, Preview(tuple(replace(row, calls=max(made)) for row, made in zip(longest.seats, calls, strict=True)))


async def preview_stages(proposal: Proposal, courses: Simulations | None = None) -> tuple[Stage, ...]:
    """What the longest course of ``proposal`` has taken by the end of each phase.

    Raises:
        InvalidInputError: something in it cannot be used, or it is too long.
    """
    length_profile = {seat: replace(row, draws=False) for seat, row in seat_profiles(proposal).items()}
    return _stages((await (courses or Simulations(proposal)).of(length_profile))[1], length_profile)


async def early_ends(proposal: Proposal, courses: Simulations | None = None) -> tuple[Stage, ...]:
    """The stages after which ``proposal`` may be over, where there are several; none where it always goes to the end.

    Raises:
        InvalidInputError: something in it cannot be used, or it is too long.
    """
    courses = courses or Simulations(proposal)
    longest = await preview_stages(proposal, courses)
    shortest = _stages((await courses.of(dict.fromkeys(seat_profiles(proposal), SHORT)))[1], {})
    if len(shortest) == len(longest):
        return ()
    # A panel counts its votes after every phase; other formats end with the phase that ends their first round.
    return tuple(row for row in longest if proposal.format.free_seats or row.phase.startswith(shortest[-1].phase))


def _stages(calls: Sequence[SimulatedCall], length_profile: Mapping[str, LengthProfile]) -> tuple[Stage, ...]:
    stages: dict[str, Stage] = {}
    tokens = 0
    for number, row in enumerate(calls, start=1):
        tokens += (
            row.input_tokens
            + row.output_tokens
            + (length_profile[row.seat].reasoning if row.seat in length_profile else 0)
        )
        stages[row.phase] = Stage(row.phase, number, tokens)
    return tuple(stages.values())


def seat_profiles(proposal: Proposal) -> dict[str, LengthProfile]:
    """How the model in each seat is taken to answer: as was set, else as is declared of it."""
    told = proposal.settings.estimate
    length_profile: dict[str, LengthProfile] = {}
    for seat in proposal.format.seats_named([*proposal.settings.seats, *proposal.participants]):
        script = seat in proposal.participants
        known = USUAL if script else _with_reasoning(length_profile_of(proposal.settings.seats[seat]), proposal, seat)
        if told.characters is not None:
            known = replace(known, characters=told.characters, by_field=())
        elif told.share is not None:
            known = replace(known, share=told.share, characters=None)
        length_profile[seat] = known
    return length_profile


def _with_reasoning(length_profile: LengthProfile, proposal: Proposal, seat: str) -> LengthProfile:
    """``length_profile`` with what is known or assumed of how much the seat's model reasons."""
    seating = proposal.settings.seats[seat]
    least, usual, most = expected_reasoning(seating, PROCESS_ALLOWANCES.seen(seating))
    return replace(length_profile, reasoning=usual, reasoning_range=(least, most))


async def course_plan(proposal: Proposal, length_profile: Mapping[str, LengthProfile]) -> Plan:
    """What a course of ``proposal`` rests on."""
    table: dict[str, Occupant] = {}
    for seat in length_profile:
        # A script is not run for a preview: it may count its calls, or be a person.
        seating = _PLACEHOLDER if seat in proposal.participants else proposal.settings.seats[seat]
        if seat not in proposal.participants and is_rule_based(seating):
            table[seat] = make_analyst(seating, seat, proposal.format)
            continue
        table[seat] = ModelSeat((replace(seating, fallback=None),), (_NoClient(),))
    words, _ = name_tools(proposal.settings, table)
    plan = await prepare_plan(proposal, table, open_prompts(proposal.prompts))
    plan = replace(plan, tools=PreviewTools(words, proposal.settings.tool_limits))
    return (
        plan
        if any(row.invents for row in length_profile.values())
        else replace(plan, rules=_without_rule_asks(plan.rules))
    )


def _mean(previews: Sequence[Preview]) -> Preview:
    """Seat by seat, rounded; a preview has the same seats whatever its course."""
    if len(previews) == 1:
        return previews[0]
    rows = []
    for same in zip(*(row.seats for row in previews), strict=True):
        calls, said = round(fmean(row.calls for row in same)), round(fmean(row.said_tokens for row in same))
        tokens_in = round(fmean(row.input_tokens for row in same))
        tokens_out = round(fmean(row.output_tokens for row in same))
        costs = [_sum(row.usd for row in same), _sum(row.cached_usd for row in same)]
        usd, cached = (None if cost is None else cost / len(same) for cost in costs)
        row = replace(same[0], calls=calls, input_tokens=tokens_in, output_tokens=tokens_out, usd=usd, said_tokens=said)
        reasoning = round(fmean(row.reasoning_tokens for row in same))
        rows.append(replace(row, reasoning_tokens=reasoning, cached_usd=cached))
    return Preview(tuple(rows))


def _without_rule_asks(rules: Any) -> Any:
    """The rules with nobody asked again for breaking one: typical words quote nothing and may be of the wrong kind."""
    limits = {row.name: getattr(rules, row.name) for row in fields(rules)}
    held = {name: replace(row, rule_asks=0) for name, row in limits.items() if isinstance(row, Limits)}
    return replace(rules, **held)


def _seat_preview(
    seat: str, occupant: ModelSeat, calls: Sequence[SimulatedCall], reasoning: int, prices: PriceBook
) -> SeatPreview:
    """What a seat takes whose model reasons so many tokens in each call."""
    costs: list[list[Decimal | None]] = [
        [
            prices.charge(
                occupant.seatings[0], None, Usage(row.input_tokens, row.output_tokens + reasoning, cached)
            ).usd
            for cached in (0, row.input_tokens)
        ]
        for row in calls
    ]
    tokens_in, said = sum(row.input_tokens for row in calls), sum(row.said_bytes for row in calls)
    return SeatPreview(
        seat,
        fallback_chain(occupant.seatings[0])[0].address,
        len(calls),
        tokens_in,
        sum(row.output_tokens for row in calls) + len(calls) * reasoning,
        _sum(row[0] for row in costs),
        min(tokens_in, round(said / TYPICAL_BYTES_PER_TOKEN)),
        len(calls) * reasoning,
        _sum(row[1] for row in costs),
    )


def _sum(costs: Iterable[Decimal | None]) -> Decimal | None:
    """Their sum; None where one is not known."""
    rows = list(costs)
    return None if None in rows else sum((cost for cost in rows if cost is not None), Decimal(0))


def describe_assumptions(proposal: Proposal) -> str:
    """What is assumed of the answers of ``proposal``, in a sentence for people."""
    told = dict.fromkeys(_assumed(row) for row in seat_profiles(proposal).values())
    answers = f"Assumed: {'; '.join(told)}. Four bytes to a token; nothing cached, no call failed."
    return " ".join([answers, *_assumed_reasoning(proposal)])


def _assumed_reasoning(proposal: Proposal) -> Iterator[str]:
    """What is assumed of the reasoning of each model that reasons, a sentence each."""
    length_profile = seat_profiles(proposal)
    seated = {
        model_key(row): (row, length_profile[seat])
        for seat, row in proposal.settings.seats.items()
        if seat in length_profile
    }
    for seating, row in seated.values():
        calls = PROCESS_ALLOWANCES.seen(seating).calls
        if calls >= FEWEST_SEEN and row.reasoning_range[1]:
            yield f"{seating.model} reasons {row.reasoning:,} tokens a call, the mean of {calls} calls."
        elif row.reasoning_range[1]:
            yield (
                f"{seating.model} reasons {row.reasoning:,} tokens a call, at most {row.reasoning_range[1]:,}: a "
                "guess, until debates in the store show what it takes."
            )


def _assumed(length_profile: LengthProfile) -> str:
    if length_profile.by_field:
        return "a made-up sentence for each text and choices at random, as the fake provider answers"
    share = f"texts {length_profile.share:.0%} as long as the form allows"
    length = f"texts of {length_profile.characters} characters" if length_profile.characters else share
    return f"{length}, every round held, nothing rejected"


ESTIMATE_NOTE = (
    "An estimate: answers half as long as the form allows, nothing rejected, four bytes to a token, nothing cached. A "
    "model that is known to reason takes 2,000 more tokens a call."
)
