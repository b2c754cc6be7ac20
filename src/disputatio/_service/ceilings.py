"""The ceilings of a debate whose key has a budget."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from disputatio._service.key_ledger import Room, floored, in_digits
from disputatio.kernel import JsonObject

ROOM = 2
"""The ceiling of a debate whose key has a budget and whose order has no ceiling, in times of what is expected."""
_LEAST_USD, MOST_USD, _MOST_TOKENS = Decimal("0.0001"), Decimal(1_000_000), 10**12
"""Between these such a ceiling is; an order can state no more."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a debate is expected to take: calls, tokens in and out, and US dollars, None where a price is unknown."""

    calls: int
    tokens: int
    usd: Decimal | None


def usual_ceilings(expected: Expected, given: Room, left: Room) -> Room:
    """The ceilings of an order: those it has, else ``ROOM`` times what is expected, as far as the budget has room."""
    usd, tokens = given.usd, given.tokens
    if usd is None and left.usd is not None:
        most = MOST_USD if expected.usd is None else max(expected.usd * ROOM, _LEAST_USD)
        usd = min(left.usd, most, MOST_USD)
    if tokens is None and left.tokens is not None:
        tokens = min(left.tokens, max(expected.tokens * ROOM, 1), _MOST_TOKENS)
    return Room(usd, tokens)


def typical_call(expected: Expected, left: Room) -> Room:
    """What one call of a debate takes, in the units that its budget counts."""
    calls = max(expected.calls, 1)
    usd = None if left.usd is None else (expected.usd or Decimal(0)) / calls
    return Room(usd, None if left.tokens is None else expected.tokens // calls)


def describe(expected: Expected) -> str:
    """What a debate is expected to take, in words; without dollars where a price is unknown."""
    usd = "" if expected.usd is None else f" and {in_digits(floored(expected.usd))} USD"
    return f"about {expected.tokens:,} tokens{usd}"


def stated(ceilings: Room) -> JsonObject:
    """Ceilings as a request states them."""
    found: dict[str, Any] = {} if ceilings.usd is None else {"usd": in_digits(ceilings.usd)}
    return found if ceilings.tokens is None else {**found, "tokens": ceilings.tokens}
