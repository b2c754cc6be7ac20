"""How many columns a text takes on a screen, and where it may be broken.

Widths are those of Unicode's East Asian Width (annex 11): wide and fullwidth characters take two columns, combining
marks none. Where terminals disagree (joined emoji, spacing marks) the larger number is taken, so that a line is
at times a little short and never too long.

Text breaks at spaces and between characters of scripts written without them; a word that is longer than a line is
broken where the line ends. Closing punctuation stays with what it closes, opening punctuation with what it opens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_NO_WIDTH = frozenset({"Mn", "Me", "Cf", "Cc"})
_EMOJI_STYLE = "\ufe0f"
_CLOSING = frozenset("、。，．：；！？）」』】》〉］｝’”…ー々・")
_OPENING = frozenset("（「『【《〈［｛‘“")
_BLANKS = re.compile(r"[^\S\n\u00a0\u202f]+")


@lru_cache(maxsize=8192)
def char_columns(char: str) -> int:
    """The columns of one character: 0, 1 or 2."""
    if char == _EMOJI_STYLE:
        # It turns a narrow sign into a wide one; after a wide one it counts a column too many.
        return 1
    if unicodedata.category(char) in _NO_WIDTH:
        return 0
    if unicodedata.east_asian_width(char) in "WF" or _is_drawn_wide(ord(char)):
        return 2
    return 1


# Each Python knows one version of Unicode, and a newer version may have wide characters in these blocks. Whole blocks
# stand here, so that a text takes the same columns under every Python: scripts of East Asia, emoji and, since
# Unicode 16, the signs of divination (trigrams, monograms, hexagrams, Tai Xuan Jing, counting rods).
_WIDE_BLOCKS = (
    (0x2E80, 0x303E),
    (0x3040, 0xA4CF),
    (0x16FE0, 0x18DFF),
    (0x1AFF0, 0x1B2FF),
    (0x1F000, 0x1FAFF),
    (0x20000, 0x3FFFD),
    (0x2630, 0x2637),
    (0x268A, 0x268F),
    (0x1D300, 0x1D376),
)


def _is_drawn_wide(code: int) -> bool:
    """Whether terminals draw the block wide, also where this Python does not know the character yet."""
    return any(first <= code <= last for first, last in _WIDE_BLOCKS)


def columns(text: str) -> int:
    """The columns of ``text``, which has no line end."""
    if text.isascii():
        return len(text)
    return sum(map(char_columns, text))


_BROAD = frozenset("MWmw@%—…")


def most_ems(text: str) -> float:
    """How wide ``text`` gets at most in a common sans serif font, as a multiple of the font's size.

    Upper bounds of the advances of DejaVu Sans Bold, the broadest font that desktops come with. For drawings, which
    cannot measure what a browser will make of their words.
    """
    return sum(map(_ems, text))


def _ems(char: str) -> float:
    if char in _BROAD:
        return 1.12
    if char.isupper():
        return 0.84
    return 0.72 if char_columns(char) == 1 else char_columns(char) / 2


def cut(text: str, width: int) -> str:
    """``text`` in at most ``width`` columns, with an ellipsis where something was left out."""
    if columns(text) <= width:
        return text
    taken, used = [], 0
    for char in text:
        used += char_columns(char)
        if used > width - 1:
            break
        taken.append(char)
    return "".join(taken).rstrip() + "…" if width > 0 else ""


def pad(text: str, width: int) -> str:
    """``text`` followed by spaces up to ``width`` columns."""
    return text + " " * max(0, width - columns(text))


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """What ``text`` is laid out from: pieces that are not broken, each with the gap before it.

    A gap is ``""`` (a break is allowed, nothing is shown), ``" "`` or ``"\\n"`` (a break is required).
    """
    gap = ""
    for number, line in enumerate(text.split("\n")):
        if number:
            gap = "\n"
        for place, word in enumerate(_BLANKS.split(line)):
            if place and gap != "\n":
                gap = " "
            for piece in _unbroken(word):
                yield gap, piece
                gap = ""


def _unbroken(word: str) -> Iterator[str]:
    """``word`` cut wherever a script without spaces allows it."""
    if word.isascii():
        if word:
            yield word
        return
    piece = ""
    for char in word:
        if piece and _may_break(piece[-1], char):
            yield piece
            piece = ""
        piece += char
    if piece:
        yield piece


def _may_break(before: str, after: str) -> bool:
    if after in _CLOSING or before in _OPENING or char_columns(after) == 0 or after == _EMOJI_STYLE:
        return False
    if before == "\u200d":
        return False
    return char_columns(before) == 2 or char_columns(after) == 2


def chopped(piece: str, width: int) -> list[str]:
    """``piece`` in stretches of at most ``width`` columns (two for a wide character, whatever the width)."""
    rows, held, used = [], "", 0
    for char in piece:
        size = char_columns(char)
        if held and used + size > width:
            rows.append(held)
            held, used = "", 0
        held += char
        used += size
    return [*rows, held]
