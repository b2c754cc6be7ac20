"""``disputatio backtest``: compare market debates on past dates with benchmarks on the same dates."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.arguments import load_format, make_arguments, print_notes
from disputatio._cli.backtest_models import (
    BlindOption,
    CutoffOption,
    NoAgentsOption,
    ProbeOption,
    add_models,
    agent_settings,
    find_asked_models,
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
    ReportOutput,
    exit_if_stopped,
    note_unbatched,
    print_estimate,
    print_report,
    read_whole_number,
    run_over_store,
)
from disputatio._cli.options import CEILINGS, MODELS, DryRunOption, takes
from disputatio._cli.stores import with_separate_store
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
            help="A plan in TOML, or a packaged one: packages, or market (the default with --data).",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FOLDER",
            help="A folder of CSV files as for `market build --source csv:FOLDER`. The default is packaged data.",
        ),
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option("--subject", metavar="KEY", help="What is predicted. --data has its prices in index_KEY.csv."),
    ] = None,
    horizon: Annotated[
        str | None,
        typer.Option("--horizon", metavar="PERIOD", help="Predict a week, month or quarter ahead, at the end of each."),
    ] = None,
    benchmarks: Annotated[
        bool, typer.Option("--benchmarks", metavar="", help="Score only the benchmarks of the plan. Run no debate.")
    ] = False,
    from_records: FromRecordsOption = False,
    limit: Annotated[
        str | None,
        typer.Option(
            "--limit", metavar="N", help="Use only the first N dates of the plan, or with last:N the last ones."
        ),
    ] = None,
    dry_run: DryRunOption = False,
    processes: Annotated[
        str | None,
        typer.Option(
            "--processes", metavar="N", help="Processes for debates by rules. The default is one for each core."
        ),
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
        typer.Option(
            "--store", metavar="URL", help="Where the records are stored. The default is a file for each plan."
        ),
    ] = None,
    **given: Any,
) -> None:
    """Run the market debate on every date of a plan, and score it against benchmarks on the same dates.

    Rules argue and judge unless --seat names models. Each date has a debate with a record, on what was known that
    evening. If the command is stopped, the same command continues from there. --from-records makes the report again.
    The plan is fixed beforehand, and the report has its hash. "No demonstrable edge" is the usual result, and a good
    one.
    """
    from disputatio.evaluation.statistics.intervals import check_installed

    check_installed()
    from disputatio.evaluation.backtest.report import list_cases, make_backtest_report
    from disputatio.evaluation.backtest.runner import RunSettings, estimate_backtest
    from disputatio.evaluation.backtest.scoring import find_dates

    if limit is not None and benchmarks:
        raise InvalidInputError("--limit is for debates, and --benchmarks runs none.", "Leave one of them out.")
    planned, archive = _load(plan, data, subject, horizon)
    dates = _limited(find_dates(planned, archive.prices()), limit)
    if benchmarks:
        _benchmarks(planned, archive, dates, as_json=json_)
        return
    arguments = make_arguments(**{**given, "seat": given["seat"] or [_BY_RULES]}, store=store)
    settings = _settings(arguments, planned)
    asked = find_asked_models(settings, cutoff, probe=probe, no_agents=no_agents)
    run = RunSettings(
        archive,
        settings,
        prompts,
        concurrency=read_whole_number("--lanes", concurrency, 1) or (BATCH_CONCURRENCY if batch else CONCURRENCY),
        processes=read_whole_number("--processes", processes, 1) or _cores(),
        horizon=planned.asks_for,
    )
    cases = list_cases(planned, dates, blind_everywhere=blind)
    if dry_run:
        single, probes, years = agent_settings(asked, run, dates) if asked else (None, {}, (0, 0))
        print_estimate(asyncio.run(estimate_backtest(cases, run, single, probes, years, batch=batch)), as_json=json_)
        note_unbatched([settings], batch=batch)
        return
    finished = _run(cases, run, reads_only=from_records, batch=batch)
    models = {seat: row.address for seat, row in settings.seats.items()}
    report = make_backtest_report(planned, archive, finished, models, dates=dates)
    agents = None
    if asked is not None:
        report, agents = add_models(report, asked, finished, run, dates, reads_only=from_records, batch=batch)
    _write(report, ReportOutput(json_, out, open_))
    stopped = finished if finished.provider_failed or agents is None else agents
    partial = bool(finished.missing or stopped.stopped)
    exit_if_stopped("backtest", stopped.stopped, provider_failed=stopped.provider_failed, is_partial=partial)


def _load(
    plan: str | None, data: Path | None, subject: str | None, horizon: str | None
) -> tuple[BacktestPlan, Archive]:
    """Load the plan and its data."""
    from disputatio.evaluation.backtest.archive import open_archive
    from disputatio.evaluation.backtest.plan import load_plan

    planned = load_plan(plan or ("market" if data is not None else "packages"), subject, horizon)
    archive = open_archive(data, planned.subject)
    if planned.subject != archive.catalogue.subject:
        raise InvalidInputError(
            f"The plan is about {planned.subject[:40]}, and these data are about {archive.catalogue.subject}.",
            "Use a plan and data about the same subject.",
        )
    return planned, archive


def _limited(dates: DecisionDates, limit: str | None) -> DecisionDates:
    """The dates within ``--limit``."""
    if limit is not None and limit.strip().lower().startswith(_LAST):
        return dates.last(read_whole_number("--limit", limit.strip()[len(_LAST) :], 2) or 0)
    return dates.first(read_whole_number("--limit", limit, 2))


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
    print_report(body, render_benchmark_lines(plan, archive, dates, scores, left_out), as_json=as_json)


def _settings(arguments: Arguments, plan: BacktestPlan) -> Settings:
    """The settings of every debate, with a store file of its own for this plan."""
    from disputatio.config.process import settings_for

    settings = settings_for(load_format("market"), arguments)
    print_notes(settings)
    return with_separate_store(settings, arguments, f"backtest-{plan.sha256[:8]}.sqlite")


def _cores() -> int:
    """How many processes may run here at once."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(allowed or 1, _MOST_PROCESSES)


def _run(cases: tuple[Case, ...], run: RunSettings, *, reads_only: bool, batch: bool) -> FinishedDates:
    """Run the debates, or read those that are recorded.

    Raises:
        InvalidInputError: nothing is recorded.
    """
    from dataclasses import replace

    from disputatio.evaluation.backtest.runner import BacktestRunner

    progress = Progress(len(cases), "debates")
    if not run.by_rules:
        run = replace(run, client_factory=progress.client_factory)

    async def work(store: SqlStore) -> FinishedDates:
        settings = replace(run, batches=progress.batches(store)) if batch and not run.by_rules else run
        runner = BacktestRunner(cases, settings, store, on_finished=lambda reused: progress.count(reused=reused))
        return runner.read_recorded() if reads_only else await runner.run()

    finished = run_over_store(run.settings.store, progress, work, create=not reads_only)
    if not finished.records:
        raise InvalidInputError(
            "There is no record for this plan, these data and these seats.", "Leave --from-records out to run it."
        )
    return finished


def _write(report: BacktestReport, output: ReportOutput) -> None:
    from disputatio.evaluation.backtest.report_text import render_backtest_lines
    from disputatio.evaluation.pages.backtest import render_backtest_page

    output.write(report.as_json(), render_backtest_lines(report), lambda: render_backtest_page(report))
