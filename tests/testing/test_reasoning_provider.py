"""The fake provider reasons, charges it to the limit, and refuses parameters as OpenAI's reasoning models do."""

from __future__ import annotations

import json
import statistics
import urllib.error
import urllib.request
from typing import Any

import aiohttp
import jsonschema_rs
import pytest

from disputatio.errors import InvalidInputError
from disputatio.testing import FakeProvider, Reasoning, ReasoningText, provider_process, reasoning_provider
from disputatio.testing.provider import THOUGHT

Body = dict[str, Any]
SCHEMA: Body = {
    "type": "object",
    "properties": {
        "claim": {"type": "string", "minLength": 10, "maxLength": 300},
        "reasoning": {"type": "string", "minLength": 20, "maxLength": 1200},
        "question": {"type": "string", "minLength": 8, "maxLength": 300},
        "label": {"type": "string", "maxLength": 20},
    },
    "required": ["claim", "reasoning", "question", "label"],
    "additionalProperties": False,
}
NATIVE: Body = {"type": "json_schema", "json_schema": {"name": "turn", "strict": True, "schema": SCHEMA}}
TOOL: Body = {"type": "function", "function": {"name": "take_turn", "parameters": SCHEMA}}


async def post(provider: FakeProvider, text: str = "Should the pilot go on?", **body: Any) -> tuple[int, Body]:
    whole = {"model": "gpt-5", "messages": [{"role": "user", "content": text}], "response_format": NATIVE, **body}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{provider.base_url}/chat/completions", json=whole) as response,
    ):
        return response.status, await response.json()


def fetch(base_url: str, **body: Any) -> Body:
    data = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Go?"}], **body}).encode()
    request = urllib.request.Request(  # noqa: S310 - our own address
        f"{base_url}/chat/completions", data, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310 - our own address
        found: Body = json.load(response)
    return found


async def streamed(provider: FakeProvider, **body: Any) -> tuple[Body, Body]:
    """The joined fields of the deltas, and the last usage."""
    whole = {"model": "m", "messages": [{"role": "user", "content": "Go?"}], "response_format": NATIVE, **body}
    whole |= {"stream": True, "stream_options": {"include_usage": True}}
    joined: Body = {}
    usage: Body = {}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{provider.base_url}/chat/completions", json=whole) as response,
    ):
        for line in (await response.text()).splitlines():
            if not line.startswith("data: {"):
                continue
            chunk = json.loads(line.removeprefix("data: "))
            usage = chunk.get("usage") or usage
            for choice in chunk["choices"]:
                for name, text in choice["delta"].items():
                    if isinstance(text, str):
                        joined[name] = joined.get(name, "") + text
    return joined, usage


async def test_reasoning_is_drawn_around_its_median_and_reported() -> None:
    found: list[int] = []
    async with reasoning_provider(2000, refuses=()) as provider:
        for number in range(200):
            _, answer = await post(provider, f"Question {number}?")
            usage = answer["usage"]
            found.append(usage["completion_tokens_details"]["reasoning_tokens"])
            text = answer["choices"][0]["message"]["content"]
            assert usage["completion_tokens"] == found[-1] + -(-len(text.encode()) // 4)
    assert statistics.median(found) == pytest.approx(2000, rel=0.2)
    assert statistics.stdev(found) > 500


async def test_the_limit_is_charged_before_the_first_word() -> None:
    async with FakeProvider(reasoning=Reasoning(median=500, spread=0)) as provider:
        _, cut = await post(provider, max_completion_tokens=400)
        _, part = await post(provider, max_completion_tokens=520)
        _, whole = await post(provider, max_completion_tokens=5000)
    assert cut["choices"][0]["finish_reason"] == "length"
    assert cut["choices"][0]["message"]["content"] == ""
    assert cut["usage"]["completion_tokens"] == 400
    assert cut["usage"]["completion_tokens_details"] == {"reasoning_tokens": 400}
    assert part["choices"][0]["finish_reason"] == "length"
    assert len(part["choices"][0]["message"]["content"]) == 80
    assert part["usage"]["completion_tokens_details"] == {"reasoning_tokens": 500}
    assert jsonschema_rs.is_valid(SCHEMA, json.loads(whole["choices"][0]["message"]["content"]))


async def test_call_made_again_with_more_room_needs_as_much() -> None:
    """A call made again with more room needs as much as before."""
    async with reasoning_provider(3000) as provider:
        _, first = await post(provider, max_completion_tokens=20_000)
        _, second = await post(provider, max_completion_tokens=30_000)
    assert first["usage"]["completion_tokens_details"] == second["usage"]["completion_tokens_details"]


async def test_efforts_scale_the_draw_and_others_are_refused() -> None:
    found: dict[str, int] = {}
    async with reasoning_provider(1000, spread=0) as provider:
        for effort in ("minimal", "low", "medium", "high"):
            _, answer = await post(provider, reasoning_effort=effort)
            found[effort] = answer["usage"]["completion_tokens_details"]["reasoning_tokens"]
        status, refused = await post(provider, reasoning_effort="none")
    assert found == {"minimal": 100, "low": 400, "medium": 1000, "high": 2500}
    assert status == 400
    assert refused["error"] == {
        "message": "Unsupported value: 'reasoning_effort' does not support 'none' with this model. "
        "Supported values are: 'minimal', 'low', 'medium', and 'high'.",
        "type": "invalid_request_error",
        "param": "reasoning_effort",
        "code": "unsupported_value",
    }


async def test_max_tokens_and_temperature_are_refused_in_openais_words() -> None:
    async with reasoning_provider(0) as provider:
        status, refused = await post(provider, max_tokens=100)
        other_status, other = await post(provider, temperature=0.2)
        taken, _ = await post(provider, temperature=1, max_completion_tokens=900)
    assert (status, other_status, taken) == (400, 400, 200)
    assert refused["error"] == {
        "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        "type": "invalid_request_error",
        "param": "max_tokens",
        "code": "unsupported_parameter",
    }
    assert other["error"] == {
        "message": "Unsupported value: 'temperature' does not support 0.2 with this model. "
        "Only the default (1) value is supported.",
        "type": "invalid_request_error",
        "param": "temperature",
        "code": "unsupported_value",
    }


@pytest.mark.parametrize("tool", [False, True])
@pytest.mark.parametrize("place", list(ReasoningText))
async def test_the_reasoning_text_stands_where_it_is_wanted(place: ReasoningText, tool: bool) -> None:
    body: Body = {"tools": [TOOL], "response_format": None} if tool else {}
    async with FakeProvider(reasoning=Reasoning(median=100, spread=0, text=place)) as provider:
        _, answer = await post(provider, **body)
        joined, usage = await streamed(provider, **body)
    message = answer["choices"][0]["message"]
    content = message["content"] or ""
    shown = {
        ReasoningText.HIDDEN: "",
        ReasoningText.TAGS: content,
        ReasoningText.CLOSING_TAG: content,
    }.get(place, message.get(place.value, ""))
    assert (THOUGHT in json.dumps(message)) == (place is not ReasoningText.HIDDEN)
    assert shown.count(THOUGHT) == (place is not ReasoningText.HIDDEN)
    assert content.startswith("<think>") == (place is ReasoningText.TAGS)
    assert ("</think>" in content) == (place in (ReasoningText.TAGS, ReasoningText.CLOSING_TAG))
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 100}
    assert (THOUGHT in json.dumps(joined)) == (place is not ReasoningText.HIDDEN)


async def test_who_is_cut_while_reasoning_never_closes_the_tag() -> None:
    async with FakeProvider(reasoning=Reasoning(median=100, spread=0, text=ReasoningText.TAGS)) as provider:
        _, answer = await post(provider, max_tokens=50)
    content = answer["choices"][0]["message"]["content"]
    assert content.startswith("<think>")
    assert "</think>" not in content


async def test_texts_have_realistic_lengths_within_the_schema() -> None:
    short: list[int] = []
    words: dict[str, list[int]] = {"claim": [], "reasoning": [], "question": []}
    async with FakeProvider() as plain, FakeProvider(realistic_lengths=True) as provider:
        for number in range(40):
            _, answer = await post(provider, f"Question {number}?")
            turn = json.loads(answer["choices"][0]["message"]["content"])
            assert jsonschema_rs.is_valid(SCHEMA, turn)
            for name, counted in words.items():
                counted.append(len(turn[name].split()))
            _, answer = await post(plain, f"Question {number}?")
            short.append(len(json.loads(answer["choices"][0]["message"]["content"])["reasoning"].split()))
    assert 40 <= statistics.mean(words["reasoning"]) <= 120
    assert 10 <= statistics.mean(words["question"]) <= 45
    assert statistics.mean(short) < 30


@pytest.mark.parametrize(
    "given", [{"median": -1}, {"median": float("nan")}, {"median": 1, "spread": -0.1}, {"median": 1, "efforts": ("x",)}]
)
def test_reasoning_that_means_nothing_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInputError, match="fake provider"):
        Reasoning(**given)


@pytest.mark.slow
def test_the_command_line_reasons_and_refuses() -> None:
    options = ("--reasoning", "300", "--reasoning-spread", "0", "--reasoning-text", "tags", "--refuse", "max_tokens")
    with provider_process(*options, "--realistic-lengths") as base_url:
        answer = fetch(base_url)
        with pytest.raises(urllib.error.HTTPError, match="400"):
            fetch(base_url, max_tokens=5)
    assert answer["usage"]["completion_tokens_details"] == {"reasoning_tokens": 300}
    assert answer["choices"][0]["message"]["content"].startswith("<think>")
