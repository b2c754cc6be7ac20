"""A server that refuses a parameter is asked again without it, once, and the process remembers that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from remote_server import KEY, Answer, Server, a_call, answer, chunk, completion, opened, serving, stream
from test_remote_extras import PROTOCOLS, protocol, seat

from disputatio.participants.call import Call, Fault, FaultKind, OutputMode, Reply
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.remote import Endpoint, RemoteClient
from disputatio.testing.provider import FakeProvider

pytestmark = pytest.mark.usefixtures("warm_libraries")

K = FaultKind
OPENAI_LIMIT = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
)
OPENAI_TEMPERATURE = (
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported."
)
VERIFY = "Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings"
EXTRA = "Extra inputs are not permitted"


def openai(message: str, param: str | None = None, code: object = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


REFUSALS: list[tuple[str, str, int, object]] = [
    ("openai", "max_tokens", 400, openai(OPENAI_LIMIT, "max_tokens", "unsupported_parameter")),
    ("openai value", "temperature", 400, openai(OPENAI_TEMPERATURE, "temperature", "unsupported_value")),
    ("azure, of old", "seed", 400, openai("Unrecognized request argument supplied: seed")),
    ("azure", "seed", 400, openai("Unknown parameter: 'seed'.", "seed", "unknown_parameter")),
    (
        "vllm",
        "seed",
        400,
        {"object": "error", "message": f"[{{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': '{EXTRA}'}}]"},
    ),
    (
        "litellm",
        "seed",
        400,
        openai("litellm.UnsupportedParamsError: m does not support parameters: ['seed'], for model=m.", None, "400"),
    ),
    ("groq", "seed", 400, openai("property 'seed' is unsupported")),
    ("mistral", "seed", 422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": EXTRA}]}),
    ("gemini", "seed", 400, openai('Invalid JSON payload received. Unknown name "seed": Cannot find field.')),
    ("claude", "temperature", 400, openai("`temperature` is deprecated for this model.")),
    (
        "xai",
        "temperature",
        400,
        {"code": "Client specified an invalid argument", "error": "temperature is not supported"},
    ),
    ("plain words", "temperature", 400, "temperature is not supported by this server"),
    (
        "openrouter",
        "temperature",
        400,
        {
            "error": {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {"raw": json.dumps(openai(OPENAI_TEMPERATURE, "temperature", "unsupported_value"))},
            }
        },
    ),
]


def strict(refused: str, status: int, body: object, *, when: Any = None) -> Answer:
    """Answers what has no parameter ``refused``, and refuses the rest with ``body``."""

    async def send(request: web.Request) -> web.StreamResponse:
        sent = await request.json()
        if sent.get(refused) if when is None else when(sent):
            return await answer(body, status)(request)
        if sent.get("stream"):
            return await stream([chunk({"content": "{}"}), chunk({}, "stop")])(request)
        return await answer(completion("{}"))(request)

    return send


async def asked(server: Server, calls: Sequence[Call], *, thin: bool, streamed: bool = False, **seat: Any) -> list[Any]:
    endpoint = replace(Endpoint.of(server.seat(**seat), KEY), direct=thin)
    model_client = RemoteClient(endpoint)
    heard: list[str] = []
    try:
        outcomes = [await model_client.call(call, heard.append if streamed else None) for call in calls]
    finally:
        await model_client.aclose()
    if streamed:
        assert "".join(heard) == "".join(row.text for row in outcomes if isinstance(row, Reply))
    return outcomes


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("thin", [True, False])
@pytest.mark.parametrize(("name", "status", "body"), [pytest.param(*row[1:], id=row[0]) for row in REFUSALS])
async def test_a_refused_parameter_is_left_out(
    name: str, status: int, body: object, thin: bool, streamed: bool
) -> None:
    async with serving(strict(name, status, body)) as server:
        first, *others = await asked(server, [a_call()] * 3, thin=thin, streamed=streamed)
        assert isinstance(first, Fault)
        assert (first.kind, first.usage) == (K.PARAMETER_REFUSED, None)
        assert name in first.message
        assert all(isinstance(row, Reply) for row in others)
        refused, *taken = [row.body for row in server.received]
        assert name in refused
        for row in taken:
            if name == "max_tokens":
                row["max_tokens"] = row.pop("max_completion_tokens")
            else:
                row[name] = refused[name]
            assert row == refused


async def test_another_gateway_of_the_process_knows_it() -> None:
    async with serving(strict("seed", 400, REFUSALS[2][3])) as server:
        await asked(server, [a_call()], thin=True)
        for thin in (True, False):
            (outcome,) = await asked(server, [a_call()], thin=thin)
            assert isinstance(outcome, Reply)
        (other,) = await asked(server, [a_call()], thin=True, model="another")
        assert isinstance(other, Fault)


@pytest.mark.parametrize("provider", ["openai", "openai_compatible"])
async def test_a_stream_that_is_refused_comes_whole(provider: str) -> None:
    refusal = openai(VERIFY, "stream", "unsupported_value")
    async with serving(strict("stream", 400, refusal)) as server:
        first, second = await asked(server, [a_call()] * 2, thin=True, streamed=True, provider=provider)
        assert (first.kind, second.text) == (K.PARAMETER_REFUSED, "{}")
        assert "stream" in first.message


async def test_the_newer_limit_goes_by_its_older_name() -> None:
    """An older version of Azure's API, or a proxy, knows only ``max_tokens``."""
    refusal = openai("Unrecognized request argument supplied: max_completion_tokens")
    async with serving(strict("max_completion_tokens", 400, refusal)) as server:
        first, second = await asked(server, [a_call()] * 2, thin=True, provider="openai")
        assert first.kind is K.PARAMETER_REFUSED
        assert isinstance(second, Reply)
        assert server.received[-1].body["max_tokens"] == 100


async def test_a_limit_is_never_left_out() -> None:
    """What was reserved for the call rests on it."""
    refusal = openai("Unsupported parameter: 'max_tokens'. Unsupported parameter: 'max_completion_tokens'.")
    async with serving(strict("", 400, refusal, when=lambda _: True)) as server:
        first, second, third = await asked(server, [a_call()] * 3, thin=True)
        assert [row.kind for row in (first, second, third)] == [K.PARAMETER_REFUSED, K.BAD_REQUEST, K.BAD_REQUEST]
        assert all({"max_tokens", "max_completion_tokens"} & set(row.body) for row in server.received)


@pytest.mark.parametrize(
    "body",
    [
        openai(
            "max_tokens is too large: 9. This model supports at most 5 completion tokens.",
            "max_tokens",
            "invalid_value",
        ),
        openai("Invalid 'temperature': decimal above maximum value.", "temperature", "decimal_above_max_value"),
        openai("Invalid request.", "temperature"),
        openai(
            "Unsupported value: 'messages[0].role' does not support 'system'.", "messages[0].role", "unsupported_value"
        ),
        openai("The motion speaks of temperature."),
        openai("Unsupported parameter: 'logprobs' is not supported.", "logprobs", "unsupported_parameter"),
    ],
)
async def test_what_another_call_cannot_cure_is_a_bad_request(body: object) -> None:
    async with serving(answer(body, 400)) as server:
        outcomes = await asked(server, [a_call()] * 2, thin=True)
        assert [row.kind for row in outcomes] == [K.BAD_REQUEST] * 2
        assert server.received[0].body == server.received[1].body


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
async def test_other_statuses_say_nothing_of_parameters(status: int) -> None:
    async with serving(answer(openai(OPENAI_LIMIT, "max_tokens", "unsupported_parameter"), status)) as server:
        (outcome,) = await asked(server, [a_call()], thin=True)
        assert outcome.kind is not K.PARAMETER_REFUSED


async def test_a_server_that_refuses_everything_is_soon_left() -> None:
    names = ("max_tokens", "max_completion_tokens", "temperature", "seed", "stream")
    words = "Not supported: " + ", ".join(names)
    async with serving(answer(openai(words), 400)) as server:
        outcomes = await asked(server, [a_call()] * 4, thin=True)
        assert [row.kind for row in outcomes] == [K.PARAMETER_REFUSED, *[K.BAD_REQUEST] * 3]


async def test_an_effort_that_was_chosen_is_never_left_out() -> None:
    refusal = openai("Unsupported parameter: 'reasoning_effort' is not supported with this model.", "reasoning_effort")
    async with serving(strict("reasoning_effort", 400, refusal)) as server:
        for outcome in await asked(server, [a_call()] * 2, thin=True, reasoning_effort="high"):
            assert outcome.kind is K.SETTING_REFUSED
        first, second = await asked(server, [a_call()] * 2, thin=True, reasoning_effort="none")
        assert first.kind is K.PARAMETER_REFUSED
        assert isinstance(second, Reply)


async def test_a_mode_that_is_refused_is_not_sent_again() -> None:
    refusal = openai("This model does not support response_format.", "response_format", "unsupported_parameter")
    async with serving(strict("response_format", 400, refusal)) as server:
        native, again, tool = await asked(server, [a_call(), a_call(), a_call(OutputMode.TOOL)], thin=True)
        assert (native.kind, again.kind) == (K.SCHEMA_UNSUPPORTED, K.SCHEMA_UNSUPPORTED)
        # The server ignores the tool and answers in words.
        assert isinstance(tool, Reply)
        assert len(server.received) == 2


async def test_one_schema_that_is_refused_does_not_end_its_mode() -> None:
    refusal = openai("Invalid schema for response_format 'judging': 'minLength' is not permitted.", "response_format")
    async with serving(strict("response_format", 400, refusal)) as server:
        await asked(server, [a_call()] * 2, thin=True)
        assert len(server.received) == 2


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_fake_gpt_5_takes_the_second_or_third_call(streamed: bool) -> None:
    async with FakeProvider(refuses=("max_tokens", "temperature", "stream")) as provider:
        seat = ModelSeating(provider="openai_compatible", model="m", base_url=provider.base_url)
        async with opened(seat, None) as model_client:
            heard: list[str] = []
            outcomes = [await model_client.call(a_call(), heard.append if streamed else None) for _ in range(5)]
    kinds = [row.kind if isinstance(row, Fault) else None for row in outcomes]
    refusals = 3 if streamed else 2
    assert kinds == [K.PARAMETER_REFUSED] * refusals + [None] * (5 - refusals)


@pytest.mark.parametrize("name", list(PROTOCOLS))
async def test_providers_of_other_protocols_are_asked_again(name: str) -> None:
    speaks = protocol(name)
    refusal = {"error": {"message": "`temperature` is not supported by this model.", "type": "invalid_request_error"}}

    async def strict(request: web.Request) -> web.StreamResponse:
        sent = await request.json()
        refused = "temperature" in {**sent, **sent.get("generationConfig", {})}
        return await (answer(refusal, 400) if refused else answer(speaks.said))(request)

    # Claude's newest take no temperature, and none is sent to them.
    model = "claude-haiku-4-5" if name == "anthropic" else speaks.model
    async with serving(strict) as server, opened(seat(server, name, model=model)) as model_client:
        first, second = (
            await model_client.call(a_call(OutputMode.TEXT)),
            await model_client.call(a_call(OutputMode.TEXT)),
        )
    assert isinstance(first, Fault)
    assert first.kind is K.PARAMETER_REFUSED
    assert isinstance(second, Reply)
