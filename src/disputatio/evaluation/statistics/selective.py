"""Coverage against precision: answering only where one is sure enough, how often is that, and how often right then?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from disputatio.evaluation.intervals import Rate, rate
from disputatio.kernel import JsonObject


@dataclass(frozen=True, slots=True)
class SelectivePoint:
    """What is left at one threshold: items with a confidence of at least ``threshold`` are answered."""

    threshold: float
    coverage: Rate
    precision: Rate

    def as_json(self) -> JsonObject:
        """The threshold and both shares."""
        return {
            "threshold": self.threshold,
            "coverage": self.coverage.as_json(),
            "precision": self.precision.as_json(),
        }


def selective_points(
    confidence: Sequence[float | None], right: Sequence[bool], thresholds: Sequence[float]
) -> tuple[SelectivePoint, ...]:
    """One point for each of ``thresholds``, in their order; an item without a confidence is never answered."""
    pairs = list(zip(confidence, right, strict=True))
    found = []
    for threshold in thresholds:
        kept = [hit for sure, hit in pairs if sure is not None and sure >= threshold]
        found.append(SelectivePoint(threshold, rate(len(kept), len(pairs)), rate(sum(kept), len(kept))))
    return tuple(found)
