"""What models are writing: whoever comes late reads what the others read, from its beginning, and never raw JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from dictated import Dictated
from served import served, started

from disputatio._service.hub import Listener as Listening
from disputatio._service.hub import LiveTexts
from disputatio.record.chain import seal
from disputatio.record.events import AnswerRejected, CallSent, DebateResumed, TurnAsked
from disputatio.tools.tool_choice import name_choice_part

pytestmark = pytest.mark.slow
SPEECH = (
    'A "town" should act now: waiting costs more, says the mayor of Z\u00fcrich.\nSecondly, buses are full. '
    "Thirdly, nobody has shown that {braces} or [brackets] hurt anybody. So let us begin."
)
# With the last piece the turn is taken, and nothing is being written any more.
RAW = json.dumps({"speech": SPEECH}) + " " * 14


class Listener:
    """Follows a debate and keeps what it was told of one answer."""

    def __init__(self) -> None:
        self.frames: list[dict[str, Any]] = []
        self.changed = asyncio.Event()

    @property
    def raw(self) -> str:
        text = ""
        for frame in self.frames:
            text = text[: frame["from"]] + frame["text"]
        return text

    @property
    def said(self) -> str:
        return self.frames[-1]["said"] if self.frames else ""

    async def hears(self, raw: str) -> None:
        """Wait until the answer is known as far as ``raw``."""
        async with asyncio.timeout(20):
            while self.raw != raw:
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def listening(client: httpx.AsyncClient, debate: str) -> AsyncIterator[Listener]:
    found = Listener()

    async def follow() -> None:
        kind = ""
        async with client.stream("GET", f"/v1/debates/{debate}/events?text=true") as stream:
            async for line in stream.aiter_lines():
                name, _, value = line.partition(": ")
                kind = value if name == "event" else kind
                if name == "data" and kind == "text":
                    found.frames.append(json.loads(value))
                    found.changed.set()

    task = asyncio.create_task(follow())
    try:
        yield found
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_late_listener_reads_what_an_early_one_reads(tmp_path):
    provider = Dictated(RAW)
    async with served(tmp_path, provider=provider) as here, here.client() as client:
        debate = await started(client, format="freeform")
        async with listening(client, debate) as early:
            shown = []
            for number in range(1, len(provider.pieces)):
                provider.write()
                so_far = "".join(provider.pieces[:number])
                await early.hears(so_far)
                async with listening(client, debate) as late:
                    await late.hears(so_far)
                    assert late.frames[0]["from"] == 0
                    assert late.said == early.said
                frame = late.frames[-1]
                assert frame["json"] is True
                assert (frame["path"], frame["seat"], frame["phase"]) == ("round-1/pro", "pro", "round-1")
                shown.append(frame["said"])
        # Nothing of the notation is ever shown, and each words more than before.
        assert all(SPEECH.startswith(row) for row in shown)
        assert shown[-1] == SPEECH
        assert len(set(shown)) > len(shown) / 2


async def test_no_text_follows_the_turn_it_belonged_to(tmp_path):
    provider = Dictated(RAW, RAW)
    async with served(tmp_path, provider=provider) as here, here.client() as client:
        debate = await started(client, format="freeform")
        kinds: list[tuple[str, str]] = []
        async with client.stream("GET", f"/v1/debates/{debate}/events?text=true") as stream:
            kind = ""
            provider.write(2 * len(provider.pieces))
            async for line in stream.aiter_lines():
                name, _, value = line.partition(": ")
                kind = value if name == "event" else kind
                if name == "data" and kind in {"text", "TurnTaken"}:
                    row = json.loads(value)
                    kinds.append((kind, row["path"] if kind == "text" else row["body"]["path"]))
        taken: set[str] = set()
        for kind, path in kinds:
            assert kind != "text" or path not in taken
            taken |= {path} if kind == "TurnTaken" else set()
        assert len(taken) == 7
        async with asyncio.timeout(20):
            while here.service.hub.texts(debate) is not None:
                await asyncio.sleep(0.02)


ASKED = TurnAsked(path="opening/pro", seat="pro", phase="opening", form="opening", mode="native", prompt="")


def sent(part: str = "", number: int = 1, mode: str = "native") -> CallSent:
    return CallSent(
        call=f"opening/pro!{number}", path="opening/pro", part=part, seat="pro", model="m", mode=mode, temperature=None,
        max_tokens=1, prompt=(), schema="", reserved={},
    )  # fmt: skip


def test_a_call_that_is_made_again_begins_anew():
    texts, listener = LiveTexts(list), Listening()
    for event in (ASKED, sent()):
        texts.on_event(event, 1)
    texts.wrote("opening/pro", "", '{"arguments": [{"claim": "We shou')
    ((row, place, news),) = listener.unheard(texts)
    assert (place, news, row.is_json) == (0, '{"arguments": [{"claim": "We shou', True)
    assert texts.said("opening/pro") == "PRO-1: We shou"
    texts.on_event(sent(number=2), 3)
    texts.wrote("opening/pro", "", '{"arg')
    ((_, place, news),) = listener.unheard(texts)
    assert (place, news) == (0, '{"arg')
    assert texts.said("opening/pro") == ""
    texts.wrote("opening/pro", "", 'uments": [{"claim": "Never')
    ((_, place, news),) = listener.unheard(texts)
    assert (place, news) == (5, 'uments": [{"claim": "Never')
    assert listener.unheard(texts) == []


def test_a_turn_in_pieces_is_read_as_one():
    texts = LiveTexts(list)
    texts.on_event(ASKED, 1)
    for number, claim in enumerate(("Cars are loud", "Buses are not"), start=1):
        texts.on_event(sent(f"argument-{number}", number), number)
        texts.wrote("opening/pro", f"argument-{number}", json.dumps({"claim": claim})[:-3])
    assert texts.said("opening/pro") == "PRO-1: Cars are lou\nPRO-2: Buses are no"
    texts.on_event(AnswerRejected(path="opening/pro", part="argument-2", because="shape", reasons=("x",)), 4)
    assert texts.said("opening/pro") == "PRO-1: Cars are lou"


def test_a_look_at_a_tool_is_not_read_aloud():
    texts = LiveTexts(list)
    texts.on_event(ASKED, 1)
    texts.on_event(sent(name_choice_part(1)), 2)
    texts.wrote("opening/pro", name_choice_part(1), '{"claim": "the price of a bus')
    assert texts.answers[0].draft.begun
    assert texts.said("opening/pro") == ""


def test_prose_and_thoughts_around_json_are_not_shown():
    for raw in ("I will now answer in JSON.", '```json\n{"arguments": [', "<think>\nWhat do they want?", "[1, 2"):
        texts = LiveTexts(list)
        texts.on_event(ASKED, 1)
        texts.on_event(sent(), 2)
        texts.wrote("opening/pro", "", raw)
        assert texts.said("opening/pro") == ""


def test_a_turn_that_was_open_before_a_restart_is_read():
    texts = LiveTexts(lambda: [seal(ASKED, debate="d", seq=2, at="", previous="")])
    texts.on_event(DebateResumed(budget={}, software=""), 3)
    texts.on_event(sent(), 4)
    texts.wrote("opening/pro", "", '{"arguments": [{"claim": "Go on')
    assert texts.said("opening/pro") == "PRO-1: Go on"


def test_of_a_debate_that_workers_hold_no_text_is_told():
    assert Listening().unheard(None) == []


def test_a_long_turn_is_sent_with_its_end():
    texts = LiveTexts(list)
    texts.on_event(ASKED, 1)
    texts.on_event(sent(), 2)
    texts.wrote("opening/pro", "", json.dumps({"arguments": [{"claim": "word " * 5_000}]})[:-4])
    assert texts.said("opening/pro").startswith("... word")
    assert len(texts.said("opening/pro")) < 1_010
