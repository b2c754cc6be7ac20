"""Print what commands show: debates while they run, results, lists and estimates."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disputatio._cli.streams import drop_output, is_pipe_closed, print_json, print_lines, tell
from disputatio.errors import DisputatioError, ExitCode, InvalidInputError, StoreError
from disputatio.motion import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from disputatio._terminal.seat import TerminalSurface
    from disputatio.config import Finding
    from disputatio.engine.estimate import Estimate
    from disputatio.engine.opening import Proposal
    from disputatio.engine.preview import Preview
    from disputatio.engine.runtime import Runtime
    from disputatio.participants.call import ModelClient
    from disputatio.participants.model_seat import ModelSeating
    from disputatio.record.chain import Sealed
    from disputatio.record.events import Event
    from disputatio.record.store import DebateRow, Store
    from disputatio.report.reading import DebateReport


def terminal_width() -> int:
    """The columns of the terminal; 100 without a terminal."""
    return shutil.get_terminal_size((100, 24)).columns


def console(*, plain: bool = False, stderr: bool = False) -> Console:
    """A console without markup, so that texts of participants cannot style or link anything."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    is_plain = plain or not stream.isatty() or os.environ.get("TERM") == "dumb"
    return Console(
        stderr=stderr,
        markup=False,
        highlight=False,
        emoji=False,
        no_color=True if is_plain else None,
        force_terminal=False if is_plain else None,
        legacy_windows=False,
        width=terminal_width() if is_plain else None,
    )


class Screen:
    """Shows one debate while it runs, and its result."""

    def __init__(self, *, as_json: bool, plain: bool) -> None:
        from disputatio._terminal import open_view

        self.on_lost_output: Callable[[], None] = lambda: None
        self._as_json, self._plain = as_json, plain
        self._console = console(plain=plain, stderr=as_json)
        self._id: str | None = None
        """The debate's id, once its beginning is durable."""
        self._begun: str | None = None
        """The id once the beginning is being written. It becomes durable even if the debate is stopped at once."""
        self._lost: BaseException | None = None
        self._surface: TerminalSurface | None = None
        self._view: Any = open_view(self._console, plain=plain or as_json)
        if as_json and not sys.stderr.isatty():
            self._view = None

    def surface(self, format_name: str, seats: frozenset[str], drafts: Path) -> TerminalSurface:
        """A surface that asks the people in ``seats``. From now on the screen shows only what all of them may see."""
        from disputatio._terminal.seat import open_surface
        from disputatio._terminal.visibility import Visibility

        if self._view is not None:
            self._view.restrict(Visibility(format_name, seats))
        self._surface = open_surface(self._console, drafts, plain=self._plain, errors=self._as_json, view=self._view)
        return self._surface

    def sibling(self) -> Screen:
        """A screen of the same kind, for a debate that follows this one."""
        return Screen(as_json=self._as_json, plain=self._plain)

    def runtime(self, store: Store) -> Runtime:
        """What a debate runs in that this screen shows."""
        from disputatio.engine.runtime import Runtime
        from disputatio.telemetry.tracing import add_tracing

        return Runtime(store, observer=add_tracing(self), streams=self.streams, client_factory=self.client_factory)

    @property
    def streams(self) -> bool:
        """Whether models should stream: only if the output can be expected while it is written."""
        return self._view is not None and self._console.is_terminal

    def on_event(self, event: Event, sealed: Sealed) -> None:
        """Show an event of the record."""
        self._begun = sealed.debate
        self._show(lambda: self._view.on_event(event, sealed))

    def on_text(self, path: str, part: str, text: str) -> None:
        """Show output of a model."""
        self._show(lambda: self._view.on_text(path, part, text))

    def client_factory(self, seating: ModelSeating, api_key: str | None) -> ModelClient:
        """Make the client of a model, and show its preparations."""
        from disputatio.participants.shared_clients import open_client

        return open_client(seating, api_key, on_progress=self._progress)

    def _progress(self, message: str) -> None:
        self._show(lambda: self._view.note(message))

    def opened(self, debate_id: str, record: Sequence[Sealed] = ()) -> None:
        """The debate has a record now. ``record`` has the earlier events of a resumed debate."""
        self._id = debate_id
        self._show(lambda: self._view.opened(debate_id, record))

    def _show(self, draw: Callable[[], None]) -> None:
        """Draw unless the output is lost. If it gets lost, stop the debate.

        The engine must not see the error: it would take it for an error of the debate.
        """
        if self._view is None or self._lost is not None:
            return
        try:
            draw()
        except (OSError, SystemExit) as error:
            self._lost = error
            self.on_lost_output()

    @asynccontextmanager
    async def showing(self) -> AsyncIterator[None]:
        """Show the debate while the block runs. If the store fails, say how to continue."""
        self._show(lambda: self._view.__enter__())  # noqa: PLW0108  (the view may be None)
        try:
            yield
        except StoreError as error:
            if self._id is None:
                raise
            then = f"To continue: disputatio resume {self._id}"
            raise StoreError(error.cause, f"{error.next_step}\n{then}") from None
        except DisputatioError:
            raise
        except Exception:
            if self._id is not None:
                tell(f"The debate was stopped. To continue: disputatio resume {self._id}")
            raise
        finally:
            if self._view is not None:
                # The terminal may be gone, but the view must release its resources.
                with suppress(OSError, SystemExit):
                    self._view.__exit__(None, None, None)

    def say_stopped(self) -> None:
        """Print that the debate was stopped, and how to continue."""
        from disputatio._terminal import print_interrupted

        if self._lost is not None:
            why = (
                "its reader closed the pipe"
                if is_pipe_closed(self._lost)
                else f"it cannot be written ({getattr(self._lost, 'strerror', None) or self._lost})"
            )
            drop_output()
            tell(f"The debate was stopped because its output is lost: {why}.")
        begun = self._id or self._begun
        if begun is None:
            tell("Stopped before the debate began. Nothing was recorded or spent.")
            return
        with suppress(OSError):
            print_interrupted(console(stderr=True), begun)

    def result(self, store: Store, debate_id: str) -> ExitCode:
        """Print the result of the debate, and return the exit code."""
        from disputatio.debates import read_debate

        debate = read_debate(store, debate_id)
        report = debate.report()
        if self._surface is not None:
            self._surface.clear_drafts(debate_id)
        try:
            if self._as_json:
                print_json(debate.as_json())
            else:
                from disputatio._terminal import print_result

                print_result(self._console, report, _address_to_name(store))
            sys.stdout.flush()
        except OSError as error:
            if is_pipe_closed(error):
                raise
            raise InvalidInputError(
                f"The result cannot be written: {(error.strerror or 'unknown cause').lower()}.",
                f"It is recorded: disputatio show {debate_id}",
            ) from None
        self._note_incomplete(report, debate.exit_code)
        return debate.exit_code

    def _note_incomplete(self, report: DebateReport, code: ExitCode) -> None:
        """Print on standard error what a result lacks, if the result itself does not go to the terminal."""
        from disputatio.report.headings import heading

        if code is not ExitCode.COMPLETE and (self._as_json or not sys.stdout.isatty()):
            head = heading(report)
            tell(head.text, head.next_step)


def _address_to_name(store: Store) -> str:
    """The address that commands must name to find ``store``; empty if they find it without."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    from disputatio._cli.arguments import make_arguments
    from disputatio.config.process import configured_store

    address = str(getattr(store, "address", ""))
    try:
        usual = make_url(configured_store(make_arguments()).store).render_as_string(hide_password=True)
    except (DisputatioError, ArgumentError):
        return address
    return "" if usual == address else address


def print_wrapped(lines: Sequence[str], hang: int) -> None:
    """Print lines, wrapped to the terminal; continuation lines are indented by ``hang``.

    Without a terminal every line stays whole, so that it can be searched.
    """
    width = max(terminal_width(), 20)
    if sys.stdout.isatty():
        lines = [part for line in lines for part in _wrap(line, width, min(hang, width // 4))]
    print_lines("\n".join(lines))


def _wrap(line: str, width: int, hang: int) -> list[str]:
    from textwrap import wrap

    from disputatio.report.columns import columns
    from disputatio.report.text_spans import flow, plain, span

    if columns(line) <= width:
        return [line]
    if line.isascii():
        # This keeps the blanks between the columns of a table.
        return wrap(line, width, subsequent_indent=" " * hang)
    return [plain(row) for row in flow([span(line)], width, hang=hang)]


def print_list(rows: Sequence[DebateRow]) -> None:
    """Print the debates of a store."""
    if not rows:
        print_lines('No debates yet. Start one: disputatio debate "We should adopt microservices"')
        return
    if not sys.stdout.isatty():
        columns = ((row.id, f"{row.opened_at[:19]}Z", row.format, row.status, _describe_motion(row)) for row in rows)
        print_lines("\n".join("\t".join(map(one_line, cells)) for cells in columns))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("id", "begun (UTC)", "format", "status"):
        table.add_column(name, no_wrap=True)
    table.add_column("motion", overflow="ellipsis", no_wrap=True, ratio=1)
    for row in rows:
        begun = row.opened_at[:16].replace("T", " ")
        table.add_row(
            *(Text(one_line(cell)) for cell in (row.id, begun, row.format, row.status, _describe_motion(row)))
        )
    console().print(table)


def _describe_motion(row: DebateRow) -> str:
    """The motion of a debate in a list; for a fork it names the parent too."""
    return f"(fork of {row.parent}) {row.motion}" if row.parent else row.motion


def print_preview(proposal: Proposal, estimate: Estimate) -> None:
    """Print the expected calls, tokens and cost of a debate."""
    from disputatio.engine.review_setup import default_budget
    from disputatio.ledger.prices import PriceBook
    from disputatio.report.amounts import counted, spoken

    expected = estimate.expected
    lines = [f"Motion  {proposal.motion.text}", f"Format  {proposal.format.name}", ""]
    wide = max(8, *(len(row.seat) for row in expected.seats)) if expected.seats else 8
    reasons = expected.reasoning_tokens > 0  # a part of the output
    heading = f"{'reasoning':>10} " if reasons else ""
    lines.append(f"{'seat':{wide}} {'calls':>6} {'input':>9} {'output':>8} {heading}{'USD':>10}  model")
    for row in expected.seats:
        cost = "unknown" if row.usd is None else f"{row.usd:.4f}"
        lines.append(
            f"{row.seat:{wide}} {row.calls:6d} {row.input_tokens:9,d} {row.output_tokens:8,d} "
            f"{f'{row.reasoning_tokens:10,d} ' if reasons else ''}{cost:>10}  {row.model}"
        )
    total = "unknown" if expected.usd is None else f"{expected.usd:.4f}"
    lines.append(
        f"{'all':{wide}} {expected.calls:6d} {expected.input_tokens:9,d} {expected.output_tokens:8,d} "
        f"{f'{expected.reasoning_tokens:10,d} ' if reasons else ''}{total:>10}"
    )
    lines += ["", *_describe_range(expected, estimate.least, estimate.most), estimate.assumed, *estimate.modes]
    if estimate.ends:
        ends = [f"{spoken(row.phase)} {counted(row.calls, 'call')}, {row.tokens:,} tokens" for row in estimate.ends]
        lines.append(f"It may be over sooner. By the end of: {'; '.join(ends)}.")
    if any(row.seat in proposal.settings.tools for row in expected.seats):
        lines.append("Tools are counted at their most: all rounds of all seats, with results of half their limit.")
    settings = proposal.settings
    budget = default_budget(proposal.format, settings.seats.values(), settings.budget, PriceBook())
    ceilings = (
        (expected.usd, budget.usd, "USD"),
        (expected.input_tokens + expected.output_tokens, budget.tokens, "tokens"),
        (expected.calls, budget.calls, "calls"),
    )
    for amount, ceiling, unit in ceilings:
        if amount is not None and ceiling is not None and amount > ceiling:
            lines.append(f"This is over the ceiling of {ceiling:,} {unit}: the debate would be truncated.")
    print_wrapped(lines, 8)


def _describe_range(expected: Preview, least: Preview, most: Preview) -> list[str]:
    known = f"{expected.input_tokens - expected.said_tokens:,} of {expected.input_tokens:,} input tokens"
    counted = f"Known: {known} are rules, motion, evidence and schemas, as they would be sent."
    short, long = "if answers are short and soon agree", "if they are long and all rounds are run"
    return [
        f"{counted} The rest of the input, and all output, is what seats say.",
        f"Range: {_spent(least)} {short}; {_spent(most)} {long}. Rejected answers come on top.",
    ]


def _spent(expected: Preview) -> str:
    from disputatio.report.amounts import counted

    usd = "" if expected.usd is None else f", {expected.usd:.4f} USD"
    return f"{counted(expected.calls, 'call')}, {expected.tokens:,} tokens{usd}"


_MARKS = {"fine": "ok", "absent": "-", "problem": "!!"}


def print_doctor(findings: Sequence[Finding], answers: Mapping[str, Mapping[str, str]]) -> None:
    """Print the findings of ``doctor``."""
    area = ""
    lines: list[str] = []
    for row in findings:
        if row.area != area:
            area = row.area
            lines += ["", area.capitalize()] if lines else [area.capitalize()]
        lines.append(f"  {_MARKS[row.state.value]:2}  {row.subject}: {one_line(row.detail)}")
        if row.next_step:
            lines.append(f"      {row.next_step}")
    if answers:
        lines += ["", "Answers"]
    for seat, answer in answers.items():
        lines.append(f"  {_MARKS[answer['state']]:2}  {seat} ({answer['model']}): {one_line(answer['detail'])}")
    print_wrapped(lines, 6)


def print_models(rows: Sequence[Mapping[str, str]]) -> None:
    """Print the providers."""
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in ("provider", "default_model", "key")}
    lines = [f"{'provider':{widths['provider']}}  {'default model':{widths['default_model']}}  key"]
    lines += [
        f"{row['provider']:{widths['provider']}}  {row['default_model'] or '(name one)':{widths['default_model']}}  "
        f"{row['key']:{widths['key']}}  {row['install']}".rstrip()
        for row in rows
    ]
    lines += ["", "Seat one with --seat all=PROVIDER:MODEL. Prices: disputatio models PROVIDER"]
    print_wrapped(lines, 20)


def print_local_models(rows: Sequence[Mapping[str, Any]], memory: int | None) -> None:
    """Print the embedded models that can be fetched by name; ``memory`` is that of this machine in bytes."""
    width = max((len(row["name"]) for row in rows), default=5)
    lines = [f"{'model':{width}}  {'file':>7}  {'memory':>7}  {'asked':9}  {'here':4}  licence"]
    for row in rows:
        fits = "" if row["fits"] is not False else "; does not fit this machine"
        lines.append(
            f"{row['name']:{width}}  {_gigabytes(row['size_bytes']):>7}  {_gigabytes(row['memory_bytes']):>7}  "
            f"{'piecewise' if row['piecewise'] else 'at once':9}  {'yes' if row['path'] else 'no':4}  "
            f"{row['licence']}{fits}"
        )
    has = "" if memory is None else f" This machine has {_gigabytes(memory)} of memory."
    lines += ["", f"Seat one with --seat all=embedded:MODEL. It is fetched once.{has}"]
    print_lines("\n".join(lines))


def _gigabytes(number: int) -> str:
    return f"{number / 1e9:.1f} GB"


def print_priced_models(provider: str, rows: Sequence[Mapping[str, str]]) -> None:
    """Print the models of one provider."""
    if not rows:
        print_lines(f"No price table lists the models of {provider}. Name one: --seat all={provider}:MODEL.")
        return
    width = max(len(row["model"]) for row in rows)
    lines = [f"{'model':{width}}  {'input':>8}  {'output':>8}   USD per million tokens"]
    lines += [f"{row['model']:{width}}  {row['input'] or '?':>8}  {row['output'] or '?':>8}" for row in rows]
    print_lines("\n".join(lines))
