"""What a debate would take, without a call: the rules are run with answers of typical length.

A preview cannot know what models will say. It assumes answers of a fifth of the length the form allows, the fewest
items where a list may vary, no rejected answers and no failed calls, and counts four bytes to a token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil
from typing import Any

from disputatio.engine.journal import Journal
from disputatio.engine.opening import Proposal, book_of, opened_event, plan_of
from disputatio.engine.ports import Nobody, SystemClock
from disputatio.engine.running import Running
from disputatio.engine.table import ModelSeat, Sitter, chain_of
from disputatio.kernel import JsonObject
from disputatio.ledger import UNLIMITED, Ledger, PriceBook
from disputatio.ledger.ledger import call_size
from disputatio.ledger.tokens import MESSAGE_OVERHEAD, TYPICAL_BYTES_PER_TOKEN
from disputatio.participants.call import Call, Fault, OnText, OutputMode, Reply, Usage
from disputatio.record.history import History
from disputatio.record.memory import MemoryStore
from disputatio.record.text import canonical

_SHARE = 0.2
_FILLER = "Typical words of a typical answer, which say nothing and only have a length. "


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


def typical(schema: Mapping[str, Any]) -> Any:
    """An answer of typical length, valid under ``schema`` as the forms of this package write schemas."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema["type"]:
        case "object":
            return {name: typical(row) for name, row in schema["properties"].items()}
        case "array":
            return [typical(schema["items"]) for _ in range(schema.get("minItems", 0))]
        case "integer":
            return (schema["minimum"] + schema["maximum"] + 1) // 2
    most = schema.get("maxLength", 400)
    length = min(max(schema.get("minLength", 0), round(most * _SHARE), 8), most)
    return (_FILLER * (length // len(_FILLER) + 1))[:length].strip().ljust(schema.get("minLength", 0), ".")


class _TypicalGateway:
    """Answers every call with an answer of typical length."""

    modes = (OutputMode.NATIVE,)

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:  # noqa: ARG002
        schema: JsonObject = call.schema or {"type": "string"}
        text = canonical(typical(schema))
        size, messages = call_size(call)
        tokens_in = ceil(size / TYPICAL_BYTES_PER_TOKEN) + MESSAGE_OVERHEAD // 4 * messages
        tokens_out = ceil(len(text.encode()) / TYPICAL_BYTES_PER_TOKEN)
        return Reply(text, None, Usage(tokens_in, tokens_out, 0))

    async def probe(self) -> Fault | None:
        return None

    async def aclose(self) -> None:
        return None


async def preview(proposal: Proposal) -> Preview:
    """What ``proposal`` would take.

    Raises:
        InvalidInputError: something in it cannot be used.
    """
    gateway = _TypicalGateway()
    table: dict[str, Sitter] = {}
    for seat in proposal.format.seats:
        if seat in proposal.participants:
            table[seat] = proposal.participants[seat]
        else:
            seating = replace(proposal.settings.seats[seat], fallback=None)
            table[seat] = ModelSeat((seating,), (gateway,))
    plan = plan_of(proposal, table, book_of(proposal.prompts))
    journal = Journal("preview", store=MemoryStore(), clock=SystemClock(), watcher=Nobody())
    event, texts = opened_event(plan, UNLIMITED, "")
    journal.write(event, texts=texts)
    ledger = Ledger(UNLIMITED, PriceBook())
    running = Running(plan, journal=journal, ledger=ledger, clock=SystemClock(), watcher=Nobody(), streams=False)
    history = await running.run()
    return Preview(
        tuple(_seat_preview(seat, sitter, history) for seat, sitter in table.items() if isinstance(sitter, ModelSeat))
    )


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
