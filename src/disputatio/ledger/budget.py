"""The limits of one debate, a ceiling that many debates share, and a bound on the input tokens of a call.

Byte-level tokenizers make at most one token of a byte; chat templates add a few tokens for each message. That bound is
about four times too high for English. Once a model has answered, the bound is 1.5 times its worst ratio of tokens to
bytes in this debate, and at most one token a byte.

Debates that run at once can share one ceiling. If a thousand of them wait for one batch, an equal share would be too
small for the dearest call of one. The sum of what all have spent and reserved never exceeds the ceiling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from math import ceil
from typing import Any

from disputatio.kernel import JsonObject


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on US dollars, tokens (input plus output) and calls; None means no limit."""

    usd: Decimal | None = None
    tokens: int | None = None
    calls: int | None = None

    def as_json(self) -> JsonObject:
        """Return the recorded form; dollars are a string."""
        return {"usd": None if self.usd is None else str(self.usd), "tokens": self.tokens, "calls": self.calls}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Budget:
        """Read the recorded form."""
        usd = body["usd"]
        return cls(None if usd is None else Decimal(usd), body["tokens"], body["calls"])


UNLIMITED = Budget()
"""No limits."""


MESSAGE_OVERHEAD = 16
"""Tokens that a chat template may add for a message."""
MARGIN = 1.5
TYPICAL_BYTES_PER_TOKEN = 4.0
"""For previews only, never for reservations."""


class TokenGauge:
    """Measures one model's tokens per byte during a debate."""

    def __init__(self) -> None:
        self._worst: float | None = None

    def bound(self, size: int, messages: int) -> int:
        """Return the most input tokens that ``size`` bytes in ``messages`` messages may be."""
        ratio = 1.0 if self._worst is None else min(1.0, self._worst * MARGIN)
        return ceil(size * ratio) + MESSAGE_OVERHEAD * messages

    def record(self, size: int, tokens: int) -> None:
        """Record that ``size`` bytes were ``tokens`` tokens."""
        if size > 0:
            self._worst = max(self._worst or 0.0, tokens / size)


@dataclass(slots=True)
class SharedCeiling:
    """A ceiling, and what debates have spent and reserved of it.

    Attributes:
        budget: the ceiling.
        usd: dollars spent.
        tokens: tokens charged.
        calls: calls made, including those in flight.
        reserved_usd: dollars reserved for calls in flight.
        reserved_tokens: tokens reserved for calls in flight.
        in_flight: calls in flight.
        gauges: the tokens per byte of each model in all debates, by address.
    """

    budget: Budget
    usd: Decimal = Decimal(0)
    tokens: int = 0
    calls: int = 0
    reserved_usd: Decimal = Decimal(0)
    reserved_tokens: int = 0
    in_flight: int = 0
    gauges: dict[str, TokenGauge] = field(default_factory=dict)
    _listeners: dict[Callable[[], None], None] = field(default_factory=dict)

    def spend(self, usd: Decimal | None, tokens: int, calls: int) -> None:
        """Add what was spent; negative numbers subtract."""
        self.usd += usd or 0
        self.tokens += tokens
        self.calls += calls
        self._notify()

    def reserve(self, usd: Decimal | None, tokens: int) -> None:
        """Reserve for one more call in flight."""
        self.reserved_usd += usd or 0
        self.reserved_tokens += tokens
        self.in_flight += 1

    def release(self, usd: Decimal | None, tokens: int) -> None:
        """End the reservation of a call."""
        self.reserved_usd -= usd or 0
        self.reserved_tokens -= tokens
        self.in_flight -= 1
        self._notify()

    def add_listener(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` whenever a reservation is released."""
        self._listeners[listener] = None

    def remove_listener(self, listener: Callable[[], None]) -> None:
        """Stop calling ``listener``. Safe to repeat."""
        self._listeners.pop(listener, None)

    def _notify(self) -> None:
        for listener in list(self._listeners):
            listener()
