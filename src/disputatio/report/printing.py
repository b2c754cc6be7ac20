"""JSON as a terminal may be given it."""

from __future__ import annotations

import json
from typing import Any


def printable_json(value: Any) -> str:
    """``value`` as indented JSON whose text holds no control, format or lone surrogate character."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    if text.isascii() and "\x7f" not in text:
        return f"{text}\n"
    return "".join(_shown(char) for char in text) + "\n"


def _shown(char: str) -> str:
    if char.isprintable() or char in "\n\u00a0\u3000":
        return char
    # Outside of strings JSON has only printable ASCII and line feeds, so this changes no structure.
    return json.dumps(char)[1:-1] if char != "\x7f" else "\\u007f"
