"""The possible results of a citation check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Whether the source says what the citation claims."""

    VERIFIED = "verified"
    REPAIRED = "repaired"
    UNVERIFIED = "unverified"


class Match(StrEnum):
    """How a citation was found: to the letter, after normalisation, near enough for a repair, or not at all."""

    EXACT = "exact"
    NORMALISED = "normalised"
    NEAR = "near"
    NONE = "none"


class Reason(StrEnum):
    """Why a citation is not verified: ``NONE`` if it is, ``WORDING`` if it was repaired."""

    NONE = ""
    WORDING = "wording differs"
    EMPTY = "nothing is quoted"
    NO_SUCH_SOURCE = "no such source"
    NO_SUCH_VALUE = "no such value"
    NOT_FOUND = "not found"
    NUMBER_DIFFERS = "number differs"
    NEGATION_DIFFERS = "negation differs"
    SENSE_DIFFERS = "sense differs"
    NAME_DIFFERS = "name differs"
    VALUE_DIFFERS = "value differs"


@dataclass(frozen=True, slots=True)
class Span:
    """Offsets in a source's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Where words were found, or why they were not.

    ``spans`` are the places in the source, one for each piece of the quote; for an unverified quote, the nearest place.
    ``similarity`` compares letters and is 0 to 100.
    """

    status: Status
    match: Match
    reason: Reason = Reason.NONE
    detail: str = ""
    spans: tuple[Span, ...] = ()
    similarity: float = 0.0


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a place in a source does not support a quote. ``first`` and ``last`` are the tokens of that place."""

    reason: Reason
    detail: str
    first: int
    last: int
