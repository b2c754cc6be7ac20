"""Passages cover a source, their ids do not change, and the best of them are found."""

from __future__ import annotations

import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.evidence.passages import (
    MAX_SENTENCE_CHARS,
    PASSAGE_CHARS,
    find_passage,
    find_sentence_starts,
    split_passages,
)
from disputatio.evidence.retrieval import Retriever, tokenize_for_search
from disputatio.evidence.sources import Source, SourceSet
from disputatio.evidence.tokens import POINT, Tokens
from strategies import examples

pytest.importorskip("bm25s")  # imported here, so that no test is slow for being the first to search

prose = st.lists(
    st.sampled_from(
        [
            "Costs fell. ",
            "word ",
            "成本下降了。",
            "\n\n",
            "\n- item ",
            "Dr. Who? ",
            "x" * 900,
            "! ",
            "الكلفة؟ ",
            "3.8 h ",
        ]
    ),
    max_size=120,
).map("".join)


@given(st.one_of(prose, st.text(max_size=400)))
@examples(30)
def test_passages_cover_every_visible_character_once_in_order(text: str) -> None:
    passages = split_passages("s", text)
    end = 0
    for number, passage in enumerate(passages, start=1):
        assert (passage.id, passage.number, passage.source_id) == (f"s#{number}", number, "s")
        assert passage.text == text[passage.start : passage.end]
        assert passage.start >= end
        assert passage.text == passage.text.strip() != ""
        assert len(passage.text) <= MAX_SENTENCE_CHARS
        assert not text[end : passage.start].strip()
        end = passage.end
    assert not text[end:].strip()
    assert split_passages("s", text) == passages


@given(st.text("aZ09.,'\"-+ \n\t()[]}{$%&#@*/\\^~|`<>=_:;!?\x1c\x7f", max_size=30))
@examples(300)
def test_plain_text_is_searched_by_the_words_that_its_atoms_are(text: str) -> None:
    tokens = Tokens.of(text)
    words = [fold for kind, fold in zip(tokens.kinds, tokens.folds, strict=True) if kind != POINT]
    assert tokenize_for_search(text) == words


@pytest.mark.slow
def test_a_source_that_is_one_sentence_is_cut_in_proportion() -> None:
    """It was copied for every cut: a source of 10 MB took minutes."""
    text = "word " * 1_000_000
    begun = time.process_time()
    passages = split_passages("s", text)
    assert time.process_time() - begun < 10
    assert len(passages) >= len(text) // PASSAGE_CHARS - 1


@given(prose, st.integers(0, 5_000))
@examples(30)
def test_the_passage_at_an_offset_holds_it(text: str, offset: int) -> None:
    passages = split_passages("s", text)
    found = find_passage(passages, offset)
    holding = [passage for passage in passages if passage.start <= offset < passage.end]
    assert found == (holding[0] if holding else found)
    assert (found is None) == (not passages)


def test_short_paragraphs_stay_whole_and_together() -> None:
    paragraphs = [f"Paragraph {n} says {'one thing. ' * 12}".strip() for n in range(12)]
    text = "\n\n".join(paragraphs)
    passages = split_passages("s", text)
    assert all(any(paragraph in passage.text for passage in passages) for paragraph in paragraphs)
    assert all(len(passage.text) <= PASSAGE_CHARS for passage in passages)
    assert len(passages) < len(paragraphs)


def test_sentences_end_where_a_reader_ends_them() -> None:
    text = (
        "Dr. J. Smith of the U.S. team, e.g. in Fig. 3, said so. It rose 3.8 h… then fell! “Really?” Yes. "
        "成本下降。时间增加！ नमस्ते। ठीक है।\n- first item\n- second item\n\nA new paragraph"
    )
    starts = find_sentence_starts(text)
    sentences = [text[a:b].strip() for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    assert sentences == [
        "Dr. J. Smith of the U.S. team, e.g. in Fig. 3, said so.",
        "It rose 3.8 h… then fell!",
        "“Really?”",
        "Yes.",
        "成本下降。",
        "时间增加！",
        "नमस्ते।",
        "ठीक है।",
        "- first item",
        "- second item",
        "A new paragraph",
    ]


# --- search -----------------------------------------------------------------------------------------------------------

TOPICS = {
    "microservices": "Independent services are deployed alone, which shortens the release.",
    "monolith": "One process is simpler to run, and a small team ships it whole.",
    "latency": "Every network hop adds latency to a request of the customer.",
    "成本": "微服务的运维成本在三年内上升了。",
    "Straßenbahn": "Die Straßenbahn fährt alle zehn Minuten durch die Altstadt.",
}


def library(repeat: int = 1) -> SourceSet:
    filler = "Nothing in these lines bears on any of the questions that are asked here. " * 8
    return SourceSet(
        Source(f"s{n}-{k}", "", "\n\n".join([filler, f"{topic}: {text}", filler]))
        for n in range(repeat)
        for k, (topic, text) in enumerate(TOPICS.items())
    )


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("how long is a release of independent services?", "shortens the release"),
        ("LATENCY of a request", "network hop"),
        ("运维成本", "三年内上升了"),
        ("strassenbahn altstadt", "Die Straßenbahn"),
    ],
)
def test_a_passage_is_found_by_its_words_in_any_language(query: str, words: str) -> None:
    hits = Retriever(library()).search(query, 3)
    assert words in hits[0].passage.text
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_query_that_shares_no_word_finds_nothing() -> None:
    retriever = Retriever(library())
    assert retriever.search("zzz qqq", 5) == ()
    assert retriever.search("", 5) == ()
    assert retriever.search("release", 0) == ()
    assert Retriever(SourceSet([])).search("release", 5) == ()


def test_equal_ranks_stay_in_the_order_of_the_sources() -> None:
    hits = Retriever(library(repeat=6)).search("latency network hop", 6)
    assert [hit.passage.source_id for hit in hits] == [f"s{n}-2" for n in range(6)]
    assert len({hit.score for hit in hits}) == 1


def test_sources_within_the_share_are_laid_before_a_seat_whole() -> None:
    sources = library()
    excerpt = Retriever(sources).excerpt("release", sources.chars)
    assert excerpt.passages == sources.passages
    assert excerpt.is_complete
    assert excerpt.describe() == ""


@given(st.integers(0, 9_000), st.sampled_from(["release services", "latency", "成本", "nothing known", ""]))
@examples(8)
def test_an_excerpt_keeps_within_its_share(share: int, query: str) -> None:
    """An excerpt keeps within its share and says what it left out."""
    sources = library(repeat=2)
    excerpt = Retriever(sources).excerpt(query, share)
    if sources.chars <= share:
        assert excerpt.is_complete
        return
    assert sum(len(passage.text) for passage in excerpt.passages) <= share
    assert list(excerpt.passages) == [passage for passage in sources.passages if passage in excerpt.passages]
    left = {part.source_id: part for part in excerpt.left_out}
    for source in sources:
        gone = [passage for passage in source.passages if passage not in excerpt.passages]
        assert (source.source_id in left) == bool(gone)
        if gone:
            assert left[source.source_id].passages == len(gone)
            assert left[source.source_id].chars == sum(len(passage.text) for passage in gone)
            assert (
                f"Left out of {source.source_id} for length: {len(gone)} of {len(source.passages)}"
                in excerpt.describe()
            )


def test_an_excerpt_holds_what_fits_the_query_best() -> None:
    excerpt = Retriever(library()).excerpt("latency of a request", 700)
    assert any("network hop" in passage.text for passage in excerpt.passages)
    assert Retriever(library()).excerpt("latency of a request", 700) == excerpt


def test_a_missing_library_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing library is named with the extra that brings it."""
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(InvalidInputError, match=r"Install it with: pip install 'disputatio\[evidence\]'"):
        Retriever(library()).search("release")
