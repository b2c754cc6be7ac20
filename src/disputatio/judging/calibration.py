"""Calibrate a judge's scale against items whose value is known.

A curve from the judge's points to the known values is fitted, and used only if it helps:

    1. An isotonic curve (rising; pool adjacent violators, Ayer et al. 1955) needs 50 items, a straight line 20. With
       fewer items a simpler curve is used, below 20 none. Twenty is ten items for each of a line's two numbers
       (Harrell, "Regression Modeling Strategies", section 4.4, asks for 10 to 20). Fifty is five items for each point
       of a ten-point scale, our choice. Niculescu-Mizil and Caruana 2005, "Predicting Good Probabilities With
       Supervised Learning", show that isotonic curves overfit small sets.
    2. A curve that falls or is flat is refused: the scores then say nothing about the known values.
    3. A curve must lower the mean absolute error on items it was not fitted to (ten-fold cross-validation, folds by
       item id in sorted order).

A refused curve changes no score, and the reason is given. All numbers are exact fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise

from disputatio.errors import InvalidInputError
from disputatio.judging.scoring import HIGHEST, LOWEST, round_half_up
from disputatio.kernel import JsonObject

MIN_FOR_LINE, MIN_FOR_ISOTONIC = 20, 50
FOLDS = 10
_Point = tuple[Fraction, Fraction]


class Curve(StrEnum):
    """The shape of a calibration."""

    NONE = "none"
    LINE = "line"
    ISOTONIC = "isotonic"


@dataclass(frozen=True, slots=True)
class KnownItem:
    """The points a judge gave an item, and its known value on the same scale."""

    item: str
    given: Fraction
    known: Fraction


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far a judge is from known values, in points; None without items.

    Attributes:
        items: how many were compared.
        absolute: mean size of the difference.
        bias: mean of given less known; a generous judge is above zero.
        largest: the largest difference.
    """

    items: int
    absolute: Fraction | None
    bias: Fraction | None
    largest: Fraction | None

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        rows = {"absolute": self.absolute, "bias": self.bias, "largest": self.largest}
        return {"items": self.items, **{key: None if v is None else round_half_up(v, 4) for key, v in rows.items()}}


@dataclass(frozen=True, slots=True)
class Calibration:
    """A curve from a judge's points to known values.

    Attributes:
        curve: the shape; NONE changes no score.
        points: corners of the curve, rising; straight between them, level outside.
        lowest: the least value of the scale, a bound of adjusted scores.
        highest: the greatest value of the scale, a bound of adjusted scores.
        before: deviation of the given scores.
        after: mean absolute error on items the curve was not fitted to; None under NONE.
        reason: why this curve, in one sentence.
    """

    curve: Curve
    points: tuple[_Point, ...]
    lowest: Fraction
    highest: Fraction
    before: Deviation
    after: Fraction | None
    reason: str

    def adjusted(self, score: Fraction) -> Fraction:
        """Return ``score`` on the scale of the known values."""
        if self.curve is Curve.NONE:
            return score
        return min(max(_interpolate(self.points, score, level=self.curve is Curve.ISOTONIC), self.lowest), self.highest)

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        return {
            "curve": self.curve.value,
            "points": [[round_half_up(x, 4), round_half_up(y, 4)] for x, y in self.points],
            "scale": [round_half_up(self.lowest, 4), round_half_up(self.highest, 4)],
            "before": self.before.as_json(),
            "after": None if self.after is None else round_half_up(self.after, 4),
            "reason": self.reason,
        }


def measure_deviation(items: Iterable[KnownItem]) -> Deviation:
    """Measure how far the given points are from the known values."""
    off = [row.given - row.known for row in items]
    if not off:
        return Deviation(0, None, None, None)
    size = sum(map(abs, off), Fraction(0))
    return Deviation(len(off), size / len(off), sum(off, Fraction(0)) / len(off), max(map(abs, off)))


def calibrate(
    items: Sequence[KnownItem],
    wanted: Curve = Curve.ISOTONIC,
    lowest: Fraction = Fraction(LOWEST),
    highest: Fraction = Fraction(HIGHEST),
) -> Calibration:
    """Fit the ``wanted`` curve, or a simpler one if there are too few items.

    Raises:
        InvalidInputError: the scale is empty, an item comes twice, or a known value is outside the scale.
    """
    _check(items, lowest, highest)
    before = measure_deviation(items)
    curve, why = _choose_curve(len(items), wanted)
    rows = sorted(items, key=lambda row: row.item)
    points = _FITS[curve]([(row.given, row.known) for row in rows]) if curve is not Curve.NONE else ()
    if curve is not Curve.NONE and points[0][1] >= points[-1][1]:
        curve, why = Curve.NONE, "the judge's scores do not rise with the known values, so no curve is used"
    after = None if curve is Curve.NONE else _cross_validate(rows, curve, (lowest, highest))
    if after is not None and before.absolute is not None and after >= before.absolute:
        why = (
            f"the {curve.value} curve would leave a mean error of {float(after):.2f} on items it was not fitted to, "
            f"against {float(before.absolute):.2f} as given, so no curve is used"
        )
        curve, after = Curve.NONE, None
    return Calibration(curve, () if curve is Curve.NONE else points, lowest, highest, before, after, why)


def _check(items: Sequence[KnownItem], lowest: Fraction, highest: Fraction) -> None:
    if lowest >= highest:
        raise InvalidInputError("The scale is empty.", "Give a lowest value below the highest.")
    if len({row.item for row in items}) < len(items):
        raise InvalidInputError("An item is known twice.", "Give each item once.")
    outside = [row.item for row in items if not lowest <= row.known <= highest]
    if outside:
        raise InvalidInputError(
            f"The known value of {outside[0]} is outside the scale of {float(lowest):g} to {float(highest):g}.",
            "Bring the known values onto the judge's scale.",
        )


def _choose_curve(number: int, wanted: Curve) -> tuple[Curve, str]:
    if wanted is Curve.ISOTONIC and number >= MIN_FOR_ISOTONIC:
        return Curve.ISOTONIC, f"{number} items are enough for an isotonic curve"
    if wanted is not Curve.NONE and number >= MIN_FOR_LINE:
        if wanted is Curve.LINE:
            return Curve.LINE, f"{number} items are enough for a line"
        return Curve.LINE, f"{number} items are too few for an isotonic curve, {MIN_FOR_ISOTONIC} are needed: a line"
    if wanted is Curve.NONE:
        return Curve.NONE, "no curve was wanted"
    return Curve.NONE, f"{number} items are too few to calibrate by, {MIN_FOR_LINE} are needed"


def _fit_line(points: Sequence[_Point]) -> tuple[_Point, ...]:
    """Fit by least squares; return the line's points at the outermost scores."""
    number = len(points)
    mean_x = sum((x for x, _ in points), Fraction(0)) / number
    mean_y = sum((y for _, y in points), Fraction(0)) / number
    spread = sum(((x - mean_x) ** 2 for x, _ in points), Fraction(0))
    slope = sum(((x - mean_x) * (y - mean_y) for x, y in points), Fraction(0)) / spread if spread else Fraction(0)
    ends = (min(x for x, _ in points), max(x for x, _ in points))
    return tuple((x, mean_y + slope * (x - mean_x)) for x in ends)


def _fit_isotonic(points: Sequence[_Point]) -> tuple[_Point, ...]:
    """Fit the nearest rising curve in squares, with a corner at each given score."""
    known: dict[Fraction, list[Fraction]] = {}
    for x, y in points:
        known.setdefault(x, []).append(y)
    blocks: list[tuple[list[Fraction], Fraction, int]] = []
    for x in sorted(known):
        block = ([x], sum(known[x], Fraction(0)), len(known[x]))
        while blocks and blocks[-1][1] * block[2] >= block[1] * blocks[-1][2]:
            earlier = blocks.pop()
            block = (earlier[0] + block[0], earlier[1] + block[1], earlier[2] + block[2])
        blocks.append(block)
    return tuple((x, total / number) for xs, total, number in blocks for x in xs)


_FITS = {Curve.LINE: _fit_line, Curve.ISOTONIC: _fit_isotonic}


def _interpolate(points: Sequence[_Point], x: Fraction, *, level: bool) -> Fraction:
    """Return the curve at ``x``; beyond its ends level or straight on."""
    (first_x, first_y), (last_x, last_y) = points[0], points[-1]
    if first_x == last_x:
        return first_y
    if not level:
        return first_y + (last_y - first_y) * (x - first_x) / (last_x - first_x)
    if x <= first_x:
        return first_y
    for (left, low), (right, high) in pairwise(points):
        if x <= right:
            return low + (high - low) * (x - left) / (right - left)
    return last_y


def _cross_validate(rows: Sequence[KnownItem], curve: Curve, scale: tuple[Fraction, Fraction]) -> Fraction:
    off = Fraction(0)
    for fold in range(FOLDS):
        points = _FITS[curve]([(row.given, row.known) for i, row in enumerate(rows) if i % FOLDS != fold])
        for row in rows[fold::FOLDS]:
            fitted = _interpolate(points, row.given, level=curve is Curve.ISOTONIC)
            off += abs(min(max(fitted, scale[0]), scale[1]) - row.known)
    return off / len(rows)
