"""What the reference says of the ports: an exception ends the debate where it is, and the record can be resumed."""

from __future__ import annotations

import pytest

import disputatio
from disputatio.ports import Call, Event, Fault, OnText, OutputMode, Reply, Sealed
from disputatio.testing import instance


def scripted() -> disputatio.Scripted:
    return disputatio.Scripted(lambda ask, path, reasons: instance(ask.spec.schema, path))


class Failing:
    """Fails at the third event."""

    def __init__(self) -> None:
        self.seen = 0

    def on_event(self, event: Event, sealed: Sealed) -> None:
        self.seen += 1
        if self.seen == 3:
            raise ValueError("the observer failed")

    def on_text(self, path: str, part: str, text: str) -> None:
        return None


class Broken:
    """A client that raises where it should return a fault."""

    modes = (OutputMode.NATIVE,)

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        raise ValueError("the client failed")

    async def probe(self) -> Fault | None:
        return None

    async def aclose(self) -> None:
        return None


def test_an_observer_that_raises_ends_the_debate_for_now() -> None:
    store = disputatio.MemoryStore()
    with pytest.raises(ValueError, match="the observer failed"):
        disputatio.debate_sync("We should", seats={"all": scripted()}, store=store, observer=Failing())
    (row,) = store.debates()
    resumed = disputatio.resume_sync(row.id, seats=dict.fromkeys(("pro", "con", "judge"), scripted()), store=store)
    assert resumed.status == "COMPLETE"
    assert disputatio.load(row.id, store=store).decision


def test_a_client_that_raises_ends_the_debate_for_now() -> None:
    store = disputatio.MemoryStore()
    with pytest.raises((ValueError, ExceptionGroup)) as raised:
        disputatio.debate_sync(
            "We should", seats={"all": "ollama:x"}, store=store, client_factory=lambda seat, key: Broken()
        )
    assert "the client failed" in repr(raised.value)
    (row,) = store.debates()
    assert not disputatio.load(row.id, store=store).decision
