"""Finds a quote in a source: to the letter, then after normalisation, then in pieces joined by an ellipsis.

Nothing here looks for near misses (see ``near_miss``), and nothing that is found here differs from the source in more
than the case of letters, spaces, kinds of quotation marks and dashes, hyphens at line ends, and the full stop or comma
at the end of the quote.

An ellipsis may leave out words inside one sentence, or lead to the beginning of a later sentence. It may not leave out
a negation of a sentence that it quotes from, nor join pieces of fewer than three words.
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
"""How many places of a source are tried for one quote."""

MIN_PIECE_WORDS = 3
"""How many words (or twice as many letters of a script without spaces) a piece beside an ellipsis has at least."""

MAX_GAP_CHARS = 1_000
"""How many characters of a source an ellipsis may leave out."""

# The white space before it is matched from its beginning only: a long run would else be tried from each of its places.
_ELLIPSIS = re.compile(r"(?:(?<!\s)\s++)?(?:[\[(]\s*(?:…|\.(?:\s?\.){2,})\s*[\])]|…|\.(?:[ \xa0]?\.){2,})\s*")


@dataclass(frozen=True, slots=True)
class Wording:
    """A quote in atoms, without the punctuation around it.

    ``first`` and ``last`` are the atoms that must be found; ``tail`` is the punctuation that was taken off the end.
    """

    atoms: Tokens
    first: int
    last: int
    tail: str

    @classmethod
    def of(cls, quote: str) -> Wording | None:
        """The wording of ``quote``, or None where it has no words."""
        atoms = Tokens.of(quote)
        held = [atom for atom, kind in enumerate(atoms.kinds) if kind != POINT]
        if not held:
            return None
        return cls(atoms, held[0], held[-1], "".join(atoms.folds[held[-1] + 1 :]))

    @property
    def squeezed(self) -> str:
        """The folded forms in a row."""
        return self.atoms.squeezed[self.atoms.places[self.first] : self.atoms.place_end(self.last)]

    @property
    def folds(self) -> list[str]:
        """The folded forms, with the punctuation between the words."""
        return self.atoms.folds[self.first : self.last + 1]

    @property
    def words(self) -> list[int]:
        """The atoms that are no punctuation."""
        return [atom for atom in range(self.first, self.last + 1) if self.atoms.kinds[atom] != POINT]


def find_quote(index: TextIndex, quote: str) -> Finding | None:
    """The place of ``quote``, or why it is not borne out; None where it is nowhere to be found.

    Args:
        index: the source.
        quote: cleaned, with no white space around it.
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
            objection = _check_unit_case(index.atoms, first, wording) or check_edges(index.atoms, first, last)
            if objection is None:
                return _verify(index, match, [(first, last)])
            objections.append(objection)
    pieces = [piece for piece in _ELLIPSIS.split(quote) if any(char.isalnum() for char in piece)]
    if len(pieces) > 1:
        return _find_pieces(index, wording, pieces, objections)
    return refuse(index, objections[0], wording) if objections else None


def refuse(index: TextIndex, objection: Objection, wording: Wording) -> Finding:
    """The finding that ``objection`` makes."""
    span = Span(index.atoms.starts[objection.first], index.atoms.ends[objection.last])
    similarity = measure_similarity(wording.folds, index.atoms.folds[objection.first : objection.last + 1])
    return Finding(Status.UNVERIFIED, Match.NONE, objection.reason, objection.detail, (span,), similarity)


def measure_similarity(quote: list[str], source: list[str]) -> float:
    """How similar two texts are, in folded forms: 0 to 100, by ``rapidfuzz.fuzz.ratio``, to a tenth."""
    return round(fuzz.ratio(" ".join(quote), " ".join(source)), 1)


def _verify(index: TextIndex, match: Match, places: list[tuple[int, int]]) -> Finding:
    spans = tuple(Span(index.atoms.starts[first], index.atoms.ends[last]) for first, last in places)
    return Finding(Status.VERIFIED, match, spans=spans, similarity=100.0)


def _find_exact(index: TextIndex, quote: str) -> Iterator[tuple[int, int]]:
    place, tried = index.text.find(quote), 0
    while place >= 0 and tried < MAX_PLACES:
        found = index.atoms.at(place, place + len(quote))
        if found is not None:
            yield found
        tried += 1
        place = index.text.find(quote, place + 1)


def _find_folded(
    index: TextIndex, wording: Wording, objections: list[Objection] | None = None, after: int = -1
) -> Iterator[tuple[int, int]]:
    """The atoms at which the folded wording stands, behind atom ``after``; cut numbers go to ``objections``."""
    atoms, needle = index.atoms, wording.squeezed
    wanted = wording.atoms.bounds(wording.first, wording.last)
    place = atoms.squeezed.find(needle, atoms.place_end(after) if after >= 0 else 0)
    tried = 0
    while place >= 0 and tried < MAX_PLACES:
        first = bisect_right(atoms.places, place) - 1
        last = bisect_right(atoms.places, place + len(needle) - 1) - 1
        whole = atoms.places[first] == place and atoms.place_end(last) == place + len(needle)
        if whole and _joints_agree(needle, wanted, atoms.bounds(first, last)) and _ends_agree(atoms, last, wording):
            yield first, last
        elif not whole and objections is not None and not objections:
            objections.extend(_cut_number(atoms, first, last, wording))
        tried += 1
        place = atoms.squeezed.find(needle, place + 1)


def _cut_number(atoms: Tokens, first: int, last: int, wording: Wording) -> list[Objection]:
    """An objection where the wording begins or ends inside the digits of a number."""
    for atom, cut in ((first, wording.first), (last, wording.last)):
        if atoms.kinds[atom] == wording.atoms.kinds[cut] == NUMBER and atoms.folds[atom] != wording.atoms.folds[cut]:
            source, quote = find_figure(atoms, atom), find_figure(wording.atoms, cut)
            said = atoms.raw(source.first, source.last) if source else atoms.raw(atom, atom)
            told = wording.atoms.raw(quote.first, quote.last) if quote else wording.atoms.raw(cut, cut)
            detail = f"the source says {shorten(said)}, the quote {shorten(told)}"
            return [Objection(Reason.NUMBER_DIFFERS, detail, first, last)]
    return []


def _joints_agree(squeezed: str, one: dict[int, str], other: dict[int, str]) -> bool:
    """Whether what stands between the words of two texts with equal folded forms is the same in sense."""
    if one == other:
        return True
    for place in one.keys() | other.keys():
        pair = {one.get(place, GLUED), other.get(place, GLUED)}
        if len(pair) == 1 or pair <= {BROKEN, DASH} or pair == {BROKEN, GLUED}:
            continue
        if pair != {SPACE, GLUED} or not is_space_optional(squeezed[place - 1], squeezed[place]):
            return False
    return True


def _ends_agree(atoms: Tokens, last: int, wording: Wording) -> bool:
    """Whether the quote does not end as a statement where the source asks, or the other way round."""
    asked = "?" in wording.tail
    following = atoms.folds[last + 1] if last + 1 < len(atoms) else ""
    asks = following in {"?", "؟"}
    return asked == asks or not any(mark in wording.tail for mark in ".!?。！")


def _check_unit_case(atoms: Tokens, first: int, wording: Wording) -> Objection | None:
    """An objection where the case makes another unit of the same letters: ``5 mW`` is not ``5 MW``."""
    quote = wording.atoms
    base = atoms.places[first] - quote.places[wording.first]
    for atom in range(wording.first + 1, wording.last + 1):
        if quote.kinds[atom - 1] != NUMBER or quote.kinds[atom] != WORD:
            continue
        mine = bisect_right(atoms.places, base + quote.places[atom]) - 1
        if is_another_unit(atoms.raw(mine, mine), quote.raw(atom, atom)):
            number = atoms.raw(mine - 1, mine)
            detail = f"the source says {number}, the quote {quote.raw(atom - 1, atom)}"
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
    kinds = [wording.atoms.kinds[atom] for atom in wording.words]
    return sum(0.5 if kind == LETTER else 1 for kind in kinds)


def _find_chain(
    index: TextIndex, wordings: list[Wording], start: tuple[int, int], objections: list[Objection]
) -> list[tuple[int, int]] | None:
    """The places of all pieces, each the nearest behind the one before; None where a piece is missing or refused."""
    chain: list[tuple[int, int]] = []
    for wording in wordings:
        place = start if not chain else next(_find_folded(index, wording, after=chain[-1][1]), None)
        if place is None:
            return None
        objection = _check_unit_case(index.atoms, place[0], wording) or check_edges(index.atoms, *place)
        if objection is None and chain:
            objection = _check_gap(index, chain[-1][1], place[0])
        if objection is not None:
            objections.append(objection)
            return None
        chain.append(place)
    return chain


def _check_gap(index: TextIndex, left: int, right: int) -> Objection | None:
    """Why what stands between atoms ``left`` and ``right`` may not be left out, or None."""
    atoms = index.atoms
    start, end = atoms.ends[left], atoms.starts[right]
    left_end, right_start = index.sentence_of(start - 1)[1], index.sentence_of(end)[0]
    if end - start > MAX_GAP_CHARS:
        detail = f"the ellipsis leaves out {end - start:,} characters, and {MAX_GAP_CHARS:,} are the most"
        return Objection(Reason.NOT_FOUND, detail, left, right)
    if right_start > start and any(char.isalnum() for char in index.text[right_start:end]):
        return Objection(Reason.NOT_FOUND, "the ellipsis joins parts of two sentences of the source", left, right)
    for atom in range(left + 1, right):
        beside = atoms.starts[atom] < left_end or atoms.starts[atom] >= right_start
        if beside and atoms.kinds[atom] == WORD and is_negation(atoms.folds[atom]):
            detail = f"the ellipsis leaves out '{atoms.raw(atom, atom)}'"
            return Objection(Reason.NEGATION_DIFFERS, detail, left, right)
    if find_negating_marks(index.text[start:end]):
        return Objection(
            Reason.NEGATION_DIFFERS, f"the ellipsis leaves out '{shorten(index.text[start:end])}'", left, right
        )
    return None


_NEGATING_VERBS = frozenset(
    {
        "lack",
        "lacks",
        "lacked",
        "lacking",
        "fail",
        "fails",
        "failed",
        "failing",
        "failure",
        "refuse",
        "refused",
        "refuses",
    }
    | {"deny", "denied", "denies"}
)
"""Words that negate within a sentence, but say nothing about what merely stands beside them."""

_MAX_SHORTENED_CHARS = 90


def shorten(text: str) -> str:
    """``text`` on one line and short enough for a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_SHORTENED_CHARS else line[: _MAX_SHORTENED_CHARS - 1].rstrip() + "…"


def check_edges(atoms: Tokens, first: int, last: int) -> Objection | None:
    """Why atoms ``first`` to ``last`` of a source cannot be quoted alone, or None."""
    return _check_figures(atoms, first, last) or _check_words(atoms, first, last) or _check_negation(atoms, first, last)


def _check_figures(atoms: Tokens, first: int, last: int) -> Objection | None:
    seen: set[Figure] = set()
    for edge in (first, last):
        near = find_figures(atoms, max(0, edge - REACH), min(len(atoms) - 1, edge + REACH))
        seen.update(
            figure for figure in near if figure.first < first <= figure.last or figure.first <= last < figure.last
        )
    for figure in sorted(seen, key=lambda found: found.first):
        whole = shorten(atoms.raw(figure.first, figure.last))
        kept = shorten(atoms.raw(max(figure.first, first), min(figure.last, last)))
        detail = f"the source says {whole}, the quote {kept}"
        return Objection(Reason.NUMBER_DIFFERS, detail, min(first, figure.first), max(last, figure.last))
    return None


def _check_words(atoms: Tokens, first: int, last: int) -> Objection | None:
    for left, right in ((first - 1, first), (last, last + 1)):
        if left < 0 or right >= len(atoms) or atoms.joints[right] != DASH:
            continue
        gap = atoms.text[atoms.ends[left] : atoms.starts[right]]
        if gap in {"-", "\u2010", "\u2011"} and {atoms.kinds[left], atoms.kinds[right]} <= {WORD, "n"}:
            detail = f"the quote cuts the word '{shorten(atoms.raw(left, right))}' of the source"
            return Objection(Reason.NOT_FOUND, detail, min(left, first), max(right, last))
    return None


def _check_negation(atoms: Tokens, first: int, last: int) -> Objection | None:
    left, right, word = first, last, ""
    if first and _is_adjacent_negation(atoms, first - 1, first):
        left, word = first - 1, atoms.raw(first - 1, first - 1)
    if last + 1 < len(atoms) and _is_adjacent_negation(atoms, last + 1, last + 1):
        right, word = last + 1, atoms.raw(last + 1, last + 1)
    word = word or find_adjacent_negation(atoms.text, atoms.starts[first], atoms.ends[last])
    if not word:
        return None
    detail = f"the quote leaves out '{word.strip()}', which stands right beside it in the source"
    return Objection(Reason.NEGATION_DIFFERS, detail, left, right)


def _is_adjacent_negation(atoms: Tokens, atom: int, right: int) -> bool:
    """Whether ``atom`` is a negation with nothing but a space between it and the quote.

    ``right`` is the atom behind that space. A new line that begins with a capital is taken for another sentence.
    """
    fold, start = atoms.folds[atom], atoms.starts[right]
    new_line = "\n" in atoms.text[atoms.ends[right - 1] : start] and atoms.text[start].isupper()
    beside = atoms.joints[right] == SPACE and atoms.kinds[atom] == WORD and not new_line
    return beside and is_negation(fold) and fold not in _NEGATING_VERBS
