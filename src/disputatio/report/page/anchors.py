"""Names of the places in a page that links lead to.

A name is made of letters, digits and hyphens only, whatever the record calls the thing; two things never share one.
"""

from __future__ import annotations

import re

_STRANGE = re.compile(r"[^A-Za-z0-9]+")
_LONGEST = 60


class Anchors:
    """Gives every place one name and finds it again."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def add(self, kind: str, key: str) -> str:
        """The name of a new place; where ``kind`` already has ``key``, the first place stays the one that is found."""
        stem = f"{kind}-{_STRANGE.sub('-', key).strip('-')}"[:_LONGEST].strip("-")
        name, number = stem, 1
        # Names are compared as a careless reader of the page would: without regard to case.
        while name.lower() in self._taken:
            number += 1
            name = f"{stem}-{number}"
        self._taken.add(name.lower())
        self._names.setdefault((kind, key), name)
        return name

    def find(self, kind: str, key: str) -> str | None:
        """The name of a place; None where there is no such place."""
        return self._names.get((kind, key))
