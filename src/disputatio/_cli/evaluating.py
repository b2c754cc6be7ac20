"""``disputatio eval``: debates and baselines on questions whose answers are known, and recorded votes counted again."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.dossier import keep_for_dossiers
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
    leave,
    note_singles,
    run_over,
    show_estimate,
    show_report,
    whole_number,
    write_report,
)
from disputatio._cli.given import check_kept, command_line, say_notes
from disputatio._cli.options import CEILINGS, MODELS, DryRunOption, takes
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
            help="A golden set instead: architecture, investment, compliance; contract and security with --data.",
        ),
    ] = None,
    data: Annotated[Path | None, typer.Option("--data", metavar="FOLDER", help="Where a golden set lies.")] = None,
    replay: Annotated[
        Path | None,
        typer.Option("--replay", metavar="PATH", help="Count recorded votes again, in a folder or file; no model."),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            "--compare",
            metavar="WAYS",
            help=f"structured, panel, review, freeform, single, vote, between commas; {_USUAL} unless said otherwise.",
        ),
    ] = None,
    limit: LimitOption = None,
    seed: Annotated[
        str | None, typer.Option("--seed", metavar="N", help="Which questions --limit draws; sent to models too.")
    ] = None,
    concurrency: ConcurrencyOption = None,
    batch: BatchOption = False,
    check_power: Annotated[
        bool,
        typer.Option("--check-power", metavar="", help="Plant an edge and none in made-up answers; say what is found."),
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
    """Run debates and their baselines on questions whose right answers are known, and say what the difference shows.

    Accuracy and cost with intervals, paired tests and their power. The baselines are a single answer, a free-form
    debate, and a vote of as many single answers as cost what the debate cost. Each debate has a record: the same
    command again goes on where it was stopped, asks nothing twice, and makes the same report.
    """
    from disputatio.evaluation.questions.runner import estimate_evaluation
    from disputatio.evaluation.statistics.intervals import check_installed

    check_installed()
    if check_power:
        _check_power(as_json=json_)
        return
    _check_one(dataset, golden, replay)
    if replay is not None:
        _replay(replay, out, as_json=json_, opens=open_)
        return
    number = whole_number("--seed", seed, 0)
    whole = _questions(dataset, golden, data)
    questions = whole.drawn(whole_number("--limit", limit, 1), number or 0)
    arms = _arms(compare, questions)
    arguments = command_line(**given, seed=seed, store=store)
    settings = _settings(arms, arguments, golden)
    if dry_run:
        show_estimate(asyncio.run(estimate_evaluation(questions, arms, settings, prompts, batch=batch)), as_json=json_)
        note_singles(list(settings.values()), batch=batch)
        return
    at_a_time = whole_number("--lanes", concurrency, 1)
    held = _run(questions, arms, settings, prompts, at_a_time, reads_only=from_records, batch=batch)
    body = _report(questions, arms, held, settings, number, len(whole.items), out, as_json=json_, opens=open_)
    if golden is not None:
        keep_for_dossiers(next(iter(settings.values())).store, golden, body)
    leave("evaluation", held.stopped, provider_failed=held.provider_failed, is_partial=bool(held.stopped))


def _check_power(*, as_json: bool) -> None:
    from disputatio.evaluation.statistics.paired import check_power

    found = check_power()
    show_report(found.as_json(), found.lines(), as_json=as_json)
    if not found.holds:
        raise typer.Exit(int(ExitCode.INTERNAL))


def _check_one(dataset: Path | None, golden: str | None, replay: Path | None) -> None:
    given = [row for row in (dataset, golden, replay) if row is not None]
    if len(given) != 1:
        raise InvalidInputError(
            "Nothing says what to evaluate on." if not given else "There is more than one thing to evaluate on.",
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
    """The settings of each way; seats of other ways may be named too, and are passed over where they do not sit."""
    from disputatio.config.process import format_scope, settings_for
    from disputatio.evaluation.questions.arms import find_arm_format
    from disputatio.evaluation.questions.golden import GOLDEN
    from disputatio.formats.registry import find_format

    ways = dict.fromkeys(arm.way for arm in arms)
    forms = {way: find_format(find_arm_format(way).name) for way in ways}
    every = {str(seat) for form in forms.values() for seat in (*form.seats, *form.further_seats)}
    found: dict[str, Settings] = {}
    for way, form in forms.items():
        chosen = arguments
        if way == "review" and golden is not None:
            chosen = arguments.with_values({("preset",): GOLDEN[golden].preset}, "--golden")
        own = {str(seat) for seat in (*form.seats, *form.further_seats)}
        named = [row for row in chosen.seated() if row[0].lower() in own | {"all"} or row[0].lower() not in every]
        options = format_scope(form)
        options = replace(options, other_seats=options.other_seats | (every - own))
        found[way] = settings_for(form, chosen.with_seats(named), scope=options)
    first = next(iter(found.values()))
    say_notes(first)
    if arguments.value("store") is None and first.store.startswith("sqlite:///"):
        address = f"{first.store.rpartition('/')[0]}/{EVALUATIONS_FILE}"
        found = {way: replace(row, store=address) for way, row in found.items()}
    check_kept(next(iter(found.values())))
    return found


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
    """Run everything; Ctrl-C keeps what has finished and says how to go on."""
    from disputatio.evaluation.questions.runner import EvaluationRunner

    first, progress = next(iter(settings.values())), Progress(0, "debates")

    def compare(store: SqlStore) -> Coroutine[Any, Any, EvaluationResult]:
        experiment = progress.experiment(
            store, first.budget, concurrency=concurrency, reads_only=reads_only, batch=batch
        )
        return EvaluationRunner(questions, arms, settings, experiment, prompts).run()

    return run_over(first.store, progress, compare)


def _report(
    questions: QuestionSet,
    arms: Sequence[Arm],
    held: EvaluationResult,
    settings: Mapping[str, Settings],
    seed: int | None,
    drawn_from: int,
    out: Path | None,
    *,
    as_json: bool,
    opens: bool,
) -> JsonObject:
    from disputatio.evaluation.pages.evaluation import render_evaluation_page
    from disputatio.evaluation.questions.report import make_evaluation_report, render_evaluation_lines

    who = {way: {seat: row.address for seat, row in chosen.seats.items()} for way, chosen in settings.items()}
    report = make_evaluation_report(questions, arms, held, who, seed=seed, drawn_from=drawn_from)
    body = report.as_json()
    show_report(body, render_evaluation_lines(report), as_json=as_json)
    if out is not None:
        write_report(out, render_evaluation_page(report), body, opens=opens)
    return body


def _replay(path: Path, out: Path | None, *, as_json: bool, opens: bool) -> None:
    from disputatio.evaluation.pages.vote_replay import render_replay_page
    from disputatio.evaluation.vote_replay import make_replay_report, render_replay_lines

    tell(f"Counting the votes in {path.name}.")
    report = make_replay_report(path)
    body = report.as_json()
    show_report(body, render_replay_lines(report), as_json=as_json)
    if out is not None:
        write_report(out, render_replay_page(report), body, opens=opens)
