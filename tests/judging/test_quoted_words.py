"""Whether the words a judge quotes were said: case, spaces and punctuation apart, whole words only."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.judging.fallacies import FALLACIES, Fallacy, FoundFallacy, words_are_in

SAID = (
    "Experts agree: it can't fail — “nobody” serious doubts it, from 2019 to 2021. "
    "STRASSE und Café; naïve résumé. 世界は平和だ。 Это неправда! ٣ كتب नमस्ते दुनिया।"
)


@pytest.mark.parametrize(
    "words",
    [
        "experts agree",
        "Experts  agree:\n it",
        "it can't fail",
        "it can’t fail",
        "fail, nobody",
        '"nobody" serious',
        "2019 to 2021",
        "straße",
        "cafe\u0301",
        "NAÏVE RÉSUMÉ",
        "это Неправда",
        "世界は平和だ",
        "ＥＸＰＥＲＴＳ agree",
        "٣ كتب",
        "平和",
        "世界は",
        "नमस्ते दुनिया",
    ],
)
def test_words_that_were_said_are_found(words: str) -> None:
    assert words_are_in(words, SAID)


@pytest.mark.parametrize(
    "words",
    [
        "expert agree",
        "xperts agree",
        "Experts agre",
        "agree experts",
        "fail nobody doubts",
        "201",
        "2019 2021",
        "caf",
        "неправ",
        "平界",
        "नमस",
        "दुनि",
        "",
        "   ",
        "...!?",
        "“”",
    ],
)
def test_words_that_were_not_said_are_not_found(words: str) -> None:
    assert not words_are_in(words, SAID)


def is_word(text: str) -> bool:
    """A few letters are compositions of a space and a mark, and fold to no letter at all."""
    return any(map(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


words = st.text(st.characters(categories=("L", "N")), min_size=1).filter(is_word)


@given(st.lists(words, min_size=1, max_size=8), st.data())
def test_any_run_of_whole_words_is_found(said: list[str], data: st.DataObject) -> None:
    """Any run of whole words is found and a doubled word is not."""
    start = data.draw(st.integers(0, len(said) - 1))
    end = data.draw(st.integers(start + 1, len(said)))
    assert words_are_in(" ".join(said[start:end]), " - ".join(said))
    assert not words_are_in(" ".join([*said, *said]), " ".join(said))


@given(st.text(), st.text())
def test_nothing_that_is_asked_about_raises(words: str, text: str) -> None:
    assert words_are_in(words, text) in {True, False}


def test_a_finding_whose_words_were_not_said_says_so() -> None:
    assert FoundFallacy(Fallacy.AD_HOMINEM, "you fool", quoted=True).text() == 'ad hominem: "you fool"'
    assert "not found in the debate" in FoundFallacy(Fallacy.AD_HOMINEM, "you fool", quoted=False).text()


def test_the_seven_fallacies_of_the_protocol_are_all_explained() -> None:
    assert {row.value for row in FALLACIES} == {
        "straw_man",
        "appeal_to_authority",
        "slippery_slope",
        "false_dilemma",
        "anecdotal_evidence",
        "circular_reasoning",
        "ad_hominem",
    }
    assert set(FALLACIES) == set(Fallacy)
