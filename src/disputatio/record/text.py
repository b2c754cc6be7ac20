"""Turn values into bytes that can be hashed, equal on every machine.

Canonical JSON: keys sorted by code point, no spaces, UTF-8 without escapes beyond those JSON requires, no NaN or
infinity. Money and weights are strings, so no hash depends on how a float is printed.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable
from string import ascii_letters
from typing import Any

import orjson

_LETTERS = frozenset(ascii_letters) - {"e", "E"}
# All digits are one, and so are all letters but the one that begins an exponent.
_SORTS = bytes.maketrans(
    bytes(range(256)),
    b"".join(b"0" if sign in b"0123456789" else b"x" if chr(sign) in _LETTERS else b" " for sign in range(256)),
)
_MANY_DIGITS = b" " + b"0" * 19
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
        return replace_surrogates(text)
    # orjson writes null for NaN and infinities, so only a text with unexplained nulls can hide one.
    if (nulls := raw.count(b"null")) and nulls != _count_nulls(value) and not _is_finite(value):
        raise ValueError("NaN and infinities are not JSON")
    return raw.decode()


def _count_nulls(value: Any) -> int:
    """How many fields of an object, and of its direct objects, are None."""
    if type(value) is not dict:
        return 0
    fields = list(value.values())
    nothings = fields.count(None)
    for each in fields:
        if type(each) is dict:
            nothings += list(each.values()).count(None)
    return nothings


def _is_finite(value: Any) -> bool:
    waiting: list[Any] = [[value]]
    while waiting:
        row = waiting.pop()
        for each in row.values() if type(row) is dict else row:
            kind = type(each)
            # Most of what is written is text.
            if kind is str:
                continue
            if kind is dict or kind is list or kind is tuple:
                waiting.append(each)
            elif isinstance(each, float) and not math.isfinite(each):
                return False
    return True


def replace_surrogates(text: str) -> str:
    """``text`` with U+FFFD for each lone surrogate, which UTF-8 cannot hold."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def digest(text: str) -> str:
    """SHA-256 of ``text`` in UTF-8, as 64 hexadecimal digits. Lone surrogates count as U+FFFD."""
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raw = replace_surrogates(text).encode()
    return hashlib.sha256(raw).hexdigest()


def read_json(text: str) -> Any:
    """The value in canonical JSON written by ``canonical``."""
    raw = text.encode("utf-8", "replace")
    return json.loads(text) if _may_have_long_numbers(b"\n" + raw) else orjson.loads(raw)


def json_reader(texts: Iterable[str]) -> Callable[[str], Any]:
    """A function that reads each of ``texts`` as ``read_json`` does, faster where no text needs special care."""
    try:
        raw = "\n".join(("", *texts)).encode()
    except UnicodeEncodeError:
        return read_json
    return read_json if _may_have_long_numbers(raw) else orjson.loads


def _may_have_long_numbers(raw: bytes) -> bool:
    """Whether there may be an integer beyond 64 bits (19 digits or more), which orjson would turn into a float.

    A number follows a sign, a bracket or the line feed before a text. Digits after a letter belong to a word, usually a
    hash.
    """
    return _MANY_DIGITS in raw.translate(_SORTS)
