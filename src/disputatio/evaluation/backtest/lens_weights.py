"""Weights of lenses by a nested search over expanding windows, shrunk towards equal weights.

For each outer window, every weighting of a fixed grid is tried on inner expanding windows of the outer training dates.
The amount of shrinkage is chosen there too. The choice is then used once, on the outer test dates. The report shows how
much better the weights look in sample, and how many were tried. Weights are worth using only where they beat equal
weights out of sample beyond chance: the interval of the gain (stationary bootstrap over dates) lies above zero.

The score is the Brier score of the weighted mean of the forecasts; lower is better.

purge       a training date whose outcome is unknown on the first test date is left out embargo     this many further
dates before the test dates are left out
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.labels import Label
from disputatio.evaluation.statistics.intervals import BootstrapInterval, require_statistics, stationary_bootstrap
from disputatio.kernel import JsonObject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Fold:
    """Places of the labels to learn from, and of those to test on."""

    train: tuple[int, ...]
    test: tuple[int, ...]


def make_expanding_folds(labels: Sequence[Label], *, first: int, size: int, embargo: int = 0) -> tuple[Fold, ...]:
    """Make folds over ``labels``, in order of time.

    Args:
        labels: in order of decision.
        first: how many labels precede the first test date.
        size: test dates in a fold; the last may have fewer.
        embargo: how many dates before the test dates are left out besides the purged ones.

    Raises:
        InvalidInputError: no dates are left to learn from or to test on.
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
            raise InvalidInputError(
                f"No dates are left to learn from before {opening}.", "Begin later, or embargo less."
            )
        folds.append(Fold(train, tuple(range(start, min(start + size, len(labels))))))
    return tuple(folds)


SHRINKS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The amount of shrinkage; 1 is equal weights."""
STEPS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class WeightSearch:
    """The result of the search. Scores are Brier scores; lower is better.

    ``in_sample`` is of the best weights of each outer training window, on that window. ``out_of_sample`` is of the
    chosen weights on the test dates, ``equal`` of equal weights on the same dates.
    """

    judges: tuple[str, ...]
    chosen: tuple[tuple[float, ...], ...]
    shrinks: tuple[float, ...]
    in_sample: float
    in_sample_equal: float
    out_of_sample: float
    equal: float
    tried: int
    dates: int
    forecasts: tuple[float, ...]
    """The out-of-sample forecasts, in order of the test dates."""
    gain: BootstrapInterval
    """How much lower the score is out of sample than that of equal weights, with its interval."""

    @property
    def beats_equal(self) -> bool:
        """Whether the weights beat equal ones out of sample, possibly by chance."""
        return self.out_of_sample < self.equal

    @property
    def shipped(self) -> bool:
        """Whether they do so beyond chance; only then are they worth using."""
        return self.gain.low > 0

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        if self.shipped:
            return "They beat equal weights out of sample, beyond chance."
        if self.beats_equal:
            return "Equal weights are kept: the others are better out of sample by no more than chance."
        return "Equal weights are kept: the others are worse out of sample."

    def as_json(self) -> JsonObject:
        """The search, with the gap between in sample and out of sample."""
        return {
            "judges": list(self.judges),
            "last_weights": dict(zip(self.judges, (round(row, 4) for row in self.chosen[-1]), strict=True)),
            "last_shrink": self.shrinks[-1],
            "in_sample": {"chosen": round(self.in_sample, 6), "equal": round(self.in_sample_equal, 6)},
            "out_of_sample": {"chosen": round(self.out_of_sample, 6), "equal": round(self.equal, 6)},
            "gain_in_sample": round(self.in_sample_equal - self.in_sample, 6),
            "gain_out_of_sample": round(self.equal - self.out_of_sample, 6),
            "configurations_tried": self.tried,
            "test_dates": self.dates,
            "gain_out_of_sample_interval": self.gain.as_json(),
            "beats_equal": self.beats_equal,
            "shipped": self.shipped,
            "verdict": self.verdict,
        }


def search_weights(
    judges: Sequence[str],
    forecasts: Sequence[Sequence[float]],
    labels: Sequence[Label],
    *,
    first: int = 60,
    size: int = 12,
    embargo: int = 0,
    seed: int = 0,
) -> WeightSearch:
    """Search weights for ``judges``.

    Args:
        judges: names.
        forecasts: for each label the probability of up of each judge.
        labels: in order of decision, each with an outcome.
        first: dates before the first test date.
        size: test dates in a window.
        embargo: dates left out before each test window.
        seed: of the resampling.

    Raises:
        InvalidInputError: a label has no outcome, or there are too few dates.
    """
    with require_statistics():
        import numpy as np
    if any(row.up is None for row in labels) or len(forecasts) != len(labels):
        raise InvalidInputError("A date has no outcome, or no forecast.", "Leave such dates out of the search.")
    given, observed = np.asarray(forecasts, dtype=float), np.asarray([bool(row.up) for row in labels], dtype=float)
    grid = _grid(len(judges))
    equal = np.full(len(judges), 1 / len(judges))
    rows: dict[str, list[Any]] = {
        "chosen": [],
        "shrinks": [],
        "in": [],
        "in_equal": [],
        "out": [],
        "equal": [],
        "p": [],
    }
    for fold in make_expanding_folds(labels, first=first, size=size, embargo=embargo):
        train, test = np.asarray(fold.train), np.asarray(fold.test)
        weights, shrink = _inner(given, observed, labels, fold.train, grid, size, embargo)
        fitted = _losses(given[train], observed[train], grid).mean(axis=1)
        rows["in"].append(float(fitted.min()))
        rows["in_equal"].append(float(_losses(given[train], observed[train], equal[None])[0].mean()))
        rows["out"].extend(_losses(given[test], observed[test], weights[None])[0].tolist())
        rows["equal"].extend(_losses(given[test], observed[test], equal[None])[0].tolist())
        rows["p"].extend((given[test] @ weights).tolist())
        rows["chosen"].append(tuple(weights.tolist()))
        rows["shrinks"].append(shrink)
    return WeightSearch(
        tuple(judges),
        tuple(rows["chosen"]),
        tuple(rows["shrinks"]),
        float(np.mean(rows["in"])),
        float(np.mean(rows["in_equal"])),
        float(np.mean(rows["out"])),
        float(np.mean(rows["equal"])),
        len(grid) * len(SHRINKS),
        len(rows["out"]),
        tuple(rows["p"]),
        stationary_bootstrap(
            [[one - other for one, other in zip(rows["equal"], rows["out"], strict=True)]],
            lambda row: float(row.mean()),
            seed=seed,
        ),
    )


def _grid(judges: int) -> NDArray[np.float64]:
    """Every distinct weighting whose parts are in ratios of ``STEPS``."""
    import numpy as np

    rows = np.asarray(list(product(STEPS, repeat=judges)), dtype=float)
    found: NDArray[np.float64] = np.unique(np.round(rows / rows.sum(axis=1, keepdims=True), 9), axis=0)
    return found


def _losses(
    given: NDArray[np.float64], observed: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Squared errors by weighting and date."""
    found: NDArray[np.float64] = (weights @ given.T - observed) ** 2
    return found


def _inner(
    given: NDArray[np.float64],
    observed: NDArray[np.float64],
    labels: Sequence[Label],
    train: Sequence[int],
    grid: NDArray[np.float64],
    size: int,
    embargo: int,
) -> tuple[NDArray[np.float64], float]:
    """Choose the best shrinkage on inner windows of the training dates, and the weights it gives on all of them."""
    import numpy as np

    equal = np.full(grid.shape[1], 1 / grid.shape[1])
    inner = [labels[place] for place in train]
    places = np.asarray(train)
    half = len(inner) // 2
    totals = np.zeros(len(SHRINKS))
    if half > embargo:
        for fold in make_expanding_folds(inner, first=half, size=size, embargo=embargo):
            learn, tried = places[list(fold.train)], places[list(fold.test)]
            best = grid[int(_losses(given[learn], observed[learn], grid).mean(axis=1).argmin())]
            mixed = np.asarray([(1 - shrink) * best + shrink * equal for shrink in SHRINKS])
            totals += _losses(given[tried], observed[tried], mixed).sum(axis=1)
    # Of equally good shrinkages the strongest is taken.
    shrink = SHRINKS[len(SHRINKS) - 1 - int(totals[::-1].argmin())]
    best = grid[int(_losses(given[places], observed[places], grid).mean(axis=1).argmin())]
    return (1 - shrink) * best + shrink * equal, shrink
