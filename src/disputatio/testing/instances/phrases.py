"""Made-up English about decisions and evidence, to fill the strings of an answer.

The sentences are plain assertions: no hedging words, no argument ids, nothing that a debate's own rules
would strike out. They mean little and are meant to be read only enough to see that a page looks right.
Lengths count Unicode code points, as JSON Schema does; everything here is ASCII.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from hashlib import blake2b
from typing import Final

from disputatio.motion.text import NOUNS, VERBS


class Kind(StrEnum):
    """What sort of text suits a property."""

    STATEMENT = "statement"
    QUESTION = "question"
    EVIDENCE = "evidence"
    REASON = "reason"
    ADVICE = "advice"
    NAME = "name"
    SLUG = "slug"


_KIND_BY_WORD: Final = (
    ("question", Kind.QUESTION),
    ("evidence", Kind.EVIDENCE),
    ("quote", Kind.EVIDENCE),
    ("source", Kind.EVIDENCE),
    ("fact", Kind.EVIDENCE),
    ("reason", Kind.REASON),
    ("rationale", Kind.REASON),
    ("explanation", Kind.REASON),
    ("recommend", Kind.ADVICE),
    ("advice", Kind.ADVICE),
    ("direction", Kind.ADVICE),
    ("title", Kind.NAME),
    ("name", Kind.NAME),
    ("label", Kind.NAME),
    ("topic", Kind.NAME),
)

_OBJECTS: Final = (
    "running costs",
    "staff turnover",
    "the error rate",
    "delivery times",
    "customer trust",
    "legal exposure",
    "the repair backlog",
    "energy use",
    "the rate of failure",
    "unplanned downtime",
    "the daily workload",
    "waiting times",
    "the number of complaints",
    "the cost of delay",
    "the need for overtime",
    "storage fees",
    "travel time",
)
_QUALIFIERS: Final = (
    "within a year",
    "in every region",
    "for small teams",
    "during peak months",
    "at no extra cost",
    "in nine of ten cases",
    "before the deadline",
    "under the present rules",
    "for most users",
    "after the first month",
    "in both districts",
)
# Joined beforehand: a sentence then costs two look-ups, which large property tests feel.
_ACTORS: Final = tuple(f"{noun} {verb}" for noun in NOUNS for verb in VERBS)
_EFFECTS: Final = tuple(f"{thing} {when}" for thing in _OBJECTS for when in _QUALIFIERS)
_QUESTIONS: Final = (
    "Which figures show that the",
    "How was it measured that the",
    "Who checked that the",
    "What changes if the",
    "Why is there no record that the",
)
_STUDIES: Final = tuple(
    study.format(year=year)
    for year in range(1998, 2022)
    for study in ("A {year} study of", "In {year}, a survey of", "The {year} records of")
)
_FINDINGS: Final = ("sites found that the", "households showed that the", "offices confirm that the")
_ORDERS: Final = (
    "Publish every month how far the",
    "Adopt the plan, since the",
    "Keep the old rule until the",
)
_WORDS: Final = tuple(sorted({word for noun in NOUNS for word in noun.split()}))
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_SENTENCE_ROOM: Final = 12
"""Below this many characters there is no room for a sentence: a word, or a piece of one, has to do."""


def kind_for(property_name: str) -> Kind:
    """The kind of text that suits a property of this name; a statement where the name says nothing."""
    name = property_name.lower()
    for word, kind in _KIND_BY_WORD:
        if word in name:
            return kind
    return Kind.SLUG if name == "id" or name.endswith(("_id", "_ids")) else Kind.STATEMENT


def _clause(seed: int) -> str:
    return f"{_ACTORS[seed % len(_ACTORS)]} {_EFFECTS[(seed >> 16) % len(_EFFECTS)]}"


def _statement(seed: int) -> str:
    return f"The {_clause(seed)}."


def _question(seed: int) -> str:
    return f"{_QUESTIONS[(seed >> 40) % len(_QUESTIONS)]} {_clause(seed)}?"


def _evidence(seed: int) -> str:
    high = seed >> 32
    study, finding = _STUDIES[high % len(_STUDIES)], _FINDINGS[high % len(_FINDINGS)]
    return f"{study} {20 + high % 977} {finding} {_clause(seed)}."


def _reason(seed: int) -> str:
    return f"Because the {_clause(seed)}, the {_clause(seed >> 24)}."


def _advice(seed: int) -> str:
    return f"{_ORDERS[(seed >> 40) % len(_ORDERS)]} {_clause(seed)}."


def _name(seed: int) -> str:
    seed, noun = divmod(seed, len(NOUNS))
    return f"{NOUNS[noun]} {1 + seed % 997}".capitalize()


def _slug(seed: int) -> str:
    return _name(seed).lower().replace(" ", "-")


_WRITERS: Final[dict[Kind, Callable[[int], str]]] = {
    Kind.STATEMENT: _statement,
    Kind.QUESTION: _question,
    Kind.EVIDENCE: _evidence,
    Kind.REASON: _reason,
    Kind.ADVICE: _advice,
    Kind.NAME: _name,
    Kind.SLUG: _slug,
}


def phrase(kind: Kind, seed: int, low: int = 0, high: int | None = None) -> str:
    """A text of ``kind`` with ``low`` to ``high`` characters; one sentence where the bounds allow it.

    Never empty unless ``high`` is 0. A question ends in ``?`` whenever there is room for two characters.
    """
    if high is not None and high < _SENTENCE_ROOM:
        return _tiny(kind, seed, low, high)
    text = _WRITERS[kind](seed)
    if len(text) < low:
        text = _longer(kind, seed, text, low)
    if high is not None and len(text) > high:
        text = _shorter(kind, text, low, high)
    return text


def prose(seed: int, sentences: int = 4) -> str:
    """A paragraph of plain statements."""
    texts: list[str] = []
    for _ in range(sentences):
        seed = mix(seed)
        texts.append(_statement(seed))
    return " ".join(texts)


def _longer(kind: Kind, seed: int, text: str, low: int) -> str:
    pieces = [text]
    length = len(text)
    join = "-" if kind is Kind.SLUG else " "
    while length < low:
        seed = mix(seed)
        pieces.append(_WRITERS[kind](seed))
        length += 1 + len(pieces[-1])
    return join.join(pieces)


def _shorter(kind: Kind, text: str, low: int, high: int) -> str:
    """Cut at a word where the bounds leave one, and close the sentence again."""
    end = {Kind.QUESTION: "?", Kind.NAME: "", Kind.SLUG: ""}.get(kind, ".")
    room = high - len(end)
    cut = text[:room]
    if not text[room].isspace() and (space := cut.rfind(" ")) > 0 and space + len(end) >= low:
        cut = cut[:space]
    cut = cut.rstrip(" .,?-")
    return cut + "x" * (low - len(end) - len(cut)) + end


def _tiny(kind: Kind, seed: int, low: int, high: int) -> str:
    """A word, or a few letters where even that does not fit."""
    end = "?" if kind is Kind.QUESTION and high > 1 else ""
    room = high - len(end)
    fitting = [word for word in _WORDS if len(word) <= room]
    seed, pick = divmod(seed, len(fitting) + 1)
    text = fitting[pick] if pick < len(fitting) else ""
    wanted = low - len(end) if text else room
    while len(text) < wanted:
        seed, letter = divmod(seed, len(_LETTERS))
        text += _LETTERS[letter]
    return text + end


SEED_BITS: Final = 64
_MASK: Final = (1 << SEED_BITS) - 1


def seed_from(text: str) -> int:
    """The seed derived from ``text``: 0 to 2**64 - 1."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def mix(seed: int) -> int:
    """Another seed, far from ``seed``: the finaliser of SplitMix64 (Steele, Lea and Flood, 2014)."""
    seed = (seed + 0x9E3779B97F4A7C15) & _MASK
    seed = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    seed = ((seed ^ (seed >> 27)) * 0x94D049BB133111EB) & _MASK
    return seed ^ (seed >> 31)


def fraction(seed: int) -> float:
    """A number in [0, 1) derived from ``seed``."""
    return (seed >> 11) / (1 << 53)
