"""How what goes wrong is told: over real sockets, with real libraries in between."""

from __future__ import annotations

import asyncio
import importlib.util
import re
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from remote_server import (
    KEY,
    Answer,
    a_call,
    answer,
    bytes_only,
    chunk,
    completion,
    hang_up,
    opened,
    serving,
    stream,
    unused_port,
)

from disputatio.participants.call import Fault, FaultKind, OutputMode, Reply, Usage
from disputatio.participants.model_seat import ModelSeating

pytestmark = pytest.mark.usefixtures("warm_libraries")

K = FaultKind


async def fault_of(
    given_answer: Answer, mode: OutputMode = OutputMode.NATIVE, *, streamed: bool = False, **seat: object
) -> Fault:
    async with serving(given_answer) as server, opened(server.seat(**seat)) as model_client:
        outcome = await model_client.call(a_call(mode), on_text=(lambda _: None) if streamed else None)
        assert isinstance(outcome, Fault), outcome
        assert len(server.received) == 1, "one call is one attempt"
        return outcome


async def fault_at(base_url: str, **changes: object) -> Fault:
    seating = ModelSeating(provider="openai_compatible", model="m", base_url=base_url, **changes)  # type: ignore[arg-type]
    async with opened(seating) as model_client:
        outcome = await model_client.call(a_call())
        assert isinstance(outcome, Fault), outcome
        return outcome


def error(message: str = "", **changes: object) -> dict[str, object]:
    return {"error": {"message": message, "type": None, "code": None, **changes}}


STATUSES = [
    (401, error("Incorrect API key provided", code="invalid_api_key"), K.KEY_REJECTED),
    (403, error("Country, region, or territory not supported"), K.KEY_REJECTED),
    (404, error("The model 'm' does not exist", code="model_not_found"), K.NO_SUCH_MODEL),
    (404, "<html><title>404 Not Found</title></html>", K.NO_SUCH_MODEL),
    (402, error("Insufficient Balance"), K.QUOTA_EXHAUSTED),
    (429, error("You exceeded your current quota", code="insufficient_quota"), K.QUOTA_EXHAUSTED),
    (429, error("Rate limit reached for requests", code="rate_limit_exceeded"), K.RATE_LIMITED),
    (
        400,
        error("This model's maximum context length is 8192 tokens", code="context_length_exceeded"),
        K.CONTEXT_TOO_LONG,
    ),
    (400, error("'response_format' of type json_schema is not supported"), K.SCHEMA_UNSUPPORTED),
    (400, error("temperature must be between 0 and 2"), K.BAD_REQUEST),
    (400, error("The response was filtered", code="content_filter"), K.REFUSED),
    (408, error("Request timeout"), K.TIMED_OUT),
    (500, error("The server had an error", type="server_error"), K.SERVER_ERROR),
    (502, "<html><head><title>502 Bad Gateway</title></head></html>", K.SERVER_ERROR),
    (503, "", K.SERVER_ERROR),
    (529, error("Overloaded"), K.SERVER_ERROR),
]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("status", "body", "kind"), STATUSES)
async def test_a_status_becomes_its_kind_of_fault(status: int, body: object, kind: FaultKind, streamed: bool) -> None:
    fault = await fault_of(answer(body, status), streamed=streamed)
    assert fault.kind is kind
    assert fault.message.startswith("openai_compatible:qwen3 at http://127.0.0.1:")
    assert f"status {status}" in fault.message
    assert "\n" not in fault.message


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("sent", "seconds"), [("20", 20.0), ("0.5", 0.5), ("soon", None), ("-3", None), ("nan", None)]
    )
    async def test_the_wait_the_provider_asked_for_is_passed_on(self, sent: str, seconds: float | None) -> None:
        fault = await fault_of(answer(error("slow down"), 429, {"Retry-After": sent}))
        assert (fault.kind, fault.retry_after_s) == (K.RATE_LIMITED, seconds)

    async def test_a_busy_server_may_ask_for_a_wait_too(self) -> None:
        assert (await fault_of(answer("", 503, {"Retry-After": "7"}))).retry_after_s == 7

    async def test_a_date_is_understood(self) -> None:
        fault = await fault_of(answer(error(), 429, {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}))
        assert fault.retry_after_s is not None
        assert fault.retry_after_s > 3600

    async def test_none_is_made_up(self) -> None:
        assert (await fault_of(answer(error(), 429))).retry_after_s is None


class TestNoAnswer:
    """Status 200, and still no answer."""

    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            (error("boom", type="server_error"), K.GARBLED),
            ({"error": "boom"}, K.GARBLED),
            (error("Provider returned error", code=502), K.GARBLED),
            (error("used up", code="insufficient_quota"), K.QUOTA_EXHAUSTED),
            (error("slow down", code=429), K.RATE_LIMITED),
            (completion("x", choices=[]), K.GARBLED),
            (completion("x", choices=None), K.GARBLED),
            (completion(None), K.GARBLED),
            (completion(""), K.GARBLED),
            (completion(None, message={"refusal": "I cannot help with that."}), K.REFUSED),
            (completion("Well,", finish_reason="content_filter"), K.REFUSED),
            ({}, K.GARBLED),
            ([], K.GARBLED),
            ('"words"', K.GARBLED),
            ("{not json", K.GARBLED),
            ("", K.GARBLED),
            (b"\xff\xfe\x00", K.GARBLED),
        ],
    )
    async def test_it_is_told_by_its_kind(self, body: object, kind: FaultKind) -> None:
        assert (await fault_of(answer(body))).kind is kind

    async def test_a_web_page_is_no_answer(self) -> None:
        page = answer("<html><title>Sign in</title></html>", headers={"Content-Type": "text/html"})
        assert (await fault_of(page)).kind is K.GARBLED

    async def test_the_models_own_words_of_refusal_are_quoted(self) -> None:
        fault = await fault_of(answer(completion(None, message={"refusal": "I cannot help\nwith that."})))
        assert fault.message.endswith("declined to answer: I cannot help with that.")
        assert fault.usage == Usage(12, 5, None)

    async def test_the_message_says_what_the_error_said(self) -> None:
        assert "an error with status 200: boom." in (await fault_of(answer(error("boom")))).message


class TestStreams:
    async def test_a_stream_that_breaks_keeps_what_had_arrived(self) -> None:
        fault = await fault_of(stream([chunk({"content": '{"sco'})], then=hang_up), streamed=True)
        assert (fault.kind, fault.text) == (K.CUT_OFF, '{"sco')

    @pytest.mark.parametrize("done", [True, False])
    async def test_a_stream_that_ends_without_a_finish_was_cut(self, done: bool) -> None:
        fault = await fault_of(stream([chunk({"content": '{"sco'})], done=done), streamed=True)
        assert (fault.kind, fault.text, fault.served_model) == (K.CUT_OFF, '{"sco', "served-model")

    async def test_an_error_in_the_stream_is_told_by_its_cause(self) -> None:
        for broken, kind in (
            (error("Overloaded", type="server_error"), K.SERVER_ERROR),
            (error("slow down", code="rate_limit_exceeded"), K.RATE_LIMITED),
            (error("what?"), K.GARBLED),
        ):
            fault = await fault_of(stream([chunk({"content": "{"}), broken]), streamed=True)
            assert (fault.kind, fault.text) == (kind, "{")

    async def test_junk_in_the_stream_is_garbled(self) -> None:
        assert (await fault_of(stream([chunk({"content": "{"}), "{junk"]), streamed=True)).kind is K.GARBLED

    async def test_an_empty_stream_is_garbled(self) -> None:
        assert (await fault_of(stream([]), streamed=True)).kind is K.GARBLED

    async def test_a_streamed_refusal_is_a_refusal(self) -> None:
        fault = await fault_of(stream([chunk({"refusal": "I will not."}), chunk({}, "stop")]), streamed=True)
        assert fault.kind is K.REFUSED
        assert "I will not." in fault.message


class TestConnections:
    """UNREACHABLE: nothing was sent. CUT_OFF: something was, and the provider may charge for it."""

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
    async def test_a_refused_connection(self, host: str) -> None:
        fault = await fault_at(f"http://{host}:{unused_port()}/v1")
        assert fault.kind is K.UNREACHABLE
        assert "refused" in fault.message

    async def test_an_unknown_host(self) -> None:
        fault = await fault_at("http://no-such-host.invalid/v1")
        assert fault.kind is K.UNREACHABLE
        assert "host is unknown" in fault.message

    @pytest.mark.parametrize("address", ["localhost:8000/v1", "ftp://x/v1", "http://x:99999/v1", "http://[::1/v1"])
    async def test_something_that_is_no_address(self, address: str) -> None:
        fault = await fault_at(address)
        assert fault.kind is K.UNREACHABLE
        assert "address" in fault.message

    async def test_a_server_without_encryption_behind_https(self) -> None:
        async with serving() as server:
            fault = await fault_at(server.url.replace("http", "https"))
        assert fault.kind is K.UNREACHABLE
        assert "http rather than https" in fault.message

    @pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
    async def test_a_certificate_that_nobody_vouches_for(self, tmp_path: Path) -> None:
        async with self_signed(tmp_path) as url:
            fault = await fault_at(url)
        assert fault.kind is K.UNREACHABLE
        assert "certificate" in fault.message

    @pytest.mark.parametrize("reset", [False, True])
    async def test_a_connection_closed_before_any_answer(self, reset: bool) -> None:
        async with bytes_only(None, reset=reset) as url:
            fault = await fault_at(url)
        assert fault.kind is K.CUT_OFF
        assert "before it answered" in fault.message

    async def test_a_kept_connection_that_the_server_has_dropped(self) -> None:
        """The first call leaves a connection behind that answers the second one with silence."""
        body = b'{"choices":[{"message":{"content":"{}"},"finish_reason":"stop"}]}'
        first = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        read = asyncio.Event()

        async def twice(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for reply in (first, None):
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"content-length: (\d+)", head.lower())
                await reader.readexactly(int(length[1]) if length else 0)
                if reply:
                    writer.write(reply)
            read.set()
            writer.close()

        server = await asyncio.start_server(twice, "127.0.0.1", 0)
        seating = ModelSeating(
            provider="openai_compatible",
            model="m",
            base_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}",
        )
        async with server, opened(seating) as model_client:
            assert isinstance(await model_client.call(a_call()), Reply)
            second = await model_client.call(a_call())
            assert isinstance(second, Fault)
            assert second.kind is K.CUT_OFF
            assert read.is_set()

    @pytest.mark.parametrize("reset", [False, True])
    async def test_a_body_that_breaks_off(self, reset: bool) -> None:
        half = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"id":'
        async with bytes_only(half, reset=reset) as url:
            fault = await fault_at(url)
        assert fault.kind is K.CUT_OFF
        assert "before its answer was complete" in fault.message

    @pytest.mark.parametrize("script", [b"SSH-2.0-OpenSSH_9.9\r\n", b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n"])
    async def test_a_server_that_does_not_speak_http(self, script: bytes) -> None:
        async with bytes_only(script) as url:
            assert (await fault_at(url)).kind is K.GARBLED

    async def test_a_redirect_is_told_and_not_followed(self) -> None:
        fault = await fault_of(answer("", 308, {"Location": "https://new.example/v1"}))
        assert fault.kind is K.BAD_REQUEST
        assert "redirects to https://new.example/v1 (status 308)" in fault.message


class TestTime:
    async def test_a_call_ends_at_its_limit(self) -> None:
        async def never(_: web.Request) -> web.StreamResponse:
            await asyncio.Event().wait()
            raise AssertionError

        fault = await fault_of(never, timeout_s=0.05)
        assert fault.kind is K.TIMED_OUT
        assert "within 0.05 s" in fault.message

    async def test_stream_that_trickles_ends_at_limit_of_whole_call(self) -> None:
        """A stream that trickles ends at the limit of the whole call."""

        async def trickle(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            while True:
                await response.write(b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n')
                await asyncio.sleep(0.01)

        fault = await fault_of(trickle, streamed=True, timeout_s=0.15)
        assert fault.kind is K.TIMED_OUT
        assert set(fault.text) == {"x"}

    async def test_a_limit_of_the_caller_is_the_callers(self) -> None:
        async def never(_: web.Request) -> web.StreamResponse:
            await asyncio.Event().wait()
            raise AssertionError

        async with serving(never) as server, opened(server.seat(timeout_s=30)) as model_client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await model_client.call(a_call())


class TestKeys:
    async def test_a_missing_key_is_told_before_anything_is_sent(self) -> None:
        async with opened(ModelSeating(provider="openai", model="gpt-5"), None) as model_client:
            fault = await model_client.call(a_call())
            assert isinstance(fault, Fault)
            assert fault.kind is K.KEY_MISSING
            assert "OPENAI_API_KEY" in fault.message
            assert await model_client.probe() == fault

    @pytest.mark.parametrize("key", ["sk-abc\ndef", "sk-abc def", "sk-abc\u2019def", "sk\x00"])
    async def test_a_key_that_cannot_be_one_is_not_sent_and_not_shown(self, key: str) -> None:
        async with serving() as server, opened(server.seat(), key) as model_client:
            fault = await model_client.call(a_call())
            assert isinstance(fault, Fault)
            assert fault.kind is K.KEY_REJECTED
            assert "abc" not in fault.message
            assert not server.received

    @pytest.mark.parametrize("status", [200, 400, 401, 404, 429, 500])
    async def test_an_echoed_key_never_reaches_a_message(self, status: int) -> None:
        fault = await fault_of(answer(error(f"The header was 'Bearer {KEY}',\r\n\x1b[31m{KEY}\u202e."), status))
        assert KEY not in fault.message
        assert fault.message.isprintable()

    async def test_a_half_masked_echo_is_masked_wholly(self) -> None:
        fault = await fault_of(answer(error("Incorrect API key provided: sk-test-*****************1100."), 401))
        assert "1100" not in fault.message

    async def test_a_password_in_the_address_is_not_shown(self) -> None:
        fault = await fault_at(f"http://ann:geheim99@127.0.0.1:{unused_port()}/v1?token=geheim99")
        assert "geheim99" not in fault.message


@pytest.mark.parametrize(
    ("provider", "module"),
    [
        ("anthropic", "anthropic"),
        ("google", "google.genai"),
        ("mistral", "mistralai"),
        ("groq", "groq"),
        ("bedrock", "boto3"),
    ],
)
async def test_missing_library_is_told_with_command_that_installs_it(provider: str, module: str) -> None:
    """A missing library is told with the command that installs it."""
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is not None:
        pytest.skip(f"{module} is installed here")
    async with opened(ModelSeating(provider=provider, model="m")) as model_client:
        fault = await model_client.call(a_call())
        assert isinstance(fault, Fault)
        assert fault.kind is K.NOT_INSTALLED
        assert f"pip install 'disputatio[{provider}]'" in fault.message


@pytest.mark.parametrize("status", [200, 400, 500])
async def test_a_body_that_is_all_depth_is_told_like_any_other(status: int) -> None:
    fault = await fault_of(answer('{"error":' * 900 + '"x"' + "}" * 900, status))
    assert fault.kind in {K.GARBLED, K.BAD_REQUEST, K.SERVER_ERROR}


async def test_faults_of_one_call_leave_the_next_alone() -> None:
    async with (
        serving(answer(error(), 500), stream([], then=hang_up), answer()) as server,
        opened(server.seat()) as model_client,
    ):
        assert isinstance(await model_client.call(a_call()), Fault)
        assert isinstance(await model_client.call(a_call()), Fault)
        assert isinstance(await model_client.call(a_call()), Reply)


@asynccontextmanager
async def self_signed(folder: Path) -> AsyncIterator[str]:
    """An https server that has signed its certificate itself."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
    order = ["openssl", "req", "-x509", *curve, "-subj", "/CN=localhost", "-keyout", key, "-out", certificate]
    subprocess.run(order, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    async with server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
