"""``disputatio worker``, ``enqueue``, ``queue``, ``cancel`` and ``limits``: many machines over one PostgreSQL."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.given import kept_store
from disputatio._cli.options import StoreOption
from disputatio._cli.streams import print_json, print_lines
from disputatio.errors import InvalidInputError

if TYPE_CHECKING:
    from disputatio.engine.ports import Observer
    from disputatio.workers.port import Job
    from disputatio.workers.worker import Worker

_QUEUE = "debates"
_ORDER = "The debate"
_WAY = "Its way to a worker"
JsonOption = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")]


def worker(
    queue: Annotated[
        list[str] | None,
        typer.Option("--queue", "-q", metavar="NAME", help="Whose debates it takes; repeatable. Else: debates."),
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", "-c", min=1, max=10_000, metavar="N", help="Most debates at once.")
    ] = 20,
    drain: Annotated[
        float,
        typer.Option(
            "--drain",
            min=0,
            metavar="S",
            help="Seconds that debates may go on for after SIGTERM, before others take them.",
        ),
    ] = 30.0,
    metrics: Annotated[
        str | None,
        typer.Option("--metrics", metavar="[HOST:]PORT", help="Serve metrics for Prometheus there, at /metrics."),
    ] = None,
    batch: Annotated[
        bool,
        typer.Option(
            "--batch",
            metavar="",
            help="Use the batch interfaces of OpenAI, Anthropic and Google: half price, up to a day.",
        ),
    ] = False,
    store: StoreOption = None,
) -> None:
    """Run the debates that wait in a PostgreSQL store, beside other workers, until stopped.

    Debates of a worker that dies are taken over by the others within 15 seconds. Keys are taken from the environment.
    """
    from disputatio.engine.ports import NullObserver
    from disputatio.engine.process_tuning import raise_file_limit, tune_gc
    from disputatio.record.sql import SqlStore
    from disputatio.telemetry.tracing import add_tracing
    from disputatio.workers.metrics import parse_place, serve_metrics
    from disputatio.workers.worker import QueueReports, Worker

    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    logging.getLogger("disputatio").setLevel(logging.INFO)
    queue_log = logging.getLogger("procrastinate")
    queue_log.addHandler(QueueReports())
    queue_log.propagate = False
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    place = parse_place(metrics) if metrics else None
    opened = SqlStore(kept_store(store))
    raise_file_limit()

    async def work(observer: Observer) -> None:
        try:
            queues = tuple(dict.fromkeys(queue or [_QUEUE]))
            held = Worker(
                opened, queues=queues, concurrency=concurrency, drain_seconds=drain, observer=observer, batch=batch
            )
            _listen(held)
            tune_gc()
            place = opened.place
            sys.stderr.write(
                f"Working on {', '.join(queues)} of {place}, up to {concurrency} debates at once. Ctrl-C ends it.\n"
            )
            await held.run()
        finally:
            await opened.aclose()

    with serve_metrics(place, opened, concurrency) if place else nullcontext(NullObserver()) as counting:
        asyncio.run(work(add_tracing(counting)))


def _listen(held: Worker) -> None:
    """End with the usual signals; say what happens meanwhile."""

    def stop() -> None:
        running = len(held.holds)
        waits = f"{running} debate{'s' if running > 1 else ''} may end first; once more puts them back now."
        sys.stderr.write(f"Stopping. {waits if running else ''}".rstrip() + "\n")
        held.stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


def enqueue(
    motion: Annotated[str, typer.Argument(metavar="MOTION", help="The question or proposition.")] = "",
    format_name: Annotated[
        str | None, typer.Option("--format", "-f", metavar="NAME", help="The format.", rich_help_panel=_ORDER)
    ] = None,
    seat: Annotated[
        list[str] | None,
        typer.Option(
            "--seat",
            metavar="SEAT=PROVIDER:MODEL",
            help="Who sits where; else as the worker is configured.",
            rich_help_panel=_ORDER,
        ),
    ] = None,
    evidence: Annotated[
        list[Path] | None,
        typer.Option(
            "--evidence",
            "-e",
            metavar="PATH",
            help="A text, Markdown, HTML, PDF or JSON source.",
            rich_help_panel=_ORDER,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the debate.", rich_help_panel=_ORDER),
    ] = None,
    budget_usd: Annotated[
        str | None, typer.Option("--budget-usd", metavar="X", help="Ceiling in US dollars.", rich_help_panel=_ORDER)
    ] = None,
    budget_tokens: Annotated[
        int | None, typer.Option("--budget-tokens", metavar="N", help="Ceiling in tokens.", rich_help_panel=_ORDER)
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", metavar="N", help="Ceiling in calls.", rich_help_panel=_ORDER)
    ] = None,
    order: Annotated[
        Path | None,
        typer.Option(
            "--order", metavar="FILE", help="The whole order as JSON, as the API takes it.", rich_help_panel=_ORDER
        ),
    ] = None,
    queue: Annotated[
        str, typer.Option("--queue", "-q", metavar="NAME", help="Which workers take it.", rich_help_panel=_WAY)
    ] = _QUEUE,
    priority: Annotated[
        int,
        typer.Option(
            "--priority", min=-1000, max=1000, metavar="N", help="Higher is taken first.", rich_help_panel=_WAY
        ),
    ] = 0,
    most_waiting: Annotated[
        int,
        typer.Option(
            "--most-waiting", min=1, metavar="N", help="Refuse where so many wait in the queue.", rich_help_panel=_WAY
        ),
    ] = 1_000,
    json_: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Leave a debate for the workers of a PostgreSQL store, and print its id."""
    from disputatio.engine.runtime import new_id
    from disputatio.evidence.source_files import read_sources
    from disputatio.proposals import read_request
    from disputatio.workers.queue_runner import QueueRunner

    body: dict[str, Any] = _read_file(order) if order else {}
    given = {
        "motion": motion or None,
        "format": format_name,
        "seats": _pairs("--seat", seat),
        "settings": _pairs("--set", set_),
        "budget_usd": budget_usd,
        "budget_tokens": budget_tokens,
        "max_calls": max_calls,
    }
    if evidence:
        body.pop("evidence", None)
    kept = read_request(
        {**body, **{name: value for name, value in given.items() if value}}, sources=read_sources(evidence or ())
    )
    debate = new_id()

    async def leave() -> None:
        from disputatio.record.sql import SqlStore

        opened = SqlStore(kept_store(store))
        try:
            runner = QueueRunner(opened, most_waiting=most_waiting)
            await runner.submit(debate, kept, priority=priority, queue=_name(queue))
        finally:
            await opened.aclose()

    asyncio.run(leave())
    if json_:
        print_json({"id": debate, "queue": queue, "priority": priority})
    else:
        print_lines(debate)


def list_queue(
    everything: Annotated[bool, typer.Option("--all", metavar="", help="Those that are over too.")] = False,
    json_: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show the debates that wait or run, in the order in which they are taken."""
    from disputatio._cli.kept import reading
    from disputatio.workers.job_table import JobTable

    with reading(kept_store(store)) as opened:
        jobs = JobTable(opened).jobs(unfinished=not everything)
        results = {row.id: row.status for row in opened.debates()} if everything else {}
    if json_:
        print_json([_job_json(row, results) for row in jobs])
        return
    if not jobs:
        print_lines("Nothing waits and nothing runs." if not everything else "Nothing was ever ordered.")
        return
    heads = ("DEBATE", "STATE", "QUEUE", "PRIORITY", "ASKED AT (UTC)", *(("RESULT",) if everything else ()))
    print_lines(_table(heads, [(*_row(row), *([results.get(row.debate, "")] if everything else [])) for row in jobs]))
    for row in jobs:
        if row.reason:
            print_lines(f"{row.debate}: {row.reason} {row.next_step}".rstrip())


def cancel(
    debate_id: Annotated[str, typer.Argument(metavar="ID", help="The debate's whole id.")], store: StoreOption = None
) -> None:
    """Stop a debate that waits or runs on a worker. What was said stays in its record."""
    from disputatio._cli.kept import reading
    from disputatio.workers.job_table import JobTable

    with reading(kept_store(store)) as opened:
        job_table = JobTable(opened)
        asked, job = job_table.cancel(debate_id), job_table.job(debate_id)
    if job is None:
        raise InvalidInputError(
            f"No debate {debate_id[:40]!r} was ordered in this store.",
            "`disputatio queue --all` shows those that were.",
        )
    if not asked:
        print_lines(f"{debate_id} is over already ({job.state.value}).")
    elif job.state.is_over:
        print_lines(f"{debate_id} is cancelled; it had not begun.")
    else:
        print_lines(f"{debate_id} is being stopped by the worker that holds it.")


def limits(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A provider, or PROVIDER:MODEL. Shows all where not given.")
    ] = None,
    at_once: Annotated[
        int | None, typer.Option("--at-once", min=1, metavar="N", help="Most calls under way, over all workers.")
    ] = None,
    per_minute: Annotated[
        int | None, typer.Option("--per-minute", min=1, metavar="N", help="Most calls a minute, over all workers.")
    ] = None,
    none: Annotated[bool, typer.Option("--none", metavar="", help="Remove the limit.")] = False,
    json_: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show or set how many calls all workers together may make to a provider."""
    from disputatio._cli.kept import reading
    from disputatio.workers.limits import list_limits, set_limit

    if name is not None:
        _check_limit(name, at_once, per_minute, none=none)
    elif at_once is not None or per_minute is not None or none:
        raise InvalidInputError("No provider is named whose limit that is.", "disputatio limits openai --at-once 20")
    with reading(kept_store(store)) as opened:
        if name is not None:
            set_limit(opened, name, at_once, per_minute)
        rows = list_limits(opened)
    if json_:
        print_json(
            [
                {
                    "name": row.name,
                    "at_once": row.at_once,
                    "per_minute": row.per_minute,
                    "under_way": row.under_way,
                    "waiting": row.waiting,
                }
                for row in rows
            ]
        )
        return
    if not rows:
        print_lines("No limits: every worker calls as often as its debates ask.")
        return
    cells = [
        (row.name, str(row.at_once or "-"), str(row.per_minute or "-"), str(row.under_way), str(row.waiting))
        for row in rows
    ]
    print_lines(_table(("PROVIDER", "AT ONCE", "PER MINUTE", "UNDER WAY", "WAITING"), cells))


def _check_limit(name: str, at_once: int | None, per_minute: int | None, *, none: bool) -> None:
    from disputatio.errors.quoting import did_you_mean, quote
    from disputatio.participants.providers import PROVIDERS

    provider = name.partition(":")[0]
    if provider not in PROVIDERS:
        raise InvalidInputError(
            f"There is no provider called {quote(provider)}.",
            f"{did_you_mean(provider, PROVIDERS)}`disputatio models` shows all.",
        )
    if none == (at_once is not None or per_minute is not None):
        raise InvalidInputError(
            "A limit is set by --at-once or --per-minute, or removed by --none.",
            f"disputatio limits {provider} --at-once 20",
        )


def _read_file(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(_text(path))
    except ValueError as error:
        raise InvalidInputError(f"{path} is no JSON: {error}.", "Write the order as the API takes it.") from None
    if not isinstance(found, dict):
        raise InvalidInputError(f"{path} holds no JSON object.", "Write the order as the API takes it.")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise InvalidInputError(f"{path} cannot be read: {reason.lower()}.", "Give a file of text.") from None


def _pairs(option: str, entries: Sequence[str] | None) -> dict[str, str]:
    found = {}
    for entry in entries or ():
        name, sign, value = entry.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InvalidInputError(f"{option} {entry[:60]!r} has no name or no value.", f"Write {option} NAME=VALUE.")
        found[name.strip()] = value.strip()
    return found


def _name(queue: str) -> str:
    if not queue or len(queue) > 60 or not queue.replace("-", "").replace("_", "").isalnum():
        raise InvalidInputError(
            f"{queue[:60]!r} cannot be the name of a queue.", "Use up to 60 letters, digits, hyphens and underscores."
        )
    return queue


def _job_json(row: Job, results: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": row.debate,
        "state": row.state.value,
        "queue": row.queue,
        "priority": row.priority,
        "asked_at": row.asked_at,
        "result": results.get(row.debate),
        "reason": row.reason,
        "next_step": row.next_step,
    }


def _row(job: Job) -> tuple[str, ...]:
    return (job.debate, job.state.value, job.queue, str(job.priority), job.asked_at[:19].replace("T", " "))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[place]) for row in (heads, *rows)) for place in range(len(heads))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (heads, *rows)
    )
