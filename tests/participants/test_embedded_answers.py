"""What the real model writes: always the shape that was asked for, in whole sentences, within its tokens."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from embedded_stage import a_call, cache_with_weights, needs_library

from disputatio.participants.call import Fault, FaultKind, OutputMode, Reply
from disputatio.participants.embedded import EmbeddedClient

pytestmark = [pytest.mark.embedded, needs_library]

JUDGEMENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "logic": {"type": "integer", "minimum": 1, "maximum": 10},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "standing": {"type": "string", "enum": ["UPHELD", "PARTIALLY_UPHELD", "REFUTED", "UNCERTAIN"]},
        "reason": {"type": "string", "minLength": 20, "maxLength": 300},
        "open": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "uniqueItems": True,  # the grammar cannot hold this one: it must not fail over it
            "items": {"type": "string", "maxLength": 200, "pattern": "^(What|How|Who) [A-Za-z0-9 ,'-]{10,}[?]$"},
        },
        "answers": {
            "type": "object",
            "properties": {"PRO-1": {"type": "boolean"}, "PRO-2": {"type": "boolean"}},
            "required": ["PRO-1", "PRO-2"],
            "additionalProperties": False,
        },
    },
    "required": ["logic", "confidence", "standing", "reason", "open", "answers"],
    "additionalProperties": False,
}


@pytest.fixture
async def model_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddedClient]:
    await cache_with_weights(monkeypatch, tmp_path / "cache")
    model_client = EmbeddedClient()
    yield model_client
    await model_client.aclose()


async def said(model_client: EmbeddedClient, **changes: Any) -> Reply:
    reply = await model_client.call(a_call(**changes))
    assert isinstance(reply, Reply), reply
    return reply


async def test_every_answer_valid_under_schema_whatever_prompt_wants(model_client: EmbeddedClient) -> None:
    """Every answer is valid under its schema whatever the prompt wants."""
    text = "Score the argument that trees give shade. Logic is 5000, confidence is 300, standing is GREAT."
    validator = jsonschema_rs.validator_for(JUDGEMENT)
    for seed in range(4):
        reply = await said(model_client, text=text, schema=JUDGEMENT, temperature=1.2, seed=seed, max_tokens=400)
        assert reply.finish == "stop"
        content = json.loads(reply.text)
        content["open"] = list(dict.fromkeys(content["open"]))
        assert [error.message for error in validator.iter_errors(content)] == []
        assert content["reason"][0].isupper()
        assert content["reason"][-1] in ".!?"
        assert "\n" not in reply.text


async def test_texts_within_their_length_fit_their_tokens(model_client: EmbeddedClient) -> None:
    """400 characters of English took 90 tokens at most."""
    schema = {
        "type": "object",
        "properties": {"reasoning": {"type": "string", "minLength": 300, "maxLength": 400}},
        "required": ["reasoning"],
    }
    for seed in range(3):
        reply = await said(model_client, schema=schema, seed=seed, temperature=1.0, max_tokens=150)
        assert reply.finish == "stop"
        assert 300 <= len(json.loads(reply.text)["reasoning"]) <= 400


async def test_an_answer_cut_at_the_token_limit_says_so(model_client: EmbeddedClient) -> None:
    reply = await said(model_client, mode=OutputMode.TEXT, schema=None, text="Tell a long story.", max_tokens=5)
    assert reply.finish == "length"
    assert reply.usage.output_tokens == 5


async def test_a_streamed_answer_equals_the_whole_one(model_client: EmbeddedClient) -> None:
    pieces: list[str] = []
    streamed = await model_client.call(a_call(temperature=0.0), pieces.append)
    whole = await said(model_client, temperature=0.0)
    assert isinstance(streamed, Reply)
    assert len(pieces) > 5
    assert "".join(pieces) == streamed.text == whole.text
    assert streamed.served_model == whole.served_model == "smollm2-135m"
    assert streamed.usage.output_tokens == whole.usage.output_tokens


async def test_a_repeated_prompt_comes_from_the_cache(model_client: EmbeddedClient) -> None:
    first = await said(model_client)
    again = await said(model_client)
    assert first.usage.input_tokens == again.usage.input_tokens
    assert again.usage.cached_tokens is not None
    assert again.usage.input_tokens is not None
    assert again.usage.cached_tokens >= again.usage.input_tokens - 1


async def test_prompt_beyond_context_is_refused_with_both_numbers(model_client: EmbeddedClient) -> None:
    """A prompt beyond the context is refused with both numbers."""
    fault = await model_client.call(a_call("word " * 5000))
    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.CONTEXT_TOO_LONG
    assert "4096" in fault.message
