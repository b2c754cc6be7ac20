"""What the check of a citation can come to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Whether the source says what the citation says it says."""

    VERIFIED = "verified"
    REPAIRED = "repaired"
    UNVERIFIED = "unverified"


class Match(StrEnum):
    """How a citation was found: to the letter, after normalisation, near enough to be repaired, or not at all."""

    EXACT = "exact"
    NORMALISED = "normalised"
    NEAR = "near"
    NONE = "none"


class Reason(StrEnum):
    """Why a citation is not verified. ``NONE`` where it is, ``WORDING`` where it was repaired."""

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

    ``spans`` are the places in the source, one for each piece of the quote; of an unverified quote they show what was
    near, if anything was. ``similarity`` is 0 to 100, of letters, 100 where nothing but the normalised differs.
    """

    status: Status
    match: Match
    reason: Reason = Reason.NONE
    detail: str = ""
    spans: tuple[Span, ...] = ()
    similarity: float = 0.0


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a place in a source does not bear a quote out; ``first`` and ``last`` are the atoms of that place."""

    reason: Reason
    detail: str
    first: int
    last: int
