"""What holds for every text and every quote."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from disputatio.evidence.citations import Quotation, check_citation
from disputatio.evidence.findings import Status
from disputatio.evidence.sources import Source, SourceSet
from disputatio.evidence.tokens import normalise
from strategies import examples

pytestmark = pytest.mark.slow

# Words that carry no negation, number or direction in any language, with letters, accents and scripts of several.
CALM = """
the budget committee published its report about schools in Lisbon while Größe und Maß étaient discutées
новая школа открыта рядом κόσμος δύναμη 東京 学校 건물 कमल مدرسة rock'n'roll O'Neil x-ray state-of-the-art naïve café
Straße
"""
FUNCTION = ["the", "of", "in", "a", "its", "about", "while", "and"]
LETTERS = st.text("bcdfgklmprtv", min_size=2, max_size=9)
words = st.one_of(st.sampled_from(CALM.split()), LETTERS)
numbers = st.one_of(
    st.integers(0, 10**7).map(str),
    st.integers(0, 10**7).map(lambda n: f"{n:,}"),
    st.decimals(0, 10_000, places=2).map(str),
    st.integers(1000, 9999).map(lambda n: f"{n}s"),
    st.builds("{}-{}".format, st.integers(1, 99), st.integers(1, 99)),
    st.builds("{} {}".format, st.integers(1, 999), st.sampled_from(["km", "%", "million", "h", "USD"])),
    st.builds("${}".format, st.integers(1, 999)),
    st.builds("-{}".format, st.integers(1, 99)),
)
joints = st.sampled_from([" ", " ", " ", " ", ", ", ". ", "; ", " (", ") ", "\n", "\n\n", " – ", "  ", ' "', '" '])


@st.composite
def texts(draw: st.DrawFn, *, with_numbers: bool = True) -> list[str]:
    """A text as words (or figures) and what stands between them, by turns; it begins and ends with a word."""
    pieces = [draw(words)]
    for _ in range(draw(st.integers(5, 25))):
        pieces += [draw(joints), draw(st.one_of(words, numbers) if with_numbers else words)]
    return [*pieces, " ", draw(words)]


def has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def one_source(text: str) -> SourceSet:
    return SourceSet([Source("page", "A page", text)])


@given(texts(), st.data())
@examples(12)
def test_what_stands_in_a_source_between_word_boundaries(pieces: list[str], data: st.DataObject) -> None:
    """Any run of whole words verifies where it cuts no figure: no figure stands at its edges, inside or outside."""
    last = len(pieces) // 2
    edges = [
        n for n in range(last + 1) if not any(has_digit(pieces[2 * m]) for m in (n - 1, n, n + 1) if 0 <= m <= last)
    ]
    assume(edges)
    first = data.draw(st.sampled_from(edges))
    end = data.draw(st.sampled_from([edge for edge in edges if edge >= first]))
    quote = "".join(pieces[2 * first : 2 * end + 1])
    text = "".join(pieces)
    checked = check_citation(one_source(text), Quotation("page", quote))
    assert checked.status is Status.VERIFIED, checked
    assert checked.words == quote
    assert text[checked.start : checked.end] == quote


RESHAPED = {
    "upper case": str.upper,
    "lower case": str.lower,
    "line breaks": lambda text: text.replace(" ", "\n"),
    "wide spaces": lambda text: text.replace(" ", " \u00a0 "),
    "curly apostrophes": lambda text: text.replace("'", "\u2019"),
    "curly marks": lambda text: text.replace('"', "\u201d"),
    "long dashes": lambda text: text.replace("–", "—"),
    "full stop behind": lambda text: text + ".",
    "marks around": lambda text: f"\u00ab{text}\u00bb",
    "zero-width characters": "\u200b".join,
}


@given(texts(with_numbers=False), st.sampled_from(sorted(RESHAPED)))
@examples(12)
def test_case_spaces_marks_and_dashes_do_not_matter(pieces: list[str], how: str) -> None:
    text = "".join(pieces)
    checked = check_citation(one_source(text), Quotation("page", RESHAPED[how](text)))
    assert checked.status is Status.VERIFIED, (how, checked)


@given(texts(), st.data())
@examples(15)
def test_a_quote_with_one_changed_digit_is_never_borne_out(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    digits = [place for place, char in enumerate(text) if char in string.digits]
    assume(digits)
    place = data.draw(st.sampled_from(digits))
    start = data.draw(st.integers(0, place))
    end = data.draw(st.integers(place + 1, len(text)))
    digit = data.draw(st.sampled_from([char for char in string.digits if char != text[place]]))
    quote = text[start:place] + digit + text[place + 1 : end]
    assume(not _says(text, quote))
    checked = check_citation(one_source(text), Quotation("page", quote))
    assert checked.status is Status.UNVERIFIED, checked


def _says(text: str, quote: str) -> bool:
    """Whether the figures and words of ``quote`` stand in ``text`` in a row, by another rule than the code's."""
    plain = [" ".join(re.findall(r"[^\W_]+(?:[.,][0-9]+)*", part.casefold())) for part in (text, quote)]
    return f" {plain[1]} " in f" {plain[0]} "


@given(texts(with_numbers=False), st.integers(0, 200))
@examples(12)
def test_a_negation_that_the_quote_puts_in_is_never_borne_out(pieces: list[str], place: int) -> None:
    text = "".join(pieces)
    at = 1 + 2 * (place % ((len(pieces) - 1) // 2))
    quote = "".join([*pieces[:at], " not", *pieces[at:]])
    assert check_citation(one_source(text), Quotation("page", quote)).status is Status.UNVERIFIED


@given(
    texts(with_numbers=False), st.integers(0, 200), st.sampled_from(["not", "never", "keine", "pas", "не", "without"])
)
@examples(12)
def test_a_negation_that_the_quote_leaves_out_is_never_borne_out(pieces: list[str], place: int, negation: str) -> None:
    at = 1 + 2 * (place % ((len(pieces) - 1) // 2))
    text = "".join([*pieces[:at], f" {negation}", *pieces[at:]])
    quotes = ["".join(pieces), "".join([*pieces[:at], " ... ", pieces[at + 1], *pieces[at + 2 :]])]
    for quote in quotes:
        assert check_citation(one_source(text), Quotation("page", quote)).status is Status.UNVERIFIED


@given(
    st.lists(st.one_of(st.sampled_from(FUNCTION), st.text("bcdfgk", min_size=3, max_size=8)), min_size=20, max_size=60),
    st.lists(st.text("lmprtv", min_size=3, max_size=8), min_size=3, max_size=8),
    st.lists(st.sampled_from(FUNCTION), min_size=2, max_size=8),
    st.randoms(use_true_random=False),
)
@examples(12)
def test_words_of_another_source_are_unverified(
    here: list[str], there: list[str], shared: list[str], chance: object
) -> None:
    """A third or more of the quote's words are not in the source at all."""
    quote = [*there, *shared[: 2 * len(there)]]
    chance.shuffle(quote)  # type: ignore[attr-defined]
    checked = check_citation(one_source(" ".join(here)), Quotation("page", " ".join(quote)))
    assert checked.status is Status.UNVERIFIED


@given(st.text())
@examples(100)
def test_normalising_twice_is_normalising_once(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(st.text(max_size=300), st.text(max_size=120))
@examples(40)
def test_any_text_and_any_quote_give_a_finding(text: str, quote: str) -> None:
    """Any text and any quote give a finding whose words stand at its offsets."""
    checked = check_citation(one_source(text), Quotation("page", quote))
    assert 0 <= checked.similarity <= 100
    pieces = [text[span.start : span.end] for span in checked.spans]
    assert checked.words == " … ".join(pieces)
    assert all(span.start < span.end for span in checked.spans)
    assert [span.start for span in checked.spans] == sorted(span.start for span in checked.spans)
    if checked.is_sound:
        assert checked.passage_id.startswith("page#")
    else:
        assert checked.reason.value


@given(texts(), st.data())
@examples(12)
def test_a_near_miss_reports_the_sources_own_words(pieces: list[str], data: st.DataObject) -> None:
    """A near miss reports the sources own words at their place."""
    kept = list(pieces)
    dropped = data.draw(st.integers(1, len(pieces) // 2 - 1))
    del kept[2 * dropped : 2 * dropped + 2]
    text = "".join(pieces)
    checked = check_citation(one_source(text), Quotation("page", "".join(kept)))
    assert checked.citation == Quotation("page", "".join(kept))
    for span in checked.spans:
        assert text[span.start : span.end] in checked.words
    if checked.status is Status.REPAIRED:
        assert checked.similarity >= 80
