"""The fake provider answers over a real socket as an OpenAI-compatible server does."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from disputatio.errors import InvalidInputError
from disputatio.participants.call import OutputMode
from disputatio.testing.provider import (
    Behaviour,
    FakeProvider,
    Mishap,
    Mishaps,
    lognormal,
    refused_base_url,
    uniform,
)
from disputatio.testing.provider.answers import Rejection, answer_to
from disputatio.testing.provider.received import Inbox, ReceivedRequest
from disputatio.testing.provider.token_counts import PrefixIndex
from disputatio.testing.provider.wire import completion_payload

Body = dict[str, Any]

SCHEMA: Body = {
    "type": "object",
    "properties": {"claim": {"type": "string"}, "score": {"type": "integer", "minimum": 1, "maximum": 10}},
    "required": ["claim", "score"],
    "additionalProperties": False,
}
NATIVE: Body = {"type": "json_schema", "json_schema": {"name": "turn", "strict": True, "schema": SCHEMA}}
TOOL: Body = {"type": "function", "function": {"name": "take_turn", "parameters": SCHEMA}}


def user(text: str = "Should the pilot go on?") -> list[Any]:
    return [{"role": "user", "content": text}]


def is_valid(text: str | None) -> bool:
    return jsonschema_rs.is_valid(SCHEMA, json.loads(text or ""))


@asynccontextmanager
async def openai_client(provider: FakeProvider) -> AsyncIterator[Any]:
    """The real client, untyped, since its overloads do not take requests written as plain dictionaries."""
    # Loading certificates takes 50 ms a client, and the address is no https one.
    plain = DefaultAsyncHttpxClient(verify=False)
    async with AsyncOpenAI(base_url=provider.base_url, api_key="any", max_retries=0, http_client=plain) as client:
        yield client


async def post(provider: FakeProvider, *, key: str | None = None, **body: Any) -> tuple[int, Body]:
    """Status and body of one plain request."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    whole = {"model": "m", "messages": user()} | body
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{provider.base_url}/chat/completions", json=whole, headers=headers) as response,
    ):
        return response.status, await response.json()


async def content(provider: FakeProvider, **body: Any) -> str:
    status, answer = await post(provider, **body)
    assert status == 200, answer
    text = answer["choices"][0]["message"]["content"]
    assert isinstance(text, str)
    return text


@pytest.fixture(scope="module", autouse=True)
def _loaded_client() -> None:
    """The client loads most of itself at its first use, which is no part of what any test here times."""
    _ = AsyncOpenAI(api_key="any").chat.completions


# What the openai client reads.


async def test_the_openai_client_reads_a_text_answer() -> None:
    async with FakeProvider() as provider, openai_client(provider) as client:
        answer = await client.chat.completions.create(model="m", messages=user())
    assert answer.choices[0].finish_reason == "stop"
    assert answer.choices[0].message.content
    assert answer.model == "m"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


async def test_openai_client_reads_valid_instance_of_json_schema() -> None:
    """The openai client reads a valid instance of a json schema."""
    async with FakeProvider() as provider, openai_client(provider) as client:
        answer = await client.chat.completions.create(
            model="m",
            messages=user(),
            response_format=NATIVE,
        )
    assert is_valid(answer.choices[0].message.content)


async def test_the_openai_client_reads_a_valid_tool_call() -> None:
    async with FakeProvider() as provider, openai_client(provider) as client:
        answer = await client.chat.completions.create(
            model="m",
            messages=user(),
            tools=[TOOL],
            tool_choice={"type": "function", "function": {"name": "take_turn"}},
        )
    choice = answer.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.tool_calls
    (call,) = choice.message.tool_calls
    assert call.type == "function"
    assert call.function.name == "take_turn"
    assert is_valid(call.function.arguments)


@pytest.mark.parametrize("extra", [{}, {"response_format": NATIVE}], ids=["text", "json_schema"])
async def test_a_stream_adds_up_to_the_plain_answer(extra: Body) -> None:
    text, finish, usage = "", None, None
    async with FakeProvider(prefix_cache=False) as provider, openai_client(provider) as client:
        plain = await client.chat.completions.create(model="m", messages=user(), **extra)
        stream = await client.chat.completions.create(
            model="m", messages=user(), stream=True, stream_options={"include_usage": True}, **extra
        )
        async for chunk in stream:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                text += choice.delta.content or ""
                finish = choice.finish_reason or finish
    assert text == plain.choices[0].message.content
    assert finish == "stop"
    assert usage == plain.usage


async def test_a_streamed_tool_call_adds_up_to_valid_arguments() -> None:
    name, arguments, finish = "", "", None
    async with FakeProvider() as provider, openai_client(provider) as client:
        stream = await client.chat.completions.create(
            model="m",
            messages=user(),
            tools=[TOOL],
            tool_choice="required",
            stream=True,
        )
        async for chunk in stream:
            finish = chunk.choices[0].finish_reason or finish
            for call in chunk.choices[0].delta.tool_calls or ():
                assert call.function is not None
                name += call.function.name or ""
                arguments += call.function.arguments or ""
    assert (name, finish) == ("take_turn", "tool_calls")
    assert is_valid(arguments)


async def test_the_openai_client_lists_the_models() -> None:
    async with (
        FakeProvider(models=["small", "large"], aliases={"latest": "large"}) as provider,
        openai_client(provider) as client,
    ):
        listed = [model.id async for model in client.models.list()]
    assert listed == ["small", "large", "latest"]
    assert provider.models_asked.count == 1


# What is answered.


async def test_the_same_request_gets_the_same_answer_from_any_provider() -> None:
    answers = set()
    for _ in range(2):
        async with FakeProvider() as provider:
            answers |= {await content(provider, response_format=NATIVE) for _ in range(2)}
    assert len(answers) == 1


@pytest.mark.parametrize("change", [{"messages": user("Another?")}, {"model": "n"}, {"seed": 2}], ids=str)
async def test_another_request_gets_another_answer(change: Body) -> None:
    async with FakeProvider() as provider:
        assert await content(provider) != await content(provider, **change)


async def test_tool_result_followed_by_answer_and_not_by_another_call() -> None:
    """A tool result is followed by an answer and not by another call."""
    async with FakeProvider() as provider:
        _, first = await post(provider, tools=[TOOL])
        called = first["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": called["tool_calls"][0]["id"], "content": "42"}
        messages = [*user(), called, result]
        text = await content(provider, tools=[TOOL], response_format=NATIVE, messages=messages)
    assert is_valid(text)


async def test_a_schema_in_the_prompt_is_found_and_honoured() -> None:
    prompt = f'Answer {{"like": "this"}} and so on. The schema: {json.dumps(SCHEMA, indent=2)} No {{fence}}.'
    async with FakeProvider(honours=()) as provider:
        assert is_valid(await content(provider, messages=user(prompt)))


async def test_what_kept_of_answers_changes_with_what_provider_honours() -> None:
    """What is kept of answers changes with what the provider honours."""
    async with FakeProvider() as provider:
        first = await content(provider, response_format=NATIVE)
        assert await content(provider, response_format=NATIVE) == first
        provider.honours, provider.ignores = (), (OutputMode.NATIVE,)
        ignored = await content(provider, response_format=NATIVE)
        assert ignored != first
        provider.answer = lambda _: "as given"
        assert await content(provider, response_format=NATIVE) == "as given"


async def test_given_function_decides_answer_and_may_leave_to_provider() -> None:
    """A given function decides the answer and may leave it to the provider."""
    given: dict[str, str | Body] = {"plain": "as given", "object": {"as": "given"}}

    def answer(request: ReceivedRequest) -> str | Body | None:
        return given.get(request.prompt)

    async with FakeProvider(answer=answer) as provider:
        assert await content(provider, messages=user("plain")) == "as given"
        assert json.loads(await content(provider, messages=user("object"))) == {"as": "given"}
        assert is_valid(await content(provider, messages=user("other"), response_format=NATIVE))


async def test_an_alias_is_served_by_the_model_behind_it() -> None:
    async with FakeProvider(aliases={"latest": "large-2026"}) as provider:
        _, answer = await post(provider, model="latest")
    assert answer["model"] == "large-2026"
    assert provider.requests[0].model == "latest"


async def test_an_answer_ends_at_the_token_limit() -> None:
    async with FakeProvider() as provider:
        _, answer = await post(provider, max_tokens=5)
    assert answer["choices"][0]["finish_reason"] == "length"
    assert len(answer["choices"][0]["message"]["content"]) == 20
    assert answer["usage"]["completion_tokens"] == 5


# What is counted.


async def test_tokens_are_a_quarter_of_the_bytes_rounded_up() -> None:
    text = "Ärger über Öl"
    async with FakeProvider() as provider:
        _, answer = await post(provider, messages=user(text))
        _, with_schema = await post(provider, messages=user(text), response_format=NATIVE)
    written = answer["choices"][0]["message"]["content"]
    prompt = len(f"user\n{text}\n".encode())
    assert answer["usage"]["prompt_tokens"] == math.ceil(prompt / 4)
    assert answer["usage"]["completion_tokens"] == math.ceil(len(written.encode()) / 4)
    schema = len(json.dumps(NATIVE, separators=(",", ":")))
    assert with_schema["usage"]["prompt_tokens"] == math.ceil((prompt + schema) / 4)


async def test_the_beginning_shared_with_an_earlier_prompt_is_cached() -> None:
    shared = "The rules of this debate. " * 20
    async with FakeProvider() as provider:
        _, first = await post(provider, messages=user(f"{shared}Pro speaks."))
        _, second = await post(provider, messages=user(f"{shared}Con speaks."))
        _, other_model = await post(provider, model="n", messages=user(f"{shared}Con speaks."))
    cached = [body["usage"]["prompt_tokens_details"]["cached_tokens"] for body in (first, second, other_model)]
    assert cached == [0, len(f"user\n{shared}") // 4, 0]


async def test_counts_are_left_out_where_the_provider_reports_none() -> None:
    async with FakeProvider(prefix_cache=False) as provider:
        _, without_cache = await post(provider)
        provider.reports_usage = False
        _, without_usage = await post(provider)
    assert "prompt_tokens_details" not in without_cache["usage"]
    assert "usage" not in without_usage


@given(prompts=st.lists(st.text(alphabet="abé", max_size=12), max_size=12), keep=st.none() | st.integers(1, 5))
@settings(max_examples=20, deadline=None)
def test_cached_tokens_are_those_of_the_longest_shared_beginning(prompts: list[str], keep: int | None) -> None:
    index = PrefixIndex(keep)
    known: list[bytes] = []
    for prompt in prompts:
        data = prompt.encode()
        shared = [next((n for n in range(len(data) + 1) if data[: n + 1] != old[: n + 1]), len(data)) for old in known]
        assert index.cached_tokens("m", data) == max((min(n, len(data)) for n in shared), default=0) // 4
        if data not in known:
            known = [*known, data][-keep if keep else 0 :]


# What is refused.


@pytest.mark.parametrize("key", [None, "wrong"])
async def test_a_missing_or_wrong_key_is_rejected_and_never_repeated(key: str | None) -> None:
    async with FakeProvider(api_key="right-secret") as provider:
        status, body = await post(provider, key=key)
        accepted, _ = await post(provider, key="right-secret")
    assert (status, accepted) == (401, 200)
    assert body["error"]["code"] == "invalid_api_key"
    shown = repr((provider, body, [(request.headers, request.body) for request in provider.requests]))
    assert "secret" not in shown
    assert "wrong" not in shown


@pytest.mark.parametrize(
    ("body", "status", "code", "param"),
    [
        ({"model": ""}, 400, None, None),
        ({"messages": []}, 400, None, "messages"),
        ({"model": "absent"}, 404, "model_not_found", None),
        ({"messages": user("long " * 500)}, 400, "context_length_exceeded", "messages"),
        ({"max_tokens": 500}, 400, "context_length_exceeded", "messages"),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}}, 400, None, None),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}}, 400, None, None),
        ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "no"}}}, 400, None, "tool_choice"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_request_cannot_be_served_is_refused_as_openai_words_it(
    body: Body, status: int, code: str | None, param: str | None
) -> None:
    """A request that cannot be served is refused as openai words it."""
    async with FakeProvider(models=["m"], max_context=400) as provider:
        got, answer = await post(provider, **body)
    assert (got, answer["error"]["code"]) == (status, code)
    assert param is None or answer["error"]["param"] == param
    assert answer["error"]["type"] == "invalid_request_error"
    assert answer["error"]["message"]


@pytest.mark.parametrize(
    "flaw",
    [
        {"required": ["claim"]},
        {"additionalProperties": True},
        {"properties": {"claim": {"type": "array", "items": {"type": "object"}}}, "required": ["claim"]},
        {"type": "strng"},
    ],
    ids=["a key that is not required", "open", "open within", "no schema"],
)
async def test_schema_marked_strict_breaks_rules_for_it_is_refused(flaw: Body) -> None:
    """A schema marked strict that breaks the rules for it is refused."""
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": SCHEMA | flaw}}
    async with FakeProvider() as provider:
        status, answer = await post(provider, response_format=wanted)
    assert status == 400
    assert answer["error"]["message"].startswith("Invalid schema for response_format 'x'")


@pytest.mark.parametrize(
    ("honours", "refused", "served"),
    [
        ([OutputMode.NATIVE], {"tools": [TOOL]}, {"response_format": NATIVE}),
        ([OutputMode.TOOL], {"response_format": NATIVE}, {"tools": [TOOL]}),
        ([], {"response_format": NATIVE}, {}),
        ([], {"tools": [TOOL]}, {}),
    ],
)
async def test_a_mode_the_server_does_not_have_is_refused(
    honours: list[OutputMode], refused: Body, served: Body
) -> None:
    async with FakeProvider(honours=honours) as provider:
        assert (await post(provider, **refused))[0] == 400
        assert (await post(provider, **served))[0] == 200


async def test_an_ignored_mode_is_answered_with_prose() -> None:
    ignoring = FakeProvider(honours=[], ignores=[OutputMode.NATIVE, OutputMode.TOOL])
    async with ignoring as provider:
        for extra in ({"response_format": NATIVE}, {"tools": [TOOL], "tool_choice": "required"}):
            with pytest.raises(json.JSONDecodeError):
                json.loads(await content(provider, **extra))


@pytest.mark.parametrize("body", [b"{", b"[]", b'"text"', b"\xff\xfe", b"[" * 100_000])
async def test_a_body_that_is_no_json_object_is_refused(body: bytes) -> None:
    async with (
        FakeProvider() as provider,
        aiohttp.ClientSession() as session,
        session.post(f"{provider.base_url}/chat/completions", data=body) as response,
    ):
        assert response.status == 400
    assert provider.requests == []


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                (
                    "type",
                    "required",
                    "strict",
                    "$ref",
                    "items",
                    "anyOf",
                    "name",
                    "function",
                    "json_schema",
                    "schema",
                    "content",
                    "properties",
                    "tools",
                )
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
FIELDS = ("messages", "response_format", "tools", "tool_choice", "stream_options", "max_tokens", "model", "seed")


@given(
    body=st.fixed_dictionaries({"model": st.just("m"), "messages": st.just(user())}),
    strange=st.dictionaries(st.sampled_from(FIELDS), anything, min_size=1, max_size=3),
    stream=st.booleans(),
)
@settings(max_examples=20, deadline=None)
def test_a_request_of_any_shape_is_answered_or_refused(body: Body, strange: Body, stream: bool) -> None:
    behaviour = Behaviour(max_context=10**9)
    request = Inbox(None).receive(body | strange | {"stream": stream}, {})
    answer = answer_to(request, behaviour, PrefixIndex())
    if isinstance(answer, Rejection):
        assert answer.status in {400, 404}
    else:
        assert completion_payload(answer, request, behaviour).status == 200


@pytest.mark.parametrize("bad", [{"port": -1}, {"latency": -0.1}, {"chunk_chars": 0}, {"max_context": 0}], ids=str)
def test_a_setting_out_of_its_range_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(bad))):
        FakeProvider(**bad)


# What is kept, held and waited for.


async def test_every_request_is_kept_in_order_without_its_key() -> None:
    async with FakeProvider() as provider:
        for text in ("first", "second", "first"):
            await post(provider, key="secret", messages=user(text))
    assert [request.prompt for request in provider.requests] == ["first", "second", "first"]
    assert [request.index for request in provider.requests] == [0, 1, 2]
    assert [request.attempt for request in provider.requests] == [0, 0, 1]
    assert all("authorization" not in request.headers for request in provider.requests)
    assert provider.requests[0].headers["content-type"] == "application/json"


async def test_only_latest_requests_are_kept_where_number_is_given() -> None:
    """Only the latest requests are kept where a number is given."""
    async with FakeProvider(keep=2) as provider:
        for text in "abc":
            await post(provider, messages=user(text))
    assert [request.prompt for request in provider.requests] == ["b", "c"]
    assert provider.arrived.count == 3


async def test_held_answers_wait_until_they_are_released() -> None:
    async with FakeProvider() as provider:
        provider.hold()
        calls = [asyncio.create_task(content(provider, messages=user(f"{n}"))) for n in range(3)]
        await provider.arrived.reach(3)
        assert provider.in_flight == 3
        assert not any(call.done() for call in calls)
        provider.release()
        await asyncio.gather(*calls)
        await content(provider)
    assert (provider.in_flight, provider.peak_in_flight) == (0, 3)


async def test_held_answers_can_be_released_in_any_order() -> None:
    async with FakeProvider() as provider:
        provider.hold()
        calls = {}
        for number in range(3):
            calls[number] = asyncio.create_task(content(provider, messages=user(f"{number}")))
            await provider.arrived.reach(number + 1)
        for number in (2, 0, 1):
            provider.release(number)
            await calls.pop(number)
            assert not any(call.done() for call in calls.values())


async def test_an_answer_released_before_its_request_came_is_not_held() -> None:
    async with FakeProvider() as provider:
        provider.hold()
        provider.release(0)
        assert await content(provider)


async def test_waiting_in_vain_says_how_many_came() -> None:
    async with FakeProvider() as provider:
        await post(provider)
        with pytest.raises(TimeoutError, match="1 of 2 requests arrived"):
            await provider.arrived.reach(2, timeout_s=0.01)
        with pytest.raises(TimeoutError, match="1 of 2 requests arrived"):
            provider.arrived.wait(2, timeout_s=0.01)


async def test_a_client_that_leaves_is_counted_as_an_abandoned_request() -> None:
    async with FakeProvider() as provider:
        provider.hold()
        call = asyncio.create_task(post(provider))
        await provider.arrived.reach(1)
        call.cancel()
        await provider.abandoned.reach(1)
        assert (provider.in_flight, provider.answered.count) == (0, 0)


async def test_stopping_does_not_wait_for_answers_that_hang() -> None:
    async with FakeProvider(mishaps=Mishaps().always(Mishap.HANG)) as provider:
        call = asyncio.create_task(post(provider))
        await provider.arrived.reach(1)
        start = time.perf_counter()
    assert time.perf_counter() - start < 1
    with pytest.raises(aiohttp.ClientError):
        await call


async def test_an_answer_takes_at_least_the_latency() -> None:
    async with FakeProvider(latency=0.03) as provider:
        start = time.perf_counter()
        await post(provider)
    assert time.perf_counter() - start >= 0.03


def received(text: str, attempt: int = 0) -> ReceivedRequest:
    return ReceivedRequest(0, attempt, {"messages": user(text)}, {}, f"print of {text}")


def test_drawn_latencies_follow_their_distribution_and_stay_same() -> None:
    """Drawn latencies follow their distribution and stay the same."""
    requests = [received(f"{n}") for n in range(2000)]
    even, tailed = uniform(0.1, 0.3, seed=1), lognormal(0.2, 0.5, seed=1)
    drawn = sorted(even(request) for request in requests)
    assert 0.1 <= drawn[0] < 0.11
    assert 0.29 < drawn[-1] <= 0.3
    waits = sorted(tailed(request) for request in requests)
    assert waits[1000] == pytest.approx(0.2, rel=0.1)
    assert math.log(waits[1682] / waits[1000]) == pytest.approx(0.5, rel=0.15)
    assert [tailed(request) for request in requests] == [lognormal(0.2, 0.5, seed=1)(each) for each in requests]
    assert tailed(requests[0]) != tailed(received("0", attempt=1))
    assert tailed(requests[0]) != lognormal(0.2, 0.5, seed=2)(requests[0])


# Where it runs.


async def test_refusing_provider_refuses_connections_until_accepts() -> None:
    """A refusing provider refuses connections until it accepts again."""
    async with FakeProvider() as provider:
        before = await content(provider)
        await provider.refuse()
        with pytest.raises(aiohttp.ClientConnectorError):
            await post(provider)
        await provider.accept()
        assert await content(provider) == before
    assert provider.arrived.count == 2


async def test_nobody_listens_at_a_refused_base_url() -> None:
    with refused_base_url() as base_url:
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ClientConnectorError):
                await session.get(f"{base_url}/models")
