"""Previews what a debate would take, without a call: runs its rules with answers of typical length.

Every prompt is composed and counted as it would be sent: rules, motion, evidence, schemas. The length of answers is
assumed from length profiles (``disputatio.participants.length_profiles``): all of the output, and the part of the input
that repeats it. Failed calls are not counted. A token is four bytes. Tools count at their most: as if every seat that
has tools used all its rounds.
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
    """What one seat would take. ``usd`` is None if no price is known.

    ``said_tokens`` is the assumed part of the input, which repeats what seats would have said. ``reasoning_tokens`` is
    the part of the output for reasoning, ``cached_usd`` the cost with all input cached.
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
    """What a debate would take. ``usd`` is None if the price of a seat is unknown."""

    seats: tuple[SeatPreview, ...]

    def in_batches(self, seatings: Mapping[str, ModelSeating]) -> Preview:
        """The same with the price of batches, for the seats whose calls can go in batches."""
        rows = (
            replace(row, usd=_batched(row.usd), cached_usd=_batched(row.cached_usd))
            if row.seat in seatings and is_batched(seatings[row.seat])
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
        """The part of the output for reasoning."""
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
    """Takes the place of a real client, because a preview makes no calls."""

    modes = (OutputMode.NATIVE,)

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:  # noqa: ARG002
        raise AssertionError("a preview makes no calls")

    async def probe(self) -> Fault | None:
        return None

    async def aclose(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Stage:
    """What a debate has taken by the end of ``phase``: calls, and tokens of input and output together."""

    phase: str
    calls: int
    tokens: int


SIMULATIONS = 6
"""How many simulations an estimate is the mean of, if choices are random."""

_ALIKE = 0.05
_BRIEF = 120
"""Characters of a brief text: a sentence or two."""
_PLACEHOLDER = ModelSeating(provider="embedded", model="nobody")


class Simulations:
    """The simulated courses of one proposal. Each runs once, however many figures use it."""

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal
        self._simulated: dict[tuple[object, ...], tuple[Plan, list[SimulatedCall]]] = {}
        self._prices = PriceBook()

    async def run(self, profiles: Mapping[str, LengthProfile], number: int = 0) -> tuple[Plan, list[SimulatedCall]]:
        """The plan and the calls of a simulation whose seats have these length profiles.

        Raises:
            InvalidInputError: something in the proposal is unusable, or the debate is too long.
        """
        # Reasoning adds tokens to each call, and changes nothing else.
        profiles = {seat: replace(row, reasoning=0, reasoning_range=(0, 0)) for seat, row in profiles.items()}
        key = (number, *profiles.items())
        if key not in self._simulated:
            simulation = Simulation(await simulated_plan(self.proposal, profiles), profiles, number)
            await simulation.run()
            self._simulated[key] = simulation.plan, simulation.calls
        return self._simulated[key]

    async def preview(self, profiles: Mapping[str, LengthProfile], number: int = 0) -> Preview:
        """What such a simulation takes, seat by seat. Raises what ``run`` raises."""
        plan, all_calls = await self.run(profiles, number)
        calls: dict[str, list[SimulatedCall]] = {seat: [] for seat in plan.assignments}
        for row in all_calls:
            calls[row.seat].append(row)
        return Preview(
            tuple(
                _seat_preview(seat, occupant, calls[seat], profiles[seat].reasoning, self._prices)
                for seat, occupant in plan.assignments.items()
                if isinstance(occupant, ModelSeat) and seat not in self.proposal.participants
            )
        )


def _batched(usd: Decimal | None) -> Decimal | None:
    return None if usd is None else usd * BATCH_SHARE


async def preview(proposal: Proposal, simulations: Simulations | None = None, *, batch: bool = False) -> Preview:
    """What ``proposal`` would take, by the length profiles of the models in its seats.

    If a profile chooses at random, a debate may end after one round or only after the last. The preview is then the
    mean over ``SIMULATIONS``, unless the first two are alike. Long debates have fewer simulations, with at most
    ``MOST_TURNS`` calls together.

    Args:
        proposal: the debate.
        simulations: its simulations, if other figures use them too.
        batch: whether calls go in batches if they can.

    Raises:
        InvalidInputError: something in the proposal is unusable, or the debate is too long.
    """
    simulations, profiles = simulations or Simulations(proposal), seat_profiles(proposal)
    rows = [await simulations.preview(profiles)]
    while any(row.draws for row in profiles.values()) and len(rows) < SIMULATIONS:
        if len(rows) == 2 and abs(rows[0].tokens - rows[1].tokens) <= _ALIKE * rows[0].tokens:
            break
        if sum(row.calls for row in rows) + max(row.calls for row in rows) > MOST_TURNS:
            break
        rows.append(await simulations.preview(profiles, len(rows)))
    mean = _mean(rows)
    return mean.in_batches(proposal.settings.seats) if batch else mean


async def preview_range(
    proposal: Proposal, expected: Preview, simulations: Simulations | None = None
) -> tuple[Preview, Preview]:
    """The least and the most that ``proposal`` takes; ``expected`` is its preview.

    The least: a sentence in place of a paragraph, the earliest possible agreement, no reasoning, and all input cached.
    The most: eight tenths of what the schemas allow, every round, and much reasoning. If the length of a model's texts
    is declared or configured, it applies to both, and only lists, rounds and reasoning differ. Rejected answers and
    failed calls are in neither.

    Raises:
        InvalidInputError: something in the proposal is unusable, or the debate is too long.
    """
    simulations, seats = simulations or Simulations(proposal), seat_profiles(proposal)
    least, most = ({seat: end(row) for seat, row in seats.items()} for end in (LengthProfile.least, LengthProfile.most))
    ends = [least, most]
    if any(row.reasoning_range[1] for row in seats.values()):
        # If speaking time is in words, short speeches mean more calls, each with its reasoning.
        ends += [
            {seat: replace(row, reasoning=end[seat].reasoning) for seat, row in profiles.items()}
            for profiles, end in ((least, most), (most, least), (seats, least), (seats, most))
        ]
    if hasattr(proposal.format.rules, "free_cap"):
        # If speaking time is in words, brief debaters make the most speeches.
        ends.append({seat: row if row.characters else replace(row, characters=_BRIEF) for seat, row in least.items()})
    # With known lengths the ends are close together, and random choices may exceed them.
    previews = [expected, *[await simulations.preview(row) for row in ends]]
    fewest = min(previews, key=lambda row: row.tokens)
    longest = max(previews, key=lambda row: row.tokens)
    # The simulation with the most tokens need not have the most calls.
    calls = [[row.calls for row in same] for same in zip(*(row.seats for row in previews), strict=True)]
    return (
        Preview(
            tuple(
                replace(row, usd=row.cached_usd, calls=min(counts))
                for row, counts in zip(fewest.seats, calls, strict=True)
            )
        ),
        Preview(tuple(replace(row, calls=max(counts)) for row, counts in zip(longest.seats, calls, strict=True))),
    )


async def preview_stages(proposal: Proposal, simulations: Simulations | None = None) -> tuple[Stage, ...]:
    """What the longest course of ``proposal`` has taken by the end of each phase.

    Raises:
        InvalidInputError: something in the proposal is unusable, or the debate is too long.
    """
    profiles = {seat: replace(row, draws=False) for seat, row in seat_profiles(proposal).items()}
    return _stages((await (simulations or Simulations(proposal)).run(profiles))[1], profiles)


async def early_ends(proposal: Proposal, simulations: Simulations | None = None) -> tuple[Stage, ...]:
    """The stages after which ``proposal`` may end, if there are several; empty if it always runs to its last phase.

    Raises:
        InvalidInputError: something in the proposal is unusable, or the debate is too long.
    """
    simulations = simulations or Simulations(proposal)
    longest = await preview_stages(proposal, simulations)
    shortest = _stages((await simulations.run(dict.fromkeys(seat_profiles(proposal), SHORT)))[1], {})
    if len(shortest) == len(longest):
        return ()
    # A panel counts its votes after every phase. Other formats end with the last phase of their first round.
    return tuple(row for row in longest if proposal.format.free_seats or row.phase.startswith(shortest[-1].phase))


def _stages(calls: Sequence[SimulatedCall], profiles: Mapping[str, LengthProfile]) -> tuple[Stage, ...]:
    stages: dict[str, Stage] = {}
    tokens = 0
    for number, row in enumerate(calls, start=1):
        tokens += row.input_tokens + row.output_tokens
        tokens += profiles[row.seat].reasoning if row.seat in profiles else 0
        stages[row.phase] = Stage(row.phase, number, tokens)
    return tuple(stages.values())


def seat_profiles(proposal: Proposal) -> dict[str, LengthProfile]:
    """The length profile of each seat: the configured one, or that of its model."""
    configured = proposal.settings.estimate
    profiles: dict[str, LengthProfile] = {}
    for seat in proposal.format.seats_named([*proposal.settings.seats, *proposal.participants]):
        profile = USUAL if seat in proposal.participants else _profile_of(proposal.settings.seats[seat])
        if configured.characters is not None:
            profile = replace(profile, characters=configured.characters, by_field=())
        elif configured.share is not None:
            profile = replace(profile, share=configured.share, characters=None)
        profiles[seat] = profile
    return profiles


def _profile_of(seating: ModelSeating) -> LengthProfile:
    """The length profile of a model, with the reasoning that it has shown or is assumed to need."""
    least, usual, most = expected_reasoning(seating, PROCESS_ALLOWANCES.seen(seating))
    return replace(length_profile_of(seating), reasoning=usual, reasoning_range=(least, most))


async def simulated_plan(proposal: Proposal, profiles: Mapping[str, LengthProfile]) -> Plan:
    """The plan of a simulation of ``proposal``."""
    assignments: dict[str, Occupant] = {}
    for seat in profiles:
        # A preview does not ask participants: one may be a person, or count its calls.
        seating = _PLACEHOLDER if seat in proposal.participants else proposal.settings.seats[seat]
        if seat not in proposal.participants and is_rule_based(seating):
            assignments[seat] = make_analyst(seating, seat, proposal.format)
            continue
        assignments[seat] = ModelSeat((replace(seating, fallback=None),), (_NoClient(),))
    words, _ = name_tools(proposal.settings, assignments)
    plan = await prepare_plan(proposal, assignments, open_prompts(proposal.prompts))
    rules = plan.rules if any(row.invents for row in profiles.values()) else _without_rule_asks(plan.rules)
    return replace(plan, rules=rules, tools=PreviewTools(words, proposal.settings.tool_limits))


def _mean(previews: Sequence[Preview]) -> Preview:
    """The mean of each seat, rounded. All simulations of a debate have the same seats."""
    if len(previews) == 1:
        return previews[0]
    counts = ("calls", "input_tokens", "output_tokens", "said_tokens", "reasoning_tokens")
    rows = []
    for same in zip(*(row.seats for row in previews), strict=True):
        means: dict[str, Any] = {name: round(fmean(getattr(row, name) for row in same)) for name in counts}
        for name in ("usd", "cached_usd"):
            cost = _sum(getattr(row, name) for row in same)
            means[name] = None if cost is None else cost / len(same)
        rows.append(replace(same[0], **means))
    return Preview(tuple(rows))


def _without_rule_asks(rules: Any) -> Any:
    """The rules without retries of turns that break one: made-up words quote nothing and may be of the wrong kind."""
    values = {row.name: getattr(rules, row.name) for row in fields(rules)}
    limits = {name: replace(row, rule_asks=0) for name, row in values.items() if isinstance(row, Limits)}
    return replace(rules, **limits)


def _seat_preview(
    seat: str, occupant: ModelSeat, calls: Sequence[SimulatedCall], reasoning: int, prices: PriceBook
) -> SeatPreview:
    """What a seat takes if its model spends ``reasoning`` tokens on reasoning in each call."""
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
    """The sum of ``costs``; None if one is unknown."""
    rows = list(costs)
    return None if None in rows else sum((cost for cost in rows if cost is not None), Decimal(0))


def describe_assumptions(proposal: Proposal) -> str:
    """The assumptions about answers, in a sentence for people."""
    answers = dict.fromkeys(_describe_profile(row) for row in seat_profiles(proposal).values())
    sentence = f"Assumed: {'; '.join(answers)}. Four bytes to a token; nothing cached, no call failed."
    return " ".join([sentence, *_describe_reasoning(proposal)])


def _describe_reasoning(proposal: Proposal) -> Iterator[str]:
    """The assumption about each model that reasons, in a sentence."""
    profiles = seat_profiles(proposal)
    models = {
        model_key(row): (row, profiles[seat]) for seat, row in proposal.settings.seats.items() if seat in profiles
    }
    for seating, row in models.values():
        calls = PROCESS_ALLOWANCES.seen(seating).calls
        if calls >= FEWEST_SEEN and row.reasoning_range[1]:
            yield f"{seating.model} reasons {row.reasoning:,} tokens a call, the mean of {calls} calls."
        elif row.reasoning_range[1]:
            yield (
                f"{seating.model} reasons {row.reasoning:,} tokens a call, at most {row.reasoning_range[1]:,}: a "
                "guess, until debates in the store show what it needs."
            )


def _describe_profile(profile: LengthProfile) -> str:
    if profile.by_field:
        return "a made-up sentence for each text and choices at random, as the fake provider answers"
    share = f"texts {profile.share:.0%} as long as the form allows"
    length = f"texts of {profile.characters} characters" if profile.characters else share
    return f"{length}, every round held, nothing rejected"


ESTIMATE_NOTE = (
    "An estimate: answers half as long as the form allows, nothing rejected, four bytes to a token, nothing cached. A "
    "model that is known to reason takes 2,000 more tokens a call."
)
