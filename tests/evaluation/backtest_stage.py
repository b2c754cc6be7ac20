"""A made-up market in a folder of files, and backtests by rules on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, resolve
from disputatio.config.process import format_scope
from disputatio.evaluation.backtest.archive import Archive, open_archive
from disputatio.evaluation.backtest.cases import Case
from disputatio.evaluation.backtest.plan import BacktestPlan
from disputatio.evaluation.backtest.report import BacktestReport, list_cases, make_backtest_report
from disputatio.evaluation.backtest.runner import BacktestRunner, FinishedDates, RunSettings
from disputatio.evaluation.backtest.scoring import DecisionDates, find_dates
from disputatio.formats.registry import find_format
from disputatio.record.memory import MemoryStore
from disputatio.record.store import Store

SHARED = Path(__file__).resolve().parents[3] / "shared" / "market"
PLAN = BacktestPlan(
    "made up",
    "GSPC",
    date(2003, 1, 1),
    date(2003, 8, 1),
    balanced_after=6,
    controls_every=4,
    leaks_every=4,
    sha256="f" * 64,
)
PLAN_TEXT = """
schema = "disputatio/backtest-plan"
version = 1
name = "made up"
subject = "GSPC"
first = 2003-01-01
last = 2003-08-01
balanced_after = 6
controls_every = 4
leaks_every = 4
"""


def made_up_files(folder: Path, seed: int = 7) -> Path:
    """Weekdays from 2001 to the end of 2003: an index with highs, lows and volumes, and the VIX."""
    chance = np.random.default_rng(seed)
    days = [date(2001, 1, 1) + timedelta(days=place) for place in range(1095)]
    days = [day for day in days if day.weekday() < 5]
    close = 1000 * np.exp(np.cumsum(chance.normal(0.0004, 0.011, len(days))))
    high, low = close * (1 + chance.uniform(0, 0.01, len(days))), close * (1 - chance.uniform(0, 0.01, len(days)))
    volume = chance.uniform(8e8, 2e9, len(days))
    vix = 12 + 16 * chance.random(len(days))
    folder.mkdir(parents=True, exist_ok=True)
    rows = zip(days, high, low, close, volume, strict=True)
    lines = [f"{day},{a:.2f},{b:.2f},{c:.2f},{v:.0f}" for day, a, b, c, v in rows]
    (folder / "index_GSPC.csv").write_text("\n".join(["Date,High,Low,Close,Volume", *lines]))
    lines = [f"{day},{level:.2f}" for day, level in zip(days, vix, strict=True)]
    (folder / "vix_daily.csv").write_text("\n".join(["DATE,CLOSE", *lines]))
    return folder


def made_up_archive(folder: Path) -> Archive:
    return open_archive(made_up_files(folder))


def rules_everywhere() -> Settings:
    form = find_format("market")
    return resolve(
        format_name="market",
        seats=tuple(form.seats),
        environ={},
        directory=Path("/"),
        arguments=make_arguments(seat=("all=rules",)),
        options=format_scope(form),
    )


def planned(archive: Archive, dates: int | None = None) -> tuple[DecisionDates, tuple[Case, ...]]:
    found = find_dates(PLAN, archive.prices()).first(dates)
    return found, list_cases(PLAN, found)


async def held_on(
    archive: Archive,
    cases: tuple[Case, ...],
    store: Store | None = None,
    *,
    processes: int = 1,
    on_finished: Callable[[bool], None] = lambda _: None,
) -> FinishedDates:
    run = replace(RunSettings(archive, rules_everywhere()), processes=processes)
    return await BacktestRunner(cases, run, store or MemoryStore(), on_finished=on_finished).run()


def report_on(archive: Archive, held: FinishedDates, dates: DecisionDates) -> BacktestReport:
    return make_backtest_report(PLAN, archive, held, {"judge": "rules"}, dates=dates)
