"""Clean texts, and count and compare words, by one rule for every language.

``clean`` removes what a reader cannot see but a terminal, a page or a model might obey:

- control characters other than tab and line feed (terminal escapes begin with one);
- everything Unicode calls default ignorable, joiners apart: bidirectional overrides, zero-width characters, soft
    hyphens, variation selectors beyond emoji use, and the tag block (U+E0000 to U+E007F), which spells invisible ASCII.

Lone surrogates become U+FFFD; line ends and page breaks become a line feed. Visible characters stay. The zero-width
joiner and non-joiner stay inside emoji and between letters of scripts that need them (Persian, Hindi).

A word is a run of letters and digits with apostrophes, hyphens, points and commas inside ("don't", "well-known",
"3.8"). In scripts without spaces (Han, Hiragana, Katakana, Bopomofo, Thai, Lao, Khmer, Myanmar, Tibetan) each letter is
a word. Combining marks and joiners never count. Korean is written with spaces and counts by words.

Fake providers fill strings with sentences from ``NOUNS`` and ``VERBS``. ``is_made_up`` recognises them, so that a test
run never counts as evidence about a model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINERS = re.compile("[\u200c\u200d]+")
_EMOJI_STYLE = re.compile("\ufe0f+")
_STYLED_SIGNS = frozenset("#*0123456789‼⁉ℹ〰〽")
"""Characters with an emoji style that are not symbols by category (Unicode, emoji-variation-sequences)."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_JOINING_SCRIPTS = re.compile("[\u0600-\u08ff\u0900-\u0dff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u1800-\u18af]")


def _is_symbol(char: str) -> bool:
    return char > "\u00a8" and unicodedata.category(char) in {"So", "Sk", "Sm"}


def _keep_style(text: str, match: re.Match[str]) -> str:
    before = text[match.start() - 1 : match.start()]
    return "\ufe0f" if before and (_is_symbol(before) or before in _STYLED_SIGNS) else ""


def _keep_joiner(text: str, match: re.Match[str]) -> str:
    before = text[match.start() - 1 : match.start()]
    after = text[match.end() : match.end() + 1]
    if not before or not after:
        return ""
    if _JOINING_SCRIPTS.match(before) and _JOINING_SCRIPTS.match(after):
        return match.group()[0]
    return "\u200d" if (_is_symbol(before) or before == "\ufe0f") and _is_symbol(after) else ""


def clean(text: str) -> str:
    """Return ``text`` without hidden and control characters. Idempotent; keeps visible characters."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_ENDS.sub("\n", text)
    text = _SURROGATES.sub("\ufffd", text)
    text = _HIDDEN.sub("", text)
    text = _EMOJI_STYLE.sub(lambda match: _keep_style(text, match), text)
    return _JOINERS.sub(lambda match: _keep_joiner(text, match), text)


def one_line(text: str, limit: int | None = None) -> str:
    """Return ``text`` cleaned and on one line, cut to ``limit`` characters with an ellipsis."""
    line = " ".join(clean(text).split())
    if limit is not None and len(line) > limit:
        return line[: limit - 1].rstrip() + "…"
    return line


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


# Compiled at first use: every command imports this module, and compiling is slow.
@cache
def _spaceless_letter() -> re.Pattern[str]:
    return re.compile(f"[{_SPACELESS}]")


@cache
def _token() -> re.Pattern[str]:
    return re.compile(rf"[{_SPACELESS}]|{_LETTER}(?:{_LETTER}|['’.,\-\u2010\u2011](?={_LETTER}))*")


# `_token` for ASCII: small character sets are searched several times faster.
_PLAIN_TOKEN = re.compile(r"[A-Za-z0-9]+(?:['.,\-][A-Za-z0-9]+)*")


def count_words(text: str) -> int:
    """Return the number of words in ``text``, 0 or more."""
    if text.isascii():
        return len(_PLAIN_TOKEN.findall(text))
    # Look up each distinct character once: long texts have few.
    text = text.translate({ord(char): None for char in set(text) if _belongs_to_a_letter(char)})
    return len(_token().findall(text))


def _belongs_to_a_letter(char: str) -> bool:
    return unicodedata.category(char)[0] == "M" or char in {"\u200c", "\u200d"}


def spaced(text: str) -> str:
    """Return ``text`` with spaces around every letter that counts as a word."""
    return text if text.isascii() else _spaceless_letter().sub(r" \g<0> ", text)


_NO_LETTERS = re.compile(r"[\W_]+")


def same_words(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return the index of each text that repeats an earlier one, with the earlier index. Case and punctuation are
    ignored.
    """
    first: dict[str, int] = {}
    found = []
    for place, text in enumerate(texts):
        key = _NO_LETTERS.sub("", text.casefold())
        if key in first:
            found.append((place, first[key]))
        first.setdefault(key, place)
    return found


NOUNS: Final = (
    "pilot programme",
    "phased rollout",
    "current contract",
    "internal audit",
    "new schedule",
    "regional survey",
    "cheaper option",
    "independent review",
    "proposed rule",
    "maintenance plan",
    "training budget",
    "system migration",
    "shared office",
    "data team",
    "second supplier",
    "public register",
    "quarterly report",
    "night shift",
    "central archive",
    "field trial",
    "repair fund",
    "travel allowance",
    "safety check",
)
VERBS: Final = (
    "cuts",
    "raises",
    "limits",
    "reveals",
    "doubles",
    "halves",
    "improves",
    "outweighs",
    "explains",
    "reduces",
    "drives",
    "steadies",
    "lowers",
)
_ACTOR = re.compile(rf"\b(?:{'|'.join(NOUNS)}) (?:{'|'.join(VERBS)})\b")


def is_made_up(text: str) -> bool:
    """Whether ``text`` contains a sentence of a fake provider."""
    return _ACTOR.search(text) is not None


def mostly_made_up(texts: Iterable[str]) -> bool:
    """Whether more than half of ``texts`` are made up. A model may quote one such sentence."""
    found = [is_made_up(text) for text in texts]
    return sum(found) * 2 > len(found)
