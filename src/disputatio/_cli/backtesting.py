"""``disputatio backtest``: market debates on dates whose outcome is known, beside benchmarks on the very same dates."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.backtest_models import (
    BlindOption,
    CutoffOption,
    ModelsAsked,
    NoAgentsOption,
    ProbeOption,
    beside_settings,
    models_asked,
    with_models,
)
from disputatio._cli.checking import JsonReportOption, Progress, show_check, whole_number
from disputatio._cli.given import check_kept, command_line, format_called, say_notes
from disputatio._cli.options import (
    BaseUrlOption,
    BudgetTokensOption,
    BudgetUsdOption,
    ConfigOption,
    DryRunOption,
    MaxCallsOption,
    PromptsOption,
    SeatOption,
    SetOption,
)
from disputatio._cli.stopping import Stopping
from disputatio._cli.streams import tell
from disputatio.failures import ExitCode, InvalidInputError, ProviderError

if TYPE_CHECKING:
    from disputatio.config import Arguments, Settings
    from disputatio.evaluation.backtest import (
        Archive,
        BacktestPlan,
        BacktestReport,
        Case,
        Dates,
        HeldDates,
        Run,
    )
    from disputatio.evaluation.backtest.agents import HeldAgents
    from disputatio.kernel import JsonObject

_LANES = 4
_MOST_PROCESSES = 8
_BY_RULES = "all=rules"
_LAST = "last:"


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
    from_records: Annotated[
        bool, typer.Option("--from-records", metavar="", help="Make the report from the records; hold nothing.")
    ] = False,
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
    lanes: Annotated[
        str | None,
        typer.Option("--lanes", metavar="N", help=f"Debates of models held at a time; {_LANES} unless said otherwise."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Write report.html and report.json there.")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", metavar="", help="Open the page that --out wrote.")] = False,
    blind: BlindOption = False,
    probe: ProbeOption = False,
    cutoff: CutoffOption = None,
    no_agents: NoAgentsOption = False,
    prompts: PromptsOption = None,
    seat: SeatOption = None,
    base_url: BaseUrlOption = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    budget_usd: BudgetUsdOption = None,
    budget_tokens: BudgetTokensOption = None,
    max_calls: MaxCallsOption = None,
    json_: JsonReportOption = False,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="URL", help="Where the records are kept; a file for each plan by default."),
    ] = None,
) -> None:
    """Hold the market debate on every date of a plan, and score it beside benchmarks on the same dates.

    Rules argue and judge unless --seat names models. Each date is a debate with a record, on what was known that
    evening: the same command again goes on where it was stopped, and --from-records makes the report again. The plan
    is fixed beforehand; its hash is in the report. "No demonstrable edge" is the usual and a good result.
    """
    from disputatio.evaluation.intervals import check_installed

    check_installed()
    from disputatio.evaluation.backtest import dates_of

    if limit is not None and benchmarks:
        raise InvalidInputError("--limit is for debates, and --benchmarks holds none.", "Leave one of them out.")
    at_the_end = limit is not None and limit.strip().lower().startswith(_LAST)
    most = whole_number("--limit", limit.strip()[len(_LAST) :] if limit is not None and at_the_end else limit, 2)
    planned, archive = _matter(plan, data, subject, horizon)
    dates = dates_of(planned, archive.prices())
    if benchmarks:
        _benchmarks(planned, archive, dates, as_json=json_)
        return
    arguments = command_line(
        seat=tuple(seat or (_BY_RULES,)),
        base_url=base_url,
        config=config,
        set=tuple(set_ or ()),
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        max_calls=max_calls,
        store=store,
    )
    settings = _settings(arguments, planned)
    asked = models_asked(settings, cutoff, probe=probe, no_agents=no_agents)
    run = _run(
        archive,
        settings,
        prompts,
        lanes=whole_number("--lanes", lanes, 1) or _LANES,
        processes=whole_number("--processes", processes, 1) or _cores(),
        horizon=planned.asks_for,
    )
    dates = dates.last(most) if most is not None and at_the_end else dates.first(most)
    cases = _cases(planned, dates, blind=blind)
    if dry_run:
        _say_estimate(cases, run, asked, dates, as_json=json_)
        return
    held = _hold(cases, run, asks=not from_records)
    report = _reported(planned, archive, dates, held, settings)
    agents = None
    if asked is not None:
        report, agents = with_models(report, asked, held, run, dates, asks=not from_records)
    _show(report, out, as_json=json_, opens=open_)
    _leave(held, agents)


def _matter(
    plan: str | None, data: Path | None, subject: str | None, horizon: str | None
) -> tuple[BacktestPlan, Archive]:
    """The plan, and the data it is for."""
    from disputatio.evaluation.backtest import open_archive, plan_named

    planned = plan_named(plan or ("market" if data is not None else "packages"), subject, horizon)
    archive = open_archive(data, planned.subject)
    if planned.subject != archive.catalogue.subject:
        raise InvalidInputError(
            f"The plan is about {planned.subject[:40]}, and these data are about {archive.catalogue.subject}.",
            "Plan that subject, or give other data.",
        )
    return planned, archive


def _benchmarks(plan: BacktestPlan, archive: Archive, dates: Dates, *, as_json: bool) -> None:
    from disputatio.evaluation.backtest import benchmark_lines, score_benchmarks

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
    show_check(body, benchmark_lines(plan, archive, dates, scores, left_out), as_json=as_json)


def _say_estimate(cases: tuple[Case, ...], run: Run, asked: ModelsAsked | None, dates: Dates, *, as_json: bool) -> None:
    """Say what all of it would take; hold nothing and ask nobody."""
    from disputatio.evaluation.backtest.estimating import backtest_parts
    from disputatio.evaluation.estimating import estimate_json, estimate_lines

    single, probes, years = beside_settings(asked, run, dates) if asked else (None, {}, (0, 0))
    parts = asyncio.run(backtest_parts(cases, run, single, probes, years))
    show_check(estimate_json(parts), estimate_lines(parts), as_json=as_json)


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


def _run(
    archive: Archive, settings: Settings, prompts: Path | None, *, lanes: int, processes: int, horizon: str
) -> Run:
    from disputatio.evaluation.backtest import Run

    return Run(archive, settings, prompts, lanes=lanes, processes=processes, horizon=horizon)


def _cores() -> int:
    """How many processes may run here at a time."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(allowed or 1, _MOST_PROCESSES)


def _cases(plan: BacktestPlan, dates: Dates, *, blind: bool) -> tuple[Case, ...]:
    from disputatio.evaluation.backtest import cases_of

    return cases_of(plan, dates, blind_everywhere=blind)


def _hold(cases: tuple[Case, ...], run: Run, *, asks: bool) -> HeldDates:
    """Hold everything; Ctrl-C keeps what was held and says how to go on."""
    from dataclasses import replace

    from disputatio.evaluation.backtest import Holding
    from disputatio.participants.gateways import open_gateway
    from disputatio.record.sql import SqlStore

    progress = Progress(len(cases), "debates", "held")

    async def work() -> HeldDates:
        store = SqlStore(run.settings.store, create=asks)
        try:
            opener = replace(run, opener=lambda seating, key: open_gateway(seating, key, on_progress=progress.note))
            holding = Holding(
                cases, run if run.by_rules else opener, store, on_held=lambda reused: progress.count(reused=reused)
            )
            return await holding.hold() if asks else holding.recorded()
        finally:
            await store.aclose()

    with Stopping() as stopping:
        try:
            held = stopping.run(work())
        except (asyncio.CancelledError, KeyboardInterrupt):
            progress.end()
            tell(f"Stopped: {progress.done} of {len(cases)} debates are kept.", "The same command goes on from there.")
            raise typer.Exit(int(ExitCode.INTERRUPTED)) from None
    progress.end()
    if not held.records:
        raise InvalidInputError(
            "Nothing was held for this plan, these data and these seats.", "Hold it first: without --from-records."
        )
    return held


def _reported(
    plan: BacktestPlan, archive: Archive, dates: Dates, held: HeldDates, settings: Settings
) -> BacktestReport:
    from disputatio.evaluation.backtest import backtest_report

    who = {seat: row.address for seat, row in settings.seats.items()}
    return backtest_report(plan, archive, held, who, dates=dates)


def _show(report: BacktestReport, out: Path | None, *, as_json: bool, opens: bool) -> None:
    from disputatio.evaluation.backtest import backtest_lines

    body = report.as_json()
    show_check(body, backtest_lines(report), as_json=as_json)
    if out is not None:
        from disputatio._cli.evaluating import write_report
        from disputatio.evaluation.pages.backtesting import backtest_page

        write_report(out, backtest_page(report), body, opens=opens)


def _leave(held: HeldDates, agents: HeldAgents | None) -> None:
    """Leave with the exit code of what was stopped."""
    stopped = held if held.provider_failed or agents is None else agents
    if stopped.provider_failed:
        raise ProviderError(f"The backtest was stopped: {stopped.stopped}.", "The same command goes on from there.")
    if held.missing or stopped.stopped:
        raise typer.Exit(int(ExitCode.TRUNCATED))
