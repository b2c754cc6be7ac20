"""How values become bytes that can be hashed, the same on every machine.

Canonical JSON: keys sorted by code point, no spaces, UTF-8 without escapes beyond those JSON requires, no NaN
or infinity. Money and weights are strings, so no hash depends on how a float is printed.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any

import orjson

_DIGITS = bytes(ord("0") if chr(place).isdigit() and place < 128 else ord(" ") for place in range(256))
_MANY_DIGITS = b"0" * 19
_SURROGATES = re.compile("[\ud800-\udfff]")


def canonical(value: Any) -> str:
    """``value`` as canonical JSON.

    Raises:
        ValueError: it holds NaN or an infinity.
        TypeError: it holds something that is no JSON.
    """
    try:
        raw = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # A lone surrogate in a provider's raw output, or a whole number beyond 64 bits.
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return well_formed(text)
    # orjson writes null for NaN and infinities, so only a text with a null in it can hide one.
    if b"null" in raw and not _is_finite(value):
        raise ValueError("NaN and infinities are not JSON")
    return raw.decode()


def _is_finite(value: Any) -> bool:
    waiting = [value]
    while waiting:
        row = waiting.pop()
        kind = type(row)
        if kind is dict:
            waiting.extend(row.values())
        elif kind is list or kind is tuple:
            waiting.extend(row)
        elif isinstance(row, float) and not math.isfinite(row):
            return False
    return True


def well_formed(text: str) -> str:
    """``text`` with U+FFFD for each lone surrogate, which UTF-8 cannot hold."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def digest(text: str) -> str:
    """SHA-256 of ``text`` in UTF-8, as 64 hexadecimal digits. Lone surrogates count as U+FFFD."""
    return hashlib.sha256(well_formed(text).encode()).hexdigest()


def read_json(text: str) -> Any:
    """The value in canonical JSON written by ``canonical``."""
    # orjson makes floats of whole numbers beyond 64 bits, which have nineteen digits and more.
    raw = text.encode("utf-8", "replace")
    return json.loads(text) if _MANY_DIGITS in raw.translate(_DIGITS) else orjson.loads(raw)
