"""Fences around other people's words.

A fence is named by the hash of the text inside it. A text cannot contain its own hash, so nothing a participant
or a source writes can end its fence, also when it copies a fence it has seen elsewhere.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from disputatio.motion import clean, one_line

_CODE_DIGITS = 16
_STRANGE_IN_NAMES = re.compile(r"[^\w .-]+")
_LONGEST_NAME = 80


# A debate has few names, and fences under them a hundred times.
@lru_cache(maxsize=256)
def plain_name(name: str) -> str:
    """``name`` without anything that could end its line or look like a fence."""
    return " ".join(_STRANGE_IN_NAMES.sub(" ", one_line(name)).split())[:_LONGEST_NAME] or "unnamed"


def fence(name: str, text: str) -> str:
    """``text``, cleaned of hidden characters, between the two lines of a fence.

    Args:
        name: what the text is: letters, digits, spaces, dots and hyphens; any other sign becomes a space.
        text: untrusted words.
    """
    text = clean(text).strip()
    code = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_CODE_DIGITS]
    return f"<<<{plain_name(name)} {code}\n{text}\n{code}>>>"


def quoted(text: str) -> str:
    """``text`` in quotation marks, a line each: the fence for small models, which stumble over codes.

    Quotation marks inside become apostrophes and every line is closed before the next begins, so the text cannot
    end its quotation.
    """
    lines = [" ".join(line.split()) for line in clean(text).replace('"', "'").split("\n")]
    return "\n".join([f'"{line}"' for line in lines if line])
