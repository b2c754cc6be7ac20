"""Finds the passages that bear on a question, and what may be laid before a seat when all would be too long.

Ranking is BM25 (Robertson and Zaragoza 2009, in the variant of Lucene) over words without case; letters of scripts
without spaces are taken two by two. It needs no model and no network, and passages of equal rank stay in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from disputatio.evidence.passages import Passage
from disputatio.evidence.source_set import SourceSet
from disputatio.evidence.words import LETTER, POINT, Atoms
from disputatio.failures import InvalidInputError

_LONGEST_QUERY = 20_000


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage and how well it fits a query; scores of one query can be compared with each other only."""

    passage: Passage
    score: float


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
    def whole(self) -> bool:
        """Whether nothing was left out."""
        return not self.left_out

    def statement(self) -> str:
        """What was left out, in a sentence a seat; empty where nothing was."""
        return " ".join(
            f"Left out of {part.source_id} for length: {part.passages} of {part.of_passages} passages "
            f"({part.chars:,} of {part.of_chars:,} characters)."
            for part in self.left_out
        )


class Retriever:
    """Searches the passages of ``sources``; the index is built once, at the first search.

    Raises (at the first search):
        InvalidInputError: the library that ranks is not installed.
    """

    def __init__(self, sources: SourceSet) -> None:
        self.sources = sources
        self._ranker: Any = None
        self._known: frozenset[str] = frozenset()

    def search(self, query: str, k: int = 5) -> tuple[Hit, ...]:
        """The ``k`` passages that fit ``query`` best, best first; fewer where fewer share a word with it."""
        scores = self._scores(query)
        ranked = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
        return tuple(
            Hit(self.sources.passages[place], round(scores[place], 4))
            for place in ranked[: max(k, 0)]
            if scores[place] > 0
        )

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
        passages = self.sources.passages
        if not passages:
            return ()
        if self._ranker is None:
            self._index(passages)
        wanted = [token for token in search_tokens(query[:_LONGEST_QUERY]) if token in self._known]
        if not wanted:
            return [0.0] * len(passages)
        scores: list[float] = self._ranker.get_scores(wanted).tolist()
        return scores

    def _index(self, passages: Sequence[Passage]) -> None:
        try:
            from bm25s import BM25  # type: ignore[import-untyped]  # it ships no types
        except ImportError:
            raise InvalidInputError(
                "The sources are longer than a seat's share, and the library that searches them is not installed.",
                "Install it with: pip install 'disputatio[evidence]'.",
            ) from None
        tokens = [search_tokens(passage.text) or [""] for passage in passages]
        self._known = frozenset(token for row in tokens for token in row if token)
        self._ranker = BM25(method="lucene", dtype="float64")
        self._ranker.index(tokens, show_progress=False)


def search_tokens(text: str) -> list[str]:
    """The words of ``text`` by which it is searched."""
    atoms = Atoms.of(text)
    tokens: list[str] = []
    for atom, (kind, fold) in enumerate(zip(atoms.kinds, atoms.folds, strict=True)):
        if kind == POINT:
            continue
        follows = kind == LETTER and atom + 1 < len(atoms) and atoms.kinds[atom + 1] == LETTER
        tokens.append(fold + atoms.folds[atom + 1] if follows else fold)
    return tokens
