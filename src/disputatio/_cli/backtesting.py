"""``disputatio backtest``: market debates on dates whose outcome is known, beside benchmarks on the very same dates."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.backtest_models import (
    BlindOption,
    CutoffOption,
    NoAgentsOption,
    ProbeOption,
    beside_settings,
    models_asked,
    with_models,
)
from disputatio._cli.experiments import (
    BATCH_CONCURRENCY,
    CONCURRENCY,
    BatchOption,
    ConcurrencyOption,
    FromRecordsOption,
    JsonReportOption,
    OpenOption,
    OutOption,
    Progress,
    leave,
    note_singles,
    run_over,
    show_estimate,
    show_report,
    whole_number,
    write_report,
)
from disputatio._cli.given import check_kept, command_line, format_called, say_notes
from disputatio._cli.options import CEILINGS, MODELS, DryRunOption, takes
from disputatio.errors import InvalidInputError

if TYPE_CHECKING:
    from disputatio.config import Arguments, Settings
    from disputatio.evaluation.backtest.archive import Archive
    from disputatio.evaluation.backtest.cases import Case
    from disputatio.evaluation.backtest.plan import BacktestPlan
    from disputatio.evaluation.backtest.report import BacktestReport
    from disputatio.evaluation.backtest.runner import FinishedDates, RunSettings
    from disputatio.evaluation.backtest.scoring import DecisionDates
    from disputatio.kernel import JsonObject
    from disputatio.record.sql import SqlStore

_MOST_PROCESSES = 8
_BY_RULES = "all=rules"
_LAST = "last:"


@takes("prompts", *MODELS, *CEILINGS)
def backtest(
    plan: Annotated[
        str | None,
        typer.Argument(
            metavar="PLAN",
            help="A plan in TOML, or one of the package: packages; market, the default with --data.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FOLDER",
            help="A folder of CSV files, as `market build --source csv:FOLDER` reads it; else what packages bring.",
        ),
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option(
            "--subject", metavar="KEY", help="What is predicted, where --data has its prices as index_KEY.csv."
        ),
    ] = None,
    horizon: Annotated[
        str | None,
        typer.Option("--horizon", metavar="PERIOD", help="A week, month or quarter ahead, decided at the end of each."),
    ] = None,
    benchmarks: Annotated[
        bool, typer.Option("--benchmarks", metavar="", help="Score the benchmarks of the plan alone; nothing is held.")
    ] = False,
    from_records: FromRecordsOption = False,
    limit: Annotated[
        str | None,
        typer.Option(
            "--limit", metavar="N", help="The first N dates of the plan alone, to try it out; last:N for its last."
        ),
    ] = None,
    dry_run: DryRunOption = False,
    processes: Annotated[
        str | None,
        typer.Option("--processes", metavar="N", help="Processes that hold debates by rules; one for each core."),
    ] = None,
    concurrency: ConcurrencyOption = None,
    batch: BatchOption = False,
    out: OutOption = None,
    open_: OpenOption = False,
    blind: BlindOption = False,
    probe: ProbeOption = False,
    cutoff: CutoffOption = None,
    no_agents: NoAgentsOption = False,
    prompts: Path | None = None,
    json_: JsonReportOption = False,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="URL", help="Where the records are kept; a file for each plan by default."),
    ] = None,
    **given: Any,
) -> None:
    """Run the market debate on every date of a plan, and score it against benchmarks on the same dates.

    Rules argue and judge unless --seat names models. Each date is a debate with a record, on what was known that
    evening: the same command again goes on where it was stopped, and --from-records makes the report again. The plan
    is fixed beforehand; its hash is in the report. "No demonstrable edge" is the usual and a good result.
    """
    from disputatio.evaluation.statistics.intervals import check_installed

    check_installed()
    from disputatio.evaluation.backtest.report import list_cases, make_backtest_report
    from disputatio.evaluation.backtest.runner import RunSettings, estimate_backtest
    from disputatio.evaluation.backtest.scoring import find_dates

    if limit is not None and benchmarks:
        raise InvalidInputError("--limit is for debates, and --benchmarks holds none.", "Leave one of them out.")
    planned, archive = _matter(plan, data, subject, horizon)
    dates = _limited(find_dates(planned, archive.prices()), limit)
    if benchmarks:
        _benchmarks(planned, archive, dates, as_json=json_)
        return
    arguments = command_line(**{**given, "seat": given["seat"] or [_BY_RULES]}, store=store)
    settings = _settings(arguments, planned)
    asked = models_asked(settings, cutoff, probe=probe, no_agents=no_agents)
    run = RunSettings(
        archive,
        settings,
        prompts,
        concurrency=whole_number("--lanes", concurrency, 1) or (BATCH_CONCURRENCY if batch else CONCURRENCY),
        processes=whole_number("--processes", processes, 1) or _cores(),
        horizon=planned.asks_for,
    )
    cases = list_cases(planned, dates, blind_everywhere=blind)
    if dry_run:
        single, probes, years = beside_settings(asked, run, dates) if asked else (None, {}, (0, 0))
        show_estimate(asyncio.run(estimate_backtest(cases, run, single, probes, years, batch=batch)), as_json=json_)
        note_singles([settings], batch=batch)
        return
    held = _run(cases, run, reads_only=from_records, batch=batch)
    who = {seat: row.address for seat, row in settings.seats.items()}
    report = make_backtest_report(planned, archive, held, who, dates=dates)
    agents = None
    if asked is not None:
        report, agents = with_models(report, asked, held, run, dates, reads_only=from_records, batch=batch)
    _show(report, out, as_json=json_, opens=open_)
    stopped = held if held.provider_failed or agents is None else agents
    partial = bool(held.missing or stopped.stopped)
    leave("backtest", stopped.stopped, provider_failed=stopped.provider_failed, is_partial=partial)


def _matter(
    plan: str | None, data: Path | None, subject: str | None, horizon: str | None
) -> tuple[BacktestPlan, Archive]:
    """The plan, and the data it is for."""
    from disputatio.evaluation.backtest.archive import open_archive
    from disputatio.evaluation.backtest.plan import load_plan

    planned = load_plan(plan or ("market" if data is not None else "packages"), subject, horizon)
    archive = open_archive(data, planned.subject)
    if planned.subject != archive.catalogue.subject:
        raise InvalidInputError(
            f"The plan is about {planned.subject[:40]}, and these data are about {archive.catalogue.subject}.",
            "Plan that subject, or give other data.",
        )
    return planned, archive


def _limited(dates: DecisionDates, limit: str | None) -> DecisionDates:
    """The dates that ``--limit`` leaves."""
    if limit is not None and limit.strip().lower().startswith(_LAST):
        return dates.last(whole_number("--limit", limit.strip()[len(_LAST) :], 2) or 0)
    return dates.first(whole_number("--limit", limit, 2))


def _benchmarks(plan: BacktestPlan, archive: Archive, dates: DecisionDates, *, as_json: bool) -> None:
    from disputatio.evaluation.backtest.report_text import render_benchmark_lines
    from disputatio.evaluation.backtest.scoring import score_benchmarks

    scores, left_out = score_benchmarks(dates, archive.prices(), archive.vix())
    body: JsonObject = {
        "schema": "disputatio/backtest-benchmarks",
        "version": 1,
        "plan": plan.as_json(),
        "data": {"source": archive.name, "sha256": archive.digest},
        "dates": len(dates.labels),
        "scores": [row.as_json() for row in scores],
        "left_out": dict(left_out),
    }
    show_report(body, render_benchmark_lines(plan, archive, dates, scores, left_out), as_json=as_json)


def _settings(arguments: Arguments, plan: BacktestPlan) -> Settings:
    """The settings of every debate; the records go to a file of their own for this plan."""
    from dataclasses import replace

    from disputatio.config.process import settings_for

    settings = settings_for(format_called("market"), arguments)
    say_notes(settings)
    if arguments.value("store") is None and settings.store.startswith("sqlite:///"):
        name = f"backtest-{plan.sha256[:8]}.sqlite"
        settings = replace(settings, store=f"{settings.store.rpartition('/')[0]}/{name}")
    check_kept(settings)
    return settings


def _cores() -> int:
    """How many processes may run here at a time."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(allowed or 1, _MOST_PROCESSES)


def _run(cases: tuple[Case, ...], run: RunSettings, *, reads_only: bool, batch: bool) -> FinishedDates:
    """Run everything; Ctrl-C keeps what has finished and says how to go on."""
    from dataclasses import replace

    from disputatio.evaluation.backtest.runner import BacktestRunner

    progress = Progress(len(cases), "debates")
    own = run if run.by_rules else replace(run, client_factory=progress.client_factory)

    async def work(store: SqlStore) -> FinishedDates:
        settings = replace(own, batches=progress.batches(store)) if batch and not own.by_rules else own
        holding = BacktestRunner(cases, settings, store, on_finished=lambda reused: progress.count(reused=reused))
        return holding.read_recorded() if reads_only else await holding.run()

    held = run_over(run.settings.store, progress, work, create=not reads_only)
    if not held.records:
        raise InvalidInputError(
            "Nothing was held for this plan, these data and these seats.", "Hold it first: without --from-records."
        )
    return held


def _show(report: BacktestReport, out: Path | None, *, as_json: bool, opens: bool) -> None:
    from disputatio.evaluation.backtest.report_text import render_backtest_lines

    body = report.as_json()
    show_report(body, render_backtest_lines(report), as_json=as_json)
    if out is not None:
        from disputatio.evaluation.pages.backtest import render_backtest_page

        write_report(out, render_backtest_page(report), body, opens=opens)
