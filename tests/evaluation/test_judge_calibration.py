"""The judge's weights: searched on recorded marks, walk-forward, and worth using only where they gain out of sample."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from math import comb

import numpy as np
import pytest
from backtest_stage import PLAN

from disputatio.evaluation.backtest.cases import Case
from disputatio.evaluation.backtest.forecasts import DateRecord, forecast_lenses, forecast_up, read_arguments
from disputatio.evaluation.backtest.judge_weights import (
    CRITERIA,
    EQUAL,
    PARTS,
    USUAL,
    _forecasts,
    calibrate_judge,
    list_weightings,
    render_calibration_lines,
)
from disputatio.evaluation.backtest.labels import Label
from disputatio.evaluation.experiment import Spending

WINDOWS = replace(PLAN, first_window=40, window=12, embargo=1)


def outcome(marks: dict[str, list[int]], weights: tuple[int, ...] = USUAL) -> dict[str, object]:
    """A verdict with one argument a seat; the weighted score is worked out from ``weights``."""
    rows = []
    for seat, points in marks.items():
        score = sum(part * mark for part, mark in zip(weights, points, strict=True)) / PARTS
        row = {
            "id": f"{seat}_arg_0",
            "side": seat,
            "weighted": score,
            "criteria": dict(zip(CRITERIA, points, strict=True)),
        }
        rows.append({**row, "confidence": 0.6, "confidence_adjusted": 0.6, "judged": "UPHELD", "not_borne_out": []})
    return {"trace": rows}


def recorded(day: date, marks: dict[str, list[int]]) -> DateRecord:
    body = outcome(marks)
    flags = {"by_rules": False, "harness": False, "spent": Spending()}
    return DateRecord(Case(day), "x", "COMPLETE", forecast_lenses(body), {}, read_arguments(body), (), "", "", **flags)


def history(informed: str | None, seed: int) -> tuple[list[Label], list[DateRecord]]:
    """200 dates; the mark of one criterion is higher for the side that is right, or no mark knows anything."""
    chance = np.random.default_rng(seed)
    labels, records = [], []
    for place in range(200):
        day, up = date(2000, 1, 1) + timedelta(days=30 * place), bool(chance.random() < 0.6)
        seats = ("tech_bull", "tech_bear", "macro_bull", "macro_bear")
        marks = {seat: chance.integers(3, 9, len(CRITERIA)).tolist() for seat in seats}
        if informed:
            for seat, points in marks.items():
                wins = seat.endswith("bull") == up
                points[CRITERIA.index(informed)] = int(chance.integers(6, 10) if wins else chance.integers(1, 5))
        labels.append(Label(day, day + timedelta(days=1), day + timedelta(days=30), 0.01 if up else -0.01, up, None))
        records.append(recorded(day, marks))
    return labels, records


def test_the_grid_is_the_whole_simplex():
    grid = list_weightings()
    assert len(grid) == len(set(grid)) == comb(PARTS + 3, 3)
    assert all(sum(row) == PARTS and min(row) >= 0 for row in grid)
    assert USUAL == (6, 6, 4, 4)
    assert {USUAL, EQUAL} <= set(grid)


@pytest.mark.parametrize("weights", [USUAL, EQUAL, (20, 0, 0, 0), (1, 2, 3, 14)])
def test_a_weighting_gives_the_forecast_of_the_formula(weights):
    marks = {"tech_bull": [8, 7, 6, 5], "tech_bear": [4, 9, 5, 7], "fund_bear": [6, 6, 6, 6]}
    found = _forecasts(recorded(date(2000, 1, 1), marks), np.asarray([weights]))
    assert found[0] == pytest.approx(forecast_up(outcome(marks, weights)))


@pytest.mark.slow
def test_a_criterion_that_knows_is_found_and_shipped():
    labels, records = history("evidence", 4)
    found = calibrate_judge(WINDOWS, labels, records)
    assert all(row.index(max(row)) == CRITERIA.index("evidence") for row in found.chosen)
    assert found.shipped
    assert found.scores["chosen"].brier_out < found.scores["equal"].brier_out
    assert found.dates == 160


@pytest.mark.slow
def test_marks_that_know_nothing_gain_in_sample_alone():
    inside, outside, shipped = [], [], 0
    for seed in range(8):
        found = calibrate_judge(WINDOWS, *history(None, seed))
        chosen, equal = found.scores["chosen"], found.scores["equal"]
        inside.append(equal.brier_in - chosen.brier_in)
        outside.append(equal.brier_out - chosen.brier_out)
        shipped += found.shipped
    assert min(inside) > 0
    assert np.mean(outside) < np.mean(inside) / 2
    assert shipped <= 1
    lines = "\n".join(render_calibration_lines(found))
    assert "Brier in" in lines
    assert "out of sample" in lines


@pytest.mark.slow
def test_the_future_of_a_window_does_not_choose_its_weights():
    """What comes after a window is exchanged: the choices before it stay."""
    labels, records = history("logic", 5)
    other_labels, other_records = history("clarity", 6)
    first = calibrate_judge(WINDOWS, labels, records)
    mixed = calibrate_judge(WINDOWS, [*labels[:100], *other_labels[100:]], [*records[:100], *other_records[100:]])
    assert mixed.chosen[:5] == first.chosen[:5]
    assert mixed.chosen[-1] != first.chosen[-1]


def test_too_few_dates_are_not_calibrated():
    labels, records = history("logic", 5)
    assert calibrate_judge(WINDOWS, labels[:52], records[:52]) is None
