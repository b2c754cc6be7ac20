"""How a fake provider counts tokens.

The rule: a token is four bytes of UTF-8, rounded up. A prompt is counted as one text: the tools and the response
format as compact JSON, where there are any, since OpenAI puts both in front of what it reads
(https://platform.openai.com/docs/guides/prompt-caching); then for every message its role, a line feed, its text and a
line feed. An answer is its content, or the arguments of its tool call.

Cached tokens are the whole tokens of the longest beginning that the prompt shares with a prompt which this
provider has already been given for the same model. Real providers cache in blocks and forget after a
while; this one does neither.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import deque
from typing import Any, Final

import orjson

from disputatio.testing.provider.received import ReceivedRequest

BYTES_PER_TOKEN: Final = 4


def tokens_in(text: str) -> int:
    """The tokens of a text: a quarter of its bytes in UTF-8, rounded up."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_PER_TOKEN)


def prompt_text(request: ReceivedRequest) -> str:
    """The counted text of a request."""
    pieces = [f"{role}\n{text}\n" for role, text in request.messages]
    asked = [request.body[field] for field in ("tools", "response_format") if request.body.get(field)]
    return "".join((*map(_compact, asked), *pieces))


def _compact(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value, separators=(",", ":"))


class PrefixIndex:
    """Finds the longest prefix that a new prompt shares with earlier ones.

    Args:
        keep: how many of the latest prompts are remembered; None for all of them.
    """

    def __init__(self, keep: int | None = None) -> None:
        self._keep = keep
        self._sorted: dict[str, list[bytes]] = {}
        self._order: deque[tuple[str, bytes]] = deque()

    def cached_tokens(self, model: str, prompt: bytes) -> int:
        """Tokens of ``prompt`` that are the beginning of an earlier one for ``model``; then remember it."""
        known = self._sorted.setdefault(model, [])
        place = bisect_left(known, prompt)
        if place < len(known) and known[place] == prompt:
            return len(prompt) // BYTES_PER_TOKEN
        # In sorted order the longest shared beginning is always with a neighbour.
        shared = max((shared_beginning(prompt, other) for other in known[max(place - 1, 0) : place + 1]), default=0)
        known.insert(place, prompt)
        self._order.append((model, prompt))
        self._forget()
        return shared // BYTES_PER_TOKEN

    def _forget(self) -> None:
        if self._keep is not None and len(self._order) > self._keep:
            model, data = self._order.popleft()
            known = self._sorted[model]
            del known[bisect_left(known, data)]


def shared_beginning(first: bytes, second: bytes) -> int:
    """The length of the common prefix of two texts, in bytes."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
