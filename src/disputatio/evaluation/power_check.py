"""Does the harness find an edge that is there, and none where there is none? Tried on answers made up for it.

Two ways answer the same questions. With a planted edge the first is right more often; without one both are right
equally often, and differ as often. For each seed the paired test of an evaluation is made on them. The share of seeds
in which it finds something must be the stated power in the one case, and no more than the stated error in the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from disputatio.evaluation.intervals import ALPHA, Rate, installed, rate
from disputatio.evaluation.statistics import PairedCounts, compare_all, mcnemar_mid_p, mcnemar_power
from disputatio.kernel import JsonObject

SEEDS = 200
ITEMS = 264
GAIN, DISCORDANCE = 0.10, 0.30
SHARE_RIGHT = 0.60


@dataclass(frozen=True, slots=True)
class PowerCheck:
    """In how many of the seeds the test found a difference, and what is stated."""

    items: int
    gain: float
    found: Rate
    stated_power: float
    found_wrongly: Rate

    @property
    def holds(self) -> bool:
        """Whether the stated power lies in the interval of what was found, and wrong finds are not too many."""
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
        """The check for people."""
        return [
            f"Two ways of answering {self.items} made-up questions, {self.found.of} times over",
            f"  {100 * self.gain:g} points planted: found in {self.found.text()}; stated {self.stated_power:.2f}",
            *(
                f"  stated for {items} questions: exact {mcnemar_power(items, GAIN, DISCORDANCE, mid=False):.3f}, "
                f"mid-p {mcnemar_power(items, GAIN, DISCORDANCE):.3f}"
                for items in (100, ITEMS)
            ),
            f"  nothing planted: found in {self.found_wrongly.text()}; stated at most {ALPHA:.2f}",
            "  The harness does what it states." if self.holds else "  THE HARNESS DOES NOT DO WHAT IT STATES.",
        ]


def made_up_answers(items: int, gain: float, seed: int) -> tuple[list[bool], list[bool]]:
    """Whether each of two ways was right on each question; the first is right more often by ``gain`` on average."""
    with installed():
        import numpy as np
    both = SHARE_RIGHT - (DISCORDANCE + gain) / 2
    parts = [both, (DISCORDANCE + gain) / 2, (DISCORDANCE - gain) / 2]
    drawn: Any = np.random.default_rng(seed).choice(4, size=items, p=[*parts, 1 - sum(parts)])
    return [bool(row in {0, 1}) for row in drawn.tolist()], [bool(row in {0, 2}) for row in drawn.tolist()]


def power_check(items: int = ITEMS, gain: float = GAIN, seeds: int = SEEDS) -> PowerCheck:
    """Plant an edge, and none, ``seeds`` times each."""
    planted = sum(_finds(*made_up_answers(items, gain, seed)) for seed in range(seeds))
    wrongly = sum(_finds(*made_up_answers(items, 0.0, seeds + seed)) for seed in range(seeds))
    stated = mcnemar_power(items, gain, DISCORDANCE)
    return PowerCheck(items, gain, rate(planted, seeds), stated, rate(wrongly, seeds))


def _finds(first: list[bool], second: list[bool]) -> bool:
    """What an evaluation with this one comparison decides by (`compare_all` with the rest of it left out)."""
    return mcnemar_mid_p(PairedCounts.of(zip(first, second, strict=True))) <= ALPHA


def whole_comparison(items: int, gain: float, seed: int) -> bool:
    """The same decision by the whole of an evaluation's comparison; slower, and held against the short way by tests."""
    first, second = made_up_answers(items, gain, seed)
    (row,) = compare_all({"first": first, "second": second}, [("first", "second")])
    return row.significant
