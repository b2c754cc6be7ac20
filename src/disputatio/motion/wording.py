"""How words are counted, by one rule for every language.

A word is a run of letters, marks and digits, with apostrophes, hyphens, points and commas inside it
("don't", "well-known", "3.8"). In scripts that are written without spaces (Han, Hiragana, Katakana, Bopomofo,
Thai, Lao, Khmer, Myanmar, Tibetan) each letter counts as one word; combining marks do not count. Korean is
written with spaces and counts by words.
"""

from __future__ import annotations

import re

_SPACELESS = (
    "\u0e00-\u0e30\u0e32-\u0e33\u0e40-\u0e46"  # Thai letters
    "\u0e80-\u0eb0\u0eb2-\u0eb3\u0ebd-\u0ec6"  # Lao letters
    "\u0f40-\u0f6c"  # Tibetan letters
    "\u1000-\u102a\u103f\u1050-\u1055"  # Myanmar letters
    "\u1780-\u17b3"  # Khmer letters
    "\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_SPACELESS_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"  # Thai
    "\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"  # Lao
    "\u0f71-\u0f84\u0f90-\u0fbc"  # Tibetan
    "\u102b-\u103e"  # Myanmar
    "\u17b4-\u17d3"  # Khmer
)
_LETTER = rf"[^\W_{_SPACELESS}{_SPACELESS_MARKS}]"
_MARKS = (
    "\u0300-\u036f"  # combining diacritics
    "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"  # Hebrew, Arabic
    "\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0a3c-\u0a4d\u0abc-\u0acd"  # scripts of India
    "\u0b3c-\u0b4d\u0bbe-\u0bcd\u0c3e-\u0c4d\u0cbc-\u0ccd\u0d3b-\u0d4d"
)
_INSIDE = rf"{_LETTER}|[{_MARKS}\u200c\u200d]|['’.,\-\u2010\u2011](?={_LETTER})"
_TOKEN = re.compile(rf"[{_SPACELESS}]|{_LETTER}(?:{_INSIDE})*")


def count_words(text: str) -> int:
    """The number of words in ``text``, 0 or more, by the rule above."""
    return sum(1 for _ in _TOKEN.finditer(text))
