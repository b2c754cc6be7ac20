"""Estimate how reliable each judge is from how the judges agree, without known answers.

Source: Dawid and Skene 1979, "Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm", Applied
Statistics 28(1). Every item has one true class; every judge has a table of how often it gives each label to each true
class. Tables, class shares and the items' class probabilities are estimated in turn until the likelihood stops rising.
As in the paper, the start is each item's share of labels, so no randomness is needed. A judge may label an item several
times (both orders, a retest), or not at all.

Agreement is taken for truth: a panel with a shared blind spot is estimated to be right. So check a panel against known
answers as well (`consistency.report_answers`).

The estimate is in floating point, because it has no exact form. Sums do not depend on order and weights are rounded to
six decimals, so the same labels in any order give the same weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.judging.weights import Weights

# A judge's table has K * (K - 1) free numbers. With fewer items for each class all weights are equal: our choice, ten
# observations for each estimated number with two classes.
MIN_ITEMS_PER_CLASS = 10
_MAX_ROUNDS, _TOLERANCE = 1000, 1e-10
_Counts = dict[str, dict[str, dict[int, int]]]
_Labels = tuple[tuple[str, tuple[tuple[int, int], ...]], ...]
"""How often each judge, sorted, gave each label to an item."""


@dataclass(frozen=True, slots=True)
class JudgeLabel:
    """One judge's label of one item."""

    judge: str
    item: str
    label: str


@dataclass(frozen=True, slots=True)
class Reliability:
    """The estimate.

    Attributes:
        classes: every label given, sorted.
        shares: share of each class among the items.
        tables: for each judge and true class, the probability of each label.
        items: for each item, the probability of each class.
        log_likelihood: of the labels, natural logarithm.
        rounds: number of rounds.
        converged: whether the likelihood stopped rising.
    """

    classes: tuple[str, ...]
    shares: Mapping[str, float] = field(hash=False)
    tables: Mapping[str, Mapping[str, Mapping[str, float]]] = field(hash=False)
    items: Mapping[str, Mapping[str, float]] = field(hash=False)
    log_likelihood: float
    rounds: int
    converged: bool

    def skill(self, judge: str) -> float:
        """Return the rescaled mean probability of the right label: 1 is always right, 0 a guess, less is worse."""
        table, number = self.tables[judge], len(self.classes)
        if number < 2:
            return 0.0
        right = math.fsum(table[name][name] for name in self.classes) / number
        return (right - 1 / number) / (1 - 1 / number)

    def weights(self) -> Weights:
        """Weigh the judges by `skill`, with zero for one not better than guessing.

        The weights are equal, with a note, if there are too few items, one class only, no skilled judge, or no
        convergence.
        """
        judges = tuple(self.tables)
        few = MIN_ITEMS_PER_CLASS * len(self.classes)
        if len(self.classes) < 2:
            return Weights.equal(judges, "every label is the same, so no judge can be told from another")
        if len(self.items) < few:
            return Weights.equal(judges, f"{len(self.items)} items are too few to estimate from; {few} are needed")
        if not self.converged:
            return Weights.equal(judges, "the estimate did not settle")
        skills = {judge: Fraction(round(max(0.0, self.skill(judge)) * 10**6), 10**6) for judge in judges}
        if not any(skills.values()):
            return Weights.equal(judges, "no judge is estimated to do better than guessing")
        return Weights("Dawid-Skene", skills, f"estimated from {len(self.items)} items")

    def posterior(self, labels: Mapping[str, str]) -> dict[str, float]:
        """Return the probability of each class of an item with these labels.

        Raises:
            InvalidInputError: the estimate lacks a judge or a label.
        """
        for judge, label in labels.items():
            if judge not in self.tables or label not in self.classes:
                raise InvalidInputError(
                    f"Nothing is known of the label {label} by {judge}.", "Estimate from data that holds both."
                )
        logs = [
            math.fsum(
                [
                    _safe_log(self.shares[name]),
                    *(_safe_log(self.tables[judge][name][label]) for judge, label in labels.items()),
                ]
            )
            for name in self.classes
        ]
        return dict(zip(self.classes, _normalise_logs(logs)[0], strict=True))

    def decide(self, labels: Mapping[str, str]) -> str | None:
        """Return the likeliest class of an item with these labels; None for a tie."""
        ranked = sorted(self.posterior(labels).items(), key=lambda row: -row[1])
        if len(ranked) > 1 and math.isclose(ranked[0][1], ranked[1][1], rel_tol=1e-9):
            return None
        return ranked[0][0]


def estimate_reliability(labels: Iterable[JudgeLabel], smoothing: float = 0.0) -> Reliability:
    """Estimate how reliable the judges are.

    Args:
        labels: who gave which label to which item.
        smoothing: labels added to every cell of every table in each round; 0 as in the paper. A little, such as
            0.01, keeps a judge without errors in the data from counting as infallible.

    Raises:
        InvalidInputError: there are no labels, or the smoothing is negative.
    """
    rows = tuple(labels)
    if not rows or not smoothing >= 0:
        raise InvalidInputError("Nothing to estimate from, or a negative smoothing.", "Give labels, and 0 or more.")
    classes = tuple(sorted({row.label for row in rows}))
    counts = _count_labels(rows, classes)
    alike = _group_items(counts)
    # Items with the same labels have the same probabilities, so compute each kind once.
    sizes = [len(items) for items in alike.values()]
    places = _index_labels(alike, len(classes))
    posterior = [_initial_shares(given, len(classes)) for given in alike]
    before, done, converged = -math.inf, 0, False
    shares: list[float] = []
    tables: dict[str, list[list[float]]] = {}
    likelihood = -math.inf
    while done < _MAX_ROUNDS and not converged:
        shares = [
            math.fsum(row[k] * size for row, size in zip(posterior, sizes, strict=True)) / len(counts)
            for k in range(len(classes))
        ]
        tables = {judge: _estimate_table(mine, posterior, len(classes), smoothing) for judge, mine in places.items()}
        posterior, likelihood = _estimate_items(alike, shares, tables)
        done += 1
        # Smoothing shifts the maximum, so the likelihood may fall slightly: hence the absolute difference.
        converged = abs(likelihood - before) <= _TOLERANCE * max(1.0, abs(likelihood))
        before = likelihood
    known = {item: row for items, row in zip(alike.values(), posterior, strict=True) for item in items}
    return Reliability(
        classes,
        dict(zip(classes, shares, strict=True)),
        {
            judge: {name: dict(zip(classes, row, strict=True)) for name, row in zip(classes, table, strict=True)}
            for judge, table in tables.items()
        },
        {item: dict(zip(classes, known[item], strict=True)) for item in counts},
        likelihood,
        done,
        converged,
    )


def _count_labels(rows: Sequence[JudgeLabel], classes: tuple[str, ...]) -> _Counts:
    """Count each judge's labels of each item, with items and judges sorted."""
    number = {name: index for index, name in enumerate(classes)}
    counts: _Counts = {item: {} for item in sorted({row.item for row in rows})}
    for row in sorted(rows, key=lambda row: (row.item, row.judge)):
        cell = counts[row.item].setdefault(row.judge, {})
        cell[number[row.label]] = cell.get(number[row.label], 0) + 1
    return counts


def _group_items(counts: _Counts) -> dict[_Labels, list[str]]:
    """Group the items by their labels."""
    found: dict[_Labels, list[str]] = {}
    for item, given in counts.items():
        found.setdefault(tuple((judge, tuple(sorted(cell.items()))) for judge, cell in given.items()), []).append(item)
    return found


def _index_labels(alike: Mapping[_Labels, Sequence[str]], classes: int) -> dict[str, list[list[tuple[int, int]]]]:
    """For each judge and label, list the kinds of items with it, and how often in all."""
    found: dict[str, list[list[tuple[int, int]]]] = {}
    for number, (given, items) in enumerate(alike.items()):
        for judge, cell in given:
            mine = found.setdefault(judge, [[] for _ in range(classes)])
            for label, times in cell:
                mine[label].append((number, times * len(items)))
    return dict(sorted(found.items()))


def _initial_shares(given: _Labels, classes: int) -> list[float]:
    tally = [0] * classes
    for _, cell in given:
        for label, times in cell:
            tally[label] += times
    return [number / sum(tally) for number in tally]


def _estimate_table(
    mine: Sequence[Sequence[tuple[int, int]]], posterior: Sequence[Sequence[float]], classes: int, smoothing: float
) -> list[list[float]]:
    """Estimate one judge's table. A class without likely items gets a row of chance."""
    table = []
    for k in range(classes):
        row = [smoothing + math.fsum(posterior[number][k] * times for number, times in cell) for cell in mine]
        whole = math.fsum(row)
        table.append([value / whole for value in row] if whole > 0 else [1 / classes] * classes)
    return table


def _estimate_items(
    alike: Mapping[_Labels, Sequence[str]], shares: Sequence[float], tables: Mapping[str, list[list[float]]]
) -> tuple[list[list[float]], float]:
    """Return the class probabilities of each kind of item, and the log-likelihood of all labels."""
    logs = {judge: [[_safe_log(value) for value in row] for row in table] for judge, table in tables.items()}
    prior = [_safe_log(share) for share in shares]
    posterior, likelihoods = [], []
    for given, items in alike.items():
        terms = [
            prior[k] + math.fsum([times * logs[judge][k][label] for judge, cell in given for label, times in cell])
            for k in range(len(shares))
        ]
        probabilities, likelihood = _normalise_logs(terms)
        posterior.append(probabilities)
        likelihoods.append(likelihood * len(items))
    return posterior, math.fsum(likelihoods)


def _safe_log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _normalise_logs(logs: Sequence[float]) -> tuple[list[float], float]:
    """Return probabilities from logarithms, and the logarithm of their sum. Impossible labels give equal shares."""
    top = max(logs)
    if top == -math.inf:
        return [1 / len(logs)] * len(logs), -math.inf
    parts = [math.exp(value - top) for value in logs]
    whole = math.fsum(parts)
    return [part / whole for part in parts], top + math.log(whole)
