"""The gateways without a network keep the promises of the gateway protocol."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.participants.call import (
    Call,
    Fault,
    FaultKind,
    ModelClient,
    OutputMode,
    Reply,
    Segment,
    Usage,
)
from disputatio.testing.scripted import (
    InstanceClient,
    ScriptedClient,
    ScriptEndedError,
    counted_usage,
    no_usage,
)

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "arguments": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "claim": {"type": "string", "minLength": 10, "maxLength": 100},
                    "reasoning": {"type": "string", "minLength": 20},
                    "evidence": {"type": "string", "minLength": 5},
                },
                "required": ["claim", "reasoning", "evidence"],
                "additionalProperties": False,
            },
            "minItems": 3,
            "maxItems": 5,
        },
        "vote": {"enum": ["adopt", "reject"]},
    },
    "required": ["arguments", "vote"],
    "additionalProperties": False,
}
CALL = Call(
    (Segment("system", "The rules."), Segment("user", "Now speak.")), SCHEMA, "opening", OutputMode.NATIVE, 0.7, 1500
)
FAULT = Fault(FaultKind.RATE_LIMITED, "Too many requests.", retry_after_s=1.0)


def is_gateway(model_client: ModelClient) -> ModelClient:
    """Type-checked: what is passed here implements the protocol."""
    return model_client


async def test_a_script_is_spoken_in_its_order() -> None:
    whole = Reply("as is", "other", Usage(1, 2, 3), "length")
    model_client = ScriptedClient(["text", {"vote": "adopt"}, FAULT, whole])
    replies = [await model_client.call(replace(CALL, seed=seed)) for seed in range(4)]
    assert replies[0] == Reply("text", "scripted", counted_usage(CALL, "text"))
    assert isinstance(replies[1], Reply)
    assert json.loads(replies[1].text) == {"vote": "adopt"}
    assert replies[2] == FAULT
    assert replies[3] == whole
    assert [call.seed for call in model_client.calls] == [0, 1, 2, 3]


async def test_a_script_that_has_ended_fails_the_test_that_goes_on() -> None:
    model_client = ScriptedClient(["only this"])
    await model_client.call(CALL)
    with pytest.raises(ScriptEndedError, match="opening"):
        await model_client.call(CALL)


async def test_a_function_of_the_call_can_be_the_script() -> None:
    model_client = ScriptedClient(lambda call: FAULT if call.schema is None else "text")
    assert isinstance(await model_client.call(CALL), Reply)
    assert await model_client.call(replace(CALL, schema=None, mode=OutputMode.TEXT)) == FAULT


async def test_a_coroutine_function_can_keep_a_reply_back() -> None:
    told = asyncio.Event()

    async def script(_call: Call) -> str:
        await told.wait()
        return "at last"

    model_client = ScriptedClient(script)
    call = asyncio.create_task(model_client.call(CALL))
    await asyncio.sleep(0)
    assert not call.done()
    told.set()
    reply = await call
    assert isinstance(reply, Reply)
    assert reply.text == "at last"


async def test_nested_mappings_that_are_no_dicts_are_sent_as_json() -> None:
    said = MappingProxyType({"inner": MappingProxyType({"vote": "adopt"})})
    reply = await ScriptedClient([said]).call(CALL)
    assert isinstance(reply, Reply)
    assert json.loads(reply.text) == {"inner": {"vote": "adopt"}}


@pytest.mark.parametrize("single", ["text", {"vote": "adopt"}])
def test_a_single_reply_is_no_script(single: Any) -> None:
    with pytest.raises(InvalidInputError, match="list"):
        ScriptedClient(single)


async def test_the_settings_of_a_script_are_what_the_gateway_shows() -> None:
    modes = (OutputMode.TOOL, OutputMode.PROMPTED)
    model_client = ScriptedClient(["a"], modes=modes, model=None, usage=no_usage, probe_fault=FAULT)
    assert is_gateway(model_client).modes == modes
    assert await model_client.probe() == FAULT
    assert await model_client.call(CALL) == Reply("a", None, Usage())
    await model_client.aclose()
    await model_client.aclose()
    assert (model_client.probes, model_client.is_closed) == (1, True)


@pytest.mark.parametrize(
    "model_client", [ScriptedClient(lambda _: "word " * 30), InstanceClient()], ids=["scripted", "instance"]
)
async def test_the_pieces_of_text_add_up_to_the_reply(model_client: ModelClient) -> None:
    pieces: list[str] = []
    reply = await model_client.call(CALL, pieces.append)
    assert isinstance(reply, Reply)
    assert "".join(pieces) == reply.text
    assert len(pieces) > 1


async def test_an_instance_gateway_answers_with_a_valid_instance() -> None:
    reply = await is_gateway(InstanceClient()).call(CALL)
    assert isinstance(reply, Reply)
    assert jsonschema_rs.is_valid(SCHEMA, json.loads(reply.text))
    assert (reply.finish, reply.served_model) == ("stop", "instances")
    assert await InstanceClient().probe() is None


async def test_an_instance_gateway_answers_with_prose_in_text_mode() -> None:
    reply = await InstanceClient().call(replace(CALL, schema=None, mode=OutputMode.TEXT))
    assert isinstance(reply, Reply)
    assert reply.text.endswith(".")


@given(texts=st.lists(st.text(max_size=20), max_size=4), seed=st.none() | st.integers())
@settings(max_examples=25, deadline=None)
def test_same_call_gets_same_answer_whatever_was_asked(texts: list[str], seed: int | None) -> None:
    """The same call gets the same answer whatever was asked before."""
    call = replace(CALL, segments=tuple(Segment("user", text) for text in texts), seed=seed)
    fresh, used = InstanceClient(), InstanceClient()
    asyncio.run(used.call(CALL))
    assert asyncio.run(fresh.call(call)) == asyncio.run(used.call(call))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"segments": (Segment("system", "The rules."), Segment("user", "Now speak!"))},
        {"segments": (Segment("user", "The rules."), Segment("user", "Now speak."))},
        {"segments": (Segment("system", "The rules.userNow speak."),)},
    ],
    ids=["seed", "text", "role", "division"],
)
async def test_another_call_gets_another_answer(change: dict[str, Any]) -> None:
    model_client = InstanceClient()
    replies = [await model_client.call(call) for call in (CALL, replace(CALL, **change))]
    assert len({reply.text for reply in replies}) == 2
    assert model_client.call_count == 2


async def test_usage_is_counted_by_the_rule_that_was_given() -> None:
    reply = await InstanceClient(usage=lambda call, text: Usage(len(call.segments), len(text), 1)).call(CALL)
    assert isinstance(reply, Reply)
    assert reply.usage == Usage(2, len(reply.text), 1)


async def test_by_default_token_four_bytes_of_prompt_schema_or_answer() -> None:
    """By default a token is four bytes of prompt schema or answer."""
    reply = await InstanceClient().call(CALL)
    assert isinstance(reply, Reply)
    schema = -(-len(json.dumps(SCHEMA, separators=(",", ":"))) // 4)
    assert reply.usage == Usage(3 + 3 + schema, -(-len(reply.text) // 4), 0)
    assert reply.usage == counted_usage(CALL, reply.text)


async def test_a_gateway_that_obeys_the_token_limit_cuts_there() -> None:
    cut = await InstanceClient(obeys_max_tokens=True).call(replace(CALL, max_tokens=10))
    whole = await InstanceClient(obeys_max_tokens=False).call(replace(CALL, max_tokens=10))
    assert isinstance(cut, Reply)
    assert isinstance(whole, Reply)
    assert cut.finish == "length"
    assert whole.text.startswith(cut.text)
    assert 0 < (cut.usage.output_tokens or 0) <= 10


async def test_calls_of_an_instance_gateway_take_turns() -> None:
    order: list[str] = []

    async def debate(name: str) -> None:
        for _ in range(2):
            await model_client.call(CALL)
            order.append(name)

    model_client = InstanceClient()
    await asyncio.gather(debate("a"), debate("b"))
    assert order == ["a", "b", "a", "b"]


async def test_a_schema_that_is_none_is_named_as_the_callers_mistake() -> None:
    with pytest.raises(InvalidInputError):
        await InstanceClient().call(replace(CALL, schema={"type": "strng"}))


async def test_an_instance_is_made_in_far_less_than_a_millisecond() -> None:
    model_client = InstanceClient()
    calls = [replace(CALL, segments=(Segment("user", "Speak. " * 300), Segment("user", f"{n}"))) for n in range(100)]
    await model_client.call(CALL)
    quickest = 1.0
    # The quickest of several rounds, in time on the processor: neighbours on the machine do not count.
    for _ in range(5):
        start = time.process_time()
        for call in calls:
            await model_client.call(call)
        quickest = min(quickest, (time.process_time() - start) / len(calls))
    assert quickest < 0.0002
