"""Check words of direction in a sentence against the value that it is about.

Only the clause that states the item's number or names its series counts. A word is checked if the base can decide: the
sign of a change, a trend, a state such as above an average, or a level against a number in the clause. Words about the
future (could fall, risk of a drop) are ignored. Without evidence there is no fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from disputatio.market.claim_text import Mention, Names, StatedNumber, StatedValue, find_mentions, find_numbers
from disputatio.market.expressions import Evaluation, format_value
from disputatio.market.knowledge import Datum, Share
from disputatio.market.slices import Slice

_BREAK = re.compile(
    r",(?!\d{3})|[;:]|\s\(|\)|\u2014|\s[-\u2013]\s|(?<!\d)\.\s|\b(?:but|while|although|though|yet|whereas|and|despite|as"
    r"|because|with)\b",
    re.IGNORECASE,
)
_KINDS: dict[str, str] = {
    "above": r"above|exceed(?:s|ing|ed)?|higher than|more than",
    "below": r"below|beneath|under|lower than|less than",
    "up": r"rising|rises|rose|risen|up|increas(?:ing|es|ed)|higher|gain(?:ing|s|ed)|climb(?:ing|s|ed)"
    r"|accelerat(?:ing|es|ed)|expand(?:ing|s|ed)|grow(?:ing|s|n)|grew|advanc(?:ing|es|ed)|rall(?:ying|ies|ied)",
    "down": r"falling|falls|fell|fallen|down|decreas(?:ing|es|ed)|lower|declin(?:ing|es|ed)|drop(?:ping|s|ped)"
    r"|decelerat(?:ing|es|ed)|shrink(?:ing|s)|shrank|contract(?:ing|s|ed)|slid(?:ing|es)?|cooling|easing",
    "flat": r"flat|unchanged",
    "positive": r"positive",
    "negative": r"negative|inverted",
    "leads": r"lead(?:s|ing)?|outperform(?:s|ing|ed)?",
    "lags": r"lag(?:s|ging|ged)?|underperform(?:s|ing|ed)?|trail(?:s|ing)?",
    "bullish": r"bullish",
    "bearish": r"bearish",
    "overbought": r"overbought",
    "oversold": r"oversold",
}
_WORD = re.compile(
    r"\b(?:" + "|".join(f"(?P<{kind}>{words})" for kind, words in _KINDS.items()) + r")\b(?!-)", re.IGNORECASE
)
_OPPOSITE = {
    "up": "down",
    "down": "up",
    "above": "below",
    "below": "above",
    "positive": "negative",
    "negative": "positive",
    "leads": "lags",
    "lags": "leads",
    "bullish": "bearish",
    "bearish": "bullish",
}
_NOT = re.compile(r"(?:\b(?:not|no longer|never|without|neither|nor|hardly)|n't)(?:\s+\w+){0,2}\s*$", re.IGNORECASE)
_MAYBE = re.compile(
    r"\b(?:could|may|might|would|should|will|if|risk|risks|likely|expected|unless|until|when|once|to|near|nearing"
    r"|approach(?:es|ing)?|almost|close to|toward|towards|before)(?:\s+\w+){0,2}\s*$",
    re.IGNORECASE,
)
_FROM = re.compile(r"\s+from\b", re.IGNORECASE)
_FILLERS = re.compile(r"(?:\s*(?:the|its|a|an|at|about|roughly|neutral|level|line|of|mark|than|by|threshold)\b)*\s*")
_MOVING = re.compile(
    r"\b(?:s?ma[- ]?(20|50|200)|(20|50|200)[- ]?(?:d|day|session)s?[- ](?:simple |moving )*(?:average|ma|sma))\b",
    re.IGNORECASE,
)
_AVERAGES = re.compile(r"\b(?:(?:key|major|moving|its|all|three) )+(?:averages|mas)\b", re.IGNORECASE)

OVERBOUGHT, OVERSOLD = 70, 30
"""The bounds of the relative strength index in Wilder, New Concepts in Technical Trading Systems (1978)."""


@dataclass(frozen=True, slots=True)
class ClaimSubject:
    """The value that a sentence is about.

    Attributes:
        basis: the pointer or expression.
        found: its value.
        data: the whole base, by pointer.
        part: the slice, for names.
    """

    basis: str
    found: Evaluation
    data: Mapping[str, Datum]
    part: Slice

    @property
    def is_change(self) -> bool:
        """Whether the expression measures a difference of two values."""
        several = len(self.found.pointers) + len(self.found.own_numbers) > 1
        return several and ("-" in self.basis or "percent_change" in self.basis)

    @property
    def pointer(self) -> str:
        """The pointer, if the basis is just one."""
        return self.found.pointers[0] if self.basis.strip() == self.found.pointers[0] else ""

    @property
    def number(self) -> Fraction | None:
        """The value as a number, or None."""
        value = self.found.value
        if isinstance(value, Share):
            return Fraction(value.part, value.whole)
        return value if isinstance(value, Fraction) else None

    def label(self, pointer: str) -> str:
        """Return the word of the base at ``pointer``, or an empty text."""
        datum = self.data.get(pointer)
        return (datum.label or "") if datum is not None else ""


def check_directions(claim: str, stated: StatedValue | Share | str, about: ClaimSubject) -> str:
    """Explain why a word of direction in ``claim`` is wrong about the item; empty if none is."""
    for clause, anchor in _find_clauses_about(claim, stated, about):
        words = list(_WORD.finditer(clause))
        for word in words:
            kind = next(name for name, text in word.groupdict().items() if text)
            rivals = [other for other in words if other.lastgroup == _OPPOSITE.get(kind)]
            if any(abs(other.start() - anchor) < abs(word.start() - anchor) for other in rivals):
                continue
            if reason := _check_word(clause, word, kind, about):
                return reason
    return ""


def _check_word(clause: str, word: re.Match[str], kind: str, about: ClaimSubject) -> str:
    before, after = clause[: word.start()], clause[word.end() :]
    if _MAYBE.search(before) or (kind in {"up", "down"} and _FROM.match(after)):
        return ""
    holds = _is_true(kind, word, clause, about)
    if holds is None:
        return ""
    denied = _NOT.search(before) is not None
    if holds is not denied:
        return ""
    said = f"{'not ' if denied else ''}{word.group().lower()}"
    trend = about.label(f"{about.pointer.rpartition('.')[0]}.trend") if kind in {"up", "down", "flat"} else ""
    return f"the sentence says '{said}', the base {trend or format_value(about.found)}"


def _is_true(kind: str, word: re.Match[str], clause: str, about: ClaimSubject) -> bool | None:
    """Whether a word of ``kind`` is true of the value; None if the base cannot tell."""
    if kind in {"above", "below"}:
        side = _find_side(clause[word.end() :], clause, about)
        if side is not None:
            return side == kind
    label = about.found.value if isinstance(about.found.value, str) else ""
    if not label:
        return _is_true_of_number(kind, word, clause, about)
    if kind in {"above", "below", "bullish", "bearish"}:
        return label == kind if label in {kind, _OPPOSITE[kind]} else None
    if kind in {"up", "down", "flat"} and label in _TRENDS:
        return _TRENDS[label] == kind
    return None


_TRENDS = {"rising": "up", "increasing": "up", "falling": "down", "decreasing": "down", "flat": "flat"}
_SIGNS = {
    **dict.fromkeys(("up", "above", "positive", "leads"), 1),
    **dict.fromkeys(("down", "below", "negative", "lags"), -1),
}
_CHANGE = re.compile(r"\.(?:change(?:_\w+)?_pct|yoy_change_pct|returns\.\w+)$")


def _is_true_of_number(kind: str, word: re.Match[str], clause: str, about: ClaimSubject) -> bool | None:
    number, pointer = about.number, about.pointer
    if number is None:
        return None
    if kind in {"overbought", "oversold"}:
        if not pointer.endswith(".rsi_14"):
            return None
        return number >= OVERBOUGHT if kind == "overbought" else number <= OVERSOLD
    if pointer.startswith("macro.") and pointer.endswith("_value"):
        return _is_true_of_series(kind, word, clause, number, about)
    if kind not in _SIGNS:
        return None
    sign_tells = about.is_change or _CHANGE.search(pointer) is not None
    distance = pointer.endswith(("_52w_high_pct", "_52w_low_pct", ".relative_strength_vs_spx", ".relative_strength"))
    if distance and kind not in {"up", "down"}:
        # At the high itself, "0 per cent below" is not wrong.
        return number * _SIGNS[kind] >= 0
    if sign_tells:
        return number * _SIGNS[kind] > 0
    if pointer and kind in {"positive", "negative"}:
        return number * _SIGNS[kind] > 0
    return None


_GROWTH = frozenset({"GDP", "CPI", "CORE_CPI", "PAYEMS", "INDPRO", "EMPLOYMENT", "PRODUCTION"})
"""Series stored as growth, whose value has a sign besides its trend."""

_CURVES = frozenset({"T10Y2Y", "TERM_SPREAD"})
_OF_THE_RATE = re.compile(r"\b(?:inflation|cpi|growth|rate)\b", re.IGNORECASE)
_TO_A_LEVEL = re.compile(r"\s*(?:back )?(?:to|towards?)\b", re.IGNORECASE)
_GROWING = re.compile(r"(?:grow|grew|expand|shrink|shrank|contract)", re.IGNORECASE)


def _is_true_of_series(
    kind: str, word: re.Match[str], clause: str, number: Fraction, about: ClaimSubject
) -> bool | None:
    """Whether a word is true of a macroeconomic series' trend, or of the sign of its growth."""
    if kind in {"positive", "negative"}:
        return number * _SIGNS[kind] > 0
    key = about.pointer.split(".")[1]
    trend = about.label(f"macro.{key}.trend")
    if kind not in {"up", "down", "flat"} or trend not in _TRENDS or (kind == "flat" and key in _CURVES):
        # A flat curve is a shape, not a trend.
        return None
    in_trend = _TRENDS[trend] == kind
    if key not in _GROWTH or kind == "flat":
        return in_trend
    in_sign = number * _SIGNS[kind] > 0
    if _GROWING.match(word.group()) and not _TO_A_LEVEL.match(clause[word.end() :]):
        return in_sign
    # "Inflation falls" is about the rate; "output falls" is ambiguous.
    of_rate = _OF_THE_RATE.search(clause) or _TO_A_LEVEL.match(clause[word.end() :])
    return in_trend if of_rate else in_trend or in_sign


def _find_side(after: str, clause: str, about: ClaimSubject) -> str | None:
    """Return the side of the value relative to what the clause names, or None."""
    owner = next((pointer.split(".")[1] for pointer in about.found.pointers), "")
    statuses = f"technicals.{owner}.ma_status."
    periods = [first or second for first, second in _MOVING.findall(after)]
    if periods or _AVERAGES.search(after):
        labels = {about.label(f"{statuses}ma{period}") for period in periods or ("20", "50", "200")} - {""}
        return labels.pop() if len(labels) == 1 else ("neither" if labels else None)
    number = about.number
    if number is None:
        return None
    bound = _find_bound(after, about)
    if bound is None and "average" in clause.casefold():
        if about.pointer.endswith(".current_pe_approx"):
            average = about.data[about.pointer.replace("current_pe_approx", "long_term_avg_pe")].number
            bound = None if average is None else Fraction(average)
        elif about.pointer.endswith(".volume_ratio"):
            bound = Fraction(1)
    if bound is None:
        return None
    return "above" if number > bound else "below" if number < bound else "neither"


def _find_bound(after: str, about: ClaimSubject) -> Fraction | None:
    """Return the number that directly follows, on the value's scale."""
    filler = _FILLERS.match(after)
    place = filler.end() if filler is not None else 0
    if re.match(r"zero\b", after[place:], re.IGNORECASE):
        return Fraction(0)
    said = next((row for row in find_numbers(after) if row.start <= place + 1), None)
    if said is None:
        return None
    if isinstance(said.figure, Share):
        return Fraction(said.figure.part, said.figure.whole)
    percent_of_share = said.figure.unit == "%" and isinstance(about.found.value, Share)
    return said.figure.value / 100 if percent_of_share else said.figure.value


def _find_clauses_about(
    claim: str, stated: StatedValue | Share | str, about: ClaimSubject
) -> Iterator[tuple[str, int]]:
    """Yield the clauses about the item, each with the place where they mention it."""
    clauses = _split_clauses(claim, tuple(about.part.names.items()))
    by_number, by_name = [], []
    for clause, named in clauses:
        numbers = find_numbers(clause)
        places = [said.start for said in numbers if _states_same_number(said, stated)]
        names = [row.start for row in named if row.fits(about.found.pointers, difference=about.is_change)]
        if places:
            by_number.append((clause, places[0]))
        elif names and not numbers:
            # A clause with another number is about that number.
            by_name.append((clause, names[0]))
    found = by_number + by_name
    return iter(found or ([(claim, 0)] if len(clauses) == 1 else []))


@lru_cache(maxsize=4_096)
def _split_clauses(claim: str, names: Names) -> tuple[tuple[str, tuple[Mention, ...]], ...]:
    """Split ``claim`` into clauses with their names. A clause without a name joins the one before."""
    cuts = [0, *(found.start() for found in _BREAK.finditer(claim)), len(claim)]
    clauses: list[str] = []
    for start, end in pairwise(cuts):
        text = claim[start:end]
        if clauses and not find_mentions(text, names) and not find_numbers(text):
            clauses[-1] += text
        elif text.strip():
            clauses.append(text)
    return tuple((clause, find_mentions(clause, names)) for clause in clauses)


def _states_same_number(said: StatedNumber, stated: StatedValue | Share | str) -> bool:
    if isinstance(stated, StatedValue) and isinstance(said.figure, StatedValue):
        return abs(said.figure.value) == abs(stated.value)
    return said.figure == stated
