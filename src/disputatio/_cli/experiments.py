"""What the commands of experiments share: they run debates, resume them after a stop, and print a report."""

from __future__ import annotations

import asyncio
import sys
import time
import webbrowser
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from disputatio._cli.stopping import Stopping
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
"""Debates that wait for one batch together: each holds its history in memory."""

JsonReportOption = Annotated[bool, typer.Option("--json", metavar="", help="Print the report as JSON.")]
ChecksStoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="Where the records of checks are kept: a path or a database URL."),
]
SampleSeedOption = Annotated[
    str | None, typer.Option("--seed", metavar="N", help="What is drawn or planted depends on it; 0 by default.")
]
LimitOption = Annotated[str | None, typer.Option("--limit", metavar="N", help="At most so many.")]
ConcurrencyOption = Annotated[
    str | None,
    typer.Option(
        "--lanes",
        metavar="N",
        help=f"Debates of models held at a time: {CONCURRENCY} by default, {BATCH_CONCURRENCY:,} with --batch.",
    ),
]
BatchOption = Annotated[
    bool,
    typer.Option(
        "--batch", metavar="", help="Use the batch interfaces of OpenAI, Anthropic and Google: half price, up to a day."
    ),
]
FromRecordsOption = Annotated[
    bool, typer.Option("--from-records", metavar="", help="Make the report from the records; call no model.")
]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FOLDER", help="Write report.html and report.json there.")
]
OpenOption = Annotated[bool, typer.Option("--open", metavar="", help="Open the page that --out wrote.")]


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


class Progress:
    """Says on standard error how far a series is: a line that is rewritten on a terminal, else one now and then."""

    _EVERY_S = 10.0

    def __init__(self, whole: int, noun: str, done: str = "held") -> None:
        self.done = 0
        self._whole, self._noun, self._word = whole, noun, done
        self._reused = 0
        self._drawn = False
        self._terminal = sys.stderr.isatty()
        self._collectors: list[BatchCollector] = []
        self._last = time.monotonic()

    def expect(self, whole: int) -> None:
        """There are so many now."""
        self._whole = whole

    def finish(self, trial: FinishedTrial) -> None:
        """One more is done."""
        self.count(reused=trial.reused)

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

    def client_factory(self, seating: ModelSeating, api_key: str | None) -> ModelClient:
        """The way to a model, which says what takes long before a first answer."""
        from disputatio.participants.shared_clients import open_client

        return open_client(seating, api_key, on_progress=self.note)

    def experiment(
        self, store: SqlStore, budget: Budget, *, batch: bool = False, concurrency: int | None = None, **settings: Any
    ) -> Experiment:
        """An experiment over ``store`` whose progress is shown; with ``batch`` its calls go in batches."""
        from disputatio.evaluation.experiment import Experiment

        batches = self.batches(store) if batch else None
        at_once = concurrency or (BATCH_CONCURRENCY if batch else CONCURRENCY)
        told: Any = {"on_finished": self.finish, "on_batch": self.expect, **settings}
        return Experiment(store, self.client_factory, budget=budget, concurrency=at_once, batches=batches, **told)

    def batches(self, store: SqlStore) -> BatchCollector:
        """What sends calls in batches and notes them in ``store``, until ``aclose``."""
        from disputatio.engine.ports import SystemClock
        from disputatio.participants.batch.collector import BatchCollector
        from disputatio.record.batches import SqlBatchBook

        made = BatchCollector(SqlBatchBook(store), self.client_factory, clock=SystemClock(), on_note=self.note)
        self._collectors.append(made)
        return made

    async def aclose(self) -> None:
        """Stop waiting for batches; those that were sent go on at the provider."""
        while self._collectors:
            await self._collectors.pop().aclose()

    def note(self, message: str) -> None:
        """Something that takes long before a first answer."""
        self.end()
        tell(message)

    def end(self) -> None:
        """Leave the line as it is."""
        if self._drawn:
            sys.stderr.write("\n")
            self._drawn = False

    @property
    def kept(self) -> str:
        """What a stop leaves."""
        return f"{self.done} of {self._whole} {self._noun}"

    def _line(self) -> str:
        kept = f", {self._reused} of them recorded before" if self._reused else ""
        return f"{self.kept} {self._word}{kept}"


def run_over(
    address: str, progress: Progress, work: Callable[[SqlStore], Coroutine[Any, Any, Value]], *, create: bool = True
) -> Value:
    """Run ``work`` over the store at ``address``; Ctrl-C keeps what has finished and says how to go on."""
    from disputatio.record.sql import SqlStore

    async def opened() -> Value:
        store = SqlStore(address, create=create)
        try:
            return await work(store)
        finally:
            await progress.aclose()
            await store.aclose()

    with Stopping() as stopping:
        try:
            found = stopping.run(opened())
        except (asyncio.CancelledError, KeyboardInterrupt):
            progress.end()
            tell(f"Stopped: {progress.kept} are kept.", "The same command goes on from there.")
            raise typer.Exit(int(ExitCode.INTERRUPTED)) from None
    progress.end()
    return found


def run_trials(
    trials: Sequence[Trial],
    address: str,
    budget: Budget,
    progress: Progress,
    *,
    shares_ceiling: bool = False,
    batch: bool = False,
) -> ExperimentResult:
    """Run the trials of one experiment; see ``run_over``.

    Raises:
        ProviderError: the model was never reached.
    """
    from disputatio.evaluation.experiment import check_answered
    from disputatio.evaluation.statistics.intervals import check_installed

    check_installed()
    result = run_over(
        address,
        progress,
        lambda store: progress.experiment(store, budget, shares_ceiling=shares_ceiling, batch=batch).run(trials),
    )
    check_answered(result)
    return result


def show_report(body: JsonObject, lines: Sequence[str], *, as_json: bool) -> None:
    """Labels of a set and words of a provider are other people's: they reach a terminal as text and no more."""
    from disputatio._cli.screen import print_wrapped
    from disputatio.motion import clean

    if as_json:
        print_json(body)
    else:
        print_wrapped(clean("\n".join(lines)).split("\n"), 4)


def show_estimate(parts: Sequence[EstimatedPart], *, as_json: bool) -> None:
    """Show what each part of an experiment would take."""
    from disputatio.evaluation.estimates import estimate_json, estimate_lines

    show_report(estimate_json(parts), estimate_lines(parts), as_json=as_json)


def note_singles(settings: Sequence[Settings], *, batch: bool) -> None:
    """Say what cannot go in batches, where batches are asked for."""
    from disputatio.participants.batch.collector import is_batched

    if not batch:
        return
    seated = {seat: row for each in settings for seat, row in each.seats.items()}
    singly = sorted({f"{seat} ({row.address})" for seat, row in seated.items() if not is_batched(row)})
    if singly:
        tell(f"No batches for {', '.join(singly)}: these seats are called singly, at the usual price.")


def write_report(folder: Path, page: str, body: JsonObject, *, opens: bool) -> None:
    """Write a page and its JSON to ``folder``, and open the page where that is wanted.

    Raises:
        InvalidInputError: the folder cannot be written.
    """
    from disputatio.report.printing import printable_json

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


def leave(what: str, stopped: str, *, provider_failed: bool, is_partial: bool, note: Sequence[str] = ()) -> None:
    """Leave with the exit code of an experiment that was stopped; return where it was not.

    Raises:
        ProviderError: a model could not be reached.
        typer.Exit: a ceiling cut it short.
    """
    if provider_failed:
        raise ProviderError(f"The {what} was stopped: {stopped}.", "The same command goes on from there.")
    if is_partial:
        tell(*note)
        raise typer.Exit(int(ExitCode.TRUNCATED))
