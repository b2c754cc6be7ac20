"""Split a text into words, numbers and signs, normalised so that only changes of sense remain.

Ignored: the case of letters, kinds of quotation marks and dashes, compatibility forms of characters (NFKC), spaces
beside punctuation, and a hyphen at the end of a line.

Kept, because the sense depends on it: a sign before a number (``-5`` is not ``5``), a space inside a number or between
words (``no where`` is not ``nowhere``), a hyphen inside a line (``re-sign`` is not ``resign``), primes after a number
(``5'`` is not ``5"``), superscripts and vulgar fractions (``10²`` is not ``102``, ``2½`` is not ``21/2``).

In scripts written without spaces (Han, Kana, Thai, Lao, Khmer, Myanmar, Tibetan) each letter is a token.
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
"""Kinds of tokens: a word, a letter of a script without spaces, a number, a sign that carries sense, punctuation."""

GLUED, SPACE, DASH, BROKEN = "", " ", "-", "~"
"""What separates two tokens. ``BROKEN`` is a hyphen at a line's end, which may be inside one word."""

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
"""The parts of Unicode searched for marks and figures. The rest is Han and Hangul."""


def _character_ranges(categories: tuple[str, ...]) -> str:
    """Return the characters of Unicode ``categories`` as the inside of a character class."""
    codes = (
        code for first, end in _BLOCKS for code in range(first, end) if unicodedata.category(chr(code)) in categories
    )
    runs = (list(run) for _, run in groupby(enumerate(codes), lambda pair: pair[1] - pair[0]))
    return "".join(f"\\U{run[0][1]:08x}-\\U{run[-1][1]:08x}" for run in runs)


@cache
def token_pattern() -> re.Pattern[str]:
    """The pattern of one token; built at first use, because it scans all of Unicode."""
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
    """Fold case and compatibility forms; idempotent."""
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
    """Whether a folded form is still one word: some ligatures fold to whole phrases."""
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
    """Return the kind and folded form of a character that is not a letter, digit or dash."""
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
        # After a single hyphen at a line's end, the hyphen may or may not belong to the word.
        return BROKEN if stripped in "-\u2010" and gap[0] == stripped and "\n" in gap else DASH
    return SPACE if gap else GLUED


@dataclass(slots=True, eq=False)
class Tokens:
    """A text as tokens, in parallel lists.

    Attributes:
        text: the text itself.
        kinds: one letter a token.
        starts: offset of each token in ``text``.
        ends: offset of the end of each token.
        folds: the folded form of each token.
        joints: what separates each token from the one before.
        places: offset of each token in ``squeezed``.
        squeezed: all folded forms, concatenated without spaces and dashes.
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
        """Tokenize ``text``."""
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
        """Return the first and last token between two offsets; None if one is cut or there is none."""
        first = bisect_left(self.starts, start)
        last = bisect_right(self.ends, end) - 1
        if first > last or (first and self.ends[first - 1] > start):
            return None
        if last + 1 < len(self) and self.starts[last + 1] < end:
            return None
        return first, last

    def raw(self, first: int, last: int) -> str:
        """Return the original text from token ``first`` to token ``last``."""
        return self.text[self.starts[first] : self.ends[last]]

    def place_end(self, token: int) -> int:
        """Return the end of ``token`` in ``squeezed``."""
        return self.places[token] + len(self.folds[token])

    def bounds(self, first: int, last: int) -> dict[int, str]:
        """Map the boundaries between tokens, as offsets in ``squeezed`` from the first, to their separators."""
        base, end = self.places[first], self.place_end(last)
        found = {self.places[token] - base: self.joints[token] for token in range(first + 1, last + 1)}
        if self.broken:
            found |= {place - base: BROKEN for place in self.broken if base < place < end}
        return found


def normalise(text: str) -> str:
    """Normalise ``text`` for comparing quotes, not for readers; idempotent."""
    # Some folded compatibility characters join with their neighbours in a second pass.
    for _ in range(8):
        normal = "".join(_normalised_pieces(Tokens.of(text)))
        if normal == text:
            break
        text = normal
    return text


def _normalised_pieces(tokens: Tokens) -> Iterator[str]:
    before = ""
    for token, fold in enumerate(tokens.folds):
        joint = tokens.joints[token]
        if before and joint == DASH:
            yield "-"
        elif before and (joint == SPACE and not is_space_optional(before[-1], fold[0])):
            yield " "
        elif before and tokens.kinds[token] == SIGN and fold[0] in "+±\u2212":
            yield " "  # glued to what stands before it, it would read as a dash
        yield fold
        before = fold


def is_space_optional(before: str, after: str) -> bool:
    """Whether adding or removing a space between two characters keeps the sense."""
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
    """``text`` with its tokens, its words without punctuation, and the positions of each word.

    Word numbers count words and signs; token numbers also count punctuation.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = Tokens.of(text)
        self.words = [token for token, kind in enumerate(self.tokens.kinds) if kind != POINT]
        self.folds = [self.tokens.folds[token] for token in self.words]

    @cached_property
    def _stream(self) -> tuple[str, list[int]]:
        starts, place = [], 0
        for fold in self.folds:
            starts.append(place)
            place += len(fold) + 1
        return _BREAK + _BREAK.join(self.folds) + _BREAK, starts

    @cached_property
    def lower_case_words(self) -> frozenset[str]:
        """The folded words that somewhere begin with a small letter."""
        tokens = self.tokens
        return frozenset(
            tokens.folds[token]
            for token in self.words
            if tokens.kinds[token] == WORD and self.text[tokens.starts[token]].islower()
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
        """Return the lookup key of ``word``: in a script without spaces, with the next letter."""
        if self.tokens.kinds[self.words[word]] == LETTER and word + 1 < len(self.folds):
            return self.folds[word] + self.folds[word + 1]
        return self.folds[word]

    def positions(self, key: str) -> list[int]:
        """Return the words with this lookup key, ascending."""
        return self._positions.get(key, [])

    def runs(self, folds: list[str], most: int) -> Iterator[int]:
        """Yield up to ``most`` words at which the sequence ``folds`` begins."""
        stream, starts = self._stream
        needle = _BREAK + _BREAK.join(folds) + _BREAK
        place = stream.find(needle)
        while place >= 0 and most > 0:
            yield bisect_left(starts, place)
            most -= 1
            place = stream.find(needle, place + 1)

    def sentence_of(self, offset: int) -> tuple[int, int]:
        """Return the offsets of the sentence that contains ``offset``."""
        place = bisect_right(self.sentences, offset)
        start = self.sentences[place - 1] if place else 0
        return start, self.sentences[place] if place < len(self.sentences) else len(self.text)
