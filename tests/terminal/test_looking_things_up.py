"""What is seen of the tools of a seat while a debate runs."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from rooms import Carrier, hold, proposal_of

from disputatio._terminal.progress import Progress, measure_progress
from disputatio._terminal.views import LiveView, PlainView
from disputatio.participants.call import Call, Reply, Usage
from disputatio.record.events import CallSent, TurnAsked
from disputatio.testing.instances import instance

CHOICE = {"calls": [{"tool": "calculate", "arguments": {"expression": "3.8 - 0.7"}}]}


def answer(call: Call) -> Reply:
    content = CHOICE if call.schema_name == "consultation" else instance(call.schema or {}, call.schema_name)
    return Reply(json.dumps(content), "m", Usage(10, 10, 0))


@pytest.mark.parametrize("view", [LiveView, PlainView])
async def test_what_is_looked_up_is_told_once_when_it_happens(view: Any) -> None:
    console = Console(file=StringIO(), width=100, force_terminal=view is LiveView, legacy_windows=False)
    proposal = proposal_of("freeform", set=("rounds=1", "tools.rounds=1"), tools=("pro=calculate",))
    with view(console) as shown:
        await hold(proposal, lambda *_: Carrier(answer), observer=shown, streams=True)
    told = console.file.getvalue()
    assert told.count("looked up calculate") == 1
    assert "3.8 - 0.7 = 3.1" in told
    assert told.index("looked up") < told.index("JUDGING")


def test_choosing_a_tool_is_no_part_of_the_turn() -> None:
    progress = Progress()
    place: dict[str, Any] = {"path": "opening/pro", "seat": "pro"}
    progress.add(TurnAsked(**place, phase="opening", form="opening", mode="native", prompt=""), 0)
    sent = {**place, "model": "m", "mode": "native", "temperature": None, "max_tokens": 9, "prompt": (), "schema": ""}
    progress.add(CallSent(call="1", part="tools-1", **sent, reserved={}), 1)
    progress.add_text("opening/pro", "tools-1", json.dumps(CHOICE))
    ask = progress.open["opening/pro"]
    assert "uses tools" in measure_progress(ask, {}, 2).words
    assert ask.draft.statements({}) == ()
    progress.add(CallSent(call="2", part="", **sent, reserved={}), 3)
    assert ask.done == []
    assert "waiting" in measure_progress(ask, {}, 4).words
