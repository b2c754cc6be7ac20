"""``disputatio eval``: run debates and baselines on questions with known answers, or count recorded votes again."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.arguments import make_arguments, print_notes
from disputatio._cli.dossier import store_golden_report
from disputatio._cli.experiments import (
    BatchOption,
    ChecksStoreOption,
    ConcurrencyOption,
    FromRecordsOption,
    JsonReportOption,
    LimitOption,
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
from disputatio._cli.streams import tell
from disputatio.errors import ExitCode, InvalidInputError

if TYPE_CHECKING:
    from disputatio.config import Arguments, Settings
    from disputatio.evaluation.questions.arms import Arm
    from disputatio.evaluation.questions.items import QuestionSet
    from disputatio.evaluation.questions.runner import EvaluationResult
    from disputatio.kernel import JsonObject
    from disputatio.record.sql import SqlStore

EVALUATIONS_FILE = "evaluations.sqlite"
_USUAL = "panel,freeform,single,vote"
_USUAL_FOR_NUMBERS = "freeform,single,vote"


@takes("prompts", *MODELS, *CEILINGS)
def evaluate(
    dataset: Annotated[
        Path | None,
        typer.Argument(metavar="DATASET", help="A JSONL or CSV file of questions.", show_default=False),
    ] = None,
    golden: Annotated[
        str | None,
        typer.Option(
            "--golden",
            metavar="TASK",
            help="A golden set instead: architecture, investment, compliance, or contract and security with --data.",
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="FOLDER", help="The folder of a golden set that is not packaged.")
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay", metavar="PATH", help="Count the recorded votes in a folder or file again. Call no model."
        ),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            "--compare",
            metavar="WAYS",
            help=f"structured, panel, review, freeform, single, vote, between commas. The default is {_USUAL}.",
        ),
    ] = None,
    limit: LimitOption = None,
    seed: Annotated[
        str | None,
        typer.Option(
            "--seed", metavar="N", help="The seed with which --limit draws questions. It is also sent to models."
        ),
    ] = None,
    concurrency: ConcurrencyOption = None,
    batch: BatchOption = False,
    check_power: Annotated[
        bool,
        typer.Option(
            "--check-power", metavar="", help="Test the statistics on made-up answers, with and without a difference."
        ),
    ] = False,
    from_records: FromRecordsOption = False,
    dry_run: DryRunOption = False,
    out: OutOption = None,
    open_: OpenOption = False,
    prompts: Path | None = None,
    json_: JsonReportOption = False,
    store: ChecksStoreOption = None,
    **given: Any,
) -> None:
    """Run debates and baselines on questions with known answers, and compare their accuracy and cost.

    The report has intervals, paired tests and their power. The baselines are a single answer, a free-form debate, and a
    vote of single answers that cost as much as the debate. Each debate has a record. If the command is stopped, the
    same command continues from there and makes the same report.
    """
    from disputatio.evaluation.questions.runner import estimate_evaluation
    from disputatio.evaluation.statistics.intervals import check_installed

    check_installed()
    if check_power:
        _check_power(as_json=json_)
        return
    _check_one(dataset, golden, replay)
    output = ReportOutput(json_, out, open_)
    if replay is not None:
        _replay(replay, output)
        return
    number = read_whole_number("--seed", seed, 0)
    every = _questions(dataset, golden, data)
    questions = every.drawn(read_whole_number("--limit", limit, 1), number or 0)
    arms = _arms(compare, questions)
    arguments = make_arguments(**given, seed=seed, store=store)
    settings = _settings(arms, arguments, golden)
    if dry_run:
        print_estimate(asyncio.run(estimate_evaluation(questions, arms, settings, prompts, batch=batch)), as_json=json_)
        note_unbatched(list(settings.values()), batch=batch)
        return
    at_once = read_whole_number("--lanes", concurrency, 1)
    result = _run(questions, arms, settings, prompts, at_once, reads_only=from_records, batch=batch)
    body = _report(questions, arms, result, settings, number, len(every.items), output)
    if golden is not None:
        store_golden_report(next(iter(settings.values())).store, golden, body)
    exit_if_stopped(
        "evaluation", result.stopped, provider_failed=result.provider_failed, is_partial=bool(result.stopped)
    )


def _check_power(*, as_json: bool) -> None:
    from disputatio.evaluation.statistics.paired import check_power

    found = check_power()
    print_report(found.as_json(), found.lines(), as_json=as_json)
    if not found.holds:
        raise typer.Exit(int(ExitCode.INTERNAL))


def _check_one(dataset: Path | None, golden: str | None, replay: Path | None) -> None:
    given = [row for row in (dataset, golden, replay) if row is not None]
    if len(given) != 1:
        raise InvalidInputError(
            "There are no questions to evaluate." if not given else "More than one set of questions is given.",
            "Give one of these: a file of questions, --golden TASK, or --replay PATH.",
        )


def _questions(dataset: Path | None, golden: str | None, data: Path | None) -> QuestionSet:
    from disputatio.evaluation.questions.golden import golden_set
    from disputatio.evaluation.questions.items import read_questions

    if golden is not None:
        return golden_set(golden, data)
    assert dataset is not None  # noqa: S101  (checked by the caller)
    return read_questions(dataset)


def _arms(compare: str | None, questions: QuestionSet) -> tuple[Arm, ...]:
    from disputatio.evaluation.questions.arms import choose_arms
    from disputatio.evaluation.questions.items import Kind

    usual = _USUAL_FOR_NUMBERS if Kind.NUMBER in questions.kinds else _USUAL
    ways = [row.strip() for row in (compare or usual).split(",") if row.strip()]
    return choose_arms(ways, questions.kinds)


def _settings(arms: Sequence[Arm], arguments: Arguments, golden: str | None) -> dict[str, Settings]:
    """The settings of each way. A seat that only other ways have may be named too."""
    from disputatio.config.process import format_scope, settings_for
    from disputatio.evaluation.questions.arms import find_arm_format
    from disputatio.evaluation.questions.golden import GOLDEN
    from disputatio.formats.registry import find_format

    ways = dict.fromkeys(arm.way for arm in arms)
    forms = {way: find_format(find_arm_format(way).name) for way in ways}
    every = {str(seat) for form in forms.values() for seat in (*form.seats, *form.further_seats)}
    settings: dict[str, Settings] = {}
    for way, form in forms.items():
        chosen = arguments
        if way == "review" and golden is not None:
            chosen = arguments.with_values({("preset",): GOLDEN[golden].preset}, "--golden")
        own = {str(seat) for seat in (*form.seats, *form.further_seats)}
        named = [row for row in chosen.seated() if row[0].lower() in own | {"all"} or row[0].lower() not in every]
        options = format_scope(form)
        options = replace(options, other_seats=options.other_seats | (every - own))
        settings[way] = settings_for(form, chosen.with_seats(named), scope=options)
    print_notes(next(iter(settings.values())))
    return {way: with_separate_store(row, arguments, EVALUATIONS_FILE) for way, row in settings.items()}


def _run(
    questions: QuestionSet,
    arms: Sequence[Arm],
    settings: Mapping[str, Settings],
    prompts: Path | None,
    concurrency: int | None,
    *,
    reads_only: bool,
    batch: bool,
) -> EvaluationResult:
    from disputatio.evaluation.questions.runner import EvaluationRunner

    first, progress = next(iter(settings.values())), Progress(0, "debates")

    def compare(store: SqlStore) -> Coroutine[Any, Any, EvaluationResult]:
        experiment = progress.experiment(
            store, first.budget, concurrency=concurrency, reads_only=reads_only, batch=batch
        )
        return EvaluationRunner(questions, arms, settings, experiment, prompts).run()

    return run_over_store(first.store, progress, compare)


def _report(
    questions: QuestionSet,
    arms: Sequence[Arm],
    result: EvaluationResult,
    settings: Mapping[str, Settings],
    seed: int | None,
    drawn_from: int,
    output: ReportOutput,
) -> JsonObject:
    from disputatio.evaluation.pages.evaluation import render_evaluation_page
    from disputatio.evaluation.questions.report import make_evaluation_report, render_evaluation_lines

    models = {way: {seat: row.address for seat, row in chosen.seats.items()} for way, chosen in settings.items()}
    report = make_evaluation_report(questions, arms, result, models, seed=seed, drawn_from=drawn_from)
    body = report.as_json()
    output.write(body, render_evaluation_lines(report), lambda: render_evaluation_page(report))
    return body


def _replay(path: Path, output: ReportOutput) -> None:
    from disputatio.evaluation.pages.vote_replay import render_replay_page
    from disputatio.evaluation.vote_replay import make_replay_report, render_replay_lines

    tell(f"Counting the votes in {path.name}.")
    report = make_replay_report(path)
    output.write(report.as_json(), render_replay_lines(report), lambda: render_replay_page(report))
