"""The result of a market debate is on every surface, with both disclaimers, and what analysts say is data there."""

from __future__ import annotations

import re
from typing import Any

import jsonschema_rs
import pytest

import disputatio
from disputatio.formats.market import ANALYSTS
from disputatio.formats.market_verdict import DISCLAIMERS
from disputatio.kernel import Abstention
from disputatio.participants.analyst.textbook import packaged_text, read_textbook
from disputatio.participants.analyst.turns import answer
from disputatio.record.memory import MemoryStore
from disputatio.report.columns import columns
from disputatio.report.json_export import export_schema
from disputatio.report.page.charts import charts_of

WILD = "<script>alert(1)</script> | # heading \x1b[31m **bold** "
FALSE = {"basis": "technicals.EXI.rsi_14", "value": "26", "unit": "points", "source": "technicals"}
BOOK = read_textbook(packaged_text())


def wild(ask: Any, path: Any, _reasons: Any) -> Any:
    """The rules' own turns, with wild words and a false figure in the opening of the technical bull."""
    content: Any = answer(BOOK, ask)
    if path == "opening/tech_bull":
        content["arguments"][0].update(claim=f"{WILD} oversold", evidence=[FALSE], counterpoints=[WILD])
    if path == "closing/tech_bull":
        content["refined_claims"]["tech_bull_arg_0"]["refinement"] = f"{WILD} given up"
    return content


def silent(ask: Any, _path: Any, _reasons: Any) -> Any:
    return Abstention(ask.seat, "asleep", "it said nothing")


_HELD: list[disputatio.Debate] = []


async def held() -> disputatio.Debate:
    """A debate with one wild analyst and one silent one; the same for all these tests."""
    if not _HELD:
        seats = {"tech_bull": disputatio.Scripted(wild), "senti_bear": disputatio.Scripted(silent)}
        _HELD.append(await disputatio.debate(format="market", seats=seats, store=MemoryStore()))
    return _HELD[0]


@pytest.mark.parametrize("width", [40, 100])
async def test_text_shows_the_table_by_analyst_at_any_width(width: int):
    text = (await held()).text(width)
    assert all(columns(line) <= width for line in text.splitlines())
    assert "\x1b" not in text
    flat = " ".join(text.split())
    assert all(words in flat for words in (*DISCLAIMERS, *ANALYSTS, "By analyst", "Key disagreement", "wrong"))


async def test_both_disclaimers_are_on_every_surface():
    debate = await held()
    for surface in (debate.text(), debate.markdown(), debate.html(), debate.argdown()):
        flat = " ".join(surface.replace("\\", "").split())
        assert all(words in flat for words in DISCLAIMERS)
    body: Any = debate.as_json()
    assert body["outcome"]["disclaimers"] == list(DISCLAIMERS)
    assert all(words in body["verdict"] for words in DISCLAIMERS)


async def test_the_export_has_every_figure_and_status():
    body: Any = (await held()).as_json()
    jsonschema_rs.validator_for(export_schema()).validate(body)
    outcome = body["outcome"]
    assert [row["seat"] for row in outcome["analysts"]] == list(ANALYSTS)
    (false,) = outcome["trace"][0]["citations"]
    assert (false["status"], false["true_value"]) == ("wrong", "62 points")
    assert outcome["knowledge"]["synthetic"] is True
    asleep = next(row for row in outcome["analysts"] if row["seat"] == "senti_bear")
    assert (asleep["score"], asleep["arguments"]) == (None, [])
    assert body["heading"].startswith("DEGRADED")


async def test_analyst_words_never_become_markup():
    debate = await held()
    page = debate.html()
    assert "<script>alert(1)" not in page
    assert page.count("<script>") == 2
    assert "&lt;script&gt;alert(1)" in page
    assert not re.search(r"^# heading", debate.markdown(), re.MULTILINE)


async def test_charts_are_drawn_twice_and_say_what_they_show():
    debate = await held()
    charts = charts_of(debate.report())
    assert [chart.key for chart in charts] == ["scores", "confidence"], "the example holds no history"
    for chart in charts:
        assert [row.name for row in chart.drawings] == ["wide", "narrow"]
        assert "tech_bull" in chart.told
        for drawing in chart.drawings:
            assert all(0 <= text.x <= drawing.width and 0 <= text.y <= drawing.height for text in drawing.texts)
            assert all(0 <= dot.x <= drawing.width and 0 <= dot.y <= drawing.height for dot in drawing.dots)
    assert debate.html().count('<svg class="chart ') == 4


async def test_a_base_with_history_draws_the_price_with_its_averages():
    from dataclasses import replace

    from disputatio.market.knowledge import PriceHistory
    from disputatio.market.sources.files import load_example

    days = tuple(f"2026-{month:02}-{day:02}" for month in (1, 2, 3) for day in range(1, 21))
    rising = tuple(100.0 + place for place in range(60))
    lines = {"close": rising, "ma20": (None,) * 20 + rising[20:], "rsi_14": (50.0,) * 60, "macd": (0.5,) * 60}
    base = replace(load_example(), history=PriceHistory(days, lines))
    debate = await disputatio.debate(format=disputatio.Market(knowledge=base), store=MemoryStore())
    charts = {chart.key: chart for chart in charts_of(debate.report())}
    assert list(charts) == ["price", "rsi", "macd", "scores", "confidence"]
    (close, average) = [row for row in charts["price"].drawings[0].paths if row.kind.startswith("line")]
    points = [tuple(map(float, row.split())) for row in re.split("[ML]", close.d) if row]
    assert len(points) == 60
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True), "a rising price rises on the page"
    assert average.d.count("L") == 39, "where there is no value there is no line"
    assert "Last: close 159" in charts["price"].told


async def test_the_report_says_why_bears_state_the_same():
    """The count is made again from the openings, and the reason stands beside it on every surface."""
    debate = await disputatio.debate(format="market", store=MemoryStore())
    stated = [row["confidence"] for row in debate.outcome["trace"] if row["side"].endswith("_bear")]
    said = f"{stated.count(0.38)} of {len(stated)} bear arguments by rules state 0.38"
    reason = "a signal without one has the share of months in which shares rose, or fell"
    exported = " ".join(debate.as_json()["sureness"])
    for text in (debate.text(), debate.markdown(), debate.html(), exported):
        assert said in " ".join(text.split())
        assert reason in " ".join(text.split())
