"""How many requests a caller may make: a bucket of tokens for each name, which holds a minute's worth and fills evenly.

A server over a file counts in its own memory. Several servers over one PostgreSQL count in a table, so that a
key has one bucket however many servers there are.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from disputatio._service.problems import RefusedError, retry_after

if TYPE_CHECKING:
    from disputatio._service.database import Database

_MOST_BUCKETS = 10_000
_FULL_AGAIN_S = 120
"""A bucket that was not used for this long is full and is deleted."""


class RateLimits(Protocol):
    """Buckets by name."""

    def take(self, name: str, per_minute: int) -> None:
        """Take one from the bucket of ``name``. May wait for the database; call it in a thread.

        Raises:
            RefusedError: it is empty; says when there will be one again.
        """


def rate_limits(database: Database) -> RateLimits:
    """The buckets of a server over ``database``."""
    return SharedRateLimits(database) if database.is_shared else OwnRateLimits()


@dataclass(slots=True)
class OwnRateLimits:
    """Buckets in this process."""

    clock: Callable[[], float] = time.monotonic
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, name: str, per_minute: int) -> None:
        """As the protocol."""
        # Of two threads in the middle of it, the second would find no bucket, and take a full one for it.
        with self._lock:
            now = self.clock()
            left, at = self._buckets.pop(name, (float(per_minute), now))
            left = min(float(per_minute), left + (now - at) * per_minute / 60)
            if len(self._buckets) >= _MOST_BUCKETS:
                self._buckets.popitem(last=False)
            self._buckets[name] = (left - 1 if left >= 1 else left, now)
        if left < 1:
            raise _too_many(per_minute, left)


class SharedRateLimits:
    """Buckets in PostgreSQL: filled and taken from in one statement, by the clock of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._swept = time.monotonic()

    def take(self, name: str, per_minute: int) -> None:
        """As the protocol."""
        given = {"name": name[:120], "most": float(per_minute)}
        with self._database.counting() as connection:
            left = connection.exec_driver_sql(_TAKE, given).scalar()
            if left is None:
                left = connection.exec_driver_sql(_LEFT, given).scalar()
                raise _too_many(per_minute, float(left or 0))
            if time.monotonic() - self._swept > _FULL_AGAIN_S:
                self._swept = time.monotonic()
                connection.exec_driver_sql(_SWEEP, {"old": _FULL_AGAIN_S})


def _too_many(per_minute: int, left: float) -> RefusedError:
    return RefusedError(
        429,
        "rate-limited",
        f"This key may make {per_minute} requests a minute, and has made them.",
        "Wait as long as Retry-After says.",
        retry_after((1 - left) * 60 / per_minute),
    )


# Where the clock was set back, it is not known how long a bucket has filled: it is full. It would else take nobody's
# request until the clock is where it was.
_FILLED = """CASE WHEN b.at > clock_timestamp() + interval '1 second' THEN %(most)s
    ELSE LEAST(%(most)s, b.left_over + extract(epoch FROM clock_timestamp() - b.at) * %(most)s / 60) END"""
_TAKE = f"""
    INSERT INTO service_rates AS b (name, left_over, at) VALUES (%(name)s, %(most)s - 1, clock_timestamp())
    ON CONFLICT (name) DO UPDATE SET left_over = {_FILLED} - 1, at = clock_timestamp() WHERE {_FILLED} >= 1
    RETURNING left_over
"""  # noqa: S608  (no text of a caller is in it)
_LEFT = f"SELECT {_FILLED} FROM service_rates AS b WHERE name = %(name)s"  # noqa: S608  (as above)
_SWEEP = "DELETE FROM service_rates WHERE at < clock_timestamp() - make_interval(secs => %(old)s)"
