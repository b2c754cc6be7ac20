"""What a debate used: every call that left, and their totals.

A number the provider did not report is missing, not zero: it is left out of a sum and counted as unknown, so that
a sum which is only a lower bound says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from disputatio.record.events import FREE_OF_CHARGE, REPORTED_COST, CallMade, CallSent
from disputatio.record.history import PromptRows
from disputatio.report.amounts import counted, dollars, duration


@dataclass(frozen=True, slots=True)
class CallReading:
    """One call that left. ``made`` is None where it is in flight or, if ``lost``, never came back.

    ``prompt`` is the whole prompt, the role and the hash of the text of each segment.
    """

    sent: CallSent
    made: CallMade | None
    lost: bool
    prompt: PromptRows = ()

    @property
    def state(self) -> str:
        """``answered``, ``failed``, ``lost`` or ``in flight``."""
        if self.made is None:
            return "lost" if self.lost else "in flight"
        return "failed" if self.made.fault else "answered"

    def tokens(self, which: str) -> int | None:
        """The count of this name in the usage, such as ``reasoning_tokens``; None where it was not reported."""
        usage: Mapping[str, Any] = self.made.usage if self.made else {}
        value = usage.get(which)
        return value if isinstance(value, int) else None

    @property
    def basis(self) -> str:
        """How its cost was found."""
        return self.made.cost_basis if self.made else ""

    @property
    def usd(self) -> Decimal | None:
        """What it cost, or for a lost call what stays reserved for it; None where no price is known."""
        if self.made is None:
            reserved = self.sent.reserved.get("usd") if self.lost else None
            return None if reserved is None else Decimal(str(reserved))
        return None if self.made.cost_usd is None else Decimal(self.made.cost_usd)


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all calls of a debate.

    Attributes:
        calls: calls that left, discarded and failed ones included.
        answered: calls that brought an answer.
        failed: calls that brought a fault.
        lost: calls that were in flight when the process died.
        input_tokens: reported input tokens; None where no call reported any.
        output_tokens: the same for output.
        cached_tokens: the part of the input served from prefix caches; None where no call reported it.
        reasoning_tokens: the part of the output that was reasoning; None where no call reported it.
        cacheable_tokens: the input tokens of the calls that reported ``cached_tokens``.
        uncounted: answered calls whose provider reported no tokens.
        usd: the known costs, reservations of lost calls included; None where no call has a known cost.
        unpriced: calls whose cost is unknown.
        reported: calls whose cost the server reported.
        free: calls of models that their provider gives away.
        seconds: how long the debate ran, without pauses between sessions; None if the record has no times.
        elsewhere: whether the debate took place elsewhere. Then its spending is unknown and the numbers mean nothing.
    """

    calls: int
    answered: int
    failed: int
    lost: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cacheable_tokens: int
    uncounted: int
    usd: Decimal | None
    unpriced: int
    seconds: float | None
    elsewhere: bool = False
    reasoning_tokens: int | None = None
    reported: int = 0
    free: int = 0

    @classmethod
    def held_elsewhere(cls) -> Totals:
        """The totals of an imported debate, of which nothing is known."""
        return cls(0, 0, 0, 0, None, None, None, 0, 0, None, 0, None, elsewhere=True)

    @classmethod
    def of(cls, calls: Iterable[CallReading], seconds: float | None) -> Totals:
        """The totals over ``calls``."""
        rows = list(calls)
        ended = [row for row in rows if row.state != "in flight"]
        priced = [row.usd for row in ended if row.usd is not None]
        cached = [row for row in rows if row.tokens("cached_tokens") is not None]
        return cls(
            calls=len(rows),
            answered=sum(row.state == "answered" for row in rows),
            failed=sum(row.state == "failed" for row in rows),
            lost=sum(row.state == "lost" for row in rows),
            input_tokens=_sum(row.tokens("input_tokens") for row in rows),
            output_tokens=_sum(row.tokens("output_tokens") for row in rows),
            cached_tokens=_sum(row.tokens("cached_tokens") for row in cached),
            cacheable_tokens=_sum(row.tokens("input_tokens") for row in cached) or 0,
            uncounted=sum(
                row.state == "answered" and None in {row.tokens("input_tokens"), row.tokens("output_tokens")}
                for row in rows
            ),
            usd=sum(priced, Decimal(0)) if priced else None,
            unpriced=len(ended) - len(priced),
            seconds=seconds,
            reasoning_tokens=_sum(row.tokens("reasoning_tokens") for row in rows),
            reported=sum(row.basis == REPORTED_COST for row in rows),
            free=sum(row.basis == FREE_OF_CHARGE for row in rows),
        )

    @property
    def cached_share(self) -> float | None:
        """The cached share of the input, 0 to 1, over the calls that reported it; None where none did."""
        if self.cached_tokens is None or not self.cacheable_tokens:
            return None
        return min(1.0, self.cached_tokens / self.cacheable_tokens)

    @property
    def money(self) -> str:
        """The cost in words."""
        if self.elsewhere:
            return "unknown"
        if not self.calls:
            return dollars(Decimal(0))
        if self.usd is None:
            return "unknown price"
        notes = [f"no price known for {counted(self.unpriced, 'call')}"] if self.unpriced else []
        notes += [f"{self._share(self.reported)}reported by the server"] if self.reported else []
        notes += [f"{self._share(self.free)}free of charge"] if self.free else []
        least = "at least " if self.unpriced else ""
        return f"{least}{dollars(self.usd)}" + (f" ({'; '.join(notes)})" if notes else "")

    def _share(self, calls: int) -> str:
        """How many calls that is, where it is not all that brought an answer."""
        return "" if calls >= self.answered else f"{counted(calls, 'call')} "

    @property
    def counts(self) -> str:
        """Calls and tokens in words."""
        if self.elsewhere:
            return "calls and tokens unknown"
        tried = [f"{self.failed} failed"] if self.failed else []
        tried += [f"{self.lost} lost"] if self.lost else []
        calls = counted(self.calls, "call") + (f" ({', '.join(tried)})" if tried else "")
        if self.input_tokens is None and self.output_tokens is None:
            return calls if not self.answered else f"{calls}, tokens not reported"
        tokens = counted((self.input_tokens or 0) + (self.output_tokens or 0), "token")
        least = "at least " if self.uncounted else ""
        parts = [f"{self.reasoning_tokens:,} of them reasoning"] if self.reasoning_tokens else []
        parts += [] if self.cached_share is None else [f"{self.cached_share:.0%} of the input cached"]
        details = f" ({'; '.join(parts)})" if parts else ""
        return f"{calls}, {least}{tokens}{details}"

    @property
    def brief(self) -> list[str]:
        """Calls, tokens and cost as far as there are any yet."""
        if not self.calls:
            return []
        tokens = (self.input_tokens or 0) + (self.output_tokens or 0)
        ended = self.usd is not None or self.unpriced
        money = [self.money] if ended else []
        return [counted(self.calls, "call"), *([counted(tokens, "token")] if tokens else []), *money]

    @property
    def line(self) -> str:
        """Calls, tokens, cost and time in one line."""
        if self.elsewhere:
            return "unknown: the debate was held elsewhere"
        time = [] if self.seconds is None else [duration(self.seconds)]
        return ", ".join([self.counts, self.money, *time])


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
