"""With staggering, what begins like a call under way leaves when that is being answered; nothing else changes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from rooms import hold, proposal_of

from disputatio.engine.scheduling import LEAST_BYTES
from disputatio.participants.call import Call, Fault, FaultKind, OnText, OutputMode, Reply
from disputatio.record.history import semantic_content
from disputatio.testing import InstanceClient


@dataclass
class Slow:
    """Answers after a while; notes which calls were on their way, unheard, when another left."""

    fails: bool = False
    modes: tuple[OutputMode, ...] = (OutputMode.NATIVE,)
    unheard: list[Call] = field(default_factory=list)
    together: list[tuple[Call, Call]] = field(default_factory=list)
    inner: InstanceClient = field(default_factory=InstanceClient)

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        self.together += [(other, call) for other in self.unheard]
        self.unheard.append(call)
        for _ in range(50):
            await asyncio.sleep(0)
        if self.fails:
            self.unheard.remove(call)
            return Fault(FaultKind.BAD_REQUEST, "No.")
        if on_text is not None:
            on_text("{")
        self.unheard.remove(call)
        for _ in range(50):
            await asyncio.sleep(0)
        return await self.inner.call(call)

    async def probe(self) -> None:
        return None

    async def aclose(self) -> None:
        return None


def alike(pairs: Sequence[tuple[Call, Call]]) -> list[tuple[str, str]]:
    """The pairs that begin alike, as far as a cache could serve it."""
    return [
        (first.schema_name, second.schema_name)
        for first, second in pairs
        if first.segments[:-1] == second.segments[:-1]
        and sum(len(row.text.encode()) for row in first.segments[:-1]) >= LEAST_BYTES
    ]


async def test_calls_that_begin_alike_leave_one_after_the_other() -> None:
    """Calls that begin alike leave one after the other and the debate is the same."""
    meanings, found = [], []
    for stagger in ("false", "true"):
        model_client = Slow()
        _, _, store = await hold(proposal_of(set=(f"stagger={stagger}",)), lambda *_, g=model_client: g)
        (debate,) = store.find("")
        meanings.append(semantic_content(row.event() for row in store.read(debate)))
        found.append(alike(model_client.together))
    assert meanings[0] == meanings[1]
    assert found[0]
    assert not found[1]


async def test_whoever_waits_goes_on_when_the_first_call_fails() -> None:
    model_client = Slow(fails=True)
    _, history, _ = await asyncio.wait_for(hold(proposal_of(set=("stagger=true",)), lambda *_: model_client), 10)
    assert history.closed is not None
