"""Quotes what was given in a message, and finds the name that was meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from decimal import Decimal


def did_you_mean(word: str, known: Iterable[str], *, likeness: float = 0.6) -> str:
    """``Did you mean X? `` for the nearest of ``known``, both where two are as near, or nothing.

    ``likeness`` is how alike they must be at least, from 0 to 1.
    """
    near = difflib.get_close_matches(word, list(known), n=2, cutoff=likeness)
    if len(near) == 2:
        first, second = (difflib.SequenceMatcher(None, each, word).ratio() for each in near)
        near = near if first - second < _AS_NEAR else near[:1]
    return f"Did you mean {' or '.join(near)}? " if near else ""


_AS_NEAR = 0.1
_MAX_SHOWN_CHARS = 60
# Shapes that providers give their keys. A key that was put where a name belongs must not be echoed.
_KEY_SHAPE = re.compile(
    r"(?:sk|pk|rk|gsk|xai|hf|ghp|pplx|nvapi|csk|fw|tgp)[-_][\w.-]{6,}|AIza[\w-]{10,}|AKIA\w{8,}|[0-9a-f]{24,}(?:\.\w+)?"
)


def quote(value: object) -> str:
    """``value`` as a message quotes it: on one line, cut at 60 characters, never with a key in it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        return str(value)[:_MAX_SHOWN_CHARS]
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if not isinstance(value, str):
        names = {dict: "a table", list: "a list", type(None): "nothing"}
        return names.get(type(value), f"a {type(value).__name__}")
    if not value.strip():
        return "empty"
    plain = re.sub(r"//[^/@\s]*@", "//***@", _KEY_SHAPE.sub("***", value))
    plain = re.sub(r"(://[^\s?]*)\?\S*", r"\1?***", plain)
    return repr(plain if len(plain) <= _MAX_SHOWN_CHARS else plain[: _MAX_SHOWN_CHARS - 1] + "…")
