"""Limits for MCP servers: seconds for each call, bytes for each answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from disputatio.motion import one_line

CONNECT_S = 20.0
"""Seconds for starting a server and listing its tools."""
MAX_ANSWER_BYTES: Final = 4 << 20
"""Of one answer or message, after decompression. A seat is shown a few thousand characters of it."""
MAX_OUTPUT_BYTES: Final = 16 << 20
"""Of each output of a started server after a request. Several calls may run at once."""
MAX_LINES: Final = 10_000
"""Of one streamed answer, and of a started server after a request, because each line takes time."""
_TAIL: Final = 4_000

_END: ContextVar[float | None] = ContextVar("_END", default=None)


@asynccontextmanager
async def limit_time(seconds: float) -> AsyncIterator[None]:
    """Limit the calls in this block to ``seconds``, also those that the library makes in another task.

    Raises:
        TimeoutError: the time is over.
    """
    end = asyncio.get_running_loop().time() + seconds
    token = _END.set(end)
    try:
        async with asyncio.timeout_at(end):
            yield
    finally:
        _END.reset(token)


def current_deadline() -> float | None:
    """Return the deadline on the event loop's clock; None outside a limited block."""
    return _END.get()


@dataclass
class ServerOutput:
    """What a server writes besides the protocol.

    Attributes:
        stopped: why the server was stopped, in half a sentence; empty if it was not.
        tail: the last bytes of its standard error.
    """

    stopped: str = ""
    tail: bytes = b""

    def add(self, data: bytes) -> None:
        """Append ``data``, keeping only the end."""
        self.tail = (self.tail + data)[-_TAIL:]

    @property
    def last_line(self) -> str:
        """The last line, cleaned; may be empty."""
        lines = [line for line in self.tail.decode("utf-8", "replace").splitlines() if line.strip()]
        return one_line(lines[-1], 200) if lines else ""
