"""A motion or a source that cannot be used is refused in one clear sentence."""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import ExitCode, InvalidInputError
from disputatio.motion import (
    MAX_EVIDENCE_CHARS,
    MAX_MOTION_CHARS,
    Evidence,
    Motion,
    clean,
    one_line,
    read_evidence,
    read_motion,
)
from strategies import examples

NOTHING = [
    "",
    "   ",
    "\n\t",
    "...?!",
    "— “” ()",
    "\u200b\u200b",
    "\x1b\x1b",
    "\ufeff",
    "🙂",
    b"",
    b"\xef\xbb\xbf",
    b" ?",
]
BINARY = [
    "\x00",
    "a\x00b",
    b"\x00" * 100,
    b"caf\xe9",
    b"\xff\xfe" + "motion".encode("utf-16-le"),
    "motion".encode("utf-16-le"),
    b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4,
    b"\x80abc",
    b"\xed\xa0\x80 lone surrogate",
    b"GIF89a\x01\x02\x03\x04\x05\x06\x07\x01\x02",
    "replaced \ufffd\ufffd\ufffd",
]


def check_sentence(error: InvalidInputError) -> None:
    """One sentence that says what is wrong, and a next step."""
    assert error.exit_code is ExitCode.INVALID_INPUT
    assert "\n" not in str(error)
    assert error.cause.endswith(".")
    assert re.fullmatch(r"[^.]*(?:\d[.,]\d[^.]*)*\.", error.cause), "one sentence"
    assert error.next_step
    assert len(str(error)) < 300


@pytest.mark.parametrize("raw", NOTHING, ids=repr)
def test_a_motion_without_a_letter_or_digit_is_empty(raw: str | bytes) -> None:
    with pytest.raises(InvalidInputError, match="empty") as caught:
        read_motion(raw)
    check_sentence(caught.value)


@pytest.mark.parametrize("raw", BINARY, ids=lambda raw: repr(raw)[:30])
def test_what_is_not_text_is_refused_as_motion_and_as_evidence(raw: str | bytes) -> None:
    for read in (lambda: read_motion(raw), lambda: read_evidence("S1", "the table", raw)):
        with pytest.raises(InvalidInputError, match=r"not text|binary") as caught:
            read()
        check_sentence(caught.value)


@pytest.mark.parametrize(
    "raw",
    [
        "x" * (MAX_MOTION_CHARS + 1),
        "long word " * 100_000,
        "ä" * (MAX_MOTION_CHARS + 1),
        ("ä" * (MAX_MOTION_CHARS + 1)).encode(),
        b"x" * 1_000_000,
        "x" * 1_000_000,
        "\x00" * 1_000_000,
        os.urandom(1_000_000),
    ],
    ids=["one more", "1 MB of words", "umlauts", "umlaut bytes", "1 MB bytes", "1 MB", "1 MB NUL", "1 MB noise"],
)
def test_a_motion_that_is_too_long_is_refused_with_the_limit(raw: str | bytes) -> None:
    with pytest.raises(InvalidInputError, match=r"too long: .* 4,000") as caught:
        read_motion(raw)
    check_sentence(caught.value)


@pytest.mark.parametrize("char", ["x", "ä", "中", "🙂"])
def test_a_motion_of_exactly_the_limit_is_taken_in_any_script(char: str) -> None:
    text = "A" + char * (MAX_MOTION_CHARS - 1)
    assert read_motion(text).text == text
    assert read_motion(text.encode()).text == text


def test_a_motion_is_cleaned_and_on_one_line() -> None:
    raw = b"\xef\xbb\xbf  We should\r\n\x1b[31madopt\x1b[0m\tmicroservices\xe2\x80\xae. \n"
    assert read_motion(raw, " German\n ") == Motion("We should [31madopt[0m microservices.", "German")


@pytest.mark.parametrize("language", ["", " ", "\n", "\u200b"])
def test_without_a_language_it_is_english(language: str) -> None:
    assert read_motion("Is it?", language).language == "English"


@examples(50)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200), st.text(max_size=60).map(str.encode)))
def test_any_input_is_read_or_refused_in_one_sentence(raw: str | bytes) -> None:
    try:
        motion = read_motion(raw)
    except InvalidInputError as error:
        check_sentence(error)
    else:
        assert motion.text == one_line(motion.text)
        assert 0 < len(motion.text) <= MAX_MOTION_CHARS
        assert any(map(str.isalnum, motion.text))
    try:
        evidence = read_evidence("S1", "a title", raw)
    except InvalidInputError as error:
        check_sentence(error)
    else:
        assert evidence.text
        assert evidence.text == clean(evidence.text).strip()


def test_evidence_is_cleaned_and_keeps_its_lines() -> None:
    raw = "year,value\r\n2024,\u202e3\x1b\r\n\r\nnote\x0c"
    assert read_evidence("S1", "a\ntable ", raw) == Evidence("S1", "a table", "year,value\n2024,3\n\nnote")


@pytest.mark.parametrize("raw", ["", " \n", "\u200b", b"", b"\xef\xbb\xbf"])
def test_empty_evidence_is_refused_by_its_title(raw: str | bytes) -> None:
    with pytest.raises(InvalidInputError, match="The evidence notes is empty") as caught:
        read_evidence("S1", "notes", raw)
    check_sentence(caught.value)


def test_evidence_of_exactly_the_limit_is_accepted() -> None:
    assert len(read_evidence("S1", "t", "中" * MAX_EVIDENCE_CHARS).text) == MAX_EVIDENCE_CHARS
    with pytest.raises(InvalidInputError, match="400,001 characters") as caught:
        read_evidence("S1", "t", "中" * (MAX_EVIDENCE_CHARS + 1))
    check_sentence(caught.value)


@pytest.mark.parametrize(
    ("text", "question", "options"),
    [
        ("We should adopt microservices", False, False),
        ("Should we adopt microservices?", True, False),
        ("\u201cShould we adopt microservices?\u201d", True, False),
        ("Should we do it or not?", True, False),
        ("Should a startup with 10 or fewer people build microservices?", True, False),
        ("Postgres, MySQL or MongoDB?", True, True),
        ("Should we use Rust or Go for the gateway?", True, True),
        ("Sollen wir Rust oder Go nehmen?", True, True),
        ("\u6211\u4eec\u5e94\u8be5\u7528A\u8fd8\u662fB\uff1f", True, True),
        ("We should use Rust or Go", False, False),
    ],
)
def test_a_question_and_one_that_offers_options_are_known(text: str, question: bool, options: bool) -> None:
    motion = read_motion(text)
    assert (motion.is_question, motion.offers_options) == (question, options)
