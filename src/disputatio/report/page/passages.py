"""Passages inside texts: quoted words, found in their source and shown as links and highlights.

Words are found as they were written, apart from case, line breaks and the style of quotation marks and dashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup, escape

from disputatio.motion import clean

_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{12,600})[\"”“»]")
_STYLES = {"'": "['‘’ʼ]", '"': '["“”„«»]', "-": "[-‐‑–—]"}
_SAME = {char: pattern for pattern in _STYLES.values() for char in pattern[1:-1]}


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a text, from ``start`` to before ``end``, counted in characters of the shown text.

    Attributes:
        anchor: the name of this place, where links lead to it; empty where none does.
        href: where a click on it leads, without the ``#``; empty where it leads nowhere.
        highlighted: whether it is shown as a quoted passage; a plain link otherwise.
        near: whether it is merely what came nearest to a citation that its source does not bear out.
    """

    start: int
    end: int
    anchor: str = ""
    href: str = ""
    highlighted: bool = True
    near: bool = False


class ShownText:
    """A text of a participant or a source, and the passages in it."""

    def __init__(self, text: str) -> None:
        self.text = clean(text).strip()
        self.passages: list[Passage] = []

    def add(self, found: tuple[int, int], anchors: Anchors, kind: str, href: str = "", *, near: bool = False) -> str:
        """The name of the passage ``found``; one that overlaps an earlier passage shares its name."""
        start, end = found
        for row in self.passages:
            if row.start < end and start < row.end:
                return row.anchor
        anchor = anchors.add(kind, str(len(self.passages) + 1))
        self.passages.append(Passage(start, end, anchor, href, near=near))
        return anchor

    def refer(self, found: tuple[int, int], href: str) -> None:
        """Make a stretch a plain link, unless it overlaps a passage."""
        if not any(row.start < found[1] and found[0] < row.end for row in self.passages):
            self.passages.append(Passage(*found, href=href, highlighted=False))

    def __html__(self) -> Markup:
        pieces: list[Markup] = []
        place = 0
        for row in sorted(self.passages, key=lambda passage: passage.start):
            pieces += [escape(self.text[place : row.start]), _shown(row, self.text[row.start : row.end])]
            place = row.end
        return Markup("").join([*pieces, escape(self.text[place:])])


def _shown(row: Passage, words: str) -> Markup:
    inner = Markup('<a href="#{}">{}</a>').format(row.href, words) if row.href else escape(words)
    if not row.highlighted:
        return inner
    return Markup('<mark id="{}"{}>{}</mark>').format(row.anchor, Markup(' class="near"') if row.near else "", inner)


def find_words(text: str, words: str) -> tuple[int, int] | None:
    """The position of ``words`` in ``text``, as (start, end); None if they are not in it."""
    rows = clean(words).strip(" \t\n\"'“”‘’„«»….").split()
    if not rows:
        return None
    pattern = r"\s+".join("".join(_SAME.get(char, re.escape(char)) for char in row) for row in rows)
    found = re.search(pattern, text, re.IGNORECASE)
    return found.span() if found else None


def quotations(text: str) -> Iterable[tuple[tuple[int, int], str]]:
    """The stretches of ``text`` between quotation marks, of a length that can be a quotation, as (span, words)."""
    return ((found.span(1), found.group(1)) for found in _QUOTED.finditer(text))


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
