"""``disputatio worker``, ``enqueue``, ``queue``, ``cancel`` and ``limits``: run debates on many machines."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.options import StoreOption
from disputatio._cli.stores import open_store, store_address
from disputatio._cli.streams import print_json, print_lines
from disputatio.errors import InvalidInputError

if TYPE_CHECKING:
    from disputatio.engine.ports import Observer
    from disputatio.workers.port import Job
    from disputatio.workers.worker import Worker

_QUEUE = "debates"
_REQUEST = "Debate"
_QUEUEING = "Queue"
JsonOption = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")]


def worker(
    queue: Annotated[
        list[str] | None,
        typer.Option(
            "--queue", "-q", metavar="NAME", help="Run the debates of this queue. Repeatable. The default is debates."
        ),
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
            help="Seconds that debates may continue after SIGTERM. Then other workers take them.",
        ),
    ] = 30.0,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics", metavar="[HOST:]PORT", help="Serve metrics for Prometheus at this address, under /metrics."
        ),
    ] = None,
    batch: Annotated[
        bool,
        typer.Option(
            "--batch",
            metavar="",
            help="Use the batch APIs of OpenAI, Anthropic and Google: half the price, up to a day.",
        ),
    ] = False,
    store: StoreOption = None,
) -> None:
    """Run the debates that wait in a PostgreSQL store, together with other workers, until stopped.

    If a worker dies, other workers take over its debates within 15 seconds. Keys come from the environment.
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
    opened = SqlStore(store_address(store))
    raise_file_limit()

    async def work(observer: Observer) -> None:
        async with aclosing(opened):
            queues = tuple(dict.fromkeys(queue or [_QUEUE]))
            worker = Worker(
                opened, queues=queues, concurrency=concurrency, drain_seconds=drain, observer=observer, batch=batch
            )
            _stop_on_signals(worker)
            tune_gc()
            names = ", ".join(queues)
            sys.stderr.write(f"Working on {names} of {opened.place}, up to {concurrency} at once. Ctrl-C stops it.\n")
            await worker.run()

    with serve_metrics(place, opened, concurrency) if place else nullcontext(NullObserver()) as counting:
        asyncio.run(work(add_tracing(counting)))


def _stop_on_signals(worker: Worker) -> None:
    """Stop the worker with the usual signals, and say what it waits for."""

    def stop() -> None:
        running = len(worker.holds)
        debates = f"{running} debate{'s' if running > 1 else ''}"
        waits = f"{debates} may finish first. A second signal returns them to the queue now."
        sys.stderr.write(f"Stopping. {waits if running else ''}".rstrip() + "\n")
        worker.stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


def enqueue(
    motion: Annotated[str, typer.Argument(metavar="MOTION", help="The question or proposition.")] = "",
    format_name: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="NAME", help="The name of the format.", rich_help_panel=_REQUEST),
    ] = None,
    seat: Annotated[
        list[str] | None,
        typer.Option(
            "--seat",
            metavar="SEAT=PROVIDER:MODEL",
            help="Who sits where. The default is the worker's configuration.",
            rich_help_panel=_REQUEST,
        ),
    ] = None,
    evidence: Annotated[
        list[Path] | None,
        typer.Option(
            "--evidence",
            "-e",
            metavar="PATH",
            help="A source that seats may cite: a text, Markdown, HTML, PDF or JSON file.",
            rich_help_panel=_REQUEST,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the debate.", rich_help_panel=_REQUEST),
    ] = None,
    budget_usd: Annotated[
        str | None, typer.Option("--budget-usd", metavar="X", help="Ceiling in US dollars.", rich_help_panel=_REQUEST)
    ] = None,
    budget_tokens: Annotated[
        int | None, typer.Option("--budget-tokens", metavar="N", help="Ceiling in tokens.", rich_help_panel=_REQUEST)
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", metavar="N", help="Ceiling in calls.", rich_help_panel=_REQUEST)
    ] = None,
    order: Annotated[
        Path | None,
        typer.Option(
            "--order",
            metavar="FILE",
            help="The whole request as JSON, as the HTTP API takes it.",
            rich_help_panel=_REQUEST,
        ),
    ] = None,
    queue: Annotated[
        str,
        typer.Option(
            "--queue", "-q", metavar="NAME", help="The queue whose workers run it.", rich_help_panel=_QUEUEING
        ),
    ] = _QUEUE,
    priority: Annotated[
        int,
        typer.Option(
            "--priority",
            min=-1000,
            max=1000,
            metavar="N",
            help="Debates of a higher priority run first.",
            rich_help_panel=_QUEUEING,
        ),
    ] = 0,
    most_waiting: Annotated[
        int,
        typer.Option(
            "--most-waiting",
            min=1,
            metavar="N",
            help="Refuse if N debates wait in the queue already.",
            rich_help_panel=_QUEUEING,
        ),
    ] = 1_000,
    json_: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Queue a debate for the workers of a PostgreSQL store, and print its id."""
    from disputatio.engine.runtime import new_id
    from disputatio.evidence.source_files import read_sources
    from disputatio.proposals import read_request
    from disputatio.record.sql import SqlStore
    from disputatio.workers.queue_runner import QueueRunner

    body: dict[str, Any] = _read_json_object(order) if order else {}
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
    request = read_request(
        {**body, **{name: value for name, value in given.items() if value}}, sources=read_sources(evidence or ())
    )
    debate = new_id()

    async def submit() -> None:
        async with aclosing(SqlStore(store_address(store))) as opened:
            runner = QueueRunner(opened, most_waiting=most_waiting)
            await runner.submit(debate, request, priority=priority, queue=_check_queue_name(queue))

    asyncio.run(submit())
    if json_:
        print_json({"id": debate, "queue": queue, "priority": priority})
    else:
        print_lines(debate)


def list_queue(
    everything: Annotated[bool, typer.Option("--all", metavar="", help="Also show those that are over.")] = False,
    json_: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show the debates that wait or run, in the order in which workers take them."""
    from disputatio.workers.job_table import JobTable

    with open_store(store_address(store)) as opened:
        jobs = JobTable(opened).jobs(unfinished=not everything)
        results = {row.id: row.status for row in opened.debates()} if everything else {}
    if json_:
        print_json([_job_json(row, results) for row in jobs])
        return
    if not jobs:
        print_lines("No debate waits or runs." if not everything else "No debate was ever queued.")
        return
    heads = ("DEBATE", "STATE", "QUEUE", "PRIORITY", "ASKED AT (UTC)", *(("RESULT",) if everything else ()))
    print_lines(_table(heads, [(*_row(row), *([results.get(row.debate, "")] if everything else [])) for row in jobs]))
    for row in jobs:
        if row.reason:
            print_lines(f"{row.debate}: {row.reason} {row.next_step}".rstrip())


def cancel(
    debate_id: Annotated[str, typer.Argument(metavar="ID", help="The debate's whole id.")], store: StoreOption = None
) -> None:
    """Stop a debate that waits or runs on a worker. Its record so far stays."""
    from disputatio.workers.job_table import JobTable

    with open_store(store_address(store)) as opened:
        job_table = JobTable(opened)
        cancels, job = job_table.cancel(debate_id), job_table.job(debate_id)
    if job is None:
        raise InvalidInputError(
            f"No debate {debate_id[:40]!r} was queued in this store.",
            "`disputatio queue --all` shows those that were.",
        )
    if not cancels:
        print_lines(f"{debate_id} is over already ({job.state.value}).")
    elif job.state.is_over:
        print_lines(f"{debate_id} is cancelled; it had not begun.")
    else:
        print_lines(f"The worker that runs {debate_id} is stopping it.")


def limits(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A provider, or PROVIDER:MODEL. Without it all limits are shown."),
    ] = None,
    at_once: Annotated[
        int | None, typer.Option("--at-once", min=1, metavar="N", help="Most calls at once, over all workers.")
    ] = None,
    per_minute: Annotated[
        int | None, typer.Option("--per-minute", min=1, metavar="N", help="Most calls a minute, over all workers.")
    ] = None,
    none: Annotated[bool, typer.Option("--none", metavar="", help="Remove the limit.")] = False,
    json_: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show or set how many calls all workers together may make to a provider."""
    from disputatio.workers.limits import list_limits, set_limit

    if name is not None:
        _check_limit(name, at_once, per_minute, none=none)
    elif at_once is not None or per_minute is not None or none:
        raise InvalidInputError(
            "A limit is given without a provider.", "Name one: disputatio limits openai --at-once 20"
        )
    with open_store(store_address(store)) as opened:
        if name is not None:
            set_limit(opened, name, at_once, per_minute)
        rows = list_limits(opened)
    if json_:
        print_json([asdict(row) for row in rows])
        return
    if not rows:
        print_lines("There are no limits: every worker calls as often as its debates need.")
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
            "A limit needs --at-once or --per-minute, or --none to remove it.",
            f"For example: disputatio limits {provider} --at-once 20",
        )


def _read_json_object(path: Path) -> dict[str, Any]:
    try:
        body = json.loads(_read_text(path))
    except ValueError as error:
        raise InvalidInputError(
            f"{path} is not JSON: {error}.", "Write the request as the HTTP API takes it."
        ) from None
    if not isinstance(body, dict):
        raise InvalidInputError(f"{path} is not a JSON object.", "Write the request as the HTTP API takes it.")
    return body


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InvalidInputError(f"{path} cannot be read: {reason.lower()}.", "Give a text file.") from None


def _pairs(option: str, entries: Sequence[str] | None) -> dict[str, str]:
    pairs = {}
    for entry in entries or ():
        name, sign, value = entry.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InvalidInputError(f"{option} {entry[:60]!r} has no name or no value.", f"Write {option} NAME=VALUE.")
        pairs[name.strip()] = value.strip()
    return pairs


def _check_queue_name(queue: str) -> str:
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
