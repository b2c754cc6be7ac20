"""Measure whether judges agree beyond chance, with a reading in plain words.

An undefined measure has a reason instead of a value. Ratings are rows, one for each judge, with a column for each item;
None is a missing rating. A judge without ratings counts as silent. Krippendorff's alpha uses all ratings; the other
measures use only items that every judge with ratings rated, and count the omitted ones.

Readings. Kappas: Landis and Koch 1977, "The Measurement of Observer Agreement for Categorical Data". Alpha:
Krippendorff 2004, "Content Analysis", section 11.4: rely on .800 and above, draw tentative conclusions from .667. W:
Schmidt 1997, "Managing Delphi Surveys Using Nonparametric Statistical Techniques", table 2, whose anchors .1, .3, .5,
.7 and .9 extend half way to the next. All three are conventions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias

from disputatio.errors import InvalidInputError
from disputatio.judging.coefficients import (
    alpha,
    cohen,
    fleiss,
    interval,
    kendall,
    linear,
    nominal,
    ordinal,
    quadratic,
    ratio,
)
from disputatio.kernel import JsonObject

# With fewer items the reading adds a caution: our choice. Krippendorff 2004, section 11.4, asks for far more.
FEW_ITEMS = 10

Rating: TypeAlias = str | int | float | Fraction | None
Ratings: TypeAlias = Sequence[Sequence[Rating]]


class Level(StrEnum):
    """How ratings can be compared (Stevens 1946)."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


class Weighting(StrEnum):
    """Whether all disagreements in Cohen's kappa count alike, or by their distance in categories."""

    NONE = "unweighted"
    LINEAR = "linear"
    QUADRATIC = "quadratic"


@dataclass(frozen=True, slots=True)
class Agreement:
    """One measure of agreement.

    Attributes:
        measure: its name.
        value: at most 1, which is complete agreement; None if undefined.
        reading: the value in plain words; empty if undefined.
        undefined_because: why there is no value, else empty.
        judges: number of judges with ratings.
        silent: number of judges without.
        items: number of items used.
        left_out: number of items omitted.
    """

    measure: str
    value: float | None
    reading: str
    undefined_because: str
    judges: int
    silent: int
    items: int
    left_out: int

    def text(self) -> str:
        """Describe the measure in one sentence."""
        base = f"{self.judges} judge{'' if self.judges == 1 else 's'}, {self.items} items"
        base += f", {self.left_out} left out" if self.left_out else ""
        base += f", {self.silent} silent" if self.silent else ""
        if self.value is None:
            return f"{self.measure} is not defined because {self.undefined_because} ({base})"
        return f"{self.measure} is {self.value:.2f}: {self.reading} ({base})"

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        return {
            "measure": self.measure,
            "value": None if self.value is None else round(self.value, 6),
            "reading": self.reading,
            "undefined_because": self.undefined_because,
            "judges": self.judges,
            "silent": self.silent,
            "items": self.items,
            "left_out": self.left_out,
            "text": self.text(),
        }


def krippendorff_alpha(ratings: Ratings, level: Level = Level.NOMINAL) -> Agreement:
    """Compute Krippendorff's alpha of any number of judges, with or without missing ratings.

    Raises:
        InvalidInputError: the rows differ in length, ratings above the nominal level are not numbers, or one at the
            ratio level is negative.
    """
    name = f"Krippendorff's alpha ({level.value})"
    grid = _Grid(ratings)
    if level is not Level.NOMINAL:
        grid.check_numbers(negative=level is not Level.RATIO)
    # An item with one rating cannot agree and is omitted (Krippendorff 2011, step B).
    paired = [column for column in grid.columns if sum(value is not None for value in column) > 1]
    seen = grid.measured(name, len(paired))
    if len(grid.rows) < 2 or not paired:
        return seen.undefined("no item was rated by two judges")
    found = {value for column in paired for value in column if value is not None}
    if len(found) < 2:
        return seen.undefined("every rating is the same, so agreement cannot be told from chance")
    domain = sorted(found, key=str) if level is Level.NOMINAL else sorted(found, key=_to_fraction)
    counts = [[sum(value == option for value in column) for option in domain] for column in paired]
    if level is Level.NOMINAL:
        return seen.defined(alpha(counts, nominal), _read_alpha)
    if level is Level.ORDINAL:
        return seen.defined(alpha(counts, ordinal(counts)), _read_alpha)
    distance = interval if level is Level.INTERVAL else ratio
    return seen.defined(alpha(counts, distance([_to_fraction(value) for value in domain])), _read_alpha)


def cohen_kappa(
    first: Sequence[Rating],
    second: Sequence[Rating],
    weighting: Weighting = Weighting.NONE,
    categories: Sequence[Rating] | None = None,
) -> Agreement:
    """Compute Cohen's kappa of two judges.

    Args:
        first: one judge's ratings.
        second: the other's, of the same items.
        weighting: how much a disagreement counts.
        categories: all categories in order, also unused ones. A weighting needs them to measure distances.

    Raises:
        InvalidInputError: the rows differ in length, a weighting has no categories, or a rating is not one of them.
    """
    suffix = "" if weighting is Weighting.NONE else f" ({weighting.value} weights)"
    grid = _Grid((first, second))
    if weighting is not Weighting.NONE and not categories:
        raise InvalidInputError("A weighted kappa needs its categories.", "Give all of them, in order.")
    both = grid.complete()
    seen = grid.measured(f"Cohen's kappa{suffix}", len(both))
    given = {value for row in (first, second) for value in row if value is not None}
    order = list(categories) if categories else sorted(given, key=str)
    if not given <= set(order):
        raise InvalidInputError("A rating is none of the categories.", "Give every category there is.")
    if len(grid.rows) < 2 or not both:
        return seen.undefined("no item was rated by both judges")
    if len({value for column in both for value in column}) < 2:
        return seen.undefined("every rating is the same, so agreement cannot be told from chance")
    place = {value: number for number, value in enumerate(order)}
    pairs = [(place[one], place[other]) for one, other in both]
    return seen.defined(cohen(pairs, len(order), _WEIGHTS[weighting]), _read_kappa)


def fleiss_kappa(ratings: Ratings) -> Agreement:
    """Compute Fleiss' kappa of two or more judges over the items that all rated.

    Raises:
        InvalidInputError: the rows differ in length.
    """
    grid = _Grid(ratings)
    columns = grid.complete()
    seen = grid.measured("Fleiss' kappa", len(columns))
    if len(grid.rows) < 2 or not columns:
        return seen.undefined("no item was rated by two judges and by all who rated")
    domain = sorted({value for column in columns for value in column}, key=str)
    if len(domain) < 2:
        return seen.undefined("every rating is the same, so agreement cannot be told from chance")
    table = [[column.count(option) for option in domain] for column in columns]
    return seen.defined(fleiss(table), _read_kappa)


def kendall_w(ratings: Ratings) -> Agreement:
    """Compute Kendall's W, corrected for ties, over the items that all rated.

    Raises:
        InvalidInputError: the rows differ in length, or a rating is not a number.
    """
    grid = _Grid(ratings)
    grid.check_numbers(negative=True)
    columns = grid.complete()
    seen = grid.measured("Kendall's W", len(columns))
    judges, items = len(grid.rows), len(columns)
    if judges < 2 or items < 2:
        return seen.undefined("two judges must have rated the same two items")
    value = kendall([[_to_fraction(column[judge]) for column in columns] for judge in range(judges)])
    if value is None:
        return seen.undefined("no judge rates any item above another")
    return seen.defined(value, _read_w)


@dataclass(frozen=True, slots=True)
class _Measured:
    """A measure before its value is known."""

    measure: str
    judges: int
    silent: int
    items: int
    left_out: int

    def undefined(self, because: str) -> Agreement:
        return Agreement(self.measure, None, "", because, self.judges, self.silent, self.items, self.left_out)

    def defined(self, exact: Fraction, reading: Callable[[float], str]) -> Agreement:
        value = float(exact)
        words = reading(value) + (", but it rests on few items" if self.items < FEW_ITEMS else "")
        return Agreement(self.measure, value, words, "", self.judges, self.silent, self.items, self.left_out)


class _Grid:
    """Ratings as rows of judges with ratings, and as columns of items."""

    def __init__(self, ratings: Ratings) -> None:
        lengths = {len(row) for row in ratings}
        if len(lengths) > 1:
            raise InvalidInputError(
                "The judges' rows differ in length.", "Give each judge a rating or None for every item."
            )
        self.given = len(ratings)
        self.number = lengths.pop() if lengths else 0
        self.rows = [row for row in ratings if any(value is not None for value in row)]
        self.columns: list[tuple[Rating, ...]] = list(zip(*self.rows, strict=True))

    def complete(self) -> list[tuple[Rating, ...]]:
        """Return the items that every judge with ratings rated."""
        return [column for column in self.columns if None not in column]

    def measured(self, name: str, items: int) -> _Measured:
        return _Measured(name, len(self.rows), self.given - len(self.rows), items, self.number - items)

    def check_numbers(self, *, negative: bool) -> None:
        for row in self.rows:
            for value in row:
                if value is None:
                    continue
                if isinstance(value, str | bool) or not math.isfinite(value) or (value < 0 and not negative):
                    raise InvalidInputError(
                        f"The rating {value!r} cannot be used at this level of measurement.",
                        "Give finite numbers (0 or more for ratios), or measure at the nominal level.",
                    )


def _to_fraction(value: Rating) -> Fraction:
    """Convert a rating already checked to be a number."""
    assert isinstance(value, int | float | Fraction)  # noqa: S101
    return Fraction(value)


_WEIGHTS = {Weighting.NONE: nominal, Weighting.LINEAR: linear, Weighting.QUADRATIC: quadratic}


def _read_alpha(value: float) -> str:
    if value >= 0.8:
        return "reliable"
    if value >= 0.667:
        return "good enough for tentative conclusions only"
    if value > 0:
        return "not reliable: some agreement, too little to build on"
    return "no better than chance" if value == 0 else "worse than chance: the judges disagree in a pattern"


def _read_kappa(value: float) -> str:
    if value < 0:
        return "poor agreement, worse than chance"
    names = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))
    return next((name for most, name in names if value <= most), "almost perfect") + " agreement"


def _read_w(value: float) -> str:
    names = ((0.2, "very weak"), (0.4, "weak"), (0.6, "moderate"), (0.8, "strong"))
    return next((name for most, name in names if value < most), "unusually strong") + " agreement in ranking"
