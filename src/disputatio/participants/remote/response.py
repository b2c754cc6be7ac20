"""Removes reasoning from answers, and reads the reported tokens and cost.

Some servers put a model's reasoning into a separate field, which is ignored. Others leave it in the text before the
answer, in the tags of the model. Reasoning is neither recorded as an answer nor shown to other seats.

An answer that begins with a brace is JSON, so tags that it quotes are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

from disputatio.participants.call import Reply, Usage

if TYPE_CHECKING:
    from pydantic_ai.usage import RequestUsage

TAGS: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    # The raw form of gpt-oss, where a server does not parse it (https://github.com/openai/harmony).
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
"""Tags around reasoning: DeepSeek and Qwen, Claude, Gemma, others, Seed, Magistral, Kimi."""

_ENDS: Final = ("<|return|>", "<|end|>")
_SIGN: Final = re.compile("|".join(re.escape(tag) for pair in TAGS for tag in pair))


def has_reasoning_tag(text: str) -> bool:
    """Whether ``text`` may hold reasoning."""
    return _SIGN.search(text) is not None


def strip_reasoning(text: str, *, cut: bool) -> str:
    """Remove the reasoning before the answer.

    Args:
        text: the text of a response.
        cut: whether it ended at the token limit. Then an open tag means that the model was still reasoning, and
            there is no answer. A model that stopped by itself may have answered inside the tag.
    """
    rest = text.lstrip()
    if rest.startswith("{") or not has_reasoning_tag(rest):
        return text
    while True:
        closing = next((closing for opening, closing in TAGS if rest.startswith(opening)), None)
        if closing is None:
            break
        _, closed, after = rest.partition(closing)
        if not closed and not cut:
            return text
        rest = after.lstrip()
    for _, closing in TAGS:
        # The template of some models opens the tag in the prompt.
        before, found, after = rest.partition(closing)
        if found and ("{" in after or "{" not in before):
            rest = after.lstrip()
    for end in _ENDS:
        rest = rest.removesuffix(end)
    return rest


class ReasoningFilter:
    """Removes the reasoning at the start of a streamed text."""

    def __init__(self) -> None:
        self._held = ""
        self._open = False

    def take(self, piece: str) -> str:
        """Add ``piece`` and return the text that can be passed on now."""
        if self._open:
            return piece
        self._held += piece
        begun = self._held.lstrip()
        while True:
            closing = next((closing for opening, closing in TAGS if begun.startswith(opening)), None)
            if closing is None:
                break
            _, closed, begun = begun.partition(closing)
            if not closed:
                return ""
            begun = begun.lstrip()
            self._held = begun
        if any(opening.startswith(begun) for opening, _ in TAGS):
            # This may still become a tag.
            return ""
        self._open, whole, self._held = True, self._held, ""
        return whole


REPORTED_USD: Final = "reported_usd"
"""Attribute of the library's usage for a reported cost; its own ``cost`` may come from a price table."""
CLOSED: Final = "closed"
"""Provider detail: a stream sent its counts and ended without a finish reason."""
COST_HEADER: Final = b"x-litellm-response-cost"
"""US dollars (https://docs.litellm.ai/docs/proxy/response_headers). A stream's headers come too early to have it."""


def cost_in(headers: Iterable[tuple[bytes, bytes]]) -> Decimal | None:
    """The cost in US dollars in the headers of a whole response, or None."""
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
    """The reported tokens; None for missing counts.

    ``RequestUsage`` reads zero for missing counts; reported ones are set on the object itself.
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
    """The count in its own field, else in the details, where the library puts it for Groq and Gemini."""
    told = vars(usage).get("output_reasoning_tokens")
    if isinstance(told, int):
        return told
    names = ("reasoning_tokens", "thoughts_tokens", "thinking_tokens")
    return next((usage.details[name] for name in names if name in usage.details), None)
