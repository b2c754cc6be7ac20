"""Work that several wait for and that is done once, such as what debates that begin together all have to learn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")


class SharedWork(Generic[Key, Found]):
    """Runs work once for all tasks of an event loop that ask for the same key at the same time."""

    def __init__(self) -> None:
        self._under_way: dict[tuple[asyncio.AbstractEventLoop, Key], asyncio.Task[Found]] = {}

    async def of(self, key: Key, work: Callable[[], Coroutine[Any, Any, Found]]) -> Found:
        """Start ``work`` unless it already runs for ``key``; return its result. All waiting tasks get its exception."""
        place = asyncio.get_running_loop(), key
        if place not in self._under_way:
            task = self._under_way[place] = asyncio.create_task(work())
            task.add_done_callback(lambda _: self._under_way.pop(place))
        # One waiting task may be cancelled while others still need the result.
        return await asyncio.shield(self._under_way[place])
