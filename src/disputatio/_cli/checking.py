"""``disputatio check-fallacies`` and ``disputatio check-judge``: how far the configured judge can be trusted."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.given import check_kept, command_line, format_called, say_notes
from disputatio._cli.options import (
    BaseUrlOption,
    BudgetTokensOption,
    BudgetUsdOption,
    ConfigOption,
    MaxCallsOption,
    PromptsOption,
    SeatOption,
    SetOption,
)
from disputatio._cli.stopping import Stopping
from disputatio._cli.streams import print_json, tell
from disputatio.failures import ExitCode, InvalidInputError, ProviderError

if TYPE_CHECKING:
    from disputatio.config import Arguments, FormatScope, Settings
    from disputatio.evaluation.series import Held, Series, SeriesResult, Trial
    from disputatio.formats.format import Format
    from disputatio.kernel import JsonObject

_CHECKS_FILE = "checks.sqlite"

JsonReportOption = Annotated[bool, typer.Option("--json", metavar="", help="Print the report as JSON.")]
ChecksStoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="Where the records of checks are kept: a path or a database URL."),
]
SampleSeedOption = Annotated[
    str | None, typer.Option("--seed", metavar="N", help="What is drawn or planted depends on it; 0 by default.")
]
LimitOption = Annotated[str | None, typer.Option("--limit", metavar="N", help="At most so many.")]


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
    """Measure how well the judge names fallacies in texts that other people labelled.

    Precision, recall and F1 by class with intervals. Each text is asked for in a recorded debate of its own: the same
    command again goes on where it was stopped, and asks nothing twice.
    """
    from disputatio.evaluation.fallacy_check import fallacy_report, fallacy_trials, report_lines
    from disputatio.evaluation.labelled_csv import NAME, read_csv_texts
    from disputatio.evaluation.labelled_texts import read_labelled

    if map_ and dataset != NAME:
        raise InvalidInputError(f"--map is for files of your own, and the set is {dataset}.", "Give the set csv.")
    whole = read_csv_texts(data, map_ or ()) if dataset == NAME else read_labelled(dataset, data)
    number = whole_number("--seed", seed, 0) or 0
    drawn = whole.sample(whole_number("--limit", limit, 1), number)
    settings = _judge_settings(
        command_line(
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
    )
    result = hold(fallacy_trials(drawn, settings, prompts), settings, "texts")
    report = fallacy_report(settings.seats["judge"].address, whole, drawn, number, result)
    show_check(report.as_json(), report_lines(report), as_json=json_)
    leave(result)


def _judge_settings(arguments: Arguments) -> Settings:
    """The settings of the judge, its ceilings, and a store of its own for checks."""
    from disputatio.config.format_scope import format_scope
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


def whole_number(option: str, given: str | None, least: int) -> int | None:
    """The number that ``option`` was given; None where it was not given.

    Raises:
        InvalidInputError: it is none of ``least`` or more.
    """
    if given is None:
        return None
    try:
        number = int(given)
    except ValueError:
        number = least - 1
    if number < least:
        raise InvalidInputError(f"{option} {given[:40]!r} is no whole number.", f"Give one of {least} or more.")
    return number


def hold(trials: Sequence[Trial], settings: Settings, noun: str, *, side_by_side: bool = False) -> SeriesResult:
    """Hold the series, ``side_by_side`` also under a ceiling; Ctrl-C keeps what was held and says how to go on."""
    from disputatio.evaluation.intervals import check_installed
    from disputatio.evaluation.series import refuse_silence

    check_installed()
    progress = Progress(len(trials), noun)
    with Stopping() as stopping:
        try:
            result = stopping.run(_held(trials, settings, progress, side_by_side))
        except (asyncio.CancelledError, KeyboardInterrupt):
            progress.end()
            tell(f"Stopped: {progress.done} of {len(trials)} {noun} are kept.", "The same command goes on from there.")
            raise typer.Exit(int(ExitCode.INTERRUPTED)) from None
    progress.end()
    refuse_silence(result)
    return result


async def _held(
    trials: Sequence[Trial],
    settings: Settings,
    progress: Progress,
    side_by_side: bool,  # noqa: FBT001
) -> SeriesResult:
    from disputatio.evaluation.series import Series
    from disputatio.participants.gateways import open_gateway
    from disputatio.record.sql import SqlStore

    store = SqlStore(settings.store)
    try:
        series: Series = Series(
            trials,
            store=store,
            opener=lambda seating, key: open_gateway(seating, key, on_progress=progress.note),
            budget=settings.budget,
            on_held=progress.held,
            shares_ceiling=side_by_side,
        )
        return await series.hold()
    finally:
        await store.aclose()


def show_check(body: JsonObject, lines: Sequence[str], *, as_json: bool) -> None:
    """Labels of a set and words of a provider are other people's: they reach a terminal as text and no more."""
    from disputatio._cli.screen import print_wrapped
    from disputatio.motion import clean

    if as_json:
        print_json(body)
    else:
        print_wrapped(clean("\n".join(lines)).split("\n"), 4)


def leave(result: SeriesResult) -> None:
    """Leave with the exit code of a series that was stopped."""
    if result.provider_failed:
        raise ProviderError(f"The check was stopped: {result.stopped}.", "The same command goes on from there.")
    if result.missing:
        tell(f"{len(result.missing)} were not asked for: {result.stopped}.")
        raise typer.Exit(int(ExitCode.TRUNCATED))


class Progress:
    """Says on standard error how far a series is: a line that is rewritten on a terminal, else one now and then."""

    _EVERY_S = 10.0

    def __init__(self, whole: int, noun: str, done: str = "judged") -> None:
        self.done = 0
        self._whole, self._noun, self._word = whole, noun, done
        self._reused = 0
        self._drawn = False
        self._terminal = sys.stderr.isatty()
        self._last = time.monotonic()

    def expect(self, whole: int) -> None:
        """There are so many now."""
        self._whole = whole

    def held(self, held: Held) -> None:
        """One more is done."""
        self.count(reused=held.reused)

    def count(self, *, reused: bool) -> None:
        """One more is done; ``reused`` where it was recorded before."""
        self.done += 1
        self._reused += reused
        now = time.monotonic()
        if self._terminal:
            sys.stderr.write(f"\r{self._line()}\x1b[K")
            sys.stderr.flush()
            self._drawn = True
        elif now - self._last >= self._EVERY_S:
            self._last = now
            tell(self._line())

    def note(self, message: str) -> None:
        """Something that takes long before a first answer."""
        self.end()
        tell(message)

    def end(self) -> None:
        """Leave the line as it is."""
        if self._drawn:
            sys.stderr.write("\n")
            self._drawn = False

    def _line(self) -> str:
        kept = f", {self._reused} of them recorded before" if self._reused else ""
        return f"{self.done} of {self._whole} {self._noun} {self._word}{kept}"


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
    """Plant known flaws in recorded debates and measure what the judge catches, misses and leans to.

    With --baseline the exit code is 8 where the judge got worse beyond chance. Each debate has a record: the same
    command again goes on where it was stopped, and asks nothing twice.
    """
    from disputatio.evaluation.baseline import check_comparable, compare, read_baseline, write_baseline
    from disputatio.evaluation.cases import packaged_cases, read_cases
    from disputatio.evaluation.judge_check import (
        PROBES,
        baseline_of,
        judge_report,
        judge_trials,
        report_lines,
        twins_of,
    )

    number = whole_number("--seed", seed, 0) or 0
    earlier = None if baseline is None else read_baseline(baseline)
    debates = (packaged_cases() if cases is None else read_cases(cases))[: whole_number("--limit", limit, 1)]
    if earlier is not None:
        check_comparable(earlier, {case.id: case.digest for case in debates}, number)
    twins = twins_of(debates, number, tuple(probe) if probe else PROBES)
    settings = _judge_settings(
        command_line(
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
    )
    result = hold(judge_trials(twins, settings, prompts), settings, "debates")
    report = judge_report(twins, settings, result, number, prompts)
    now = baseline_of(report)
    if earlier is not None and not result.missing:
        report = replace(report, drift=compare(earlier, now))
    show_check(report.as_json(), report_lines(report), as_json=json_)
    if save_baseline is not None and not result.missing:
        write_baseline(now, save_baseline)
    leave(result)
    if report.drift is not None and report.drift.worse:
        raise typer.Exit(int(ExitCode.WORSE))
