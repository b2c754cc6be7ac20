"""Strengths of players: against closed forms, another library's fit, and what must not change them."""

from __future__ import annotations

import math
from itertools import permutations

import pytest

from disputatio.evaluation.statistics.strengths import PRIOR, Game, find_unbounded, find_unconnected, fit_strengths

PLAYERS = ("ant", "bee", "cat")


def both_sides(first: str, second: str, points: float) -> list[Game]:
    return [Game(first, second, points), Game(second, first, 1 - points)]


def test_two_players_match_the_solution_by_hand() -> None:
    # Six wins of eight, the same on either side: 8 * (3/4 - logistic(d)) is the pull of the prior on +-d/2.
    games = [*both_sides("ant", "bee", 1) * 3, *both_sides("ant", "bee", 0)]
    low, high = 0.0, 5.0
    for _ in range(80):
        middle = (low + high) / 2
        pull = 8 * (0.75 - 1 / (1 + math.exp(-middle))) - middle / 2 / PRIOR**2
        low, high = (middle, high) if pull > 0 else (low, middle)
    found = dict(fit_strengths(("ant", "bee"), games).players)
    assert found["ant"].value * 2 == pytest.approx(low, abs=1e-3)
    assert found["ant"].value == pytest.approx(-found["bee"].value, abs=1e-6)


@pytest.mark.slow
def test_many_matches_match_a_logistic_regression() -> None:
    import numpy as np
    import statsmodels.api as sm

    tallies = {("ant", "bee"): 30, ("bee", "cat"): 24, ("ant", "cat"): 33, ("bee", "ant"): 18, ("cat", "bee"): 21}
    games = [Game(pro, con, float(n < won)) for (pro, con), won in tallies.items() for n in range(40)]
    rows, points = [], []
    for row in games:
        line = [0.0, 0.0, 1.0]
        for name, sign in ((row.pro, 1.0), (row.con, -1.0)):
            if name != "cat":
                line[PLAYERS.index(name)] += sign
        rows.append(line)
        points.append(row.points)
    fitted = sm.GLM(np.array(points), np.array(rows), family=sm.families.Binomial()).fit().params
    found = fit_strengths(PLAYERS, games)
    values = dict(found.players)
    # The prior holds two hundred matches back by a little.
    assert values["ant"].value - values["cat"].value == pytest.approx(fitted[0], abs=0.03)
    assert found.side.value == pytest.approx(fitted[2], abs=0.03)
    # Wald intervals are right for so many matches, and the profile comes to nearly the same width.
    assert all(row.low < row.value < row.high for row in values.values())


@pytest.mark.slow
def test_names_and_order_do_not_matter_and_wins_never_harm() -> None:
    games = [*both_sides("ant", "bee", 1), *both_sides("bee", "cat", 0.5), *both_sides("ant", "cat", 0)]
    first = dict(fit_strengths(PLAYERS, games).players)
    for order in permutations(PLAYERS):
        again = dict(fit_strengths(order, games[::-1]).players)
        assert all(again[name].value == pytest.approx(first[name].value, abs=1e-3) for name in PLAYERS)
    better = dict(fit_strengths(PLAYERS, [*games, *both_sides("bee", "cat", 1)]).players)
    assert better["bee"].value > first["bee"].value
    assert sum(row.value for row in first.values()) == pytest.approx(0, abs=1e-6)


def test_draws_leave_players_equal_and_sides_are_separate() -> None:
    drawn = fit_strengths(PLAYERS, [*both_sides("ant", "bee", 0.5), *both_sides("bee", "cat", 0.5)])
    assert all(row.value == pytest.approx(0, abs=1e-4) for _, row in drawn.players)
    assert drawn.places("ant") == (1, 3)
    pro_wins = [Game(a, b, 1.0) for a in PLAYERS for b in PLAYERS if a != b for _ in range(3)]
    leaning = fit_strengths(PLAYERS, pro_wins)
    assert all(row.value == pytest.approx(0, abs=1e-3) for _, row in leaning.players)
    assert leaning.side.low > 0


def test_an_undefeated_player_has_a_finite_strength() -> None:
    games = [*both_sides("ant", "bee", 1), *both_sides("ant", "cat", 1), *both_sides("bee", "cat", 0.5)]
    found = dict(fit_strengths(PLAYERS, games).players)
    assert math.isfinite(found["ant"].high)
    assert find_unbounded(PLAYERS, games) == (("ant",), ())
    assert find_unconnected(PLAYERS, games[:2]) == (("ant", "bee"), ("cat",))
    assert find_unconnected(PLAYERS, games) == ()
    assert fit_strengths(PLAYERS, []) is None
