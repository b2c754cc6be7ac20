"""Phrases that a turn must not have."""

from __future__ import annotations

import re


class Phrases:
    """A pattern of phrases, found in any case.

    Args:
        pattern: a regular expression in small letters.
    """

    def __init__(self, pattern: str) -> None:
        self._small = re.compile(pattern)
        self._any_case = re.compile(pattern, re.IGNORECASE)

    def first_in(self, text: str) -> str:
        """The first of them in ``text``, as it stands there; empty where there is none."""
        # Made small in one pass, a text is searched twice as fast as with every character folded on the way. Beyond
        # ASCII that is not the same: a letter may become two, or match one that is not its small form.
        found = self._small.search(text.lower()) if text.isascii() else self._any_case.search(text)
        return text[found.start() : found.end()] if found else ""
