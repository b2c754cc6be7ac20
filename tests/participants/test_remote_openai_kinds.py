"""OpenAI's models at Azure, and by the Responses API: what is sent there and what is made of the answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from remote_server import KEY, SCHEMA, Answer, a_call, answer, chunk, completion, opened, serving, stream

from disputatio.config import Arguments, resolve
from disputatio.participants.call import Fault, FaultKind, OutputMode, Reply, Usage
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.remote import Endpoint, RemoteClient

pytestmark = pytest.mark.usefixtures("warm_libraries")

K = FaultKind
VERSION = "2024-10-21"


def response(*output: dict[str, Any], **changes: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 12,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 6},
        "total_tokens": 21,
    }
    body = {
        "id": "r-1",
        "object": "response",
        "created_at": 1,
        "model": "served-model",
        "status": "completed",
        "output": list(output),
        "usage": usage,
        "incomplete_details": None,
        "error": None,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    return {**body, **changes}


def message(text: str, status: str = "completed") -> dict[str, Any]:
    content = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "m-1", "role": "assistant", "status": status, "content": [content]}


THOUGHT = {"type": "reasoning", "id": "rs-1", "summary": []}
COUNTS = Usage(12, 9, 4, None, 6)


def streamed(body: dict[str, Any]) -> Answer:
    """The events of a response, as OpenAI sends them."""
    events: list[dict[str, Any]] = [{"type": "response.created", "response": {**body, "output": [], "usage": None}}]
    for place, item in enumerate(body["output"]):
        place_of = {"output_index": place, "item_id": item["id"]}
        events.append({"type": "response.output_item.added", "output_index": place, "item": {**item, "content": []}})
        delta = {"type": "response.output_text.delta", **place_of, "content_index": 0}
        events += [{**delta, "delta": content["text"]} for content in item.get("content", [])]
        events.append({"type": "response.output_item.done", "output_index": place, "item": item})
    ending = "response.completed" if body["status"] == "completed" else "response.incomplete"
    events.append({"type": ending, "response": body})
    return stream([{**row, "sequence_number": number} for number, row in enumerate(events)], done=False)


@pytest.mark.parametrize("streams", [False, True])
async def test_responses_are_read_with_their_reasoning(streams: bool) -> None:
    body = response(THOUGHT, message('{"score": 3}'))
    async with serving(streamed(body) if streams else answer(body)) as server:
        heard: list[str] = []
        async with opened(server.seat("openai_responses", model="gpt-5", reasoning_effort="low")) as model_client:
            reply = await model_client.call(a_call(), heard.append if streams else None)
        assert reply == Reply('{"score": 3}', "served-model", COUNTS, "stop")
        assert "".join(heard) == ('{"score": 3}' if streams else "")
        sent = server.received[0]
    assert sent.path == "/v1/responses"
    assert sent.headers["Authorization"] == f"Bearer {KEY}"
    assert sent.body["reasoning"] == {"effort": "low"}
    assert (sent.body["max_output_tokens"], sent.body["store"]) == (100, False)
    assert sent.body["text"]["format"]["type"] == "json_schema"
    assert sent.body["text"]["format"]["strict"] is True
    assert set(sent.body["text"]["format"]["schema"]["properties"]) == set(SCHEMA["properties"])
    assert not {"temperature", "seed", "max_tokens"} & set(sent.body)


@pytest.mark.parametrize("streams", [False, True])
async def test_incomplete_details_say_that_the_limit_was_reached(streams: bool) -> None:
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    body = response(THOUGHT, message('{"sco', "incomplete"), **cut)
    given = streamed(body) if streams else answer(body)
    async with serving(given) as server, opened(server.seat("openai_responses", model="gpt-5")) as model_client:
        reply = await model_client.call(a_call(), (lambda _: None) if streams else None)
    assert reply == Reply('{"sco', "served-model", COUNTS, "length")


async def test_a_response_that_is_all_reasoning_is_a_cut_reply() -> None:
    body = response(THOUGHT, status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    async with serving(answer(body)) as server, opened(server.seat("openai_responses", model="gpt-5")) as model_client:
        assert await model_client.call(a_call()) == Reply("", "served-model", COUNTS, "length")


async def test_a_tool_of_a_response_brings_the_answer() -> None:
    called = {"type": "function_call", "id": "f", "call_id": "c", "name": "judging", "arguments": '{"a": 1}'}
    body = response({**called, "status": "completed"})
    async with serving(answer(body)) as server, opened(server.seat("openai_responses", model="gpt-4o")) as model_client:
        reply = await model_client.call(a_call(OutputMode.TOOL))
        assert isinstance(reply, Reply)
        assert reply.text == '{"a": 1}'
        assert server.received[0].body["tools"][0]["name"] == "judging"
        assert server.received[0].body["temperature"] == 0.2


async def test_a_refusal_in_a_response_is_one() -> None:
    refusal = {**message(""), "content": [{"type": "refusal", "refusal": "I cannot."}]}
    async with serving(answer(response(refusal))) as server, opened(server.seat("openai_responses")) as model_client:
        fault = await model_client.call(a_call())
        assert isinstance(fault, Fault)
        assert (fault.kind, fault.usage) == (K.REFUSED, COUNTS)


async def test_an_effort_that_a_model_of_responses_lacks_is_refused() -> None:
    async with (
        serving() as server,
        opened(server.seat("openai_responses", model="gpt-5", reasoning_effort="none")) as model_client,
    ):
        fault = await model_client.call(a_call())
        assert isinstance(fault, Fault)
        assert fault.kind is K.SETTING_REFUSED
        assert not server.received


AZURE = [
    ("", "/openai/v1/chat/completions"),
    ("/openai/v1", "/openai/v1/chat/completions"),
    (f"?api-version={VERSION}", f"/openai/deployments/my-own/chat/completions?api-version={VERSION}"),
    (
        f"/openai/deployments/x/chat/completions?api-version={VERSION}",
        f"/openai/deployments/my-own/chat/completions?api-version={VERSION}",
    ),
]


@pytest.mark.parametrize(("ending", "path"), AZURE)
@pytest.mark.parametrize("thin", [True, False])
async def test_a_deployment_is_called_at_its_address(ending: str, path: str, thin: bool) -> None:
    async with serving(answer(completion("{}"))) as server:
        seat = ModelSeating(provider="azure", model="my-own", base_url=f"{server.url}{ending}")
        model_client = RemoteClient(replace(Endpoint.of(seat, KEY), direct=thin))
        try:
            assert isinstance(await model_client.call(a_call()), Reply)
        finally:
            await model_client.aclose()
        (sent,) = server.received
    assert sent.path == path
    assert sent.headers["api-key"] == KEY
    assert "Authorization" not in sent.headers
    assert (sent.body["model"], sent.body["max_completion_tokens"]) == ("my-own", 100)


async def test_a_deployment_streams() -> None:
    async with serving(stream([chunk({"content": "{}"}), chunk({}, "stop")])) as server:
        seat = ModelSeating(provider="azure", model="my-own", base_url=f"{server.url}?api-version={VERSION}")
        async with opened(seat) as model_client:
            reply = await model_client.call(a_call(), lambda _: None)
    assert isinstance(reply, Reply)
    assert server.received[0].path == AZURE[2][1]


@pytest.mark.parametrize("ending", ["", f"?api-version={VERSION}"])
async def test_a_probe_of_azure_asks_for_the_key_alone(ending: str) -> None:
    """Its list has the models that could be deployed and not the deployments."""
    listed = {"object": "list", "data": [{"id": "gpt-4o"}]}
    refused = {"error": {"code": "401", "message": "Access denied due to invalid subscription key."}}
    async with serving(answer(listed), answer(refused, 401)) as server:
        seat = ModelSeating(provider="azure", model="my-own", base_url=f"{server.url}{ending}")
        async with opened(seat) as model_client:
            assert await model_client.probe() is None
        async with opened(replace(seat, timeout_s=299.0)) as model_client:
            fault = await model_client.probe()
        assert fault is not None
        assert fault.kind is K.KEY_REJECTED
        assert {row.headers["api-key"] for row in server.received} == {KEY}


def test_azure_is_configured_by_its_own_variables(tmp_path: Any) -> None:
    environ = {
        "AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com/",
        "AZURE_OPENAI_API_KEY": "azure-key-1",
        "OPENAI_API_VERSION": VERSION,
    }
    given = {"format_name": "freeform", "seats": ("pro",), "directory": tmp_path}
    settings = resolve(environ=environ, arguments=Arguments().with_seats([("all", "azure:my-own")]), **given)
    assert settings.seats["pro"].base_url == f"https://r.openai.azure.com?api-version={VERSION}"
    assert settings.credentials.key("pro") == "azure-key-1"
    del environ["OPENAI_API_VERSION"]
    settings = resolve(environ=environ, arguments=Arguments().with_seats([("all", "azure:my-own")]), **given)
    assert settings.seats["pro"].base_url == "https://r.openai.azure.com"
