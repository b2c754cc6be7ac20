"""Where a call is computed: each call takes one place of the server and has it alone.

A place is a slot of a lane, and a file whose lock says that it is taken. The kernel gives back the place of a client
that was killed. Calls of one process take their turns in order; between processes the first that asks again has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from disputatio.participants.call import FaultKind
from disputatio.participants.embedded.lock import FileLock
from disputatio.participants.embedded.server_spec import Address, ServerSpec
from disputatio.participants.embedded.unavailable import ModelUnavailableError

_PAUSE_S = 0.01


@dataclass(frozen=True, slots=True)
class Place:
    """One place: the address of its lane, and the secret to show there."""

    url: str
    secret: str

    def __repr__(self) -> str:
        return f"Place(url={self.url!r})"


class Places:
    """The places of the server of ``spec``, which listens at ``address``."""

    def __init__(self, spec: ServerSpec, address: Address) -> None:
        self._spec, self._address = spec, address
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def take(self, timeout_s: float) -> AsyncIterator[Place]:
        """Wait for a free place and have it until the end of the block.

        Raises:
            ModelUnavailableError: no place became free within ``timeout_s`` seconds, or a lock cannot be opened.
        """
        try:
            async with asyncio.timeout(timeout_s), self._turn:
                lock, place = await self._first_free()
        except TimeoutError as error:
            message = f"The embedded model was busy with other calls for {timeout_s:g} seconds."
            raise ModelUnavailableError(FaultKind.TIMED_OUT, message) from error
        try:
            yield place
        finally:
            lock.close()

    async def _first_free(self) -> tuple[FileLock, Place]:
        while True:
            for number in range(self._spec.lanes * self._spec.slots):
                lock = FileLock(self._spec.place(f"place-{number}.lock"))
                if lock.try_exclusive():
                    # Neighbouring numbers are different lanes, so that two calls have a core each.
                    urls = self._address.urls
                    return lock, Place(urls[number % len(urls)], self._address.secret)
                lock.close()
            await asyncio.sleep(_PAUSE_S)
