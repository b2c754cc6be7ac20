"""The record: how fast it is written, how large it gets, and what resuming a long one takes."""

from __future__ import annotations

import asyncio
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from measured import Figure

from disputatio.config import Arguments, Settings, resolve
from disputatio.config.process import format_scope
from disputatio.engine import runtime
from disputatio.engine.opening import Proposal
from disputatio.engine.ports import NullObserver
from disputatio.engine.runtime import Resumption, Runtime, resume, start
from disputatio.errors import ProviderError
from disputatio.formats.registry import find_format
from disputatio.motion import read_motion
from disputatio.participants.call import Call, Fault, FaultKind, OnText, Reply
from disputatio.record.chain import GENESIS, Sealed, seal
from disputatio.record.events import CallMade, DebateOpened
from disputatio.record.sql import SqlStore
from disputatio.record.store import EventBatch
from disputatio.testing import InstanceClient

TITLE = "Record"
ABOUT = (
    "SQLite, every commit durable before it counts. A free-form debate in which every call sends the whole history is "
    "stopped after so many turns of a model and resumed in a warm process: read, its chain verified, replayed, up to "
    "the moment the next call leaves; medians."
)
TURNS: Final = (10, 100, 1000)
ROUNDS: Final = 15
WRITERS: Final = 50
EVENTS: Final = 4000
FORM: Final = find_format("freeform")


def figures() -> list[Figure]:
    """The rows of this part."""
    rows: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        rows += [asyncio.run(_written(Path(folder) / f"{alone}.sqlite", alone=alone)) for alone in (True, False)]
        for turns in TURNS:
            rows += _resumed(Path(folder), turns)
    return rows


async def _written(path: Path, *, alone: bool) -> Figure:
    """Events a second: one debate that waits for each to be durable, or many that share commits."""
    store, writers = SqlStore(str(path)), 1 if alone else WRITERS
    events = EVENTS // 10 if alone else EVENTS
    chains = [list(_chain(f"d{number}", events // writers)) for number in range(writers)]

    async def write(chain: list[Sealed]) -> None:
        for sealed in chain:
            await store.append(EventBatch(sealed.debate, (sealed,), {}))

    try:
        begun = time.perf_counter()
        await asyncio.gather(*map(write, chains))
        taken = time.perf_counter() - begun
    finally:
        await store.aclose()
    name = "one debate, each event waited for" if alone else f"{WRITERS} debates, commits shared"
    return Figure(name=f"Events written, {name}", value=events / taken, unit="events/s")


def _chain(debate: str, events: int) -> Iterator[Sealed]:
    made: dict[str, Any] = {"fault": "", "message": "", "text": "word " * 80, "served_model": "m", "finish": "stop"}
    made |= {"usage": {}, "cost_usd": None, "cost_basis": "", "charged_tokens": 9, "latency_ms": 9}
    previous = GENESIS
    motion = {"text": "We should act", "language": "English"}
    for number in range(1, events + 1):
        event: CallMade | DebateOpened = CallMade(call=f"opening/pro!{number}", path="opening/pro", **made)
        if number == 1:
            event = DebateOpened(format="freeform", motion=motion, seats={}, rules={}, prompts={}, budget={})
        row = seal(event, debate=debate, seq=number, at="2026-01-01T00:00:00.000000Z", previous=previous)
        previous = row.hash
        yield row


def _resumed(folder: Path, turns: int) -> Iterator[Figure]:
    path = folder / f"turns-{turns}.sqlite"
    asyncio.run(_held(path, turns))
    seconds = [asyncio.run(_next_call(path, folder, turns)) for _ in range(ROUNDS + 1)][1:]
    most = 100.0 if turns == 1000 else None
    name = f"{turns:,} turns"
    yield Figure(name=f"Resume, {name}: processor", value=1000 * statistics.median(seconds), unit="ms", at_most=most)
    yield Figure(name=f"Size, {name}", value=path.stat().st_size / 1e6, unit="MB")


def _settings(turns: int) -> Settings:
    settings = resolve(
        format_name=FORM.name,
        seats=tuple(FORM.seats),
        environ={},
        directory=Path("/nonexistent"),
        arguments=Arguments().with_seats([("all", "ollama:metered")]),
        options=format_scope(FORM),
    )
    # More rounds than anybody may set: a long record is what is wanted.
    return replace(settings, format=settings.format.model_copy(update={"rounds": turns // 2 + 1}))


class _Stopping(NullObserver):
    """Stops a debate after so many turns."""

    def __init__(self, turns: int) -> None:
        self.left, self.task = turns, asyncio.current_task()

    def on_event(self, event: Any, sealed: Sealed) -> None:  # noqa: ARG002
        self.left -= event.kind == "TurnTaken"
        if not self.left and self.task is not None and event.kind == "TurnTaken":
            self.task.cancel("enough")


async def _no_estimate(*_: Any) -> dict[str, Any]:
    return {}


async def _held(path: Path, turns: int) -> None:
    store = SqlStore(str(path))
    # A preview of a thousand turns would take longer than holding them, and is no part of what is measured.
    runtime.estimate_for_record = _no_estimate  # type: ignore[assignment]
    proposal = Proposal(read_motion("We should act"), FORM, _settings(turns))
    try:
        await start(
            proposal,
            Runtime(store, observer=_Stopping(turns), client_factory=lambda *_: InstanceClient()),
            debate="long",
        )
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
    finally:
        await store.aclose()


class _NextCall:
    """A gateway that notes when the first call comes, and has no answer."""

    modes = InstanceClient().modes

    def __init__(self) -> None:
        self.came, self.asked = 0.0, asyncio.Event()

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:  # noqa: ARG002
        self.came = self.came or time.process_time()
        self.asked.set()
        return Fault(FaultKind.KEY_REJECTED, "There is no answer.")

    async def probe(self) -> Fault | None:
        return None

    async def aclose(self) -> None:
        return None


async def _next_call(path: Path, folder: Path, turns: int) -> float:
    """Processor seconds from the order to resume to the next call."""
    copy, model_client = folder / "copy.sqlite", _NextCall()
    shutil.copy(path, copy)
    store = SqlStore(str(copy))
    store.row("long")
    order = Resumption(_settings(turns))
    begun = time.process_time()
    task = asyncio.create_task(resume("long", order, Runtime(store, client_factory=lambda *_: model_client)))
    try:
        # Not by asking again and again: the store's thread waits for the disk meanwhile.
        asked = asyncio.create_task(model_client.asked.wait())
        await asyncio.wait({task, asked}, return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await store.aclose()
        copy.unlink()
    if not model_client.came:
        raise ProviderError("The resumed debate made no call.", str(task.exception()))
    return model_client.came - begun
