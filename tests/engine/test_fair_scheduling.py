"""What goes on at the same moment is taken in turns, first come first, and nobody is held up for good."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from typing import Any

from rooms import Carrier, history_of, hold, proposal_of

from disputatio.engine.scheduling import AT_ONCE, STEPS, wait_for_turn
from disputatio.participants.call import Call
from disputatio.record.memory import MemoryStore
from disputatio.testing import InstanceClient

CROWD = 5 * AT_ONCE


async def test_a_few_go_on_without_a_step_in_between() -> None:
    told: list[str] = []
    asyncio.get_running_loop().call_soon(told.append, "a step")
    for number in range(AT_ONCE):
        await wait_for_turn()
        told.append(str(number))
    assert told == [str(number) for number in range(AT_ONCE)]


async def test_the_first_of_a_crowd_has_left_before_the_last_begins() -> None:
    told: list[tuple[str, int]] = []

    async def go_on(number: int) -> None:
        await wait_for_turn()
        told.append(("begins", number))
        for _ in range(STEPS // 2):
            await asyncio.sleep(0)
        told.append(("leaves", number))

    await asyncio.gather(*map(go_on, range(CROWD)))
    assert [number for what, number in told if what == "begins"] == list(range(CROWD))
    for number in range(CROWD - 2 * AT_ONCE):
        assert told.index(("leaves", number)) < told.index(("begins", number + 2 * AT_ONCE))


async def test_who_does_not_go_on_holds_nobody_up() -> None:
    for_ever = asyncio.Event()

    async def stay() -> None:
        await wait_for_turn()
        await for_ever.wait()

    staying = [asyncio.create_task(stay()) for _ in range(3 * AT_ONCE)]
    await asyncio.wait_for(wait_for_turn(), 10)
    for task in staying:
        task.cancel()
    await asyncio.gather(*staying, return_exceptions=True)


async def test_who_is_stopped_while_it_waits_takes_no_turn() -> None:
    """Who is stopped while it waits takes no turn from the others."""
    done: list[int] = []

    async def go_on(number: int) -> None:
        await wait_for_turn()
        done.append(number)

    tasks = [asyncio.create_task(go_on(number)) for number in range(CROWD)]
    await asyncio.sleep(0)
    for task in tasks[AT_ONCE : 2 * AT_ONCE]:
        task.cancel()
    await asyncio.wait(tasks)
    assert done == [number for number in range(CROWD) if not AT_ONCE <= number < 2 * AT_ONCE]


def test_each_event_loop_has_turns_of_its_own() -> None:
    async def crowd() -> int:
        await asyncio.gather(*(wait_for_turn() for _ in range(CROWD)))
        return CROWD

    assert [asyncio.run(crowd()) for _ in range(2)] == [CROWD, CROWD]


async def test_an_answer_that_came_is_in_the_record_of_a_debate() -> None:
    """An answer that came is in the record of a debate that is stopped before its turn."""
    store, model = MemoryStore(), InstanceClient()
    held: list[asyncio.Task[Any]] = []
    crowd: list[asyncio.Task[None]] = []

    async def answer(call: Call) -> Any:
        if not crowd:
            crowd.extend(asyncio.create_task(wait_for_turn()) for _ in range(CROWD))
            await asyncio.sleep(0)
            # Once this answer has come, and long before its turn.
            asyncio.get_running_loop().call_soon(held[0].cancel)
        return await model.call(call)

    proposal = proposal_of("freeform", seat=("all=ollama:metered",))
    held.append(asyncio.create_task(hold(proposal, lambda *_: Carrier(answer), store)))
    await asyncio.wait(held)
    await asyncio.gather(*crowd)
    assert held[0].cancelled()
    history = history_of(store, store.debates()[0].id)
    assert history.interrupted
    assert [row.call for row in history.calls] == list(history.made), "what was answered is paid, and kept"


SETTLED = """
import gc
before = gc.get_threshold(), gc.get_freeze_count()
from disputatio.engine.process_tuning import GC_THRESHOLDS, tune_gc
assert (gc.get_threshold(), gc.get_freeze_count()) == before
assert before[0] != GC_THRESHOLDS
tune_gc()
assert gc.get_threshold() == GC_THRESHOLDS
assert gc.get_freeze_count() > 0
gc.collect()
print("settled")
"""


def test_only_a_tuned_process_is_changed() -> None:
    done = subprocess.run([sys.executable, "-c", SETTLED], capture_output=True, text=True, check=False)
    assert done.stdout == "settled\n", done.stderr
    assert gc.isenabled()
