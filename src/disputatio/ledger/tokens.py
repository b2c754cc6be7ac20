"""Bounds the input tokens of a call before it is sent, without the model's tokenizer.

Byte-level tokenizers make at most one token of a byte; chat templates add a few tokens for each message. That bound is
about four times too high for English. Once a model has answered, the bound is 1.5 times its worst ratio of tokens to
bytes in this debate, and at most one token a byte.
"""

from __future__ import annotations

from math import ceil

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

    def measured(self, size: int, tokens: int) -> None:
        """Record that ``size`` bytes were ``tokens`` tokens."""
        if size > 0:
            self._worst = max(self._worst or 0.0, tokens / size)
