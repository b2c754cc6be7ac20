"""The part of ``disputatio backtest`` for language models: blinded dates, the probe, the cut-off, single agents."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.experiments import Progress, run_over_store
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
        help="Run every date a second time without names and dates, and with rebased series.",
        rich_help_panel=_PANEL,
    ),
]
ProbeOption = Annotated[
    bool,
    typer.Option(
        "--probe",
        metavar="",
        help="Ask the models to recognise the index and the month of each date.",
        rich_help_panel=_PANEL,
    ),
]
CutoffOption = Annotated[
    str | None,
    typer.Option(
        "--cutoff",
        metavar="YYYY-MM",
        help="The end of the models' training data, or unknown. Only later dates count as evidence.",
        rich_help_panel=_PANEL,
    ),
]
NoAgentsOption = Annotated[
    bool,
    typer.Option(
        "--no-agents",
        metavar="",
        help="Leave out the comparison with single answers of one model and votes at the same cost.",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True, slots=True)
class ModelsAsked:
    """What models are asked besides the debates. ``models`` maps each one to a seat that it takes."""

    models: dict[str, str]
    cutoff: date | None
    probe: bool
    agents: bool


def find_asked_models(settings: Settings, cutoff: str | None, *, probe: bool, no_agents: bool) -> ModelsAsked | None:
    """What models are asked besides the debates; None where rules take every seat.

    Raises:
        InvalidInputError: models take part without a stated cut-off, or an option for models is given without any.
    """
    from disputatio.evaluation.backtest.agents import list_models
    from disputatio.evaluation.backtest.model_evidence import read_cutoff

    models = list_models(settings)
    for given, name in ((probe, "--probe"), (cutoff is not None, "--cutoff"), (no_agents, "--no-agents")):
        if given and not models:
            raise InvalidInputError(
                f"{name} is for language models, and rules take every seat.", "Seat one: --seat all=PROVIDER:MODEL."
            )
    last = read_cutoff(cutoff, tuple(models))
    return ModelsAsked(models, last, probe, not no_agents) if models else None


def add_models(
    report: BacktestReport,
    asked: ModelsAsked,
    finished: FinishedDates,
    run: RunSettings,
    dates: DecisionDates,
    *,
    reads_only: bool,
    batch: bool,
) -> tuple[BacktestReport, FinishedAgents | None]:
    """Run single agents and the probe, and add to the report what they show about the models."""
    from disputatio.evaluation.backtest.model_evidence import gather_model_evidence

    agents = (
        _run(report.result.plan, asked, finished, run, dates, reads_only=reads_only, batch=batch)
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
    finished: FinishedDates,
    run: RunSettings,
    dates: DecisionDates,
    *,
    reads_only: bool,
    batch: bool,
) -> FinishedAgents:
    """Run single agents and the probe, with the rest of the ceiling."""
    from disputatio.evaluation.backtest.agents import AgentRunner
    from disputatio.evaluation.backtest.cases import KnowledgeBases
    from disputatio.evaluation.experiment import add_spending, compute_remaining
    from disputatio.ledger.budget import UNLIMITED

    remaining = compute_remaining(run.settings.budget, add_spending(row.spent for row in finished.records))
    if not reads_only and remaining is None:
        tell("The ceiling leaves nothing for single agents and the probe.")
    progress = Progress(0, "answers of single agents")
    agents = agent_settings(asked, run, dates)

    def work(store: SqlStore) -> Coroutine[Any, Any, FinishedAgents]:
        experiment = progress.experiment(
            store,
            remaining or UNLIMITED,
            concurrency=run.concurrency,
            reads_only=reads_only or remaining is None,
            batch=batch,
        )
        bases, seed = KnowledgeBases(run.archive), plan.seed
        return AgentRunner(
            finished.records, bases, *agents, experiment, prompts=run.prompts, seed=seed, horizon=run.horizon
        ).run()

    return run_over_store(run.settings.store, progress, work, create=not reads_only)


def agent_settings(
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
    """The years that the probe offers: two more on either side, so that few dates give no hint."""
    return min(days).year - 2, max(days).year + 2
