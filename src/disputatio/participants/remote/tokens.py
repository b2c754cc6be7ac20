"""Tokens as a provider reported them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disputatio.participants.call import Usage

if TYPE_CHECKING:
    from pydantic_ai.usage import RequestUsage


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
    )


def _reasoning_tokens(usage: RequestUsage) -> int | None:
    """The count of its own field, else that of the details, where the library has it for Groq and Gemini."""
    told = vars(usage).get("output_reasoning_tokens")
    if isinstance(told, int):
        return told
    names = ("reasoning_tokens", "thoughts_tokens", "thinking_tokens")
    return next((usage.details[name] for name in names if name in usage.details), None)
