"""Takes out of a text what no reader sees but a terminal, a page or a model might obey.

Removed: control characters other than tab and line feed (terminal escapes begin with one), the
bidirectional overrides, zero-width characters, soft hyphens, variation selectors beyond emoji use, and the
Unicode tag block (U+E0000 to U+E007F), which spells invisible ASCII: all that Unicode calls default ignorable,
joiners apart. Lone surrogates become U+FFFD. Line ends, page breaks among them, become a line feed. Every
visible character stays as it is.

The zero-width joiner and non-joiner stay between letters of scripts that need them (Persian, Hindi) and
inside emoji; elsewhere they only hide text.
"""

from __future__ import annotations

import re
import unicodedata

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
"""Characters with an emoji style that are no symbols by category (Unicode, emoji-variation-sequences)."""
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
    """``text`` without hidden and control characters; safe to repeat, and visible characters are kept."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_ENDS.sub("\n", text)
    text = _SURROGATES.sub("\ufffd", text)
    text = _HIDDEN.sub("", text)
    text = _EMOJI_STYLE.sub(lambda match: _keep_style(text, match), text)
    return _JOINERS.sub(lambda match: _keep_joiner(text, match), text)


def one_line(text: str, limit: int | None = None) -> str:
    """``text`` cleaned and on one line, cut to ``limit`` characters with an ellipsis where it is longer."""
    line = " ".join(clean(text).split())
    if limit is not None and len(line) > limit:
        return line[: limit - 1].rstrip() + "…"
    return line
