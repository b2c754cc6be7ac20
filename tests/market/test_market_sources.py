"""Sources offline: folders with every kind of bad input, and what installed packages bring. Nothing is made up."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from disputatio.errors import InvalidInputError
from disputatio.market.knowledge import Failed, KnowledgeBase, Missing, collect_data
from disputatio.market.sources.builder import build, open_source
from disputatio.market.sources.csv_folder import add_four_months, open_csv_folder
from disputatio.market.sources.moments import format_moment, last_weekday_of_month, next_weekday, parse_as_of, second_at

AS_OF = date(2019, 6, 28)


def sessions(count: int = 320, last: date = AS_OF) -> list[str]:
    days, day = [], last
    while len(days) < count:
        if day.weekday() < 5:
            days.append(day.isoformat())
        day -= timedelta(days=1)
    return days[::-1]


def table(rows: list[str], head: str = "Date,Open,High,Low,Close,Volume") -> str:
    return "\n".join([head, *rows])


def bar(day: str, close: float, volume: float = 1000) -> str:
    return f"{day},{close},{close + 1},{close - 1},{close},{volume}"


def closes(count: int = 320) -> list[float]:
    return [100 + place * 0.1 + place % 5 for place in range(count)]


def plain(days: list[str] | None = None) -> list[str]:
    days = sessions() if days is None else days
    return [bar(day, close) for day, close in zip(days, closes(len(days)), strict=True)]


def built(folder: Path, day: date | datetime = AS_OF, **files: str) -> KnowledgeBase:
    files.setdefault("index_GSPC", table(plain()))
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return build(day, open_csv_folder(folder))


def warned(base: KnowledgeBase, words: str) -> bool:
    return any(words in warning for warning in base.meta.warnings)


def test_a_small_folder_names_what_it_lacks(tmp_path):
    """A small folder gives what it has and names what it lacks."""
    base = built(tmp_path)
    assert str(base.indices["GSPC"].price.number) == f"{closes()[-1]:g}"
    assert base.technicals["GSPC"].atr_14.is_known
    assert warned(base, "These sources do not keep")
    lacking = [datum for pointer, datum in collect_data(base).items() if pointer.startswith("macro.")]
    assert lacking
    assert all(isinstance(datum.content, Missing) for datum in lacking)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (table(plain(), "Date,Open,High,Low,Schluss,Volume"), "has no column 'close'"),
        (table(plain(), "Tag,Open,High,Low,Close,Volume"), "has no column 'date'"),
        ("Date,Close", "has no rows"),
        ("", "has no rows"),
        (table(["31.12.2018,1,1,1,1,1"]), "where a day is expected"),
        (table([*plain(), "2019-06-27,1"]), "rows of different lengths"),
        ("\x00\x1f\x8b", "has no rows"),
    ],
)
def test_a_table_that_changed_has_failed_and_says_what(tmp_path, text, said):
    base = built(tmp_path, index_HSI=text)
    held = base.indices["HSI"].price.content
    assert isinstance(held, Failed)
    assert said in held.reason
    assert isinstance(base.global_markets["HSI"].returns["20d"].content, Failed)
    assert isinstance(base.technicals["HSI"].ma_status["ma50"].content, Failed)
    assert warned(base, said)


def test_a_close_that_is_none_is_no_session(tmp_path):
    days = sessions()
    rows = plain()
    for bad in ("", "NaN", "null", "."):
        rows[-1] = f"{days[-1]},1,1,1,{bad},1"
        base = built(tmp_path, index_GSPC=table(rows))
        assert base.indices["GSPC"].price.observed_at == days[-2]
    rows[-1] = f"{days[-1]},1,1,1,0,1"
    base = built(tmp_path, index_GSPC=table(rows))
    assert base.indices["GSPC"].price.observed_at == days[-2]
    assert warned(base, f"the close of {days[-1]} is 0")
    rows[-1] = f"{days[-1]},1,1,1,oops,1"
    base = built(tmp_path, index_GSPC=table(rows))
    assert base.indices["GSPC"].price.observed_at == days[-2]
    assert warned(base, "something that is no number")


def test_a_day_told_twice_differently_is_left_out(tmp_path):
    days = sessions()
    base = built(tmp_path, index_GSPC=table([*plain(), bar(days[-1], 500)]))
    assert base.indices["GSPC"].price.observed_at == days[-2]
    assert warned(base, "stands there twice")
    same = built(tmp_path, index_GSPC=table([*plain(), plain()[-1]]))
    assert same.indices["GSPC"].price.observed_at == days[-1]


def test_rows_in_any_order_give_the_same_base(tmp_path):
    assert built(tmp_path, index_GSPC=table(plain()[::-1])) == built(tmp_path, index_GSPC=table(plain()))


def test_a_split_is_no_fall_of_the_market(tmp_path):
    days = sessions()
    rows = [
        bar(day, close / (2 if place >= 300 else 1))
        for place, (day, close) in enumerate(zip(days, closes(), strict=True))
    ]
    base = built(tmp_path, index_GSPC=table(plain()), index_DJI=table(rows))
    dow = base.indices["DJI"]
    assert dow.price.is_known
    assert dow.change_pct.is_known
    assert dow.returns["5d"].is_known
    assert isinstance(dow.returns["50d"].content, Missing)
    assert isinstance(dow.vs_52w_high_pct.content, Missing)
    assert isinstance(base.technicals["DJI"].rsi_14.content, Missing)
    assert days[300] in dow.returns["50d"].why_not
    assert warned(base, f"moved by more than 30 % from one close to the next on {days[300]}")


def test_a_volume_of_zero_or_none_is_missing(tmp_path):
    days = sessions()
    rows = [bar(day, close, 0) for day, close in zip(days, closes(), strict=True)]
    base = built(tmp_path, index_GSPC=table(rows))
    assert isinstance(base.indices["GSPC"].volume_ratio.content, Missing)
    assert isinstance(base.sentiment.volume_signal.content, Missing)
    rows = [*plain()[:-1], bar(days[-1], 130, 0)]
    base = built(tmp_path, index_GSPC=table(rows))
    assert base.indices["GSPC"].volume_ratio.why_not == "the volume of the last session is missing"


def test_few_sessions_give_what_they_can_and_no_indicator(tmp_path):
    """Few sessions give what they can and no indicator before its warm up."""
    days = sessions(60)
    base = built(tmp_path, index_GSPC=table(plain(days)))
    held = base.technicals["GSPC"]
    assert held.ma_status["ma20"].is_known
    assert held.ma_status["ma200"].why_not == "60 of 200 sessions are at hand"
    assert held.rsi_14.why_not == "60 of 251 sessions are at hand"
    assert base.indices["GSPC"].vs_52w_low_pct.why_not == "60 of 252 sessions are at hand"


def test_a_series_that_ended_is_missing_and_not_carried_on(tmp_path):
    old = sessions(320, date(2019, 5, 31))
    base = built(tmp_path, vix_daily=table([f"{day},20" for day in old], "DATE,CLOSE"))
    assert isinstance(base.sentiment.vix_level.content, Missing)
    assert "2019-05-31, 28 days before" in base.sentiment.vix_level.why_not


def test_vintages_are_read_as_of_the_day(tmp_path):
    """Vintages are read as of the day and growth within one vintage."""

    def vintage(name: str, factor: float) -> list[str]:
        months = [f"{2017 + place // 12}-{place % 12 + 1:02d}" for place in range(28)]
        return [f"CPIAUCSL,{name},{month},{(100 + place) * factor}" for place, month in enumerate(months)]

    rows = [*vintage("2019-05", 1), *vintage("2019-06", 3), *vintage("2019-07", 9)]
    base = built(tmp_path, rtdsm_asof=table(rows, "series,vintage,obs,value"))
    value = base.macro["CPI"].latest_value
    assert (value.vintage, value.observed_at) == ("2019-06", "2019-04-01")
    assert float(value.number) == pytest.approx((127 / 115 - 1) * 100, abs=0.005)
    assert base.macro["CPI"].trend.label == "falling"
    earlier = built(tmp_path, date(2019, 6, 27))
    assert earlier.macro["CPI"].latest_value.vintage == "2019-05", "the month's last weekday had not come"
    assert isinstance(base.macro["INDPRO"].latest_value.content, Failed)
    assert "has no series INDPRO" in base.macro["INDPRO"].latest_value.why_not


def test_a_session_is_known_at_its_own_exchanges_close(tmp_path):
    tokyo = table([f"{day},{close}" for day, close in zip(sessions(), closes(), strict=True)], "Date,Close")
    morning = built(tmp_path, datetime(2019, 6, 28, 12, 0, tzinfo=UTC), index_N225=tokyo)
    assert morning.indices["N225"].price.observed_at == "2019-06-28"
    assert morning.indices["GSPC"].price.observed_at == "2019-06-27"
    assert morning.meta.market_status == "closed"
    assert built(tmp_path, datetime(2019, 6, 28, 15, 0, tzinfo=UTC)).meta.market_status == "open"
    assert built(tmp_path, date(2019, 6, 30)).meta.market_status == "weekend"
    assert built(tmp_path, date(2019, 7, 4)).meta.market_status == "no session"


def test_moments_know_summer_time_and_weekends():
    assert format_moment(second_at("2019-06-28", "16:00", "America/New_York")) == "2019-06-28T20:00:00Z"
    assert format_moment(second_at("2019-01-28", "16:00", "America/New_York")) == "2019-01-28T21:00:00Z"
    assert next_weekday("2019-06-28") == "2019-07-01"
    assert last_weekday_of_month("2019-06") == "2019-06-28"
    assert [add_four_months(day) for day in ("2008-09-30", "2008-12-31", "2008-03-31")] == [
        "2009-01-30",
        "2009-04-30",
        "2008-07-31",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [("yesterday", "is no day"), ("2008-02-30", "is no day"), ("28.11.2008", "is no day"), ("", "is no day")],
)
def test_what_is_no_day_is_told(text, said):
    with pytest.raises(InvalidInputError, match=said):
        parse_as_of(text)


def test_a_moment_without_a_zone_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="has no time zone"):
        built(tmp_path, parse_as_of("2019-06-28T12:00:00"))


@pytest.mark.parametrize(
    ("text", "said"), [("yahoo", "There is no source"), ("csv:", "There is no source"), ("csv:/nowhere/x", "no folder")]
)
def test_an_unknown_source_is_told(text, said):
    with pytest.raises(InvalidInputError, match=said):
        open_source(text)


def test_a_folder_without_prices_is_told(tmp_path):
    with pytest.raises(InvalidInputError, match="no prices of the S&P 500"):
        open_csv_folder(tmp_path)


@pytest.mark.slow
def test_without_the_extra_building_says_what_to_install():
    script = (
        "import sys; sys.modules['numpy'] = None\n"
        "from disputatio._cli.main import main\n"
        "main(['market', 'build', '--as-of', '2018-11-30', '--out', 'never.json'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "pip install 'disputatio[market]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_packaged_vintages_appear_after_publication():
    """Packages bring the index and their one vintage only after it was published."""
    sources = open_source("packages")
    base = build(date(2018, 11, 30), sources)
    assert str(base.indices["GSPC"].price.number) == "2760.17"
    assert base.sentiment.vix_level.is_known
    assert base.sectors == {}
    assert isinstance(base.fundamentals.sp500_pe_approx.current_pe_approx.content, Missing)
    before, after = build(date(2009, 11, 27), sources), build(date(2009, 12, 31), sources)
    assert isinstance(before.macro["GDP"].latest_value.content, Missing), "revised data, and revised later"
    assert after.macro["GDP"].latest_value.is_known
    assert after.macro["GDP"].latest_value.vintage == "2009-11"
    old = build(date(1995, 6, 30), sources)
    assert old.indices["GSPC"].price.source == "packages:arch+skfolio"
    with pytest.raises(InvalidInputError, match="Nothing can be built as of 1989-06-30"):
        build(date(1989, 6, 30), sources)
