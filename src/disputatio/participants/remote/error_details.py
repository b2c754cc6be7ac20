"""Reads the message, the codes and the requested wait of a provider's error response.

Text from a server is untrusted: it may hold terminal escapes, directional overrides, a whole web page, or the key.
Nothing of a response body reaches a message except through ``one_line``.

A wait is read from these sources, in order:

1. ``retry-after-ms``: milliseconds (OpenAI, Azure).
2. ``Retry-After``: seconds, or a date, compared with the response's own ``Date`` (RFC 9110, 10.2.3).
3. ``x-ratelimit-reset-*`` and ``ratelimit-reset``: the longest, of the limits whose ``remaining`` is 0, else of all.
   Values are ``6m0s`` or ``20ms`` (OpenAI, Groq), seconds, or a time since 1970 in s or ms (OpenRouter).
4. The message: "Please try again in 20s".
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

LONGEST: Final = 200
"""Characters of a provider's text that a message quotes at most."""

_KEY_SHAPES = re.compile(
    r"""\b(?:sk|pk|gsk|xai|key|rk)[-_][A-Za-z0-9*_.\-]{6,}   # OpenAI and its likes, also half-masked echoes
      | \bAIza[A-Za-z0-9*_\-]{6,}                             # Google
      | \bA[KS]IA[A-Z0-9]{12,}                                # Amazon
      | (?<=[Bb]earer\s)\S{8,}
      | (?<=://)[^/@\s]+(?=@)                                  # a name and password in an address
      | (?<=[?&]key=)[^&\s]+
    """,
    re.VERBOSE,
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_DEEPEST: Final = 8
_UNPRINTABLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def one_line(text: str, secret: str | None = None, longest: int = LONGEST) -> str:
    """``text`` as one line of at most ``longest`` characters, without keys and unprintable characters.

    Args:
        text: anything a server sent.
        secret: the key in use; ``[key]`` replaces it in ``text``.
        longest: how many characters it may have.
    """
    # Bounds the cost of the searches below for a huge body.
    text = text[: longest * 20]
    text = "".join(" " if unicodedata.category(c) in _UNPRINTABLE else c for c in text)
    # A shorter key is a placeholder such as "none", which may be part of any word.
    if secret and len(secret) >= 8:
        text = text.replace(secret, "[key]")
    text = " ".join(_KEY_SHAPES.sub("[key]", text).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def message_in(body: object) -> str:
    """The message for people in an error body, or "".

    Knows the bodies of OpenAI and its likes (``error.message``), OpenRouter (the upstream's words in
    ``error.metadata.raw``), FastAPI servers (``detail``), Bedrock (``Error.Message``), and web pages.
    """
    return _message(body, _DEEPEST)


def codes_in(body: object) -> frozenset[str]:
    """The machine-readable words of an error body (``code``, ``type``, ``status``), in lower case."""
    if isinstance(body, str | bytes):
        body = _parsed(body)
    codes: set[str] = set()
    for _ in range(_DEEPEST):
        if not isinstance(body, Mapping):
            break
        values = (body.get(key) for key in ("code", "Code", "type", "status"))
        codes.update(value.lower() for value in values if isinstance(value, str))
        codes.update(str(value) for value in (body.get("code"),) if isinstance(value, int) and abs(value) < 10**6)
        body = body.get("error", body.get("Error"))
    return frozenset(codes)


def _message(body: object, depth: int) -> str:
    if depth == 0:
        # No provider nests its errors so deeply; this is an attack on the parser.
        return ""
    match body:
        case bytes():
            return _message(body.decode(errors="replace"), depth)
        case str():
            return _message_in_text(body, depth)
        case Mapping():
            return _message_in_object(body, depth)
        case [first, *_]:
            return _message(first, depth - 1)
        case _:
            return ""


def _message_in_text(text: str, depth: int) -> str:
    parsed = _parsed(text)
    if isinstance(parsed, Mapping | list):
        return _message(parsed, depth - 1)
    if "<html" in text[:2000].lower() or "<!doctype" in text[:200].lower():
        title = _TITLE.search(text[:20_000])
        return f'a web page titled "{" ".join(title[1].split())}"' if title else "a web page"
    return text


def _message_in_object(body: Mapping[object, object], depth: int) -> str:
    for key in ("error", "Error", "message", "Message", "detail", "msg", "error_description"):
        if words := _message(body.get(key), depth - 1):
            metadata = body.get("metadata")
            raw = _message(metadata.get("raw"), depth - 1) if isinstance(metadata, Mapping) else ""
            return f"{words}: {raw}" if raw else words
    return ""


def _parsed(text: str | bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_SPAN = re.compile(
    r"(?<![\d.])(\d+(?:\.\d+)?)\s*+(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
)
_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_WAIT_WORDS = re.compile(
    r"(?:try(?:ing)? again|retry(?:ing)?|wait(?:ing)?|resets?)\s+(?:after|in|for)?\s*(?:about\s+)?"
    rf"((?:{_SPAN.pattern}\s*)+)",
    re.IGNORECASE,
)
_RESET = re.compile(r"(?:x-)?ratelimit-reset(?:-(.+))?")
_AN_EPOCH: Final = 1_000_000_000
"""Seconds from here on are a point in time (the year 2001) and not a duration."""


def requested_wait(headers: Mapping[str, str] | None, words: str = "") -> float | None:
    """The seconds that an error response asks to wait, 0 or more; None if it names no wait.

    Args:
        headers: the headers of the response.
        words: its message for people.
    """
    named = {str(name).lower(): str(value).strip() for name, value in (headers or {}).items()}
    found = (
        _scaled(named.get("retry-after-ms"), 0.001),
        _retry_after(named.get("retry-after"), named.get("date")),
        _reset(named),
        _wait_in_words(words),
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
    """The wait until the limits reset; of the used-up limits, if there are any."""
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


def _wait_in_words(words: str) -> float | None:
    found = _WAIT_WORDS.search(words[:2_000])
    return _span(_SPAN.findall(found[1].lower())) if found else None


def _span(parts: Iterable[tuple[str, str]]) -> float | None:
    """The sum of durations such as ``6m`` and ``0s``; None if there are none."""
    spans = [float(number) * _seconds_of(unit) for number, unit in parts]
    return math.fsum(spans) if spans else None


def _seconds_of(unit: str) -> float:
    return 0.001 if unit.startswith(("ms", "mill")) else _UNITS[unit[0]]
