"""What the commands of experiments share: options, progress, running debates over a store, and reports."""

from __future__ import annotations

import asyncio
import sys
import time
import webbrowser
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from disputatio._cli.stopping import StopSignals
from disputatio._cli.streams import print_json, tell
from disputatio.errors import ExitCode, InvalidInputError, ProviderError

if TYPE_CHECKING:
    from disputatio.config import Settings
    from disputatio.evaluation.estimates import EstimatedPart
    from disputatio.evaluation.experiment import Experiment, ExperimentResult, FinishedTrial, Trial
    from disputatio.kernel import JsonObject
    from disputatio.ledger.budget import Budget
    from disputatio.participants.batch.collector import BatchCollector
    from disputatio.participants.call import ModelClient
    from disputatio.participants.model_seat import ModelSeating
    from disputatio.record.sql import SqlStore

Value = TypeVar("Value")
CONCURRENCY = 4
BATCH_CONCURRENCY = 1_000
"""Debates that wait for one batch together. Each has its history in memory."""

JsonReportOption = Annotated[bool, typer.Option("--json", metavar="", help="Print the report as JSON.")]
ChecksStoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="Where the records are stored: a path or a database URL."),
]
SampleSeedOption = Annotated[
    str | None,
    typer.Option("--seed", metavar="N", help="The seed of everything that is drawn at random. The default is 0."),
]
LimitOption = Annotated[str | None, typer.Option("--limit", metavar="N", help="Use at most N of them.")]
ConcurrencyOption = Annotated[
    str | None,
    typer.Option(
        "--lanes",
        metavar="N",
        help=f"Debates that run at once. The default is {CONCURRENCY}, or {BATCH_CONCURRENCY:,} with --batch.",
    ),
]
BatchOption = Annotated[
    bool,
    typer.Option(
        "--batch", metavar="", help="Use the batch APIs of OpenAI, Anthropic and Google: half the price, up to a day."
    ),
]
FromRecordsOption = Annotated[
    bool, typer.Option("--from-records", metavar="", help="Make the report from existing records. Call no model.")
]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FOLDER", help="Write report.html and report.json to this folder.")
]
OpenOption = Annotated[bool, typer.Option("--open", metavar="", help="Open the page that --out writes.")]


def read_whole_number(option: str, given: str | None, least: int) -> int | None:
    """Read the number that ``option`` was given; None where it was not given.

    Raises:
        InvalidInputError: it is not a whole number, or less than ``least``.
    """
    if given is None:
        return None
    try:
        number = int(given)
    except ValueError:
        number = least - 1
    if number < least:
        raise InvalidInputError(f"{option} {given[:40]!r} is not a whole number.", f"Give one of {least} or more.")
    return number


class Progress:
    """Shows on standard error how far an experiment is: one line that is rewritten, or a line every ten seconds."""

    _EVERY_S = 10.0

    def __init__(self, whole: int, noun: str, done: str = "finished") -> None:
        self.done = 0
        self._whole, self._noun, self._word = whole, noun, done
        self._reused = 0
        self._drawn = False
        self._terminal = sys.stderr.isatty()
        self._collectors: list[BatchCollector] = []
        self._last = time.monotonic()

    def expect(self, whole: int) -> None:
        """Set how many there will be."""
        self._whole = whole

    def finish(self, trial: FinishedTrial) -> None:
        """Count a finished trial."""
        self.count(reused=trial.reused)

    def count(self, *, reused: bool) -> None:
        """Count one more. ``reused`` says that it was recorded before."""
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

    def client_factory(self, seating: ModelSeating, api_key: str | None) -> ModelClient:
        """Make the client of a model. It reports preparations that take long, such as a download."""
        from disputatio.participants.shared_clients import open_client

        return open_client(seating, api_key, on_progress=self.note)

    def experiment(
        self, store: SqlStore, budget: Budget, *, batch: bool = False, concurrency: int | None = None, **settings: Any
    ) -> Experiment:
        """An experiment over ``store`` that reports here. With ``batch`` its calls go in batches."""
        from disputatio.evaluation.experiment import Experiment

        batches = self.batches(store) if batch else None
        at_once = concurrency or (BATCH_CONCURRENCY if batch else CONCURRENCY)
        more: Any = {"on_finished": self.finish, "on_batch": self.expect, **settings}
        return Experiment(store, self.client_factory, budget=budget, concurrency=at_once, batches=batches, **more)

    def batches(self, store: SqlStore) -> BatchCollector:
        """A collector that sends calls in batches, and records the batches in ``store``, until ``aclose``."""
        from disputatio.engine.ports import SystemClock
        from disputatio.participants.batch.collector import BatchCollector
        from disputatio.record.batches import SqlBatchBook

        collector = BatchCollector(SqlBatchBook(store), self.client_factory, clock=SystemClock(), on_note=self.note)
        self._collectors.append(collector)
        return collector

    async def aclose(self) -> None:
        """Stop waiting for batches. The provider goes on with those that were sent."""
        while self._collectors:
            await self._collectors.pop().aclose()

    def note(self, message: str) -> None:
        """Print a message below the line of progress."""
        self.end()
        tell(message)

    def end(self) -> None:
        """End the line of progress."""
        if self._drawn:
            sys.stderr.write("\n")
            self._drawn = False

    @property
    def summary(self) -> str:
        """How many of all are done."""
        return f"{self.done} of {self._whole} {self._noun}"

    def _line(self) -> str:
        reused = f", {self._reused} of them recorded before" if self._reused else ""
        return f"{self.summary} {self._word}{reused}"


def run_over_store(
    address: str, progress: Progress, work: Callable[[SqlStore], Coroutine[Any, Any, Value]], *, create: bool = True
) -> Value:
    """Run ``work`` over the store at ``address``. Ctrl-C stops it; what has finished is in the store."""
    from disputatio.record.sql import SqlStore

    async def run() -> Value:
        async with aclosing(SqlStore(address, create=create)) as store, aclosing(progress):
            return await work(store)

    with StopSignals() as signals:
        try:
            result = signals.run(run())
        except (asyncio.CancelledError, KeyboardInterrupt):
            progress.end()
            tell(f"Stopped: {progress.summary} are recorded.", "The same command continues from there.")
            raise typer.Exit(int(ExitCode.INTERRUPTED)) from None
    progress.end()
    return result


def run_trials(
    trials: Sequence[Trial],
    address: str,
    budget: Budget,
    progress: Progress,
    *,
    shares_ceiling: bool = False,
    batch: bool = False,
) -> ExperimentResult:
    """Run the trials of one experiment.

    Raises:
        ProviderError: the model was never reached.
    """
    from disputatio.evaluation.experiment import check_answered
    from disputatio.evaluation.statistics.intervals import check_installed

    check_installed()
    result = run_over_store(
        address,
        progress,
        lambda store: progress.experiment(store, budget, shares_ceiling=shares_ceiling, batch=batch).run(trials),
    )
    check_answered(result)
    return result


def print_report(body: JsonObject, lines: Sequence[str], *, as_json: bool) -> None:
    """Print a report as JSON or as lines. Control characters in words of models and data sets are removed."""
    from disputatio._cli.screen import print_wrapped
    from disputatio.motion import clean

    if as_json:
        print_json(body)
    else:
        print_wrapped(clean("\n".join(lines)).split("\n"), 4)


def print_estimate(parts: Sequence[EstimatedPart], *, as_json: bool) -> None:
    """Print the expected cost of each part of an experiment."""
    from disputatio.evaluation.estimates import estimate_json, estimate_lines

    print_report(estimate_json(parts), estimate_lines(parts), as_json=as_json)


def note_unbatched(settings: Sequence[Settings], *, batch: bool) -> None:
    """With ``batch``, print which seats have models that cannot be called in batches."""
    from disputatio.participants.batch.collector import is_batched

    if not batch:
        return
    models = {seat: row for each in settings for seat, row in each.seats.items()}
    unbatched = sorted({f"{seat} ({row.address})" for seat, row in models.items() if not is_batched(row)})
    if unbatched:
        tell(f"No batches for {', '.join(unbatched)}: these seats are called one by one, at the usual price.")


@dataclass(frozen=True, slots=True)
class ReportOutput:
    """Where the report of an experiment goes: to standard output, and to ``folder`` if one is named."""

    as_json: bool
    folder: Path | None
    opens: bool

    def write(self, body: JsonObject, lines: Sequence[str], render_page: Callable[[], str]) -> None:
        """Print the report, write its page and JSON to the folder, and open the page if asked to.

        Raises:
            InvalidInputError: the folder cannot be written.
        """
        from disputatio.report.printing import printable_json

        print_report(body, lines, as_json=self.as_json)
        if self.folder is None:
            return
        page = self.folder / "report.html"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            page.write_text(render_page(), "utf-8")
            (self.folder / "report.json").write_text(printable_json(body) + "\n", "utf-8")
        except OSError as error:
            reason = (error.strerror or "unknown cause").lower()
            raise InvalidInputError(f"{self.folder} cannot be written: {reason}.", "Choose another folder.") from None
        tell(f"Written: {page}, with report.json next to it.")
        if self.opens:
            webbrowser.open(page.resolve().as_uri())


def exit_if_stopped(
    what: str, stopped: str, *, provider_failed: bool, is_partial: bool, note: Sequence[str] = ()
) -> None:
    """Exit with the code of an experiment that was stopped, or return if it was not.

    Raises:
        ProviderError: a model could not be reached.
        typer.Exit: a ceiling stopped it early.
    """
    if provider_failed:
        raise ProviderError(f"The {what} was stopped: {stopped}.", "The same command continues from there.")
    if is_partial:
        tell(*note)
        raise typer.Exit(int(ExitCode.TRUNCATED))
