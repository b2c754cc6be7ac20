"""``disputatio check-fallacies``, ``check-judge`` and ``check-critic``: test how reliable judge and critic are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.arguments import load_format, make_arguments, print_notes
from disputatio._cli.experiments import (
    ChecksStoreOption,
    JsonReportOption,
    LimitOption,
    Progress,
    SampleSeedOption,
    exit_if_stopped,
    print_report,
    read_whole_number,
    run_trials,
)
from disputatio._cli.options import CEILINGS, MODELS, takes
from disputatio._cli.stores import with_separate_store
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
            help="mafalda, logic or informal_fallacies as published, or csv for any file of texts and labels.",
        ),
    ],
    data: Annotated[Path, typer.Option("--data", metavar="PATH", help="The folder or file of the data set.")],
    map_: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="LABEL=CLASS",
            help="The class of a label in a csv file: one of the seven fallacies, other or none.",
        ),
    ] = None,
    limit: LimitOption = None,
    seed: SampleSeedOption = None,
    prompts: Path | None = None,
    json_: JsonReportOption = False,
    store: ChecksStoreOption = None,
    **given: Any,
) -> None:
    """Measure how well the judge finds fallacies in texts that other people labelled.

    The report has precision, recall and F1 by class, with intervals. Each text is judged in a recorded debate of its
    own. If the command is stopped, the same command continues from there.
    """
    from disputatio.evaluation.fallacy_check import make_fallacy_report, make_fallacy_trials, report_lines
    from disputatio.evaluation.labelled_texts import CSV_SET, read_csv_texts, read_labelled

    if map_ and dataset != CSV_SET:
        raise InvalidInputError(
            f"--map is for the data set csv, and the data set is {dataset}.", "Leave --map out, or give csv."
        )
    texts = read_csv_texts(data, map_ or ()) if dataset == CSV_SET else read_labelled(dataset, data)
    number = read_whole_number("--seed", seed, 0) or 0
    drawn = texts.sample(read_whole_number("--limit", limit, 1), number)
    settings = _judge_settings(make_arguments(**given, seed=seed, store=store))
    result = run_check(make_fallacy_trials(drawn, settings, prompts), settings, "texts")
    report = make_fallacy_report(settings.seats["judge"].address, texts, drawn, number, result)
    print_report(report.as_json(), report_lines(report), as_json=json_)
    exit_if_check_stopped(result)


def _judge_settings(arguments: Arguments) -> Settings:
    """The settings of a check of the judge."""
    from disputatio.config.process import format_scope
    from disputatio.request.model import Judging

    form = load_format("structured")
    options = replace(format_scope(form), other_seats=frozenset({"pro", "con"}))
    settings = one_seat_settings(arguments, form, "judge", options)
    # One judge, once, with pro first. The variants bring the other order and the second time.
    return replace(settings, judging=Judging())


def one_seat_settings(arguments: Arguments, form: Format, seat: str, scope: FormatScope) -> Settings:
    """The settings of a check of one seat, with a separate store."""
    from disputatio.config.process import settings_for

    settings = settings_for(form, arguments, scope=scope, seats=(seat,))
    print_notes(settings)
    settings = replace(settings, seats={seat: settings.seats[seat]})
    return with_separate_store(settings, arguments, _CHECKS_FILE)


def run_check(trials: Sequence[Trial], settings: Settings, noun: str) -> ExperimentResult:
    """Run the trials of a check."""
    return run_trials(trials, settings.store, settings.budget, Progress(len(trials), noun, "judged"))


def exit_if_check_stopped(result: ExperimentResult) -> None:
    """Exit with the code of a check that was stopped."""
    note = (f"{len(result.missing)} were not asked: {result.stopped}.",)
    exit_if_stopped(
        "check", result.stopped, provider_failed=result.provider_failed, is_partial=bool(result.missing), note=note
    )


@takes("prompts", *MODELS, *CEILINGS)
def check_judge(
    cases: Annotated[
        Path | None,
        typer.Option("--cases", metavar="FILE", help="Your own debates instead of the packaged ones."),
    ] = None,
    probe: Annotated[
        list[str] | None,
        typer.Option(
            "--probe",
            metavar="NAME",
            help="Run only this: flaws, order, length, retest, or one flaw by name. Repeatable.",
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="FILE", help="Compare with an earlier check that --save-baseline stored."),
    ] = None,
    save_baseline: Annotated[
        Path | None, typer.Option("--save-baseline", metavar="FILE", help="Store this check, for later comparisons.")
    ] = None,
    limit: LimitOption = None,
    seed: SampleSeedOption = None,
    prompts: Path | None = None,
    json_: JsonReportOption = False,
    store: ChecksStoreOption = None,
    **given: Any,
) -> None:
    """Inject known flaws into recorded debates, and measure what the judge finds, misses and prefers.

    With --baseline the exit code is 8 if the judge got worse beyond chance. Each debate has a record. If the command is
    stopped, the same command continues from there.
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

    number = read_whole_number("--seed", seed, 0) or 0
    earlier = None if baseline is None else read_baseline(baseline)
    debates = (load_packaged_cases() if cases is None else read_cases(cases))[: read_whole_number("--limit", limit, 1)]
    if earlier is not None:
        check_comparable(earlier, {case.id: case.digest for case in debates}, number)
    variants = make_variants(debates, number, tuple(probe) if probe else PROBES)
    settings = _judge_settings(make_arguments(**given, seed=seed, store=store))
    result = run_check(make_judge_trials(variants, settings, prompts), settings, "debates")
    report = make_judge_report(variants, settings, result, number, prompts)
    now = make_baseline(report)
    if earlier is not None and not result.missing:
        report = replace(report, drift=compare_baselines(earlier, now))
    print_report(report.as_json(), report_lines(report), as_json=json_)
    if save_baseline is not None and not result.missing:
        write_baseline(now, save_baseline)
    exit_if_check_stopped(result)
    if report.drift is not None and report.drift.worse:
        raise typer.Exit(int(ExitCode.WORSE))


@takes("prompts", *MODELS, *CEILINGS)
def check_critic(
    cases: Annotated[
        Path | None, typer.Option("--cases", metavar="FILE", help="Your own cases instead of the packaged ones.")
    ] = None,
    limit: LimitOption = None,
    prompts: Path | None = None,
    json_: JsonReportOption = False,
    store: ChecksStoreOption = None,
    **given: Any,
) -> None:
    """Give the critic propositions with known flaws, and measure how strong its challenges are and what it names.

    The exit code is 9 if the mean strength is not above 7, or if the critic names no flaw. Each case has a record. If
    the command is stopped, the same command continues from there.
    """
    from disputatio.evaluation.critic_check import (
        load_packaged_critic_cases,
        make_critic_report,
        make_critic_trials,
        read_critic_cases,
        report_lines,
    )

    chosen = (load_packaged_critic_cases() if cases is None else read_critic_cases(cases))[
        : read_whole_number("--limit", limit, 1)
    ]
    settings = _critic_settings(make_arguments(**given, store=store))
    result = run_check(make_critic_trials(chosen, settings, prompts), settings, "propositions")
    report = make_critic_report(chosen, settings, result, prompts)
    print_report(report.as_json(), report_lines(report), as_json=json_)
    exit_if_check_stopped(result)
    if not report.good_enough:
        raise typer.Exit(int(ExitCode.ALERT))


def _critic_settings(arguments: Arguments) -> Settings:
    """The settings of a check of the critic."""
    from disputatio.config.process import format_scope

    form = load_format("review")
    others = frozenset(str(seat) for seat in form.seats if seat != "critic")
    options = format_scope(form)
    options = replace(options, other_seats=options.other_seats | others)
    return one_seat_settings(arguments, form, "critic", options)
