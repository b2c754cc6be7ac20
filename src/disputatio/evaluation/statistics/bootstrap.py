"""Intervals for what comes in an order in time: the stationary bootstrap.

Politis and Romano 1994, "The stationary bootstrap"; the mean length of blocks by Politis and White 2004, with the
correction of Patton, Politis and White 2009. Both are those of the library `arch`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from disputatio.evaluation.intervals import ALPHA, installed
from disputatio.kernel import JsonObject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """A number with its 95 % percentile interval; ``block`` is the mean length of blocks, in items."""

    value: float
    low: float
    high: float
    block: float
    resamples: int

    def as_json(self) -> JsonObject:
        """The number, its interval and how it was made."""
        rows = {"value": self.value, "low": self.low, "high": self.high, "mean_block": self.block}
        return {**{key: round(value, 6) for key, value in rows.items()}, "resamples": self.resamples}


def block_length(series: Sequence[float]) -> float:
    """The mean length of blocks that suits ``series``, at least 1; 1 where it does not vary or is too short."""
    with installed():
        import numpy as np
        from arch.bootstrap import optimal_block_length
    values = np.asarray(series, dtype=float)
    # The rule looks at autocorrelations up to a lag that grows with the square root of the length.
    if len(values) < 16 or float(values.std()) == 0.0:
        return 1.0
    found = float(optimal_block_length(values)["stationary"].iloc[0])
    return max(1.0, found) if math.isfinite(found) else 1.0


def times_drawn(items: int, block: float, *, seed: int = 0, resamples: int = RESAMPLES) -> NDArray[np.float64]:
    """How often each of ``items`` (columns) is in each resample (rows): for measures of sums, all resamples at once.

    The resamples are those that `stationary_bootstrap` draws with the same block and seed.
    """
    with installed():
        import numpy as np
        from arch.bootstrap import StationaryBootstrap
    drawn = StationaryBootstrap(cast("int", block), np.arange(items), seed=np.random.default_rng(seed))
    rows = [np.bincount(data[0][0], minlength=items) for data in drawn.bootstrap(resamples)]
    return np.asarray(rows, dtype=float)


def stationary_bootstrap(
    columns: Sequence[Sequence[float]],
    measure: Callable[..., float],
    *,
    block: float | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> BootstrapInterval:
    """``measure`` of ``columns`` (arrays of one length, in time order), with its interval.

    Args:
        columns: what is resampled together, row by row.
        measure: takes one array for each column.
        block: the mean length of blocks; that of the first column where not given.
        seed: resamples depend on it alone.
        resamples: how many.
    """
    with installed():
        import numpy as np
        from arch.bootstrap import StationaryBootstrap
    arrays = [np.asarray(column, dtype=float) for column in columns]
    mean_block = block_length(columns[0]) if block is None else block
    # The library says whole numbers and takes any: the mean of a geometric length.
    drawn = StationaryBootstrap(cast("int", mean_block), *arrays, seed=np.random.default_rng(seed))
    found: Any = drawn.apply(lambda *rows: np.asarray([measure(*rows)]), resamples)
    low, high = np.quantile(found.ravel(), [ALPHA / 2, 1 - ALPHA / 2])
    return BootstrapInterval(float(measure(*arrays)), float(low), float(high), mean_block, resamples)
