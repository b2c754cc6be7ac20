"""Intervals and exact tests. The libraries (extra "statistics") are imported where they are first needed.

Wilson      the 95 % score interval of a proportion (Wilson 1927); valid for few items and shares near 0 and 1 bootstrap
the 95 % percentile interval over 1,000 resamples of items, with a fixed seed, for other measures such as F1 McNemar
the exact one-sided sign test on the items that changed (McNemar 1947), for one judge before and after stationary  the
bootstrap for values in time order (Politis and Romano 1994). The mean block length follows Politis and
            White 2004, corrected by Patton, Politis and White 2009; both come from the library `arch`
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from disputatio.errors import InvalidInputError
from disputatio.kernel import JsonObject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 1_000
ALPHA = 0.05
POWER = 0.8


@dataclass(frozen=True, slots=True)
class Rate:
    """``count`` of ``of`` with the Wilson interval; no value if ``of`` is 0."""

    count: int
    of: int
    low: float | None = None
    high: float | None = None

    @property
    def value(self) -> float | None:
        """The share; None if ``of`` is 0."""
        return self.count / self.of if self.of else None

    def text(self) -> str:
        """The share with its interval and counts."""
        if self.value is None or self.low is None or self.high is None:
            return "-"
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}] ({self.count}/{self.of})"

    def percent_text(self) -> str:
        """The share in per cent with its interval."""
        if self.value is None or self.low is None or self.high is None:
            return "-"
        return f"{100 * self.value:.1f} % [{100 * self.low:.1f}, {100 * self.high:.1f}]"

    def as_json(self) -> JsonObject:
        """Share, interval and counts."""
        rows = {"value": self.value, "low": self.low, "high": self.high}
        return {"count": self.count, "of": self.of, **{k: None if v is None else round(v, 4) for k, v in rows.items()}}


@lru_cache(maxsize=4096)
def rate(count: int, of: int) -> Rate:
    """Make a share with its Wilson interval."""
    if not of:
        return Rate(count, of)
    with require_statistics():
        from scipy.stats import binomtest  # type: ignore[import-untyped]
    found = binomtest(count, of).proportion_ci(confidence_level=1 - ALPHA, method="wilson")
    return Rate(count, of, float(found.low), float(found.high))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval, resting on ``of`` items; None where it is undefined."""

    value: float | None
    low: float | None
    high: float | None
    of: int

    def text(self) -> str:
        """The number with its interval."""
        if self.value is None:
            return "-"
        if self.low is None or self.high is None:
            return f"{self.value:.2f}"
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"

    def points_text(self, unit: str = "") -> str:
        """A difference of shares in points, with its interval."""
        if self.value is None or self.low is None or self.high is None:
            return "-"
        return f"{100 * self.value:+.1f}{unit} [{100 * self.low:+.1f}, {100 * self.high:+.1f}]"

    def as_json(self) -> JsonObject:
        """The number, its interval and item count."""
        rows = {"value": self.value, "low": self.low, "high": self.high}
        return {**{key: None if row is None else round(row, 4) for key, row in rows.items()}, "of": self.of}


def bootstrap(
    rows: Sequence[Sequence[float]], measure: Callable[[Sequence[float]], float | None], seed: int = 0
) -> Estimate:
    """Bootstrap ``measure``, a function of the column sums of ``rows`` (one row for each item).

    Resamples in which the measure is undefined are left out of the interval.
    """
    value = measure([math.fsum(column) for column in zip(*rows, strict=True)]) if rows else None
    if value is None or len(rows) < 2:
        return Estimate(value, None, None, len(rows))
    with require_statistics():
        import numpy as np
    chance = np.random.default_rng(seed)
    table = np.asarray(rows, dtype=float)
    times = chance.multinomial(len(rows), [1 / len(rows)] * len(rows), size=RESAMPLES)
    found = [one for sums in (times @ table).tolist() if (one := measure(sums)) is not None]
    if not found:
        return Estimate(value, None, None, len(rows))
    low, high = np.quantile(found, [ALPHA / 2, 1 - ALPHA / 2])
    return Estimate(value, float(low), float(high), len(rows))


def mean_of(values: Sequence[float]) -> float | None:
    """The mean; None without values."""
    return math.fsum(values) / len(values) if values else None


def mean_estimate(values: Sequence[float]) -> Estimate:
    """The mean with its bootstrap interval."""
    return bootstrap([(value, 1.0) for value in values], lambda sums: sums[0] / sums[1])


def loss_p_value(lost: int, gained: int) -> float:
    """The probability that chance alone loses this many of the changed items, or more; 1 if none changed."""
    if lost + gained == 0:
        return 1.0
    with require_statistics():
        from scipy.stats import binomtest
    return float(binomtest(lost, lost + gained, 0.5, alternative="greater").pvalue)


def fewest_detectable_losses(alpha: float) -> int:
    """The fewest losses, with no gains, that rule out chance at ``alpha``."""
    return math.ceil(math.log(alpha) / math.log(0.5) - 1e-12)


def detectable_share(items: int, alpha: float) -> float | None:
    """The smallest share of ``items`` whose loss the test detects with probability ``POWER``.

    It assumes no gains by chance, so it is a best case. None if even losing all of them would not be detected.
    """
    needed = fewest_detectable_losses(alpha)
    if items < needed:
        return None
    with require_statistics():
        from scipy.stats import binom
    return next(
        (share / 1000 for share in range(1, 1001) if float(binom.sf(needed - 1, items, share / 1000)) >= POWER), None
    )


def check_installed() -> None:
    """Fail early if the statistics libraries are missing.

    Raises:
        InvalidInputError: a library is missing.
    """
    from importlib import import_module

    with require_statistics():
        for name in ("numpy", "scipy.stats"):
            import_module(name)


@contextmanager
def require_statistics() -> Iterator[None]:
    """Turn a missing numeric library into a clear error; wraps its import."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise InvalidInputError(
            f"Intervals and tests need the library {missing.name}.",
            "Install it with: pip install 'disputatio[statistics]'",
        ) from missing


BLOCK_RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """A number with its 95 % percentile interval; ``block`` is the mean block length in items."""

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
    """The mean block length for ``series``, at least 1; 1 if it is constant or shorter than 16."""
    with require_statistics():
        import numpy as np
        from arch.bootstrap import optimal_block_length
    values = np.asarray(series, dtype=float)
    # The rule needs autocorrelations up to a lag that grows with the square root of the length.
    if len(values) < 16 or float(values.std()) == 0.0:
        return 1.0
    found = float(optimal_block_length(values)["stationary"].iloc[0])
    return max(1.0, found) if math.isfinite(found) else 1.0


def count_draws(items: int, block: float, *, seed: int = 0, resamples: int = BLOCK_RESAMPLES) -> NDArray[np.float64]:
    """Count how often each of ``items`` (columns) is in each resample (rows), to compute sums of all resamples at once.

    The resamples are those of `stationary_bootstrap` with the same block and seed.
    """
    with require_statistics():
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
    resamples: int = BLOCK_RESAMPLES,
) -> BootstrapInterval:
    """Bootstrap ``measure`` of ``columns``, arrays of one length in time order.

    Args:
        columns: what is resampled together, row by row.
        measure: takes one array for each column.
        block: the mean block length; by default that of the first column.
        seed: determines the resamples.
        resamples: how many.
    """
    with require_statistics():
        import numpy as np
        from arch.bootstrap import StationaryBootstrap
    arrays = [np.asarray(column, dtype=float) for column in columns]
    mean_block = block_length(columns[0]) if block is None else block
    # The library declares an int but accepts any mean of the geometric length.
    drawn = StationaryBootstrap(cast("int", mean_block), *arrays, seed=np.random.default_rng(seed))
    found: Any = drawn.apply(lambda *rows: np.asarray([measure(*rows)]), resamples)
    low, high = np.quantile(found.ravel(), [ALPHA / 2, 1 - ALPHA / 2])
    return BootstrapInterval(float(measure(*arrays)), float(low), float(high), mean_block, resamples)
