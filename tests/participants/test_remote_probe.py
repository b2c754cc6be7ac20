"""What can be learnt about a provider without spending a token."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web
from remote_server import KEY, Answer, answer, bytes_only, opened, serving, unused_port

from disputatio.participants.call import Fault, FaultKind
from disputatio.participants.model_seat import ModelSeating
from disputatio.testing.provider import FakeProvider

pytestmark = pytest.mark.usefixtures("warm_libraries")

K = FaultKind


def listing(*names: str, **item: object) -> Answer:
    return answer({"object": "list", "data": [{"id": name, "object": "model", **item} for name in names]})


async def verdict(given_answer: Answer, **seat: object) -> Fault | None:
    async with serving(given_answer) as server, opened(server.seat(**seat)) as model_client:
        fault = await model_client.probe()
        assert [(r.method, r.path) for r in server.received] == [("GET", "/v1/models")]
        assert server.received[0].headers["Authorization"] == f"Bearer {KEY}"
        return fault


async def kind(given_answer: Answer, **seat: object) -> FaultKind | None:
    fault = await verdict(given_answer, **seat)
    return fault.kind if fault else None


async def test_a_listed_model_has_nothing_against_it() -> None:
    assert await verdict(listing("llama3", "qwen3")) is None


async def test_model_list_clearly_lacks_is_named_with_what_there_is() -> None:
    """A model that a list clearly lacks is named with what there is."""
    fault = await verdict(listing("llama3", "gemma3"))
    assert fault is not None
    assert fault.kind is K.NO_SUCH_MODEL
    assert "llama3, gemma3" in fault.message


@pytest.mark.parametrize(
    "unclear",
    [
        answer({"data": []}),
        answer({"data": "x"}),
        answer({"data": [1]}),
        answer({"data": [{"name": "x"}]}),
        answer({"data": [{"id": "other"}], "has_more": True}),
        answer([]),
        answer("no json"),
        answer("<html>", headers={"Content-Type": "text/html"}),
        listing("/models/any.gguf", owned_by="llamacpp"),
        answer("", 404),
        answer("", 405),
        answer({"error": {"message": "what?"}}, 400),
    ],
)
async def test_what_is_not_clear_is_no_fault(unclear: Answer) -> None:
    assert await verdict(unclear) is None


@pytest.mark.parametrize(
    ("model", "listed"),
    [("qwen3", "qwen3:latest"), ("a/b:free", "a/b"), ("Qwen3", "qwen3"), ("qwen3:8b", "qwen3:8b"), ("x", "y")],
)
async def test_a_tag_does_not_hide_a_model(model: str, listed: str) -> None:
    expected = K.NO_SUCH_MODEL if (model, listed) == ("x", "y") else None
    assert await kind(listing(listed), model=model) == expected


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, {"error": {"message": "bad key"}}, K.KEY_REJECTED),
        (403, {"error": {"message": "forbidden"}}, K.KEY_REJECTED),
        # A restricted key may make calls and not read this list.
        (403, {"error": {"message": "You have insufficient permissions. Missing scopes: api.model.read"}}, None),
        (429, {"error": {"message": "slow down"}}, K.RATE_LIMITED),
        (402, {"error": {"message": "pay"}}, K.QUOTA_EXHAUSTED),
        (503, {"error": {"message": "Loading model"}}, K.SERVER_ERROR),
    ],
)
async def test_a_status_is_told_where_it_bears_on_calls(status: int, body: object, expected: FaultKind | None) -> None:
    assert await kind(answer(body, status)) == expected


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    seating = ModelSeating(provider="ollama", model="m", base_url=f"http://127.0.0.1:{unused_port()}/v1")
    async with opened(seating, None) as model_client:
        fault = await model_client.probe()
    assert fault is not None
    assert fault.kind is K.UNREACHABLE


async def test_a_connection_that_breaks_is_told() -> None:
    async with bytes_only(None) as url, opened(ModelSeating(provider="vllm", model="m", base_url=url)) as model_client:
        fault = await model_client.probe()
    assert fault is not None
    assert fault.kind is K.CUT_OFF


async def test_a_probe_ends_at_the_limit() -> None:
    async def never(_: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    assert await kind(never, timeout_s=0.05) is K.TIMED_OUT


async def test_a_server_without_keys_is_sent_none() -> None:
    async with serving(listing("m")) as server, opened(server.seat("ollama", model="m"), None) as model_client:
        assert await model_client.probe() is None
        assert "Authorization" not in server.received[0].headers


async def test_debates_begin_together_ask_once_and_fault_asked() -> None:
    """Debates that begin together ask once and a fault is asked for anew."""
    async with (
        serving(answer("", 503), listing("m")) as server,
        opened(server.seat(model="m")) as one,
        opened(server.seat(model="m")) as two,
    ):
        faults = await asyncio.gather(one.probe(), two.probe())
        assert [fault and fault.kind for fault in faults] == [K.SERVER_ERROR] * 2
        assert await asyncio.gather(one.probe(), two.probe()) == [None, None]
        assert await two.probe() is None
        assert len(server.received) == 2


def test_what_one_event_loop_was_told_asked_for_anew_in_another() -> None:
    """What one event loop was told is asked for anew in another."""

    async def ask(url: str) -> Fault | None:
        async with opened(ModelSeating(provider="vllm", model="m", base_url=url)) as model_client:
            return await model_client.probe()

    with FakeProvider(models=["m"]) as provider:
        assert [asyncio.run(ask(provider.base_url)) for _ in range(2)] == [None, None]
        assert provider.models_asked.count == 2
