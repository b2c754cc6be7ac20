"""How long a provider asks to be left alone, from headers or from its words.

The sources, in order; the first that says something decides:

1. ``retry-after-ms``: milliseconds (OpenAI, Azure).
2. ``Retry-After``: seconds, or a date, which is held against the response's own ``Date`` (RFC 9110, 10.2.3).
3. ``x-ratelimit-reset-*`` and ``ratelimit-reset``: the longest, of the limits whose ``remaining`` is 0, or of all where
   none says so. Values are ``6m0s`` or ``20ms`` (OpenAI, Groq), seconds, or a moment in seconds or
   milliseconds since 1970 (OpenRouter).
4. The sentence for people: "Please try again in 20s".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

_SPAN = re.compile(
    r"(?<![\d.])(\d+(?:\.\d+)?)\s*+(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
)
_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_WORDS = re.compile(
    r"(?:try(?:ing)? again|retry(?:ing)?|wait(?:ing)?|resets?)\s+(?:after|in|for)?\s*(?:about\s+)?"
    rf"((?:{_SPAN.pattern}\s*)+)",
    re.IGNORECASE,
)
_RESET = re.compile(r"(?:x-)?ratelimit-reset(?:-(.+))?")
_AN_EPOCH: Final = 1_000_000_000
"""A number of seconds this large is a moment and not a span: it is in the year 2001."""


def asked_wait(headers: Mapping[str, str] | None, words: str = "") -> float | None:
    """The seconds that a refusal asks to wait, 0 or more; None where it says nothing that can be read.

    Args:
        headers: those of the response.
        words: its sentence for people.
    """
    named = {str(name).lower(): str(value).strip() for name, value in (headers or {}).items()}
    found = (
        _scaled(named.get("retry-after-ms"), 0.001),
        _retry_after(named.get("retry-after"), named.get("date")),
        _reset(named),
        _told(words),
    )
    return next((wait for wait in found if wait is not None and math.isfinite(wait) and wait >= 0), None)


def _scaled(value: str | None, unit: float) -> float | None:
    try:
        return float(value or "") * unit
    except ValueError:
        return None


def _retry_after(value: str | None, date: str | None) -> float | None:
    seconds = _scaled(value, 1.0)
    if seconds is not None or not value:
        return seconds
    until, now = _moment(value), _moment(date)
    return None if until is None or now is None else max(0.0, (until - now).total_seconds())


def _moment(value: str | None) -> datetime | None:
    try:
        return parsedate_to_datetime(value or "")
    except ValueError:
        return None


def _reset(named: Mapping[str, str]) -> float | None:
    """The wait until the limits are filled again; those that are used up count before the others."""
    resets = {match[1] or "": value for name, value in named.items() if (match := _RESET.fullmatch(name))}
    used_up = [limit for limit in resets if _is_zero(_remaining(named, limit))]
    waits = [_span_or_moment(resets[limit], named.get("date")) for limit in used_up or resets]
    return max((wait for wait in waits if wait is not None), default=None)


def _remaining(named: Mapping[str, str], limit: str) -> str | None:
    ending = f"-{limit}" if limit else ""
    return named.get(f"x-ratelimit-remaining{ending}", named.get(f"ratelimit-remaining{ending}"))


def _is_zero(value: str | None) -> bool:
    return _scaled(value, 1.0) == 0


def _span_or_moment(value: str, date: str | None) -> float | None:
    number = _scaled(value, 1.0)
    if number is None:
        return _span(_SPAN.findall(value.lower()))
    if number < _AN_EPOCH:
        return number
    now = _moment(date)
    seconds = number / 1_000 if number >= _AN_EPOCH * 1_000 else number
    return None if now is None else max(0.0, seconds - now.timestamp())


def _told(words: str) -> float | None:
    found = _WORDS.search(words[:2_000])
    return _span(_SPAN.findall(found[1].lower())) if found else None


def _span(parts: Iterable[tuple[str, str]]) -> float | None:
    """The sum of spans such as ``6m`` and ``0s``; None of nothing."""
    spans = [float(number) * _seconds_of(unit) for number, unit in parts]
    return math.fsum(spans) if spans else None


def _seconds_of(unit: str) -> float:
    return 0.001 if unit.startswith(("ms", "mill")) else _UNITS[unit[0]]
