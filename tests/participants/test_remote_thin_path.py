"""The thin path against the library's own way: the same bytes out, the same outcome back."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from remote_server import (
    KEY,
    SCHEMA,
    Received,
    Server,
    a_call,
    answer,
    bytes_only,
    completion,
    opened,
    serving,
    tool_call,
)

from disputatio.errors import InvalidInputError
from disputatio.participants.call import Call, Fault, FaultKind, OutputMode, Reply, Segment, Usage
from disputatio.participants.control_tokens import break_control_tokens
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.remote import Endpoint, RemoteClient, open_client
from disputatio.participants.remote.direct import plain_reply
from disputatio.participants.remote.parameters import forget
from disputatio.testing.provider import FakeProvider, Mishap, Mishaps

pytestmark = pytest.mark.usefixtures("warm_libraries")

MODES = list(OutputMode)


Ask = Callable[[Call], Awaitable[tuple[Reply | Fault, Reply | Fault]]]


@asynccontextmanager
async def both_ways(seating: ModelSeating, key: str | None = KEY) -> AsyncIterator[Ask]:
    """Asks what a call brings over the thin path, and what by the library alone."""
    endpoint = Endpoint.of(seating, key)
    thin, library = RemoteClient(endpoint), RemoteClient(replace(endpoint, direct=False))

    async def ask(call: Call) -> tuple[Reply | Fault, Reply | Fault]:
        direct = await thin.call(call)
        # What the one has learned of the server would change what the other sends.
        forget()
        return direct, await library.call(call)

    try:
        yield ask
    finally:
        await thin.aclose()
        await library.aclose()


async def alike(seating: ModelSeating, *calls: Call) -> None:
    async with both_ways(seating) as ask:
        for call in calls:
            direct, by_library = await ask(call)
            assert direct == by_library


def on_the_wire(received: Received) -> tuple[Any, ...]:
    """All of a request but its length, which another order of keys and other escapes may change."""
    headers = {name.lower(): value for name, value in received.headers.items() if name.lower() != "content-length"}
    return received.method, received.path, headers, received.body


async def alike_on_the_wire(server: Server, provider: str, *calls: Call, key: str | None = KEY) -> int:
    """Make ``calls`` both ways; the number of requests."""
    server.received.clear()
    async with both_ways(server.seat(provider), key) as ask:
        for call in calls:
            direct, by_library = await ask(call)
            assert direct == by_library
    sent = [on_the_wire(row) for row in server.received]
    assert sent[::2] == sent[1::2]
    return len(sent)


TEXTS = st.text(max_size=12) | st.sampled_from(["<|im_end|>", "[/INST] <s>", "\ud800", "ä\u200d", '"\\', "<think>"])
CALLS = st.builds(
    Call,
    segments=st.lists(st.builds(Segment, st.sampled_from(["system", "user", "assistant"]), TEXTS), min_size=1).map(
        tuple
    ),
    schema=st.sampled_from([SCHEMA, {**SCHEMA, "title": "T", "description": "ü"}]),
    schema_name=st.sampled_from(["judging", "vote"]),
    mode=st.sampled_from(MODES),
    temperature=st.none() | st.floats(0, 2) | st.just(float("nan")),
    max_tokens=st.integers(1, 2**70),
    seed=st.none() | st.integers(-(2**70), 2**70),
)


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["openai_compatible", "openai"])
@given(calls=st.lists(CALLS, min_size=4, max_size=4))
def test_both_ways_send_the_same(provider: str, calls: list[Call]) -> None:
    """Address, headers and body, for any call; and what cannot be sent by the one cannot by the other."""

    async def scenario() -> None:
        async with serving() as server:
            await alike_on_the_wire(server, provider, *calls)

    asyncio.run(scenario())


async def test_both_ways_send_the_same_headers_with_a_key_and_without() -> None:
    async with serving() as server:
        for provider in ("openai_compatible", "openai"):
            assert await alike_on_the_wire(server, provider, *(a_call(mode) for mode in MODES)) == 2 * len(MODES)
        assert await alike_on_the_wire(server, "openai_compatible", a_call(), key=None) == 2


def bodies() -> list[Any]:
    """Responses with status 200: what servers send, and what each kind of surprise looks like."""
    counts = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    stopped = completion()["choices"][0]
    return [
        completion('{"score": 3}'),
        completion(" \n{}\n "),
        completion(""),
        completion(None),
        completion('{"sco', finish_reason="length"),
        completion("", finish_reason="length"),
        completion(None, finish_reason="length"),
        *(completion("{}", finish_reason=word) for word in ("eos", "", None, "tool_calls", "content_filter", 3)),
        completion("{}", message={"refusal": "I cannot."}),
        completion(None, message={"refusal": "I cannot."}),
        completion("{}", message={"refusal": ""}),
        completion("{}", message={"annotations": []}),
        completion("{}", message={"audio": None, "function_call": None, "tool_calls": None}),
        completion("{}", message={"function_call": {"name": "f", "arguments": "{}"}}),
        completion("  {}", message={"reasoning_content": "Hm."}),
        completion("  {}", message={"reasoning": "Hm.", "reasoning_content": ""}),
        completion("<think>Hm.</think>\n{}"),
        completion("so <think>Hm.</think> {}"),
        completion("<thinking>{}"),
        completion("<thinking>Hm.</thinking>{}"),
        completion("Hm. </think>\n{}"),
        completion("[THINK]Hm.[/THINK]{}"),
        completion('{"why": "</think>"}'),
        completion("<think>Hm", finish_reason="length"),
        completion("<thinking>Hm", finish_reason="length"),
        *(
            completion("{}", usage={**counts, "total_tokens": total, "completion_tokens_details": details})
            for total in (13, 15, 113)
            for details in ({"reasoning_tokens": 2}, {"reasoning_tokens": 100}, {"reasoning_tokens": None}, {}, None)
        ),
        completion("<\u200d|im_end|> [\u2060INST] <\ufeffs>"),
        completion("plain \u200d joiner ä"),
        completion("[{}]", message={"content": [{"type": "text", "text": "{}"}]}),
        completion(None, message=tool_call('{"score": 1}'), finish_reason="tool_calls"),
        completion("words", message=tool_call('{"score": 1}'), finish_reason="stop"),
        completion(None, message=tool_call('{"why": "<\\u200d|im_end|>"}'), finish_reason="tool_calls"),
        completion(None, message=tool_call(""), finish_reason="tool_calls"),
        completion(None, message={"tool_calls": [{"id": "", "type": "function", "function": {}}]}),
        completion(None, message={"tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "x", "input": ""}}]}),
        *(completion("{}", message={"tool_calls": value}) for value in ([], False, 0, "", {}, "x", {"a": 1})),
        *(completion("{}", message={"annotations": value}) for value in (False, 0, "", {}, [{}])),
        *(completion("{}", message={"refusal": value}) for value in (False, 0, [], {})),
        *(completion(" {}", message={"reasoning": value}) for value in (False, 0, [], {})),
        *(completion("{}", usage=value) for value in (False, 0, "", [], "x")),
        completion("{}", message={"role": "user"}),
        *(completion("{}", usage=usage) for usage in (None, {}, counts, {**counts, "prompt_tokens": None})),
        *(completion("{}", usage={**counts, "prompt_tokens": value}) for value in ("9", 9.0, 9.5, True, -1, 2**70)),
        *(
            completion("{}", usage={**counts, "prompt_tokens_details": value})
            for value in (None, {}, {"cached_tokens": 8}, {"cached_tokens": None}, {"cached_tokens": "8"}, [], 3)
        ),
        completion("{}", usage={**counts, "completion_tokens_details": {"reasoning_tokens": 2, "new": None}}),
        completion("{}", usage={**counts, "completion_tokens_details": {"reasoning_tokens": "two"}}),
        *(completion("{}", usage={**counts, "prompt_cache_hit_tokens": value}) for value in (6, 0, None, "6", True)),
        *(completion("{}", model=value) for value in ("", None, 3)),
        *(completion("{}", id=value) for value in ("", None, 3)),
        *(completion("{}", created=value) for value in (0, None, -5, 1.0, 1.5, "1", 10**13, 10**18, 10**30, True)),
        *(completion("{}", object=value) for value in ("", "text", None)),
        *(completion("{}", service_tier=value) for value in ("default", "standard", 3, None)),
        *(completion("{}", system_fingerprint=value) for value in ("fp", 3, None)),
        completion("{}", timings={"prompt_n": 3}, provider="x", metadata={"a": "b"}),
        completion("{}", metadata={"a": [1]}),
        *(completion("{}", error=value) for value in (None, {}, "", {"message": "overloaded", "code": 529}, "no")),
        completion("{}", choices=[]),
        completion("{}", choices=None),
        completion("{}", choices=[stopped, stopped]),
        completion("{}", choices=[{**stopped, "logprobs": {"content": []}}]),
        completion("{}", choices=[{**stopped, "index": None}]),
        completion("{}", choices=[{"message": {"content": "{}"}}]),
        {"choices": [{"message": {"content": "{}"}}]},
        {"error": {"message": "the context length is exceeded", "code": "context_length_exceeded"}},
        {},
        [],
        None,
        "text",
        5,
    ]


@pytest.mark.slow
@pytest.mark.parametrize("mode", [OutputMode.NATIVE, OutputMode.TOOL])
@pytest.mark.filterwarnings("ignore:Unexpected non-string value:UserWarning")
async def test_every_body_means_the_same_both_ways(mode: OutputMode) -> None:
    async with serving() as server, both_ways(server.seat()) as ask:
        for body in bodies():
            server.answers = [answer(json.dumps(body))]
            direct, by_library = await ask(a_call(mode))
            assert direct == by_library, body


RAW = [
    b"",
    b"not json",
    b'{"choices": [',
    b"\xef\xbb\xbf" + json.dumps(completion()).encode(),
    json.dumps(completion("ä"), ensure_ascii=False).encode("latin-1"),
    json.dumps(completion("ä")).encode("utf-16"),
    json.dumps(completion("\ud800")).encode(),
    json.dumps(completion("{}")).replace('"created": 1', '"created": NaN').encode(),
    json.dumps(completion("{}")).replace('"model"', '"model": "first", "model"').encode(),
    b"<html><title>Sign in</title></html>",
    b"data: {}\n\n",
]
HEADERS = [
    {"Content-Type": "application/json; charset=latin-1"},
    {"Content-Type": "text/plain"},
    {"Content-Type": "text/event-stream"},
    {},
]


@pytest.mark.slow
async def test_every_encoding_of_a_body_means_the_same_both_ways() -> None:
    async with serving() as server, both_ways(server.seat()) as ask:
        for raw in RAW:
            for headers in HEADERS:
                server.answers = [answer(raw, headers=headers)]
                direct, by_library = await ask(a_call())
                assert direct == by_library, (raw, headers)


async def test_compressed_answers_read_and_broken_ones_told_both_ways() -> None:
    packed = gzip.compress(json.dumps(completion('{"score": 3}')).encode())
    async with serving() as server, both_ways(server.seat()) as ask:
        for raw, encoding in ((packed, "gzip"), (packed[:-9], "gzip"), (b"{}", "gzip"), (packed, "unheard-of")):
            headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
            server.answers = [answer(raw, headers=headers)]
            direct, by_library = await ask(a_call())
            assert direct == by_library
            if encoding == "gzip" and raw is packed:
                assert isinstance(direct, Reply)


ERRORS: list[tuple[int, object, dict[str, str]]] = [
    *((status, {"error": {"message": "No."}}, {}) for status in (201, 204, 302, 400, 401, 403, 404, 418, 500, 529)),
    (200, completion(), {"Set-Cookie": "a=b", "x-request-id": "r-1"}),
    (429, {"error": {"message": "Slow down.", "code": "rate_limit_exceeded"}}, {"Retry-After": "2.5"}),
    (429, {"error": {"message": "Slow down."}}, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}),
    (429, "busy", {"Retry-After": "soon"}),
    (503, "<html><title>Bad Gateway</title></html>", {"Retry-After": "1", "Content-Type": "text/html"}),
    (301, "", {"Location": "https://elsewhere.example/"}),
    (400, {"error": {"message": "'response_format' of type json_schema is not supported"}}, {}),
    (400, {"error": {"code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, {}),
    (400, [], {}),
    (500, f"the key {KEY} is echoed", {"Content-Type": "text/plain"}),
]


@pytest.mark.slow
async def test_every_status_means_the_same_both_ways() -> None:
    async with serving() as server, both_ways(server.seat()) as ask:
        for status, body, headers in ERRORS:
            given_headers = {"Content-Type": "application/json", **headers}
            raw = body if isinstance(body, str) else json.dumps(body)
            server.answers = [answer(raw, status=status, headers=given_headers)]
            for mode in (OutputMode.NATIVE, OutputMode.TOOL):
                direct, by_library = await ask(a_call(mode))
                assert direct == by_library, (status, body)


@pytest.mark.slow
async def test_every_lost_connection_means_the_same_both_ways() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
    scripts = [
        None,
        b"SSH-2.0-OpenSSH_9.6\r\n",
        head + b"content-length: 500\r\n\r\n{",
        head + b"transfer-encoding: chunked\r\n\r\n5\r\n{",
        b"HTTP/1.1 500 Oh\r\ncontent-length: 500\r\n\r\n{",
    ]
    for script in scripts:
        for reset in (False, True):
            async with bytes_only(script, reset=reset) as url:
                await alike(ModelSeating(provider="openai_compatible", model="m", base_url=f"{url}/v1"), a_call())


async def test_what_server_says_before_response_passed_over_both_ways() -> None:
    body = json.dumps(completion('{"score": 3}')).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
    async with bytes_only(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" + head + body) as url:
        seating = ModelSeating(provider="openai_compatible", model="m", base_url=f"{url}/v1")
        async with both_ways(seating) as ask:
            direct, by_library = await ask(a_call())
    assert direct == by_library
    assert isinstance(direct, Reply)


def plainly(content: str, status: int = 200) -> bytes:
    """A response over a connection that stays."""
    body = json.dumps(completion(content)).encode()
    return b"HTTP/1.1 %03d Said\r\ncontent-length: %d\r\n\r\n%b" % (status, len(body), body)


@asynccontextmanager
async def staying(*scripts: tuple[bytes, ...]) -> AsyncIterator[tuple[ModelSeating, list[int]]]:
    """A server that keeps its connections, and says all of a script to each request; which connections they came on."""
    turns, came_on, connections = list(scripts), list[int](), list[asyncio.StreamWriter]()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        number = len(connections)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))
                came_on.append(number)
                for said in turns.pop(0):
                    writer.write(said)
                    await asyncio.sleep(0.01)
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        yield ModelSeating(provider="openai_compatible", model="m", base_url=url, timeout_s=0.5), came_on
        for writer in connections:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


@pytest.mark.parametrize("thin", [True, False])
async def test_an_unasked_response_answers_no_later_call(*, thin: bool) -> None:
    async with staying((plainly("one"), plainly("unasked")), (plainly("two"),), (plainly("three"),)) as (seating, on):
        model_client = RemoteClient(replace(Endpoint.of(seating, KEY), direct=thin))
        texts = []
        for _ in range(3):
            reply = await model_client.call(a_call(OutputMode.TEXT))
            texts.append(reply.text if isinstance(reply, Reply) else reply)
            await asyncio.sleep(0.03)
        await model_client.aclose()
    assert texts == ["one", "two", "three"]
    assert on == [1, 2, 2]


async def test_status_below_all_announce_response_no_reason_to_wait() -> None:
    async with staying((plainly("{}", 99),)) as (seating, _), opened(seating) as model_client:
        outcome = await model_client.call(a_call())
    assert isinstance(outcome, Fault)
    assert outcome.kind is FaultKind.GARBLED


async def test_connection_to_closed_serves_no_other_call_whatever() -> None:
    """A connection that is to be closed serves no other call whatever its server says."""
    async with staying((plainly("one"),), (plainly("two"),)) as (seating, came_on):
        model_client = RemoteClient(replace(Endpoint.of(seating, KEY), keep_alive=False))
        outcomes = [await model_client.call(a_call(OutputMode.TEXT)) for _ in range(2)]
        await model_client.aclose()
    assert [type(row) for row in outcomes] == [Reply, Reply]
    assert came_on == [1, 2]


@pytest.mark.slow
async def test_half_read_request_leaves_connection_for_no_other_call() -> None:
    """The rest of the body would go ahead of the next request."""
    connections = 0
    body = json.dumps({"error": {"message": "Too long."}}).encode()

    async def impatient(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        await ended.wait()
        writer.close()

    ended = asyncio.Event()
    server = await asyncio.start_server(impatient, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        seating = ModelSeating(provider="openai_compatible", model="m", base_url=url, timeout_s=10)
        async with opened(seating) as model_client:
            long = a_call(segments=(Segment("user", "x" * 2**23),))
            outcomes = [await model_client.call(long) for _ in range(2)]
        ended.set()
    assert [row.kind for row in outcomes if isinstance(row, Fault)] == [FaultKind.CONTEXT_TOO_LONG] * 2
    assert connections == 2


@pytest.mark.parametrize(
    "base_url",
    [
        "http://127.0.0.1:9/v1",
        "https://127.0.0.1:9/v1",
        "http://127.0.0.1:99999/v1",
        "ftp://127.0.0.1/v1",
        "127.0.0.1/v1",
        "http://name:secret@127.0.0.1:9/v1",
        "http://host.invalid/v1",
    ],
)
async def test_an_address_where_nobody_is_means_the_same_both_ways(base_url: str) -> None:
    await alike(ModelSeating(provider="openai_compatible", model="m", base_url=base_url), a_call())


@pytest.mark.slow
@pytest.mark.parametrize("mishap", list(Mishap))
async def test_every_mishap_means_the_same_both_ways(mishap: Mishap) -> None:
    waits = mishap in {Mishap.HANG, Mishap.STALLED_STREAM}
    async with FakeProvider(mishaps=Mishaps().always(mishap), drip_s=0, prefix_cache=False) as provider:
        seating = ModelSeating(
            provider="openai_compatible", model="m", base_url=provider.base_url, timeout_s=0.1 if waits else 30
        )
        await alike(seating, a_call(), a_call(OutputMode.TOOL))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, row in inner for place in places(row, (*path, key)))]


WHOLE = completion(
    '{"score": 3}',
    message={"refusal": None, "annotations": [], "reasoning_content": "Hm.", **tool_call("{}")},
    service_tier="default",
    system_fingerprint="fp",
    usage={
        "prompt_tokens": 9,
        "completion_tokens": 4,
        "total_tokens": 13,
        "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 2},
        "prompt_cache_hit_tokens": 8,
    },
)


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """A completion with something else, or nothing, in one place."""
    body = copy.deepcopy(WHOLE)
    if draw(st.booleans()):
        del body["choices"][0]["message"]["tool_calls"]
    *way, last = draw(st.sampled_from(places(body)[1:]))
    inner = body
    for key in way:
        inner = inner[key]
    if isinstance(inner, dict) and draw(st.integers(0, 3)) == 0:
        del inner[last]
    else:
        inner[last] = draw(JSON)
    return body


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Unexpected non-string value:UserWarning")
@given(rows=st.lists(st.tuples(damaged(), st.sampled_from(MODES)), min_size=5, max_size=5))
@settings(deadline=None)
def test_a_completion_damaged_anywhere_means_the_same_both_ways(rows: list[tuple[Any, OutputMode]]) -> None:
    async def scenario() -> None:
        async with serving() as server, both_ways(server.seat()) as ask:
            for body, mode in rows:
                server.answers = [answer(json.dumps(body))]
                direct, by_library = await ask(a_call(mode))
                assert direct == by_library, (body, mode)

    asyncio.run(scenario())


class TestSwitch:
    """``DISPUTATIO_CALLS`` keeps calls on the library's way."""

    @pytest.mark.parametrize(("word", "direct"), [(None, True), ("", True), ("direct", True), ("Library ", False)])
    async def test_it_says_which_way_calls_go(
        self, word: str | None, direct: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The library writes a body in its own order of keys, which tells the two apart."""
        if word is not None:
            monkeypatch.setenv("DISPUTATIO_CALLS", word)
        async with serving() as server, opened(server.seat()) as model_client:
            assert isinstance(await model_client.call(a_call()), Reply)
            assert (list(server.received[0].body)[:2] == ["model", "stream"]) == direct

    def test_another_word_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DISPUTATIO_CALLS", "libary")
        with pytest.raises(InvalidInputError, match="DISPUTATIO_CALLS is 'libary'"):
            open_client(ModelSeating(provider="ollama", model="m"), None)


class TestPlainReply:
    """The thin path reads what servers usually send; otherwise it would save nothing."""

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            # OpenAI
            (
                {
                    "service_tier": "default",
                    "system_fingerprint": "fp_1",
                    "message": {"refusal": None, "annotations": []},
                    "usage": {
                        "prompt_tokens": 9,
                        "completion_tokens": 4,
                        "total_tokens": 13,
                        "prompt_tokens_details": {"cached_tokens": 8, "audio_tokens": 0},
                        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
                    },
                },
                Usage(9, 4, 8, reasoning_tokens=0),
            ),
            # vLLM
            ({"message": {"tool_calls": [], "reasoning_content": None}, "prompt_logprobs": None}, Usage(12, 5)),
            # Ollama
            ({"system_fingerprint": "fp_ollama"}, Usage(12, 5)),
            # llama.cpp's server
            ({"timings": {"prompt_n": 12, "prompt_ms": 1.5}, "system_fingerprint": "b1-x"}, Usage(12, 5)),
            # DeepSeek
            (
                {
                    "usage": {
                        "prompt_tokens": 9,
                        "completion_tokens": 4,
                        "total_tokens": 13,
                        "prompt_cache_hit_tokens": 6,
                        "prompt_cache_miss_tokens": 3,
                    }
                },
                Usage(9, 4, 6),
            ),
        ],
    )
    def test_it_knows_the_usual_servers(self, changes: dict[str, Any], expected: Usage) -> None:
        body = json.dumps(completion('{"score": 3}', **changes)).encode()
        assert plain_reply(body, OutputMode.NATIVE) == Reply('{"score": 3}', "served-model", expected)

    def test_it_reads_the_call_of_the_tool_in_tool_mode_only(self) -> None:
        body = json.dumps(completion(None, message=tool_call('{"score": 3}'), finish_reason="tool_calls")).encode()
        assert plain_reply(body, OutputMode.TOOL) == Reply('{"score": 3}', "served-model", Usage(12, 5))
        assert plain_reply(body, OutputMode.NATIVE) is None


FRAGMENTS = [
    "<",
    "|",
    ">",
    "<|",
    "|>",
    "im_end",
    "[",
    "]",
    "/INST]",
    "[INST",
    "]~",
    "~!b[",
    "s>",
    "<｜",
    "User",
    "｜>",
    "<<SYS",
]


@given(st.lists(st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join), max_size=4))
def test_control_tokens_broken_alike_segment_by_segment(texts: list[str]) -> None:
    """Control tokens are broken alike segment by segment and in the whole message."""
    assert "\n\n".join(break_control_tokens(text) for text in texts) == break_control_tokens("\n\n".join(texts))
