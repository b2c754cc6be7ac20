"""How right the answers to items are whose right answer is known.

An item that was not answered is not right, whatever the reason; it is counted apart and stays in every denominator.
Balanced accuracy is the mean over the right answers that occur of the share got right (scikit-learn's definition): a
way that always says the same thing gets 1 over their number, however often it happens to be right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from disputatio.evaluation.intervals import Estimate, Rate, bootstrap, installed, rate
from disputatio.kernel import JsonObject

NOTHING = "(no answer)"


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Shares over all items; ``precision`` is over those that were answered."""

    accuracy: Rate
    balanced: Estimate
    coverage: Rate
    precision: Rate

    def as_json(self) -> JsonObject:
        """The shares with their intervals."""
        return {
            "accuracy": self.accuracy.as_json(),
            "balanced_accuracy": self.balanced.as_json(),
            "coverage": self.coverage.as_json(),
            "precision": self.precision.as_json(),
        }


def balanced_accuracy(known: Sequence[str], given: Sequence[str | None]) -> float | None:
    """The mean recall over the right answers that occur; None without items."""
    if not known:
        return None
    with installed():
        from sklearn.metrics import recall_score  # type: ignore[import-untyped]
    labels = sorted(set(known))
    answers = [NOTHING if row is None else row for row in given]
    return float(recall_score(known, answers, labels=labels, average="macro", zero_division=0))


@dataclass(frozen=True, slots=True)
class MacroScores:
    """Means over classes: every class counts alike, however many items it has."""

    precision: float
    recall: float
    f1: float

    def as_json(self) -> JsonObject:
        """The three means."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


def macro_scores(known: Sequence[str], given: Sequence[str | None]) -> MacroScores | None:
    """Macro precision, recall and F1 over the classes that occur in ``known`` or are ``given``; None without items.

    F1 is the mean of the classes' F1 (scikit-learn's macro average), and not the F1 of the means. An item without an
    answer (None) is a miss of its class; no answer is no class. A class that was never given has precision 0.
    """
    if not known:
        return None
    with installed():
        from sklearn.metrics import precision_recall_fscore_support
    labels = sorted({*known, *(row for row in given if row is not None)})
    answers = [NOTHING if row is None else row for row in given]
    found = precision_recall_fscore_support(known, answers, labels=labels, average="macro", zero_division=0)
    return MacroScores(*(float(value) for value in found[:3]))


def answer_scores(known: Sequence[str], given: Sequence[str | None], *, balanced: bool = True) -> AnswerScores:
    """Score ``given`` (None: no answer) against ``known``, item by item.

    ``balanced`` is False where right answers are no classes, such as numbers.
    """
    right = sum(one == other for one, other in zip(known, given, strict=True))
    answered = sum(row is not None for row in given)
    estimate = Estimate(None, None, None, len(known))
    if balanced and known:
        labels = sorted(set(known))
        rows = []
        for one, other in zip(known, given, strict=True):
            there = [float(one == label) for label in labels]
            rows.append([*there, *(here * (one == other) for here in there)])
        estimate = bootstrap(rows, lambda sums: _mean_recall(sums, len(labels)))
    return AnswerScores(rate(right, len(known)), estimate, rate(answered, len(known)), rate(right, answered))


def _mean_recall(sums: Sequence[float], labels: int) -> float | None:
    """Over the labels that a resample has."""
    shares = [sums[labels + place] / sums[place] for place in range(labels) if sums[place]]
    return sum(shares) / len(shares) if shares else None
