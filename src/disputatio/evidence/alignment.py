"""Lays the words of a quote along the words of a source and says where the two part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_WORDS = 400
"""The longest quote, in words, that is aligned."""

_FEWEST_KEYS = 40
_COMMON = 600
_MOST_STARTS = 6
_UNREACHED = 1 << 30
_CHANGED, _GAP = 10, 9
"""The costs of a changed word, and of one left out or put in: a little less, so that equal words are found first."""

_BESIDE, _LEFT_OUT, _EXTRA = 0, 1, 2
"""Words beside each other; a word of the source that the quote leaves out; a word that only the quote has."""


@dataclass(frozen=True, slots=True)
class Step:
    """One difference: word ``quote`` of the quote against word ``source`` of the source; one of them may be missing."""

    quote: int | None
    source: int | None


@dataclass(frozen=True, slots=True)
class Alignment:
    """A quote along words ``first`` to ``last`` of a source, with every difference between them, in order."""

    first: int
    last: int
    steps: tuple[Step, ...]


def starting_points(keyed: Sequence[Sequence[int]], reach: int) -> list[int]:
    """Words of the source near which a quote may begin, the likeliest first.

    Args:
        keyed: for each word of the quote, where the source has it.
        reach: how many words the beginning may be off.
    """
    known = [(len(places), word) for word, places in enumerate(keyed) if places]
    rare = [word for count, word in sorted(known) if count <= _COMMON][:_FEWEST_KEYS]
    votes: dict[int, int] = {}
    for word in rare or [word for _, word in sorted(known)[:3]]:
        for place in {(found - word) // reach for found in keyed[word][: 4 * _COMMON]}:
            votes[place] = votes.get(place, 0) + 1
    together = {place: votes[place] + votes.get(place + 1, 0) for place in votes}
    wanted = max(2, len(rare) * 2 // 5)
    best = sorted((-count, place) for place, count in together.items() if count >= wanted)
    return [place * reach for _, place in best[:_MOST_STARTS]]


def align(quote: Sequence[str], source: Sequence[str], start: int, reach: int) -> Alignment | None:
    """The cheapest way to lay ``quote`` along ``source`` beginning within ``reach`` words of ``start``.

    Words of the source before and behind the quote cost nothing. A word that the quote alone has at its beginning or
    end is set against the source's word there, so that what it may stand for is a part of what is compared.
    """
    left = max(0, start - reach)
    window = source[left : start + len(quote) + 2 * reach]
    if not window:
        return None
    width = len(window) + 1
    costs = [0] * width
    ways: list[list[int]] = []
    for word, fold in enumerate(quote, start=1):
        costs, row = _next_row(costs, window, fold, max(0, word - reach), min(width - 1, word + 4 * reach))
        ways.append(row)
    end = min(range(width), key=lambda place: (costs[place], ways[-1][place] == _EXTRA, place))
    return _traced(quote, window, ways, end, left)


def _next_row(
    above: Sequence[int], window: Sequence[str], fold: str, low: int, high: int
) -> tuple[list[int], list[int]]:
    """The costs of the next word of the quote against every place from ``low`` to ``high``, and how each came about."""
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


def _traced(
    quote: Sequence[str], window: Sequence[str], ways: Sequence[Sequence[int]], end: int, left: int
) -> Alignment | None:
    steps: list[Step] = []
    place, word = end, len(quote)
    while word:
        way = ways[word - 1][place]
        if way == _BESIDE:
            if window[place - 1] != quote[word - 1]:
                steps.append(Step(word - 1, left + place - 1))
            word, place = word - 1, place - 1
        elif way == _LEFT_OUT:
            steps.append(Step(None, left + place - 1))
            place -= 1
        else:
            steps.append(Step(word - 1, None))
            word -= 1
    if place == end:
        return None
    return _to_the_edges(left + place, left + end - 1, steps[::-1], len(quote), left + len(window))


def _to_the_edges(first: int, last: int, steps: list[Step], length: int, end: int) -> Alignment:
    """Sets words that the quote alone has at its edges against the source's words there: they may stand for them."""
    head = [step for n, step in enumerate(steps) if step == Step(n, None)]
    steps = steps[len(head) :]
    tail = [step for n, step in enumerate(reversed(steps)) if step == Step(length - 1 - n, None)][::-1]
    steps = steps[: len(steps) - len(tail)]
    before = [
        Step(step.quote, first - len(head) + n if first - len(head) + n >= 0 else None) for n, step in enumerate(head)
    ]
    after = [Step(step.quote, last + 1 + n if last + 1 + n < end else None) for n, step in enumerate(tail)]
    return Alignment(max(0, first - len(head)), min(end - 1, last + len(tail)), (*before, *steps, *after))


def tiles(quote: Sequence[str], source: Sequence[str], window: range, fewest: int) -> list[tuple[int, int]] | None:
    """The longest runs of ``source`` inside ``window`` that make up ``quote`` one behind the other.

    Returns:
        The first word of each run in the source, and its length; None where a run is shorter than ``fewest`` words.
    """
    found: list[tuple[int, int]] = []
    word = 0
    while word < len(quote):
        length, place = max(
            ((_run(quote, source, word, start, window.stop), -start) for start in window), default=(0, 0)
        )
        if length < fewest:
            return None
        found.append((-place, length))
        word += length
    return found


def _run(quote: Sequence[str], source: Sequence[str], word: int, place: int, end: int) -> int:
    """How many words of ``quote`` from ``word`` on stand in ``source`` from ``place`` on."""
    length = 0
    while word + length < len(quote) and place + length < end and quote[word + length] == source[place + length]:
        length += 1
    return length
