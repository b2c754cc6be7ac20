"""Market, backtest and evaluation: what counts as a forecast, what a finding says, and what a control sees."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from decisions.point import Point
from disputatio.config import Arguments, resolve
from disputatio.config.process import format_scope
from disputatio.engine.market_setup import check_question, default_question, knowledge_row
from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.archive import Archive, PriceSeries, open_archive
from disputatio.evaluation.backtest.cases import Case
from disputatio.evaluation.backtest.controls import check_leaks, remove_lags
from disputatio.evaluation.backtest.forecasts import DateRecord, ScoredArgument, forecast_lenses
from disputatio.evaluation.backtest.judge_weights import CRITERIA, calibrate_judge
from disputatio.evaluation.backtest.labels import Label, label_dates
from disputatio.evaluation.backtest.plan import BacktestPlan
from disputatio.evaluation.backtest.report import describe_verdict, make_backtest_report
from disputatio.evaluation.backtest.runner import FinishedDates, RunSettings, estimate_backtest
from disputatio.evaluation.backtest.scoring import find_dates, score_backtest
from disputatio.evaluation.experiment import Spending
from disputatio.evaluation.vote_replay import make_replay_report
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.market import ANALYSTS, JUDGE, MarketRules, market
from disputatio.formats.registry import find_format
from disputatio.kernel import Driver
from disputatio.market.sources.builder import build
from disputatio.market.sources.files import load_example
from disputatio.motion import Motion
from disputatio.participants.analyst.participant import Analyst
from disputatio.participants.analyst.table_check import check_table
from disputatio.participants.analyst.textbook import packaged_text, read_textbook
from disputatio.participants.analyst.turns import answer

FLAGS: dict[str, Any] = {"by_rules": True, "harness": False, "spent": Spending()}
PLAN = BacktestPlan("made up", "GSPC", date(2003, 1, 1), date(2003, 8, 1), balanced_after=6, controls_every=0)
PLAN = replace(PLAN, leaks_every=0)


def made_up_folder(folder: Path, key: str = "GSPC") -> Path:
    """Three years of weekdays of one series, with quarterly earnings beside it."""
    days = [date(2001, 1, 1) + timedelta(days=place) for place in range(1095)]
    days = [day for day in days if day.weekday() < 5]
    closes = 1000 * np.exp(np.cumsum(np.random.default_rng(7).normal(0.0004, 0.011, len(days))))
    lines = [f"{day},{close:.2f}" for day, close in zip(days, closes, strict=True)]
    (folder / f"index_{key}.csv").write_text("\n".join(["Date,Close", *lines]))
    months = [f"{year}-{month:02}-01,40" for year in range(1994, 2004) for month in range(1, 13)]
    (folder / "shiller_monthly.csv").write_text("\n".join(["Date,Earnings", *months]))
    return folder


def made_up_archive() -> Archive:
    """That folder, read."""
    with tempfile.TemporaryDirectory() as made:
        return open_archive(made_up_folder(Path(made)))


def debated(day: date, p: float | None = 0.7, **more: Any) -> DateRecord:
    """The record of a debate that came to ``p``."""
    body: dict[str, Any] = {"silent": (), "knowledge": "", "failure": "", **FLAGS, **more}
    return DateRecord(Case(day), "x", "COMPLETE", {"tech": p}, {"tech": p}, (), **body)


def failed_seat() -> tuple[str, bool]:
    """The bear of a lens could not be reached."""
    row = {"side": "tech_bull", "weighted": 8, "confidence": 0.6, "confidence_adjusted": 0.6, "judged": "UPHELD"}
    silent = {"seat": "tech_bear", "arguments": [], "silent": [{"reason": "unreachable"}]}
    found = forecast_lenses({"trace": [row], "analysts": [silent]})["tech"]
    quiet = forecast_lenses({"trace": [row], "analysts": [{**silent, "silent": [{"reason": "no_signal"}]}]})["tech"]
    return f"failed: {'abstains' if found is None else found}; no signal: {quiet:.3f}", found is None


def heading() -> tuple[str, bool]:
    """Eight dates: one was not held, one has a seat without a signal, one a seat that failed."""
    archive = made_up_archive()
    dates = find_dates(PLAN, archive.prices())
    days = dates.decided
    rows = [debated(days[0], silent=(("tech_bear", "no_signal"),)), debated(days[1], None, failure="tech_bear: down")]
    held = FinishedDates((*rows, *(debated(day) for day in days[3:])), (Case(days[2]),), "stopped")
    report = make_backtest_report(PLAN, archive, held, {}, dates=dates)
    return f"{report.counted.text}; {report.finding}", "% right" not in report.finding


def condition() -> tuple[str, bool]:
    """A lens that knows 4 outcomes in 10, in a market that falls; the balanced label begins late."""
    chance = np.random.default_rng(11)
    closes = (100 * np.exp(np.cumsum(chance.normal(-0.0009, 0.01, 4400)))).tolist()
    days = tuple(date(2000, 1, 1) + timedelta(days=place) for place in range(4400))
    series = PriceSeries("made up", days, tuple(closes))
    plan = replace(PLAN, first=date(2002, 1, 1), last=date(2011, 6, 1), balanced_after=110)
    came = {row.decided: bool(row.up) for row in label_dates(series, series.month_ends())}

    def forecasts(day: date) -> dict[str, float | None]:
        knows = chance.random() < 0.4
        return {"one": 0.7 if (came[day] if knows else chance.random() < 0.5) else 0.3}

    said = describe_verdict(score_backtest(plan, series, forecasts))
    return said, "on the balanced label" in said and "at the observed discordance" in said


def lags() -> tuple[str, bool]:
    """Earnings claim to be known at the end of their quarter, and each debate was held on them."""
    honest = made_up_archive()
    leaky = honest.changed(lambda key, rows: remove_lags(key, rows) if key == "earnings" else rows)
    labels = find_dates(PLAN, honest.prices()).labels
    found = []
    for archive in (leaky, honest):
        rows = [debated(row.decided) for row in labels]
        rows = [replace(row, knowledge=str(knowledge_row(build(row.day, archive))[0]["text"])) for row in rows]
        found.append(check_leaks(archive, rows, labels, 4))
    broken = [row.name for row in found[0].checks if not row.holds]
    return f"fails {', '.join(broken)}; honest data pass: {found[1].holds}", "lags" in broken and found[1].holds


def own_rules() -> tuple[str, bool]:
    """A rule that looks at a figure which its seat never sees."""
    text = packaged_text().replace("technicals.{S}.rsi_14", "technicals.{S}.rsi_15", 1)
    try:
        check_table(read_textbook(text, "mine.toml"), "tech_bull", "mine.toml")
    except InvalidInputError as error:
        return error.cause, True
    return "taken", False


def withdrawn() -> tuple[str, bool]:
    """An analyst withdraws an argument and writes one half beside it."""
    book = read_textbook(packaged_text())
    seats = (*ANALYSTS, JUDGE)
    driver = Driver(market(MarketRules(), DebateContext(seats, Motion("Will it rise?"), knowledge=load_example())))
    while not driver.finished:
        for path, ask in driver.open_asks.items():
            content: Any = answer(book, ask)
            if path == "closing/tech_bull":
                content["refined_claims"]["tech_bull_arg_0"] |= {"status": "withdrawn", "confidence_adjusted": 0.5}
            driver.answer(path, ask.spec.read(content))
    row = next(row for row in driver.outcome.as_json()["trace"] if row["id"] == "tech_bull_arg_0")
    return f"confidence {row['confidence_adjusted'] or 'none'}", row["confidence_adjusted"] is None


def judged(day: date, chance: np.random.Generator) -> DateRecord:
    """A date whose marks know nothing."""
    rows = []
    for side in ("bull", "bear"):
        marks = dict(zip(CRITERIA, chance.integers(3, 9, len(CRITERIA)).tolist(), strict=True))
        rows.append(ScoredArgument(side, "tech", side, 0.6, 0.6, "UPHELD", 0.3, marks))
    return replace(debated(day), arguments=tuple(rows))


def weights() -> tuple[str, bool]:
    """Marks that know nothing, on 200 dates."""
    chance, labels, records = np.random.default_rng(2), [], []
    for place in range(200):
        day = date(2000, 1, 1) + timedelta(days=30 * place)
        up = bool(chance.random() < 0.6)
        labels.append(Label(day, day + timedelta(days=1), day + timedelta(days=30), 0.01, up, None))
        records.append(judged(day, chance))
    found = calibrate_judge(PLAN, labels, records)
    if found is None:
        return "nothing was searched", False
    chosen, equal = found.scores["chosen"], found.scores["equal"]
    inside, outside = equal.brier_in - chosen.brier_in, equal.brier_out - chosen.brier_out
    told = f"{found.tried:,} weightings; Brier gained in sample {inside:+.4f}, out of sample {outside:+.4f}"
    return f"{told}; shipped: {found.shipped}", inside > 0 and not found.shipped


def dry_run() -> tuple[str, bool]:
    """Twelve dates of models, before anything is asked."""
    form = find_format("market")
    seats = Arguments(base_url="http://127.0.0.1:9/v1")
    settings = resolve(
        format_name="market",
        seats=tuple(form.seats),
        environ={"LLM_PROVIDER": "openai_compatible", "LLM_MODEL": "m"},
        directory=Path("/"),
        arguments=seats,
        options=format_scope(form),
    )
    archive = made_up_archive()
    days = find_dates(PLAN, archive.prices()).decided
    (part,) = asyncio.run(estimate_backtest([Case(day) for day in days], RunSettings(archive, settings)))
    last = find_dates(PLAN, archive.prices()).last(2)
    told = f"{part.debates} debates, about {part.calls} calls and {part.tokens:,} tokens"
    days_of_last = " and ".join(map(str, last.decided))
    return f"{told}; --limit last:2 takes {days_of_last}", part.calls > 0 and last.decided == days[-2:]


def own_subject() -> tuple[str, bool]:
    """A folder with the prices of one share, and a motion that rules cannot answer."""
    with tempfile.TemporaryDirectory() as made:
        archive = open_archive(made_up_folder(Path(made), "AAPL"), "AAPL")
    base = build(date(2003, 6, 30), archive)
    asked = default_question(base, "week")
    try:
        check_question("Should we sell our bonds?", base, {"tech_bull": Analyst(packaged_text())})
    except InvalidInputError:
        return f'"{asked}"; another motion is refused', asked == "Will AAPL rise within a week?"
    return f'"{asked}"; another motion is taken', False


def without_gold() -> tuple[str, bool]:
    """Ten rows of which nine are right, and two without a right answer."""
    rows = ["A,A,A,A"] * 9 + ["A,B,B,B"] + [",A,A,A"] * 2
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "votes.csv"
        path.write_text("\n".join(["gold,one,two,three", *rows]))
        (panel,) = make_replay_report(path).panels
    value = panel.rules[0].accuracy.value
    return f"accuracy {value:.3f}, {panel.without_gold} rows left out", value == 0.9


POINTS = (
    Point(17, "one seat of a lens could not be reached", "0.731", failed_seat),
    Point(18, "a cut run over 8 dates", "8 decision dates; Of 8 months the debate called ... % right", heading),
    Point(19, "an edge on one label of two", "No demonstrable edge: ten points would have been seen ...", condition),
    Point(20, "earnings known at the end of their quarter", "every leak control holds", lags),
    Point(21, "an own rule whose figure does not exist", "silent on every date, 0.0 % right", own_rules),
    Point(22, "a withdrawn argument", "confidence 0.5", withdrawn),
    Point(23, "the judge's weights on marks that know nothing", "not searched", weights),
    Point(24, "what a backtest would take", "no --dry-run, and the first dates alone", dry_run),
    Point(25, "the prices of AAPL", '"Will S&P 500 rise within a month?"; any motion is taken', own_subject),
    Point(26, "votes of which two rows have no gold", "accuracy 0.750", without_gold),
)
