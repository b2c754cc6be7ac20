"""How long a provider asks to be left alone, from headers and words as providers send them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.participants.remote.error_details import requested_wait

NOW = {"Date": "Sun, 22 Nov 2026 20:00:00 GMT"}
THEN = 1795377600  # the same moment, in seconds since 1970


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "2.5"}, 2.5),
        ({"retry-after": "0"}, 0),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Retry-After": "Sun, 22 Nov 2026 20:00:30 GMT", **NOW}, 30),
        ({"Retry-After": "Sun, 22 Nov 2026 19:00:00 GMT", **NOW}, 0),
        ({"Retry-After": "Sun, 22 Nov 2026 20:00:30 GMT"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-4"}, None),
        ({"Retry-After": "nan"}, None),
        # OpenAI and Groq: the limit that is used up decides.
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-tokens": "149984",
                "x-ratelimit-reset-tokens": "6m0s",
            },
            1,
        ),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, 360),
        ({"x-ratelimit-reset-tokens": "7.66s"}, 7.66),
        ({"x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"ratelimit-reset": "12"}, 12),
        # OpenRouter: a moment in milliseconds.
        ({"X-RateLimit-Reset": str((THEN + 30) * 1000), **NOW}, 30),
        ({"X-RateLimit-Reset": str(THEN + 30), **NOW}, 30),
        ({"X-RateLimit-Reset": str((THEN + 30) * 1000)}, None),
        ({}, None),
        (None, None),
    ],
)
def test_headers_say_how_long(headers: dict[str, str] | None, seconds: float | None) -> None:
    found = requested_wait(headers)
    assert found == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Rate limit reached for gpt-5 on tokens per min: Limit 30000. Please try again in 20s. Visit", 20),
        ("Please try again in 1m30.5s.", 90.5),
        ("Quota exceeded. Please retry in 58.233s.", 58.233),
        ("Please try again in 450ms", 0.45),
        ("Please retry after 12 seconds.", 12),
        ("try again in 3 minutes", 180),
        ("Slow down.", None),
        ("The debate may try again in spring", None),
        ("", None),
    ],
)
def test_words_say_how_long(words: str, seconds: float | None) -> None:
    found = requested_wait({}, words)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_a_header_is_believed_before_words() -> None:
    assert requested_wait({"Retry-After": "3"}, "Please try again in 20s") == 3


@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "date", "x-ratelimit-reset", "x-ratelimit-reset-tokens"]),
        st.text(max_size=40) | st.floats().map(str) | st.integers().map(str),
    ),
    st.text(max_size=200),
)
def test_any_header_and_words_can_be_read(headers: dict[str, str], words: str) -> None:
    found = requested_wait(headers, words)
    assert found is None or 0 <= found < float("inf")
