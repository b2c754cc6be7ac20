"""Comparisons and forecasts equal published worked examples, the libraries, and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from arch.bootstrap import optimal_block_length
from scipy.stats import binom, norm
from scipy.stats import bootstrap as scipy_bootstrap
from sklearn.calibration import calibration_curve
from sklearn.metrics import balanced_accuracy_score, brier_score_loss
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from disputatio.errors import InvalidInputError
from disputatio.evaluation.statistics.intervals import block_length, mean_estimate, rate, stationary_bootstrap
from disputatio.evaluation.statistics.paired import (
    PairedCounts,
    adjust_by_holm,
    check_power,
    compare_all,
    compare_in_full,
    mcnemar_exact,
    mcnemar_mid_p,
    mcnemar_power,
    paired_difference,
    simulate_answers,
)
from disputatio.evaluation.statistics.scores import (
    answer_scores,
    balanced_accuracy,
    brier_report,
    expanding_climatology,
    measure_reliability,
    selective_points,
)

AIRWAYS = PairedCounts(1, 1, 7, 12)
"""Airway hyper-responsiveness before and after transplantation (Bentur et al. 2009), as Fagerland et al. print it."""


def test_the_airways_example_matches_fagerland():
    """Fagerland, Lydersen, Laake 2013 (tests) and 2014 (intervals): .070, .039, and -.507 to -.026."""
    assert round(mcnemar_exact(AIRWAYS), 3) == 0.070
    assert round(mcnemar_mid_p(AIRWAYS), 3) == 0.039
    found = paired_difference(AIRWAYS)
    assert (round(found.value, 3), round(found.low, 3), round(found.high, 3)) == (-0.286, -0.507, -0.026)


@pytest.mark.parametrize("table", [(40, 12, 5, 43), (0, 3, 9, 0), (10, 0, 1, 3)])
def test_the_exact_test_is_that_of_statsmodels(table):
    both, first, second, neither = table
    expected = mcnemar([[both, first], [second, neither]], exact=True).pvalue
    assert mcnemar_exact(PairedCounts(*table)) == pytest.approx(expected)
    assert 0 < mcnemar_mid_p(PairedCounts(*table)) < mcnemar_exact(PairedCounts(*table))


def test_nothing_discordant_says_nothing():
    same = PairedCounts(5, 0, 0, 3)
    assert mcnemar_exact(same) == mcnemar_mid_p(same) == 1
    assert paired_difference(same).value == 0


def test_mid_p_of_equal_counts_is_one_less_half():
    assert mcnemar_exact(PairedCounts(0, 2, 2, 0)) == 1
    assert mcnemar_mid_p(PairedCounts(0, 2, 2, 0)) == pytest.approx(1 - 0.375 / 2)


def test_counts_are_of_pairs_in_order():
    assert PairedCounts.of([(True, True), (True, False), (True, False), (False, True), (False, False)]) == PairedCounts(
        1, 2, 1, 1
    )


def test_holm_is_that_of_statsmodels_by_name():
    tests = {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}
    expected = multipletests(list(tests.values()), method="holm")[1]
    assert adjust_by_holm(tests) == pytest.approx(dict(zip(tests, expected, strict=True)))
    assert adjust_by_holm({}) == {}


@pytest.mark.parametrize(
    ("items", "exact", "mid"), [(100, 0.373, 0.435), (264, 0.825, 0.850)], ids=["100 debates", "264 months"]
)
def test_power_for_ten_points_with_thirty_percent_discordant(items, exact, mid):
    """Enumerated exactly; two figures from simulation are near: .38 and .45 at 100, .83 and .85 at 264."""
    assert round(mcnemar_power(items, 0.1, 0.3, mid=False), 3) == exact
    assert round(mcnemar_power(items, 0.1, 0.3), 3) == pytest.approx(mid, abs=0.0006)
    quoted = {100: (0.38, 0.45), 264: (0.83, 0.85)}[items]
    assert (exact, mid) == pytest.approx(quoted, abs=0.016)


def test_power_is_what_simulation_finds():
    chance = np.random.default_rng(7)
    draws = chance.multinomial(100, [0.2, 0.1, 0.7], size=4000)
    table: dict[tuple[int, int], bool] = {}
    found = 0
    for first, second, _ in draws.tolist():
        if (first, second) not in table:
            table[first, second] = mcnemar_mid_p(PairedCounts(0, first, second, 0)) <= 0.05
        found += table[first, second]
    assert found / 4000 == pytest.approx(mcnemar_power(100, 0.1, 0.3), abs=0.025)


def test_without_a_gain_the_power_is_the_error_and_no_more():
    assert mcnemar_power(264, 0.0, 0.3, mid=False) <= 0.05
    assert mcnemar_power(264, 0.0, 0.3) <= 0.055
    with pytest.raises(ValueError, match="is impossible"):
        mcnemar_power(10, 0.4, 0.3)


def test_no_difference_is_claimed_within_chance():
    right = {"debate": [True] * 6 + [False] * 4, "single": [True] * 5 + [False] * 5}
    (row,) = compare_all(right, [("debate", "single")])
    assert not row.significant
    assert row.verdict.startswith("no demonstrable difference (power 0.")
    assert row.as_json()["counts"] == {"both": 5, "only_first": 1, "only_second": 0, "neither": 4}


def test_comparisons_are_judged_together():
    right = {"debate": [True] * 30 + [False] * 30, "single": [False] * 7 + [True] * 23 + [False] * 30}
    declared = [("debate", "single")]
    assert compare_all(right, declared)[0].significant
    many = {**right, **{f"other {n}": right["debate"] for n in range(9)}}
    found = compare_all(many, [*declared, *(("debate", f"other {n}") for n in range(9))])
    assert found[0].mid_p < 0.05 < found[0].adjusted


def test_balanced_accuracy_is_that_of_scikit_learn():
    chance = np.random.default_rng(3)
    known = [str(row) for row in chance.integers(0, 3, 60)]
    given = [str(row) for row in chance.integers(0, 3, 60)]
    assert balanced_accuracy(known, given) == pytest.approx(balanced_accuracy_score(known, given))
    assert answer_scores(known, given).balanced.value == pytest.approx(balanced_accuracy_score(known, given))


def test_unanswered_items_stay_in_the_denominator():
    scores = answer_scores(["yes", "yes", "no", "no"], ["yes", None, "no", None])
    assert (scores.accuracy.count, scores.accuracy.of) == (2, 4)
    assert (scores.coverage.count, scores.precision.count, scores.precision.of) == (2, 2, 2)
    assert scores.balanced.value == 0.5


def test_brier_is_that_of_scikit_learn_and_its_parts_add_up():
    chance = np.random.default_rng(5)
    p = chance.random(200)
    y = chance.random(200) < p
    found = brier_report(p, y, [0.5] * 200)
    assert found.score == pytest.approx(brier_score_loss(y, p))
    parts = found.reliability - found.resolution + found.uncertainty + found.within_bins
    assert parts == pytest.approx(found.score)
    assert found.skill == pytest.approx(1 - found.score / 0.25)


def test_forecasts_of_few_values_have_murphys_three_parts_alone():
    """Worked by hand: of ten, five at .8 of which four came, five at .2 of which two came."""
    p = [0.8] * 5 + [0.2] * 5
    y = [True] * 4 + [False] + [True] * 2 + [False] * 3
    found = brier_report(p, y)
    assert found.within_bins == pytest.approx(0)
    assert found.uncertainty == pytest.approx(0.24)
    assert found.reliability == pytest.approx(0.02)
    assert found.resolution == pytest.approx(0.04)
    assert found.score == pytest.approx(0.22)


def test_climatology_knows_the_past_alone():
    assert expanding_climatology([True, False, True]) == (None, 1.0, 0.5)
    assert expanding_climatology([True], before=[False, True]) == (0.5,)


def test_a_calibrated_forecaster_has_an_ece_above_zero():
    """One hundred forecasts, most of them between .4 and .8: about .08 on average, 95 in 100 below .13."""
    chance = np.random.default_rng(11)
    p = np.clip(norm.rvs(0.6, 0.1, size=100, random_state=11), 0.05, 0.95)
    found = measure_reliability(p, chance.random(100) < p)
    assert 0.05 < found.null_mean < 0.11
    assert 0.10 < found.null_95 < 0.16
    assert not found.miscalibrated
    assert sum(row.count for row in found.bins) == 100


def test_an_overconfident_forecaster_is_beyond_the_band():
    chance = np.random.default_rng(2)
    p = np.where(chance.random(300) < 0.5, 0.95, 0.05)
    assert measure_reliability(p, chance.random(300) < 0.5).miscalibrated


def test_a_base_rate_forecast_has_no_ece_and_no_resolution():
    y = [True] * 60 + [False] * 40
    assert measure_reliability([0.6] * 100, y).ece == pytest.approx(0)
    assert brier_report([0.6] * 100, y).resolution == pytest.approx(0)


@pytest.mark.parametrize("p", [[], [1.2], [float("nan")]])
def test_what_is_no_probability_is_refused(p):
    with pytest.raises(InvalidInputError):
        brier_report(p, [True] * len(p))


def test_coverage_falls_and_counts_are_of_what_is_answered():
    points = selective_points([0.9, 0.6, 0.4, None], [True, False, True, True], [0.0, 0.5, 0.8])
    assert [(row.coverage.count, row.precision.count, row.precision.of) for row in points] == [
        (3, 2, 3),
        (2, 1, 2),
        (1, 1, 1),
    ]


def test_the_stationary_bootstrap_widens_with_blocks():
    chance = np.random.default_rng(4)
    steps = chance.normal(size=300)
    series = np.convolve(steps, np.ones(8) / 8, mode="same") + 1
    short = stationary_bootstrap([series], lambda row: float(row.mean()), block=1, resamples=300)
    own = stationary_bootstrap([series], lambda row: float(row.mean()), resamples=300)
    assert own.low < series.mean() < own.high
    assert own.block > 3
    assert own.high - own.low > short.high - short.low


def test_the_mean_block_is_that_of_politis_and_white_in_arch():
    chance = np.random.default_rng(4)
    series = np.convolve(chance.normal(size=200), np.ones(5) / 5, mode="same")
    assert block_length(series) == pytest.approx(float(optimal_block_length(series)["stationary"].iloc[0]))


def test_wilson_intervals_match_newcombe():
    """Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3."""
    for count, of, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611)):
        assert (rate(count, of).low, rate(count, of).high) == pytest.approx((low, high), abs=5e-5)
    assert (rate(1, 29).low, rate(1, 29).high) == pytest.approx((0.0061, 0.1718), abs=5e-5)


def test_the_interval_of_a_mean_is_scipys_percentile_bootstrap():
    values = np.random.default_rng(8).gamma(2.0, size=60)
    found = mean_estimate(values.tolist())
    theirs = scipy_bootstrap((values,), np.mean, n_resamples=4000, method="percentile", rng=1).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.06)


def test_the_diagram_matches_scikit_learn():
    chance = np.random.default_rng(6)
    p = chance.random(400)
    y = chance.random(400) < p
    observed, forecast = calibration_curve(y, p, n_bins=10)
    rows = [row for row in measure_reliability(p, y).bins if row.count]
    assert [row.observed for row in rows] == pytest.approx(observed.tolist())
    assert [row.forecast for row in rows] == pytest.approx(forecast.tolist())
    same = measure_reliability([0.65] * 50, [True] * 50)
    (only,) = [row for row in same.bins if row.count]
    assert only.null == pytest.approx((binom.ppf(0.025, 50, 0.65) / 50, binom.ppf(0.975, 50, 0.65) / 50), abs=0.0201)
    assert same.ece == pytest.approx(0.35)


@pytest.mark.slow
def test_an_edge_is_found_at_the_stated_power():
    """Two hundred seeds of each."""
    found = check_power()
    assert found.found.of == found.found_wrongly.of == 200
    assert found.holds


def test_the_short_power_check_decides_as_an_evaluation():
    decided = set()
    for seed in range(4):
        first, second = simulate_answers(120, 0.12, seed)
        short = mcnemar_mid_p(PairedCounts.of(zip(first, second, strict=True))) <= 0.05
        assert compare_in_full(120, 0.12, seed) == short
        decided.add(short)
    assert decided == {True, False}
