"""What an MCP server may take: seconds for each call, and bytes for each answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from disputatio.motion import one_line

CONNECT_S = 20.0
"""Seconds for starting a server and hearing its tools."""
MAX_ANSWER_BYTES: Final = 4 << 20
"""Bytes of one answer or message, after decompression. A seat is shown a few thousand characters of it."""
MAX_OUTPUT_BYTES: Final = 16 << 20
"""Bytes that a started server may write after a request, on each of its two outputs. Several calls may run at once."""
MAX_LINES: Final = 10_000
"""Lines of one answer that is a stream, and lines that a started server may write after a request: each takes time."""
_TAIL: Final = 4_000

_END: ContextVar[float | None] = ContextVar("_END", default=None)


@asynccontextmanager
async def limit_time(seconds: float) -> AsyncIterator[None]:
    """Let what is asked in this block be over in ``seconds``, also where the library goes on in a task of its own.

    Raises:
        TimeoutError: it is not.
    """
    end = asyncio.get_running_loop().time() + seconds
    token = _END.set(end)
    try:
        async with asyncio.timeout_at(end):
            yield
    finally:
        _END.reset(token)


def current_deadline() -> float | None:
    """The moment, on the clock of the event loop, at which the asking block has to be over; None outside of one."""
    return _END.get()


@dataclass
class ServerOutput:
    """What a connection says beside the protocol.

    Attributes:
        stopped: why the server was stopped, in half a sentence; empty where it was not.
        tail: the last bytes that a started server wrote to its standard error.
    """

    stopped: str = ""
    tail: bytes = b""

    def add(self, data: bytes) -> None:
        """Keep the end of what came."""
        self.tail = (self.tail + data)[-_TAIL:]

    @property
    def last_line(self) -> str:
        """The last of its lines, cleaned; empty where there is none."""
        lines = [line for line in self.tail.decode("utf-8", "replace").splitlines() if line.strip()]
        return one_line(lines[-1], 200) if lines else ""
