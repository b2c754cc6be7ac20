"""When a debate pays: how many times its cost the downside of a wrong answer must be, from outcomes known later.

The review pattern starts with 50 times and asks for the number to be calibrated by what later proves right. The formula
here: a debate is worth its cost where

    share of debates that put the answer right x downside > cost of a debate

so the multiple is one over that share. Fifty means that one debate in fifty puts right what the single answer had
wrong. The share is net:

    saves     the conclusion departs from the first proposer's output, and proved right
    spoils    the conclusion departs from it, and proved wrong: the single answer would have been better
    share     (saves - spoils) / outcomes

An outcome that is mixed, or of a debate that agreed with its first proposer, counts among the outcomes and is neither.
The first proposer's output stands for the single answer; that is an assumption, since nobody asked a model alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from disputatio.judging.scoring import rounded
from disputatio.kernel import JsonObject

FEWEST = 20
"""Outcomes; the pattern's own size of a golden set. From fewer the share is too rough to decide anything by."""
USUAL_MULTIPLE = Fraction(50)


@dataclass(frozen=True, slots=True)
class Verified:
    """A debate whose result was checked later: ``verdict`` is right, wrong or mixed, and whether it kept to its first
    proposer's output."""

    verdict: str
    agrees: bool


@dataclass(frozen=True, slots=True)
class DebateMultiple:
    """The multiple, and what it rests on. ``value`` is None where there is none: ``because`` says why."""

    value: Fraction | None
    outcomes: int
    saves: int
    spoils: int
    because: str

    def as_json(self) -> JsonObject:
        """As it is printed and kept."""
        return {
            "multiple": None if self.value is None else rounded(self.value, 2),
            "outcomes": self.outcomes,
            "saves": self.saves,
            "spoils": self.spoils,
            "fewest": FEWEST,
            "because": self.because,
        }


def debate_multiple(rows: Iterable[Verified]) -> DebateMultiple:
    """The multiple from ``rows``.

    Nothing is recomputed from fewer than ``FEWEST`` outcomes, and there is no multiple where debates spoiled as many
    answers as they saved: then no downside is large enough.
    """
    known = list(rows)
    saves = sum(row.verdict == "right" and not row.agrees for row in known)
    spoils = sum(row.verdict == "wrong" and not row.agrees for row in known)
    if len(known) < FEWEST:
        many = "1 outcome" if len(known) == 1 else f"{len(known)} outcomes"
        why = f"{many} can be used, and {FEWEST} are needed: the multiple stays as it is"
        return DebateMultiple(None, len(known), saves, spoils, why)
    if saves <= spoils:
        why = f"debates put {saves} answers right and spoiled {spoils}: no downside would make up for the cost"
        return DebateMultiple(None, len(known), saves, spoils, why)
    value = Fraction(len(known), saves - spoils)
    why = f"of {len(known)} outcomes, debates put {saves} answers right and spoiled {spoils}"
    return DebateMultiple(value, len(known), saves, spoils, why)
