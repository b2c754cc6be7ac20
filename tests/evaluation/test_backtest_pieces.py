"""Labels, windows, benchmarks, plans and the search for weights; the last against what is known of real prices."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.archive import PriceSeries, read_prices
from disputatio.evaluation.backtest.labels import Entry, Label, Tie, compute_climatology, label_dates
from disputatio.evaluation.backtest.lens_weights import make_expanding_folds, search_weights
from disputatio.evaluation.backtest.plan import BacktestPlan, read_plan
from disputatio.evaluation.backtest.scoring import is_above_average, is_calm, score_backtest, score_calls

MARKET = Path(__file__).resolve().parents[3] / "shared" / "market"
START = date(2020, 1, 1)


def days(number: int) -> tuple[date, ...]:
    return tuple(START + timedelta(days=place) for place in range(number))


def prices(*closes: float) -> PriceSeries:
    return PriceSeries("made up", days(len(closes)), closes)


@pytest.mark.parametrize(("entry", "value"), [(Entry.SAME_CLOSE, 12 / 10 - 1), (Entry.NEXT_CLOSE, 13 / 11 - 1)])
def test_a_label_runs_from_one_entry_to_the_next(entry, value):
    series = prices(10, 11, 12, 13, 14)
    (label,) = label_dates(series, [series.days[0], series.days[2]], entry=entry)
    assert label.value == pytest.approx(value)
    assert label.up is True
    assert label.known_on == series.days[2 + (entry is Entry.NEXT_CLOSE)]


@pytest.mark.parametrize(("tie", "up"), [(Tie.DOWN, False), (Tie.UP, True), (Tie.EXCLUDE, None)])
def test_a_tie_is_decided_by_its_rule(tie, up):
    series = prices(10, 10, 10)
    assert label_dates(series, series.days[:2], entry=Entry.SAME_CLOSE, tie=tie)[0].up is up


def test_windows_do_not_overlap():
    series = prices(*range(1, 31))
    found = label_dates(series, series.days[::7])
    assert len(found) == len(series.days[::7]) - 1
    assert all(one.known_on == other.entered for one, other in pairwise(found))


def test_a_balanced_label_uses_nothing_later():
    """Whatever comes after the decision date changes neither the median nor the labels before."""
    closes = np.exp(np.cumsum(np.random.default_rng(1).normal(0, 0.01, 120))) * 100
    series = PriceSeries("made up", days(120), tuple(closes.tolist()))
    short = series.until(series.days[80])
    whole, cut = label_dates(series, series.days[::3], fewest=5), label_dates(short, short.days[::3], fewest=5)
    assert cut == whole[: len(cut)]
    assert whole[0].balanced is None
    assert {row.balanced for row in whole[6:]} == {True, False}


def test_climatology_uses_outcomes_that_were_known_alone():
    series = prices(1, 2, 1, 2, 3, 4)
    labels = label_dates(series, series.days, entry=Entry.NEXT_CLOSE)
    shares = compute_climatology(labels)
    # Entered a day later, the first outcome is known two days after its decision.
    assert shares[:2] == (None, None)
    assert shares[2] == 0.0


def test_decision_dates_are_sessions_in_order():
    series = prices(1, 2, 3)
    with pytest.raises(InvalidInputError, match="not a session"):
        label_dates(series, [START - timedelta(days=1), START])
    with pytest.raises(InvalidInputError, match="do not rise"):
        label_dates(series, [series.days[1], series.days[0]])


def made_up_labels(number: int, chance: np.random.Generator) -> list[Label]:
    observed = chance.random(number) < 0.6
    return [
        Label(day, day + timedelta(days=1), day + timedelta(days=3), 0.01 if up else -0.01, bool(up), None)
        for day, up in zip(days(number), observed, strict=True)
    ]


@pytest.mark.parametrize("embargo", [0, 4])
def test_training_data_precede_test_data(embargo):
    labels = made_up_labels(60, np.random.default_rng(0))
    folds = make_expanding_folds(labels, first=20, size=10, embargo=embargo)
    assert [place for fold in folds for place in fold.test] == list(range(20, 60))
    for fold in folds:
        opening = labels[fold.test[0]].decided
        assert all(labels[place].known_on <= opening for place in fold.train)
        assert max(fold.train) == fold.test[0] - max(embargo + 1, 3)


def test_noise_weights_gain_only_in_sample():
    """Four forecasters that know nothing, a dozen times: a gain each time in sample, none on average out of it."""
    kept, seen = [], []
    for seed in range(12):
        chance = np.random.default_rng(seed)
        labels = made_up_labels(180, chance)
        given = np.clip(chance.normal(0.6, 0.15, (180, 4)), 0, 1).tolist()
        found = search_weights("abcd", given, labels, embargo=1)
        seen.append(found.in_sample_equal - found.in_sample)
        kept.append(found.equal - found.out_of_sample)
        assert found.tried > 200
        assert found.dates == 120
    assert min(seen) > 0.001
    assert np.mean(kept) < np.mean(seen) / 10
    assert sum(gain > 0 for gain in kept) < 9


def test_weights_of_one_forecaster_that_knows_beat_equal_ones():
    chance = np.random.default_rng(9)
    labels = made_up_labels(180, chance)
    knows = np.asarray([0.85 if row.up else 0.15 for row in labels])
    forecasts = np.column_stack([knows, *(chance.random(180) for _ in range(3))])
    found = search_weights("abcd", forecasts.tolist(), labels)
    assert found.beats_equal
    assert max(found.chosen[-1]) == found.chosen[-1][0]


def test_a_plan_has_its_own_hash(tmp_path):
    head = 'schema = "disputatio/backtest-plan"\nversion = 1\nname = "monthly"\nsubject = "GSPC"\n'
    path = tmp_path / "plan.toml"
    path.write_text(head + "first = 1999-03-01\nlast = 2023-05-01\n")
    plan = read_plan(path)
    assert (plan.entry, plan.tie, plan.primary_test) == (Entry.NEXT_CLOSE, Tie.DOWN, "mcnemar_mid_p")
    path.write_text(head + 'first = 1999-03-01\nlast = 2023-05-01\ntie = "up"\n')
    assert read_plan(path).sha256 != plan.sha256
    assert plan.as_json()["sha256"] == plan.sha256


@pytest.mark.parametrize(
    "line", ['tie = "maybe"', 'formula_2 = "x"', 'primary_test = "z"', "last = 1990-01-01", "version = 2"]
)
def test_a_plan_that_says_something_else_is_refused(tmp_path, line):
    body = {
        "schema": '"disputatio/backtest-plan"',
        "version": "1",
        "name": '"m"',
        "subject": '"G"',
        "first": "1999-03-01",
        "last": "2023-05-01",
    }
    key, _, value = line.partition(" = ")
    path = tmp_path / "plan.toml"
    path.write_text("\n".join(f"{name} = {text}" for name, text in {**body, key: value}.items()))
    with pytest.raises(InvalidInputError):
        read_plan(path)


def made_up_market(seed: int) -> PriceSeries:
    """Sixteen years of days, every day a session."""
    steps = np.random.default_rng(seed).normal(0.0003, 0.01, 5900)
    days_ = tuple(date(2000, 1, 1) + timedelta(days=place) for place in range(5900))
    return PriceSeries("made up", days_, tuple((100 * np.exp(np.cumsum(steps))).tolist()))


@pytest.mark.parametrize(("known", "found"), [(0.9, True), (0.0, False)], ids=["planted edge", "no edge"])
def test_a_forecaster_that_knows_is_told_from_one_that_does_not(known, found):
    """One lens is right nine times in ten, or none of them knows anything; the other lens is chance."""
    series = made_up_market(3)
    plan = BacktestPlan("p", "made up", date(2002, 1, 1), date(2015, 6, 1), sha256="x")
    ends = series.month_ends()
    after = {row.decided: row.up for row in label_dates(series, ends)}
    chance = np.random.default_rng(5)

    def forecasts(day: date) -> dict[str, float | None]:
        knows = chance.random() < known
        sure = (0.9 if after[day] else 0.1) if knows else float(chance.choice([0.3, 0.7]))
        return {"one": sure, "two": float(chance.uniform(0.45, 0.55))}

    result = score_backtest(plan, series, forecasts)
    assert result.primary.significant is found
    assert (result.difference.low > 0) is found
    assert result.weights is not None
    assert result.weights.shipped or not found
    (debate,) = [row for row in result.scores if row.name == "debate"]
    assert (debate.brier.skill > 0) is found
    assert result.as_json()["plan"]["sha256"] == "x"


def test_dates_without_a_forecast_are_abstentions_and_not_right():
    series = made_up_market(4)
    plan = BacktestPlan("p", "made up", date(2002, 1, 1), date(2004, 6, 1))
    result = score_backtest(plan, series, lambda _: {"one": None})
    assert result.abstained == len(result.labels) == 30
    assert result.scores[0].accuracy.count == 0
    assert result.reliability is None
    assert result.weights is None


@pytest.fixture(scope="module")
def real() -> tuple[list[Label], tuple[Label, ...], PriceSeries, PriceSeries]:
    """312 months from 1995 to 2020, the months before, the prices and the VIX."""
    if not MARKET.is_dir():
        pytest.skip("the market files are not beside the repository, in ../shared/market")
    spx = read_prices(MARKET / "spx_ohlcv_1990_2025-09.csv.gz", "GSPC")
    vix = read_prices(MARKET / "vix_daily.csv.gz", "VIX")
    ends = [day for day in spx.month_ends() if day < date(2021, 2, 1)]
    history = [day for day in ends if day.year < 1995]
    labels = label_dates(spx, ends[len(history) :], entry=Entry.SAME_CLOSE, history=history)
    before = label_dates(spx, ends[: len(history) + 1], entry=Entry.SAME_CLOSE)
    return list(labels), before, spx, vix


@pytest.mark.slow
def test_benchmarks_match_26_years_of_month_ends(real):
    labels, before, spx, vix = real
    assert len(labels) == 312
    climatology = compute_climatology(labels, before)
    up = score_calls("always up", labels, [True] * 312)
    rule = score_calls("200-day rule", labels, [is_above_average(spx, row.decided) for row in labels])
    calm = score_calls("VIX below 20", labels, [is_calm(vix, row.decided) for row in labels])
    base = score_calls("climatology", labels, [row is not None and row > 0.5 for row in climatology], climatology)
    assert round(100 * up.accuracy.value, 1) == 64.1
    assert (round(100 * rule.accuracy.value, 1), round(rule.balanced, 3)) == (63.1, 0.565)
    assert round(100 * calm.accuracy.value, 1) == 56.7
    assert round(base.brier.score, 4) == 0.2314
    assert round(100 * up.balanced_label.value, 1) == 51.9
    assert round(100 * rule.balanced_label.value, 1) == 57.4


@pytest.mark.slow
def test_a_one_day_peek_is_caught_by_cutting_prices(real):
    """Its accuracy is below that of always up; what it says changes when what it may not know is taken away."""
    labels, _, spx, _ = real

    def peek(series: PriceSeries, day: date) -> bool | None:
        place = series.place(day)
        if place is None or place + 1 >= len(series.closes):
            return None
        return series.closes[place + 1] > series.closes[place]

    peeked = score_calls("peek", labels, [peek(spx, row.decided) for row in labels])
    assert round(100 * peeked.accuracy.value, 1) == 60.9
    assert peeked.accuracy.value < 0.641
    cut = [peek(spx.until(row.decided), row.decided) for row in labels[:24]]
    assert cut != [peek(spx, row.decided) for row in labels[:24]]
    honest = [is_above_average(spx.until(row.decided), row.decided) for row in labels[:24]]
    assert honest == [is_above_average(spx, row.decided) for row in labels[:24]]
