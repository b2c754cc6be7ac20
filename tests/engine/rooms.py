"""Debates for the tests of the engine: set up without the user's environment, clocks that do not wait."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, resolve
from disputatio.config.process import format_scope
from disputatio.engine.opening import Proposal
from disputatio.engine.ports import NullObserver
from disputatio.engine.runtime import Resumption, Runtime, resume, start
from disputatio.formats.registry import find_format
from disputatio.motion import read_motion
from disputatio.participants.call import Call, Fault, OnText, OutputMode, Reply
from disputatio.record.history import History
from disputatio.record.memory import MemoryStore
from disputatio.record.store import EventBatch, Store

NOWHERE = Path("/nonexistent")


class PatientClock:
    """Counts the seconds it is asked to wait and waits for none of them."""

    def __init__(self) -> None:
        self.rests: list[float] = []
        self._ticks = 0

    def now(self) -> str:
        self._ticks += 1
        return f"2026-01-01T00:{self._ticks // 60 % 60:02d}:{self._ticks % 60:02d}.000000Z"

    def monotonic(self) -> float:
        return float(self._ticks)

    async def sleep(self, seconds: float) -> None:
        self.rests.append(seconds)


class Carrier:
    """A gateway made of a function."""

    def __init__(self, answer: Any, modes: tuple[OutputMode, ...] = (OutputMode.NATIVE,)) -> None:
        self.modes = modes
        self.calls: list[Call] = []
        self._answer = answer

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        self.calls.append(call)
        outcome = self._answer(call)
        return await outcome if hasattr(outcome, "__await__") else outcome

    async def probe(self) -> Fault | None:
        return None

    async def aclose(self) -> None:
        return None


def settings_for(format_name: str = "structured", *, environ: dict[str, str] | None = None, **given: Any) -> Settings:
    form = find_format(format_name)
    given.setdefault("seat", ("all=ollama:fake",))
    return resolve(
        format_name=format_name,
        seats=tuple(form.seats),
        environ=environ or {},
        directory=NOWHERE,
        arguments=make_arguments(**given),
        options=format_scope(form),
    )


def proposal_of(format_name: str = "structured", *, participants: Any = None, **given: Any) -> Proposal:
    settings = settings_for(format_name, **given)
    return Proposal(
        read_motion("We should split the service"), find_format(format_name), settings, (), participants or {}
    )


async def hold(
    proposal: Proposal, client_factory: Any, store: Store | None = None, **runtime: Any
) -> tuple[str, History, Store]:
    store = store or MemoryStore()
    runtime.setdefault("clock", PatientClock())
    runtime.setdefault("observer", NullObserver())
    debate = await start(proposal, Runtime(store, client_factory=client_factory, checks_first=False, **runtime))
    return debate, history_of(store, debate), store


async def go_on(debate: str, proposal: Proposal, client_factory: Any, store: Store, **resumption: Any) -> History:
    runtime = Runtime(store, client_factory=client_factory, checks_first=False, clock=PatientClock())
    resumption.setdefault("participants", proposal.participants)
    await resume(debate, Resumption(proposal.settings, **resumption), runtime)
    return history_of(store, debate)


def history_of(store: Store, debate: str) -> History:
    return History.of(row.event() for row in store.read(debate))


async def first_events_of(store: Store, debate: str, count: int) -> Store:
    """A store with no more than the first ``count`` events of ``debate``, as a kill would have left it."""
    cut = MemoryStore()
    await cut.append(EventBatch(debate, tuple(store.read(debate))[:count], store.texts(debate)))
    return cut
