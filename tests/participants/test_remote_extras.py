"""Providers whose libraries are extras, over servers that speak their protocols.

Each test is skipped where its library is not installed.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from aiohttp import web
from remote_server import (
    KEY,
    SCHEMA,
    Answer,
    Endless,
    Server,
    a_call,
    answer,
    bytes_only,
    chunk,
    completion,
    opened,
    serving,
    stream,
    tool_call,
)

from disputatio.participants.call import Fault, FaultKind, OutputMode, Reply, Usage
from disputatio.participants.model_seat import ModelSeating

K = FaultKind
NATIVE, TOOL, PROMPTED, TEXT = OutputMode
ARGUMENT = {"score": 3, "why": "Ä.", "pick": "pro"}


def claude(*content: dict[str, Any], **changes: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2}
    body = {"id": "m", "type": "message", "role": "assistant", "model": "served", "content": list(content)}
    return {**body, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage, **changes}


def gemini(*parts: dict[str, Any], finish: str = "STOP", **changes: Any) -> dict[str, Any]:
    usage = {"promptTokenCount": 15, "candidatesTokenCount": 5, "totalTokenCount": 20, "cachedContentTokenCount": 3}
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "served", "responseId": "r", **changes}


def chat(content: str | None, **changes: Any) -> dict[str, Any]:
    usage = {
        "prompt_tokens": 15,
        "completion_tokens": 5,
        "total_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 3},
    }
    return completion(content, **{"model": "served", "usage": usage, **changes})


def chat_with_tool() -> dict[str, Any]:
    return chat(None, message=tool_call(json.dumps(ARGUMENT)), finish_reason="tool_calls")


def events(*bodies: dict[str, Any]) -> Answer:
    """Anthropic's stream: each event is named by its type."""

    async def send(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for body in bodies:
            await response.write(f"event: {body['type']}\ndata: {json.dumps(body)}\n\n".encode())
        return response

    return send


def claude_stream(*deltas: dict[str, Any], block: dict[str, Any], stop: str | None) -> Answer:
    steps: list[dict[str, Any]] = [
        {"type": "message_start", "message": claude(stop_reason=None)},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
    ]
    if stop:
        steps += [
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ]
    return events(*steps)


def text_deltas(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "text_delta", "text": text} for text in texts]


@dataclass(frozen=True)
class Protocol:
    """One provider: what its answers look like, and where a request says what."""

    module: str
    model: str
    path: str
    said: dict[str, Any]
    with_tool: dict[str, Any]
    schema: Callable[[OutputMode, Any], Any]
    modes: tuple[OutputMode, ...] = (NATIVE, TOOL)


PROTOCOLS = {
    "anthropic": Protocol(
        module="anthropic",
        model="claude-sonnet-5-5",
        path="/v1/messages",
        said=claude({"type": "text", "text": "{}"}),
        with_tool=claude({"type": "tool_use", "id": "t", "name": "judging", "input": ARGUMENT}, stop_reason="tool_use"),
        schema=lambda mode, body: (
            body["tools"][0]["input_schema"] if mode is TOOL else body["output_config"]["format"]["schema"]
        ),
    ),
    "google": Protocol(
        module="google.genai",
        model="gemini-3.8-flash",
        path="/v1beta/models/gemini-3.8-flash:generateContent",
        said=gemini({"text": "{}"}),
        with_tool=gemini({"functionCall": {"name": "judging", "args": ARGUMENT}}),
        schema=lambda mode, body: (
            body["tools"][0]["functionDeclarations"][0]["parameters_json_schema"]
            if mode is TOOL
            else body["generationConfig"]["responseJsonSchema"]
        ),
    ),
    "mistral": Protocol(
        module="mistralai",
        model="mistral-large-4",
        path="/v1/chat/completions",
        said=chat("{}"),
        with_tool=chat_with_tool(),
        schema=lambda _, body: body["tools"][0]["function"]["parameters"],
        modes=(TOOL,),
    ),
    "groq": Protocol(
        module="groq",
        model="openai/gpt-oss-120b",
        path="/openai/v1/chat/completions",
        said=chat("{}"),
        with_tool=chat_with_tool(),
        schema=lambda mode, body: (
            body["tools"][0]["function"]["parameters"]
            if mode is TOOL
            else body["response_format"]["json_schema"]["schema"]
        ),
    ),
}


def protocol(name: str) -> Protocol:
    """The protocol of ``name``; skips the test where its library is missing."""
    found = PROTOCOLS[name]
    try:
        installed = importlib.util.find_spec(found.module) is not None
    except ModuleNotFoundError:
        installed = False
    if not installed:
        pytest.skip(f"{found.module} is not installed: pip install 'disputatio[{name}]'")
    return found


def seat(server: Server, name: str, **changes: Any) -> ModelSeating:
    settled = {"provider": name, "model": PROTOCOLS[name].model, "base_url": server.url}
    return ModelSeating(**{**settled, **changes})


every_provider = pytest.mark.parametrize("name", list(PROTOCOLS))


@pytest.mark.parametrize(
    ("name", "mode"), [(name, mode) for name in PROTOCOLS for mode in (*PROTOCOLS[name].modes, PROMPTED, TEXT)]
)
async def test_an_answer_is_a_reply_in_every_mode(name: str, mode: OutputMode) -> None:
    speaks = protocol(name)
    given = answer(speaks.with_tool if mode is TOOL else speaks.said)
    async with serving(given) as server, opened(seat(server, name)) as model_client:
        reply = await model_client.call(a_call(mode))
    assert isinstance(reply, Reply), reply
    assert json.loads(reply.text) == (ARGUMENT if mode is TOOL else {})
    assert (reply.served_model, reply.finish) == ("served", "stop")
    # Anthropic counts tokens written to and read from its cache beside the others; the record wants the sum.
    assert reply.usage == Usage(15, 5, 3, 2 if name == "anthropic" else None)
    (received,) = server.received
    assert received.path.partition("?")[0] == speaks.path
    assert "Transcript.\\n\\nYour task." in json.dumps(received.body)


@pytest.mark.parametrize(("name", "mode"), [(name, mode) for name in PROTOCOLS for mode in PROTOCOLS[name].modes])
async def test_keys_enums_and_requirements_of_schema_reach_provider(name: str, mode: OutputMode) -> None:
    """What a provider's rewriting may not lose; bounds it may turn into words, and code checks them."""
    speaks = protocol(name)
    given = answer(speaks.with_tool if mode is TOOL else speaks.said)
    async with serving(given) as server, opened(seat(server, name)) as model_client:
        await model_client.call(a_call(mode))
    sent = speaks.schema(mode, server.received[0].body)
    assert list(sent["properties"]) == list(SCHEMA["properties"])
    assert sent["required"] == SCHEMA["required"]
    assert sent["additionalProperties"] is False
    assert sent["properties"]["pick"]["enum"] == ["pro", "con"]
    for bound in ("10", "50"):
        assert bound in json.dumps(sent["properties"])


async def test_gemini_gets_bounds_and_enums_as_they_are() -> None:
    speaks = protocol("google")
    async with serving(answer(speaks.said)) as server, opened(seat(server, "google")) as model_client:
        await model_client.call(a_call())
    assert speaks.schema(NATIVE, server.received[0].body) == {**SCHEMA, "title": "judging"}


@pytest.mark.parametrize(
    ("name", "model"), [("anthropic", "claude-3-haiku-20240307"), ("groq", "llama-x"), ("mistral", "mistral-large-4")]
)
async def test_model_without_native_schemas_says_so_without_request(name: str, model: str) -> None:
    """A model without native schemas says so without a request."""
    protocol(name)
    async with serving() as server, opened(seat(server, name, model=model)) as model_client:
        fault = await model_client.call(a_call(NATIVE))
    assert isinstance(fault, Fault)
    assert fault.kind is K.SCHEMA_UNSUPPORTED
    assert not server.received


STREAMS: dict[str, dict[OutputMode, Answer]] = {
    "anthropic": {
        NATIVE: claude_stream(*text_deltas("{", "}"), block={"type": "text", "text": ""}, stop="end_turn"),
        TOOL: claude_stream(
            *({"type": "input_json_delta", "partial_json": part} for part in ("{", "}")),
            block={"type": "tool_use", "id": "t", "name": "judging", "input": {}},
            stop="tool_use",
        ),
    },
    "google": {
        NATIVE: stream([gemini({"text": "{"}, finish="FINISH_REASON_UNSPECIFIED"), gemini({"text": "}"})], done=False),
    },
    "mistral": {
        TOOL: stream([chunk(tool_call("{")), chunk(tool_call("}")), chunk({"content": ""}, "tool_calls")]),
        TEXT: stream([chunk({"content": "{"}), chunk({"content": "}"}, "stop")]),
    },
    "groq": {
        NATIVE: stream([chunk({"content": "{"}), chunk({"content": "}"}), chunk({}, "stop")]),
    },
}


@pytest.mark.parametrize(("name", "mode"), [(name, mode) for name, modes in STREAMS.items() for mode in modes])
async def test_a_stream_is_heard_and_adds_up(name: str, mode: OutputMode) -> None:
    protocol(name)
    heard: list[str] = []
    async with serving(STREAMS[name][mode]) as server, opened(seat(server, name)) as model_client:
        reply = await model_client.call(a_call(mode), on_text=heard.append)
    assert isinstance(reply, Reply), reply
    assert (reply.text, "".join(heard)) == ("{}", "{}")


async def test_a_stream_of_anthropics_that_ends_early_was_cut() -> None:
    protocol("anthropic")
    half = claude_stream(*text_deltas("{"), block={"type": "text", "text": ""}, stop=None)
    async with serving(half) as server, opened(seat(server, "anthropic")) as model_client:
        fault = await model_client.call(a_call(), on_text=lambda _: None)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.text) == (K.CUT_OFF, "{")


def anthropic_error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def google_error(code: int, status: str, message: str, *details: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": code, "status": status, "message": message, "details": list(details)}}


def openai_error(message: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
WAIT = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "14s"}
DAILY = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "RequestsPerDayPerModel"}]}

FAULTS = [
    ("anthropic", 401, anthropic_error("authentication_error", "invalid x-api-key"), K.KEY_REJECTED),
    ("anthropic", 404, anthropic_error("not_found_error", "model: x"), K.NO_SUCH_MODEL),
    ("anthropic", 429, anthropic_error("rate_limit_error", "slow down"), K.RATE_LIMITED),
    ("anthropic", 529, anthropic_error("overloaded_error", "Overloaded"), K.SERVER_ERROR),
    ("anthropic", 400, anthropic_error("invalid_request_error", "prompt is too long: 9 > 8"), K.CONTEXT_TOO_LONG),
    ("anthropic", 400, anthropic_error("invalid_request_error", "Your credit balance is too low"), K.QUOTA_EXHAUSTED),
    ("anthropic", 400, anthropic_error("invalid_request_error", "output_config.format: no"), K.SCHEMA_UNSUPPORTED),
    ("anthropic", 200, claude({"type": "text", "text": ""}), K.GARBLED),
    ("anthropic", 200, claude({"type": "text", "text": "No."}, stop_reason="refusal"), K.REFUSED),
    ("google", 400, google_error(400, "INVALID_ARGUMENT", "API key not valid.", BAD_KEY), K.KEY_REJECTED),
    ("google", 404, google_error(404, "NOT_FOUND", "models/x is not found for v1beta"), K.NO_SUCH_MODEL),
    ("google", 429, google_error(429, "RESOURCE_EXHAUSTED", "You exceeded your quota", WAIT), K.RATE_LIMITED),
    ("google", 429, google_error(429, "RESOURCE_EXHAUSTED", "You exceeded your quota", DAILY), K.QUOTA_EXHAUSTED),
    ("google", 503, google_error(503, "UNAVAILABLE", "overloaded"), K.SERVER_ERROR),
    ("google", 200, {"candidates": []}, K.GARBLED),
    ("google", 200, {"promptFeedback": {"blockReason": "SAFETY"}}, K.REFUSED),
    ("google", 200, gemini({"text": "x"}, finish="SAFETY"), K.REFUSED),
    ("mistral", 401, {"detail": "Unauthorized"}, K.KEY_REJECTED),
    ("mistral", 400, {"message": "Invalid model: x", "type": "invalid_model", "code": "1500"}, K.NO_SUCH_MODEL),
    ("mistral", 429, {"message": "Requests rate limit exceeded", "code": "1300"}, K.RATE_LIMITED),
    ("mistral", 400, {"message": "too large for model", "code": "3051"}, K.CONTEXT_TOO_LONG),
    ("mistral", 500, "oops", K.SERVER_ERROR),
    ("mistral", 200, chat("x", choices=[]), K.GARBLED),
    ("groq", 401, openai_error("Invalid API Key", "invalid_api_key"), K.KEY_REJECTED),
    ("groq", 404, openai_error("The model `x` does not exist", "model_not_found"), K.NO_SUCH_MODEL),
    ("groq", 400, openai_error("This model does not support response format"), K.SCHEMA_UNSUPPORTED),
    ("groq", 400, openai_error("Failed to generate JSON.", "json_validate_failed"), K.GARBLED),
    ("groq", 200, chat("x", choices=[]), K.GARBLED),
]
FAULTS += [(name, 200, junk, K.GARBLED) for name in PROTOCOLS for junk in ({}, "<html>", "{")]


@every_provider
@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_without_an_end_is_stopped(name: str, streamed: bool) -> None:
    speaks = protocol(name)
    endless = Endless(content_type="text/event-stream" if streamed else "application/json")
    async with serving(endless) as server, opened(seat(server, name)) as model_client:
        fault = await model_client.call(a_call(speaks.modes[0]), (lambda _: None) if streamed else None)
    assert isinstance(fault, Fault), fault
    assert fault.kind is K.ANSWER_TOO_LONG, fault.message
    assert "the bound for 100 tokens" in fault.message
    assert not endless.gave_up


@pytest.mark.parametrize(("name", "status", "body", "kind"), FAULTS)
async def test_what_goes_wrong_is_told_by_its_kind(name: str, status: int, body: object, kind: FaultKind) -> None:
    speaks = protocol(name)
    async with serving(answer(body, status)) as server, opened(seat(server, name)) as model_client:
        fault = await model_client.call(a_call(speaks.modes[0]))
        assert isinstance(fault, Fault), fault
        assert fault.kind is kind, fault.message
        assert len(server.received) == 1, "one call is one attempt"
        assert fault.message.startswith(f"{name}:")
        assert KEY not in fault.message


async def test_geminis_wish_to_wait_is_read_from_the_body() -> None:
    protocol("google")
    body = google_error(429, "RESOURCE_EXHAUSTED", "slow down", WAIT)
    async with serving(answer(body, 429)) as server, opened(seat(server, "google")) as model_client:
        fault = await model_client.call(a_call())
    assert isinstance(fault, Fault)
    assert fault.retry_after_s == 14


@every_provider
async def test_a_lost_connection_is_told(name: str) -> None:
    protocol(name)
    async with bytes_only(None) as url:
        seating = ModelSeating(provider=name, model=PROTOCOLS[name].model, base_url=url)
        async with opened(seating) as model_client:
            cut = await model_client.call(a_call(TEXT))
    async with opened(seating) as model_client:
        gone = await model_client.call(a_call(TEXT))
    assert isinstance(cut, Fault)
    assert isinstance(gone, Fault)
    assert (cut.kind, gone.kind) == (K.CUT_OFF, K.UNREACHABLE)


EFFORTS: list[tuple[str, str, str | int, dict[str, Any]]] = [
    ("anthropic", "claude-sonnet-4-5", "low", {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
    ("anthropic", "claude-sonnet-4-5", 5000, {"thinking": {"type": "enabled", "budget_tokens": 5000}}),
    ("anthropic", "claude-sonnet-4-5", "none", {"temperature": 0.2}),
    ("anthropic", "claude-opus-5", "high", {"thinking": {"type": "adaptive"}, "effort": "high"}),
    ("anthropic", "claude-opus-5", 5000, {}),
    ("google", "gemini-2.5-flash", "none", {"thinkingConfig": {"thinking_budget": 0}, "temperature": 0.2}),
    ("google", "gemini-2.5-flash", 3000, {"thinkingConfig": {"thinking_budget": 3000}, "temperature": 0.2}),
    ("google", "gemini-3.8-flash", "low", {"thinkingConfig": {"thinking_level": "LOW"}, "temperature": 0.2}),
    ("groq", "openai/gpt-oss-120b", "low", {"reasoning_effort": "low", "temperature": 0.2}),
    ("groq", "qwen/qwen3-32b", "none", {"reasoning_effort": "none", "temperature": 0.2}),
    ("mistral", "mistral-large-4", "none", {"reasoning_effort": "none", "temperature": 0.2}),
    ("mistral", "magistral-medium-latest", 4000, {"temperature": 0.2}),
]


# Anthropic's library warns of models by the calendar.
@pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning")
@pytest.mark.parametrize(("name", "model", "effort", "expected"), EFFORTS)
async def test_the_effort_of_a_seat_has_each_providers_own_name(
    name: str, model: str, effort: str | int, expected: dict[str, Any]
) -> None:
    speaks = protocol(name)
    given = answer(speaks.said)
    async with (
        serving(given) as server,
        opened(seat(server, name, model=model, reasoning_effort=effort)) as model_client,
    ):
        reply = await model_client.call(a_call(TEXT, max_tokens=9_000))
        assert isinstance(reply, Reply), reply
    body = server.received[0].body
    body = {**body, **body.get("generationConfig", {}), **body.get("output_config", {})}
    names = ("thinking", "effort", "thinkingConfig", "reasoning_effort", "temperature")
    found = {key: body[key] for key in names if key in body}
    if "thinkingConfig" in found:
        found["thinkingConfig"].pop("include_thoughts", None)
    assert found == expected
    budget = found.get("thinking", {}).get("budget_tokens", 1024)
    assert 1024 <= budget < 9_000


@pytest.mark.parametrize(
    ("name", "model", "effort", "words"),
    [
        ("anthropic", "claude-sonnet-4-5", 1000, "takes a reasoning_effort of 1,024 tokens or more"),
        ("anthropic", "claude-opus-5-5", "none", "does not know the reasoning_effort none"),
        ("google", "gemini-2.5-pro", "none", "does not know the reasoning_effort none"),
        ("groq", "llama-3.3-70b-versatile", "low", "does not reason"),
        ("groq", "openai/gpt-oss-120b", "none", "does not know the reasoning_effort none"),
    ],
)
async def test_effort_that_model_does_not_take_is_refused_without_call(
    name: str, model: str, effort: str | int, words: str
) -> None:
    """An effort that a model does not take is refused without a call."""
    protocol(name)
    async with serving() as server, opened(seat(server, name, model=model, reasoning_effort=effort)) as model_client:
        fault = await model_client.call(a_call(TEXT))
        assert server.received == []
    assert isinstance(fault, Fault)
    assert fault.kind is K.SETTING_REFUSED
    assert words in fault.message


def reasoned() -> dict[str, dict[str, Any]]:
    """Answers with reasoning in the place that each provider has for it."""
    usage = {"input_tokens": 10, "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 4}}
    thinking = [{"type": "text", "text": "Hm."}]
    told = {"completion_tokens_details": {"reasoning_tokens": 4}, "prompt_tokens": 1, "completion_tokens": 5}
    counts = {"promptTokenCount": 15, "candidatesTokenCount": 1, "thoughtsTokenCount": 4, "totalTokenCount": 20}
    return {
        "anthropic": claude(
            {"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "{}"}, usage=usage
        ),
        "google": gemini({"text": "Hm.", "thought": True}, {"text": "{}"}, usageMetadata=counts),
        "mistral": completion(
            None, message={"content": [{"type": "thinking", "thinking": thinking}, {"type": "text", "text": "{}"}]}
        ),
        "groq": completion("{}", message={"reasoning": "Hm."}, usage={**told, "total_tokens": 6}),
    }


@every_provider
async def test_what_was_reasoned_is_counted_and_no_part_of_the_answer(name: str) -> None:
    protocol(name)
    async with serving(answer(reasoned()[name])) as server, opened(seat(server, name)) as model_client:
        reply = await model_client.call(a_call(TEXT))
    assert isinstance(reply, Reply), reply
    assert reply.text == "{}"
    # Mistral does not say.
    assert reply.usage.reasoning_tokens == (None if name == "mistral" else 4)
    assert reply.usage.output_tokens == 5


async def test_groqs_models_may_reason_in_tags_also_where_they_are_cut() -> None:
    protocol("groq")
    whole, cut = completion("<think>Hm.</think>\n{}"), completion("<think>Hm, so", finish_reason="length")
    async with serving(answer(whole), answer(cut)) as server, opened(seat(server, "groq")) as model_client:
        replies = [await model_client.call(a_call(TEXT)) for _ in range(2)]
    assert [row.text for row in replies] == ["{}", ""]


PROBES = {
    "anthropic": ("/v1/models/claude-sonnet-5-5", "x-api-key"),
    "google": ("/v1beta/models/gemini-3.8-flash", "x-goog-api-key"),
    "mistral": ("/v1/models", "Authorization"),
    "groq": ("/openai/v1/models", "Authorization"),
}


@every_provider
async def test_a_probe_asks_for_models_with_the_key(name: str) -> None:
    protocol(name)
    path, header = PROBES[name]
    found = answer({"id": PROTOCOLS[name].model, "data": [{"id": PROTOCOLS[name].model}]})
    async with serving(found) as server:
        async with opened(seat(server, name)) as model_client:
            assert await model_client.probe() is None
        assert (server.received[0].method, server.received[0].path) == ("GET", path)
        assert server.received[0].headers[header].endswith(KEY)
        # What was found good is not asked again at once; another time limit makes another endpoint of it.
        async with opened(seat(server, name, timeout_s=299)) as model_client:
            server.answers = [answer({"error": {"message": "no"}}, 401)]
            rejected = await model_client.probe()
            server.answers = [
                answer({"data": [{"id": "other"}], "error": {"message": "not found"}}, 404 if "x-" in header else 200)
            ]
            missing = await model_client.probe()
    assert rejected is not None
    assert missing is not None
    assert (rejected.kind, missing.kind) == (K.KEY_REJECTED, K.NO_SUCH_MODEL)


class TestBedrock:
    MODEL = "us.anthropic.claude-haiku-4-5-20251001-v1:0"
    SAID: ClassVar[dict[str, Any]] = {
        "output": {"message": {"role": "assistant", "content": [{"text": "{}"}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15},
        "metrics": {"latencyMs": 1},
    }

    @pytest.fixture(autouse=True)
    def account(self, monkeypatch: pytest.MonkeyPatch) -> None:
        if importlib.util.find_spec("boto3") is None:
            pytest.skip("boto3 is not installed: pip install 'disputatio[bedrock]'")
        for name in ("AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "an-id")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret")

    async def outcome(self, given: Answer) -> Reply | Fault:
        async with serving(given) as server:
            seating = ModelSeating(provider="bedrock", model=self.MODEL, base_url=server.url)
            async with opened(seating, None) as model_client:
                outcome = await model_client.call(a_call())
                assert len(server.received) <= 1, "one call is one attempt"
                return outcome

    async def test_an_answer_is_a_reply(self) -> None:
        reply = await self.outcome(answer(self.SAID))
        assert isinstance(reply, Reply), reply
        assert (reply.text, reply.usage) == ("{}", Usage(10, 5, None))

    @pytest.mark.parametrize(
        ("status", "kind"), [(200, K.ANSWER_TOO_LONG), (500, K.SERVER_ERROR), (429, K.RATE_LIMITED)]
    )
    async def test_an_answer_without_an_end_is_stopped(self, status: int, kind: FaultKind) -> None:
        endless = Endless(status=status)
        fault = await self.outcome(endless)
        assert isinstance(fault, Fault), fault
        assert fault.kind is kind, fault.message
        assert not endless.gave_up

    @pytest.mark.parametrize(
        ("status", "code", "message", "kind"),
        [
            (403, "AccessDeniedException", "no access", K.KEY_REJECTED),
            (400, "ValidationException", "The provided model identifier is invalid.", K.NO_SUCH_MODEL),
            (400, "ValidationException", "Input is too long for requested model.", K.CONTEXT_TOO_LONG),
            (429, "ThrottlingException", "Too many tokens, please wait", K.RATE_LIMITED),
            (500, "InternalServerException", "oops", K.SERVER_ERROR),
        ],
    )
    async def test_a_refusal_is_told_by_its_kind(self, status: int, code: str, message: str, kind: FaultKind) -> None:
        fault = await self.outcome(answer({"message": message}, status, {"x-amzn-ErrorType": code}))
        assert isinstance(fault, Fault)
        assert fault.kind is kind

    async def test_without_credentials_or_region_it_says_what_to_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        fault = await self.outcome(answer(self.SAID))
        assert isinstance(fault, Fault)
        assert (fault.kind, "AWS_BEARER_TOKEN_BEDROCK" in fault.message) == (K.KEY_MISSING, True)
        monkeypatch.delenv("AWS_DEFAULT_REGION")
        fault = await self.outcome(answer(self.SAID))
        assert isinstance(fault, Fault)
        assert (fault.kind, "AWS_DEFAULT_REGION" in fault.message) == (K.KEY_MISSING, True)

    @pytest.mark.parametrize(
        ("effort", "expected"),
        [
            ("low", {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
            (3000, {"thinking": {"type": "enabled", "budget_tokens": 3000}}),
        ],
    )
    async def test_the_effort_is_claudes_budget(self, effort: str | int, expected: dict[str, Any]) -> None:
        async with serving(answer(self.SAID)) as server:
            seating = ModelSeating(provider="bedrock", model=self.MODEL, base_url=server.url, reasoning_effort=effort)
            async with opened(seating, None) as model_client:
                assert isinstance(await model_client.call(a_call(TEXT, max_tokens=9_000)), Reply)
        body = server.received[0].body
        assert body["additionalModelRequestFields"] == expected
        assert "temperature" not in body["inferenceConfig"]

    async def test_there_is_nothing_to_probe(self) -> None:
        async with opened(ModelSeating(provider="bedrock", model=self.MODEL), None) as model_client:
            assert await model_client.probe() is None
