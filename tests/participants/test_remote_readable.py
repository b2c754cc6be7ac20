"""Fields that no one reads never make an answer unreadable, over the thin path, by the library, and streamed."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from remote_server import KEY, a_call, answer, chunk, completion, opened, serving, stream, tool_call
from test_remote_thin_path import both_ways

from disputatio.participants.call import Fault, FaultKind, OutputMode, Reply, Usage

pytestmark = pytest.mark.usefixtures("warm_libraries")

COUNTS = Usage(12, 5)
NOISE: list[Any] = [
    *(None, False, 0, 1.5, "", "x", [], {}, [None], [{}], [[1]], {"a": [1]}),
    [{"type": "file", "file": {"hash": "x"}}],
    {"input": {"type": "", "results": None}, "output": {"type": "", "results": None}},
]
MESSAGE_FIELDS = ("annotations", "audio", "function_call", "reasoning_details", "images", "citations", "role")
CHOICE_FIELDS = ("logprobs", "index", "native_finish_reason", "content_filter_results", "matched_stop")
BODY_FIELDS = (
    *("service_tier", "system_fingerprint", "moderation", "metadata", "citations", "prompt_filter_results", "object"),
    *("created", "id", "provider", "timings"),
)


def bodies() -> list[dict[str, Any]]:
    whole = completion('{"a": 1}')
    choice = whole["choices"][0]
    found = [completion('{"a": 1}', message={name: value}) for name in MESSAGE_FIELDS for value in NOISE]
    found += [{**whole, "choices": [{**choice, name: value}]} for name in CHOICE_FIELDS for value in NOISE]
    return found + [{**whole, name: value} for name in BODY_FIELDS for value in NOISE]


@pytest.mark.slow
async def test_fields_that_are_not_read_change_nothing() -> None:
    async with serving() as server, both_ways(server.seat()) as ask:
        for body in bodies():
            server.answers = [answer(json.dumps(body))]
            assert await ask(a_call()) == (Reply('{"a": 1}', "served-model", COUNTS),) * 2, body


@pytest.mark.slow
async def test_fields_of_chunks_that_are_not_read_change_nothing() -> None:
    async with serving() as server, opened(server.seat(), KEY) as model_client:
        for place, names in (("delta", MESSAGE_FIELDS), ("choice", CHOICE_FIELDS), ("body", BODY_FIELDS)):
            for name in names:
                for value in NOISE:
                    first, last = chunk({"content": '{"a": 1}'}), chunk({}, "stop")
                    for row in (first, last):
                        where = {"delta": row["choices"][0]["delta"], "choice": row["choices"][0], "body": row}[place]
                        where[name] = value
                    server.answers = [stream([first, last])]
                    reply = await model_client.call(a_call(), lambda _: None)
                    assert isinstance(reply, Reply), (place, name, value, reply)
                    assert (reply.text, reply.served_model) == ('{"a": 1}', "served-model")


CALLS: list[Any] = [
    [{"id": "c", "type": "function", "function": {"name": "judging"}}],
    [{"id": "c", "type": "function", "function": {"name": "judging", "arguments": None}}],
    [{"id": "", "type": "function", "function": {"name": "", "arguments": ""}}],
    [{"function": {}}],
    [{"id": "c", "type": "custom", "custom": {"name": "x", "input": ""}}],
    [None],
    [{}],
    {},
    "x",
]


@pytest.mark.parametrize("mode", [OutputMode.NATIVE, OutputMode.TOOL])
@pytest.mark.parametrize("calls", CALLS)
async def test_tool_calls_without_arguments_leave_the_content(calls: Any, mode: OutputMode) -> None:
    expected = Reply('{"a": 1}', "served-model", COUNTS)
    async with serving(answer(completion('{"a": 1}', message={"tool_calls": calls}))) as server:
        async with both_ways(server.seat()) as ask:
            assert await ask(a_call(mode)) == (expected, expected)
        server.answers = [stream([chunk({"content": '{"a": 1}'}), chunk({"tool_calls": calls}), chunk({}, "stop")])]
        async with opened(server.seat(), KEY) as model_client:
            reply = await model_client.call(a_call(), lambda _: None)
            assert isinstance(reply, Reply)
            assert reply.text == '{"a": 1}'


async def test_an_argument_may_be_an_object() -> None:
    called = tool_call("")
    called["tool_calls"][0]["function"]["arguments"] = {"why": "ä"}
    body = completion(None, message=called, finish_reason="tool_calls")
    async with serving(answer(body)) as server, both_ways(server.seat()) as ask:
        assert await ask(a_call(OutputMode.TOOL)) == (Reply('{"why": "ä"}', "served-model", COUNTS),) * 2


@pytest.mark.parametrize("reason", ["", None])
async def test_an_empty_finish_reason_beside_content_is_an_end(reason: str | None) -> None:
    body = completion("{}", finish_reason=reason)
    async with serving(answer(body)) as server, both_ways(server.seat()) as ask:
        assert await ask(a_call()) == (Reply("{}", "served-model", COUNTS),) * 2
        # Nobody said why it ended, and it has all the tokens that it may have.
        assert await ask(a_call(max_tokens=5)) == (Reply("{}", "served-model", COUNTS, "length"),) * 2


@pytest.mark.parametrize("reason", ["", None])
async def test_a_stream_ends_with_its_counts(reason: str | None) -> None:
    """Snowflake Cortex gives no finish reason for Claude; it sends the counts of all, and ends."""
    usage = {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}
    written = chunk({"content": "{}"}, reason)
    async with serving(stream([written, chunk(usage=usage)])) as server, opened(server.seat(), KEY) as model_client:
        assert await model_client.call(a_call(), lambda _: None) == Reply("{}", "served-model", COUNTS)
        server.answers = [stream([written])]
        cut = await model_client.call(a_call(), lambda _: None)
        assert isinstance(cut, Fault)
        assert cut.kind is FaultKind.CUT_OFF
        server.answers = [stream([chunk(usage=usage), written])]
        cut = await model_client.call(a_call(), lambda _: None)
        assert isinstance(cut, Fault)
        assert cut.kind is FaultKind.CUT_OFF


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({}, Usage()),
        ({"prompt_tokens": 12}, Usage(12)),
        ({"prompt_tokens": "12", "completion_tokens": 5.0, "total_tokens": None}, COUNTS),
        (
            {"prompt_tokens": 12, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": "two"}},
            COUNTS,
        ),
        ({"prompt_tokens": 12, "completion_tokens": 5, "prompt_tokens_details": [1]}, COUNTS),
        ("x", Usage()),
    ],
)
async def test_counts_of_any_kind_leave_the_answer(usage: Any, counts: Usage) -> None:
    async with serving(answer(completion("{}", usage=usage))) as server, both_ways(server.seat()) as ask:
        assert await ask(a_call()) == (Reply("{}", "served-model", counts),) * 2


# --- costs ---------------------------------------------------------------------------------------------------------

COSTS: list[tuple[dict[str, Any], str | None]] = [
    ({"cost": 0.00085}, "0.00085"),
    ({"cost": 0}, "0.0"),
    ({"cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}, "0.021"),
    ({"cost": 0.001, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.02}}, "0.001"),
    ({"cost": -1}, None),
    ({"cost": {"total_cost": 3}}, None),
    ({"cost": None}, None),
    ({"cost": True}, None),
]


@pytest.mark.parametrize(("fields", "expected"), COSTS)
async def test_a_cost_in_the_usage_is_the_calls_cost(fields: dict[str, Any], expected: str | None) -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17, **fields}
    cost = None if expected is None else Decimal(expected)
    async with serving(answer(completion("{}", usage=usage))) as server, both_ways(server.seat()) as ask:
        for reply in await ask(a_call()):
            assert isinstance(reply, Reply)
            assert reply.usage == replace(COUNTS, cost_usd=cost)
        server.answers = [stream([chunk({"content": "{}"}), chunk({}, "stop"), chunk(usage=usage)])]
        async with opened(server.seat(), KEY) as model_client:
            streamed = await model_client.call(a_call(), lambda _: None)
            assert isinstance(streamed, Reply)
            assert streamed.usage == replace(COUNTS, cost_usd=cost)


@pytest.mark.parametrize(
    ("value", "expected"), [("0.00123", "0.00123"), ("1.5e-05", "0.000015"), ("None", None), ("", None), ("nan", None)]
)
async def test_a_cost_in_litellms_header_is_the_calls_cost(value: str, expected: str | None) -> None:
    headers = {"x-litellm-response-cost": value, "Content-Type": "application/json"}
    cost = None if expected is None else Decimal(expected)
    # The second body takes the library's way.
    for body in (completion("{}"), completion("{}", message={"annotations": [{}]})):
        async with serving(answer(json.dumps(body), headers=headers)) as server, both_ways(server.seat()) as ask:
            for reply in await ask(a_call()):
                assert isinstance(reply, Reply)
                assert reply.usage == replace(COUNTS, cost_usd=cost)
