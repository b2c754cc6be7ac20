"""The bound of an answer: what a model may lawfully say passes, in any pieces, and what is too long is told exactly."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remote_server import a_call, answer, chunk, completion, opened, serving, stream

from disputatio._intake import Intake, OverlongError
from disputatio.participants.call import LARGEST_BODY, AnswerBound, Fault, FaultKind, OutputMode, Reply
from strategies import examples

pytestmark = pytest.mark.usefixtures("warm_libraries")

# Longer tokens than these are in no vocabulary that is known here: the bytes of one token inside a body.
TOKENS = {
    "a run of spaces": " " * 128,
    "a run of dashes": "-" * 128,
    "English": " demonstrating",
    "escaped Chinese, in JSON in JSON": "\\\\u4e2d\\\\u534e\\\\u4eba\\\\u6c11\\\\u5171\\\\u548c\\\\u56fd",
    "escaped emoji": "\\ud83d\\ude00",
    "a quotation mark in JSON in JSON": '\\\\\\"',
}
FRAME = {"id": "chatcmpl-" + "x" * 40, "object": "chat.completion.chunk", "created": 1, "model": "provider/model-name"}


def events(tokens: int, piece: str) -> Iterator[bytes]:
    """A stream of a server that sends much with each piece, and a sign of life before every tenth."""
    for number in range(tokens):
        if not number % 10:
            yield b": OPENROUTER PROCESSING\r\n\r\n"
        # A stand-in, because the escapes of the piece are those of the server.
        delta = {"role": "assistant", "content": "@", "reasoning": "@", "reasoning_details": [{"text": "@"}]}
        choice = {"index": 0, "delta": delta, "finish_reason": None, "native_finish_reason": None, "logprobs": None}
        body = json.dumps({**FRAME, "system_fingerprint": "fp_" + "x" * 20, "choices": [choice]}).replace("@", piece)
        yield f"event: message\r\nid: {number}\r\ndata: {body}\r\n\r\n".encode()


def passed(parts: Iterator[bytes], bound: AnswerBound, *, as_events: bool) -> str:
    """Which bound the parts pass; empty where they pass none."""
    intake = Intake(bound)
    try:
        for part in parts:
            intake.take(part, events=as_events)
    except OverlongError as error:
        return error.passed
    return ""


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize("limit", [1, 100, 900, 16_000, 65_536])
def test_a_whole_answer_of_the_longest_tokens_passes(name: str, limit: int) -> None:
    """Its reasoning is sent twice, as some servers do."""
    text = TOKENS[name] * limit
    body = json.dumps(completion("@", message={"reasoning": "@", "reasoning_details": [{"text": "@"}]}))
    written = body.replace("@", text, 1).replace("@", "") + text * 2
    assert not passed(iter([written.encode()]), AnswerBound.of(limit, streamed=False), as_events=False)


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize("limit", [1, 100, 900, 8_000])
def test_a_stream_of_an_event_for_each_token_passes(name: str, limit: int) -> None:
    bound = AnswerBound.of(limit, streamed=True)
    assert not passed(events(limit, TOKENS[name]), bound, as_events=True)
    whole = b"data: " + json.dumps(chunk({"content": "@"})).replace("@", TOKENS[name] * limit).encode() + b"\n\n"
    assert not passed(iter([whole]), bound, as_events=True)


@given(st.integers(1, 1_000_000), st.booleans())
def test_a_larger_limit_never_has_a_smaller_bound(limit: int, streamed: bool) -> None:
    smaller, larger = AnswerBound.of(limit, streamed=streamed), AnswerBound.of(limit + 1, streamed=streamed)
    assert smaller.size <= larger.size
    assert smaller.event <= larger.event <= larger.size
    assert smaller.lines <= larger.lines
    assert AnswerBound.of(limit, streamed=False).size <= LARGEST_BODY


@given(st.binary(max_size=60), st.lists(st.integers(0, 60)), st.integers(0, 70))
@examples(100)
def test_a_whole_answer_is_judged_the_same_in_any_pieces(body: bytes, cuts: list[int], most: int) -> None:
    intake = Intake(AnswerBound(9, most, most, 1))

    def take(parts: Iterable[bytes]) -> None:
        for part in parts:
            intake.take(part)

    ends = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    parts = [body[first:end] for first, end in pairwise(ends)]
    if len(body) <= most:
        take(parts)
        return
    with pytest.raises(OverlongError) as stopped:
        take(parts)
    assert (stopped.value.size, stopped.value.sha256) == (most, hashlib.sha256(body[:most]).hexdigest())
    assert stopped.value.head == body[:most][:2_000]
    assert stopped.value.passed == f"{most:,} bytes"


@given(
    st.lists(st.sampled_from([b"data: a", b"\n", b"\r\n", b"\n\n", b"\r\n\r\n", b"\r\r", b": b"]), max_size=20),
    st.lists(st.integers(0, 100)),
)
@examples(100)
def test_events_are_measured_the_same_in_any_pieces(lines: list[bytes], cuts: list[int]) -> None:
    """The size of an event goes from one empty line to the next, also where that comes in two pieces."""
    body = b"".join(lines)
    ends = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    parts = [body[first:end] for first, end in pairwise(ends)]
    whole, cut = Intake(AnswerBound(9, 999, 999, 999)), Intake(AnswerBound(9, 999, 999, 999))
    whole.take(body, events=True)
    for part in parts:
        cut.take(part, events=True)
    assert (whole._event, whole._lines) == (cut._event, cut._lines)


@pytest.mark.parametrize("way", ["direct", "library"])
async def test_a_server_that_repeats_its_request_is_heard(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request is larger than the bound of the answer."""
    monkeypatch.setitem(os.environ, "DISPUTATIO_CALLS", way)
    text = "Long evidence. " * 200_000
    call = a_call(OutputMode.TEXT, segments=(replace(a_call().segments[0], role="user", text=text),))
    assert len(text) > AnswerBound.of(call.max_tokens, streamed=False).size
    async with serving(answer(completion("Heard.", prompt=text))) as server, opened(server.seat()) as model_client:
        outcome = await model_client.call(call)
    assert isinstance(outcome, Reply), outcome
    assert outcome.text == "Heard."


@pytest.mark.parametrize("way", ["direct", "library"])
async def test_a_connection_is_not_used_again_after_an_endless_answer(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "DISPUTATIO_CALLS", way)
    endless = answer(completion("a" * 3_000_000))
    async with serving(endless, answer(status=500, body="b" * 3_000_000), answer()) as server:
        async with opened(server.seat()) as model_client:
            outcomes = [await model_client.call(a_call()) for _ in range(3)]
        assert [row.kind if isinstance(row, Fault) else "" for row in outcomes] == [
            FaultKind.ANSWER_TOO_LONG,
            FaultKind.SERVER_ERROR,
            "",
        ]
        assert len(server.received) == 3


async def test_what_was_heard_before_the_bound_is_kept_in_brief() -> None:
    """The listener heard it all; the fault, and so the record, keeps how it began."""
    heard: list[str] = []
    said = stream([chunk({"content": f"word {number} " * 500}) for number in range(1_000)])
    async with serving(said) as server, opened(server.seat()) as model_client:
        outcome = await model_client.call(a_call(OutputMode.TEXT), heard.append)
    assert isinstance(outcome, Fault)
    assert outcome.kind is FaultKind.ANSWER_TOO_LONG
    assert outcome.text.startswith("word 0 word 0")
    assert len(outcome.text) <= 500 < sum(map(len, heard))
