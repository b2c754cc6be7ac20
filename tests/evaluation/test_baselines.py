"""Baselines beside one debate: at its own spend, in its own report, and never a change of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from answer_stage import settings_of

from disputatio.config import Arguments, resolve
from disputatio.config.process import format_scope
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import Runtime, start
from disputatio.errors import InvalidInputError
from disputatio.evaluation.baselines import Baselines, choose_answerer, parse_baselines
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.registry import find_format
from disputatio.formats.single import SingleRules, single
from disputatio.kernel import Driver
from disputatio.ledger.budget import UNLIMITED, Budget
from disputatio.motion import Motion
from disputatio.record.chain import find_fault
from disputatio.record.history import History
from disputatio.record.memory import MemoryStore
from disputatio.report.json_export import export_json
from disputatio.report.markdown import render_markdown
from disputatio.report.page import render_page
from disputatio.report.reading import DebateReport
from disputatio.report.text import render_text
from disputatio.testing import InstanceClient, ScriptedClient, instance

pytestmark = pytest.mark.slow


async def debated(budget: Budget = UNLIMITED, names=("single", "vote", "freeform")):
    settings = settings_of(("structured", "single", "freeform"))
    store = MemoryStore()
    runtime = Runtime(store, client_factory=lambda *_: InstanceClient(), checks_first=False)
    proposal = Proposal(Motion("We should adopt it"), find_format("structured"), settings["structured"])
    debate = await start(proposal, runtime)
    before = History.of(row.event() for row in store.read(debate)).closed
    await Baselines(proposal, settings, runtime, budget).run(debate, names)
    return store, debate, before


async def test_they_stand_in_the_same_report_on_every_surface():
    store, debate, before = await debated()
    record, texts = store.read(debate), store.texts(debate)
    assert find_fault(record, texts) is None
    assert History.of(row.event() for row in record).closed == before, "the result is what it was"
    report = DebateReport.of(debate, record, texts)
    rows = {row.name: row for row in report.baselines}
    assert list(rows) == ["single", "vote", "freeform"]
    assert rows["single"].answer in {"for", "against"}
    for surface in (render_text(report), render_markdown(report), render_page(report)):
        assert all(row.title in surface for row in report.baselines)
        assert f"{rows['vote'].tokens:,}" in surface
    assert [row["baseline"] for row in export_json(report)["baselines"]] == list(rows)


async def test_the_vote_costs_what_the_debate_cost():
    store, debate, _ = await debated(names=("vote",))
    (vote,) = DebateReport.of(debate, store.read(debate), store.texts(debate)).baselines
    assert vote.samples > 10
    assert vote.share == pytest.approx(1, abs=1 / vote.samples)


async def test_baselines_of_a_market_debate_see_the_knowledge_base():
    sent = []

    def answer(call):
        sent.append("\n".join(row.text for row in call.segments))
        return instance(call.schema, str(len(sent)))

    settings = settings_of(("single", "freeform"))
    market = find_format("market")
    by_rules = resolve(
        format_name="market",
        seats=tuple(market.seats),
        environ={},
        directory=Path("/nonexistent"),
        arguments=Arguments(),
        options=format_scope(market),
    )
    runtime = Runtime(MemoryStore(), client_factory=lambda *_: ScriptedClient(answer), checks_first=False)
    proposal = Proposal(Motion("Will it rise?"), market, by_rules)
    debate = await start(proposal, runtime)
    assert sent == [], "rules ask no model"
    held = await Baselines(proposal, settings, runtime).run(debate, ("single", "freeform"))
    assert [row.failure for row in held] == ["", ""]
    assert all("technicals.EXI.rsi_14 = 62 points" in prompt for prompt in sent)


async def test_a_ceiling_covers_the_baselines_too():
    store, debate, _ = await debated(Budget(tokens=1), names=("single",))
    (row,) = DebateReport.of(debate, store.read(debate), store.texts(debate)).baselines
    assert row.answer == ""
    assert "ceiling" in row.failure
    assert row.tokens == 0


def test_names_of_baselines_are_known_ones():
    assert parse_baselines("all") == ("single", "vote", "freeform")
    assert parse_baselines("freeform, single") == ("single", "freeform")
    with pytest.raises(InvalidInputError, match="no baseline called 'oracle'"):
        parse_baselines("oracle")


def test_whoever_judges_answers_alone_where_nobody_is_named():
    settings = settings_of(("structured",))["structured"]
    assert choose_answerer((("all", "a:b"),), settings) == (("all", "a:b"),)
    assert choose_answerer((("pro", "a:b"), ("judge", "c:d")), settings) == (("answerer", "c:d"),)
    assert choose_answerer((), settings) == ()


def test_a_vote_asks_sixteen_samples_at_a_time_once_each():
    driver = Driver(single(SingleRules(("yes", "no"), samples=40, first=11), DebateContext((), Motion("Be it so"))))
    asked: list[str] = []
    while not driver.finished:
        assert len(driver.open_asks) <= 16
        for path, ask in list(driver.open_asks.items()):
            asked.append(str(path))
            driver.answer(path, ask.spec.read({"reasoning": "It is.", "answer": "yes", "confidence": 60}))
    assert len(asked) == len(set(asked)) == 40
    assert driver.outcome.as_json()["tally"] == {"yes": 40}
