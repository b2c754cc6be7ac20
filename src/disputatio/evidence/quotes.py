"""Find a quote in a source: to the letter, after normalisation, or in pieces joined by an ellipsis.

What is found here differs from the source only in the case of letters, spaces, kinds of quotation marks and dashes,
hyphens at line ends, and a full stop or comma at the end. Near misses are searched in ``near_miss``.

An ellipsis may omit words inside one sentence, or lead to the beginning of a later sentence. It may not omit a negation
from a quoted sentence, nor join pieces of fewer than three words. A quote may not cut a word, a figure, or a negation
right beside it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from rapidfuzz import fuzz

from disputatio.evidence.figures import REACH, Figure, find_figure, find_figures
from disputatio.evidence.findings import Finding, Match, Objection, Reason, Span, Status
from disputatio.evidence.number_lexicon import is_another_unit
from disputatio.evidence.sense_words import find_adjacent_negation, find_negating_marks, is_negation
from disputatio.evidence.tokens import (
    BROKEN,
    DASH,
    GLUED,
    LETTER,
    NUMBER,
    POINT,
    SPACE,
    WORD,
    TextIndex,
    Tokens,
    is_space_optional,
)

MAX_PLACES = 50
"""Of a source, tried for one quote."""

MIN_PIECE_WORDS = 3
"""Of a piece beside an ellipsis; letters of a script without spaces count half."""

MAX_GAP_CHARS = 1_000
"""How much of a source an ellipsis may omit."""

# White space is matched from its beginning only, which keeps long runs linear.
_ELLIPSIS = re.compile(r"(?:(?<!\s)\s++)?(?:[\[(]\s*(?:…|\.(?:\s?\.){2,})\s*[\])]|…|\.(?:[ \xa0]?\.){2,})\s*")


@dataclass(frozen=True, slots=True)
class Wording:
    """The tokens of a quote, without the punctuation around it.

    The tokens ``first`` to ``last`` must be found; ``tail`` is the punctuation removed from the end.
    """

    tokens: Tokens
    first: int
    last: int
    tail: str

    @classmethod
    def of(cls, quote: str) -> Wording | None:
        """Tokenize ``quote``; None if it has no words."""
        tokens = Tokens.of(quote)
        held = [token for token, kind in enumerate(tokens.kinds) if kind != POINT]
        if not held:
            return None
        return cls(tokens, held[0], held[-1], "".join(tokens.folds[held[-1] + 1 :]))

    @property
    def squeezed(self) -> str:
        """The folded forms, concatenated."""
        return self.tokens.squeezed[self.tokens.places[self.first] : self.tokens.place_end(self.last)]

    @property
    def folds(self) -> list[str]:
        """The folded forms, with the punctuation between the words."""
        return self.tokens.folds[self.first : self.last + 1]

    @property
    def words(self) -> list[int]:
        """The tokens that are not punctuation."""
        return [token for token in range(self.first, self.last + 1) if self.tokens.kinds[token] != POINT]


def find_quote(index: TextIndex, quote: str) -> Finding | None:
    """Find ``quote``, or the reason why the source does not support it; None if it is not there.

    Args:
        index: the source.
        quote: cleaned and stripped.
    """
    wording = Wording.of(quote)
    if wording is None:
        return Finding(Status.UNVERIFIED, Match.NONE, Reason.EMPTY, "the quote has no words")
    objections: list[Objection] = []
    for match, places in (
        (Match.EXACT, _find_exact(index, quote)),
        (Match.NORMALISED, _find_folded(index, wording, objections)),
    ):
        for first, last in places:
            objection = _check_unit_case(index.tokens, first, wording) or check_edges(index.tokens, first, last)
            if objection is None:
                return _verify(index, match, [(first, last)])
            objections.append(objection)
    pieces = [piece for piece in _ELLIPSIS.split(quote) if any(char.isalnum() for char in piece)]
    if len(pieces) > 1:
        return _find_pieces(index, wording, pieces, objections)
    return refuse(index, objections[0], wording) if objections else None


def refuse(index: TextIndex, objection: Objection, wording: Wording) -> Finding:
    """Make the finding of an objection."""
    span = Span(index.tokens.starts[objection.first], index.tokens.ends[objection.last])
    similarity = measure_similarity(wording.folds, index.tokens.folds[objection.first : objection.last + 1])
    return Finding(Status.UNVERIFIED, Match.NONE, objection.reason, objection.detail, (span,), similarity)


def measure_similarity(quote: list[str], source: list[str]) -> float:
    """Compare folded forms by ``rapidfuzz.fuzz.ratio``: 0 to 100, to a tenth."""
    return round(fuzz.ratio(" ".join(quote), " ".join(source)), 1)


def _verify(index: TextIndex, match: Match, places: list[tuple[int, int]]) -> Finding:
    spans = tuple(Span(index.tokens.starts[first], index.tokens.ends[last]) for first, last in places)
    return Finding(Status.VERIFIED, match, spans=spans, similarity=100.0)


def _find_exact(index: TextIndex, quote: str) -> Iterator[tuple[int, int]]:
    place, tried = index.text.find(quote), 0
    while place >= 0 and tried < MAX_PLACES:
        found = index.tokens.at(place, place + len(quote))
        if found is not None:
            yield found
        tried += 1
        place = index.text.find(quote, place + 1)


def _find_folded(
    index: TextIndex, wording: Wording, objections: list[Objection] | None = None, after: int = -1
) -> Iterator[tuple[int, int]]:
    """Yield the tokens where the folded wording occurs after token ``after``; add cut numbers to ``objections``."""
    tokens, needle = index.tokens, wording.squeezed
    wanted = wording.tokens.bounds(wording.first, wording.last)
    place = tokens.squeezed.find(needle, tokens.place_end(after) if after >= 0 else 0)
    tried = 0
    while place >= 0 and tried < MAX_PLACES:
        first = bisect_right(tokens.places, place) - 1
        last = bisect_right(tokens.places, place + len(needle) - 1) - 1
        whole = tokens.places[first] == place and tokens.place_end(last) == place + len(needle)
        if whole and _joints_agree(needle, wanted, tokens.bounds(first, last)) and _ends_agree(tokens, last, wording):
            yield first, last
        elif not whole and objections is not None and not objections:
            objections.extend(_cut_number(tokens, first, last, wording))
        tried += 1
        place = tokens.squeezed.find(needle, place + 1)


def _cut_number(tokens: Tokens, first: int, last: int, wording: Wording) -> list[Objection]:
    """Object if the wording begins or ends inside the digits of a number."""
    for token, cut in ((first, wording.first), (last, wording.last)):
        if (
            tokens.kinds[token] == wording.tokens.kinds[cut] == NUMBER
            and tokens.folds[token] != wording.tokens.folds[cut]
        ):
            source, quote = find_figure(tokens, token), find_figure(wording.tokens, cut)
            said = tokens.raw(source.first, source.last) if source else tokens.raw(token, token)
            told = wording.tokens.raw(quote.first, quote.last) if quote else wording.tokens.raw(cut, cut)
            detail = f"the source says {shorten(said)}, the quote {shorten(told)}"
            return [Objection(Reason.NUMBER_DIFFERS, detail, first, last)]
    return []


def _joints_agree(squeezed: str, one: dict[int, str], other: dict[int, str]) -> bool:
    """Whether two texts with equal folded forms also agree in what separates their words."""
    if one == other:
        return True
    for place in one.keys() | other.keys():
        pair = {one.get(place, GLUED), other.get(place, GLUED)}
        if len(pair) == 1 or pair <= {BROKEN, DASH} or pair == {BROKEN, GLUED}:
            continue
        if pair != {SPACE, GLUED} or not is_space_optional(squeezed[place - 1], squeezed[place]):
            return False
    return True


def _ends_agree(tokens: Tokens, last: int, wording: Wording) -> bool:
    """Whether quote and source both end as a question or both as a statement."""
    asked = "?" in wording.tail
    following = tokens.folds[last + 1] if last + 1 < len(tokens) else ""
    asks = following in {"?", "؟"}
    return asked == asks or not any(mark in wording.tail for mark in ".!?。！")


def _check_unit_case(tokens: Tokens, first: int, wording: Wording) -> Objection | None:
    """Object if the case makes another unit of the same letters: ``5 mW`` is not ``5 MW``."""
    quote = wording.tokens
    base = tokens.places[first] - quote.places[wording.first]
    for token in range(wording.first + 1, wording.last + 1):
        if quote.kinds[token - 1] != NUMBER or quote.kinds[token] != WORD:
            continue
        mine = bisect_right(tokens.places, base + quote.places[token]) - 1
        if is_another_unit(tokens.raw(mine, mine), quote.raw(token, token)):
            number = tokens.raw(mine - 1, mine)
            detail = f"the source says {number}, the quote {quote.raw(token - 1, token)}"
            return Objection(Reason.NUMBER_DIFFERS, detail, mine - 1, mine)
    return None


def _find_pieces(index: TextIndex, whole: Wording, pieces: list[str], objections: list[Objection]) -> Finding:
    wordings = [Wording.of(piece) for piece in pieces]
    for piece, wording in zip(pieces, wordings, strict=True):
        if wording is None or _count_words(wording) < MIN_PIECE_WORDS:
            detail = f"the piece '{shorten(piece)}' beside an ellipsis is shorter than {MIN_PIECE_WORDS} words"
            return Finding(Status.UNVERIFIED, Match.NONE, Reason.NOT_FOUND, detail)
    known = [wording for wording in wordings if wording is not None]
    for first, last in _find_folded(index, known[0]):
        chain = _find_chain(index, known, (first, last), objections)
        if chain is not None:
            return _verify(index, Match.NORMALISED, chain)
    if objections:
        return refuse(index, objections[0], whole)
    detail = "the pieces around the ellipsis do not stand in the source in this order, near each other"
    return Finding(Status.UNVERIFIED, Match.NONE, Reason.NOT_FOUND, detail)


def _count_words(wording: Wording) -> float:
    kinds = [wording.tokens.kinds[token] for token in wording.words]
    return sum(0.5 if kind == LETTER else 1 for kind in kinds)


def _find_chain(
    index: TextIndex, wordings: list[Wording], start: tuple[int, int], objections: list[Objection]
) -> list[tuple[int, int]] | None:
    """Find each piece at its nearest place after the one before; None if one is missing or refused."""
    chain: list[tuple[int, int]] = []
    for wording in wordings:
        place = start if not chain else next(_find_folded(index, wording, after=chain[-1][1]), None)
        if place is None:
            return None
        objection = _check_unit_case(index.tokens, place[0], wording) or check_edges(index.tokens, *place)
        if objection is None and chain:
            objection = _check_gap(index, chain[-1][1], place[0])
        if objection is not None:
            objections.append(objection)
            return None
        chain.append(place)
    return chain


def _check_gap(index: TextIndex, left: int, right: int) -> Objection | None:
    """Return why the text between two tokens may not be omitted, or None."""
    tokens = index.tokens
    start, end = tokens.ends[left], tokens.starts[right]
    left_end, right_start = index.sentence_of(start - 1)[1], index.sentence_of(end)[0]
    if end - start > MAX_GAP_CHARS:
        detail = f"the ellipsis leaves out {end - start:,} characters, and {MAX_GAP_CHARS:,} are the most"
        return Objection(Reason.NOT_FOUND, detail, left, right)
    if right_start > start and any(char.isalnum() for char in index.text[right_start:end]):
        return Objection(Reason.NOT_FOUND, "the ellipsis joins parts of two sentences of the source", left, right)
    for token in range(left + 1, right):
        beside = tokens.starts[token] < left_end or tokens.starts[token] >= right_start
        if beside and tokens.kinds[token] == WORD and is_negation(tokens.folds[token]):
            detail = f"the ellipsis leaves out '{tokens.raw(token, token)}'"
            return Objection(Reason.NEGATION_DIFFERS, detail, left, right)
    if find_negating_marks(index.text[start:end]):
        return Objection(
            Reason.NEGATION_DIFFERS, f"the ellipsis leaves out '{shorten(index.text[start:end])}'", left, right
        )
    return None


_NEGATING_VERB_TEXT = (
    "lack lacks lacked lacking fail fails failed failing failure refuse refused refuses deny denied denies"
)
_NEGATING_VERBS = frozenset(_NEGATING_VERB_TEXT.split())
"""Words that negate within a sentence, but say nothing about a word merely beside them."""

_MAX_SHORTENED_CHARS = 90


def shorten(text: str) -> str:
    """Put ``text`` on one line, short enough for a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_SHORTENED_CHARS else line[: _MAX_SHORTENED_CHARS - 1].rstrip() + "…"


def check_edges(tokens: Tokens, first: int, last: int) -> Objection | None:
    """Return why these tokens of a source cannot be quoted alone, or None."""
    return (
        _check_figures(tokens, first, last) or _check_words(tokens, first, last) or _check_negation(tokens, first, last)
    )


def _check_figures(tokens: Tokens, first: int, last: int) -> Objection | None:
    seen: set[Figure] = set()
    for edge in (first, last):
        near = find_figures(tokens, max(0, edge - REACH), min(len(tokens) - 1, edge + REACH))
        seen.update(
            figure for figure in near if figure.first < first <= figure.last or figure.first <= last < figure.last
        )
    for figure in sorted(seen, key=lambda found: found.first):
        whole = shorten(tokens.raw(figure.first, figure.last))
        kept = shorten(tokens.raw(max(figure.first, first), min(figure.last, last)))
        detail = f"the source says {whole}, the quote {kept}"
        return Objection(Reason.NUMBER_DIFFERS, detail, min(first, figure.first), max(last, figure.last))
    return None


def _check_words(tokens: Tokens, first: int, last: int) -> Objection | None:
    for left, right in ((first - 1, first), (last, last + 1)):
        if left < 0 or right >= len(tokens) or tokens.joints[right] != DASH:
            continue
        gap = tokens.text[tokens.ends[left] : tokens.starts[right]]
        if gap in {"-", "\u2010", "\u2011"} and {tokens.kinds[left], tokens.kinds[right]} <= {WORD, "n"}:
            detail = f"the quote cuts the word '{shorten(tokens.raw(left, right))}' of the source"
            return Objection(Reason.NOT_FOUND, detail, min(left, first), max(right, last))
    return None


def _check_negation(tokens: Tokens, first: int, last: int) -> Objection | None:
    left, right, word = first, last, ""
    if first and _is_adjacent_negation(tokens, first - 1, first):
        left, word = first - 1, tokens.raw(first - 1, first - 1)
    if last + 1 < len(tokens) and _is_adjacent_negation(tokens, last + 1, last + 1):
        right, word = last + 1, tokens.raw(last + 1, last + 1)
    word = word or find_adjacent_negation(tokens.text, tokens.starts[first], tokens.ends[last])
    if not word:
        return None
    detail = f"the quote leaves out '{word.strip()}', which stands right beside it in the source"
    return Objection(Reason.NEGATION_DIFFERS, detail, left, right)


def _is_adjacent_negation(tokens: Tokens, token: int, right: int) -> bool:
    """Whether ``token`` is a negation separated from the quote by a space only.

    ``right`` is the token after that space. A capital on a new line counts as another sentence.
    """
    fold, start = tokens.folds[token], tokens.starts[right]
    new_line = "\n" in tokens.text[tokens.ends[right - 1] : start] and tokens.text[start].isupper()
    beside = tokens.joints[right] == SPACE and tokens.kinds[token] == WORD and not new_line
    return beside and is_negation(fold) and fold not in _NEGATING_VERBS
