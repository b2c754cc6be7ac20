"""How many tokens a prompt may have, known before it is sent and without the model's tokenizer.

Byte-level tokenizers make at most one token of a byte, so the number of UTF-8 bytes bounds the tokens of any
text; chat templates add a few more for each message. The bound is about four times too high for English, so
once a model has answered, the worst ratio it has shown in this debate, with half as much again on top, takes
the place of one token a byte. It never exceeds the byte bound.
"""

from __future__ import annotations

from math import ceil

MESSAGE_OVERHEAD = 16
"""Tokens that a chat template may add for a message."""
MARGIN = 1.5
TYPICAL_BYTES_PER_TOKEN = 4.0
"""For previews only; a reservation never rests on it."""


class TokenGauge:
    """Measures one model's tokens per byte during a debate."""

    def __init__(self) -> None:
        self._worst: float | None = None

    def bound(self, size: int, messages: int) -> int:
        """The most input tokens that ``size`` bytes in ``messages`` messages may be."""
        ratio = 1.0 if self._worst is None else min(1.0, self._worst * MARGIN)
        return ceil(size * ratio) + MESSAGE_OVERHEAD * messages

    def measured(self, size: int, tokens: int) -> None:
        """Take in that ``size`` bytes were ``tokens`` tokens."""
        if size > 0:
            self._worst = max(self._worst or 0.0, tokens / size)
