"""How many requests a caller may make: a bucket of tokens for each, in this process."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from disputatio._service.problems import RefusedError, retry_after

_MOST_BUCKETS = 10_000


@dataclass(slots=True)
class RateLimits:
    """Buckets by name. Each holds a minute's worth and fills evenly."""

    clock: Callable[[], float] = time.monotonic
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, name: str, per_minute: int) -> None:
        """Take one from the bucket of ``name``.

        Raises:
            RefusedError: it is empty; says when there will be one again.
        """
        now = self.clock()
        left, at = self._buckets.pop(name, (float(per_minute), now))
        left = min(float(per_minute), left + (now - at) * per_minute / 60)
        if len(self._buckets) >= _MOST_BUCKETS:
            self._buckets.popitem(last=False)
        self._buckets[name] = (left - 1 if left >= 1 else left, now)
        if left < 1:
            raise RefusedError(
                429,
                "rate-limited",
                f"{per_minute} requests a minute are the most, and they are made.",
                "Wait as long as Retry-After says.",
                retry_after((1 - left) * 60 / per_minute),
            )
