"""A seat's effort reaches each provider under its own name, as pydantic-ai would send it, or is refused."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

import pytest
from remote_server import KEY, a_call, answer, chunk, completion, opened, serving, stream

from disputatio.participants.call import Fault, FaultKind, Reply
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.reasoning import ALLOWANCES, EFFORTS, reasons_by_default
from disputatio.participants.remote import open_client
from disputatio.participants.shared_clients import SharedClients

pytestmark = pytest.mark.usefixtures("warm_libraries")


async def sent(provider: str, model: str, effort: str | int | None, *, streams: bool = False) -> dict[str, Any] | Fault:
    """The body of a request, or why none was made."""
    replies = stream([chunk({"content": "{}"}), chunk({}, "stop")]) if streams else answer(completion("{}"))
    async with serving(replies) as server:
        seat = server.seat(provider, model=model, reasoning_effort=effort)
        async with opened(seat, KEY) as model_client:
            outcome = await model_client.call(a_call(), on_text=(lambda _: None) if streams else None)
        if isinstance(outcome, Fault):
            assert not server.received
            return outcome
        assert isinstance(outcome, Reply)
        body: dict[str, Any] = server.received[0].body
        return body


@pytest.mark.parametrize(
    ("provider", "model", "effort", "expected"),
    [
        ("openai", "gpt-5", "minimal", {"reasoning_effort": "minimal"}),
        ("openai", "gpt-5", 4_000, {}),
        ("openai", "gpt-5", None, {}),
        ("openai", "gpt-5.2", "none", {"reasoning_effort": "none", "temperature": 0.2}),
        ("openai", "gpt-5.2", "high", {"reasoning_effort": "high"}),
        ("openai", "gpt-4o", "none", {"temperature": 0.2}),
        ("openai", "gpt-77", "low", {"reasoning_effort": "low"}),
        ("deepseek", "deepseek-flash", "none", {"reasoning_effort": "none", "temperature": 0.2}),
        ("zhipu", "glm-4.7", "none", {"thinking": {"type": "disabled", "clear_thinking": False}, "temperature": 0.2}),
        ("openrouter", "openai/gpt-5", "low", {"reasoning": {"effort": "low", "enabled": True}, "temperature": 0.2}),
        ("openrouter", "x/y", 2_000, {"reasoning": {"max_tokens": 2_000}, "temperature": 0.2}),
        ("vllm", "Qwen/Qwen3-8B", "none", {"reasoning_effort": "none", "temperature": 0.2}),
        ("ollama", "qwen3:8b", "high", {"reasoning_effort": "high", "temperature": 0.2}),
        ("openai_compatible", "my-model", "medium", {"reasoning_effort": "medium", "temperature": 0.2}),
        ("openai_compatible", "my-model", 9_000, {"temperature": 0.2}),
    ],
)
async def test_the_effort_has_the_name_that_its_provider_gives_it(
    provider: str, model: str, effort: str | int | None, expected: dict[str, Any]
) -> None:
    names = {"reasoning_effort", "reasoning", "thinking", "temperature"}
    for streams in (False, True):
        body = await sent(provider, model, effort, streams=streams)
        assert isinstance(body, dict), body
        assert {name: value for name, value in body.items() if name in names} == expected


@pytest.mark.parametrize(
    ("provider", "model", "effort", "words"),
    [
        (
            "openai",
            "gpt-5",
            "none",
            "gpt-5 at .* does not know the reasoning_effort none. It takes minimal, low",
        ),
        ("openai", "gpt-5-pro", "low", "It takes high, or a number of tokens"),
        (
            "openai",
            "gpt-4o",
            "high",
            "does not reason, so it takes no reasoning_effort, and high was set. Leave",
        ),
        ("deepseek", "deepseek-chat", "low", "does not reason"),
        ("zhipu", "glm-5.3", "none", "does not know the reasoning_effort none"),
    ],
)
async def test_effort_that_model_does_not_know_is_refused_before_call(
    provider: str, model: str, effort: str, words: str
) -> None:
    """An effort that the model does not know is refused before a call."""
    fault = await sent(provider, model, effort)
    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.SETTING_REFUSED
    assert fault.kind.is_setup
    assert re.search(words, fault.message)
    async with serving(answer()) as server:
        seat = server.seat(provider, model=model, reasoning_effort=effort)
        async with opened(seat, KEY) as model_client:
            probed = await model_client.probe()
    assert probed is not None
    assert probed.kind is FaultKind.SETTING_REFUSED


async def test_effort_that_only_server_knows_to_refuse_names_setting() -> None:
    """An effort that only the server knows to refuse names the setting."""
    words = "Unsupported value: 'reasoning_effort' does not support 'none' with this model."
    body = {"error": {"message": words, "type": "invalid_request_error", "param": "reasoning_effort", "code": "x"}}
    async with serving(answer(body, 400)) as server:
        async with opened(server.seat(reasoning_effort="none"), None) as model_client:
            refused = await model_client.call(a_call())
        async with opened(server.seat(), None) as model_client:
            other = await model_client.call(a_call())
    assert isinstance(refused, Fault)
    assert isinstance(other, Fault)
    assert refused.kind is FaultKind.SETTING_REFUSED
    assert "does not take the reasoning_effort that was set (status 400): Unsupported value" in refused.message
    assert other.kind is FaultKind.BAD_REQUEST


async def test_what_is_sent_is_what_pydantic_ai_would_send() -> None:
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    from disputatio.participants.remote.endpoint import Endpoint
    from disputatio.participants.remote.models import build_connection
    from disputatio.participants.remote.transport import replay_exchange

    compared = 0
    for model in ("gpt-5", "gpt-5.2", "gpt-6-astra", "o3", "gpt-5-pro"):
        line = build_connection(Endpoint.of(ModelSeating(provider="openai", model=model), KEY))
        for effort in EFFORTS:
            body = await sent("openai", model, effort)
            if isinstance(body, Fault):
                continue
            settings: Any = {"thinking": False if effort == "none" else effort}
            with replay_exchange(None, shows=True) as passage, contextlib.suppress(Exception):
                await model_request(line.model, [ModelRequest([UserPromptPart("Hm?")])], model_settings=settings)
            assert passage.request is not None
            assert json.loads(passage.request.content)["reasoning_effort"] == body["reasoning_effort"]
            compared += 1
        await line.close()
    assert compared == 16


def test_seats_with_another_effort_have_a_gateway_of_their_own() -> None:
    shared = SharedClients(open_client)
    seats = [
        ModelSeating(provider="openai", model="gpt-5", reasoning_effort=row) for row in (None, "low", "low", 4_000)
    ]
    model_clients = [shared.get(seat, "k") for seat in seats]
    assert model_clients[1] is model_clients[2]
    assert len({id(row) for row in model_clients}) == 3


def test_models_pydantic_ai_knows_to_reason_by_default_known() -> None:
    """The table here saves an import of seconds; it may know more, as of models that anybody can serve."""
    from pydantic_ai.models import known_model_names
    from pydantic_ai.profiles.anthropic import anthropic_model_profile
    from pydantic_ai.profiles.openai import _REASONING_SUPPORT_BY_PREFIX, openai_model_profile

    profiles: dict[str, Any] = {"openai": openai_model_profile, "anthropic": anthropic_model_profile}
    claudes = ("opus-4-1", "opus-5", "sonnet-4-5", "sonnet-5", "haiku-4-5", "mythos-preview", "fable-5")
    older = [
        f"openai:{name}" for name in (*_REASONING_SUPPORT_BY_PREFIX, "gpt-4o", "gpt-4.1-mini", "o1-pro", "o3-mini")
    ]
    names = [*known_model_names(), *older, *(f"anthropic:claude-{name}" for name in claudes)]
    checked = 0
    for name in names:
        provider, _, model = name.partition(":")
        if provider in profiles:
            found = profiles[provider](model)
            thinks = found.get("thinking_enabled_by_default", False) or found.get("thinking_always_enabled", False)
            assert reasons_by_default(ModelSeating(provider=provider, model=model)) == thinks, name
            checked += 1
    assert checked > 40


REASONING = """
    qwen3:8b Qwen/Qwen3-32B deepseek-r1:14b openai/gpt-oss-120b glm-4.7 gemini-2.5-pro models/gemini-3-flash grok-4
    magistral-medium kimi-k2-thinking phi-4-reasoning Qwen3-4B-Thinking-2507 us.anthropic.claude-opus-5
"""
OTHERS = """
    qwen3-coder:30b Qwen3-4B-Instruct-2507 gpt-4o llama3.1:8b fake grok-4-fast-non-reasoning gemini-2.5-flash-lite
    claude-sonnet-4-6 gemma3 deepseek-chat
"""


@pytest.mark.parametrize(
    ("model", "reasons"), [*((name, True) for name in REASONING.split()), *((name, False) for name in OTHERS.split())]
)
def test_models_are_known_by_name_whoever_serves_them(model: str, reasons: bool) -> None:
    assert reasons_by_default(ModelSeating(provider="openai_compatible", model=model)) is reasons


def test_the_embedded_model_never_reasons_whatever_it_is_called() -> None:
    assert not reasons_by_default(ModelSeating(provider="embedded", model="/models/qwen3-4b-thinking.gguf"))


def test_allowances_cover_budgets_pydantic_ai_sends_for_efforts() -> None:
    """Allowances cover the budgets that pydantic ai sends for the efforts."""
    from pydantic_ai.profiles.anthropic import ANTHROPIC_THINKING_BUDGET_MAP

    assert list(ALLOWANCES) == list(EFFORTS)
    for effort in EFFORTS[1:]:
        assert ALLOWANCES[effort] >= ANTHROPIC_THINKING_BUDGET_MAP[effort]  # type: ignore[index]
    assert json.dumps(sorted(ALLOWANCES.values())) == json.dumps(list(ALLOWANCES.values()))
