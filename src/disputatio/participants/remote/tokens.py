"""Tokens, and their cost, as a provider reported them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

from disputatio.participants.call import Reply, Usage

if TYPE_CHECKING:
    from pydantic_ai.usage import RequestUsage


REPORTED_USD: Final = "reported_usd"
"""The attribute of the library's usage that keeps a reported cost; its own ``cost`` may be from a price table."""
CLOSED: Final = "closed"
"""The provider detail which says that a stream sent its counts and ended, without a finish reason."""
COST_HEADER: Final = b"x-litellm-response-cost"
"""US dollars, as LiteLLM reckons them (https://docs.litellm.ai/docs/proxy/response_headers). A stream's headers leave
before anything has cost, so they say nothing."""


def cost_in(headers: Iterable[tuple[bytes, bytes]]) -> Decimal | None:
    """The cost in US dollars that the headers of a whole response state, None where they state none."""
    for name, value in headers:
        if name.lower() == COST_HEADER:
            try:
                cost = Decimal(value.decode("ascii", "replace").strip())
            except InvalidOperation:
                return None
            return cost if cost.is_finite() and cost >= 0 else None
    return None


def with_cost(reply: Reply, headers: Iterable[tuple[bytes, bytes]]) -> Reply:
    """``reply`` with the cost that the headers of its response state, unless its body stated one."""
    if reply.usage.cost_usd is not None or (cost := cost_in(headers)) is None:
        return reply
    return replace(reply, usage=replace(reply.usage, cost_usd=cost))


def usage_of(usage: RequestUsage) -> Usage:
    """The tokens that the provider reported, None for what it did not.

    ``RequestUsage`` reads zero for what was never reported; what was is set on the object itself.
    """
    if usage.unmeasured_requests:
        return Usage()
    said = vars(usage)
    return Usage(
        input_tokens=said.get("input_tokens"),
        output_tokens=said.get("output_tokens"),
        cached_tokens=said.get("cache_read_tokens"),
        written_tokens=said.get("cache_write_tokens"),
        reasoning_tokens=_reasoning_tokens(usage),
        cost_usd=None if (cost := said.get(REPORTED_USD)) is None else Decimal(str(cost)),
    )


def _reasoning_tokens(usage: RequestUsage) -> int | None:
    """The count of its own field, else that of the details, where the library has it for Groq and Gemini."""
    told = vars(usage).get("output_reasoning_tokens")
    if isinstance(told, int):
        return told
    names = ("reasoning_tokens", "thoughts_tokens", "thinking_tokens")
    return next((usage.details[name] for name in names if name in usage.details), None)
