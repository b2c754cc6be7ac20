"""The coefficients of agreement as exact fractions, from counts and ranks.

Exact sums are equal on every machine and need no library. Tests compare them with krippendorff, scikit-learn,
statsmodels and scipy, and with published examples.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

Distance = Callable[[int, int], Fraction]


def alpha(counts: Sequence[Sequence[int]], distance: Distance) -> Fraction:
    """Krippendorff's alpha: 1 less observed over expected disagreement (Krippendorff 2011, "Computing Alpha", D).

    Args:
        counts: for each item with two ratings or more, how often each value was given.
        distance: of two values by their places; 0 for equal values.

    Raises:
        ZeroDivisionError: all ratings are the same.
    """
    values = range(len(counts[0]))
    totals = [sum(row[value] for row in counts) for value in values]
    pairable = sum(totals)
    apart = {(one, other): distance(one, other) for one in values for other in values if one != other}
    observed = sum(
        (row[one] * row[other] * apart[one, other] / (sum(row) - 1) for row in counts for one, other in apart),
        Fraction(),
    )
    expected = sum((totals[one] * totals[other] * apart[one, other] for one, other in apart), Fraction())
    return 1 - (pairable - 1) * observed / expected


def nominal(one: int, other: int) -> Fraction:
    """Values are the same or not."""
    return Fraction(one != other)


def ordinal(counts: Sequence[Sequence[int]]) -> Distance:
    """Values differ by the squared number of ratings between them, including half of their own."""
    totals = [sum(column) for column in zip(*counts, strict=True)]

    def distance(one: int, other: int) -> Fraction:
        low: int
        high: int
        low, high = sorted((one, other))
        between: Fraction = sum(totals[low : high + 1]) - Fraction(totals[low] + totals[high], 2)
        return between * between

    return distance


def interval(values: Sequence[Fraction]) -> Distance:
    """Values differ by the square of their difference."""
    return lambda one, other: (values[one] - values[other]) ** 2


def ratio(values: Sequence[Fraction]) -> Distance:
    """Values differ by the square of their difference over their sum."""
    return lambda one, other: ((values[one] - values[other]) / (values[one] + values[other])) ** 2


def cohen(pairs: Sequence[tuple[int, int]], categories: int, weight: Distance) -> Fraction:
    """Cohen's kappa, weighted (Cohen 1968): 1 less observed over expected weighted disagreement.

    Args:
        pairs: the places of the categories that the two judges gave an item.
        categories: how many there are.
        weight: how much a disagreement counts; 0 for agreement.

    Raises:
        ZeroDivisionError: both judges always gave the same category.
    """
    first = [sum(one == place for one, _ in pairs) for place in range(categories)]
    second = [sum(other == place for _, other in pairs) for place in range(categories)]
    observed = sum((weight(one, other) for one, other in pairs), Fraction())
    expected = sum(
        (first[one] * second[other] * weight(one, other) for one in range(categories) for other in range(categories)),
        Fraction(),
    )
    return 1 - len(pairs) * observed / expected


def linear(one: int, other: int) -> Fraction:
    """Weight a disagreement by its distance in categories."""
    return Fraction(abs(one - other))


def quadratic(one: int, other: int) -> Fraction:
    """Weight a disagreement by the square of its distance in categories."""
    return Fraction((one - other) ** 2)


def fleiss(table: Sequence[Sequence[int]]) -> Fraction:
    """Fleiss' kappa (Fleiss 1971) of items by categories, with the same number of judges for each item.

    Raises:
        ZeroDivisionError: all ratings are the same.
    """
    judges, items = sum(table[0]), len(table)
    agreed = sum(count * (count - 1) for row in table for count in row)
    observed = Fraction(agreed, items * judges * (judges - 1))
    shares = [Fraction(sum(column), items * judges) for column in zip(*table, strict=True)]
    expected = sum((share**2 for share in shares), Fraction())
    return (observed - expected) / (1 - expected)


def kendall(rows: Sequence[Sequence[Fraction]]) -> Fraction | None:
    """Kendall's W, corrected for ties (Kendall and Gibbons 1990, "Rank Correlation Methods", section 6).

    Args:
        rows: for each judge a number for each item.

    Returns:
        0 to 1; None if no judge ranks any item above another.
    """
    ranks = [_ranks(row) for row in rows]
    judges, items = len(rows), len(rows[0])
    # T is the sum of t^3 - t over runs of ties.
    ties = sum(run**3 - run for row in ranks for run in (row.count(value) for value in set(row)))
    whole = judges**2 * (items**3 - items) - judges * ties
    if whole == 0:
        return None
    spread = sum(
        ((sum(row[item] for row in ranks) - Fraction(judges * (items + 1), 2)) ** 2 for item in range(items)),
        Fraction(),
    )
    return 12 * spread / whole


def _ranks(row: Sequence[Hashable]) -> list[Fraction]:
    """Rank from 1; ties share the mean of their ranks."""
    places: dict[Hashable, list[int]] = {}
    for place, value in enumerate(sorted(row), start=1):  # type: ignore[type-var]
        places.setdefault(value, []).append(place)
    return [Fraction(sum(places[value]), len(places[value])) for value in row]
