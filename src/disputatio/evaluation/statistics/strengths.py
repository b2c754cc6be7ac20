"""Estimate the strength of tournament players from match results (the extra "statistics").

    chance that A, speaking for the motion, wins against B  =  logistic(strength A - strength B + side)

This is the model of Bradley and Terry (1952) with one term for the side, like a home advantage. A draw counts as half a
win for each, since the likelihood has no term for draws. Strengths and the side have a normal prior around zero with
deviation ``PRIOR`` (log-odds). Without it, the strength of a player who won every match would be infinite. scipy finds
the maximum.

The interval of a strength is the profile of the likelihood with that prior. It contains all values that, with
everything else refitted, lose less than half the 95 % point of chi squared with one degree of freedom. It is valid for
few matches, unlike intervals from curvature. The prior alone bounds it above a player who won everything; the report
says so. Matches are taken as independent; if matches on one topic are not, the intervals are too narrow.

Strengths are shown in Elo points, 400 to a factor of ten in the odds; zero is the mean of the field.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from disputatio.evaluation.statistics.intervals import ALPHA, require_statistics
from disputatio.kernel import JsonObject

PRIOR = 2.0
ELO = 400 / math.log(10)
_FARTHEST = 16.0
"""In log-odds; the prior excludes anything beyond."""


@dataclass(frozen=True, slots=True)
class Game:
    """One match with a result: who spoke for and against, and the points of ``pro``: 1, 1/2 or 0."""

    pro: str
    con: str
    points: float


@dataclass(frozen=True, slots=True)
class Strength:
    """A number in log-odds with its 95 % profile interval."""

    value: float
    low: float
    high: float

    @property
    def chance(self) -> float:
        """The chance of beating a player of mean strength without a side effect; 0 to 1."""
        return 1 / (1 + math.exp(-self.value))

    def as_json(self) -> JsonObject:
        """In log-odds and in Elo points."""
        elo = {"value": round(self.value * ELO), "low": round(self.low * ELO), "high": round(self.high * ELO)}
        odds = {"value": round(self.value, 4), "low": round(self.low, 4), "high": round(self.high, 4)}
        return {"log_odds": odds, "elo": elo, "chance_against_the_mean": round(self.chance, 4)}


@dataclass(frozen=True, slots=True)
class Strengths:
    """The players with their strengths, strongest first, and what speaking for the motion is worth."""

    players: tuple[tuple[str, Strength], ...]
    side: Strength

    def places(self, player: str) -> tuple[int, int]:
        """The best and the worst place of ``player`` that the intervals allow."""
        own = dict(self.players)[player]
        above = sum(row.low > own.high for name, row in self.players if name != player)
        below = sum(row.high < own.low for name, row in self.players if name != player)
        return above + 1, len(self.players) - below


def fit_strengths(players: Sequence[str], games: Sequence[Game]) -> Strengths | None:
    """Fit the strengths of ``players``; None without a result or with fewer than two players."""
    if not games or len(players) < 2:
        return None
    fit = _Fit(players, games)
    best = fit.lowest(None)
    size = len(players)
    values = [fit.contrast(place) @ best.x for place in range(size)]
    found = [_profile(fit, fit.contrast(place), float(value), best.fun) for place, value in enumerate(values)]
    side = fit.contrast(None)
    rows = sorted(zip(players, found, strict=True), key=lambda row: (-row[1].value, row[0]))
    return Strengths(tuple(rows), _profile(fit, side, float(side @ best.x), best.fun))


class _Fit:
    """The likelihood with its prior, for scipy: one number for each player, then the side."""

    def __init__(self, players: Sequence[str], games: Sequence[Game]) -> None:
        with require_statistics():
            import numpy as np

        place = {name: number for number, name in enumerate(players)}
        self._np = np
        self._size = len(players)
        self._pro = np.array([place[row.pro] for row in games])
        self._con = np.array([place[row.con] for row in games])
        self._points = np.array([row.points for row in games])

    def contrast(self, player: int | None) -> Any:
        """The weights of a player against the mean of the field; of the side for None."""
        weights = self._np.zeros(self._size + 1)
        if player is None:
            weights[-1] = 1.0
        else:
            weights[: self._size] = -1 / self._size
            weights[player] += 1.0
        return weights

    def _loss(self, numbers: Any) -> tuple[float, Any]:
        """The negative logarithm of likelihood and prior, and its gradient."""
        np = self._np
        odds = numbers[self._pro] - numbers[self._con] + numbers[-1]
        loss = np.sum(np.logaddexp(0.0, odds) - self._points * odds) + np.sum(numbers**2) / (2 * PRIOR**2)
        error = 1 / (1 + np.exp(-odds)) - self._points
        slope = numbers / PRIOR**2
        np.add.at(slope, self._pro, error)
        np.add.at(slope, self._con, -error)
        slope[-1] += error.sum()
        return float(loss), slope

    def lowest(self, held: tuple[Any, float] | None) -> Any:
        """Find the best fit, optionally with a contrast fixed at a value."""
        with require_statistics():
            from scipy.optimize import minimize  # type: ignore[import-untyped]
        start = self._np.zeros(self._size + 1)
        if held is None:
            return minimize(self._loss, start, jac=True, method="L-BFGS-B")
        weights, value = held
        bound = {"type": "eq", "fun": lambda x: weights @ x - value, "jac": lambda _: weights}
        start = weights * value / (weights @ weights)
        return minimize(self._loss, start, jac=True, method="SLSQP", constraints=[bound])


def _profile(fit: _Fit, weights: Any, value: float, lowest: float) -> Strength:
    with require_statistics():
        from scipy.optimize import brentq
        from scipy.stats import chi2  # type: ignore[import-untyped]
    allowed = float(chi2.ppf(1 - ALPHA, 1)) / 2

    def lost(at: float) -> float:
        return float(fit.lowest((weights, at)).fun) - lowest - allowed

    return Strength(value, _edge(lost, value, -1, brentq), _edge(lost, value, 1, brentq))


def _edge(lost: Callable[[float], float], value: float, way: int, root: Callable[..., float]) -> float:
    """Find where the profile crosses, on one side of ``value``."""
    step = 0.5
    while lost(value + way * step) < 0 and step < _FARTHEST:
        step *= 2
    return float(root(lost, value, value + way * step, xtol=1e-4)) if step < _FARTHEST else value + way * step


def find_unbounded(players: Sequence[str], games: Sequence[Game]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the players who won all of their matches, and those who lost all of them."""
    points: dict[str, list[float]] = {name: [] for name in players}
    for row in games:
        points[row.pro].append(row.points)
        points[row.con].append(1 - row.points)
    winners = tuple(name for name, rows in points.items() if rows and min(rows) == 1)
    losers = tuple(name for name, rows in points.items() if rows and max(rows) == 0)
    return winners, losers


def find_unconnected(players: Sequence[str], games: Sequence[Game]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of players that no result connects; empty if there is only one group."""
    group = {name: name for name in players}
    for row in games:
        old, new = group[row.con], group[row.pro]
        group = {name: new if head == old else head for name, head in group.items()}
    heads = dict.fromkeys(group.values())
    groups = tuple(tuple(name for name in players if group[name] == head) for head in heads)
    return groups if len(groups) > 1 else ()
