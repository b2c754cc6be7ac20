"""Cuts a text into words, numbers and signs, and folds away what does not change its sense.

Folded away: the case of letters, kinds of quotation marks and dashes, compatibility forms of characters (NFKC),
spaces beside punctuation, and a hyphen at the end of a line, which may belong to the word or not.

Not folded, because the sense hangs on it: a sign before a number (``-5`` is not ``5``), a space inside a number or
between words (``no where`` is not ``nowhere``), a hyphen inside a line (``re-sign`` is not ``resign``), primes after
a number (``5'`` is not ``5"``), superscripts and vulgar fractions (``10²`` is not ``102``, ``2½`` is not ``21/2``).

Letters of scripts written without spaces (Han, Kana, Thai, Lao, Khmer, Myanmar, Tibetan) are words of their own.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import groupby

from disputatio.evidence.passages import find_sentence_starts

WORD, LETTER, NUMBER, SIGN, POINT = "wlnsp"
"""Kinds of atoms: a word, a letter of a script without spaces, a number, a sign that carries sense, punctuation."""

GLUED, SPACE, DASH, BROKEN = "", " ", "-", "~"
"""What stands between two atoms. ``BROKEN`` is a hyphen at a line's end, inside what may be one word."""

DASHES = "\\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
MINUS = "\u2212"
_DOUBLE_QUOTES = frozenset('"\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u300c\u300d\u300e\u300f')
_SINGLE_QUOTES = frozenset("'\u2018\u2019\u201a\u201b\u2039\u203a\u2032`\u00b4")
_HARD_POINTS = frozenset("%\u2030\u2031#&@*/\\\u00a7\u066a\uff05")
_SOFT_SIGNS = frozenset("|`\u00b4\u00a8\u00a9\u00ae\u2122\u00a6")
_SPACELESS = (
    "\u0e01-\u0e30\u0e32-\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2-\u0eb3\u0ebd-\u0ec6\u0f40-\u0f6c"
    "\u1000-\u102a\u103f\u1050-\u1055\u1780-\u17b3\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_SUBSCRIPTS = {chr(0x2080 + digit): str(digit) for digit in range(10)}


_BLOCKS = (
    (0xA0, 0x3400),
    (0xA600, 0xAC00),
    (0xD7B0, 0xD800),
    (0xF900, 0x12000),
    (0x16A00, 0x17000),
    (0x1B000, 0x1F200),
)
"""The parts of Unicode that are searched for marks and figures: what is left out holds Han and Hangul alone."""


def _character_ranges(categories: tuple[str, ...]) -> str:
    """The characters of Unicode ``categories`` as the inside of a character class."""
    codes = (
        code for first, end in _BLOCKS for code in range(first, end) if unicodedata.category(chr(code)) in categories
    )
    runs = (list(run) for _, run in groupby(enumerate(codes), lambda pair: pair[1] - pair[0]))
    return "".join(f"\\U{run[0][1]:08x}-\\U{run[-1][1]:08x}" for run in runs)


@cache
def token_pattern() -> re.Pattern[str]:
    """The pattern of one atom; made at first use, because it looks through all of Unicode."""
    marks = _character_ranges(("Mn", "Mc", "Me"))
    figures = _character_ranges(("No",))
    letter = rf"[^\W\d_{_SPACELESS}{figures}]"
    return re.compile(
        rf"""(?P<n>(?:(?<![\w)\]}}.,])\.)?\d+(?:[.,٫٬]\d+|['’]\d{{3}}(?!\d))*)
        |(?P<w>{letter}(?:[^\W_{_SPACELESS}{figures}]|[{marks}\u200c\u200d]|['’](?={letter}))*)
        |(?P<l>[{_SPACELESS}][{marks}]*)
        |(?P<e>…|\.(?:[\x20\xa0]?\.){{2,}})
        |(?P<m>(?:(?<![\w)\]}}%'"’”.])|(?<=[\s(\[]['"])|(?<=\A['"]))[{DASHES}+±](?=[.$€£¥₹]?\d))
        |(?P<f>[{figures}]+)
        |(?P<p>[^\s{DASHES}])""",
        re.VERBOSE,
    )


@lru_cache(65_536)
def fold_word(word: str) -> str:
    """``word`` without case and compatibility forms; safe to repeat."""
    if word.isascii():
        return word.lower()
    word = word.replace("\u2019", "'")
    for _ in range(3):
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
        if folded == word or not _is_one_word(folded):
            break
        word = folded
    return word


def _is_one_word(text: str) -> bool:
    """Whether a folded form is still one word: those of some ligatures are whole phrases."""
    return all(char.isalnum() or char in "'°\u200c\u200d" or unicodedata.combining(char) for char in text)


@lru_cache(4_096)
def _fold_number(text: str) -> str:
    digits = (str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
    folded = "".join(digits).replace("\u066b", ".").replace("\u066c", ",").replace("\u2019", "'")
    return f"0{folded}" if folded[0] == "." else folded


@lru_cache(4_096)
def _fold_figures(text: str) -> str:
    if text in _SUBSCRIPTS or all(char in _SUBSCRIPTS for char in text):
        return "".join(_SUBSCRIPTS[char] for char in text)
    if all(unicodedata.decomposition(char).startswith("<super>") for char in text):
        return "^" + unicodedata.normalize("NFKC", text)
    return text


@lru_cache(4_096)
def _fold_mark(char: str, *, after_number: bool) -> tuple[str, str]:
    """The kind and the folded form of one character that is no letter, digit or dash."""
    if char in _DOUBLE_QUOTES:
        return POINT, '"'
    if char in _SINGLE_QUOTES:
        return POINT, "'" if after_number else '"'
    compatible = unicodedata.normalize("NFKC", char).casefold()
    plain = len(compatible) == 1 and not compatible.isspace() and compatible not in "'\"-"
    folded = compatible if plain or _is_one_word(compatible) else char
    category = unicodedata.category(char)
    if any(other.isdigit() for other in folded):
        folded = char
    hard = char in _HARD_POINTS or folded in _HARD_POINTS or category[0] not in "PZCM"
    return (SIGN, folded) if hard and char not in _SOFT_SIGNS else (POINT, folded)


def _fold_match(match: re.Match[str]) -> tuple[str, str]:
    text = match.group()
    kind = match.lastgroup
    if kind == "w":
        return WORD, fold_word(text)
    if kind == "n":
        return NUMBER, _fold_number(text)
    if kind == "l":
        return LETTER, fold_word(text)
    if kind == "e":
        return POINT, "…"
    if kind == "m":
        return SIGN, text if text in "+±" else MINUS
    if kind == "f":
        return SIGN, _fold_figures(text)
    before = match.string[match.start() - 1 : match.start()]
    return _fold_mark(text, after_number=before.isdigit())


def _classify_gap(gap: str) -> str:
    stripped = gap.strip()
    if stripped:
        # The break of a line behind a single hyphen: nobody can tell whether the hyphen belongs to the word.
        return BROKEN if stripped in "-\u2010" and gap[0] == stripped and "\n" in gap else DASH
    return SPACE if gap else GLUED


@dataclass(slots=True, eq=False)
class Tokens:
    """A text as atoms, in parallel lists.

    Attributes:
        text: the text itself.
        kinds: one letter an atom.
        starts: offset of each atom in ``text``.
        ends: offset of the end of each atom.
        folds: the folded form of each atom.
        joints: what stands before each atom.
        places: offset of each atom in ``squeezed``.
        squeezed: all folded forms in a row, with no spaces and no dashes.
        broken: offsets in ``squeezed`` of line ends inside words.
    """

    text: str
    kinds: str
    starts: list[int]
    ends: list[int]
    folds: list[str]
    joints: list[str]
    places: list[int]
    squeezed: str
    broken: frozenset[int]

    @classmethod
    def of(cls, text: str) -> Tokens:
        """The atoms of ``text``."""
        kinds: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        folds: list[str] = []
        joints: list[str] = []
        places: list[int] = []
        broken: set[int] = set()
        place = previous_end = 0
        for match in token_pattern().finditer(text):
            start, end = match.span()
            kind, fold = _fold_match(match)
            gap = text[previous_end:start]
            joint = _classify_gap(gap) if gap else GLUED
            previous_end = end
            if joint == BROKEN:
                if kinds and kinds[-1] == kind == WORD:
                    broken.add(place)
                    ends[-1] = end
                    folds[-1] += fold
                    place += len(fold)
                    continue
                joint = DASH
            kinds.append(kind)
            starts.append(start)
            ends.append(end)
            folds.append(fold)
            joints.append(joint)
            places.append(place)
            place += len(fold)
        return cls(text, "".join(kinds), starts, ends, folds, joints, places, "".join(folds), frozenset(broken))

    def __len__(self) -> int:
        return len(self.folds)

    def at(self, start: int, end: int) -> tuple[int, int] | None:
        """The first and last atom from offset ``start`` to ``end``; None where one is cut or none is there."""
        first = bisect_left(self.starts, start)
        last = bisect_right(self.ends, end) - 1
        if first > last or (first and self.ends[first - 1] > start):
            return None
        if last + 1 < len(self) and self.starts[last + 1] < end:
            return None
        return first, last

    def raw(self, first: int, last: int) -> str:
        """The words of the text from atom ``first`` to atom ``last``."""
        return self.text[self.starts[first] : self.ends[last]]

    def place_end(self, atom: int) -> int:
        """Offset in ``squeezed`` of the end of ``atom``."""
        return self.places[atom] + len(self.folds[atom])

    def bounds(self, first: int, last: int) -> dict[int, str]:
        """Where atoms ``first`` to ``last`` meet, as offsets from the first in ``squeezed``, and what stands there."""
        base, end = self.places[first], self.place_end(last)
        found = {self.places[atom] - base: self.joints[atom] for atom in range(first + 1, last + 1)}
        if self.broken:
            found |= {place - base: BROKEN for place in self.broken if base < place < end}
        return found


def normalise(text: str) -> str:
    """``text`` in the form in which quotes are compared; safe to repeat. It is not meant for readers."""
    # Folded forms of some compatibility characters join with their neighbours: a second reading joins them.
    for _ in range(8):
        normal = "".join(_normalised_pieces(Tokens.of(text)))
        if normal == text:
            break
        text = normal
    return text


def _normalised_pieces(atoms: Tokens) -> Iterator[str]:
    before = ""
    for atom, fold in enumerate(atoms.folds):
        joint = atoms.joints[atom]
        if before and joint == DASH:
            yield "-"
        elif before and (joint == SPACE and not is_space_optional(before[-1], fold[0])):
            yield " "
        elif before and atoms.kinds[atom] == SIGN and fold[0] in "+±\u2212":
            yield " "  # glued to what stands before it, it would read as a dash
        yield fold
        before = fold


def is_space_optional(before: str, after: str) -> bool:
    """Whether a space between two characters may be there or not without a change of sense."""
    wordy = before.isalnum(), after.isalnum()
    if all(wordy):
        return (before.isdigit() and after.isalpha()) or _is_spaceless(before) or _is_spaceless(after)
    if before.isdigit() or after.isdigit():
        other = after if before.isdigit() else before
        return other in "%\u2030\u00b0!?;\"'()[]{}\u3001\u3002" or unicodedata.category(other) == "Sc"
    return True


@lru_cache(4_096)
def _is_spaceless(char: str) -> bool:
    return re.match(f"[{_SPACELESS}]", char) is not None


_BREAK = "\x00"


class TextIndex:
    """``text`` with its atoms, its words without punctuation, and where each word stands.

    A number of a word counts words and signs alone; a number of an atom counts punctuation too.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.atoms = Tokens.of(text)
        self.words = [atom for atom, kind in enumerate(self.atoms.kinds) if kind != POINT]
        self.folds = [self.atoms.folds[atom] for atom in self.words]

    @cached_property
    def _stream(self) -> tuple[str, list[int]]:
        starts, place = [], 0
        for fold in self.folds:
            starts.append(place)
            place += len(fold) + 1
        return _BREAK + _BREAK.join(self.folds) + _BREAK, starts

    @cached_property
    def lower_case_words(self) -> frozenset[str]:
        """The folded words that stand somewhere in the text with a small first letter."""
        atoms = self.atoms
        return frozenset(
            atoms.folds[atom]
            for atom in self.words
            if atoms.kinds[atom] == WORD and self.text[atoms.starts[atom]].islower()
        )

    @cached_property
    def sentences(self) -> list[int]:
        """Offsets at which sentences begin."""
        return find_sentence_starts(self.text)

    @cached_property
    def _positions(self) -> dict[str, list[int]]:
        positions: dict[str, list[int]] = {}
        for word in range(len(self.words)):
            positions.setdefault(self.key(word), []).append(word)
        return positions

    def key(self, word: int) -> str:
        """What ``word`` is looked up by: itself, or with the next letter in a script without spaces."""
        if self.atoms.kinds[self.words[word]] == LETTER and word + 1 < len(self.folds):
            return self.folds[word] + self.folds[word + 1]
        return self.folds[word]

    def positions(self, key: str) -> list[int]:
        """The words that are looked up by ``key``, ascending."""
        return self._positions.get(key, [])

    def runs(self, folds: list[str], most: int) -> Iterator[int]:
        """The words at which the words ``folds`` stand in a row, at most ``most`` of them."""
        stream, starts = self._stream
        needle = _BREAK + _BREAK.join(folds) + _BREAK
        place = stream.find(needle)
        while place >= 0 and most > 0:
            yield bisect_left(starts, place)
            most -= 1
            place = stream.find(needle, place + 1)

    def sentence_of(self, offset: int) -> tuple[int, int]:
        """Offsets of the sentence that holds ``offset``."""
        place = bisect_right(self.sentences, offset)
        start = self.sentences[place - 1] if place else 0
        return start, self.sentences[place] if place < len(self.sentences) else len(self.text)
