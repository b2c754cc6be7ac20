"""A whole backtest: debates by rules on dates whose outcome is known, their records, the report, and its controls."""

from __future__ import annotations

import asyncio
import json
import math
import os
from dataclasses import replace
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path

import html5lib
import numpy as np
import pytest
from backtest_stage import (
    PLAN,
    PLAN_TEXT,
    SHARED,
    held_on,
    made_up_archive,
    made_up_files,
    planned,
    report_on,
    rules_everywhere,
)

from disputatio.evaluation.backtest.archive import mirror_prices, open_archive
from disputatio.evaluation.backtest.cases import BLIND, MIRRORED, PLAIN, Case, KnowledgeBases
from disputatio.evaluation.backtest.confidence import check_confidence
from disputatio.evaluation.backtest.controls import check_blind, check_leaks, check_mirrored, forge_dates
from disputatio.evaluation.backtest.forecasts import (
    DateRecord,
    ScoredArgument,
    forecast_lenses,
    forecast_openings,
    forecast_up,
    read_arguments,
    read_call,
    weigh_argument,
)
from disputatio.evaluation.backtest.plan import load_plan
from disputatio.evaluation.backtest.report import Outcome
from disputatio.evaluation.backtest.report_text import render_backtest_lines
from disputatio.evaluation.backtest.runner import BacktestRunner, RunSettings
from disputatio.evaluation.experiment import Spending
from disputatio.evaluation.pages.backtest import render_backtest_page
from disputatio.market.expressions import MAX_EXPRESSION_CHARS
from disputatio.market.sources.series_catalogue import SECTORS
from disputatio.participants.analyst.textbook import packaged_text, read_textbook
from disputatio.participants.analyst.turns import market_by_rules
from disputatio.record.memory import MemoryStore
from strategies import example_base

needs_history = pytest.mark.skipif(
    not SHARED.is_dir(), reason="no market history beside the repository, ../shared/market"
)


def row(
    side: str, score: float | None, sure: float, judged: str | None = "UPHELD", **more: object
) -> dict[str, object]:
    body = {"id": f"{side}_arg_0", "side": side, "weighted": score, "confidence": 0.5, "confidence_adjusted": sure}
    return {**body, "judged": judged, "computed": "UPHELD", "not_borne_out": [], **more}


@pytest.mark.parametrize(
    ("argument", "weight"),
    [
        (row("tech_bull", 10, 0.6), 0.6),
        (row("tech_bull", 1, 0.6), 0.0),
        (row("tech_bull", 5.5, 0.8, "WEAKENED"), 0.5 * 0.8 * 0.5),
        (row("tech_bull", 10, 0.8, "UNCERTAIN"), 0.2),
        (row("tech_bull", 10, 0.8, "REFUTED"), 0.0),
        (row("tech_bull", None, 0.8), None),
        (row("tech_bull", 10, 0.8, None), None),
        (row("tech_bull", 10, 0.8, not_borne_out=["twice"]), None),
    ],
)
def test_an_argument_weighs_score_confidence_and_standing(argument, weight):
    assert weigh_argument(argument) == (weight if weight is None else pytest.approx(weight))


def test_forecasts_of_lenses_and_debate_follow_the_formula():
    outcome = {
        "trace": [
            row("tech_bull", 10, 0.6),
            row("tech_bull", 10, 0.2),
            row("tech_bear", 10, 0.1),
            row("macro_bear", 10, 0.9),
            row("fund_bull", None, 0.9),
            row("senti_bull", 1, 0.9),
            row("senti_bear", 1, 0.9),
        ]
    }
    forecasts = forecast_lenses(outcome)
    tech = 1 / (1 + math.exp(-(0.4 - 0.1) / (0.4 + 0.1)))
    assert forecasts["tech"] == pytest.approx(tech)
    assert forecasts["macro"] == pytest.approx(1 / (1 + math.e)), "a side without arguments weighs nothing"
    assert forecasts["fund"] is None, "nobody scored it"
    assert forecasts["senti"] == 0.5
    assert forecast_up(outcome) == pytest.approx((tech + 1 / (1 + math.e) + 0.5) / 3)
    assert forecast_openings(outcome)["fund"] == pytest.approx(1 / (1 + math.exp(-1))), "openings need no judge"
    assert [read_call(p) for p in (None, 0.5, 0.51, 0.49)] == [None, None, True, False]
    assert forecast_up({"trace": []}) is None


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return made_up_archive(tmp_path_factory.mktemp("made up"))


@pytest.fixture(scope="module")
def everything(archive):
    """Eight dates, and two of them mirrored and blind, with the store that holds them."""
    store = MemoryStore()
    dates, cases = planned(archive)
    return dates, cases, store, asyncio.run(held_on(archive, cases, store))


@pytest.mark.slow
def test_a_date_is_a_live_debate_with_its_forecast(archive, everything):
    dates, cases, store, held = everything
    assert len(dates.labels) == 8
    assert len(cases) == len(held.records) == 12
    record = held.records[3]
    verdict = market_by_rules(KnowledgeBases(archive).of(record.case)).as_json()
    assert dict(record.forecasts) | forecast_lenses(verdict) == dict(record.forecasts)
    assert record.p == pytest.approx(forecast_up(verdict))
    assert [one.id for one in record.arguments] == [str(one["id"]) for one in verdict["trace"]]
    assert store.row(record.debate).format == "market"
    assert record.by_rules


@pytest.mark.slow
async def test_a_stopped_backtest_resumes_to_the_same_result(archive, everything):
    _, cases, _, whole = everything
    store, told = MemoryStore(), []

    def stop(reused: bool) -> None:
        told.append(reused)
        if len(told) == 5:
            task.cancel()

    task = asyncio.ensure_future(held_on(archive, cases, store, on_finished=stop))
    with pytest.raises(asyncio.CancelledError):
        await task
    kept = len(store.debates())
    assert 5 <= kept < len(cases)
    again: list[bool] = []
    held = await held_on(archive, cases, store, on_finished=again.append)
    assert again.count(True) == kept
    assert held.records == whole.records


@pytest.mark.slow
def test_records_are_found_by_what_was_debated(archive, everything):
    _, cases, store, whole = everything
    assert (
        BacktestRunner(cases, RunSettings(archive, rules_everywhere()), store).read_recorded().records == whole.records
    )
    other = BacktestRunner(
        cases, RunSettings(replace(archive, name="other"), rules_everywhere()), store
    ).read_recorded()
    assert len(other.records) == len(cases), "the rows decide and not the name of the folder"
    poorer = archive.changed(lambda key, rows: None if key == "vix" else rows)
    assert BacktestRunner(cases, RunSettings(poorer, rules_everywhere()), store).read_recorded().records == ()


@pytest.mark.slow
def test_the_report_says_what_it_is_and_no_more(archive, everything):
    dates, _, _, held = everything
    report = report_on(archive, held, dates)
    body = json.loads(json.dumps(report.as_json(), allow_nan=False))
    assert body["notice"].startswith("A HARNESS TEST")
    assert body["plan"]["sha256"] == PLAN.sha256
    assert body["data"]["sha256"] == archive.digest
    assert body["has_edge"] is False
    assert "No demonstrable edge" in report.finding
    assert [each["day"] for each in body["rows"]] == [day.isoformat() for day in dates.decided]
    counts = report.outcomes("debate")
    assert sum(counts.values()) == len(dates.labels)
    assert "This is not financial advice." in body["disclaimers"]
    lines = "\n".join(render_backtest_lines(report))
    assert report.finding in lines
    page = render_backtest_page(report)
    html5lib.HTMLParser(strict=True).parse(page)
    assert report.notice[:40] in page
    assert "This is not financial advice." in page
    assert "<script" not in page


@pytest.mark.slow
def test_missing_dates_are_not_right_and_counted_apart(archive, everything):
    dates, _, _, held = everything
    some = tuple(one for one in held.records if one.case.arm != PLAIN or one.day >= dates.decided[2])
    report = report_on(archive, replace(held, records=some, missing=(Case(dates.decided[0]),), stopped="why"), dates)
    assert report.outcomes("debate")[Outcome.NOT_RUN] == 2
    assert report.result.scores[0].accuracy.of == 8
    assert report.as_json()["stopped"] == "why"


@pytest.mark.slow
def test_leak_controls_pass_on_honest_records_only(archive, everything):
    dates, _, _, held = everything
    plain = [one for one in held.records if one.case.arm == PLAIN]
    assert check_leaks(archive, plain, dates.labels, 4).holds
    # Every close claims to have been known a session early, so that each debate saw the day after.
    leaky = archive.changed(forge_dates)
    peeked = asyncio.run(held_on(leaky, tuple(one.case for one in plain[::4])))
    found = {one.name: one for one in check_leaks(leaky, peeked.records, dates.labels, 1).checks}
    assert found["truncation"].as_it_must == 0
    assert found["poison"].as_it_must == 0


def test_mirroring_negates_returns_and_is_its_own_inverse(archive):
    key = "index:GSPC"
    there, back = mirror_prices(archive), mirror_prices(mirror_prices(archive))
    one, other = archive.rows[key].columns, there.rows[key].columns
    assert np.allclose(np.diff(np.log(one["close"])), -np.diff(np.log(other["close"])))
    assert np.all(other["high"] >= other["close"])
    assert np.all(other["low"] <= other["close"])
    assert np.array_equal(one["volume"], other["volume"])
    assert np.array_equal(archive.rows["vix"].columns["close"], there.rows["vix"].columns["close"])
    for name, values in one.items():
        assert np.allclose(values, back.rows[key].columns[name], equal_nan=True)


def said(day: date, arm: str, p: float | None, arguments: tuple[ScoredArgument, ...] = ()) -> DateRecord:
    lenses = {"tech": p, "fund": None, "macro": 0.9, "senti": None}
    return DateRecord(Case(day, arm), "x", "COMPLETE", lenses, lenses, arguments, (), "", "", True, False, Spending())


def test_mirrored_prices_expose_a_lens_that_always_says_up():
    days = [date(2000, 1, 1) + timedelta(days=31 * place) for place in range(20)]
    observed = {day: place % 3 > 0 for place, day in enumerate(days)}
    plain = [said(day, PLAIN, 0.8 if observed[day] else 0.2) for day in days]
    other = [said(day, MIRRORED, 0.2 if observed[day] else 0.8) for day in days]
    found = {
        one.name: one for one in check_mirrored(plain, other, observed, {day: not up for day, up in observed.items()})
    }
    assert found["macro"].one_sided
    assert not found["tech"].one_sided
    assert found["tech"].changed.value == 1
    assert found["tech"].right.value == found["tech"].right_mirrored.value == 1
    assert found["macro"].right.value == pytest.approx(1 - found["macro"].right_mirrored.value)
    assert "fund" not in found, "it never spoke"


@pytest.mark.slow
def test_rules_come_to_the_same_forecast_without_names_and_dates(everything):
    _, _, _, held = everything
    arms = {arm: [one for one in held.records if one.case.arm == arm] for arm in (PLAIN, BLIND)}
    found = check_blind(arms[PLAIN], arms[BLIND])
    assert (found.same.count, found.same.of, found.largest) == (2, 2, 0.0)
    changed = [replace(one, forecasts={**one.forecasts, "tech": 0.1}) for one in arms[BLIND]]
    assert check_blind(arms[PLAIN], changed).same.count == 0


def test_a_figure_of_every_sector_fits_into_an_expression():
    """With eleven sectors the longest rules were too long once, and kept silent; the blind arm gave it away."""
    for rule in (*read_textbook(packaged_text()).rules, *read_textbook(packaged_text()).objections):
        for _, basis in rule.figures:
            head, star, field = basis.partition("sectors.*.")
            if star:
                field = field.rstrip(")")
                whole = f"{head}{', '.join(f'sectors.{key}.{field}' for key in SECTORS)})"
                assert len(whole) <= MAX_EXPRESSION_CHARS, basis


def test_confidence_is_separated_from_the_base_rate():
    """Bulls are surer than bears and are right more often, because the market rises: that is no information."""
    chance = np.random.default_rng(3)
    days = [date(2000, 1, 1) + timedelta(days=31 * place) for place in range(120)]
    observed = {day: bool(chance.random() < 0.65) for day in days}

    def argued(day: date, *, knows: bool) -> tuple[ScoredArgument, ...]:
        found = []
        for side, usual in (("bull", 0.7), ("bear", 0.4)):
            right = (side == "bull") == observed[day]
            sure = usual + float(chance.normal(0.1 if knows and right else 0.0, 0.05))
            found.append(ScoredArgument("a", "tech", side, sure, sure, "UPHELD", sure))
        return tuple(found)

    found = {}
    for knows in (False, True):
        check = check_confidence([said(day, PLAIN, 0.5, argued(day, knows=knows)) for day in days], observed)
        assert check.arguments == sum(one.right.of for one in check.bins) == 240
        found[knows] = check.measures[0]
    assert 0.4 < found[False].concordance.value < 0.6
    assert found[True].informative
    assert found[True].concordance.value > 0.8
    assert check_confidence([], {}) is None


def test_arguments_are_read_as_the_verdict_has_them():
    verdict = market_by_rules(example_base()).as_json()
    found = read_arguments(verdict)
    assert len(found) == len(verdict["trace"])
    assert {one.lens for one in found} == {"tech", "fund", "macro", "senti"}
    assert all(one.weight is None or 0 <= one.weight <= 1 for one in found)


def test_the_packaged_plans_are_read_and_say_what_they_fix():
    for name, last in (("market", date(2023, 5, 1)), ("packages", date(2022, 10, 1))):
        plan = load_plan(name)
        assert (plan.first, plan.last, plan.formula) == (date(1999, 3, 1), last, "equal_weights")
        text = files("disputatio.evaluation.backtest").joinpath("plans", f"{name}.toml").read_text("utf-8")
        assert "tie" in text
        assert "primary_test" in text


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    made_up_files(tmp_path / "market")
    (tmp_path / "plan.toml").write_text(PLAN_TEXT)
    return tmp_path


def command(*arguments: str) -> int:
    from disputatio._cli.main import main

    with pytest.raises(SystemExit) as left:
        main(("backtest", *arguments))
    return int(left.value.code or 0)


@pytest.mark.slow
def test_the_command_repeats_the_same_report(folder, capsys):
    usual = ("plan.toml", "--data", "market", "--store", "records.sqlite", "--limit", "3", "--json", "--processes", "2")
    assert command(*usual, "--out", "out") == 0
    body = json.loads(capsys.readouterr().out)
    assert body["dates"] == 3
    assert body == json.loads((folder / "out" / "report.json").read_text("utf-8"))
    assert body["notice"].startswith("A TRIAL: the first 3 of the 8 dates of the plan. A HARNESS TEST")
    assert command(*usual, "--from-records") == 0
    assert json.loads(capsys.readouterr().out) == body


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nowhere.toml",), "nowhere.toml cannot be read"),
        (("plan.toml", "--data", "nowhere"), "There is no folder nowhere"),
        (("plan.toml", "--data", "market", "--limit", "none"), "--limit 'none' is not a whole number"),
        (("plan.toml", "--data", "market", "--limit", "2", "--benchmarks"), "--limit is for debates"),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_sentence(folder, capsys, arguments, sentence):
    assert command(*arguments) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert "Traceback" not in err


@needs_history
@pytest.mark.slow
def test_the_command_scores_benchmarks_of_real_history(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dates = "first = 1995-01-01\nlast = 2020-12-01\n"
    text = 'schema = "disputatio/backtest-plan"\nversion = 1\nname = "26 years"\nsubject = "GSPC"\n'
    Path("plan.toml").write_text(f'{text}{dates}entry = "same_close"\ntie = "down"\n')
    assert command("plan.toml", "--data", str(SHARED), "--benchmarks", "--json") == 0
    body = json.loads(capsys.readouterr().out)
    assert body["dates"] == 312
    scores = {row["name"]: row for row in body["scores"]}
    percent = {name: round(100 * row["accuracy"]["value"], 1) for name, row in scores.items()}
    assert percent == {"always_up": 64.1, "climatology": 64.1, "average_200": 63.1, "vix_below_20": 56.7}
    assert round(scores["average_200"]["balanced_accuracy"], 3) == 0.565
    assert round(scores["climatology"]["brier"]["score"], 4) == 0.2314
    balanced = {name: round(100 * row["accuracy_on_balanced_label"]["value"], 1) for name, row in scores.items()}
    assert (balanced["always_up"], balanced["average_200"]) == (51.9, 57.4)


@needs_history
@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("DISPUTATIO_TESTS") != "full", reason="291 dates: DISPUTATIO_TESTS=full")
async def test_291_months_of_real_history_show_no_edge_and_no_leak():
    from disputatio.evaluation.backtest.report import list_cases, make_backtest_report
    from disputatio.evaluation.backtest.scoring import find_dates

    archive, plan = open_archive(SHARED), load_plan("market")
    dates = find_dates(plan, archive.prices())
    held = await held_on(archive, list_cases(plan, dates), processes=2)
    report = make_backtest_report(plan, archive, held, {}, dates=dates)
    assert len(report.result.labels) == 291
    assert not report.result.has_edge
    assert report.leaks.holds
    assert report.blind.same.count == report.blind.same.of == 49
