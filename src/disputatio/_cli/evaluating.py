"""``disputatio eval``: debates and baselines on questions whose answers are known, and recorded votes counted again."""

from __future__ import annotations

import asyncio
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.checking import (
    ChecksStoreOption,
    JsonReportOption,
    LimitOption,
    Progress,
    show_check,
    whole_number,
)
from disputatio._cli.dossier_evidence import keep_for_dossiers
from disputatio._cli.given import check_kept, command_line, say_notes
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
    from disputatio.evaluation.comparing import Arm, Comparing, Held
    from disputatio.evaluation.questions import QuestionSet
    from disputatio.kernel import JsonObject

EVALUATIONS_FILE = "evaluations.sqlite"
_USUAL = "panel,freeform,single,vote"
_USUAL_FOR_NUMBERS = "freeform,single,vote"
_LANES = 4


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
    lanes: Annotated[
        str | None,
        typer.Option("--lanes", metavar="N", help=f"Debates held at a time; {_LANES} unless said otherwise."),
    ] = None,
    check_power: Annotated[
        bool,
        typer.Option("--check-power", metavar="", help="Plant an edge and none in made-up answers; say what is found."),
    ] = False,
    from_records: Annotated[
        bool, typer.Option("--from-records", metavar="", help="Make the report from the records; ask nobody.")
    ] = False,
    dry_run: DryRunOption = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Write report.html and report.json there.")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", metavar="", help="Open the page that --out wrote.")] = False,
    prompts: PromptsOption = None,
    seat: SeatOption = None,
    base_url: BaseUrlOption = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    budget_usd: BudgetUsdOption = None,
    budget_tokens: BudgetTokensOption = None,
    max_calls: MaxCallsOption = None,
    json_: JsonReportOption = False,
    store: ChecksStoreOption = None,
) -> None:
    """Hold debates and their baselines on questions whose right answers are known, and say what the difference shows.

    Accuracy and cost with intervals, paired tests and their power. The baselines are a single answer, a free-form
    debate, and a vote of as many single answers as cost what the debate cost. Each debate has a record: the same
    command again goes on where it was stopped, asks nothing twice, and makes the same report.
    """
    from disputatio.evaluation.intervals import check_installed

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
    arguments = command_line(
        seat=tuple(seat or ()),
        base_url=base_url,
        config=config,
        set=tuple(set_ or ()),
        seed=seed,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        max_calls=max_calls,
        store=store,
    )
    settings = _settings(arms, arguments, golden)
    if dry_run:
        _say_estimate(questions, arms, settings, prompts, as_json=json_)
        return
    held = _hold(questions, arms, settings, prompts, whole_number("--lanes", lanes, 1) or _LANES, asks=not from_records)
    body = _report(questions, arms, held, settings, number, len(whole.items), out, as_json=json_, opens=open_)
    if golden is not None:
        keep_for_dossiers(next(iter(settings.values())).store, golden, body)
    _leave(held)


def _check_power(*, as_json: bool) -> None:
    from disputatio.evaluation.power_check import power_check

    found = power_check()
    show_check(found.as_json(), found.lines(), as_json=as_json)
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
    from disputatio.evaluation.questions import golden_set, read_questions

    if golden is not None:
        return golden_set(golden, data)
    assert dataset is not None  # noqa: S101  (checked by the caller)
    return read_questions(dataset)


def _arms(compare: str | None, questions: QuestionSet) -> tuple[Arm, ...]:
    from disputatio.evaluation.comparing import arms_of
    from disputatio.evaluation.questions import Kind

    usual = _USUAL_FOR_NUMBERS if Kind.NUMBER in questions.kinds else _USUAL
    ways = [row.strip() for row in (compare or usual).split(",") if row.strip()]
    return arms_of(ways, questions.kinds)


def _settings(arms: Sequence[Arm], arguments: Arguments, golden: str | None) -> dict[str, Settings]:
    """The settings of each way; seats of other ways may be named too, and are passed over where they do not sit."""
    from disputatio.config.format_scope import format_scope
    from disputatio.config.process import settings_for
    from disputatio.evaluation.comparing.arms import form_of
    from disputatio.evaluation.questions import GOLDEN
    from disputatio.formats.registry import find_format

    ways = dict.fromkeys(arm.way for arm in arms)
    forms = {way: find_format(form_of(way).name) for way in ways}
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


def _say_estimate(
    questions: QuestionSet,
    arms: Sequence[Arm],
    settings: Mapping[str, Settings],
    prompts: Path | None,
    *,
    as_json: bool,
) -> None:
    """Say what all of it would take; hold nothing and ask nobody."""
    from disputatio.evaluation.comparing.estimating import evaluation_parts
    from disputatio.evaluation.estimating import estimate_json, estimate_lines

    parts = asyncio.run(evaluation_parts(questions, arms, settings, prompts))
    show_check(estimate_json(parts), estimate_lines(parts), as_json=as_json)


def _hold(
    questions: QuestionSet,
    arms: Sequence[Arm],
    settings: Mapping[str, Settings],
    prompts: Path | None,
    lanes: int,
    *,
    asks: bool,
) -> Held:
    """Hold everything; Ctrl-C keeps what was held and says how to go on."""
    from disputatio.evaluation.comparing import Comparing
    from disputatio.participants.gateways import open_gateway
    from disputatio.record.sql import SqlStore

    first = next(iter(settings.values()))
    progress = Progress(0, "debates", "held")

    async def work() -> Held:
        store = SqlStore(first.store)
        try:
            comparing: Comparing = Comparing(
                questions,
                arms,
                settings,
                store=store,
                opener=lambda seating, key: open_gateway(seating, key, on_progress=progress.note),
                budget=first.budget,
                lanes=lanes,
                prompts=prompts,
                on_held=progress.held,
                on_wave=progress.expect,
                asks=asks,
            )
            return await comparing.hold()
        finally:
            await store.aclose()

    with Stopping() as stopping:
        try:
            held = stopping.run(work())
        except (asyncio.CancelledError, KeyboardInterrupt):
            progress.end()
            tell(f"Stopped: {progress.done} debates are kept.", "The same command goes on from there.")
            raise typer.Exit(int(ExitCode.INTERRUPTED)) from None
    progress.end()
    return held


def _report(
    questions: QuestionSet,
    arms: Sequence[Arm],
    held: Held,
    settings: Mapping[str, Settings],
    seed: int | None,
    drawn_from: int,
    out: Path | None,
    *,
    as_json: bool,
    opens: bool,
) -> JsonObject:
    from disputatio.evaluation.comparing import evaluation_lines, evaluation_report
    from disputatio.evaluation.pages import evaluation_page

    who = {way: {seat: row.address for seat, row in chosen.seats.items()} for way, chosen in settings.items()}
    report = evaluation_report(questions, arms, held, who, seed=seed, drawn_from=drawn_from)
    body = report.as_json()
    show_check(body, evaluation_lines(report), as_json=as_json)
    if out is not None:
        write_report(out, evaluation_page(report), body, opens=opens)
    return body


def _replay(path: Path, out: Path | None, *, as_json: bool, opens: bool) -> None:
    from disputatio.evaluation.pages import replay_page
    from disputatio.evaluation.replay import replay_lines, replay_report

    tell(f"Counting the votes in {path.name}.")
    report = replay_report(path)
    body = report.as_json()
    show_check(body, replay_lines(report), as_json=as_json)
    if out is not None:
        write_report(out, replay_page(report), body, opens=opens)


def write_report(folder: Path, page: str, body: JsonObject, *, opens: bool) -> None:
    """Write a page and its JSON to ``folder``, and open the page where that is wanted.

    Raises:
        InvalidInputError: the folder cannot be written.
    """
    from disputatio.report import printable_json

    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.html").write_text(page, "utf-8")
        (folder / "report.json").write_text(printable_json(body) + "\n", "utf-8")
    except OSError as error:
        reason = (error.strerror or "unknown cause").lower()
        raise InvalidInputError(f"{folder} cannot be written: {reason}.", "Choose another folder.") from None
    tell(f"Written: {folder / 'report.html'} and report.json beside it.")
    if opens:
        webbrowser.open((folder / "report.html").resolve().as_uri())


def _leave(held: Held) -> None:
    """Leave with the exit code of what was stopped."""
    if held.provider_failed:
        raise ProviderError(f"The evaluation was stopped: {held.stopped}.", "The same command goes on from there.")
    if held.stopped:
        raise typer.Exit(int(ExitCode.TRUNCATED))
