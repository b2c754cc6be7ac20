"""Find text that a quote nearly gives, and refuse repairs that may change the sense.

A near miss is repaired, that is, replaced by the source's own words. It is refused, with the reason, if

- a figure differs: number, sign, bound, scale, unit, month beside a number, number word, or the word after a number;
- a word of negation, direction, amount, frequency or certainty was changed, omitted or added;
- another word was changed or added, except small words, forms of one word and slips (``sense_words.is_same_word``);
- a name was changed or added;
- the repair would cut a figure, a word, or a negation right beside it;
- another place is as near but for such a difference, so the intended place is unclear.

Near means: at most one word in six is misspelt or omitted (a misspelt word counts a third), and the similarity is at
least ``MIN_SIMILARITY``. Whole clauses in another order are near, too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from rapidfuzz import fuzz

from disputatio.evidence.figures import Figure, collect_keys, find_figure, find_figures, find_first_difference
from disputatio.evidence.findings import Finding, Match, Objection, Reason, Span, Status
from disputatio.evidence.number_lexicon import find_unit
from disputatio.evidence.quotes import Wording, check_edges, measure_similarity, refuse, shorten
from disputatio.evidence.sense_words import (
    are_interchangeable,
    classify_word,
    find_sense_marks,
    is_auxiliary,
    is_same_word,
    is_similar,
    may_be_added,
    may_be_opposites,
)
from disputatio.evidence.tokens import GLUED, LETTER, NUMBER, SIGN, WORD, TextIndex, Tokens

MIN_REPAIRED_WORDS = 5
"""A shorter quote is repaired only if only punctuation differs."""

MIN_SIMILARITY = 80.0
"""Similarity of the letters, 0 to 100; see ``rapidfuzz.fuzz.ratio``."""

WORDS_FOR_ONE_CHANGE = 6
_MIN_SEARCHED_WORDS = 3
_MAX_REORDERED_WORDS = 120
_INSIDE_ADDRESSES = frozenset("./_@\\#&=:")
_CLAUSE_MARKS = frozenset(',;:.()!?\u3001\u3002\uff0c"')


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A place that is near enough. ``rest`` is the difference besides the objection."""

    span: Span
    similarity: float
    rest: float
    objection: Objection | None


def find_near(index: TextIndex, quote: str) -> Finding:
    """Find a near miss and repair or refuse it; unverified if nothing is near.

    Args:
        index: the source.
        quote: cleaned, and not in the source as it stands.
    """
    wording = Wording.of(quote)
    if wording is None or not _MIN_SEARCHED_WORDS <= len(wording.words) <= MAX_WORDS or not index.words:
        return Finding(Status.UNVERIFIED, Match.NONE, Reason.NOT_FOUND, "the source has no such words")
    comparison = _Comparison(index, wording)
    candidates, nearest = comparison.candidates()
    borne_out = sorted((c for c in candidates if c.objection is None), key=_rank_key)
    against = sorted((c for c in candidates if c.objection is not None), key=_rank_key)
    reordered = None if borne_out else comparison.reordered()
    if reordered is not None:
        return reordered
    refusal = against[0] if against else None
    if refusal is not None and refusal.objection is not None and (not borne_out or _is_nearer(refusal, borne_out[0])):
        return refuse(index, refusal.objection, wording)
    if borne_out:
        best = borne_out[0]
        return Finding(Status.REPAIRED, Match.NEAR, Reason.WORDING, "", (best.span,), best.similarity)
    return Finding(Status.UNVERIFIED, Match.NONE, Reason.NOT_FOUND, "the source has no such words", (), nearest)


def _rank_key(candidate: _Candidate) -> tuple[float, float, int]:
    return candidate.rest, -candidate.similarity, candidate.span.start


def _is_nearer(refusal: _Candidate, borne_out: _Candidate) -> bool:
    """Whether the refused place is more likely the intended one."""
    if refusal.rest == borne_out.rest:
        return borne_out.rest > 0 and refusal.similarity > borne_out.similarity
    return refusal.rest < borne_out.rest


class _Comparison:
    """One quote against one source."""

    def __init__(self, index: TextIndex, wording: Wording) -> None:
        self.index, self.tokens = index, index.tokens
        self.wording, self.quote = wording, wording.tokens
        self.words = wording.words
        self.folds = [self.quote.folds[token] for token in self.words]
        self.letters = sum(self.quote.kinds[token] == LETTER for token in self.words)
        self.length = len(self.words) - self.letters / 2
        self.figures = find_figures(self.quote, wording.first, wording.last)
        self.figure_tokens = _collect_tokens(self.figures)

    def candidates(self) -> tuple[list[_Candidate], float]:
        """Return the places that are near enough, and the similarity of the nearest other place."""
        found: list[_Candidate] = []
        nearest = 0.0
        for alignment in self._alignments():
            first, last = self.index.words[alignment.first], self.index.words[alignment.last]
            similarity = self._similarity(first, last)
            difference = sum(map(self._price, alignment.steps))
            if similarity >= MIN_SIMILARITY and self._near_enough(difference):
                objection = self._objection(alignment, first, last)
                if objection is None and difference and self.length < MIN_REPAIRED_WORDS:
                    continue
                rest = difference if objection is None else self._rest(alignment)
                span = Span(self.tokens.starts[first], self.tokens.ends[last])
                found.append(_Candidate(span, similarity, rest, objection))
            else:
                nearest = max(nearest, similarity)
        return found, nearest

    def reordered(self) -> Finding | None:
        """Find a place that has whole clauses of the quote in another order."""
        if len(self.words) > _MAX_REORDERED_WORDS:
            return None
        reach = len(self.folds)
        for start in self._starts(reach)[:2]:
            window = range(max(0, start - reach), min(len(self.index.words), start + 3 * reach))
            runs = sorted(find_runs(self.folds, self.index.folds, window, 6 if self.letters else 3) or ())
            if self._whole_clauses(runs):
                first, last = self.index.words[runs[0][0]], self.index.words[runs[-1][0] + runs[-1][1] - 1]
                objection = check_edges(self.tokens, first, last)
                if objection is not None:
                    return refuse(self.index, objection, self.wording)
                if sorted(collect_keys(find_figures(self.tokens, first, last))) != sorted(collect_keys(self.figures)):
                    continue
                similarity = round(
                    fuzz.token_sort_ratio(" ".join(self.folds), " ".join(self._span_folds(first, last))), 1
                )
                span = Span(self.tokens.starts[first], self.tokens.ends[last])
                return Finding(Status.REPAIRED, Match.NEAR, Reason.WORDING, "", (span,), similarity)
        return None

    def _whole_clauses(self, runs: list[tuple[int, int]]) -> bool:
        """Whether several runs of words, in source order, are adjacent and separated by punctuation."""
        if len(runs) < 2:
            return False
        for (source, length), (following, _) in pairwise(runs):
            if following != source + length:
                return False
            left, right = self.index.words[following - 1], self.index.words[following]
            gap = self.index.text[self.tokens.ends[left] : self.tokens.starts[right]]
            if not set(self.tokens.folds[left + 1 : right]) & _CLAUSE_MARKS and not set(gap) & {"\n", "–", "—"}:
                return False
        return True

    def _alignments(self) -> list[Alignment]:
        """Return every place worth comparing, once."""
        found = {
            (word, word + len(self.folds) - 1): Alignment(word, word + len(self.folds) - 1, ())
            for word in self.index.runs(self.folds, most=10)
        }
        reach = max(3, min(20, len(self.folds) // 5))
        for start in self._starts(reach):
            alignment = align(self.folds, self.index.folds, start, reach)
            if alignment is not None and len(alignment.steps) <= max(2, len(self.folds) // 2):
                found.setdefault((alignment.first, alignment.last), alignment)
        return list(found.values())

    def _starts(self, reach: int) -> list[int]:
        keys = [
            fold + self.folds[word + 1] if self.quote.kinds[token] == LETTER and word + 1 < len(self.words) else fold
            for word, (token, fold) in enumerate(zip(self.words, self.folds, strict=True))
        ]
        return find_starting_points([self.index.positions(key) for key in keys], reach)

    def _similarity(self, first: int, last: int) -> float:
        return measure_similarity(self.wording.folds, self._span_folds(first, last))

    def _span_folds(self, first: int, last: int) -> list[str]:
        return self.tokens.folds[first : last + 1]

    def _price(self, step: Difference) -> float:
        """Return the cost of a difference: 1 for a word, a third for a misspelt one, a half for a letter."""
        quote, source = self._pair(step)
        if (quote and source and _strip_accents(quote) == _strip_accents(source)) or self._inside_figures(step):
            return 0.1  # whether the figures are the same is seen to elsewhere
        if any(word == "not" or word.endswith("n't") for word in (quote, source)):
            return 0.25  # "do not" and "don't": that neither says "not" alone is seen to elsewhere
        if quote and source and is_similar(quote, source):
            return 1 / 3
        either = self.words[step.quote] if step.quote is not None else None
        return 0.5 if either is not None and self.quote.kinds[either] == LETTER else 1.0

    def _near_enough(self, difference: float) -> bool:
        return difference <= max(1.0, self.length / WORDS_FOR_ONE_CHANGE)

    def _pair(self, step: Difference) -> tuple[str, str]:
        quote = self.folds[step.quote] if step.quote is not None else ""
        source = self.index.folds[step.source] if step.source is not None else ""
        return quote, source

    def _rest(self, alignment: Alignment) -> float:
        """Return the difference besides figures and words with a sense class."""
        return sum(
            self._price(step)
            for step in alignment.steps
            if not any(word and (classify_word(word) or not word.isalpha()) for word in self._pair(step))
        )

    def _objection(self, alignment: Alignment, first: int, last: int) -> Objection | None:
        return (
            check_edges(self.tokens, first, last)
            or self._figures_differ(first, last)
            or self._weights_differ(first, last)
            or next(filter(None, (self._step_differs(step, first, last) for step in alignment.steps)), None)
        )

    def _figures_differ(self, first: int, last: int) -> Objection | None:
        theirs = find_figures(self.tokens, first, last)
        if "[" not in self.quote.folds:
            theirs = [figure for figure in theirs if not self._is_reference(figure)]
        difference = find_first_difference(theirs, self.figures)
        if difference is None:
            return None
        source = self.tokens.raw(difference[0].first, difference[0].last) if difference[0] else ""
        quote = self.quote.raw(difference[1].first, difference[1].last) if difference[1] else ""
        if source and quote:
            detail = f"the source says {shorten(source)}, the quote {shorten(quote)}"
        else:
            detail = _describe_difference(shorten(source), shorten(quote))
        return Objection(Reason.NUMBER_DIFFERS, detail, first, last)

    def _is_reference(self, figure: Figure) -> bool:
        """Whether a figure is a footnote mark of the source, such as ``[12]``."""
        before, after = figure.first - 1, figure.last + 1
        inside = before >= 0 and after < len(self.tokens)
        return inside and self.tokens.folds[before] == "[" and self.tokens.folds[after] == "]"

    def _weights_differ(self, first: int, last: int) -> Objection | None:
        theirs = [(fold, found) for fold in self._span_folds(first, last) if (found := classify_word(fold))]
        ours = [(fold, found) for fold in self.folds if (found := classify_word(fold))]
        matcher = SequenceMatcher(None, [found for _, found in theirs], [found for _, found in ours], autojunk=False)
        for tag, *(start, end, from_quote, quote_end) in matcher.get_opcodes():
            if tag == "equal":
                continue
            source, quote = theirs[start:end][:1], ours[from_quote:quote_end][:1]
            negates = any(found.startswith("negation") for _, found in (*source, *quote))
            reason = Reason.NEGATION_DIFFERS if negates else Reason.SENSE_DIFFERS
            detail = _describe_difference(source[0][0] if source else "", quote[0][0] if quote else "")
            return Objection(reason, detail, first, last)
        if find_sense_marks(self.tokens.raw(first, last)) != find_sense_marks(self.quote.text):
            return Objection(Reason.NEGATION_DIFFERS, "negation or direction differs from the source", first, last)
        return None

    def _step_differs(self, step: Difference, first: int, last: int) -> Objection | None:
        """Object to one changed, omitted or added word."""
        quote, source = self._pair(step)
        reason: Reason | None = None
        if self._same_figure(step) or self._inside_figures(step):
            return None
        if self._touches_sign(step) or (self._behind_figure(step) and not are_interchangeable(quote, source)):
            reason = Reason.NUMBER_DIFFERS
        elif quote and source and _strip_accents(quote) == _strip_accents(source):
            return None
        elif quote and source and may_be_opposites(quote, source):
            reason = Reason.SENSE_DIFFERS
        elif self._is_name(step) or self._in_address(step):
            reason = Reason.NAME_DIFFERS
        elif self._is_another_word(step):
            reason = Reason.SENSE_DIFFERS
        if reason is None:
            return None
        return Objection(reason, _describe_difference(source, quote), first, last)

    def _is_another_word(self, step: Difference) -> bool:
        """Whether the quote has a word here that the source does not have."""
        quote, source = self._pair(step)
        if quote.endswith("n't") and source.endswith("n't"):
            quote, source = quote[:-3], source[:-3]
        if step.quote is None or any(word == "not" or word.endswith("n't") for word in (quote, source)):
            return False  # the source has the omitted words; negation is compared as a whole
        if not source:
            neighbours = self.folds[max(0, step.quote - 1) : step.quote + 2]
            contraction = neighbours[-1] == "not" and is_auxiliary(quote)
            return not may_be_added(quote) and neighbours.count(quote) < 2 and not contraction
        return not is_same_word(quote, source, is_a_word=bool(self.index.positions(quote)))

    def _inside_figures(self, step: Difference) -> bool:
        """Whether the difference is inside figures, which are compared by value: ``12%`` and ``12 per cent``."""
        if step.quote is not None and self.words[step.quote] not in self.figure_tokens:
            return False
        if step.source is None:
            return True
        token = self.index.words[step.source]
        figure = find_figure(self.tokens, token)
        return figure is not None and not self._is_reference(figure)

    def _same_figure(self, step: Difference) -> bool:
        """Whether a number or unit is only spelled differently: ``1,000`` and ``1000``, ``%`` and ``percent``."""
        if step.quote is None or step.source is None:
            return False
        quote, source = self._pair(step)
        if find_unit(quote) is not None and find_unit(quote) == find_unit(source):
            return True
        mine, theirs = self.words[step.quote], self.index.words[step.source]
        ours = find_figures(self.quote, mine, mine)
        return bool(ours) and collect_keys(ours) == collect_keys(find_figures(self.tokens, theirs, theirs))

    def _touches_sign(self, step: Difference) -> bool:
        quote = step.quote is not None and self.quote.kinds[self.words[step.quote]] in {SIGN, NUMBER}
        source = step.source is not None and self.tokens.kinds[self.index.words[step.source]] in {SIGN, NUMBER}
        if source and step.quote is None and step.source is not None:
            # ``_figures_differ`` accepts footnote marks that the quote omits.
            token = self.index.words[step.source]
            return not self._is_reference(Figure(token, token, ()))
        return quote or source

    def _behind_figure(self, step: Difference) -> bool:
        """Whether the word right after a figure differs: ``5 days`` for ``5 weeks``."""
        quote, source = self._pair(step)
        behind = [
            tokens.folds[token - 1]
            for tokens, token in (
                (self.quote, self.words[step.quote] if step.quote is not None else 0),
                (self.tokens, self.index.words[step.source] if step.source is not None else 0),
            )
            if token
            and tokens.kinds[token] == WORD
            and any(f.last == token - 1 for f in find_figures(tokens, max(0, token - 8), token - 1))
        ]
        years = all(len(fold) == 4 and fold.isdigit() and "1000" <= fold <= "2100" for fold in behind)
        return bool(behind) and not (years and not (quote and source))

    def _is_name(self, step: Difference) -> bool:
        """Whether the quote changed or added a name.

        A word with a capital is a name if the quote also writes a capital there, or the source never writes it small.
        The first word of a sentence counts only if it is quite different.
        """
        if step.quote is None or (step.source is None and step.quote == 0):
            return False
        quote = self.words[step.quote]
        if step.source is None:
            said, tokens, token = self.quote.raw(quote, quote), self.quote, quote
            if self.quote.text.isupper():
                return False
        else:
            tokens, token = self.tokens, self.index.words[step.source]
            said = tokens.raw(token, token)
            first = self.index.sentence_of(tokens.starts[token])[0]
            if not any(char.isalnum() for char in tokens.text[first : tokens.starts[token]]):
                return said[:1].isupper() and not is_similar(tokens.folds[token], self.quote.folds[quote])
        both = step.source is not None and self.quote.raw(quote, quote)[:1].isupper()
        return said[:1].isupper() and (both or tokens.folds[token] not in self.index.lower_case_words)

    def _in_address(self, step: Difference) -> bool:
        """Whether a changed word is inside an address or path, with no space on one side."""
        if step.quote is None:
            return False
        sides = [(self.quote, self.words[step.quote])]
        sides += [(self.tokens, self.index.words[step.source])] if step.source is not None else []
        return any(_inside_address(tokens, token) for tokens, token in sides)


def _inside_address(tokens: Tokens, token: int) -> bool:
    if token and tokens.joints[token] == GLUED and tokens.folds[token - 1] in _INSIDE_ADDRESSES:
        return True
    behind = token + 2 < len(tokens) and tokens.folds[token + 1] in _INSIDE_ADDRESSES
    return behind and tokens.joints[token + 1] == tokens.joints[token + 2] == GLUED


def _collect_tokens(found: Sequence[Figure]) -> frozenset[int]:
    return frozenset(token for figure in found for token in range(figure.first, figure.last + 1))


def _describe_difference(source: str, quote: str) -> str:
    """Describe one difference; one of the words may be missing."""
    if source and quote:
        return f"the source says '{source}', the quote '{quote}'"
    return f"the quote leaves out '{source}'" if source else f"the quote puts in '{quote}'"


def _strip_accents(word: str) -> str:
    """Remove accents and the apostrophes of abbreviations."""
    decomposed = unicodedata.normalize("NFD", word)
    return "".join(char for char in decomposed if not unicodedata.combining(char) and char != "'")


MAX_WORDS = 400
"""The longest quote that is aligned, in words."""

_MIN_KEYS = 40
_COMMON = 600
_MAX_STARTS = 6
_UNREACHED = 1 << 30
_CHANGED, _GAP = 10, 9
"""The costs of a changed word, and of an omitted or added one. The second is lower, so that equal words are found
first.
"""

_BESIDE, _LEFT_OUT, _EXTRA = 0, 1, 2
"""Steps of an alignment: a pair of words; a word only in the source; a word only in the quote."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: a word of the quote against a word of the source; one may be missing."""

    quote: int | None
    source: int | None


@dataclass(frozen=True, slots=True)
class Alignment:
    """A quote aligned with words ``first`` to ``last`` of a source, with all differences in order."""

    first: int
    last: int
    steps: tuple[Difference, ...]


def find_starting_points(keyed: Sequence[Sequence[int]], reach: int) -> list[int]:
    """Return words of the source near which a quote may begin, the likeliest first.

    Args:
        keyed: for each word of the quote, its positions in the source.
        reach: the tolerance of the beginning, in words.
    """
    known = [(len(places), word) for word, places in enumerate(keyed) if places]
    rare = [word for count, word in sorted(known) if count <= _COMMON][:_MIN_KEYS]
    votes: dict[int, int] = {}
    for word in rare or [word for _, word in sorted(known)[:3]]:
        for place in {(found - word) // reach for found in keyed[word][: 4 * _COMMON]}:
            votes[place] = votes.get(place, 0) + 1
    together = {place: votes[place] + votes.get(place + 1, 0) for place in votes}
    wanted = max(2, len(rare) * 2 // 5)
    best = sorted((-count, place) for place, count in together.items() if count >= wanted)
    return [place * reach for _, place in best[:_MAX_STARTS]]


def align(quote: Sequence[str], source: Sequence[str], start: int, reach: int) -> Alignment | None:
    """Find the cheapest alignment of ``quote`` beginning within ``reach`` words of ``start``.

    Source words before and after the quote cost nothing. Extra words at an edge of the quote are paired with the source
    words there, so that they are compared.
    """
    left = max(0, start - reach)
    window = source[left : start + len(quote) + 2 * reach]
    if not window:
        return None
    width = len(window) + 1
    costs = [0] * width
    ways: list[list[int]] = []
    for word, fold in enumerate(quote, start=1):
        costs, row = _compute_row(costs, window, fold, max(0, word - reach), min(width - 1, word + 4 * reach))
        ways.append(row)
    end = min(range(width), key=lambda place: (costs[place], ways[-1][place] == _EXTRA, place))
    return _trace_back(quote, window, ways, end, left)


def _compute_row(
    above: Sequence[int], window: Sequence[str], fold: str, low: int, high: int
) -> tuple[list[int], list[int]]:
    """Compute the costs of the quote's next word against places ``low`` to ``high``, and the step to each."""
    costs, ways = [_UNREACHED] * len(above), [_EXTRA] * len(above)
    before = _UNREACHED
    for place in range(low, high + 1):
        best, way = above[place] + _GAP, _EXTRA
        if place:
            beside = above[place - 1] + (_CHANGED if window[place - 1] != fold else 0)
            if beside <= best:
                best, way = beside, _BESIDE
            if before + _GAP <= best:
                best, way = before + _GAP, _LEFT_OUT
        costs[place] = before = best
        ways[place] = way
    return costs, ways


def _trace_back(
    quote: Sequence[str], window: Sequence[str], ways: Sequence[Sequence[int]], end: int, left: int
) -> Alignment | None:
    steps: list[Difference] = []
    place, word = end, len(quote)
    while word:
        way = ways[word - 1][place]
        if way == _BESIDE:
            if window[place - 1] != quote[word - 1]:
                steps.append(Difference(word - 1, left + place - 1))
            word, place = word - 1, place - 1
        elif way == _LEFT_OUT:
            steps.append(Difference(None, left + place - 1))
            place -= 1
        else:
            steps.append(Difference(word - 1, None))
            word -= 1
    if place == end:
        return None
    return _extend_to_edges(left + place, left + end - 1, steps[::-1], len(quote), left + len(window))


def _extend_to_edges(first: int, last: int, steps: list[Difference], length: int, end: int) -> Alignment:
    """Pair extra words at the quote's edges with the source's words there."""
    head = [step for n, step in enumerate(steps) if step == Difference(n, None)]
    steps = steps[len(head) :]
    tail = [step for n, step in enumerate(reversed(steps)) if step == Difference(length - 1 - n, None)][::-1]
    steps = steps[: len(steps) - len(tail)]
    before = [
        Difference(step.quote, first - len(head) + n if first - len(head) + n >= 0 else None)
        for n, step in enumerate(head)
    ]
    after = [Difference(step.quote, last + 1 + n if last + 1 + n < end else None) for n, step in enumerate(tail)]
    return Alignment(max(0, first - len(head)), min(end - 1, last + len(tail)), (*before, *steps, *after))


def find_runs(quote: Sequence[str], source: Sequence[str], window: range, fewest: int) -> list[tuple[int, int]] | None:
    """Find the longest runs of ``source`` inside ``window`` that together make up ``quote``.

    Returns:
        The first source word and the length of each run; None if a run is shorter than ``fewest`` words.
    """
    found: list[tuple[int, int]] = []
    word = 0
    while word < len(quote):
        length, place = max(
            ((_count_equal_words(quote, source, word, start, window.stop), -start) for start in window), default=(0, 0)
        )
        if length < fewest:
            return None
        found.append((-place, length))
        word += length
    return found


def _count_equal_words(quote: Sequence[str], source: Sequence[str], word: int, place: int, end: int) -> int:
    length = 0
    while word + length < len(quote) and place + length < end and quote[word + length] == source[place + length]:
        length += 1
    return length
