"""A debate of any legal size begins at once, and its estimate takes time in proportion to its turns."""

from __future__ import annotations

import sys
import time
from collections.abc import Coroutine
from typing import Any

import pytest
from rooms import Carrier, hold, proposal_of

from disputatio.engine.custom_format_files import load_format
from disputatio.engine.preview import Simulations, early_ends, preview, preview_range, preview_stages
from disputatio.engine.simulation import LONGEST_S, MOST_TURNS, TooLongError
from disputatio.participants.call import Fault, FaultKind

pytestmark = pytest.mark.slow

MANY_SECONDS = 20.0
"""Of the processor. Many times what is needed on a slow machine that has much else to do; it took 110 s once."""


def panel_of(debaters: int, rounds: int, **given: Any) -> Any:
    names = ",".join(f"debater_{number}" for number in range(1, debaters + 1))
    return proposal_of("panel", debaters=names, set=(f"rounds={rounds}",), **given)


async def steps_of(work: Coroutine[Any, Any, Any]) -> int:
    """How many functions ``work`` calls, also in C: a measure of time that does not depend on other processes."""
    steps = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        await work
    finally:
        sys.setprofile(None)
    return steps


async def test_twice_the_turns_take_twice_the_steps():
    await preview(panel_of(2, 1))
    small, large = await steps_of(preview(panel_of(20, 4))), await steps_of(preview(panel_of(40, 4)))
    assert large < 2.5 * small


async def test_a_dry_run_of_1600_turns_takes_seconds_at_most():
    begun = time.process_time()
    proposal = panel_of(40, 10)
    courses = Simulations(proposal)
    seen = await preview(proposal, courses)
    least, most = await preview_range(proposal, seen, courses)
    ends = await early_ends(proposal, courses)
    assert time.process_time() - begun < MANY_SECONDS
    assert seen.calls == most.calls == 1600
    assert least.calls == 40
    assert len(ends) == 40


@pytest.mark.parametrize("seat", ["ollama:any", "openai_compatible:fake"])
async def test_figures_from_shared_courses_are_those_of_each_alone(seat):
    proposal = panel_of(3, 2, seat=(f"all={seat}",), base_url="http://127.0.0.1:9/v1")
    courses = Simulations(proposal)
    seen = await preview(proposal, courses)
    assert seen == await preview(proposal)
    assert await preview_range(proposal, seen, courses) == await preview_range(proposal, seen)
    assert await early_ends(proposal, courses) == await early_ends(proposal)
    assert await preview_stages(proposal, courses) == await preview_stages(proposal)


async def test_a_debate_of_1600_turns_makes_its_first_call_at_once():
    begun, first = time.process_time(), []

    def answer(_call: Any) -> Fault:
        first.append(time.process_time() - begun)
        return Fault(FaultKind.KEY_REJECTED, "Nobody is here.")

    _, history, _ = await hold(panel_of(40, 10, max_calls=1), lambda *_: Carrier(answer))
    assert first[0] < MANY_SECONDS / 4
    assert history.opened.estimate["calls"] == 1600


async def test_a_debate_too_long_for_an_estimate_is_held_without_one():
    proposal = panel_of(100, 10, max_calls=1)
    with pytest.raises(TooLongError) as refused:
        await preview(proposal)
    assert f"{MOST_TURNS:,} turns" in str(refused.value)
    _, history, _ = await hold(proposal, lambda *_: Carrier(lambda _call: Fault(FaultKind.KEY_REJECTED, "Nobody.")))
    assert history.opened.estimate == {}
    assert history.sent


SLOW_RULES = """
from disputatio.formats import text


def rules(motion, pro, con, *, words=40):
    "Rules that compute for long between two turns."
    for _ in range(500):
        yield from pro.ask("Argue for it.", speech=text(words))
        sum(sum(range(1_000)) for _ in range(20_000))
    return {"winner": "pro"}
"""


async def test_rules_that_compute_for_long_are_not_estimated_for_long(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.py").write_text(SLOW_RULES)
    monkeypatch.setattr("disputatio.engine.simulation.LONGEST_S", 0.5)
    form = load_format("./slow.py")
    proposal = proposal_of("freeform")
    proposal = type(proposal)(proposal.motion, form, proposal.settings)
    begun = time.process_time()
    with pytest.raises(TooLongError, match="to compute"):
        await preview(proposal)
    assert time.process_time() - begun < LONGEST_S
