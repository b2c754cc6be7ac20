"""What may name a debater or an option, in formats where users name them."""

from __future__ import annotations

import re

LONGEST_NAME = 40
_NAME = re.compile(r"\w(?:[\w -]*\w)?")


def is_name(text: str) -> bool:
    """Whether ``text`` can name a debater or an option: nothing in it can end a line, a list or a pattern."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None
