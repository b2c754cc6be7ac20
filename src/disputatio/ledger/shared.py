"""One ceiling for many debates that run at once: each draws on what is left of it, call by call.

A share for each debate would be too small for its dearest call when a thousand of them wait for one batch. Here what
all have spent and reserved, with the next call of any of them, never exceeds the ceiling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from disputatio.ledger.budget import Budget
from disputatio.ledger.tokens import TokenGauge


@dataclass(slots=True)
class SharedCeiling:
    """The ceiling, and what is spent and reserved of it.

    Attributes:
        budget: the ceiling.
        usd: dollars spent.
        tokens: tokens charged.
        calls: calls made, those in flight too.
        held_usd: dollars reserved for calls in flight.
        held_tokens: tokens reserved for calls in flight.
        in_flight: calls in flight.
        gauges: what each model has shown of its tokens per byte, in all debates, by address.
    """

    budget: Budget
    usd: Decimal = Decimal(0)
    tokens: int = 0
    calls: int = 0
    held_usd: Decimal = Decimal(0)
    held_tokens: int = 0
    in_flight: int = 0
    gauges: dict[str, TokenGauge] = field(default_factory=dict)
    _listeners: dict[Callable[[], None], None] = field(default_factory=dict)

    def spend(self, usd: Decimal | None, tokens: int, calls: int) -> None:
        """Take in what was spent; negative numbers take it back."""
        self.usd += usd or 0
        self.tokens += tokens
        self.calls += calls
        self._tell()

    def hold(self, usd: Decimal | None, tokens: int) -> None:
        """Reserve for one more call in flight."""
        self.held_usd += usd or 0
        self.held_tokens += tokens
        self.in_flight += 1

    def release(self, usd: Decimal | None, tokens: int) -> None:
        """End the reservation of a call."""
        self.held_usd -= usd or 0
        self.held_tokens -= tokens
        self.in_flight -= 1
        self._tell()

    def listen(self, told: Callable[[], None]) -> None:
        """Call ``told`` whenever something is given back."""
        self._listeners[told] = None

    def leave(self, told: Callable[[], None]) -> None:
        """Call it no more. Safe to repeat."""
        self._listeners.pop(told, None)

    def _tell(self) -> None:
        for told in list(self._listeners):
            told()
