"""How far estimates were off, by what debates of the same kind in the store took.

A preview cannot know how much a model writes, nor how often its answers are turned down: both are habits of a model.
Debates that were held with the same models know. What they took over what was estimated for them corrects the next
estimate, and how far they lie apart is the error that has to be expected of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from disputatio.kernel import JsonObject
from disputatio.metrics.collecting import Selection, measured
from disputatio.metrics.measures import Measures
from disputatio.record.store import Store

FEWEST = 3
"""Debates; fewer correct nothing."""
MOST_READ = 100
"""The newest debates that are looked at, so that a preview stays quick beside a large store."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What debates of one kind took for one token that was estimated.

    Attributes:
        factor: all tokens taken over all tokens estimated.
        least, most: the smallest and the largest of single debates.
        debates: how many it rests on.
    """

    factor: float
    least: float
    most: float
    debates: int

    def tokens(self, estimated: int) -> int:
        """The corrected estimate."""
        return round(estimated * self.factor)

    def sentence(self, estimated: int) -> str:
        """What to expect, and how far it may be off."""
        return (
            f"The last {self.debates} debates like this in the store took {self.factor:.2f} times their estimate "
            f"({self.least:.2f} to {self.most:.2f}): expect about {self.tokens(estimated):,} tokens, "
            f"between {round(estimated * self.least):,} and {round(estimated * self.most):,}."
        )

    def as_json(self, estimated: int) -> JsonObject:
        """The corrected estimate and what it rests on."""
        return {
            "factor": round(self.factor, 4),
            "least": round(self.least, 4),
            "most": round(self.most, 4),
            "debates": self.debates,
            "tokens": self.tokens(estimated),
        }


def calibration_of(rows: Iterable[Measures]) -> Calibration | None:
    """The calibration that ``rows`` give; None where fewer than ``FEWEST`` can be compared."""
    pairs = [(row.tokens, row.estimated_tokens) for row in rows if row.ended and row.tokens and row.estimated_tokens]
    if len(pairs) < FEWEST:
        return None
    ratios = [taken / expected for taken, expected in pairs]
    factor = sum(taken for taken, _ in pairs) / sum(expected for _, expected in pairs)
    return Calibration(factor, min(ratios), max(ratios), len(pairs))


def calibration(store: Store, format_name: str, models: Iterable[str], *, sourced: bool) -> Calibration | None:
    """What debates of this format with the same models, with or without sources alike, took in ``store``."""
    seated = frozenset(models)
    found = islice(measured(store, Selection(format=format_name), {}), MOST_READ)
    return calibration_of(row for row in found if row.models == seated and row.sourced == sourced)
