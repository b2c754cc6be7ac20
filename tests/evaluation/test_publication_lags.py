"""Leak controls see publication lags: what claims to be known before it was published is found, series by series."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from backtest_stage import PLAN, made_up_files

from disputatio.engine.market_setup import knowledge_row
from disputatio.evaluation.backtest.archive import Archive, open_archive
from disputatio.evaluation.backtest.cases import Case
from disputatio.evaluation.backtest.controls import check_leaks, remove_lags
from disputatio.evaluation.backtest.forecasts import DateRecord
from disputatio.evaluation.backtest.scoring import find_dates
from disputatio.evaluation.experiment import Spending
from disputatio.market.sources.builder import build
from disputatio.market.sources.moments import format_moment
from disputatio.market.sources.rows import sort_rows
from disputatio.market.sources.series_catalogue import UNKNOWN_MOMENT, earliest_known

SHARED = Path(__file__).resolve().parents[3] / "shared" / "market"


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Archive:
    """The made-up market with quarterly earnings and a daily rate beside it."""
    folder = made_up_files(tmp_path_factory.mktemp("lags"))
    months = [f"{year}-{month:02}-01" for year in range(1994, 2004) for month in range(1, 13)]
    rows = [f"{month},{20 + place / 10:.2f}" for place, month in enumerate(months)]
    (folder / "shiller_monthly.csv").write_text("\n".join(["Date,Earnings", *rows]))
    days = [date(2001, 1, 1) + timedelta(days=place) for place in range(1095)]
    rates = [f"{day},{3 + day.month / 10:.2f}" for day in days if day.weekday() < 5]
    (folder / "fedfunds_daily.csv").write_text("\n".join(["Date,fed_funds_rate", *rates]))
    return open_archive(folder)


def records_on(archive: Archive, days: tuple[date, ...]) -> list[DateRecord]:
    rows = []
    for day in days:
        known = str(knowledge_row(build(day, archive))[0]["text"])
        flags = {"by_rules": True, "harness": False, "spent": Spending()}
        rows.append(DateRecord(Case(day), "x", "COMPLETE", {}, {}, (), (), known, "", **flags))
    return rows


def checks_of(archive: Archive) -> dict[str, tuple[int, int]]:
    labels = find_dates(PLAN, archive.prices()).labels
    report = check_leaks(archive, records_on(archive, tuple(row.decided for row in labels)), labels, 2)
    return {row.name: (row.as_it_must, row.dates) for row in report.checks}


def test_honest_data_pass_every_control(archive):
    assert set(checks_of(archive).values()) == {(4, 4)}


@pytest.mark.parametrize("forged", ["earnings", "macro:FEDFUNDS"])
def test_what_is_known_at_its_own_date_does_not_pass(archive, forged):
    """Each debate was held on the leak, so bytes agree; only the lag table can tell."""
    leaky = archive.changed(lambda key, rows: remove_lags(key, rows) if key == forged else rows)
    found = checks_of(leaky)
    assert found["truncation"] == (4, 4), "the bytes show nothing"
    assert found["poison"] == (4, 4)
    assert found["lags"] == (0, 4)


def test_a_lag_that_is_a_month_too_short_does_not_pass(archive):
    def shorter(key, rows):
        if key != "earnings":
            return rows
        return sort_rows(replace(rows, available=rows.available - 31 * 86_400))

    passed, dates = checks_of(archive.changed(shorter))["lags"]
    assert passed < dates


@pytest.mark.parametrize(
    ("key", "day", "vintage", "moment"),
    [
        ("index:GSPC", "2008-10-31", "", "2008-10-31T20:00:00Z"),
        ("index:N225", "2008-10-31", "", "2008-10-31T06:30:00Z"),
        ("vix", "2008-10-31", "", "2008-10-31T20:15:00Z"),
        ("earnings", "2008-06-30", "", "2008-10-30T04:00:00Z"),
        ("earnings", "2008-10-31", "", "2009-02-28T05:00:00Z"),
        ("macro:FEDFUNDS", "2008-10-31", "", "2008-11-03T21:00:00Z"),
        ("macro:INDPRO", "2008-09-01", "2008-10", "2008-10-31T20:00:00Z"),
        ("macro:CPI", "2008-09-01", "2008-10-16", "2008-10-17T03:59:59Z"),
    ],
)
def test_the_lag_table_says_when_a_row_was_known(key, day, vintage, moment):
    assert format_moment(earliest_known(key, day, vintage)) == moment


def test_a_series_without_a_known_lag_is_never_known():
    assert earliest_known("macro:INDPRO", "2008-09-01") == UNKNOWN_MOMENT
    assert earliest_known("sentiment:x", "2008-09-01") == UNKNOWN_MOMENT


def test_a_price_earnings_ratio_shows_its_quarter(archive):
    base = build(date(2003, 6, 30), archive)
    ratio = base.fundamentals.sp500_pe_approx.current_pe_approx
    assert ratio.vintage == "earnings to 2002-12-31"
    close = archive.rows["index:GSPC"].until(np.iinfo(np.int64).max)
    price = float(close.columns["close"][close.days.tolist().index("2003-06-30")])
    place = archive.rows["earnings"].days.tolist().index("2002-12-31")
    assert float(ratio.number) == pytest.approx(price / archive.rows["earnings"].columns["value"][place], abs=0.006)


@pytest.mark.skipif(not SHARED.is_dir(), reason="no market history beside the repository, ../shared/market")
@pytest.mark.slow
def test_every_series_of_real_history_keeps_its_lag():
    archive = open_archive(SHARED)
    for key, rows in archive.rows.items():
        vintages = [""] * rows.days.size if rows.vintages is None else rows.vintages.tolist()
        earliest = [
            earliest_known(key, day, vintage) for day, vintage in zip(rows.days.tolist(), vintages, strict=True)
        ]
        assert np.all(rows.available >= np.asarray(earliest)), key
