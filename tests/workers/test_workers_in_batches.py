"""A worker that sends its calls in batches, as a process that is killed while the provider works on one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fleet_stage import Ground, Stage

from disputatio.record.events import BATCH
from disputatio.record.history import History
from disputatio.record.verified import read_verified
from disputatio.testing import FakeProvider

pytestmark = pytest.mark.slow

MODEL = "gpt-4.1-mini"
PROGRAM = """
import sys
from functools import partial
from disputatio._cli.main import main
from disputatio.workers import worker
worker._GATHER_SECONDS = 0.5
worker.BatchCollector = partial(worker.BatchCollector, poll_first_s=0.3)
main(sys.argv[1:])
"""
"""`disputatio` with waits of a second or less, where real batches have seconds."""


@contextmanager
def worker(fleet: Stage, provider: FakeProvider, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """``disputatio worker --batch`` for OpenAI's protocol at the fake provider; killed in the end."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LLM_")}
    environment |= {"OPENAI_BASE_URL": f"{provider.root_url}/v1", "OPENAI_API_KEY": "key"}
    command = [sys.executable, "-c", PROGRAM, "worker", "--batch", "--store", fleet.url]
    with log.open("ab") as sink, subprocess.Popen(command, env=environment, stdout=sink, stderr=sink) as process:
        try:
            yield process
        finally:
            process.kill()


async def test_a_worker_killed_beside_a_batch_pays_nothing_twice(fleet_ground: Ground, tmp_path: Path) -> None:
    """Debates and a baseline go in batches; the worker that takes over fetches the batch of the one that died."""
    log = tmp_path / "worker.log"
    with (
        fleet_ground.stage() as fleet,
        FakeProvider(prefix_cache=False, models=(MODEL,), batch_seconds=1.0) as provider,
    ):
        await fleet.order(2, baseline="single", seats={"all": f"openai:{MODEL}"})
        with worker(fleet, provider, log) as first:
            await fleet.until(lambda *_: bool(provider.batches.jobs), 60)
            first.send_signal(signal.SIGKILL)
        assert len(provider.bill.batch) == 2, "both calls travel in one batch"
        with worker(fleet, provider, log):
            await fleet.all_over(90)
        store = fleet.store()
        histories = [History.of(row.event() for row in read_verified(store, debate)) for debate in fleet.ordered]
        await store.aclose()
        assert [history.status.value for history in histories] == ["COMPLETE"] * 2, log.read_text()
        assert not provider.bill.single, "nothing was called singly"
        assert set(provider.bill.batch.values()) == {1}, "each call was charged once"
        baselines = [row for history in histories for row in history.baselines]
        assert [(row.samples, row.failure) for row in baselines] == [(1, "")] * 2
        assert {sent.tier for history in histories for sent in history.calls} == {BATCH}
