"""Kills a debate at every event boundary and resumes it; run as a program by ``test_killed_at_every_event.py``.

Each debate runs in a forked process whose store kills it with SIGKILL in the moment the n-th event is on disk.
Another forked process resumes it. Orders come as lines of JSON on standard input, so that one process, which takes
seconds to import everything, kills debates of all formats. What this program prints for each order, as a line of
JSON, are the semantic contents and the calls.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from disputatio._cli.arguments import make_arguments
from disputatio.config import resolve
from disputatio.config.process import format_scope
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import Resumption, Runtime, resume, start
from disputatio.formats.registry import find_format
from disputatio.motion import Evidence, read_motion
from disputatio.record.events import ToolCalled
from disputatio.record.history import History, semantic_content
from disputatio.record.sql import SqlStore

# Imported before forking, so that every child has them at once.
for heavy in (
    "sqlalchemy.dialects.sqlite",
    "disputatio.record.tables",
    "pydantic_ai.direct",
    "pydantic_ai.models.openai",
    "pydantic_ai.providers.openai",
    "pydantic_ai.providers.openai_compatible",
    "disputatio.participants.remote.client",
    "disputatio.participants.remote.models",
    "disputatio.participants.remote.chat",
    "disputatio.participants.remote.completions",
    "disputatio.participants.remote.faults",
    "disputatio.participants.remote.reply",
    "genai_prices.data",
    "jsonschema_rs",
    "jiter",
    "sqlite3",
    "bm25s",
    "mcp",
):
    importlib.import_module(heavy)


class DeadlyStore(SqlStore):
    """Kills its own process as soon as ``last`` events are durable, before anything learns of it."""

    def __init__(self, url: str, last: int) -> None:
        super().__init__(url)
        self._left = last

    def _commit(self, batch: list[Any]) -> None:
        for job in batch:
            super()._commit([job])
            self._left -= len(job[0].events)
            if self._left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)


def settings(base_url: str, format_name: str, extra: tuple[str, ...]) -> Any:
    form = find_format(format_name)
    arguments = make_arguments(seat=("all=openai_compatible:fake",), base_url=base_url, seed=7, set=extra)
    return resolve(
        format_name=format_name,
        seats=tuple(form.seats),
        environ={},
        directory=Path("/nonexistent"),
        arguments=arguments,
        options=format_scope(form),
    )


def in_a_child(work: Any) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001  (a child has nobody to raise to)
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return status


def killed(base_url: str, folder: str, format_name: str, extra: tuple[str, ...], every: int) -> dict[str, Any]:
    form, chosen = find_format(format_name), settings(base_url, format_name, extra)
    notes = Evidence("notes", "notes.txt", "Releases took 3.8 h before and 0.7 h after.")
    evidence = () if form.knows else (notes,)
    proposal = Proposal(read_motion("We should split the service"), form, chosen, evidence)

    def hold(store: SqlStore) -> None:
        async def work() -> None:
            await start(proposal, Runtime(store, checks_first=False))
            await store.aclose()

        asyncio.run(work())

    def go_on(url: str) -> None:
        async def work() -> None:
            store = SqlStore(url)
            await resume(store.debates()[0].id, Resumption(chosen), Runtime(store, checks_first=False))
            await store.aclose()

        asyncio.run(work())

    def told(url: str) -> dict[str, Any]:
        store = SqlStore(url)
        debate = store.debates()[0].id
        events = [row.event() for row in store.read(debate)]
        asyncio.run(store.aclose())
        history = History.of(events)
        return {
            "meaning": semantic_content(events),
            "status": history.status.value,
            "sent": [row.call for row in history.calls],
            "made": sorted(history.made),
            "lost": [row.call for row in history.lost],
            "tools": [(row.path, row.server, row.tool) for row in events if isinstance(row, ToolCalled)],
            "events": len(events),
        }

    # What a process makes at its first debate (validators, the estimate, words looked up), every child has from here.
    hold(SqlStore(f"sqlite:///{folder}/first.sqlite"))
    log = Path(folder, "tool-calls")
    whole = f"sqlite:///{folder}/whole.sqlite"
    assert in_a_child(lambda: hold(SqlStore(whole))) == 0
    results: dict[str, Any] = {"whole": told(whole), "killed": []}
    for last in range(1, results["whole"]["events"], every):
        url = f"sqlite:///{folder}/killed-{last}.sqlite"
        status = in_a_child(lambda: hold(DeadlyStore(url, last)))  # noqa: B023  (the child runs it at once)
        assert os.WIFSIGNALED(status), f"the debate was not killed at event {last}"
        before = told(url)
        log.write_text("")
        assert in_a_child(lambda: go_on(url)) == 0, f"no resumption after event {last}"  # noqa: B023
        served = len(log.read_text().splitlines())
        results["killed"].append({"last": last, "before": before, "after": told(url), "served": served})
        Path(f"{folder}/killed-{last}.sqlite").unlink()
    return results


if __name__ == "__main__":
    for line in sys.stdin:
        order = json.loads(line)
        try:
            told_back = killed(**{**order, "extra": tuple(order["extra"])})
        except Exception:  # noqa: BLE001  (the test shows what failed, and the next order is another debate's)
            told_back = {"failed": traceback.format_exc()}
        print(json.dumps(told_back), flush=True)
