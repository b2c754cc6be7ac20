"""Where sentences and paragraphs begin, in any language, by punctuation alone.

A full stop ends no sentence behind a listed abbreviation, a single letter (``J. Smith``) or before a small letter.
Marks of scripts that use no space after them (``。``) always end one; so do an empty line and the start of a list item.
"""

from __future__ import annotations

import re

_STOP = r"[.!?\u2026\u037e\u061f\u06d4\u0964\u0965\u1362]"
# Runs are matched possessively and from their beginning only. With backtracking, n full stops take n * n steps.
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


def sentence_starts(text: str) -> list[int]:
    """Offsets at which sentences of ``text`` begin, ascending; the first is that of the first visible character."""
    first = len(text) - len(text.lstrip())
    starts = [first] if first < len(text) else []
    starts += [end.end() for end in _END.finditer(text) if end.end() < len(text) and _ends(text, end)]
    return sorted(set(starts))


def _ends(text: str, end: re.Match[str]) -> bool:
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


def paragraph_spans(text: str) -> list[tuple[int, int]]:
    """The stretches of ``text`` between empty lines, as offsets, without the white space around them."""
    return [match.span() for match in re.finditer(r"\S(?:(?!\n[ \t]*\n).)*(?<=\S)", text, re.DOTALL)]
