"""What a debate would take, without a call: the rules are run with answers of typical length.

A preview cannot know what models will say. It assumes answers of a fifth of the length the form allows, the fewest
items where a list may vary, every round that may be held, no rejected answers and no failed calls, and counts four
bytes to a token. Tools are counted at most: as if every seat that has some used all its rounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from itertools import count
from math import ceil
from typing import Any

from disputatio.engine.journal import Journal
from disputatio.engine.opening import Proposal, book_of, opened_event, plan_of
from disputatio.engine.ports import Nobody, SystemClock
from disputatio.engine.running import Running
from disputatio.engine.table import ModelSeat, Sitter, chain_of
from disputatio.engine.toolboxes import PreviewTools, tool_words
from disputatio.kernel import JsonObject, Limits
from disputatio.ledger import UNLIMITED, Ledger, PriceBook
from disputatio.ledger.ledger import call_size
from disputatio.ledger.tokens import MESSAGE_OVERHEAD, TYPICAL_BYTES_PER_TOKEN
from disputatio.participants.call import Call, Fault, OnText, OutputMode, Reply, Usage
from disputatio.participants.seating import ModelSeating
from disputatio.record.history import History
from disputatio.record.memory import MemoryStore
from disputatio.record.text import canonical
from disputatio.tools import CHOICE_FORM

_SHARE = 0.2
_SETTLED = {"no": "yes", "strong": "good", "unresolved": "unresolved", "It stays open because": "It stays open because"}
"""By the last of the words that there are to choose from."""
_BEGUN = re.compile(r"\^\(([^)]+)\) \[.*\]\{(\d+),\}\[\.\]\$")
_FILLER = "Plain words of the usual sort, which say not much and only take up room. "


@dataclass(frozen=True, slots=True)
class SeatPreview:
    """What one seat would take. ``usd`` is None where no price is known."""

    seat: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: Decimal | None


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
    def output_tokens(self) -> int:
        """All output tokens."""
        return sum(row.output_tokens for row in self.seats)

    @property
    def usd(self) -> Decimal | None:
        """The cost with nothing cached."""
        costs = [row.usd for row in self.seats]
        return None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0))


class Variety:
    """Tells the texts and choices of typical answers apart, as those of a seat that says different things."""

    def __init__(self) -> None:
        self._texts = count(1)
        self._choices: dict[str, Iterator[int]] = {}

    def number(self) -> int:
        """A number that no text had."""
        return next(self._texts)

    def choice(self, words: Sequence[Any]) -> Any:
        """The next of ``words`` in turn; there is always a further round over something, and what is rated is good."""
        if _SETTLED.get(words[-1]) in words:
            return _SETTLED[words[-1]]
        return words[next(self._choices.setdefault(repr(words), count())) % len(words)]


def typical(schema: Mapping[str, Any], variety: Variety) -> Any:
    """An answer of typical length, valid under ``schema`` as the forms of this package write schemas."""
    if "enum" in schema:
        return variety.choice(schema["enum"])
    match schema["type"]:
        case "object":
            return {name: typical(row, variety) for name, row in schema["properties"].items()}
        case "array":
            return [typical(schema["items"], variety) for _ in range(schema.get("minItems", 0))]
        case "integer":
            return (schema["minimum"] + schema["maximum"] + 1) // 2
    most = schema.get("maxLength", 400)
    length = min(max(schema.get("minLength", 0), round(most * _SHARE), 8), most)
    begun = _BEGUN.match(schema.get("pattern", ""))
    # A sentence of a small model: one of its beginnings, then at least so many signs, and a full stop.
    first, least = (f"{variety.choice(begun[1].split('|'))} ", int(begun[2])) if begun else ("", 0)
    told = f"{first}{variety.number()} "
    length = max(length, len(first) + least + 1) - bool(begun)
    text = (told + _FILLER * (length // len(_FILLER) + 1))[:length].strip().ljust(schema.get("minLength", 0), ".")
    return f"{text.ljust(len(first) + least, 'x')}." if begun else text


class _TypicalGateway:
    """Answers every call with an answer of typical length."""

    modes = (OutputMode.NATIVE,)

    def __init__(self, tool_calls: int) -> None:
        self._tool_calls, self._looked_up, self._variety = tool_calls, 0, Variety()

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:  # noqa: ARG002
        schema: JsonObject = call.schema or {"type": "string"}
        text = canonical(self._choice() if call.schema_name == CHOICE_FORM else typical(schema, self._variety))
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


_NOBODY = ModelSeating(provider="embedded", model="nobody")


async def preview(proposal: Proposal) -> Preview:
    """What ``proposal`` would take.

    Raises:
        InvalidInputError: something in it cannot be used.
    """
    gateway = _TypicalGateway(proposal.settings.tool_limits.calls)
    table: dict[str, Sitter] = {}
    for seat in proposal.format.seats_named([*proposal.settings.seats, *proposal.participants]):
        # A script is not run for a preview: it may count its calls, or be a person.
        seating = _NOBODY if seat in proposal.participants else proposal.settings.seats[seat]
        table[seat] = ModelSeat((replace(seating, fallback=None),), (gateway,))
    words, _ = tool_words(proposal.settings, table)
    plan = plan_of(proposal, table, book_of(proposal.prompts))
    plan = replace(plan, rules=_unbroken(plan.rules), tools=PreviewTools(words, proposal.settings.tool_limits))
    journal = Journal("preview", store=MemoryStore(), clock=SystemClock(), watcher=Nobody())
    event, texts = opened_event(plan, UNLIMITED, "")
    journal.write(event, texts=texts)
    ledger = Ledger(UNLIMITED, PriceBook())
    running = Running(plan, journal=journal, ledger=ledger, clock=SystemClock(), watcher=Nobody(), streams=False)
    history = await running.run()
    return Preview(
        tuple(
            _seat_preview(seat, sitter, history)
            for seat, sitter in table.items()
            if isinstance(sitter, ModelSeat) and seat not in proposal.participants
        )
    )


def _unbroken(rules: Any) -> Any:
    """The rules with nobody asked again for breaking one: typical words quote nothing and repeat themselves."""
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
    )


TOKENS_ARE = (
    "An estimate: answers a fifth as long as the form allows, nothing rejected, four bytes to a token, nothing cached."
)
