"""Expanding windows: what is learned from lies wholly before what it is tried on.

purge       a training date whose outcome is not known on the first test date is left out
embargo     so many further dates before the test dates are left out, for what lasts longer than a window
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.labels import Label


@dataclass(frozen=True, slots=True)
class Fold:
    """Places of the labels to learn from, and of those to be tried on."""

    train: tuple[int, ...]
    test: tuple[int, ...]


def expanding_folds(labels: Sequence[Label], *, first: int, size: int, embargo: int = 0) -> tuple[Fold, ...]:
    """Folds over ``labels`` in order of time.

    Args:
        labels: in order of decision.
        first: how many labels come before the first test date.
        size: test dates in a fold; the last may have fewer.
        embargo: how many dates before the test dates are left out beside what is purged.

    Raises:
        InvalidInputError: nothing is left to learn from, or to be tried on.
    """
    if size < 1 or embargo < 0 or not 0 < first < len(labels):
        raise InvalidInputError(
            f"There are no windows of {size} dates after the first {first} of {len(labels)}.",
            "Give a first window shorter than the dates, and test windows of 1 date or more.",
        )
    folds = []
    for start in range(first, len(labels), size):
        opening = labels[start].decided
        train = tuple(place for place in range(max(0, start - embargo)) if labels[place].known_on <= opening)
        if not train:
            raise InvalidInputError(f"Nothing is left to learn from before {opening}.", "Begin later, or embargo less.")
        folds.append(Fold(train, tuple(range(start, min(start + size, len(labels))))))
    return tuple(folds)
