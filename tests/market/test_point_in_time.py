"""Real history, as of fifty days: what came after a day changes no byte of what is known on it.

The data lie beside the repository, in ../shared/market; where they are missing these tests are skipped.
"""

from __future__ import annotations

import gzip
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from random import Random

import numpy as np
import pytest

from disputatio.errors import InvalidInputError
from disputatio.market.indicators import WARM_UP, atr, macd, rsi
from disputatio.market.knowledge import KnowledgeBase, Missing, collect_data
from disputatio.market.sources.builder import build
from disputatio.market.sources.csv_folder import open_csv_folder
from disputatio.market.sources.errors import LookAheadError
from disputatio.market.sources.files import serialize
from disputatio.market.sources.port import StoredSources
from disputatio.market.sources.rows import Rows

ROOT = Path(__file__).parents[2]
MARKET = ROOT.parent / "shared" / "market"

pytestmark = [
    pytest.mark.skipif(not MARKET.is_dir(), reason="no market history beside the repository, ../shared/market"),
    pytest.mark.slow,  # reading the history takes a second, building fifty bases another
]

CHANCE = Random(6)
FIRST, LAST = date(1999, 3, 31), date(2023, 5, 31)
DAYS = sorted(FIRST + timedelta(days=CHANCE.randrange((LAST - FIRST).days)) for _ in range(50))


@pytest.fixture(scope="module")
def history() -> StoredSources:
    """Every file, read once."""
    shelf = open_csv_folder(MARKET)
    for key in shelf.readers:
        shelf.whole(key)
    return shelf


@pytest.fixture(scope="module")
def bases(history: StoredSources) -> dict[date, KnowledgeBase]:
    return {day: build(day, history) for day in DAYS}


def with_rows(shelf: StoredSources, change: object) -> StoredSources:
    """The same sources with other rows; how rows are cut stays as it is."""
    rows = {key: shelf.whole(key) for key in shelf.readers}
    return StoredSources(shelf.name, shelf.catalogue, {key: (lambda key=key: change(key, rows[key])) for key in rows})


def happened_by(rows: Rows, day: date) -> np.ndarray:
    """Whether each row is about a day, and in a vintage, up to ``day``; this does not read when it was known."""
    by_day = rows.days <= day.isoformat()
    return by_day if rows.vintages is None else by_day & (rows.vintages <= day.isoformat()[:7])


def truncated(rows: Rows, day: date) -> Rows:
    kept = happened_by(rows, day)
    return replace(
        rows,
        days=rows.days[kept],
        available=rows.available[kept],
        columns={name: values[kept] for name, values in rows.columns.items()},
        vintages=None if rows.vintages is None else rows.vintages[kept],
    )


def poisoned(rows: Rows, day: date) -> Rows:
    later = ~happened_by(rows, day)
    columns = {name: np.where(later, -12_345.678, values) for name, values in rows.columns.items()}
    return replace(rows, columns=columns)


def test_a_base_from_truncated_data_is_the_same_to_the_byte(history, bases):
    for day in DAYS:
        cut = with_rows(history, lambda _, rows, day=day: truncated(rows, day))
        assert serialize(build(day, cut)) == serialize(bases[day]), day


def test_garbage_after_the_day_changes_nothing(history, bases):
    for day in DAYS:
        bad = with_rows(history, lambda _, rows, day=day: poisoned(rows, day))
        assert serialize(build(day, bad)) == serialize(bases[day]), day


def test_files_that_end_on_the_day_give_the_same_base(tmp_path, bases):
    """The whole way from the files: what lies behind the day in them is cut off before they are read."""
    day = DAYS[31]
    for file in MARKET.glob("*.csv.gz"):
        head, *lines = gzip.decompress(file.read_bytes()).decode().splitlines()
        vintages = head.startswith("series,vintage")
        kept = [
            line
            for line in lines
            if (vintages and line.split(",")[1] <= day.isoformat()[:7])
            or (not vintages and (not line[:4].isdigit() or line[:10] <= day.isoformat()))
        ]
        if not kept:
            continue
        (tmp_path / "market").mkdir(exist_ok=True)
        (tmp_path / "market" / file.name.removesuffix(".gz")).write_text("\n".join([head, *kept]))
    assert serialize(build(day, open_csv_folder(tmp_path / "market"))) == serialize(bases[day])


def test_a_source_that_shows_the_future_is_refused(history):
    """A planted leak, open: the view hands out a row that is known tomorrow."""

    class Leaky(StoredSources):
        def at(self, cut: int, day: str):
            return super().at(cut + 5 * 86_400, day)

    with pytest.raises(LookAheadError, match="known only at"):
        build(DAYS[20], Leaky(history.name, history.catalogue, history.readers))


def test_a_leak_with_forged_dates_changes_the_bytes(history, bases):
    """A planted leak, hidden: every price says it was known a day before it was. Truncation gives it away."""

    def forged(key: str, rows: Rows) -> Rows:
        return replace(rows, available=rows.available - 86_400) if key.startswith("index") else rows

    leaky = with_rows(history, forged)
    caught = 0
    for day in DAYS[:6]:
        honest_files = with_rows(history, lambda key, rows, day=day: forged(key, truncated(rows, day)))
        caught += serialize(build(day, leaky)) != serialize(build(day, honest_files))
    # A day before a weekend or a holiday has no session on the next.
    assert caught >= 3


def test_nothing_was_known_only_later(bases):
    for day, base in bases.items():
        for pointer, datum in collect_data(base).items():
            if datum.is_known:
                assert datum.available_at <= base.meta.as_of, pointer
                assert datum.observed_at <= day.isoformat(), pointer
                assert datum.source
        assert base.meta.as_of == base.meta.generated_at


def test_there_are_as_many_sectors_as_there_were(history, bases):
    for day, base in bases.items():
        expected = 9 + (day >= date(2015, 10, 8)) + (day >= date(2018, 6, 19))
        assert len(base.sectors) == expected, day
    assert {len(base.sectors) for base in bases.values()} == {9, 10, 11}


def test_earnings_are_four_months_old_and_macro_is_of_a_vintage(bases):
    for day, base in bases.items():
        vintages = {row.latest_value.vintage for key, row in base.macro.items() if key in {"CPI", "INDPRO", "PAYEMS"}}
        assert all(vintage <= day.isoformat()[:7] for vintage in vintages)
        assert "" not in vintages
        assert base.fundamentals.sp500_pe_approx.current_pe_approx.is_known


def test_a_monthly_average_is_never_read_as_a_price(history):
    """Shiller's SP500 of a month is known at its end; poison in it must reach nothing."""
    earnings = history.whole("earnings")
    assert earnings is not None
    assert list(earnings.columns) == ["value"]
    assert earnings.columns["value"].max() < 400
    assert {day[5:] for day in earnings.days.tolist()} == {"03-31", "06-30", "09-30", "12-31"}


def test_a_volume_of_zero_is_missing_and_not_zero(history):
    """In 1996 the files have a volume of zero for every market but New York's."""
    base = build(date(1996, 6, 28), history)
    for key in ("FTSE", "GDAXI", "N225", "HSI"):
        assert base.indices[key].price.is_known
        assert isinstance(base.indices[key].volume_ratio.content, Missing)
        assert isinstance(base.technicals[key].volume_trend.content, Missing)
    assert base.indices["GSPC"].volume_ratio.number > 0
    assert base.sectors == {}


def test_a_day_before_the_data_or_after_them_is_refused(history):
    with pytest.raises(InvalidInputError, match="no values up to 1989-06-30"):
        build(date(1989, 6, 30), history)
    with pytest.raises(InvalidInputError, match="the last session of S&P 500 at hand is 2026-08-20"):
        build(date(2030, 1, 2), history)


def test_values_agree_with_a_panel_made_by_other_code(history):
    """Month-ends of a panel that was computed apart: closes, RSI, VIX, sector counts, unemployment."""
    head, *lines = (MARKET / "panel_monthly_pit_example.csv").read_text().splitlines()
    names = head.split(",")
    panel = {row[0]: dict(zip(names, row, strict=True)) for row in (line.split(",") for line in lines)}
    chosen = [day for day in panel if "1999-03" <= day < "2023"][::36]
    for day in chosen:
        base, row = build(date.fromisoformat(day), history), panel[day]
        assert float(base.indices["GSPC"].price.number) == pytest.approx(float(row["close"]), abs=0.006)
        assert float(base.indices["GSPC"].returns["20d"].number) == pytest.approx(100 * float(row["ret20"]), abs=0.006)
        assert float(base.technicals["GSPC"].rsi_14.number) == pytest.approx(float(row["rsi"]), abs=0.006)
        assert float(base.sentiment.vix_level.number) == pytest.approx(float(row["vix"]), abs=0.006)
        assert len(base.sectors) == int(float(row["n_sectors"]))


def test_indicators_of_the_index_equal_the_oracle(history, bases):
    """Indicators of the index equal the oracle and are what the base holds."""
    talib = pytest.importorskip("talib", reason="TA-Lib, the oracle of the indicators, is not installed")
    rows = history.whole("index:GSPC")
    close, high, low = (rows.columns[name][:8_000] for name in ("close", "high", "low"))
    theirs = [talib.RSI(close, 14), *talib.MACD(close, 12, 26, 9), talib.ATR(high, low, close, 14)]
    ours = [rsi(close), *macd(close), atr(high, low, close)]
    for mine, oracle in zip(ours, theirs, strict=True):
        assert np.max(np.abs(mine[WARM_UP:] - oracle[WARM_UP:])) < 1e-9
    for base in list(bases.values())[::10]:
        place = rows.days.tolist().index(base.indices["GSPC"].price.observed_at)
        held = base.technicals["GSPC"]
        assert float(held.rsi_14.number) == pytest.approx(theirs[0][place], abs=0.005001)
        assert float(held.macd["line"].number) == pytest.approx(theirs[1][place], abs=0.005001)
        assert float(held.atr_14.number) == pytest.approx(theirs[4][place], abs=0.005001)
