"""Search sources by BM25, and select excerpts if the sources are too long for a seat.

Ranking is BM25 (Robertson and Zaragoza 2009, Lucene's variant) over folded words; letters of scripts without spaces are
taken in pairs. It needs no model and no network. Passages of equal rank stay in order.
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
"""Length of a quotable sentence in characters; shorter ones are mostly headings."""

_MAX_QUERY_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its score, which is comparable only within one query."""

    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a source, on one line."""

    source_id: str
    text: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How much of one source a seat was not shown, in passages and characters."""

    source_id: str
    passages: int
    of_passages: int
    chars: int
    of_chars: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The passages shown to a seat, in source order, and what was omitted for length."""

    passages: tuple[Passage, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def is_complete(self) -> bool:
        """Whether nothing was omitted."""
        return not self.left_out

    def describe(self) -> str:
        """Describe what was omitted, one sentence a source; empty if nothing was."""
        return " ".join(
            f"Left out of {part.source_id} for length: {part.passages} of {part.of_passages} passages "
            f"({part.chars:,} of {part.of_chars:,} characters)."
            for part in self.left_out
        )


class Retriever:
    """Searches the passages and sentences of ``sources``. The first search builds the index.

    Raises (at the first search):
        InvalidInputError: bm25s is not installed.
    """

    def __init__(self, sources: SourceSet) -> None:
        self.sources = sources
        self._ranked: _Ranking | None = None
        self._ranked_sentences: tuple[tuple[Sentence, ...], _Ranking] | None = None

    def search(self, query: str, k: int = 5) -> tuple[Hit, ...]:
        """Return up to ``k`` passages that share a word with ``query``, best first."""
        scores = self._scores(query)
        ranked = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
        return tuple(
            Hit(self.sources.passages[place], round(scores[place], 4))
            for place in ranked[: max(k, 0)]
            if scores[place] > 0
        )

    def sentences(self, query: str, k: int) -> tuple[Sentence, ...]:
        """Return up to ``k`` quotable sentences that share a word with ``query``, best first, without duplicates.

        They have ``MIN_SENTENCE_CHARS`` to ``MAX_SENTENCE_CHARS`` characters.
        """
        if self._ranked_sentences is None:
            found = tuple(_quotable_sentences(self.sources))
            self._ranked_sentences = found, _Ranking([row.text for row in found])
        rows, ranking = self._ranked_sentences
        scores = ranking.scores(query)
        best = sorted((place for place, score in enumerate(scores) if score > 0), key=lambda at: (-scores[at], at))
        return tuple(rows[place] for place in best[: max(k, 0)])

    def excerpt(self, query: str, max_chars: int) -> Excerpt:
        """Return all sources if they fit into ``max_chars``, else the passages that fit ``query`` best.

        Space left over goes to the beginnings of the sources, in turn.

        Args:
            query: what the seat is about to discuss, such as the motion and arguments it must answer.
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
        """Score each text for ``query``."""
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
    """Return the search words of ``text``."""
    if text.isascii() and not _BROKEN_WORD.search(text):
        return _tokenize_ascii(text)
    tokens = Tokens.of(text)
    found: list[str] = []
    for token, (kind, fold) in enumerate(zip(tokens.kinds, tokens.folds, strict=True)):
        if kind == POINT:
            continue
        follows = kind == LETTER and token + 1 < len(tokens) and tokens.kinds[token + 1] == LETTER
        found.append(fold + tokens.folds[token + 1] if follows else fold)
    return found


_BROKEN_WORD = re.compile(r"[A-Za-z0-9]-\s*\n")
_PLAIN_TOKEN = re.compile(
    r"""[a-z][a-z0-9]*+(?:'[a-z][a-z0-9]*+)*+
    |[0-9.](?:(?<=[0-9])|(?<![\w)\]}.,]\.)(?=[0-9]))[0-9]*+(?:[.,][0-9]+|'[0-9]{3}(?![0-9]))*
    |\.(?:\x20?\.){2,}
    |-(?:(?<![\w)\]}%'".]-)|(?<=[\s(\[]['"]-)|(?<=\A['"]-))(?=[.$]?[0-9])
    |[%#&@*/\\$+<=>^~]""",
    re.VERBOSE,
)
"""The tokens of ``token_pattern`` in lower-case ASCII, without punctuation: a word, a number, dots, a minus, a sign.
Each kind starts with its own characters, so the search skips quickly.
"""


def _tokenize_ascii(text: str) -> list[str]:
    """Tokenize ASCII text without a word broken at a line's end, 20 times faster than ``tokenize_for_search``."""
    found: list[str] = _PLAIN_TOKEN.findall(text.lower())
    if "." not in text and "-" not in text:
        return found
    return [
        word if word[0] not in ".-" else MINUS if word == "-" else f"0{word}"
        for word in found
        if word[0] != "." or word[1].isdigit()
    ]
