"""Split sources into passages and sentences, in any language, by punctuation.

Paragraphs are joined up to ``PASSAGE_CHARS``. A longer one is split between sentences, and a sentence longer than
``MAX_SENTENCE_CHARS`` between words. Passages do not overlap, omit only white space, and depend on the text alone. A
passage's id is ``SOURCE#NUMBER``, counted from 1.

A full stop ends no sentence after a listed abbreviation or a single letter (``J. Smith``), or before a small letter.
Full stops of scripts without spaces (``。``), empty lines and the starts of list items always end one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

PASSAGE_CHARS = 700
"""Sentences and short paragraphs are joined up to this length, in characters."""

MAX_SENTENCE_CHARS = 1_400
"""A longer sentence is cut. In characters."""

_WHITE_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Passage:
    """Characters ``start`` to ``end`` of a source."""

    id: str
    source_id: str
    number: int
    start: int
    end: int
    text: str


def split_passages(source_id: str, text: str) -> tuple[Passage, ...]:
    """Split a source's ``text`` into passages, in order."""
    return tuple(
        Passage(f"{source_id}#{number}", source_id, number, start, end, text[start:end])
        for number, (start, end) in enumerate(_join_pieces(_split_pieces(text)), start=1)
    )


def find_passage(passages: Sequence[Passage], offset: int) -> Passage | None:
    """Return the passage at ``offset``, or the nearest before it; None without passages."""
    place = bisect_right(passages, offset, key=lambda passage: passage.start) - 1
    return passages[max(place, 0)] if passages else None


def _split_pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield paragraphs that fit, and the sentences of others."""
    starts = find_sentence_starts(text)
    for start, end in find_paragraphs(text):
        if end - start <= PASSAGE_CHARS:
            yield start, end
            continue
        first = bisect_right(starts, start)
        last = bisect_right(starts, end - 1)
        cuts = [start, *starts[first:last], end]
        for left, right in pairwise(cuts):
            yield from _split_long_sentence(text, left, left + len(text[left:right].rstrip()))


def _split_long_sentence(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > MAX_SENTENCE_CHARS:
        space = max(text.rfind(" ", start, start + PASSAGE_CHARS), text.rfind("\n", start, start + PASSAGE_CHARS))
        cut = space if space > start else start + PASSAGE_CHARS
        yield start, start + len(text[start:cut].rstrip())
        # Not by copying the rest: a sentence may be as long as the source.
        start = min(_WHITE_SPACE.match(text, cut).end(), end)  # type: ignore[union-attr]  # it matches nothing too
    if start < end:
        yield start, end


def _join_pieces(pieces: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join neighbouring pieces while they fit."""
    held: tuple[int, int] | None = None
    for start, end in pieces:
        if held is not None and end - held[0] <= PASSAGE_CHARS:
            held = held[0], end
            continue
        if held is not None:
            yield held
        held = start, end
    if held is not None:
        yield held


_STOP = r"[.!?\u2026\u037e\u061f\u06d4\u0964\u0965\u1362]"
# Possessive matches keep this linear: backtracking over n full stops would take n * n steps.
_END = re.compile(
    rf"(?P<stop>(?<!{_STOP}){_STOP}++[\"'\u201d\u2019\u00bb)\]]*+)\s+"
    r"|(?P<full>[\u3002\uff01\uff1f\uff61]+[\u300d\u300f\u201d\u2019\uff09]*)\s*"
    r"|\n[ \t]*+\n\s*"
    r"|\n[ \t]*+(?=(?:[-*\u2022\u25e6\u2013]|\d{1,3}[.)])[ \t])"
)
_ABBREVIATED = """
mr mrs ms dr prof sr jr st vs etc al fig figs eq no nos vol pp approx dept est inc ltd co corp gen gov hon rep sen
capt lt
col sgt rev jan feb mar apr jun jul aug sep sept oct nov dec cf ca e.g i.e z.b d.h u.a bzw usw ggf nr abs art bd hrsg
vgl
p.ex env av mme mlle sra srta ud op cit ibid viz resp ph.d
"""
_ABBREVIATIONS = frozenset(_ABBREVIATED.split())


def find_sentence_starts(text: str) -> list[int]:
    """Return the offsets at which sentences begin, ascending; the first is the first visible character."""
    first = len(text) - len(text.lstrip())
    starts = [first] if first < len(text) else []
    starts += [end.end() for end in _END.finditer(text) if end.end() < len(text) and _ends_sentence(text, end)]
    return sorted(set(starts))


def _ends_sentence(text: str, end: re.Match[str]) -> bool:
    stop = end.group("stop")
    if stop is None:
        return True
    if text[end.end()].islower():
        return False
    if stop[0] != "." or len(stop.rstrip("\"'\u201d\u2019\u00bb)]")) > 1:
        return True
    word = re.search(r"[^\W\d_][\w.]*$", text[max(0, end.start() - 20) : end.start()])
    before = word.group().casefold() if word else ""
    initials = all(len(part) == 1 and part.isalpha() for part in before.split("."))
    return before not in _ABBREVIATIONS and not initials


def find_paragraphs(text: str) -> list[tuple[int, int]]:
    """Return the spans of text between empty lines, without surrounding white space."""
    return [match.span() for match in re.finditer(r"\S(?:(?!\n[ \t]*\n).)*(?<=\S)", text, re.DOTALL)]
