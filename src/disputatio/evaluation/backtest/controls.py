"""What the controls show: the same dates held mirrored and blind.

mirrored    on reflected prices a month that rose has fallen. Whoever reads prices changes its mind; whoever says the
            same on both was not reading them, and is right on one side as often as wrong on the other
blind       who argues by rules has to come to the very same forecast without names and dates. A model that does not had
            recognised something; how much that explains is a question for its own arm
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from disputatio.evaluation.backtest.forecasting import call_of
from disputatio.evaluation.backtest.reading import DateRecord
from disputatio.evaluation.intervals import Rate, rate
from disputatio.formats.market import LENSES
from disputatio.kernel import JsonObject

ONE_SIDED = 0.9
"""The share of dates from which on a forecaster that says the same on both counts as one-sided."""
_FEWEST = 10


@dataclass(frozen=True, slots=True)
class Mirrored:
    """One forecaster on data as they are and on reflected ones, over the dates on which it spoke on both."""

    name: str
    says_up: Rate
    says_up_mirrored: Rate
    changed: Rate
    right: Rate
    right_mirrored: Rate

    @property
    def one_sided(self) -> bool:
        """Whether it says the same of nearly every date, mirrored or not."""
        one, other = self.says_up.value, self.says_up_mirrored.value
        if one is None or other is None or self.says_up.of < _FEWEST:
            return False
        return min(one, other) >= ONE_SIDED or max(one, other) <= 1 - ONE_SIDED

    def as_json(self) -> JsonObject:
        """The shares."""
        names = ("says_up", "says_up_mirrored", "changed", "right", "right_mirrored")
        return {
            "name": self.name,
            **{name: getattr(self, name).as_json() for name in names},
            "one_sided": self.one_sided,
        }


@dataclass(frozen=True, slots=True)
class Blind:
    """Forecasts with and without names and dates: on how many dates both spoke, and on how many they are the same."""

    same: Rate
    largest: float

    def as_json(self) -> JsonObject:
        """The share, and the largest difference of two probabilities."""
        return {"same_forecast": self.same.as_json(), "largest_difference": round(self.largest, 6)}


def mirrored_check(
    plain: Sequence[DateRecord],
    reflected: Sequence[DateRecord],
    came: Mapping[date, bool],
    came_mirrored: Mapping[date, bool],
) -> tuple[Mirrored, ...]:
    """Each lens, and the whole debate, on both; ``came`` says which dates rose, on either data."""
    by_day = {row.day: row for row in plain}
    days = [row.day for row in reflected if row.day in by_day and row.day in came and row.day in came_mirrored]
    other = {row.day: row for row in reflected}
    readers: dict[str, Callable[[DateRecord], float | None]] = {"debate": lambda row: row.p}
    readers |= {lens: lambda row, lens=lens: row.forecasts.get(lens) for lens in LENSES}  # type: ignore[misc]
    found = []
    for name, read in readers.items():
        pairs = [
            (one, two, came[day], came_mirrored[day])
            for day in days
            if (one := call_of(read(by_day[day]))) is not None and (two := call_of(read(other[day]))) is not None
        ]
        total = len(pairs)
        found.append(
            Mirrored(
                name,
                rate(sum(one for one, _, _, _ in pairs), total),
                rate(sum(two for _, two, _, _ in pairs), total),
                rate(sum(one != two for one, two, _, _ in pairs), total),
                rate(sum(one == up for one, _, up, _ in pairs), total),
                rate(sum(two == up for _, two, _, up in pairs), total),
            )
        )
    return tuple(row for row in found if row.says_up.of)


def blind_check(plain: Sequence[DateRecord], blind: Sequence[DateRecord]) -> Blind | None:
    """Forecasts of both arms on the dates that both have; None without any."""
    by_day = {row.day: row for row in plain}
    pairs = [(by_day[row.day], row) for row in blind if row.day in by_day]
    gaps = [abs(one.p - two.p) for one, two in pairs if one.p is not None and two.p is not None]
    if not pairs:
        return None
    same = sum(dict(one.forecasts) == dict(two.forecasts) for one, two in pairs)
    return Blind(rate(same, len(pairs)), max(gaps, default=0.0))
