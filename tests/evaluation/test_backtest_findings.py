"""What stands on top of a backtest: how many dates count, and a finding that agrees with the table below it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from backtest_stage import PLAN, PLAN_TEXT, made_up_archive, made_up_files
from scipy.stats import binom

from disputatio.evaluation.backtest.archive import PriceSeries
from disputatio.evaluation.backtest.cases import Case
from disputatio.evaluation.backtest.forecasts import DateRecord, ScoredArgument
from disputatio.evaluation.backtest.labels import label_dates
from disputatio.evaluation.backtest.plan import BacktestPlan
from disputatio.evaluation.backtest.report import describe_verdict, make_backtest_report
from disputatio.evaluation.backtest.report_text import render_backtest_lines
from disputatio.evaluation.backtest.runner import FinishedDates
from disputatio.evaluation.backtest.scoring import find_dates, score_backtest
from disputatio.evaluation.experiment import Spending
from disputatio.evaluation.pages.backtest import render_backtest_page
from disputatio.participants.analyst.table_check import check_table
from disputatio.participants.analyst.textbook import packaged_text, read_textbook

QUIET_PLAN = replace(PLAN, controls_every=0, leaks_every=0)
SILENT = (("tech_bear", "no_signal"),)


def debated(day: date, *, silent: tuple[tuple[str, str], ...] = (), failure: str = "") -> DateRecord:
    forecasts = {"tech": None if failure else 0.7}
    status = "DEGRADED" if silent or failure else "COMPLETE"
    seats = {"by_rules": False, "harness": False, "spent": Spending()}
    return DateRecord(Case(day), "x", status, forecasts, forecasts, (), silent, "", failure, **seats)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return made_up_archive(tmp_path_factory.mktemp("made up"))


def report_of(archive, records: list[DateRecord], missing: int = 0):
    dates = find_dates(QUIET_PLAN, archive.prices())
    gone = tuple(Case(day) for day in dates.decided[:missing])
    held = FinishedDates(tuple(records), gone, "the ceiling was reached" if missing else "")
    return make_backtest_report(QUIET_PLAN, archive, held, {}, dates=dates)


def test_the_heading_counts_held_not_held_and_degraded_dates(archive):
    days = find_dates(QUIET_PLAN, archive.prices()).decided
    rows = [debated(day) for day in days[3:]]
    report = report_of(archive, [debated(days[0], silent=SILENT), debated(days[1], failure="macro_bull: down"), *rows])
    assert report.counted.as_json() == {
        "dates": 8,
        "held": 7,
        "not_held": 1,
        "degraded": 2,
        "with_a_failed_seat": 1,
        "with_a_seat_without_a_signal": 1,
    }
    words = "7 held, 1 not held, 2 degraded by a missing seat (no signal on 1, failed on 1)"
    assert words in "\n".join(render_backtest_lines(report)[:8])
    assert words in render_backtest_page(report)
    assert report.as_json()["dates_counted"]["degraded"] == 2


def test_a_cut_run_headlines_no_accuracy(archive):
    days = find_dates(QUIET_PLAN, archive.prices()).decided
    report = report_of(archive, [debated(day) for day in days[2:]], missing=2)
    assert "6 of 8 dates have run" in report.finding
    assert "% right" not in report.finding
    whole = report_of(archive, [debated(day) for day in days])
    assert "Of 8 months the debate called" in whole.finding


def planted(test: str, balanced_after: int):
    """A lens that is right two times in three on a market that falls more often than it rises."""
    chance = np.random.default_rng(11)
    steps = chance.normal(-0.0009, 0.01, 4400)
    days = tuple(date(2000, 1, 1) + timedelta(days=place) for place in range(4400))
    series = PriceSeries("made up", days, tuple((100 * np.exp(np.cumsum(steps))).tolist()))
    plan = BacktestPlan("p", "made up", date(2002, 1, 1), date(2011, 6, 1), sha256="x")
    plan = replace(plan, primary_test=test, balanced_after=balanced_after)
    after = {row.decided: row.up for row in label_dates(series, series.month_ends())}

    def forecasts(day: date) -> dict[str, float | None]:
        knows = chance.random() < 0.4
        up = bool(after[day]) if knows else bool(chance.random() < 0.5)
        return {"one": 0.7 if up else 0.3}

    return score_backtest(plan, series, forecasts)


def test_without_an_edge_the_failed_condition_is_named():
    result = planted("mcnemar_mid_p", 110)
    assert result.primary.significant
    assert result.primary.counts.first > result.primary.counts.second
    assert not result.has_edge
    said = describe_verdict(result)
    assert "on up and down it is" in said
    assert "ahead of always up, beyond chance" in said
    assert "on the balanced label" in said
    assert "which chance explains" in said


def power_by_enumeration(items: int, gain: float, discordance: float) -> float:
    """The exact two-sided test at 5 %, over every number of discordant dates and of wins among them."""
    total = 0.0
    for size in range(items + 1):
        weight = binom.pmf(size, items, discordance)
        for won in range(size + 1):
            if 2 * binom.cdf(min(won, size - won), size, 0.5) <= 0.05:
                total += weight * binom.pmf(won, size, (discordance + gain) / 2 / discordance)
    return total


def test_the_power_is_of_the_rule_at_the_discordance_seen():
    result = planted("mcnemar_exact", 110)
    rows = (result.primary, result.co_primary)
    expected = [power_by_enumeration(row.counts.items, 0.1, row.counts.discordant / row.counts.items) for row in rows]
    assert [row.power_seen for row in rows] == pytest.approx(expected, abs=1e-6)
    assert f"a probability of at most {min(expected):.2f}" in describe_verdict(result)


def test_a_plan_for_the_exact_test_decides_both_conditions_by_it():
    exact, mid = planted("mcnemar_exact", 60), planted("mcnemar_mid_p", 60)
    for row, other in zip((exact.primary, exact.co_primary), (mid.primary, mid.co_primary), strict=True):
        assert row.counts == other.counts
        assert row.adjusted == row.exact_p
        assert other.adjusted == other.mid_p
    assert "exact p" in describe_verdict(exact) or exact.has_edge
    assert exact.co_primary.as_json()["holm_adjusted_exact_p"] == round(exact.co_primary.exact_p, 6)


def test_no_call_is_never_zero_per_cent_right(archive):
    dates = find_dates(QUIET_PLAN, archive.prices())
    rows = [replace(debated(day, silent=SILENT), forecasts={"tech": None}) for day in dates.decided]
    report = report_of(archive, rows)
    assert report.finding == "The debate made no call on any of 8 months. Without a call there is nothing to compare."
    table = next(line for line in render_backtest_lines(report) if line.strip().startswith("the debate "))
    assert "no call" in table
    assert "0.0 %" not in table
    assert "the debate</th><td>0.0" not in render_backtest_page(report).replace("\n", "")
    assert report.as_json()["scores"][0]["calls"] == 0


OWN_RULES = """
version = 1
name = "mine"
[rates]
up = { value = 0.6, source = "a book" }
[[rule]]
seat = "tech_bull"
name = "momentum"
indicator = "return"
figures = { r20 = "indices.{S}.returns.20d" }
when = ["r20 > 0"]
strength = "strong"
claim = "The index gained {r20} over 20 days"
counterpoint = "It may turn."
assumes = "Trends persist."
source = "a book"
confidence = "up"
"""


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("indices.{S}.returns.20d", "indices.{S}.returns.30d", "returns.30d"),
        ("indices.{S}.returns.20d", "fundamentals.sp500_earnings_yield_approx", "tech_bull"),
        ("indices.{S}.returns.20d", "indices.{S}.returns.20d +", "it ends where a value is expected"),
        ("indices.{S}.returns.20d", "technicals.{S}.macd_signal", "r20, a word, with a number"),
        ('when = ["r20 > 0"]', 'when = ["r20 is rising"]', "r20, a number, with a word"),
        ('counterpoint = "It may turn."', f'counterpoint = "{"long " * 200}"', "does not fit an opening"),
        ("value = 0.6", 'value = "0.6"', "the confidence of"),
        ('seat = "tech_bull"', 'seat = "tech_bear"', "no rule for tech_bull"),
    ],
)
def test_own_rules_are_checked_whole_before_the_first_date(tmp_path, monkeypatch, capsys, before, after, named):
    from disputatio._cli.main import main

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    made_up_files(tmp_path / "market")
    (tmp_path / "plan.toml").write_text(PLAN_TEXT)
    assert before in OWN_RULES
    (tmp_path / "mine.toml").write_text(OWN_RULES.replace(before, after))
    seats = ("--seat", "all=rules", "--seat", "tech_bull=rules:mine.toml")
    with pytest.raises(SystemExit) as left:
        main(("backtest", "plan.toml", "--data", "market", *seats, "--limit", "2", "--processes", "1"))
    error = capsys.readouterr().err
    assert left.value.code == 2
    assert "mine.toml cannot be used" in error
    assert named in " ".join(error.split())


@pytest.mark.parametrize("figure", ["indices.GSPC.returns.20d", "sectors.XLK.change_20d_pct", "mean(sectors.*.price)"])
def test_own_rules_may_name_what_the_example_has_not(figure):
    book = read_textbook(OWN_RULES.replace("indices.{S}.returns.20d", figure), "mine.toml")
    check_table(book, "tech_bull", "mine.toml")
    check_table(read_textbook(packaged_text()), "macro_bear", "textbook.toml")


def test_a_backtest_says_why_bears_state_the_same(archive):
    days = find_dates(QUIET_PLAN, archive.prices()).decided
    stated = [("tech", "bear", 0.38), ("macro", "bear", 0.38), ("macro", "bear", 0.25), ("tech", "bull", 0.62)]
    rows = tuple(ScoredArgument("a", lens, side, sure, sure, "UPHELD", None) for lens, side, sure in stated)
    lines = "\n".join(
        render_backtest_lines(
            report_of(archive, [replace(debated(day), arguments=rows, by_rules=True) for day in days])
        )
    )
    assert "100 % of the bull arguments state 0.62, 67 % of the bear arguments state 0.38:" in lines
    assert "the share of months in which shares rose or fell" in lines
