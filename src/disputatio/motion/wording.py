"""How words are counted, by one rule for every language, and when two texts have the same ones.

A word is a run of letters and digits, with apostrophes, hyphens, points and commas inside it ("don't",
"well-known", "3.8"). In scripts that are written without spaces (Han, Hiragana, Katakana, Bopomofo, Thai, Lao,
Khmer, Myanmar, Tibetan) each letter counts as one word. Combining marks and joiners belong to the letter they
stand at and never count. Korean is written with spaces and counts by words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

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
_LETTER = rf"[^\W_{_SPACELESS}]"


# Compiled when first used: they take longer than most modules take to be imported, and every command imports this one.
@cache
def _spaceless_letter() -> re.Pattern[str]:
    return re.compile(f"[{_SPACELESS}]")


@cache
def _token() -> re.Pattern[str]:
    return re.compile(rf"[{_SPACELESS}]|{_LETTER}(?:{_LETTER}|['’.,\-\u2010\u2011](?={_LETTER}))*")


# What `_token` is where all is ASCII; sets of a few characters are searched several times faster.
_PLAIN_TOKEN = re.compile(r"[A-Za-z0-9]+(?:['.,\-][A-Za-z0-9]+)*")


def count_words(text: str) -> int:
    """The number of words in ``text``, 0 or more, by the rule above."""
    if text.isascii():
        return len(_PLAIN_TOKEN.findall(text))
    # Asked once for each character that is in it: texts are long, and have few different ones.
    text = text.translate({ord(char): None for char in set(text) if _belongs_to_a_letter(char)})
    return len(_token().findall(text))


def _belongs_to_a_letter(char: str) -> bool:
    return unicodedata.category(char)[0] == "M" or char in {"\u200c", "\u200d"}


def spaced(text: str) -> str:
    """``text`` with spaces around every letter that counts as a word of its own."""
    return text if text.isascii() else _spaceless_letter().sub(r" \g<0> ", text)


_NO_LETTERS = re.compile(r"[\W_]+")


def same_words(texts: Sequence[str]) -> list[tuple[int, int]]:
    """The places in ``texts`` that say the same as an earlier one, each with the earlier place."""
    first: dict[str, int] = {}
    found = []
    for place, text in enumerate(texts):
        key = _NO_LETTERS.sub("", text.casefold())
        if key in first:
            found.append((place, first[key]))
        first.setdefault(key, place)
    return found
