"""Cited values: what the base bears out is verified, and nothing else is; words about a value are checked with it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest

from disputatio.market.checking import (
    EvidenceItem,
    Fault,
    Inferred,
    NotInBase,
    NotInSlice,
    Verified,
    Wrong,
    build_item,
    check_item,
    find_ungrounded_numbers,
)
from disputatio.market.expressions import evaluate
from disputatio.market.knowledge import KnowledgeBase, Share, Unit, collect_data
from disputatio.market.slices import Lens, take_slice, take_whole
from disputatio.market.sources.files import load_example

BASE: KnowledgeBase = load_example()
ALL = take_whole(BASE)
PE = "fundamentals.sp500_pe_approx.current_pe_approx"
AVERAGE_PE = "fundamentals.sp500_pe_approx.long_term_avg_pe"
YIELD = "fundamentals.sp500_earnings_yield_approx"
PREMIUM = f"({PE} / {AVERAGE_PE} - 1) * 100"
MA200_FROM_RETURN = "indices.EXI.price / (1 + indices.EXI.returns.200d / 100)"


def checked(basis, value, unit="", claim="", part=ALL, **more):
    return check_item(BASE, part, EvidenceItem(basis, value, unit, **more), claim)


@pytest.mark.parametrize(
    ("basis", "value", "unit", "claim"),
    [
        (PREMIUM, "+18.8", "%", "Current P/E 28.5 is significantly above its average of 24.0 (+18.8 %)"),
        (f"percent_change({AVERAGE_PE}, {PE})", "+18.8 %", "", "P/E is 18.8 % above its average"),
        (f"100 / {PE}", "3.51", "%", "Earnings yield is 3.51 %"),
        (YIELD, "3.51", "%", "Earnings yield of 3.51% meets a high price"),
        (
            "sectors.XTECH.change_20d_pct - indices.EXI.returns.20d",
            "2.7",
            "pp",
            "Technology leads the index by 2.7 points",
        ),
        ("sectors.XFIN.change_20d_pct - indices.EXI.returns.20d", "-3.6", "pp", "Financials lag the index"),
        ("sectors.XIND.change_20d_pct - indices.EXI.returns.20d", "-0.7", "pp", "Industrials trail, at -0.7"),
        ("sectors.XTECH.relative_strength_vs_spx", "2.7", "percentage points", ""),
        ("sectors.XFIN.relative_strength_vs_spx", "\u22123.6", "pp", ""),
        ("sectors.XIND.relative_strength_vs_spx", "-0.7", "pp", ""),
        ("indices.EXI.price", "4,850", "points", "Price 4,850 sits above all key moving averages"),
        ("technicals.EXI.ma_status.ma200", "above", "", "The close is above its 200-day average"),
        ("indices.EXI.vs_52w_high_pct", "-3.2", "%", "Only 3.2 % below its 52-week high"),
        ("technicals.EXI.rsi_14", "62", "", "RSI 14 at 62, near overbought"),
        ("macro.CPI.latest_value", "3.1", "%", "GDP growth 3.2%, CPI falling to 3.1%"),
        ("macro.T10Y2Y.latest_value", "-0.35", "%", "Yield curve remains inverted (10Y-2Y = -0.35%)"),
        ("macro.T10Y2Y.latest_value", "-35", "bp", "The curve is inverted by 35 basis points"),
        ("sentiment.sector_breadth.positive_20d", "7/10", "", "Sector breadth is healthy: 7/10 positive"),
        ("sentiment.sector_breadth.positive_20d", "70", "%", "70 % of sectors rose over 20 days"),
        ("sentiment.vix_level", "18.2", "points", "VIX 18.2 is below 20, no panic"),
        ("indices.EXI.volume_ratio", "1.3", "x", "Volume ratio 1.3, above average"),
        ("technicals.EXI.volume_trend", "increasing", "", "Volume is rising"),
    ],
)
def test_what_the_document_supports_is_verified(basis, value, unit, claim):
    found = checked(basis, value, unit, claim)
    assert isinstance(found.finding, Verified), found.describe()


@pytest.mark.parametrize(
    ("basis", "value", "unit", "claim", "fault"),
    [
        (MA200_FROM_RETURN, "4,120", "points", "", Fault.VALUE),
        ("sentiment.sector_breadth.positive_20d", "75", "%", "75 % of sectors are positive", Fault.VALUE),
        (f"{YIELD} - 4.2", "-0.69", "pp", "Spread narrowing but still positive", Fault.DIRECTION),
        (f"{YIELD} - 4.2", "0.69", "pp", "Spread narrowing but still positive", Fault.SIGN),
        (PREMIUM, "18.8", "%", "P/E is 18.8 % below its average", Fault.DIRECTION),
        (PREMIUM, "18.8", "pp", "", Fault.UNIT),
        (PREMIUM, "19.8", "%", "", Fault.VALUE),
        ("indices.EXI.returns.5d", "-2.1", "%", "", Fault.SIGN),
        ("indices.EXI.returns.5d", "2.2", "%", "", Fault.VALUE),
        ("sectors.XIND.relative_strength_vs_spx", "-1", "pp", "", Fault.ROUNDING),
        ("sentiment.vix_level", "28.2", "", "", Fault.VALUE),
        ("sentiment.vix_level", "18.2", "%", "", Fault.UNIT),
        ("sentiment.vix_level", "18.2", "furlongs", "", Fault.UNIT),
        ("sentiment.vix_level", "18.2", "", "VIX at 18.2 is above 20", Fault.DIRECTION),
        ("indices.EXI.price", "4850", "", "Price 4,850 has fallen below MA200", Fault.DIRECTION),
        ("technicals.EXI.rsi_14", "62", "", "RSI at 62 is overbought", Fault.DIRECTION),
        ("technicals.EXI.ma_status.ma50", "above", "", "The close is not above its MA50", Fault.DIRECTION),
        ("technicals.EXI.macd_signal", "bearish", "", "", Fault.VALUE),
        ("macro.CPI.latest_value", "3.1", "%", "CPI rising to 3.1 %", Fault.DIRECTION),
        ("macro.T10Y2Y.latest_value", "-0.35", "%", "The curve is no longer inverted", Fault.DIRECTION),
        ("macro.UNRATE.latest_value", "3.8", "%", "Fed funds at 3.8 %", Fault.SERIES),
        ("global_markets.N225.price", "39200", "points", "Hang Seng at 39,200", Fault.SERIES),
        ("indices.EXI.volume_ratio", "about one", "", "", Fault.FORM),
        ("indices.EXI.volume_ratio", "1." + "3" * 100_000, "", "", Fault.FORM),
        ("indices.EXI.volume_ratio", "1e5", "", "", Fault.FORM),
        ("indices.EXI.volume_ratio", "NaN", "", "", Fault.FORM),
        ("indices.EXI.price +", "4850", "", "", Fault.FORM),
        ("technicals.EXI.macd_signal * 2", "4", "", "", Fault.FORM),
    ],
)
def test_what_the_base_denies_is_wrong(basis, value, unit, claim, fault):
    found = checked(basis, value, unit, claim)
    assert isinstance(found.finding, Wrong), found.describe()
    assert found.finding.fault is fault, found.describe()


@pytest.mark.parametrize(
    ("basis", "value"),
    [
        ("technicals.EXI.ma_levels.ma200", "4120"),
        ("technicals.EXI.ma_levels.ma20", "4720"),
        ("technicals.EXI.macd.line", "58.3"),
        ("technicals.EXI.macd.signal", "42.1"),
        ("technicals.EXI.percentile_200d", "85"),
        ("macro.DGS10.latest_value", "4.2"),
        ("4.2", "4.2"),
        ("__import__('os').system('true')", "0"),
    ],
)
def test_what_nobody_holds_is_not_in_the_base(basis, value):
    assert isinstance(checked(basis, value).finding, NotInBase)


def test_a_seat_cites_its_own_slice_alone():
    sentiment = take_slice(BASE, Lens.SENTIMENT)
    assert checked("indices.EXI.volume_ratio", "1.3", part=sentiment).is_sound
    found = checked("indices.EXI.price * sentiment.vix_level", "88270", part=sentiment)
    assert found.finding == NotInSlice("indices.EXI.price")
    assert "4850" not in found.describe()
    assert found.true_value == ""


def test_what_rests_on_a_number_from_nowhere_is_inferred_at_best():
    assert isinstance(checked("(indices.EXI.price / 4120 - 1) * 100", "17.7", "%").finding, Inferred)
    assert isinstance(checked(f"{YIELD} - 4.2", "-0.69", "pp", "The spread is negative").finding, Inferred)
    assert isinstance(checked("the 85th percentile", "85", inferred=True).finding, Inferred)
    assert isinstance(checked(PREMIUM, "18.8", "%", inferred=True).finding, Inferred)
    assert isinstance(checked(PREMIUM, "28.8", "%", inferred=True).finding, Wrong)


def test_a_hundred_ones_are_no_number_of_the_base():
    made = " + ".join(["1"] * 30)
    assert isinstance(checked(f"sentiment.vix_level * 0 + {made}", "30", "points").finding, Inferred)


def test_the_module_that_is_named_must_be_the_one():
    assert checked(PREMIUM, "18.8", "%", source="fundamentals").is_sound
    wrong = checked(PREMIUM, "18.8", "%", source="macro").finding
    assert isinstance(wrong, Wrong)
    assert wrong.fault is Fault.SOURCE


@pytest.mark.parametrize("basis", ["(" * 500, "1/0", "indices.EXI.price / 0", "a.b", "", "9" * 401, "min()", "\u0000"])
def test_no_basis_breaks_the_check(basis):
    assert not checked(basis, "1").is_sound


def test_units_follow_the_arithmetic():
    data = collect_data(BASE)
    for basis, unit in (
        ("indices.EXI.returns.20d - indices.EXI.returns.5d", "pp"),
        (PREMIUM, "%"),
        (f"{PE} / {AVERAGE_PE}", "number"),
        ("indices.EXI.price - indices.EXI.price / 2", "points"),
        ("macro.FEDFUNDS.latest_value * 100", "bp"),
        ("indices.EXI.price + sentiment.vix_level * sectors.XTECH.price", "unknown"),
    ):
        assert evaluate(data, basis).unit == unit, basis


KNOWN = {pointer: datum for pointer, datum in collect_data(BASE).items() if datum.is_known}
NUMBERS = {pointer: datum.number for pointer, datum in KNOWN.items() if datum.number is not None}
OTHER_UNITS = {
    Unit.PERCENT: ("pp", "points", "USD", "x"),
    Unit.PERCENTAGE_POINTS: ("%", "points", "USD", "x"),
    Unit.POINTS: ("%", "pp", "USD", "x"),
    Unit.USD: ("%", "pp", "points", "thousand"),
    Unit.TIMES: ("points", "pp", "USD", "bp"),
}


def right(pointer: str, chance: Random) -> EvidenceItem:
    """A right citation of a pointer, written in one of the ways people write it."""
    datum = KNOWN[pointer]
    if datum.number is None:
        text = str(datum.share or datum.label)
        return EvidenceItem(
            pointer, chance.choice([text, text.upper(), text.replace("_", " "), text.replace("/", " of ")])
        )
    item = build_item(ALL, pointer, chance.choice([None, None, 1, 2, 3]))
    if abs(Decimal(item.value) - datum.number) > abs(datum.number) / 20:
        item = build_item(ALL, pointer)
    signed = f"+{item.value}" if datum.number > 0 and chance.random() < 0.3 else item.value
    grouped = f"{datum.number:,f}" if abs(datum.number) >= 1000 and chance.random() < 0.5 else signed
    unit = chance.choice([item.unit, "", {"%": "percent", "pp": "percentage points"}.get(item.unit, item.unit)])
    return item._replace(value=grouped, unit=unit, source=chance.choice([item.source, ""]))


def spoiled(pointer: str, chance: Random) -> EvidenceItem | None:
    """The same citation with one thing wrong, or None where that thing cannot be."""
    item, datum = right(pointer, chance), KNOWN[pointer]
    kind = chance.choice(["number", "sign", "series", "unit"])
    if kind == "series":
        other = chance.choice(list(KNOWN))
        return None if KNOWN[other].content == datum.content else item._replace(basis=other, source="")
    if datum.number is None:
        wrong = {"above": "below", "bullish": "bearish", "rising": "falling", "flat": "rising", "7/10": "8/10"}
        return item._replace(value=wrong.get(str(datum.share or datum.label), "something else"))
    if kind == "number":
        step = chance.choice([Decimal("0.1"), Decimal("-0.1"), Decimal(1), datum.number / 10, Decimal(10)])
        return item._replace(value=f"{datum.number + step:f}")
    if kind == "sign":
        return None if datum.number == 0 else item._replace(value=f"{-datum.number:f}")
    return item._replace(unit=chance.choice(OTHER_UNITS[datum.unit]))


@pytest.mark.slow
def test_of_two_thousand_citations_no_wrong_one_is_verified():
    """Of two thousand citations no wrong one is verified and no right one refused."""
    chance, pointers = Random(2026), list(KNOWN)
    tried = {"right": 0, "wrong": 0}
    while sum(tried.values()) < 2_000:
        pointer = chance.choice(pointers)
        if chance.random() < 0.5:
            good = check_item(BASE, ALL, right(pointer, chance))
            assert good.is_sound, (good.item, good.describe())
            tried["right"] += 1
        elif (item := spoiled(pointer, chance)) is not None:
            bad = check_item(BASE, ALL, item)
            assert isinstance(bad.finding, Wrong), bad.item
            tried["wrong"] += 1
    assert min(tried.values()) > 800


def test_items_made_by_code_are_right():
    for pointer in KNOWN:
        assert check_item(BASE, ALL, build_item(ALL, pointer)).is_sound, pointer
    for basis in (PREMIUM, f"100 / {PE}", MA200_FROM_RETURN, "indices.EXI.returns.5d / 1000"):
        found = check_item(BASE, ALL, build_item(ALL, basis))
        assert not isinstance(found.finding, Wrong), found.describe()
    with pytest.raises(ValueError, match="holds no value"):
        build_item(ALL, "technicals.EXI.macd.line")
    with pytest.raises(ValueError, match="there is no"):
        build_item(take_slice(BASE, Lens.MACRO), PE)


def test_numbers_in_a_text_need_grounds():
    text = (
        "Price 4,850 sits above MA20(4,720), MA50(4,510) and MA200(4,120); RSI-14 is at 62 in May 2026, 7 out of 10 "
        "sectors rose over 20 days, not 75%, and the S&P 500 is 3.2 % below its 52-week high. P/E is 18.8 % above."
    )
    verified = checked(PREMIUM, "18.8", "%")
    assert [row.text for row in find_ungrounded_numbers(text, [verified], ALL)] == ["4,720", "4,510", "4,120", "75"]
    assert [row.text for row in find_ungrounded_numbers(text, [], ALL)][-1] == "18.8"


def test_a_share_is_a_part_of_a_whole():
    assert evaluate(collect_data(BASE), "sentiment.sector_breadth.positive_20d").value == Share(7, 10)
    assert evaluate(collect_data(BASE), "sentiment.sector_breadth.positive_20d * 100").value == Fraction(70)
    with pytest.raises(ValueError, match="no share"):
        Share(11, 10)


@pytest.mark.parametrize(
    ("basis", "value", "claim", "sound"),
    [
        ("macro.GDP.latest_value", "3.2", "Real output grows by 3.2 %", True),
        ("macro.GDP.latest_value", "3.2", "Real output shrinks by 3.2 %", False),
        ("macro.CPI.latest_value", "3.1", "Consumer prices rise, yet inflation is falling at 3.1 %", True),
        ("macro.CPI.latest_value", "3.1", "Inflation of 3.1 % is rising", False),
        ("macro.T10Y2Y.latest_value", "-0.35", "The yield curve is nearly flat at -0.35 %", True),
        ("macro.T10Y2Y.latest_value", "-0.35", "The yield curve is positive at -0.35 %", False),
        ("indices.EXI.returns.20d", "4.8", "The index may fall after 4.8 %", True),
        ("indices.EXI.returns.20d", "4.8", "The index fell by 4.8 % over 20 days", False),
        ("indices.EXI.returns.20d", "4.8", "The index is up 4.8 % while financials are falling", True),
        ("sectors.XFIN.change_5d_pct", "-0.5", "Financials gained 0.5 % over five days", False),
    ],
)
def test_a_word_is_read_as_people_mean_it(basis, value, claim, sound):
    found = checked(basis, value, "%", claim)
    assert found.is_sound is sound, found.describe()
