"""Takes a model's reasoning out of its answer.

A server with a parser for its model's reasoning puts it into a field of its own, which no one reads here. A server
without one passes it on as text before the answer, in the tags of the model. Reasoning is no part of an answer: it is
not read, not recorded as one, and shown to no other seat.

An answer that begins with a brace is JSON from its first character, so a tag that it quotes stays.
"""

from __future__ import annotations

import re
from typing import Final

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
"""What opens and closes a stretch of reasoning: DeepSeek and Qwen, Claude, Gemma, others, Seed, Magistral, Kimi."""

_ENDS: Final = ("<|return|>", "<|end|>")
_SIGN: Final = re.compile("|".join(re.escape(tag) for pair in TAGS for tag in pair))


def has_sign(text: str) -> bool:
    """Whether ``text`` may hold reasoning."""
    return _SIGN.search(text) is not None


def without_thoughts(text: str, *, cut: bool) -> str:
    """``text`` without the reasoning before the answer.

    Args:
        text: what a server gave as the answer.
        cut: whether it ended at the token limit. Then an open tag was not closed because the model was still reasoning,
            and nothing of the text is an answer. A model that stopped by itself may have answered inside the tag.
    """
    rest = text.lstrip()
    if rest.startswith("{") or not has_sign(rest):
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


class Unthinking:
    """Passes a text on piece by piece, without the reasoning that opens it."""

    def __init__(self) -> None:
        self._held = ""
        self._open = False

    def take(self, piece: str) -> str:
        """What of the text so far, which ``piece`` continues, can be passed on now."""
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
            # It may still become a tag; so may nothing at all.
            return ""
        self._open, whole, self._held = True, self._held, ""
        return whole
