"""How values become bytes that can be hashed, the same on every machine.

Canonical JSON: keys sorted by code point, no spaces, UTF-8 without escapes beyond those JSON requires, no NaN
or infinity. Money and weights are strings, so no hash depends on how a float is printed.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import orjson


def canonical(value: Any) -> str:
    """``value`` as canonical JSON.

    Raises:
        ValueError: it holds NaN or an infinity.
        TypeError: it holds something that is no JSON.
    """
    try:
        # NaN and infinities become null in orjson; no event or schema holds a float that could be one.
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:
        # A lone surrogate in a provider's raw output, or a whole number beyond 64 bits.
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "replace").decode()


def digest(text: str) -> str:
    """SHA-256 of ``text`` in UTF-8, as 64 hexadecimal digits. Lone surrogates count as U+FFFD."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def read_json(text: str) -> Any:
    """The value in canonical JSON written by ``canonical``."""
    return orjson.loads(text)
