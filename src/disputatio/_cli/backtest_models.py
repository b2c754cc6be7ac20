"""The language-model side of ``disputatio backtest``: the blind arm, the probe, the cut-off and single agents."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.experiments import Progress, run_over
from disputatio._cli.streams import tell
from disputatio.errors import InvalidInputError

if TYPE_CHECKING:
    from disputatio.config import Settings
    from disputatio.evaluation.backtest.agents import FinishedAgents
    from disputatio.evaluation.backtest.plan import BacktestPlan
    from disputatio.evaluation.backtest.report import BacktestReport
    from disputatio.evaluation.backtest.runner import FinishedDates, RunSettings
    from disputatio.evaluation.backtest.scoring import DecisionDates
    from disputatio.record.sql import SqlStore

_PANEL = "Language models"
BlindOption = Annotated[
    bool,
    typer.Option(
        "--blind",
        metavar="",
        help="Hold every date a second time without names and dates, and with its series rebased.",
        rich_help_panel=_PANEL,
    ),
]
ProbeOption = Annotated[
    bool,
    typer.Option(
        "--probe", metavar="", help="Ask the models which index and month each date is.", rich_help_panel=_PANEL
    ),
]
CutoffOption = Annotated[
    str | None,
    typer.Option(
        "--cutoff",
        metavar="YYYY-MM",
        help="Where the models' training data end; only later dates count as evidence. Or: unknown.",
        rich_help_panel=_PANEL,
    ),
]
NoAgentsOption = Annotated[
    bool,
    typer.Option(
        "--no-agents",
        metavar="",
        help="Leave out what stands beside debates of models: one model's answer, and its vote at their cost.",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True, slots=True)
class ModelsAsked:
    """What is asked of models besides the debates. ``models`` has for each one a seat that it takes."""

    models: dict[str, str]
    cutoff: date | None
    probe: bool
    agents: bool


def models_asked(settings: Settings, cutoff: str | None, *, probe: bool, no_agents: bool) -> ModelsAsked | None:
    """What was asked for; None where rules take every seat.

    Raises:
        InvalidInputError: models take part and nobody states their cut-off, or something is asked of models and none
            takes part.
    """
    from disputatio.evaluation.backtest.agents import list_models
    from disputatio.evaluation.backtest.model_evidence import read_cutoff

    models = list_models(settings)
    for given, name in ((probe, "--probe"), (cutoff is not None, "--cutoff"), (no_agents, "--no-agents")):
        if given and not models:
            raise InvalidInputError(
                f"{name} is about language models, and rules take every seat.", "Seat one: --seat all=PROVIDER:MODEL."
            )
    last = read_cutoff(cutoff, tuple(models))
    return ModelsAsked(models, last, probe, not no_agents) if models else None


def with_models(
    report: BacktestReport,
    asked: ModelsAsked,
    held: FinishedDates,
    run: RunSettings,
    dates: DecisionDates,
    *,
    reads_only: bool,
    batch: bool,
) -> tuple[BacktestReport, FinishedAgents | None]:
    """Run what stands beside the debates, and put all that is known of the models into the report."""
    from disputatio.evaluation.backtest.model_evidence import gather_model_evidence

    agents = (
        _run(report.result.plan, asked, held, run, dates, reads_only=reads_only, batch=batch)
        if asked.agents or asked.probe
        else None
    )
    result = report.result
    days = [row.decided for row in result.labels]
    against = result.plan.primary_against
    evidence = gather_model_evidence(
        result.labels,
        report.records,
        agents,
        (against, dict(zip(days, result.said[against], strict=True))),
        dict(zip(days, result.climatology, strict=True)),
        models=tuple(asked.models),
        cutoff=asked.cutoff,
        mid=result.plan.decides_by_mid_p,
    )
    return replace(report, models=evidence), agents


def _run(
    plan: BacktestPlan,
    asked: ModelsAsked,
    held: FinishedDates,
    run: RunSettings,
    dates: DecisionDates,
    *,
    reads_only: bool,
    batch: bool,
) -> FinishedAgents:
    """Run single agents and the probe, under what the debates left of the ceiling."""
    from disputatio.evaluation.backtest.agents import AgentRunner
    from disputatio.evaluation.backtest.cases import KnowledgeBases
    from disputatio.evaluation.experiment import add_spending, compute_remaining
    from disputatio.ledger.budget import UNLIMITED

    left = compute_remaining(run.settings.budget, add_spending(row.spent for row in held.records))
    if not reads_only and left is None:
        tell("The ceiling leaves nothing for single agents and the probe.")
    progress = Progress(0, "answers beside the debates")
    own = beside_settings(asked, run, dates)

    def work(store: SqlStore) -> Coroutine[Any, Any, FinishedAgents]:
        experiment = progress.experiment(
            store,
            left or UNLIMITED,
            concurrency=run.concurrency,
            reads_only=reads_only or left is None,
            batch=batch,
        )
        bases, seed = KnowledgeBases(run.archive), plan.seed
        return AgentRunner(
            held.records, bases, *own, experiment, prompts=run.prompts, seed=seed, horizon=run.horizon
        ).run()

    return run_over(run.settings.store, progress, work, create=not reads_only)


def beside_settings(
    asked: ModelsAsked, run: RunSettings, dates: DecisionDates
) -> tuple[Settings | None, dict[str, Settings], tuple[int, int]]:
    """The settings of single agents and of the probe, and the years that the probe offers."""
    from disputatio.evaluation.backtest.agents import make_agent_settings
    from disputatio.formats.single import RECOGNITION, SINGLE

    seat = next(iter(asked.models.values()))
    single = make_agent_settings(SINGLE, run.settings, seat) if asked.agents else None
    probed = asked.models if asked.probe else {}
    probes = {name: make_agent_settings(RECOGNITION, run.settings, own) for name, own in probed.items()}
    return single, probes, _years(dates.decided)


def _years(days: Sequence[date]) -> tuple[int, int]:
    """The years that the probe offers: those of the dates, and two to either side, so that few dates give no hint."""
    return min(days).year - 2, max(days).year + 2
