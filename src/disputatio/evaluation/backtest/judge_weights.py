"""Search weights for the judge's criteria on recorded scores (the market document's Article 3).

The records hold the judge's whole numbers, so scores and the probability of up can be recomputed under any weights. The
grid has every split of ``PARTS`` whole parts. It includes the usual weights (logic .30, evidence .30, clarity .20,
persuasiveness .20) and equal ones.

Walk-forward: before each window, the weighting with the lowest Brier score is chosen and used once on that window. The
gain in sample stands beside the gain out of sample, against equal and usual weights. Searched weights are worth using
only where the interval of the gain out of sample, resampled in blocks of dates, lies above zero. Of equally good
weightings, the one nearest to equal weights is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from disputatio.evaluation.backtest.forecasts import STANDINGS, DateRecord, ScoredArgument
from disputatio.evaluation.backtest.labels import Label
from disputatio.evaluation.backtest.lens_weights import make_expanding_folds
from disputatio.evaluation.backtest.plan import BacktestPlan
from disputatio.evaluation.statistics.intervals import BootstrapInterval, require_statistics, stationary_bootstrap
from disputatio.formats.market import BEAR, BULL, MARKET_RUBRIC
from disputatio.kernel import JsonObject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PARTS = 20
CRITERIA = tuple(row.key for row in MARKET_RUBRIC.criteria)
USUAL = tuple(int(row.weight * PARTS) for row in MARKET_RUBRIC.criteria)
EQUAL = (PARTS // len(CRITERIA),) * len(CRITERIA)


@dataclass(frozen=True, slots=True)
class Scored:
    """One weighting in and out of sample: mean Brier scores (lower is better) and shares called right."""

    brier_in: float
    brier_out: float
    right_in: float
    right_out: float

    def as_json(self) -> JsonObject:
        """Both scores on both sides."""
        return {
            "in_sample": {"brier": round(self.brier_in, 6), "right": round(self.right_in, 6)},
            "out_of_sample": {"brier": round(self.brier_out, 6), "right": round(self.right_out, 6)},
        }


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """The result of the search over the judge's weights.

    Attributes:
        chosen: the weights of each window, in parts of ``PARTS``, in the order of ``CRITERIA``.
        scores: of the ``chosen``, ``equal`` and ``usual`` weights, on the same dates.
        gain: the Brier score of equal weights less that of the chosen ones, out of sample.
        tried: how many weightings.
        dates: test dates.
    """

    chosen: tuple[tuple[int, ...], ...]
    scores: Mapping[str, Scored]
    gain: BootstrapInterval
    tried: int
    dates: int

    @property
    def shipped(self) -> bool:
        """Whether the chosen weights beat equal ones out of sample beyond chance."""
        return self.gain.low > 0

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        if self.shipped:
            return "Searched weights beat equal ones out of sample, beyond chance."
        better = self.scores["chosen"].brier_out < self.scores["equal"].brier_out
        why = "better out of sample by no more than chance" if better else "not better out of sample"
        return f"Equal weights would do as well: the searched ones are {why}."

    def as_json(self) -> JsonObject:
        """The search, in sample beside out of sample."""
        return {
            "criteria": list(CRITERIA),
            "parts": PARTS,
            "last_weights": dict(zip(CRITERIA, self.chosen[-1], strict=True)),
            "usual_weights": dict(zip(CRITERIA, USUAL, strict=True)),
            "scores": {name: row.as_json() for name, row in self.scores.items()},
            "gain_out_of_sample_interval": self.gain.as_json(),
            "weightings_tried": self.tried,
            "test_dates": self.dates,
            "shipped": self.shipped,
            "verdict": self.verdict,
        }


def calibrate_judge(
    plan: BacktestPlan, labels: Sequence[Label], records: Sequence[DateRecord]
) -> JudgeCalibration | None:
    """Search the weights of the judge's criteria; None if too few dates have scores and an outcome.

    Args:
        plan: the windows and the seed.
        labels: with outcomes, in order of time.
        records: the debates of the plain arm.
    """
    by_day = {row.day: row for row in records}
    kept = [row for row in labels if row.up is not None and row.decided in by_day and _has_marks(by_day[row.decided])]
    if len(kept) <= plan.first_window + plan.window:
        return None
    with require_statistics():
        import numpy as np
    grid = list_weightings()
    forecasts = np.stack([_forecasts(by_day[row.decided], np.asarray(grid)) for row in kept], axis=1)
    observed = np.asarray([float(bool(row.up)) for row in kept])
    losses, right = (forecasts - observed) ** 2, (forecasts > 0.5) == (observed > 0.5)
    right &= forecasts != 0.5
    fixed = {"equal": grid.index(EQUAL), "usual": grid.index(USUAL)}
    sums: dict[str, list[list[float]]] = {name: [[], [], [], []] for name in ("chosen", *fixed)}
    chosen = []
    for fold in make_expanding_folds(kept, first=plan.first_window, size=plan.window, embargo=plan.embargo):
        train, test = list(fold.train), list(fold.test)
        best = _best(losses[:, train].mean(axis=1), grid)
        chosen.append(grid[best])
        for name, place in {"chosen": best, **fixed}.items():
            rows = (losses[place, train].mean(), losses[place, test], right[place, train].mean(), right[place, test])
            for column, values in zip(sums[name], rows, strict=True):
                column.extend(np.atleast_1d(values).astype(float).tolist())
    gains = [one - other for one, other in zip(sums["equal"][1], sums["chosen"][1], strict=True)]
    return JudgeCalibration(
        tuple(chosen),
        {name: _scored(columns) for name, columns in sums.items()},
        stationary_bootstrap([gains], lambda row: float(row.mean()), seed=plan.seed),
        len(grid),
        len(gains),
    )


def list_weightings() -> list[tuple[int, ...]]:
    """List every split of ``PARTS`` whole parts among the criteria (stars and bars)."""
    found = []
    for bars in combinations(range(PARTS + len(CRITERIA) - 1), len(CRITERIA) - 1):
        edges = (-1, *bars, PARTS + len(CRITERIA) - 1)
        found.append(tuple(edges[place + 1] - edges[place] - 1 for place in range(len(CRITERIA))))
    return found


def _has_marks(record: DateRecord) -> bool:
    return record.p is not None and any(_factor(row) is not None for row in record.arguments)


def _factor(row: ScoredArgument) -> float | None:
    """What an argument's score is multiplied by; None if the argument does not count."""
    if row.weight is None or row.adjusted is None or row.marks is None or not set(CRITERIA) <= set(row.marks):
        return None
    return row.adjusted * STANDINGS[row.standing]


def _forecasts(record: DateRecord, grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probability of up of one date by the plan's formula, one row for each weighting."""
    import numpy as np

    sides: dict[tuple[str, str], list[NDArray[np.float64]]] = {}
    for row in record.arguments:
        factor = _factor(row)
        if factor is not None and row.marks is not None and record.forecasts.get(row.lens) is not None:
            marks = np.asarray([row.marks[key] for key in CRITERIA], dtype=float)
            sides.setdefault((row.lens, row.side), []).append((grid @ marks / PARTS - 1) / 9 * factor)
    lenses = dict.fromkeys(lens for lens, _ in sides)
    found = []
    for lens in lenses:
        up, down = (
            np.mean(sides[lens, side], axis=0) if (lens, side) in sides else np.zeros(len(grid))
            for side in (BULL, BEAR)
        )
        total = up + down
        gap = np.divide(up - down, total, out=np.zeros(len(grid)), where=total > 0)
        found.append(1 / (1 + np.exp(-gap)))
    return np.mean(found, axis=0) if found else np.full(len(grid), 0.5)


def _best(losses: NDArray[np.float64], grid: Sequence[tuple[int, ...]]) -> int:
    """The weighting with the lowest loss; of equally good ones the nearest to equal weights."""
    least = float(losses.min())
    level = [place for place in range(len(grid)) if losses[place] <= least + 1e-12]
    return min(level, key=lambda place: sum((one - other) ** 2 for one, other in zip(grid[place], EQUAL, strict=True)))


def _scored(columns: Sequence[Sequence[float]]) -> Scored:
    brier_in, brier_out, right_in, right_out = (sum(row) / len(row) for row in columns)
    return Scored(brier_in, brier_out, right_in, right_out)


def render_calibration_lines(found: JudgeCalibration) -> list[str]:
    """Render the search as text, in sample beside out of sample."""
    last = ", ".join(f"{key} {part / PARTS:.2f}" for key, part in zip(CRITERIA, found.chosen[-1], strict=True))
    lines = [
        f"Weights of the judge's criteria: {found.tried:,} weightings tried, {found.dates} test dates",
        f"  {'':10}{'Brier in':>10}{'out':>9}{'right in':>11}{'out':>9}",
    ]
    for name, row in found.scores.items():
        brier = f"{row.brier_in:>10.4f}{row.brier_out:>9.4f}"
        lines.append(f"  {name:10}{brier}{100 * row.right_in:>9.1f} %{100 * row.right_out:>7.1f} %")
    gain = f"{found.gain.value:+.4f} [{found.gain.low:+.4f}, {found.gain.high:+.4f}]"
    return [*lines, f"  last choice: {last}", f"  gain on equal weights out of sample {gain}. {found.verdict}"]
