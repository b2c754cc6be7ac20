"""``disputatio check-fallacies``, ``check-judge`` and ``check-critic``: how far judge and critic can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.experiments import (
    ChecksStoreOption,
    JsonReportOption,
    LimitOption,
    Progress,
    SampleSeedOption,
    leave,
    run_trials,
    show_report,
    whole_number,
)
from disputatio._cli.given import check_kept, command_line, format_called, say_notes
from disputatio._cli.options import CEILINGS, MODELS, takes
from disputatio.errors import ExitCode, InvalidInputError

if TYPE_CHECKING:
    from disputatio.config import Arguments, FormatScope, Settings
    from disputatio.evaluation.experiment import ExperimentResult, Trial
    from disputatio.formats.format import Format

_CHECKS_FILE = "checks.sqlite"


@takes("prompts", *MODELS, *CEILINGS)
def check_fallacies(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="mafalda, logic or informal_fallacies, in their published form; csv for any file of text and label.",
        ),
    ],
    data: Annotated[Path, typer.Option("--data", metavar="PATH", help="The folder or file of the set.")],
    map_: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="LABEL=CLASS", help="Which of the seven a label of a csv file is, other or none."
        ),
    ] = None,
    limit: LimitOption = None,
    seed: SampleSeedOption = None,
    prompts: Path | None = None,
    json_: JsonReportOption = False,
    store: ChecksStoreOption = None,
    **given: Any,
) -> None:
    """Measure how well the judge names fallacies in texts that other people labelled.

    Precision, recall and F1 by class with intervals. Each text is asked for in a recorded debate of its own: the same
    command again goes on where it was stopped, and asks nothing twice.
    """
    from disputatio.evaluation.fallacy_check import make_fallacy_report, make_fallacy_trials, report_lines
    from disputatio.evaluation.labelled_texts import CSV_SET, read_csv_texts, read_labelled

    if map_ and dataset != CSV_SET:
        raise InvalidInputError(f"--map is for files of your own, and the set is {dataset}.", "Give the set csv.")
    whole = read_csv_texts(data, map_ or ()) if dataset == CSV_SET else read_labelled(dataset, data)
    number = whole_number("--seed", seed, 0) or 0
    drawn = whole.sample(whole_number("--limit", limit, 1), number)
    settings = _judge_settings(command_line(**given, seed=seed, store=store))
    result = run_check(make_fallacy_trials(drawn, settings, prompts), settings, "texts")
    report = make_fallacy_report(settings.seats["judge"].address, whole, drawn, number, result)
    show_report(report.as_json(), report_lines(report), as_json=json_)
    leave_check(result)


def _judge_settings(arguments: Arguments) -> Settings:
    """The settings of the judge, its ceilings, and a store of its own for checks."""
    from disputatio.config.process import format_scope
    from disputatio.request.model import Judging

    form = format_called("structured")
    options = replace(format_scope(form), other_seats=frozenset({"pro", "con"}))
    settings = one_seat_settings(arguments, form, "judge", options)
    # One judge, once, with pro first: the twins bring the other order and the second time.
    return replace(settings, judging=Judging())


def one_seat_settings(arguments: Arguments, form: Format, seat: str, scope: FormatScope) -> Settings:
    """The settings of one seat that is checked, its ceilings, and a store of its own for checks."""
    from disputatio.config.process import settings_for

    settings = settings_for(form, arguments, scope=scope, seats=(seat,))
    say_notes(settings)
    settings = replace(settings, seats={seat: settings.seats[seat]})
    if arguments.value("store") is None:
        settings = replace(settings, store=_checks_store(settings.store))
    check_kept(settings)
    return settings


def _checks_store(debates: str) -> str:
    """Beside the debates, so that a list of them is not full of checks; a database keeps both."""
    if not debates.startswith("sqlite:///"):
        return debates
    return f"{debates.rpartition('/')[0]}/{_CHECKS_FILE}"


def run_check(trials: Sequence[Trial], settings: Settings, noun: str) -> ExperimentResult:
    """Run the trials of a check."""
    return run_trials(trials, settings.store, settings.budget, Progress(len(trials), noun, "judged"))


def leave_check(result: ExperimentResult) -> None:
    """Leave with the exit code of a check that was stopped."""
    note = (f"{len(result.missing)} were not asked for: {result.stopped}.",)
    leave("check", result.stopped, provider_failed=result.provider_failed, is_partial=bool(result.missing), note=note)


@takes("prompts", *MODELS, *CEILINGS)
def check_judge(
    cases: Annotated[
        Path | None,
        typer.Option("--cases", metavar="FILE", help="Your own debates in place of the packaged dozen."),
    ] = None,
    probe: Annotated[
        list[str] | None,
        typer.Option(
            "--probe", metavar="NAME", help="Only this: flaws, order, length, retest, or one flaw by name; repeatable."
        ),
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="FILE", help="Compare with an earlier check.")
    ] = None,
    save_baseline: Annotated[
        Path | None, typer.Option("--save-baseline", metavar="FILE", help="Keep this check to compare later ones with.")
    ] = None,
    limit: LimitOption = None,
    seed: SampleSeedOption = None,
    prompts: Path | None = None,
    json_: JsonReportOption = False,
    store: ChecksStoreOption = None,
    **given: Any,
) -> None:
    """Inject known flaws into recorded debates, and measure what the judge finds, misses and prefers.

    With --baseline the exit code is 8 where the judge got worse beyond chance. Each debate has a record: the same
    command again goes on where it was stopped, and asks nothing twice.
    """
    from disputatio.evaluation.cases import load_packaged_cases, read_cases
    from disputatio.evaluation.drift import check_comparable, compare_baselines, read_baseline, write_baseline
    from disputatio.evaluation.judge_check import (
        PROBES,
        make_baseline,
        make_judge_report,
        make_judge_trials,
        make_variants,
        report_lines,
    )

    number = whole_number("--seed", seed, 0) or 0
    earlier = None if baseline is None else read_baseline(baseline)
    debates = (load_packaged_cases() if cases is None else read_cases(cases))[: whole_number("--limit", limit, 1)]
    if earlier is not None:
        check_comparable(earlier, {case.id: case.digest for case in debates}, number)
    twins = make_variants(debates, number, tuple(probe) if probe else PROBES)
    settings = _judge_settings(command_line(**given, seed=seed, store=store))
    result = run_check(make_judge_trials(twins, settings, prompts), settings, "debates")
    report = make_judge_report(twins, settings, result, number, prompts)
    now = make_baseline(report)
    if earlier is not None and not result.missing:
        report = replace(report, drift=compare_baselines(earlier, now))
    show_report(report.as_json(), report_lines(report), as_json=json_)
    if save_baseline is not None and not result.missing:
        write_baseline(now, save_baseline)
    leave_check(result)
    if report.drift is not None and report.drift.worse:
        raise typer.Exit(int(ExitCode.WORSE))


@takes("prompts", *MODELS, *CEILINGS)
def check_critic(
    cases: Annotated[
        Path | None, typer.Option("--cases", metavar="FILE", help="Your own cases in place of the packaged ones.")
    ] = None,
    limit: LimitOption = None,
    prompts: Path | None = None,
    json_: JsonReportOption = False,
    store: ChecksStoreOption = None,
    **given: Any,
) -> None:
    """Give the critic propositions with known flaws: mean strength, flaws named, softening words.

    The exit code is 9 where the mean strength is not above 7, or not one flaw was named. Each case has a record: the
    same command again goes on where it was stopped, and asks nothing twice.
    """
    from disputatio.evaluation.critic_check import (
        load_packaged_critic_cases,
        make_critic_report,
        make_critic_trials,
        read_critic_cases,
        report_lines,
    )

    chosen = (load_packaged_critic_cases() if cases is None else read_critic_cases(cases))[
        : whole_number("--limit", limit, 1)
    ]
    settings = _critic_settings(command_line(**given, store=store))
    result = run_check(make_critic_trials(chosen, settings, prompts), settings, "propositions")
    report = make_critic_report(chosen, settings, result, prompts)
    show_report(report.as_json(), report_lines(report), as_json=json_)
    leave_check(result)
    if not report.good_enough:
        raise typer.Exit(int(ExitCode.ALERT))


def _critic_settings(arguments: Arguments) -> Settings:
    """The settings of the critic, its ceilings, and a store of its own for checks."""
    from disputatio.config.process import format_scope

    form = format_called("review")
    others = frozenset(str(seat) for seat in form.seats if seat != "critic")
    options = format_scope(form)
    options = replace(options, other_seats=options.other_seats | others)
    return one_seat_settings(arguments, form, "critic", options)
