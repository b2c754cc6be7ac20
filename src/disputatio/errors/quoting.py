"""Quote values and names in messages, and suggest the name that was meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal


def did_you_mean(word: str, known: Iterable[str], *, likeness: float = 0.6) -> str:
    """``Did you mean X? `` for the most similar of ``known``, or for two that are about as similar; else empty.

    ``likeness`` is the least similarity, from 0 to 1.
    """
    near = difflib.get_close_matches(word, list(known), n=2, cutoff=likeness)
    if len(near) == 2:
        first, second = (difflib.SequenceMatcher(None, each, word).ratio() for each in near)
        near = near if first - second < _AS_NEAR else near[:1]
    return f"Did you mean {' or '.join(near)}? " if near else ""


def name_some(names: Sequence[str], most: int = 5) -> str:
    """``a, b and 7 more``: at most ``most`` of ``names``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


_AS_NEAR = 0.1
_MAX_SHOWN_CHARS = 60
# The shapes of providers' keys. A message must not show a key that was given in place of a name.
_KEY_SHAPE = re.compile(
    r"(?:sk|pk|rk|gsk|xai|hf|ghp|pplx|nvapi|csk|fw|tgp)[-_][\w.-]{6,}|AIza[\w-]{10,}|AKIA\w{8,}|[0-9a-f]{24,}(?:\.\w+)?"
)


def quote(value: object) -> str:
    """``value`` as a message shows it: on one line, cut at 60 characters, with keys masked."""
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
