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

import hashlib
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

_HEAD: Final = 2_000
_BLANK_LINES: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")


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


class OverlongError(Exception):
    """More came than the bound allows.

    Attributes:
        passed: the bound that was passed, in words: ``1,509,376 bytes``.
        purpose: what it is the bound for: ``900 tokens``.
        size: how many bytes were read.
        sha256: their hash.
        head: the first of them.
    """

    def __init__(self, passed: str, purpose: str, size: int, sha256: str, head: bytes) -> None:
        super().__init__(f"{passed} were passed, the bound for {purpose}")
        self.passed, self.purpose, self.size, self.sha256, self.head = passed, purpose, size, sha256, head

    @property
    def sentence(self) -> str:
        """What happened, completing "The model ..."."""
        return (
            f"passed {self.passed}, the bound for {self.purpose}, and was cut off; "
            f"its first {self.size:,} bytes have the SHA-256 {self.sha256}"
        )


class Intake:
    """Counts one answer as it comes in.

    Args:
        bound: the most that it may be.
        sent: bytes of the request, which the server may repeat.
    """

    def __init__(self, bound: AnswerBound, sent: int = 0) -> None:
        self._bound = bound
        self._most, self._most_event = bound.size + 2 * sent, bound.event + 2 * sent
        self._size = self._lines = self._event = 0
        self._tail = self._head = b""
        self._hash = hashlib.sha256()

    def take(self, data: bytes, *, events: bool = False) -> None:
        """Count the next bytes.

        Args:
            data: decompressed.
            events: whether they are server-sent events, whose lines and sizes are bounded too.

        Raises:
            OverlongError: the bound is passed.
        """
        kept = data[: self._most - self._size]
        self._size += len(kept)
        self._hash.update(kept)
        if len(self._head) < _HEAD:
            self._head += kept[: _HEAD - len(self._head)]
        if len(kept) < len(data):
            raise self._overlong(f"{self._most:,} bytes")
        if events:
            self._count_events(data)

    def _count_events(self, data: bytes) -> None:
        self._lines += data.count(b"\n") + data.count(b"\r")
        if self._lines > self._bound.lines:
            raise self._overlong(f"{self._bound.lines:,} lines")
        # An empty line ends an event; it may have come in two pieces.
        seen = self._tail + data
        end = max(seen.rfind(line) + len(line) if line in seen else 0 for line in _BLANK_LINES)
        self._event = len(seen) - end if end else self._event + len(data)
        self._tail = seen[-3:]
        if self._event > self._most_event:
            raise self._overlong(f"{self._most_event:,} bytes in one event")

    def _overlong(self, passed: str) -> OverlongError:
        return OverlongError(passed, self._bound.purpose, self._size, self._hash.hexdigest(), self._head)
