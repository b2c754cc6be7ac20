"""Finds the passages that bear on a question, and what may be laid before a seat when all would be too long.

Ranking is BM25 (Robertson and Zaragoza 2009, in the variant of Lucene) over words without case; letters of scripts
without spaces are taken two by two. It needs no model and no network, and passages of equal rank stay in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.evidence.passages import Passage, find_sentence_starts
from disputatio.evidence.sources import SourceSet
from disputatio.evidence.tokens import LETTER, MINUS, POINT, Tokens

MIN_SENTENCE_CHARS, MAX_SENTENCE_CHARS = 40, 220
"""In characters: what can be quoted as one sentence; shorter ones are mostly headings."""

_MAX_QUERY_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage and how well it fits a query; scores of one query can be compared with each other only."""

    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a source, on one line."""

    source_id: str
    text: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a seat was not shown of one source: counts of passages and of their characters, of how many."""

    source_id: str
    passages: int
    of_passages: int
    chars: int
    of_chars: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The passages laid before a seat, in the order of the sources, and what was left out for length."""

    passages: tuple[Passage, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def is_complete(self) -> bool:
        """Whether nothing was left out."""
        return not self.left_out

    def describe(self) -> str:
        """What was left out, in a sentence a seat; empty where nothing was."""
        return " ".join(
            f"Left out of {part.source_id} for length: {part.passages} of {part.of_passages} passages "
            f"({part.chars:,} of {part.of_chars:,} characters)."
            for part in self.left_out
        )


class Retriever:
    """Searches the passages and sentences of ``sources``; an index is built once, at the first search.

    Raises (at the first search):
        InvalidInputError: the library that ranks is not installed.
    """

    def __init__(self, sources: SourceSet) -> None:
        self.sources = sources
        self._ranked: _Ranking | None = None
        self._ranked_sentences: tuple[tuple[Sentence, ...], _Ranking] | None = None

    def search(self, query: str, k: int = 5) -> tuple[Hit, ...]:
        """The ``k`` passages that fit ``query`` best, best first; fewer where fewer share a word with it."""
        scores = self._scores(query)
        ranked = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
        return tuple(
            Hit(self.sources.passages[place], round(scores[place], 4))
            for place in ranked[: max(k, 0)]
            if scores[place] > 0
        )

    def sentences(self, query: str, k: int) -> tuple[Sentence, ...]:
        """The ``k`` sentences of quotable length that fit ``query`` best, best first, each text once.

        A sentence is of quotable length from ``MIN_SENTENCE_CHARS`` to ``MAX_SENTENCE_CHARS`` characters. Fewer are
        given where fewer share a word with the query.
        """
        if self._ranked_sentences is None:
            found = tuple(_quotable_sentences(self.sources))
            self._ranked_sentences = found, _Ranking([row.text for row in found])
        rows, ranking = self._ranked_sentences
        scores = ranking.scores(query)
        best = sorted((place for place, score in enumerate(scores) if score > 0), key=lambda at: (-scores[at], at))
        return tuple(rows[place] for place in best[: max(k, 0)])

    def excerpt(self, query: str, max_chars: int) -> Excerpt:
        """All of the sources where they fit into ``max_chars`` characters; else the passages that fit ``query`` best.

        Room that no matching passage needs goes to the beginnings of the sources, in turn.

        Args:
            query: what the seat is about to speak of, such as the motion and the arguments it must answer.
            max_chars: the seat's share of the context, in characters of passages.
        """
        passages = self.sources.passages
        if self.sources.chars <= max_chars:
            return Excerpt(passages, ())
        scores = self._scores(query)
        order = sorted(range(len(passages)), key=lambda place: (-scores[place], passages[place].number, place))
        kept: set[int] = set()
        room = max_chars
        for place in order:
            length = passages[place].end - passages[place].start
            if length <= room:
                kept.add(place)
                room -= length
        return Excerpt(tuple(passages[place] for place in sorted(kept)), tuple(self._left_out(kept)))

    def _left_out(self, kept: set[int]) -> Iterable[LeftOut]:
        place = 0
        for source in self.sources:
            lengths = {place + n: p.end - p.start for n, p in enumerate(source.passages)}
            gone = [length for number, length in lengths.items() if number not in kept]
            place += len(lengths)
            if gone:
                yield LeftOut(source.source_id, len(gone), len(lengths), sum(gone), sum(lengths.values()))

    def _scores(self, query: str) -> Sequence[float]:
        if self._ranked is None:
            self._ranked = _Ranking([passage.text for passage in self.sources.passages])
        return self._ranked.scores(query)


class _Ranking:
    """BM25 over ``texts``."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._count = len(texts)
        self._known: frozenset[str] = frozenset()
        if not texts:
            return
        try:
            from bm25s import BM25  # type: ignore[import-untyped]  # it ships no types
        except ImportError:
            raise InvalidInputError(
                "The sources must be searched, and the library that does it is not installed.",
                "Install it with: pip install 'disputatio[evidence]'.",
            ) from None
        tokens = [tokenize_for_search(text) or [""] for text in texts]
        self._known = frozenset(token for row in tokens for token in row if token)
        self._ranker: Any = BM25(method="lucene", dtype="float64")
        self._ranker.index(tokens, show_progress=False)

    def scores(self, query: str) -> Sequence[float]:
        """How well each text fits ``query``."""
        wanted = [token for token in tokenize_for_search(query[:_MAX_QUERY_CHARS]) if token in self._known]
        if not wanted:
            return [0.0] * self._count
        scores: list[float] = self._ranker.get_scores(wanted).tolist()
        return scores


def _quotable_sentences(sources: SourceSet) -> Iterable[Sentence]:
    seen: set[str] = set()
    for source in sources:
        for start, end in pairwise([*find_sentence_starts(source.text), len(source.text)]):
            text = " ".join(source.text[start:end].split()).lstrip("-*•◦– ")
            if MIN_SENTENCE_CHARS <= len(text) <= MAX_SENTENCE_CHARS and text not in seen:
                seen.add(text)
                yield Sentence(source.source_id, text)


def tokenize_for_search(text: str) -> list[str]:
    """The words of ``text`` by which it is searched."""
    if text.isascii() and not _BROKEN_WORD.search(text):
        return _tokenize_ascii(text)
    atoms = Tokens.of(text)
    tokens: list[str] = []
    for atom, (kind, fold) in enumerate(zip(atoms.kinds, atoms.folds, strict=True)):
        if kind == POINT:
            continue
        follows = kind == LETTER and atom + 1 < len(atoms) and atoms.kinds[atom + 1] == LETTER
        tokens.append(fold + atoms.folds[atom + 1] if follows else fold)
    return tokens


_BROKEN_WORD = re.compile(r"[A-Za-z0-9]-\s*\n")
_PLAIN_TOKEN = re.compile(
    r"""[a-z][a-z0-9]*+(?:'[a-z][a-z0-9]*+)*+
    |[0-9.](?:(?<=[0-9])|(?<![\w)\]}.,]\.)(?=[0-9]))[0-9]*+(?:[.,][0-9]+|'[0-9]{3}(?![0-9]))*
    |\.(?:\x20?\.){2,}
    |-(?:(?<![\w)\]}%'".]-)|(?<=[\s(\[]['"]-)|(?<=\A['"]-))(?=[.$]?[0-9])
    |[%#&@*/\\$+<=>^~]""",
    re.VERBOSE,
)
"""What ``atom_pattern`` finds in ASCII of small letters, but for punctuation: a word, a number, dots, a minus, a sign.
Each kind begins with characters of its own, so that most places of a text are passed over at once."""


def _tokenize_ascii(text: str) -> list[str]:
    """As ``tokenize_for_search``, of ASCII text without a word that is broken at a line's end, in a twentieth of the
    time."""
    found: list[str] = _PLAIN_TOKEN.findall(text.lower())
    if "." not in text and "-" not in text:
        return found
    return [
        word if word[0] not in ".-" else MINUS if word == "-" else f"0{word}"
        for word in found
        if word[0] != "." or word[1].isdigit()
    ]
