"""How much a model may send for one call: a bound that follows from the token limit which is sent with the call.

A server that keeps to its limit stays far below the bound. One that does not, by mistake or on purpose, could fill the
memory of this process. The bound holds for what is left after decompression.

- A whole answer: ``BYTES_PER_TOKEN`` for each token. Usual text has 4 to 5 bytes a token, Chinese where JSON stands in
  JSON and both escape it up to 50. The longest tokens of common vocabularies are runs of 128 spaces or dashes, and some
  servers send reasoning twice.
- A streamed answer: ``STREAMED_BYTES_PER_TOKEN``. A server may send an event for each token, with id, model and the
  rest of its frame, in 200 to 700 bytes, and some send one for each character. The lines are counted too, because each
  takes processor time however short it is.
- On top, for both: ``OVERHEAD`` and twice the request, because some servers repeat it.
- No body is larger than ``LARGEST_BODY``, whatever the limit is: 40 times as long as any answer that is read
  (`disputatio.participants.answers.MAX_ANSWER_CHARS`), with its reasoning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BYTES_PER_TOKEN: Final = 512
STREAMED_BYTES_PER_TOKEN: Final = 2_048
LINES_PER_TOKEN: Final = 16
OVERHEAD: Final = 1 << 20
OVERHEAD_LINES: Final = 2_000
LARGEST_BODY: Final = 64 << 20
LARGEST_STREAM: Final = 512 << 20
LARGEST_ERROR: Final = 1 << 20
"""Bytes of a response with an error status that are read. What follows is left out: the status says what went wrong."""

LONGEST_BEGINNING: Final = 500
"""Characters that are kept of an answer which was stopped."""


@dataclass(frozen=True, slots=True)
class AnswerBound:
    """The most that a model may send for one call.

    Attributes:
        tokens: the limit of the call; 0 where nothing was asked of a model.
        size: bytes of the body, the repeated request not counted.
        event: bytes of one event of a stream, and of a body that is none.
        lines: lines of a stream.
    """

    tokens: int
    size: int
    event: int
    lines: int

    @classmethod
    def of(cls, max_tokens: int, *, streamed: bool) -> AnswerBound:
        """The bound of a call that may have ``max_tokens`` tokens of output."""
        whole = min(OVERHEAD + BYTES_PER_TOKEN * max_tokens, LARGEST_BODY)
        lines = OVERHEAD_LINES + LINES_PER_TOKEN * max_tokens
        if not streamed:
            return cls(max_tokens, whole, whole, lines)
        size = min(OVERHEAD + STREAMED_BYTES_PER_TOKEN * max_tokens, LARGEST_STREAM)
        return cls(max_tokens, size, min(size, whole), lines)

    @property
    def purpose(self) -> str:
        """What it is the bound for, in words."""
        return f"{self.tokens:,} tokens" if self.tokens else "what is no answer"


UNASKED: Final = AnswerBound(0, 16 << 20, 16 << 20, 1_000_000)
"""For what is read outside a call of a model, such as a list of models."""
