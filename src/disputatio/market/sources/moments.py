"""Moments: when a session's close, or a publication, could be known. Always in UTC seconds; days are ISO days.

A day's moments depend on the day alone, never on what other rows a file has, or a longer file would change history.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from disputatio.errors import InvalidInputError

NEW_YORK = "America/New_York"


@lru_cache(maxsize=65_536)
def second_at(day: str, clock: str, zone: str) -> int:
    """The second at which the clock in ``zone`` shows ``clock`` (``16:00``) on ``day``."""
    local = datetime.combine(date.fromisoformat(day), time.fromisoformat(clock), ZoneInfo(zone))
    return int(local.timestamp())


@lru_cache(maxsize=65_536)
def next_weekday(day: str) -> str:
    """The first day after ``day`` that is no Saturday or Sunday. Holidays are not known here; they only delay."""
    found = date.fromisoformat(day) + timedelta(days=1)
    while found.weekday() > 4:
        found += timedelta(days=1)
    return found.isoformat()


@lru_cache(maxsize=4_096)
def last_weekday_of_month(month: str) -> str:
    """The last day of ``month`` (``2008-11``) that is no Saturday or Sunday."""
    found = date.fromisoformat(f"{add_months(month, 1)}-01") - timedelta(days=1)
    while found.weekday() > 4:
        found -= timedelta(days=1)
    return found.isoformat()


def add_months(month: str, count: int) -> str:
    """The month ``count`` months after ``month``; ``count`` may be negative."""
    whole = int(month[:4]) * 12 + int(month[5:7]) - 1 + count
    return f"{whole // 12:04d}-{whole % 12 + 1:02d}"


def count_days(first: str, last: str) -> int:
    """Days from ``first`` to ``last``."""
    return (date.fromisoformat(last) - date.fromisoformat(first)).days


def subtract_days(day: str, count: int) -> str:
    """The day ``count`` days before ``day``."""
    return (date.fromisoformat(day) - timedelta(days=count)).isoformat()


@lru_cache(maxsize=65_536)
def format_moment(second: int) -> str:
    """``second`` as ISO text in UTC, such as ``2008-11-28T21:00:00Z``."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def resolve_moment(as_of: date | datetime) -> tuple[int, str]:
    """The moment up to which anything is known at ``as_of``, and that day in New York.

    A day means its end in New York; a moment must say its time zone.

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
    """The day (``2008-11-28``) or moment (``2008-11-28T14:30:00-05:00``) that ``text`` says.

    Raises:
        InvalidInputError: if it says neither.
    """
    plain = text.strip()
    try:
        return date.fromisoformat(plain) if len(plain) == 10 else datetime.fromisoformat(plain)
    except ValueError:
        raise InvalidInputError(
            f"{plain[:40]!r} is no day.", "Give one such as 2008-11-28, or a moment such as 2008-11-28T14:30:00-05:00."
        ) from None
