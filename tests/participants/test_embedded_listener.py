"""Whatever the listener does, the gateway hands back a reply or a fault that names the cause."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from embedded_stage import SECRET, a_call, hollow_gguf, needs_library, own_cache, played_listener

from disputatio.participants.call import Fault, FaultKind, OutputMode, Reply, Segment, Usage
from disputatio.participants.embedded import EmbeddedClient, obtain, wire
from disputatio.participants.embedded.server_spec import Address, ServerSpec

pytestmark = needs_library
WARM = (wire, wire)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own_cache(monkeypatch, tmp_path / "cache")
    return hollow_gguf(tmp_path / "tiny.gguf")


def completion(text: str, **changes: Any) -> dict[str, Any]:
    return {
        "model": "tiny.gguf",
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 31}},
        **changes,
    }


def event(**content: Any) -> bytes:
    return f"data: {json.dumps(content)}\n\n".encode()


def delta(text: str, finish: str | None = None) -> bytes:
    return event(model="tiny.gguf", choices=[{"delta": {"content": text}, "finish_reason": finish}])


async def test_a_whole_answer_becomes_a_reply_with_what_was_counted(model: Path) -> None:
    async def say(_: web.Request) -> web.Response:
        return web.json_response(completion('{"claim": "Trees give shade."}'))

    async with played_listener(model, say) as model_client:
        reply = await model_client.call(a_call())
    assert reply == Reply('{"claim": "Trees give shade."}', "tiny.gguf", Usage(40, 9, 31), "stop")


async def test_streamed_answer_heard_as_it_written_and_is_whole_at_end(model: Path) -> None:
    """A streamed answer is heard as it is written and is whole at the end."""
    heard: list[str] = []
    first = asyncio.Event()

    async def say(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        text = delta("Größe ")
        await response.write(text[:30])  # an event may arrive in two packets
        await response.write(text[30:])
        await first.wait()  # goes on only when the first words were heard
        await response.write(delta("counts.", "stop"))
        await response.write(event(choices=[], usage=completion("")["usage"], model="tiny.gguf"))
        await response.write(b"data: [DONE]\n\n")
        return response

    def hear(piece: str) -> None:
        heard.append(piece)
        first.set()

    async with played_listener(model, say) as model_client:
        reply = await model_client.call(a_call(mode=OutputMode.TEXT, schema=None), hear)
    assert heard == ["Größe ", "counts."]
    assert reply == Reply("Größe counts.", "tiny.gguf", Usage(40, 9, 31), "stop")


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_without_an_end_is_stopped(model: Path, streamed: bool) -> None:
    sent = 0

    async def say(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        while sent < 2**27:
            await response.write(delta("word " * 20) * 500)
            sent += 2**16
        return response

    heard: list[str] = []
    async with played_listener(model, say) as model_client:
        fault = await model_client.call(a_call(max_tokens=77), heard.append if streamed else None)
    assert isinstance(fault, Fault), fault
    assert fault.kind is FaultKind.ANSWER_TOO_LONG
    assert "the bound for 77 tokens" in fault.message
    assert fault.text.startswith("word word" if streamed else "data: {")
    assert len(fault.text) <= 500
    assert sent < 2**27


async def test_request_carries_secret_grammar_and_one_message_role(model: Path) -> None:
    """The request carries the secret the grammar and one message a role."""
    seen: dict[str, Any] = {}

    async def say(request: web.Request) -> web.Response:
        seen.update(await request.json(), key=request.headers["Authorization"])
        return web.json_response(completion("{}"))

    segments = (Segment("system", "Rules."), Segment("user", "Motion."), Segment("user", "Task."))
    async with played_listener(model, say) as model_client:
        await model_client.call(a_call(segments=segments, temperature=0.2, max_tokens=77, seed=2**32 + 5))
    assert seen["key"] == f"Bearer {SECRET}"
    assert seen["messages"] == [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Motion.\n\nTask."},
    ]
    assert (seen["temperature"], seen["max_tokens"], seen["seed"]) == (0.2, 77, 5)
    assert '"claim"' in seen["grammar"]


async def test_grammar_server_silently_ignored_noticed_and_not_sent(model: Path) -> None:
    """A grammar that the server silently ignored is noticed and not sent again."""
    seen: list[dict[str, Any]] = []

    async def say(request: web.Request) -> web.Response:
        seen.append(await request.json())
        return web.json_response(completion("Trees are good." if "grammar" in seen[-1] else "{}"))

    async with played_listener(model, say) as model_client:
        fault = await model_client.call(a_call())
        reply = await model_client.call(a_call())
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.text) == (FaultKind.GARBLED, "Trees are good.")
    assert fault.kind.worth_retrying
    assert isinstance(reply, Reply)
    assert "response_format" in seen[1]


async def test_prompted_and_text_modes_send_no_grammar(model: Path) -> None:
    seen: list[dict[str, Any]] = []

    async def say(request: web.Request) -> web.Response:
        seen.append(await request.json())
        return web.json_response(completion("{}"))

    async with played_listener(model, say) as model_client:
        await model_client.call(a_call(mode=OutputMode.PROMPTED))
        await model_client.call(a_call(mode=OutputMode.TEXT, schema=None))
    assert len(seen) == 2
    assert not any({"grammar", "response_format"} & body.keys() for body in seen)


REFUSALS = [
    (
        400,
        {"error": {"type": "exceed_context_size_error", "message": "too long", "n_prompt_tokens": 9031, "n_ctx": 4096}},
        FaultKind.CONTEXT_TOO_LONG,
        "The prompt has 9031 tokens; the embedded model's context holds 4096.",
    ),
    (500, {"error": {"message": "Context size has been exceeded."}}, FaultKind.CONTEXT_TOO_LONG, "does not fit"),
    (400, {"error": {"message": "Failed to parse grammar"}}, FaultKind.SCHEMA_UNSUPPORTED, "Failed to parse grammar"),
    (400, {"error": {"message": "bad seed"}}, FaultKind.BAD_REQUEST, "bad seed"),
    (401, {"error": {"message": "Invalid API Key"}}, FaultKind.UNREACHABLE, "Another server"),
    (503, {"error": {"message": "Loading model"}}, FaultKind.SERVER_ERROR, "Loading model"),
    (502, "<html>bad gateway</html>", FaultKind.SERVER_ERROR, "no reason given"),
    (200, {"error": {"message": "slot lost"}}, FaultKind.SERVER_ERROR, "slot lost"),
    (200, {"choices": []}, FaultKind.GARBLED, "without a message"),
    (200, ["not", "an", "object"], FaultKind.GARBLED, "something else than JSON"),
    (200, "plain words", FaultKind.GARBLED, "something else than JSON"),
]


@pytest.mark.parametrize(("status", "body", "kind", "words"), REFUSALS)
async def test_each_refusal_becomes_the_fault_that_says_what_to_do(
    model: Path, status: int, body: Any, kind: FaultKind, words: str
) -> None:
    async def refuse(_: web.Request) -> web.Response:
        text = body if isinstance(body, str) else json.dumps(body)
        return web.Response(status=status, text=text)

    async with played_listener(model, refuse) as model_client:
        fault = await model_client.call(a_call())
    assert isinstance(fault, Fault)
    assert fault.kind is kind
    assert words in fault.message
    assert SECRET not in repr(fault)


async def test_a_dropped_connection_is_worth_another_try(model: Path) -> None:
    async def drop(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with played_listener(model, drop) as model_client:
        fault = await model_client.call(a_call())
    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.UNREACHABLE
    assert fault.kind.worth_retrying


@pytest.mark.parametrize("abruptly", [True, False])
async def test_an_answer_that_breaks_off_keeps_what_was_said(model: Path, abruptly: bool) -> None:
    async def break_off(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(delta("Trees give "))
        if abruptly:
            assert request.transport is not None
            request.transport.close()
        return response

    async with played_listener(model, break_off) as model_client:
        fault = await model_client.call(a_call(), lambda _: None)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.text) == (FaultKind.CUT_OFF, "Trees give ")


async def test_an_error_in_the_middle_of_a_stream_is_the_fault(model: Path) -> None:
    async def fail(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(delta("Trees ") + event(error={"message": "out of memory"}))
        return response

    async with played_listener(model, fail) as model_client:
        fault = await model_client.call(a_call(), lambda _: None)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.text) == (FaultKind.SERVER_ERROR, "Trees ")
    assert "out of memory" in fault.message


async def test_silence_is_a_time_out(model: Path) -> None:
    async def be_silent(_: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async with played_listener(model, be_silent, timeout_s=0.05) as model_client:
        fault = await model_client.call(a_call())
    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.TIMED_OUT


async def test_a_call_waits_for_a_place_no_longer_than_its_time(model: Path) -> None:
    served, answered = asyncio.Semaphore(0), asyncio.Event()

    async def answer_late(_: web.Request) -> web.Response:
        served.release()
        await answered.wait()
        return web.json_response(completion('{"claim": "Trees give shade."}'))

    async with played_listener(model, answer_late) as patient:
        spec = ServerSpec.of(await obtain(str(model)))
        calls = [asyncio.create_task(patient.call(a_call())) for _ in range(spec.replicas * spec.slots)]
        for _ in calls:
            await served.acquire()
        hasty = EmbeddedClient(str(model), timeout_s=0.05)
        fault = await hasty.call(a_call())
        answered.set()
        assert all(isinstance(reply, Reply) for reply in await asyncio.gather(*calls))
        await hasty.aclose()
    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.TIMED_OUT
    assert "busy" in fault.message


async def test_a_cancelled_call_lets_go_of_the_server(model: Path) -> None:
    begun, let_go = asyncio.Event(), asyncio.Event()

    async def be_silent(_: web.Request) -> web.Response:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            let_go.set()
        raise AssertionError

    async with played_listener(model, be_silent) as model_client:
        calling = asyncio.create_task(model_client.call(a_call()))
        await begun.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await asyncio.wait_for(let_go.wait(), 5)


async def test_model_that_does_not_exist_is_fault_and_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that does not exist is a fault and starts nothing."""
    cache = own_cache(monkeypatch, tmp_path / "cache")
    for name in ("qwen3", "missing.gguf", str(tmp_path / "missing.gguf"), "hf:owner/repo"):
        model_client = EmbeddedClient(name)
        for fault in (await model_client.probe(), await model_client.call(a_call())):
            assert isinstance(fault, Fault)
            assert fault.kind.is_setup
            assert name in fault.message
    assert not (cache / "embedded" / "servers").exists()


async def test_a_cache_that_cannot_be_written_is_named_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    own_cache(monkeypatch, blocker / "cache")
    model_client = EmbeddedClient()
    for fault in (await model_client.probe(), await model_client.call(a_call())):
        assert isinstance(fault, Fault)
        assert fault.kind is FaultKind.NOT_INSTALLED
        assert str(blocker) in fault.message
        assert "DISPUTATIO_CACHE" in fault.message


def test_an_address_never_shows_its_secret() -> None:
    address = Address(("http://127.0.0.1:1",), SECRET, 1, compact_grammar=True)
    assert SECRET not in repr(address)
    assert SECRET not in str(address)


def test_an_address_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    address = Address(("http://127.0.0.1:1",), SECRET, 1, compact_grammar=True)
    address.write(tmp_path / "address.json")
    assert (tmp_path / "address.json").stat().st_mode & 0o777 == 0o600
    assert Address.read(tmp_path / "address.json") == address
