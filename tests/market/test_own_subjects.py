"""An asset and a horizon of one's own: named as the folder names it, asked one question, and never priced by others."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from backtest_stage import rules_everywhere
from market_stage import settings_of

import disputatio
from disputatio.engine.market_setup import default_question, find_horizon
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import Runtime, start
from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.archive import open_archive
from disputatio.evaluation.backtest.cases import Case, hash_identity, make_debate_id, make_proposal
from disputatio.evaluation.backtest.plan import load_plan, read_plan
from disputatio.evaluation.backtest.scoring import find_dates
from disputatio.evaluation.baselines import Baselines
from disputatio.formats.registry import find_format
from disputatio.market.knowledge import KnowledgeBase
from disputatio.market.sources.builder import build, open_source
from disputatio.motion import Motion
from disputatio.record.memory import MemoryStore
from disputatio.testing import ScriptedClient, instance
from strategies import example_base


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Three years of one share, with a name of its own and the earnings of an index beside it."""
    where = tmp_path_factory.mktemp("shares")
    days = [date(2001, 1, 1) + timedelta(days=place) for place in range(1095)]
    days = [day for day in days if day.weekday() < 5]
    closes = 50 * np.exp(np.cumsum(np.random.default_rng(3).normal(0.0004, 0.011, len(days))))
    lines = [f"{day},{close:.2f}" for day, close in zip(days, closes, strict=True)]
    (where / "index_AAPL.csv").write_text("\n".join(["Date,Close", *lines]))
    (where / "index_MSFT.csv").write_text("\n".join(["Date,Close", *lines]))
    (where / "names.csv").write_text("Key,Name\nAAPL,Apple\n")
    months = [f"{year}-{month:02}-01,40" for year in (2000, 2001, 2002) for month in range(1, 13)]
    (where / "shiller_monthly.csv").write_text("\n".join(["Date,Earnings", *months]))
    return where


@pytest.fixture(scope="module")
def apple(folder) -> KnowledgeBase:
    return build(date(2003, 6, 30), open_source(f"csv:{folder}", "AAPL"))


def test_an_own_subject_has_the_name_of_the_folder(apple):
    assert (apple.meta.subject, apple.meta.subject_name) == ("AAPL", "Apple")
    assert default_question(apple) == "Will Apple rise within a month?"
    assert "S&P 500" not in json.dumps(disputatio.market.knowledge_json.as_json(apple)["indices"]["AAPL"])
    assert next(iter(apple.indices)) == "AAPL"


def test_a_share_is_not_valued_by_the_earnings_of_an_index(apple):
    held = apple.fundamentals.sp500_pe_approx.current_pe_approx
    assert not held.is_known
    assert "those of the S&P 500, and not of Apple" in held.why_not


def test_a_subject_without_a_file_is_refused_by_name(folder):
    with pytest.raises(InvalidInputError, match=r"no prices of NVDA: there is no file index_NVDA\.csv"):
        open_source(f"csv:{folder}", "NVDA")
    with pytest.raises(InvalidInputError, match="knows the S&P 500 as a subject"):
        open_source("packages", "AAPL")
    with pytest.raises(InvalidInputError, match="cannot be the subject"):
        open_source(f"csv:{folder}", "../AAPL")


@pytest.mark.parametrize(("horizon", "most_days"), [("week", 7), ("month", 31), ("quarter", 92)])
def test_a_horizon_decides_dates_question_and_identity(folder, horizon, most_days):
    plan = replace(load_plan("market", "AAPL", horizon), first=date(2002, 1, 1), last=date(2003, 6, 1))
    archive = open_archive(folder, plan.subject)
    days = find_dates(plan, archive.prices()).decided
    gaps = [(later - day).days for day, later in pairwise(days)]
    assert most_days - 5 <= max(gaps) <= most_days + 4
    assert plan.sha256 != load_plan("market").sha256
    motion = make_proposal(build(days[0], archive), rules_everywhere(), horizon=plan.asks_for).motion.text
    assert motion == f"Will Apple rise within a {horizon}?"
    usual = hash_identity(rules_everywhere())
    assert (hash_identity(rules_everywhere(), horizon=horizon) == usual) is (horizon == "month")


def test_another_subject_of_one_folder_has_other_records(folder):
    case = Case(date(2003, 6, 30))
    ids = {make_debate_id(case, open_archive(folder, key).digest, "x") for key in ("AAPL", "MSFT")}
    assert len(ids) == 2


def test_a_plan_names_a_horizon_once(tmp_path):
    head = 'schema = "disputatio/backtest-plan"\nversion = 1\nname = "n"\nsubject = "AAPL"\n'
    path = tmp_path / "plan.toml"
    path.write_text(f'{head}first = 2002-01-01\nlast = 2003-01-01\nhorizon = "week"\n')
    assert (read_plan(path).dates, read_plan(path).asks_for) == ("week_end", "week")
    path.write_text(path.read_text() + 'dates = "month_end"\n')
    with pytest.raises(InvalidInputError, match="the horizon is a week, and dates is 'month_end'"):
        read_plan(path)
    with pytest.raises(InvalidInputError, match="'year'"):
        load_plan("market", None, "year")


@pytest.mark.parametrize(
    ("motion", "horizon"),
    [
        ("Will ExampleIndex rise within a week?", "week"),
        ("will the EXI go up over the next quarter", "quarter"),
        ("Will ExampleIndex rise?", "month"),
        ("Will ExampleIndex fall within a month?", None),
        ("Should we sell our bonds?", None),
        ("Will AAPL rise within a month?", None),
    ],
)
async def test_rules_refuse_a_motion_that_is_not_their_question(motion, horizon):
    base = example_base()
    motion = motion.replace("ExampleIndex", base.meta.subject_name)
    assert find_horizon(motion, base) == horizon
    if horizon is None:
        with pytest.raises(InvalidInputError, match="answer one question only: Will"):
            await disputatio.debate(motion, format="market", store=MemoryStore())
    else:
        debate = await disputatio.debate(motion, format="market", store=MemoryStore())
        assert debate.status == "COMPLETE"


@pytest.mark.parametrize("motion", ["Will {} rise within a week?", "Should we sell our bonds?"])
async def test_a_market_debate_and_its_baseline_answer_one_question(motion):
    """The debate argues whether the subject will rise; so that is what a single answer is asked, up or down."""
    base, asked = example_base(), []

    def answer(call):
        asked.append(("\n".join(row.text for row in call.segments), call.schema))
        return json.dumps(instance(call.schema, str(len(asked))))

    text = motion.format(base.meta.subject_name)
    models = settings_of("market", "all=openai_compatible:m")
    proposal = Proposal(Motion(text), find_format("market"), models, knowledge=base)
    runtime = Runtime(MemoryStore(), client_factory=lambda *_: ScriptedClient(answer), checks_first=False)
    debate = await start(proposal, runtime)
    asked.clear()
    (held,) = await Baselines(proposal, {"single": settings_of("single", "all=openai_compatible:m")}, runtime).run(
        debate, ("single",)
    )
    assert held.answer in {"up", "down"}
    ((prompt, schema),) = asked
    assert schema["properties"]["answer"]["enum"] == ["up", "down"]
    assert (text if "rise" in text else default_question(base)) in prompt
    assert "bonds" not in prompt
