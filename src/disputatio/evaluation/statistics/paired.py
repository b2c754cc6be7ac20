"""Compare two ways of answering identical items: which is right more often, and could chance explain it?

difference  share right of the first less that of the second, with Newcombe's square-and-add score interval for
            paired proportions (Newcombe 1998, "Improved confidence intervals for
            the difference between binomial proportions based on paired data", method 10)
tests       McNemar's, exact and mid-p, two-sided (Fagerland, Lydersen and Laake 2013, "The McNemar test for binary
            matched-pairs data: mid-p and asymptotic are better than exact conditional"). The exact test is
            conservative; mid-p decides here
several     comparisons are declared before the run and tested together (Holm 1979) power       the probability that the
test detects a difference of a given size, printed beside every comparison:
            "not significant" at a power of .4 says almost nothing

`check_power` tests the harness itself on simulated answers, with an edge and without one. The share of seeds in which
the paired test finds a difference must match the stated power, and must not exceed the stated error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from disputatio.evaluation.statistics.intervals import ALPHA, Estimate, Rate, rate, require_statistics
from disputatio.kernel import JsonObject

PLANNED_GAIN = 0.10
"""The default gain that power is stated for: ten points."""
USUAL_DISCORDANCE = 0.30
"""The assumed share of items on which exactly one of two ways is right."""


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """How often both, only the first, only the second, and neither were right on the same items."""

    both: int
    first: int
    second: int
    neither: int

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> PairedCounts:
        """Count ``pairs`` of (first right, second right)."""
        counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
        for one, other in pairs:
            counts[bool(one), bool(other)] += 1
        return cls(*counts.values())

    @property
    def items(self) -> int:
        """The number of items."""
        return self.both + self.first + self.second + self.neither

    @property
    def discordant(self) -> int:
        """Items on which exactly one of the two was right."""
        return self.first + self.second

    @property
    def difference(self) -> float | None:
        """Share right of the first less that of the second, -1 to 1; None without items."""
        return (self.first - self.second) / self.items if self.items else None

    def as_json(self) -> JsonObject:
        """The four counts."""
        return {"both": self.both, "only_first": self.first, "only_second": self.second, "neither": self.neither}


def mcnemar_exact(counts: PairedCounts) -> float:
    """The exact two-sided p-value of McNemar's test; 1 without discordant items."""
    if not counts.discordant:
        return 1.0
    with require_statistics():
        from statsmodels.stats.contingency_tables import mcnemar  # type: ignore[import-untyped]
    table = [[counts.both, counts.first], [counts.second, counts.neither]]
    return min(1.0, float(mcnemar(table, exact=True).pvalue))


def mcnemar_mid_p(counts: PairedCounts) -> float:
    """The two-sided mid-p value of McNemar's test: the exact one less the probability of what was seen.

    Where both are right alone equally often, it is 1 less half of that probability (Fagerland et al. 2013).
    """
    if not counts.discordant:
        return 1.0
    with require_statistics():
        from scipy.stats import binom  # type: ignore[import-untyped]
    seen = float(binom.pmf(counts.first, counts.discordant, 0.5))
    return 1 - seen / 2 if counts.first == counts.second else mcnemar_exact(counts) - seen


def paired_difference(counts: PairedCounts) -> Estimate:
    """The paired difference with Newcombe's 95 % interval (method 10)."""
    if counts.difference is None:
        return Estimate(None, None, None, 0)
    with require_statistics():
        from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]
    size, one, other = counts.items, counts.both + counts.first, counts.both + counts.second
    low_1, high_1 = proportion_confint(one, size, alpha=ALPHA, method="wilson")
    low_2, high_2 = proportion_confint(other, size, alpha=ALPHA, method="wilson")
    share_1, share_2, phi = one / size, other / size, _phi(counts)
    gap = counts.difference
    down_1, up_1, down_2, up_2 = share_1 - low_1, high_1 - share_1, share_2 - low_2, high_2 - share_2
    below = math.sqrt(max(0.0, down_1**2 - 2 * phi * down_1 * up_2 + up_2**2))
    above = math.sqrt(max(0.0, up_1**2 - 2 * phi * up_1 * down_2 + down_2**2))
    return Estimate(gap, max(-1.0, gap - below), min(1.0, gap + above), size)


def _phi(counts: PairedCounts) -> float:
    """The correlation of being right; 0 where one of the two was always or never right.

    Method 10 subtracts half the number of items from a positive product, down to zero.
    """
    a, b, c, d = counts.both, counts.first, counts.second, counts.neither
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    product = a * d - b * c
    corrected = max(product - counts.items / 2, 0.0) if product > 0 else float(product)
    return corrected / math.sqrt(margins) if margins else 0.0


def format_p(p: float) -> str:
    """Format a p-value."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def adjust_by_holm(tests: Mapping[str, float]) -> dict[str, float]:
    """Adjust p-values together (Holm's step-down), by the same names. Compare the results with the level itself."""
    if len(tests) < 2:
        return dict(tests)
    with require_statistics():
        from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]
    _, adjusted, _, _ = multipletests(list(tests.values()), alpha=ALPHA, method="holm")
    return dict(zip(tests, (float(value) for value in adjusted), strict=True))


def mcnemar_power(items: int, gain: float, discordance: float, *, mid: bool = True, alpha: float = ALPHA) -> float:
    """The probability that McNemar's two-sided test detects a true gain.

    Args:
        items: pairs.
        gain: the true difference of the shares right, 0 to ``discordance``.
        discordance: the true share of items on which exactly one is right, above 0 and at most 1.
        mid: use the mid-p value, else the exact test.
        alpha: the level of a single test.

    Raises:
        ValueError: the gain exceeds the discordance.
    """
    if not 0 < discordance <= 1 or not abs(gain) <= discordance + 1e-12:
        raise ValueError(f"a gain of {gain} is impossible if {discordance} of the items are discordant")
    return _power(items, round(gain, 6), round(discordance, 6), mid, alpha)


@lru_cache(maxsize=64)
def _power(items: int, gain: float, discordance: float, mid: bool, alpha: float) -> float:  # noqa: FBT001
    if not items:
        return 0.0
    with require_statistics():
        import numpy as np
        from scipy.stats import binom
    won = min(1.0, (discordance + gain) / 2 / discordance)
    chances = binom.pmf(np.arange(items + 1), items, discordance)
    sizes = np.flatnonzero(chances > 1e-12)
    # P-values fall towards both ends symmetrically, so the significant results are two tails.
    least = np.array([_least(int(size), mid, alpha) for size in sizes])
    seen = binom.cdf(least, sizes, won) + binom.sf(np.maximum(sizes - least - 1, least), sizes, won)
    return float(np.sum(chances[sizes] * seen))


@lru_cache(maxsize=4096)
def _least(size: int, mid: bool, alpha: float) -> int:  # noqa: FBT001
    """The largest number of wins of ``size`` that is significantly small; -1 if there is none."""
    import numpy as np
    from scipy.stats import binom

    counts = np.arange(size // 2 + 1)
    seen = binom.pmf(counts, size, 0.5)
    exact = np.minimum(1.0, 2 * binom.cdf(counts, size, 0.5))
    p = np.where(2 * counts == size, 1 - seen / 2, exact - seen) if mid else exact
    return int(np.count_nonzero(p <= alpha)) - 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two ways of answering identical items.

    ``power`` is of the planned gain at the usual discordance, ``power_seen`` at the observed one. ``adjusted`` is the
    p-value that decides, after Holm over all comparisons declared together: mid-p if ``mid``, else the exact one. Power
    is that of the deciding test.
    """

    first: str
    second: str
    counts: PairedCounts
    difference: Estimate
    exact_p: float
    mid_p: float
    adjusted: float
    gain: float
    power: float
    power_seen: float | None
    mid: bool = True

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.first} - {self.second}"

    @property
    def significant(self) -> bool:
        """Whether chance is ruled out, all declared comparisons taken together."""
        return self.adjusted <= ALPHA

    @property
    def verdict(self) -> str:
        """What the comparison shows, in one sentence."""
        if not self.counts.items:
            return "nothing to compare"
        if not self.significant:
            return f"no demonstrable difference (power {self.power:.2f} for {self.gain * 100:g} points)"
        better, worse = (
            (self.first, self.second) if self.counts.first > self.counts.second else (self.second, self.first)
        )
        return f"{better} is right more often than {worse}"

    def as_json(self) -> JsonObject:
        """The comparison, its tests and their power."""
        body: dict[str, Any] = {"first": self.first, "second": self.second, "items": self.counts.items}
        body |= {"counts": self.counts.as_json(), "difference": self.difference.as_json()}
        body |= {"interval": "Newcombe 1998, method 10, 95 %", "mcnemar_exact_p": round(self.exact_p, 6)}
        adjusted = "holm_adjusted_mid_p" if self.mid else "holm_adjusted_exact_p"
        body |= {"mcnemar_mid_p": round(self.mid_p, 6), adjusted: round(self.adjusted, 6)}
        seen = None if self.power_seen is None else round(self.power_seen, 4)
        body["power"] = {"gain": self.gain, "at_usual_discordance": round(self.power, 4), "at_seen_discordance": seen}
        return {**body, "significant": self.significant, "verdict": self.verdict}


def compare_all(
    right: Mapping[str, Sequence[bool]],
    declared: Sequence[tuple[str, str]],
    gain: float = PLANNED_GAIN,
    *,
    mid: bool = True,
) -> tuple[Comparison, ...]:
    """Run every declared comparison and test them together.

    Args:
        right: for each way whether it was right, item by item in one order.
        declared: pairs of names, the first compared with the second.
        gain: the difference that the power is stated for.
        mid: the mid-p value decides, else the exact one.
    """
    counts = {
        f"{one} - {other}": PairedCounts.of(zip(right[one], right[other], strict=True)) for one, other in declared
    }
    tests = {name: mcnemar_mid_p(row) if mid else mcnemar_exact(row) for name, row in counts.items()}
    adjusted = adjust_by_holm(tests)
    found = []
    for one, other in declared:
        name = f"{one} - {other}"
        row = counts[name]
        seen = row.discordant / row.items if row.items else 0.0
        power_seen = mcnemar_power(row.items, gain, seen, mid=mid) if seen >= gain else None
        power = mcnemar_power(row.items, gain, max(USUAL_DISCORDANCE, gain), mid=mid)
        tested = (mcnemar_exact(row), mcnemar_mid_p(row), adjusted[name])
        found.append(Comparison(one, other, row, paired_difference(row), *tested, gain, power, power_seen, mid))
    return tuple(found)


SEEDS = 200
ITEMS = 264
GAIN, DISCORDANCE = 0.10, 0.30
SHARE_RIGHT = 0.60


@dataclass(frozen=True, slots=True)
class PowerCheck:
    """In how many seeds the test found a difference, and the stated values."""

    items: int
    gain: float
    found: Rate
    stated_power: float
    found_wrongly: Rate

    @property
    def holds(self) -> bool:
        """Whether the stated power lies in the interval found, and there are not too many false finds."""
        low, high = self.found.low or 0.0, self.found.high or 1.0
        return low <= self.stated_power <= high and (self.found_wrongly.low or 0.0) <= ALPHA

    def as_json(self) -> JsonObject:
        """The check."""
        return {
            "schema": "disputatio/power-check",
            "version": 1,
            "items": self.items,
            "seeds": self.found.of,
            "gain": self.gain,
            "discordance": DISCORDANCE,
            "found_where_planted": self.found.as_json(),
            "stated_power": round(self.stated_power, 4),
            "found_where_none": self.found_wrongly.as_json(),
            "stated_error": ALPHA,
            "holds": self.holds,
        }

    def lines(self) -> list[str]:
        """The check as text."""
        return [
            f"Two ways of answering {self.items} simulated questions, {self.found.of} times",
            f"  an edge of {100 * self.gain:g} points: found in {self.found.text()}; stated {self.stated_power:.2f}",
            *(
                f"  stated for {items} questions: exact {mcnemar_power(items, GAIN, DISCORDANCE, mid=False):.3f}, "
                f"mid-p {mcnemar_power(items, GAIN, DISCORDANCE):.3f}"
                for items in (100, ITEMS)
            ),
            f"  no edge: found in {self.found_wrongly.text()}; stated at most {ALPHA:.2f}",
            "  The harness is as good as stated." if self.holds else "  THE HARNESS IS NOT AS GOOD AS STATED.",
        ]


def simulate_answers(items: int, gain: float, seed: int) -> tuple[list[bool], list[bool]]:
    """Simulate whether each of two ways is right on each question; the first gains ``gain`` on average."""
    with require_statistics():
        import numpy as np
    both = SHARE_RIGHT - (DISCORDANCE + gain) / 2
    parts = [both, (DISCORDANCE + gain) / 2, (DISCORDANCE - gain) / 2]
    drawn: Any = np.random.default_rng(seed).choice(4, size=items, p=[*parts, 1 - sum(parts)])
    return [bool(row in {0, 1}) for row in drawn.tolist()], [bool(row in {0, 2}) for row in drawn.tolist()]


def check_power(items: int = ITEMS, gain: float = GAIN, seeds: int = SEEDS) -> PowerCheck:
    """Simulate answers with an edge and without one, ``seeds`` times each."""
    planted = sum(_finds(*simulate_answers(items, gain, seed)) for seed in range(seeds))
    wrongly = sum(_finds(*simulate_answers(items, 0.0, seeds + seed)) for seed in range(seeds))
    stated = mcnemar_power(items, gain, DISCORDANCE)
    return PowerCheck(items, gain, rate(planted, seeds), stated, rate(wrongly, seeds))


def _finds(first: list[bool], second: list[bool]) -> bool:
    """The decision of an evaluation with this one comparison (`compare_all` reduced to its test)."""
    return mcnemar_mid_p(PairedCounts.of(zip(first, second, strict=True))) <= ALPHA


def compare_in_full(items: int, gain: float, seed: int) -> bool:
    """The same decision by `compare_all`; slower, used by tests to verify the short way."""
    first, second = simulate_answers(items, gain, seed)
    (row,) = compare_all({"first": first, "second": second}, [("first", "second")])
    return row.significant
