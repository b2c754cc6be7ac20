"""Debates on many questions over a fake provider, in batches or singly, here or in processes that are killed.

Run as a program it reads an order a line and forks a process for each, so that starting one costs no imports.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, resolve
from disputatio.config.process import format_scope
from disputatio.engine.opening import Proposal
from disputatio.evaluation.experiment import Experiment, ExperimentResult, Trial
from disputatio.formats.registry import find_format
from disputatio.ledger.budget import UNLIMITED, Budget
from disputatio.motion import Motion
from disputatio.participants.batch.api import Limits
from disputatio.participants.batch.collector import BatchCollector
from disputatio.participants.shared_clients import open_client
from disputatio.record.batches import SqlBatchBook
from disputatio.record.history import semantic_content
from disputatio.record.sql import SqlStore
from disputatio.record.text import canonical
from disputatio.testing.leaping import LeapingClock

MODELS = {"openai": "gpt-4.1-mini", "anthropic": "claude-sonnet-5-5", "google": "gemini-3.8-flash"}
_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY"}


@dataclass(frozen=True, slots=True)
class Order:
    """One run: which provider at which address, the file of the store, how many questions.

    ``ceiling`` is in dollars; ``most`` the most requests of one batch.
    """

    provider: str
    root: str
    store: str
    questions: int
    batch: bool = True
    ceiling: str = ""
    most: int = 50_000
    size: int = 64 << 20
    format_name: str = "structured"
    quiet_s: float = 0.02

    @property
    def base_url(self) -> str:
        return f"{self.root}/v1" if self.provider == "openai" else self.root


def settings_of(order: Order, form_name: str) -> Settings:
    form = find_format(form_name)
    return resolve(
        format_name=form.name,
        seats=tuple(form.seats),
        environ={_KEYS[order.provider]: "key"},
        directory=Path("/nonexistent"),
        arguments=make_arguments(
            seat=(f"all={order.provider}:{MODELS[order.provider]}",), base_url=order.base_url, seed=1
        ),
        options=format_scope(form),
    )


def trials_of(order: Order) -> list[Trial]:
    """A debate on each question."""
    settings, form = settings_of(order, order.format_name), find_format(order.format_name)
    motions = [Motion(f"Number {place} should be preferred to its successor.") for place in range(order.questions)]
    return [Trial(f"q{place}", Proposal(motion, form, settings)) for place, motion in enumerate(motions)]


async def run(order: Order) -> ExperimentResult:
    """Run everything, or what is left of it."""
    store, clock = SqlStore(f"sqlite:///{order.store}"), LeapingClock(order.root)
    batches = None
    if order.batch:
        await clock.sleep(0)
        batches = BatchCollector(
            SqlBatchBook(store),
            open_client,
            clock=clock,
            quiet_s=order.quiet_s,
            linger_s=2.0,
            limits=Limits(order.most, order.size),
        )
    budget = Budget(usd=Decimal(order.ceiling)) if order.ceiling else UNLIMITED
    try:
        at_once = 1_000 if order.batch else 50
        experiment = Experiment(store, open_client, budget=budget, concurrency=at_once, batches=batches)
        return await experiment.run(trials_of(order))
    finally:
        if batches is not None:
            await batches.aclose()
        await clock.aclose()
        await store.aclose()


def meanings(store: str, root: str) -> dict[str, str]:
    """What each debate in a store said and decided, by its motion, whatever port the provider had."""
    opened = SqlStore(f"sqlite:///{store}")
    try:
        found = {}
        for row in opened.debates():
            said = canonical(semantic_content(sealed.event() for sealed in opened.read(row.id)))
            found[row.motion] = said.replace(root, "http://provider")
        return found
    finally:
        asyncio.run(opened.aclose())


class Zygote:
    """A process that has imported everything, and forks one that runs an order."""

    def __init__(self) -> None:
        program = [sys.executable, __file__]
        self._process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._line()

    def start(self, order: Order) -> int:
        """Start a run; its process id."""
        assert self._process.stdin
        fields = {name: getattr(order, name) for name in Order.__slots__}
        self._process.stdin.write(json.dumps(fields) + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def wait(self, seconds: float) -> None:
        """Wait for the run to end, so many seconds at most."""
        select.select([self._process.stdout], [], [], seconds)

    def ended(self) -> int:
        """Wait for the run to end; its exit status, negative where it was killed."""
        return int(self._line())

    def _line(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().strip() or "1"

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(10)
        if self._process.stdout:
            self._process.stdout.close()


@contextmanager
def zygote() -> Iterator[Zygote]:
    found = Zygote()
    try:
        yield found
    finally:
        found.close()


def killed_run(process: Zygote, order: Order, kills: int, within_s: float, seed: int) -> int:
    """Run an order to its end, killed up to ``kills`` times after a random part of ``within_s``; the kills."""
    drawn, done = random.Random(seed), 0
    while True:
        pid = process.start(order)
        if done < kills:
            process.wait(drawn.uniform(0, within_s))
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        status = process.ended()
        if status == -signal.SIGKILL:
            done += 1
        elif status == 0:
            return done
        else:
            raise AssertionError(f"the run ended with {status}")


def main() -> None:
    """Fork a process for each order."""
    from openai import AsyncOpenAI  # noqa: F401
    from pydantic_ai.direct import model_request  # noqa: F401
    from sqlalchemy import create_engine  # noqa: F401

    import disputatio.participants.remote.models  # noqa: F401

    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            status = 1
            try:
                result = asyncio.run(run(Order(**json.loads(line))))
                status = 0 if not result.missing else 3
            finally:
                sys.stderr.flush()
                os._exit(status)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
