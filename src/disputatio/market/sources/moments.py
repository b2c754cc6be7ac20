"""When a close or a publication was known, in UTC seconds; days are ISO days.

The moment of a day depends on the day alone: if other rows mattered, a longer file would change history.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from disputatio.errors import InvalidInputError

NEW_YORK = "America/New_York"


@lru_cache(maxsize=65_536)
def second_at(day: str, clock: str, zone: str) -> int:
    """Return the second at which the clock in ``zone`` shows ``clock`` (``16:00``) on ``day``."""
    local = datetime.combine(date.fromisoformat(day), time.fromisoformat(clock), ZoneInfo(zone))
    return int(local.timestamp())


@lru_cache(maxsize=65_536)
def next_weekday(day: str) -> str:
    """Return the next Monday to Friday after ``day``. Holidays are ignored; they only delay."""
    found = date.fromisoformat(day) + timedelta(days=1)
    while found.weekday() > 4:
        found += timedelta(days=1)
    return found.isoformat()


@lru_cache(maxsize=4_096)
def last_weekday_of_month(month: str) -> str:
    """Return the last Monday to Friday of ``month`` (``2008-11``)."""
    found = date.fromisoformat(f"{add_months(month, 1)}-01") - timedelta(days=1)
    while found.weekday() > 4:
        found -= timedelta(days=1)
    return found.isoformat()


def add_months(month: str, count: int) -> str:
    """Return the month ``count`` months after ``month``; ``count`` may be negative."""
    whole = int(month[:4]) * 12 + int(month[5:7]) - 1 + count
    return f"{whole // 12:04d}-{whole % 12 + 1:02d}"


def count_days(first: str, last: str) -> int:
    """Count the days from ``first`` to ``last``."""
    return (date.fromisoformat(last) - date.fromisoformat(first)).days


def subtract_days(day: str, count: int) -> str:
    """Return the day ``count`` days before ``day``."""
    return (date.fromisoformat(day) - timedelta(days=count)).isoformat()


@lru_cache(maxsize=65_536)
def format_moment(second: int) -> str:
    """Format ``second`` as ISO text in UTC, such as ``2008-11-28T21:00:00Z``."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def resolve_moment(as_of: date | datetime) -> tuple[int, str]:
    """Return the last UTC second known at ``as_of``, and its day in New York.

    A day means its end in New York.

    Raises:
        InvalidInputError: if a moment has no time zone.
    """
    if not isinstance(as_of, datetime):
        day = as_of.isoformat()
        return second_at(day, "23:59:59", NEW_YORK), day
    if as_of.tzinfo is None:
        raise InvalidInputError(
            f"The moment {as_of.isoformat()} has no time zone.", "Add one, such as +00:00, or give the day alone."
        )
    return int(as_of.timestamp()), as_of.astimezone(ZoneInfo(NEW_YORK)).date().isoformat()


def parse_as_of(text: str) -> date | datetime:
    """Parse a day (``2008-11-28``) or a moment (``2008-11-28T14:30:00-05:00``).

    Raises:
        InvalidInputError: if ``text`` is neither.
    """
    plain = text.strip()
    try:
        return date.fromisoformat(plain) if len(plain) == 10 else datetime.fromisoformat(plain)
    except ValueError:
        raise InvalidInputError(
            f"{plain[:40]!r} is no day.", "Give one such as 2008-11-28, or a moment such as 2008-11-28T14:30:00-05:00."
        ) from None
