"""Count what another machine or program sends, and stop it before it fills the memory of this process."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final, Protocol

_HEAD: Final = 2_000
_BLANK_LINES: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")


class Bound(Protocol):
    """The limits of an answer."""

    @property
    def size(self) -> int:
        """The most bytes of a whole body, after decompression."""

    @property
    def event(self) -> int:
        """The most bytes of one event of a stream, or of a body that is not a stream."""

    @property
    def lines(self) -> int:
        """The most lines of a stream."""

    @property
    def purpose(self) -> str:
        """What the limits are for, in words."""


@dataclass(frozen=True, slots=True)
class SizeBound:
    """A limit on bytes, and on lines for streams of events.

    Attributes:
        size: the most bytes of a whole body, after decompression.
        purpose: what the limit is for: ``a series``.
        lines: the most lines of a stream of events.
    """

    size: int
    purpose: str
    lines: int = 100_000

    @property
    def event(self) -> int:
        """The most bytes of one event: the same as of a whole body."""
        return self.size


class OverlongError(Exception):
    """An answer passed its limit.

    Attributes:
        passed: the limit that it passed, in words: ``1,509,376 bytes``.
        purpose: what the limit is for: ``900 tokens``.
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
    """Counts one answer while it arrives.

    Args:
        bound: its limits.
        sent: the bytes of the request, which the server may repeat.
    """

    def __init__(self, bound: Bound, sent: int = 0) -> None:
        self._bound = bound
        self._most, self._most_event = bound.size + 2 * sent, bound.event + 2 * sent
        self._size = self._lines = self._event = 0
        self._tail = self._head = b""
        self._hash = hashlib.sha256()

    def take(self, data: bytes, *, events: bool = False) -> None:
        """Count the next bytes.

        Args:
            data: decompressed.
            events: whether they are server-sent events, whose lines and sizes are limited too.

        Raises:
            OverlongError: a limit is passed.
        """
        part = data[: self._most - self._size]
        self._size += len(part)
        self._hash.update(part)
        if len(self._head) < _HEAD:
            self._head += part[: _HEAD - len(self._head)]
        if len(part) < len(data):
            raise self._overlong(f"{self._most:,} bytes")
        if events:
            self._count_events(data)

    def _count_events(self, data: bytes) -> None:
        self._lines += data.count(b"\n") + data.count(b"\r")
        if self._lines > self._bound.lines:
            raise self._overlong(f"{self._bound.lines:,} lines")
        # An empty line ends an event. It may have come in two pieces.
        seen = self._tail + data
        end = max(seen.rfind(line) + len(line) if line in seen else 0 for line in _BLANK_LINES)
        self._event = len(seen) - end if end else self._event + len(data)
        self._tail = seen[-3:]
        if self._event > self._most_event:
            raise self._overlong(f"{self._most_event:,} bytes in one event")

    def _overlong(self, passed: str) -> OverlongError:
        return OverlongError(passed, self._bound.purpose, self._size, self._hash.hexdigest(), self._head)
