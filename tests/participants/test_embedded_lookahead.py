"""Calls of a turn are computed early only where a lane is idle, and an early answer is the answer."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest
from embedded_stage import SECRET, a_call, cache_with_weights, hollow_gguf, needs_library, own_cache

from disputatio.participants.call import Call, Fault, FaultKind, OnText, Reply, Usage
from disputatio.participants.embedded import DEFAULT_MODEL, EmbeddedClient, ModelFile
from disputatio.participants.embedded.attachment import Attachment, ServerSlot
from disputatio.participants.embedded.cache import FileLock
from disputatio.participants.embedded.lookahead import Lookahead
from disputatio.participants.embedded.server_spec import Address, ServerSpec


class Model:
    """Answers each call when it is released, in two pieces of text."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.released = asyncio.Semaphore(0)
        self.progress = asyncio.Event()
        self.faulty: set[str] = set()

    async def compute(self, _: Attachment, __: ServerSlot, call: Call, on_text: OnText | None) -> Reply | Fault:
        name = call.segments[-1].text
        self.begun.append(name)
        self.progress.set()
        if on_text is not None:
            on_text(f"{name}: ")
        await self.released.acquire()
        if name in self.faulty:
            return Fault(FaultKind.SERVER_ERROR, "It failed.")
        if on_text is not None:
            on_text("yes")
        return Reply(f"{name}: yes", "m", Usage())

    async def has_begun(self, *names: str) -> None:
        async with asyncio.timeout(5):
            while self.begun != list(names):
                self.progress.clear()
                await self.progress.wait()


@pytest.fixture
def attachment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Attachment:
    """A server of two lanes, as far as its clients see."""
    own_cache(monkeypatch, tmp_path / "cache")
    monkeypatch.setenv("DISPUTATIO_EMBEDDED_THREADS", "2")
    spec = ServerSpec.of(ModelFile(DEFAULT_MODEL, hollow_gguf(tmp_path / "tiny.gguf")))
    return Attachment(spec, FileLock(spec.file("lease.lock")), Address(("a", "b"), SECRET, 0, compact_grammar=True))


CALLS = tuple(a_call(name) for name in ("one", "two", "three", "four"))


async def test_idle_lanes_compute_in_order_and_no_more_than_fit(attachment: Attachment) -> None:
    model = Model()
    lookahead = Lookahead(model.compute)
    async with attachment.slots.take(1):
        lookahead.start(CALLS, attachment, streamed=False)
        await model.has_begun("one")
        model.released.release()
        await model.has_begun("one", "two")
    early = lookahead.claim(CALLS[0])
    assert early is not None
    assert await early.reply(None) == Reply("one: yes", "m", Usage())
    await lookahead.aclose()


async def test_the_text_of_an_early_answer_is_heard_from_its_start(attachment: Attachment) -> None:
    model, heard = Model(), list[str]()
    lookahead = Lookahead(model.compute)
    lookahead.start(CALLS[:1], attachment, streamed=True)
    await model.has_begun("one")
    early = lookahead.claim(CALLS[0])
    assert early is not None
    model.released.release()
    await early.reply(heard.append)
    assert heard == ["one: ", "yes"]


async def test_a_call_that_is_not_begun_is_made_in_its_turn(attachment: Attachment) -> None:
    model = Model()
    lookahead = Lookahead(model.compute)
    async with attachment.slots.take(1), attachment.slots.take(1):
        lookahead.start(CALLS[:2], attachment, streamed=False)
        assert lookahead.claim(CALLS[0]) is None
    lookahead.start(CALLS[1:2], attachment, streamed=False)
    await model.has_begun("two")
    await lookahead.aclose()


async def test_a_lane_that_a_call_waits_for_is_left_to_it(attachment: Attachment) -> None:
    model = Model()
    lookahead = Lookahead(model.compute)
    with lookahead.paused():
        lookahead.start(CALLS[:1], attachment, streamed=False)
        async with attachment.slots.take(1), attachment.slots.take(1):
            assert model.begun == []
    lookahead.start((), attachment, streamed=False)
    await model.has_begun("one")
    await lookahead.aclose()


async def test_a_failed_early_answer_is_no_answer(attachment: Attachment) -> None:
    model = Model()
    model.faulty.add("one")
    lookahead = Lookahead(model.compute)
    lookahead.start(CALLS[:1], attachment, streamed=False)
    early = lookahead.claim(CALLS[0])
    assert early is not None
    model.released.release()
    assert await early.reply(None) is None


async def test_a_closed_client_leaves_its_lanes_free(attachment: Attachment) -> None:
    model = Model()
    lookahead = Lookahead(model.compute)
    lookahead.start(CALLS, attachment, streamed=False)
    await model.has_begun("one", "two")
    await lookahead.aclose()
    assert attachment.slots.take_idle(()) is not None
    assert attachment.slots.take_idle(()) is not None
    assert attachment.slots.take_idle(()) is None


async def test_a_correction_goes_to_the_lane_that_has_its_prompt(attachment: Attachment) -> None:
    first, second = CALLS[0].segments, CALLS[1].segments
    async with attachment.slots.take(1, first) as lane, attachment.slots.take(1, second) as other:
        assert lane.url != other.url
    for prompt, url in ((second, other.url), (first, lane.url)):
        async with attachment.slots.take(1, (*prompt, prompt[-1])) as again:
            assert again.url == url


@needs_library
@pytest.mark.embedded
async def test_early_answers_are_those_of_calls_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await cache_with_weights(monkeypatch, tmp_path / "cache")
    calls = [a_call(f"Name benefit {number} of trees.", seed=number) for number in range(4)]
    texts = []
    for following in ([], calls):
        monkeypatch.setenv("DISPUTATIO_EMBEDDED_THREADS", "2")
        model_client = EmbeddedClient()
        replies = [
            await model_client.call(
                a_call(f"Name benefit {number} of trees.", seed=number, following=partial(tuple, following))
            )
            for number in range(4)
        ]
        assert all(isinstance(row, Reply) for row in replies)
        texts.append([row.text for row in replies])
        await model_client.aclose()
    assert texts[0] == texts[1]
