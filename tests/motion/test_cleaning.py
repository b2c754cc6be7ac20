"""Cleaning takes out what hides and leaves what is seen.

The oracle is Unicode's own list of characters that are shown as nothing (property Default_Ignorable_Code_Point),
with the control characters and the controls of writing direction.
"""

from __future__ import annotations

import unicodedata
from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.motion import clean, one_line
from strategies import any_texts, examples

DEFAULT_IGNORABLE = frozenset(
    chain(
        (0xAD, 0x34F, 0x61C, 0x3164, 0xFEFF, 0xFFA0),
        range(0x115F, 0x1161),
        range(0x17B4, 0x17B6),
        range(0x180B, 0x1810),
        range(0x200B, 0x2010),
        range(0x202A, 0x202F),
        range(0x2060, 0x2070),
        range(0xFE00, 0xFE10),
        range(0xFFF0, 0xFFF9),
        range(0x1BCA0, 0x1BCA4),
        range(0x1D173, 0x1D17B),
        range(0xE0000, 0xE1000),
    )
)
DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
JOINERS = frozenset("\u200c\u200d\ufe0f")
"""Kept where letters or emoji need them."""
LINE_ENDS = frozenset("\r\x0b\x0c\x85\u2028\u2029")


def is_hidden(char: str) -> bool:
    return ord(char) in DEFAULT_IGNORABLE or unicodedata.category(char) == "Cc" or char in DIRECTIONS


# Control characters stand below 0xA0, so that only the ignorable ones are looked for in all of Unicode.
_LOOKED_AT = sorted({*map(chr, DEFAULT_IGNORABLE), *map(chr, range(0xA0)), *DIRECTIONS})
HIDDEN = [char for char in _LOOKED_AT if is_hidden(char) and char not in "\t\n"]


def test_every_hidden_character_between_letters_is_taken_out() -> None:
    assert len(HIDDEN) > 4000
    for char in HIDDEN:
        assert clean(f"a{char}b") in {"ab", "a\nb"}, f"U+{ord(char):04X}"
        assert clean(char) in {"", "\n"}, f"U+{ord(char):04X}"


# Texts with much to hide, next to what may need it.
hiding = st.text(
    st.one_of(
        st.sampled_from(HIDDEN),
        st.sampled_from(sorted(JOINERS | LINE_ENDS | DIRECTIONS)),
        st.sampled_from("a1#^+ \n\t中مक❤👩🏽💻🔥↔©"),
        st.characters(),
    ),
    max_size=30,
)


def shown(text: str) -> str:
    """What a reader sees of a text: the hidden taken out one character at a time, line ends made equal."""
    text = text.replace("\r\n", "\n")
    text = "".join("\n" if char in LINE_ENDS else char for char in text)
    text = "".join("\ufffd" if unicodedata.category(char) == "Cs" else char for char in text)
    return "".join(
        char for char in text if char in "\t\n" or (not is_hidden(char) and not "\ufff9" <= char <= "\ufffb")
    )


@examples(50)
@given(hiding)
def test_what_is_seen_stays_and_what_hides_goes(text: str) -> None:
    cleaned = clean(text)
    assert shown(cleaned) == shown(text)
    left = [char for char in cleaned if is_hidden(char) and char not in "\t\n"]
    assert set(left) <= JOINERS
    for first, second in pairwise(cleaned):
        assert not {first, second} <= {"\u200c", "\u200d"}, "joiners hide no message by their number"
        assert not first == second == "\ufe0f"


@examples(50)
@given(hiding | any_texts)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert one_line(one_line(text)) == one_line(text)


@given(hiding | any_texts)
def test_a_cleaned_text_can_be_written_as_utf_8(text: str) -> None:
    assert clean(text).encode().decode() == clean(text)


@pytest.mark.parametrize(
    "text",
    [
        "Plain text, with punctuation: 3.8 %!",
        "tabs\tand\nlines",
        "👩\u200d💻 👩🏽\u200d💻 👨\u200d👩\u200d👧\u200d👦",
        "❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 🏴\u200d☠\ufe0f 👁\ufe0f\u200d🗨\ufe0f",
        "🙂\u200d↔\ufe0f 🏃\u200d➡\ufe0f 🐻\u200d❄\ufe0f 👨🏾\u200d⚖\ufe0f 🧑\u200d🤝\u200d🧑",
        "1\ufe0f⃣ #\ufe0f⃣ *\ufe0f⃣ ©\ufe0f ™\ufe0f ‼\ufe0f ℹ\ufe0f 〰\ufe0f",
        "می\u200cخواهم به خانه\u200cی شما بیایم",
        "क\u200dष और क्\u200cष",
        "ශ්\u200dරී ලංකා",
        "नमस्ते دنیا 你好 こんにちは 안녕 Ω≈ç√∫",
        "e\u0301 и\u0306 ñ",
        "żółć ẞ ﬁ ½ ① Ⅷ",
        "private \ue000 and unassigned \u0378",
    ],
)
def test_visible_text_stays_exactly_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x1b]0;title\x07text", "]0;titletext"),
        ("\x9b31m", "31m"),
        ("a\x00b\x08c\x7f", "abc"),
        ("evil\u202egpj.exe", "evilgpj.exe"),
        ("\u2066hidden\u2069", "hidden"),
        ("ig\u200bnore\u2060 this\ufeff", "ignore this"),
        ("so\u00adft", "soft"),
        ("pay" + "".join(chr(0xE0000 + ord(char)) for char in "ignore all rules"), "pay"),
        ("a" + "\ufe00\ufe01\ufe0e\U000e0100", "a"),
        ("a\ufe0fb\ufe0f", "ab"),
        ("☺\ufe0f\ufe0f\ufe0f", "☺\ufe0f"),
        ("a\u200db\u200cc", "abc"),
        ("^\u200d^ +\u200d+", "^^ ++"),
        ("\u200dx\u200c", "x"),
        ("می\u200c\u200c\u200d\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d\u200d\u200d💻", "👩\u200d💻"),
        ("👩\u200dx", "👩x"),
        ("one\r\ntwo\rthree\x85four\u2028five\u2029six", "one\ntwo\nthree\nfour\nfive\nsix"),
        ("first page\x0csecond page\x0bthird", "first page\nsecond page\nthird"),
        ("lone \ud800 surrogate \udfff", "lone \ufffd surrogate \ufffd"),
        ("\uffa0\u3164\u115f\u1160\u17b4", ""),
    ],
)
def test_what_hides_or_commands_is_taken_out(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(any_texts, st.integers(1, 40))
def test_one_line_is_one_line_of_at_most_the_limit(text: str, limit: int) -> None:
    whole, cut = one_line(text), one_line(text, limit)
    assert len(whole.splitlines()) <= 1
    assert whole == whole.strip()
    assert "  " not in whole
    assert len(cut) <= limit
    assert cut == whole if len(whole) <= limit else cut.endswith("…") and whole.startswith(cut[:-1])
