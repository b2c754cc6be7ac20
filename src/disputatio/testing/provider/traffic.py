"""The bill and the traffic of a fake provider."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from disputatio.testing.provider.answers import Answer


@dataclass(slots=True)
class Bill:
    """A fake provider's bill.

    Attributes:
        single: how often each request was answered singly, by its fingerprint.
        batch: how often each request was taken into a batch that answers it, by its fingerprint.
        single_tokens: tokens of these, input and output together.
        batch_tokens: the same of those in batches, each of which costs half.
    """

    single: Counter[str] = field(default_factory=Counter)
    batch: Counter[str] = field(default_factory=Counter)
    single_tokens: int = 0
    batch_tokens: int = 0

    @property
    def cost(self) -> float:
        """All tokens at their price, where one of a single request costs 1."""
        return self.single_tokens + self.batch_tokens / 2

    @property
    def requests(self) -> Counter[str]:
        """How often each request was charged, whatever the way."""
        return self.single + self.batch

    def charge(self, fingerprint: str, answer: Answer, *, batch: bool) -> None:
        """Charge one answer."""
        tokens = answer.prompt_tokens + answer.completion_tokens
        if batch:
            self.batch[fingerprint] += 1
            self.batch_tokens += tokens
        else:
            self.single[fingerprint] += 1
            self.single_tokens += tokens


WAIT_TIMEOUT_S: Final = 10.0
"""How long a test waits before it fails, in seconds."""


class Tally:
    """A growing count to wait for.

    Args:
        what: what is counted, for the message of a time-out.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._count = 0
        self._changed = threading.Condition()
        self._wanted: list[tuple[int, asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    @property
    def count(self) -> int:
        """How many there were so far."""
        return self._count

    def add(self) -> None:
        """Count one more and wake those that wait for it."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()
            for wanted, loop, reached in self._wanted:
                if wanted <= self._count and not loop.is_closed():
                    loop.call_soon_threadsafe(_settle, reached)
            self._wanted = [entry for entry in self._wanted if entry[0] > self._count]

    def wait(self, count: int, timeout_s: float = WAIT_TIMEOUT_S) -> None:
        """Block until there were ``count``. Not for the event loop that the provider itself runs in.

        Raises:
            TimeoutError: there were fewer after ``timeout_s`` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._count >= count, timeout_s):
                raise self._timeout_error(count, timeout_s)

    async def reach(self, count: int, timeout_s: float = WAIT_TIMEOUT_S) -> None:
        """Wait until there were ``count``, in any event loop.

        Raises:
            TimeoutError: there were fewer after ``timeout_s`` seconds.
        """
        loop = asyncio.get_running_loop()
        reached: asyncio.Future[None] = loop.create_future()
        with self._changed:
            if self._count >= count:
                return
            self._wanted.append((count, loop, reached))
        try:
            await asyncio.wait_for(reached, timeout_s)
        except TimeoutError:
            raise self._timeout_error(count, timeout_s) from None

    def _timeout_error(self, count: int, timeout_s: float) -> TimeoutError:
        return TimeoutError(f"{self._count} of {count} {self._what} after {timeout_s:g} s")


class Gate:
    """Holds back answers until it is opened. All methods except ``go_through`` may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_shut = False
        self._let_through: set[int] = set()
        self._waiting: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = {}

    def shut(self) -> None:
        """Hold back all answers from now on."""
        with self._lock:
            self._is_shut = True
            self._let_through.clear()

    def open(self, *indexes: int) -> None:
        """Release these answers, even future ones; without an index all present and future answers."""
        with self._lock:
            if indexes:
                self._let_through.update(indexes)
            else:
                self._is_shut = False
            for index in list(self._waiting):
                if not indexes or index in indexes:
                    loop, passed = self._waiting.pop(index)
                    loop.call_soon_threadsafe(_settle, passed)

    async def go_through(self, index: int) -> None:
        """Wait until the answer to request ``index`` may go."""
        with self._lock:
            if not self._is_shut or index in self._let_through:
                return
            loop = asyncio.get_running_loop()
            passed: asyncio.Future[None] = loop.create_future()
            self._waiting[index] = (loop, passed)
        try:
            await passed
        finally:
            with self._lock:
                self._waiting.pop(index, None)


class Traffic:
    """What one provider counts, and the gate before its answers."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.arrived = Tally("requests arrived")
        self.answered = Tally("requests were answered")
        self.abandoned = Tally("requests were abandoned")
        self.models_asked = Tally("times the models were asked for")
        self.in_flight = 0
        self.peak_in_flight = 0

    def begin(self) -> None:
        """Count a request in."""
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        self.arrived.add()

    def end(self, *, completed: bool) -> None:
        """Count a request out, with its whole answer or without."""
        self.in_flight -= 1
        (self.answered if completed else self.abandoned).add()


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
