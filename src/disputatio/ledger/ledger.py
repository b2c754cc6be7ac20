"""The ledger of one debate: every call reserves its maximum cost before it is sent.

What is spent, plus what is reserved, plus the maximum of the next call never exceeds the budget. A call that returns
frees its reservation and is charged its cost. A call that is lost, or whose cost is unknown, keeps its whole
reservation as spent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from operator import ne
from typing import Any, NamedTuple

from disputatio.kernel import JsonObject
from disputatio.ledger.budget import Budget, SharedCeiling, TokenGauge
from disputatio.ledger.prices import PriceBook, Priced
from disputatio.participants.call import Call, Usage
from disputatio.participants.model_seat import ModelSeating
from disputatio.record.text import canonical


class Reservation(NamedTuple):
    """The most one call may use. ``usd`` is None if no price is known and no dollar limit is set."""

    input_tokens: int
    output_tokens: int
    usd: Decimal | None
    size: int

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usd": None if self.usd is None else str(self.usd),
            "bytes": self.size,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Reservation:
        """Read the recorded form."""
        usd = body["usd"]
        return cls(body["input_tokens"], body["output_tokens"], None if usd is None else Decimal(usd), body["bytes"])


class Settled(NamedTuple):
    """The charge of a call that returned. ``usd`` is None, never zero, if no price is known."""

    usd: Decimal | None
    basis: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call may not be made. ``limit`` is ``usd``, ``tokens`` or ``calls``; the amounts are for display."""

    limit: str
    ceiling: str
    spent: str
    needed: str

    @property
    def sentence(self) -> str:
        """The refusal as a sentence."""
        used = f"{self.spent} of {self.ceiling} {_UNITS[self.limit]} spent or reserved"
        return f"{used}; the next call could need {self.needed}"


_UNITS = {"usd": "USD", "tokens": "tokens", "calls": "calls"}


class Ledger:
    """What one debate has spent and reserved.

    Args:
        budget: the limits.
        prices: the prices of calls.
        shared: a limit that it shares with other debates; None if there is none.
    """

    def __init__(self, budget: Budget, prices: PriceBook, shared: SharedCeiling | None = None) -> None:
        self.shared = shared
        self.budget = budget
        self.prices = prices
        self.spent_usd = Decimal(0)
        self.spent_tokens = 0
        self.calls = 0
        self.unpriced_calls = 0
        self._reserved: dict[str, Reservation] = {}
        self._gauges: dict[str, TokenGauge] = {} if shared is None else shared.gauges

    @property
    def has_calls_in_flight(self) -> bool:
        """Whether any call has a reservation, part of which it may free."""
        return bool(self._reserved) or (self.shared is not None and self.shared.in_flight > 0)

    @property
    def reserved_usd(self) -> Decimal:
        """Dollars reserved for calls in flight."""
        return sum((row.usd for row in self._reserved.values() if row.usd is not None), Decimal(0))

    @property
    def reserved_tokens(self) -> int:
        """Tokens reserved for calls in flight."""
        return sum(row.tokens for row in self._reserved.values())

    def quote(self, call: Call, seating: ModelSeating, *, batch: bool = False) -> Reservation:
        """Return the most that ``call`` may use; ``batch`` is whether it is sent in a batch."""
        size, messages = call_size(call)
        tokens = self._gauge(seating.address).bound(size, messages)
        usd = self.prices.bound(seating, tokens, call.max_tokens, batch=batch)
        return Reservation(tokens, call.max_tokens, usd, size)

    def reserve(self, call_id: str, quote: Reservation) -> Refusal | None:
        """Reserve ``quote`` for a call, or return the refusal; a refusal changes nothing."""
        refusal = self._refusal(quote)
        if refusal is None:
            self.restore_open(call_id, quote)
        return refusal

    def _refusal(self, quote: Reservation) -> Refusal | None:
        used = self.spent_tokens + self.reserved_tokens, self.spent_usd + self.reserved_usd
        refusal = _refusal(self.budget, self.calls, *used, quote)
        if refusal is None and (shared := self.shared) is not None:
            used_by_all = shared.tokens + shared.reserved_tokens, shared.usd + shared.reserved_usd
            refusal = _refusal(shared.budget, shared.calls, *used_by_all, quote)
        return refusal

    @contextmanager
    def listening(self, listener: Callable[[], None]) -> Iterator[None]:
        """Call ``listener`` in this context whenever another debate releases a part of its reservation."""
        if self.shared is None:
            yield
            return
        self.shared.add_listener(listener)
        try:
            yield
        finally:
            self.shared.remove_listener(listener)

    def settle(
        self,
        call_id: str,
        seating: ModelSeating,
        served_model: str | None,
        usage: Usage | None,
        *,
        billable: bool,
        batch: bool = False,
    ) -> Settled:
        """Charge a call that returned and free the rest of its reservation.

        Args:
            call_id: as given to ``reserve``.
            seating: the model that was called.
            served_model: the model that answered, as the provider reports it.
            usage: the tokens the provider counted; None where it reported none.
            billable: whether the provider may have charged for a call without reported usage.
            batch: whether the call was sent in a batch.
        """
        reserved = self._reserved.pop(call_id)
        if self.shared is not None:
            self.shared.release(reserved.usd, reserved.tokens)
        if usage is None and not billable:
            return Settled(Decimal(0), "failed before anything was counted", 0)
        usage = usage or Usage()
        priced = self.prices.charge(seating, served_model, usage, batch=batch)
        if priced.usd is None and reserved.usd is not None:
            priced = Priced(reserved.usd, f"{priced.basis}; the reservation stays spent")
        settled = Settled(priced.usd, priced.basis, _tokens(usage, reserved))
        self._measure(seating.address, reserved.size, usage.input_tokens)
        self._charge(settled.usd, settled.tokens)
        return settled

    def restore(self, address: str, size: int, measured: int | None, usd: Decimal | None, tokens: int) -> None:
        """Add a call that the record shows as settled.

        Args:
            address: the model that was called.
            size: the bytes that were sent.
            measured: the input tokens the provider counted; None where it reported none.
            usd: the cost; None where unknown.
            tokens: the tokens charged.
        """
        self._count()
        self._measure(address, size, measured)
        self._charge(usd, tokens)

    def restore_lost(self, reserved: Reservation) -> None:
        """Add a call that never returned: its reservation stays spent."""
        self._count()
        self._charge(reserved.usd, reserved.tokens)

    def restore_open(self, call_id: str, reserved: Reservation) -> None:
        """Add a call that has not returned yet; it keeps its reservation until it settles."""
        self._reserved[call_id] = reserved
        if self.shared is not None:
            self.shared.reserve(reserved.usd, reserved.tokens)
        self._count()

    def _count(self) -> None:
        self.calls += 1
        if self.shared is not None:
            self.shared.spend(None, 0, 1)

    def _measure(self, address: str, size: int, tokens: int | None) -> None:
        if tokens is not None:
            self._gauge(address).record(size, tokens)

    def _charge(self, usd: Decimal | None, tokens: int) -> None:
        self.spent_tokens += tokens
        if self.shared is not None:
            self.shared.spend(usd, tokens, 0)
        if usd is None:
            self.unpriced_calls += 1
        else:
            self.spent_usd += usd

    def _gauge(self, address: str) -> TokenGauge:
        return self._gauges.setdefault(address, TokenGauge())


def _refusal(budget: Budget, calls: int, tokens: int, usd: Decimal, quote: Reservation) -> Refusal | None:
    """The ceiling of ``budget`` that forbids a call with this ``quote``, after so much spent or reserved; else None."""
    if budget.calls is not None and calls + 1 > budget.calls:
        return Refusal("calls", str(budget.calls), str(calls), "1")
    if budget.tokens is not None and tokens + quote.tokens > budget.tokens:
        return Refusal("tokens", f"{budget.tokens:,}", f"{tokens:,}", f"{quote.tokens:,}")
    if budget.usd is not None and quote.usd is not None and usd + quote.usd > budget.usd:
        return Refusal("usd", _dollars(budget.usd), _dollars(usd), _dollars(quote.usd))
    return None


def call_size(call: Call) -> tuple[int, int]:
    """Return the bytes of a call, its schema included, and the number of its messages."""
    # Every call sends the whole history, so avoid a Python loop over its segments.
    roles, texts = [row.role for row in call.segments], [row.text for row in call.segments]
    size = sum(map(len if all(map(str.isascii, texts)) else _bytes, texts)) + 2 * len(texts)
    if call.schema is not None and not call.tells_schema:
        size += _bytes(call.schema_text or canonical(call.schema))
    return size, bool(roles) + sum(map(ne, roles, roles[1:]))


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _tokens(usage: Usage, reserved: Reservation) -> int:
    tokens_in = reserved.input_tokens if usage.input_tokens is None else usage.input_tokens
    tokens_out = reserved.output_tokens if usage.output_tokens is None else usage.output_tokens
    return tokens_in + tokens_out


def _dollars(amount: Decimal) -> str:
    return f"{amount:.4f}".rstrip("0").rstrip(".") if amount else "0"
