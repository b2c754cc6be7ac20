"""Words are counted by one rule in every language."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.motion import count_words
from strategies import any_texts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n\t", 0),
        ("... — !? “” ()", 0),
        ("🙂 👩\u200d💻 ❤\ufe0f", 0),
        # English
        ("We should adopt microservices.", 4),
        ("It doesn't, and it won't.", 5),
        ("it doesn’t", 2),
        ("a well-known, state-of-the-art thing", 4),
        ("costs 3.8 percent of 1,000,000", 5),
        ("one—two – three/four_five", 5),
        ("'quoted' words' end", 3),
        ("the U.S.A. and e.g. this", 5),
        ("first.Second", 1),
        # German
        ("Die Donaudampfschifffahrt kostet 12,50 Euro; das ist fair.", 8),
        ("Straßen- und Schienenverkehr", 3),
        # French, Spanish
        ("L’école n'est pas à côté", 5),
        ("¿Qué pasó en 2024?", 4),
        # Chinese: each letter is a word, punctuation is none
        ("我们应该采用微服务。", 9),
        ("使用 GPT-5 模型,成本为 3.8 元", 10),
        # Japanese
        ("これはペンです。", 7),
        ("東京タワー・ビル", 7),
        ("人々", 2),
        # Thai: letters count, the vowels and tones above and below them do not
        ("สวัสดี", 4),
        ("ไม่", 2),
        ("น้ำ", 2),
        # Korean is written with spaces
        ("마이크로서비스를 도입해야 한다.", 3),
        (unicodedata.normalize("NFD", "마이크로서비스를 도입해야 한다."), 3),
        # Hindi and other scripts of India
        ("हमें माइक्रोसर्विस अपनानी चाहिए।", 4),
        ("ਪੰਜਾਬੀ ਅੱਖਰ", 2),
        ("বাংলা ভাষা", 2),
        ("தமிழ் மொழி", 2),
        ("ශ්\u200dරී ලංකා", 2),
        # Arabic, Persian, Hebrew
        ("السلام عليكم", 2),
        ("السَّلامُ عَلَيْكُمْ", 2),
        ("می\u200cخواهم بروم", 2),
        ("שָׁלוֹם עולם", 2),
        # Lao, Khmer, Myanmar, Tibetan
        ("ພາສາລາວ", 7),
        ("ភាសាខ្មែរ", 5),
        ("မြန်မာ", 3),
        ("བོད་ཡིག", 4),
        # mixed
        ("iPhone手机", 3),
        ("2024年", 2),
    ],
)
def test_words_are_counted_by_the_documented_rule(text: str, words: int) -> None:
    assert count_words(text) == words


@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyzäöüßéñ0123456789", min_size=1), max_size=12))
def test_words_apart_by_spaces_count_one_each(words: list[str]) -> None:
    assert count_words(" ".join(words)) == len(words)


@given(st.text("我们应该采用微服务これはペンです", max_size=40))
def test_letters_of_scripts_without_spaces_count_one_each(text: str) -> None:
    assert count_words(text) == len(text)


@given(any_texts, any_texts)
def test_texts_on_two_lines_have_the_words_of_both(one: str, other: str) -> None:
    assert count_words(f"{one}\n{other}") == count_words(one) + count_words(other)
    assert 0 <= count_words(one) <= len(one)


@given(st.text(st.characters(categories=("L", "M", "Nd", "Zs"))))
def test_letters_taken_apart_from_their_accents_count_the_same(text: str) -> None:
    # Canonical decomposition alone; a few Han compatibility letters map one to one.
    assert count_words(unicodedata.normalize("NFD", text)) == count_words(unicodedata.normalize("NFC", text))


@given(any_texts)
def test_accents_and_joiners_never_count(text: str) -> None:
    bare = "".join(char for char in text if unicodedata.category(char)[0] != "M" and char not in "\u200c\u200d")
    assert count_words(text) == count_words(bare)


@given(st.text(st.characters(codec="ascii")))
def test_plain_text_is_counted_as_text_beyond_ascii_is(text: str) -> None:
    # One word more, and the whole text is beyond ASCII.
    assert count_words(f"{text} \u00e9") == count_words(text) + 1
