"""Phrases are found in any case, wherever the text comes from."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.formats.turns.citing import Phrases

PATTERN = r"\b(?:see|as stated in) (?:the )?points? \d|\b(?:pro|con)-\d{1,2}\b"
WORDS = (
    *("see", "SEE", "\u017fee", "as stated in", "the", "Point", "points", "3", "PRO-1", "con-12"),
    *("Con-123", "é", "\u0130"),
)


@pytest.mark.parametrize("text", ["see point 3", "SEE the Points 4.", "\u017fee point 1", "of PRO-1 and con-2"])
def test_a_phrase_is_given_back_as_it_stands(text: str) -> None:
    found = Phrases(PATTERN).first_in(text)
    assert found
    assert found in text


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=4)).map(" ".join))
def test_what_is_found_is_what_a_search_in_any_case_finds(text: str) -> None:
    expected = re.search(PATTERN, text, re.IGNORECASE)
    assert Phrases(PATTERN).first_in(text) == (expected.group() if expected else "")
