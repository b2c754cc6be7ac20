"""A clock that leaps, for tests that wait for a fake provider's batches: an hour takes no time."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiohttp import ClientSession


class LeapingClock:
    """Time that goes by the clock of a fake provider, and moves it on instead of waiting.

    Clients in several processes may share the provider's clock: each sees the leaps of all.

    Args:
        root_url: the address of the provider, without ``/v1``.
    """

    def __init__(self, root_url: str) -> None:
        self._url = f"{root_url}/_clock"
        self._ahead = 0.0
        self._session: ClientSession | None = None

    def now(self) -> str:
        """UTC with microseconds, as the provider last said."""
        return datetime.fromtimestamp(time.time() + self._ahead, UTC).isoformat().replace("+00:00", "Z")

    def monotonic(self) -> float:
        """Seconds; leaps count."""
        return time.monotonic() + self._ahead

    async def sleep(self, seconds: float) -> None:
        """Move the provider's clock on by so much."""
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession()
        async with self._session.post(self._url, json={"seconds": seconds}) as response:
            self._ahead = float((await response.json())["now"]) - time.time()
        # All tasks that can continue do so before the next leap.
        await asyncio.sleep(0)

    async def aclose(self) -> None:
        """Close the connection. Safe to repeat."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
