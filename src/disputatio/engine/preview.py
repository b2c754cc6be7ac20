"""What a debate would take, without a call: the rules are run with answers of typical length.

What is sent is counted, since every prompt is composed as it would be: rules, motion, evidence, forms. What models say
is assumed, by their habits (``disputatio.participants.habits``): all of the output, and the part of the input that is
read again of it. Calls that fail are not in it. Tokens are four bytes each. Tools are counted at most: as if every seat
that has some used all its rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from math import ceil
from statistics import fmean
from typing import Any

from disputatio.engine.journal import Journal
from disputatio.engine.market_matter import analyst_for, is_rules
from disputatio.engine.opening import Proposal, book_of, opened_event, plan_of
from disputatio.engine.ports import Nobody, SystemClock
from disputatio.engine.running import Running
from disputatio.engine.table import ModelSeat, Sitter, chain_of
from disputatio.engine.toolboxes import PreviewTools, tool_words
from disputatio.engine.typical import Typical
from disputatio.kernel import JsonObject, Limits
from disputatio.ledger import UNLIMITED, Ledger, PriceBook
from disputatio.ledger.ledger import call_size
from disputatio.ledger.tokens import MESSAGE_OVERHEAD, TYPICAL_BYTES_PER_TOKEN
from disputatio.participants.call import Call, Fault, OnText, OutputMode, Reply, Usage
from disputatio.participants.habits import SHORT, USUAL, Habits, habits_of
from disputatio.participants.seating import ModelSeating
from disputatio.record.history import History
from disputatio.record.memory import MemoryStore
from disputatio.record.text import canonical
from disputatio.tools import CHOICE_FORM


@dataclass(frozen=True, slots=True)
class SeatPreview:
    """What one seat would take. ``usd`` is None where no price is known.

    ``said_tokens`` is the part of the input that is assumed: what seats would have said before.
    """

    seat: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: Decimal | None
    said_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Preview:
    """What a debate would take. ``usd`` is None where the price of a seat is not known."""

    seats: tuple[SeatPreview, ...]

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
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    @property
    def usd(self) -> Decimal | None:
        """The cost with nothing cached."""
        costs = [row.usd for row in self.seats]
        return None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0))


class _TypicalGateway:
    """Answers every call with an answer of typical length."""

    modes = (OutputMode.NATIVE,)

    def __init__(self, tool_calls: int, typical: Typical) -> None:
        self._tool_calls, self._looked_up, self._typical = tool_calls, 0, typical
        self.said_bytes = 0

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:  # noqa: ARG002
        schema: JsonObject = call.schema or {"type": "string"}
        self.said_bytes += self._typical.said_in([segment.text for segment in call.segments])
        text = canonical(self._choice() if call.schema_name == CHOICE_FORM else self._typical.answer(schema))
        size, messages = call_size(call)
        tokens_in = ceil(size / TYPICAL_BYTES_PER_TOKEN) + MESSAGE_OVERHEAD // 4 * messages
        tokens_out = ceil(len(text.encode()) / TYPICAL_BYTES_PER_TOKEN)
        return Reply(text, None, Usage(tokens_in, tokens_out, 0))

    def _choice(self) -> JsonObject:
        """As many calls of tools as there may be, none of them twice."""
        self._looked_up += self._tool_calls
        numbers = range(self._looked_up - self._tool_calls, self._looked_up)
        return {"calls": [{"tool": "typical", "arguments": {"query": f"typical {n}"}} for n in numbers]}

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


COURSES = 6
"""Courses of a debate that an estimate is the mean of, where choices are drawn."""

_ALIKE = 0.05
_NOBODY = ModelSeating(provider="embedded", model="nobody")


async def preview(proposal: Proposal) -> Preview:
    """What ``proposal`` would take, by the habits of the models in its seats.

    Where one of them chooses at random, a debate may be over after one round or go on to the last: the mean over
    ``COURSES`` is taken, unless the first two are alike.

    Raises:
        InvalidInputError: something in it cannot be used.
    """
    habits = seat_habits(proposal)
    held = [await _held(proposal, habits)]
    if any(row.draws for row in habits.values()):
        held.append(await _held(proposal, habits, 1))
        if abs(held[0].tokens - held[1].tokens) > _ALIKE * held[0].tokens:
            held += [await _held(proposal, habits, course) for course in range(2, COURSES)]
    return _mean(held)


async def preview_range(proposal: Proposal, seen: Preview) -> tuple[Preview, Preview]:
    """The least and the most to expect of ``proposal``, whose preview is ``seen``.

    The least: a sentence where a paragraph may stand, and agreement as soon as there can be. The most: half of what
    the forms allow, and every round. Where the length of a model's texts is declared or told, it holds for both, and
    only lists and rounds differ. Answers that are not accepted, and calls that fail, are in neither.

    Raises:
        InvalidInputError: something in it cannot be used.
    """
    seats = seat_habits(proposal)
    least = await _held(proposal, {seat: row.least() for seat, row in seats.items()})
    most = await _held(proposal, {seat: row.most() for seat, row in seats.items()})
    # Where lengths are known the ends lie close together, and random choices may lead out of them.
    return min(least, seen, key=lambda row: row.tokens), max(most, seen, key=lambda row: row.tokens)


async def preview_stages(proposal: Proposal) -> tuple[Stage, ...]:
    """What the longest course of ``proposal`` has taken by the end of each phase.

    Raises:
        InvalidInputError: something in it cannot be used.
    """
    habits = {seat: replace(row, draws=False) for seat, row in seat_habits(proposal).items()}
    return _stages((await _run(proposal, habits))[1])


async def early_ends(proposal: Proposal) -> tuple[Stage, ...]:
    """The stages after which ``proposal`` may be over, where there are several; none where it always goes to the end.

    Raises:
        InvalidInputError: something in it cannot be used.
    """
    longest = await preview_stages(proposal)
    shortest = _stages((await _run(proposal, dict.fromkeys(seat_habits(proposal), SHORT)))[1])
    if len(shortest) == len(longest):
        return ()
    # A panel counts its votes after every phase; other formats end with the phase that ends their first round.
    return tuple(row for row in longest if proposal.format.free_seats or row.phase.startswith(shortest[-1].phase))


def _stages(history: History) -> tuple[Stage, ...]:
    stages: dict[str, Stage] = {}
    calls = tokens = 0
    for row in history.calls:
        usage: Any = history.made[row.call].usage
        calls, tokens = calls + 1, tokens + usage["input_tokens"] + usage["output_tokens"]
        phase = history.asked[row.path].phase
        stages[phase] = Stage(phase, calls, tokens)
    return tuple(stages.values())


def seat_habits(proposal: Proposal) -> dict[str, Habits]:
    """How the model in each seat is taken to answer: as was set, else as is declared of it."""
    told = proposal.settings.estimate
    habits: dict[str, Habits] = {}
    for seat in proposal.format.seats_named([*proposal.settings.seats, *proposal.participants]):
        known = USUAL if seat in proposal.participants else habits_of(proposal.settings.seats[seat])
        if told.characters is not None:
            known = replace(known, characters=told.characters, by_field=())
        elif told.share is not None:
            known = replace(known, share=told.share, characters=None)
        habits[seat] = known
    return habits


async def _held(proposal: Proposal, habits: Mapping[str, Habits], course: int = 0) -> Preview:
    table, history = await _run(proposal, habits, course)
    return Preview(
        tuple(
            _seat_preview(seat, sitter, history)
            for seat, sitter in table.items()
            if isinstance(sitter, ModelSeat) and seat not in proposal.participants
        )
    )


async def _run(proposal: Proposal, habits: Mapping[str, Habits], course: int = 0) -> tuple[dict[str, Sitter], History]:
    table: dict[str, Sitter] = {}
    typical = {row: Typical(row, course) for row in dict.fromkeys(habits.values())}
    tool_calls = proposal.settings.tool_limits.calls
    for seat, habit in habits.items():
        # A script is not run for a preview: it may count its calls, or be a person.
        seating = _NOBODY if seat in proposal.participants else proposal.settings.seats[seat]
        if seat not in proposal.participants and is_rules(seating):
            table[seat] = analyst_for(seating, seat, proposal.format)
            continue
        gateway = _TypicalGateway(tool_calls, typical[habit])
        table[seat] = ModelSeat((replace(seating, fallback=None),), (gateway,))
    words, _ = tool_words(proposal.settings, table)
    plan = plan_of(proposal, table, book_of(proposal.prompts))
    plan = replace(plan, tools=PreviewTools(words, proposal.settings.tool_limits))
    if not any(row.invents for row in habits.values()):
        plan = replace(plan, rules=_unbroken(plan.rules))
    journal = Journal("preview", store=MemoryStore(), clock=SystemClock(), watcher=Nobody())
    event, texts = opened_event(plan, UNLIMITED, "")
    journal.write(event, texts=texts)
    ledger = Ledger(UNLIMITED, PriceBook())
    running = Running(plan, journal=journal, ledger=ledger, clock=SystemClock(), watcher=Nobody(), streams=False)
    return table, await running.run()


def _mean(previews: Sequence[Preview]) -> Preview:
    """Seat by seat, rounded; a preview has the same seats whatever its course."""
    if len(previews) == 1:
        return previews[0]
    rows = []
    for same in zip(*(row.seats for row in previews), strict=True):
        calls, said = round(fmean(row.calls for row in same)), round(fmean(row.said_tokens for row in same))
        tokens_in = round(fmean(row.input_tokens for row in same))
        tokens_out = round(fmean(row.output_tokens for row in same))
        costs = [row.usd for row in same if row.usd is not None]
        usd = sum(costs, Decimal(0)) / len(costs) if len(costs) == len(same) else None
        rows.append(
            replace(same[0], calls=calls, input_tokens=tokens_in, output_tokens=tokens_out, usd=usd, said_tokens=said)
        )
    return Preview(tuple(rows))


def _unbroken(rules: Any) -> Any:
    """The rules with nobody asked again for breaking one: typical words quote nothing and may be of the wrong kind."""
    limits = {row.name: getattr(rules, row.name) for row in fields(rules)}
    held = {name: replace(row, rule_asks=0) for name, row in limits.items() if isinstance(row, Limits)}
    return replace(rules, **held)


def _seat_preview(seat: str, sitter: ModelSeat, history: History) -> SeatPreview:
    calls = [row for row in history.calls if row.seat == seat]
    made = [history.made[row.call] for row in calls]
    usages: list[Any] = [row.usage for row in made]
    costs = [None if row.cost_usd is None else Decimal(row.cost_usd) for row in made]
    return SeatPreview(
        seat,
        chain_of(sitter.seatings[0])[0].address,
        len(calls),
        sum(usage["input_tokens"] for usage in usages),
        sum(usage["output_tokens"] for usage in usages),
        None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0)),
        _said_tokens(sitter, sum(usage["input_tokens"] for usage in usages)),
    )


def _said_tokens(sitter: ModelSeat, most: int) -> int:
    gateway = sitter.gateways[0]
    assert isinstance(gateway, _TypicalGateway)  # noqa: S101  (a preview seats nobody else)
    return min(most, round(gateway.said_bytes / TYPICAL_BYTES_PER_TOKEN))


def assumptions(proposal: Proposal) -> str:
    """What is assumed of the answers of ``proposal``, in a sentence for people."""
    told = dict.fromkeys(_assumed(row) for row in seat_habits(proposal).values())
    return f"Assumed: {'; '.join(told)}. Four bytes to a token; nothing cached, no call failed."


def _assumed(habits: Habits) -> str:
    if habits.by_field:
        return "a made-up sentence for each text and choices at random, as the fake provider answers"
    share = f"texts {habits.share:.0%} as long as the form allows"
    length = f"texts of {habits.characters} characters" if habits.characters else share
    return f"{length}, every round held, nothing rejected"


TOKENS_ARE = (
    "An estimate: answers a fifth as long as the form allows, nothing rejected, four bytes to a token, nothing cached."
)
