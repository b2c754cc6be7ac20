"""One server for all processes of a user: it lives as long as somebody needs it, and no longer."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from embedded_stage import a_call, cache_with_weights, needs_library, own_cache

from disputatio.participants.call import Fault, FaultKind, OutputMode, Reply
from disputatio.participants.embedded import EmbeddedClient, obtain
from disputatio.participants.embedded.server_spec import Address, ServerSpec

pytestmark = [pytest.mark.embedded, needs_library]

_CLIENT = """
import asyncio, json, sys
sys.path.insert(0, sys.argv[1])
from embedded_stage import a_call
from disputatio.participants.call import Reply
from disputatio.participants.embedded import EmbeddedClient

async def main():
    gateway = EmbeddedClient()
    for number in range(int(sys.argv[2])):
        reply = await gateway.call(a_call(seed=number))
        print(json.dumps({"answered": isinstance(reply, Reply), "said": repr(reply)}), flush=True)
    stdin = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    await stdin.read()
    await gateway.aclose()

asyncio.run(main())
"""


@pytest.fixture
async def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return await cache_with_weights(monkeypatch, tmp_path / "cache")


@asynccontextmanager
async def client(calls: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process of its own that makes ``calls`` calls and holds on until its input is closed or it is killed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _CLIENT,
        str(Path(__file__).parent),
        str(calls),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate(b"")


async def next_answer(process: asyncio.subprocess.Process) -> dict[str, object]:
    assert process.stdout is not None
    async with asyncio.timeout(120):
        line = await process.stdout.readline()
    return dict(json.loads(line))


async def server_of(cache: Path) -> Address:
    """The one server that runs out of ``cache``."""
    found = [Address.read(path) for path in cache.glob("embedded/servers/*/address.json")]
    assert len(found) == 1
    assert found[0] is not None
    return found[0]


async def ended(process: int, within_s: float = 60) -> bool:
    """Whether the process ends in time; it need not be a child of this one."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool((await asyncio.to_thread(select.select, [handle], [], [], within_s))[0])
    finally:
        os.close(handle)


async def test_two_processes_at_once_share_one_server_and_both(cache: Path) -> None:
    """Two processes at once share one server and both are answered."""
    async with client(3) as one, client(3) as other:
        answers = await asyncio.gather(*(next_answer(process) for process in (one, other) for _ in "1"))
        server = await server_of(cache)
        for _ in range(2):
            answers += await asyncio.gather(next_answer(one), next_answer(other))
        assert await server_of(cache) == server
    assert [answer["answered"] for answer in answers] == [True] * 6, answers
    assert await ended(server.process)


async def test_server_ends_after_last_client_and_withdraws_its_address(cache: Path) -> None:
    """The server ends after its last client and withdraws its address."""
    first, second = EmbeddedClient(), EmbeddedClient()
    assert await first.prepare() is None
    assert await second.prepare() is None
    server = await server_of(cache)
    await first.aclose()
    assert not await ended(server.process, within_s=1.0), "the second client still holds its lease"
    await second.aclose()
    assert await ended(server.process)
    assert not list(cache.glob("embedded/servers/*/address.json"))


async def test_a_server_that_lingers_is_met_by_the_next_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = await cache_with_weights(monkeypatch, tmp_path / "cache", linger_s=30)
    first, second = EmbeddedClient(), EmbeddedClient()
    assert await first.prepare() is None
    server = await server_of(cache)
    await first.aclose()
    assert await second.prepare() is None
    assert await server_of(cache) == server
    await second.aclose()
    os.kill(server.process, signal.SIGTERM)
    assert await ended(server.process)
    assert not list(cache.glob("embedded/servers/*/address.json"))


async def test_a_client_killed_outright_leaves_no_lease(cache: Path) -> None:
    async with client(1) as process:
        assert (await next_answer(process))["answered"] is True
        server = await server_of(cache)
        process.kill()
        await process.wait()
    assert await ended(server.process)


async def test_ctrl_c_in_terminal_of_one_client_leaves_others_served(cache: Path) -> None:
    """Ctrl c in the terminal of one client leaves the others served."""
    model_client = EmbeddedClient()
    async with client(1) as process:
        await next_answer(process)
        assert await model_client.prepare() is None
        server = await server_of(cache)
        os.killpg(process.pid, signal.SIGINT)  # what a terminal does: everything of its foreground group is told
        async with asyncio.timeout(60):
            await process.wait()
        assert process.returncode in {-signal.SIGINT, 128 + signal.SIGINT}
    assert isinstance(await model_client.call(a_call()), Reply)
    assert await server_of(cache) == server
    await model_client.aclose()
    assert await ended(server.process)


async def test_after_server_is_killed_next_call_starts_new_one(cache: Path) -> None:
    """After the server is killed the next call starts a new one."""
    model_client = EmbeddedClient()
    assert isinstance(await model_client.call(a_call()), Reply)
    old = await server_of(cache)
    os.kill(old.process, signal.SIGKILL)
    assert await ended(old.process)
    assert isinstance(await model_client.call(a_call()), Reply)
    new = await server_of(cache)
    assert new.process != old.process
    assert new.secret != old.secret
    await model_client.aclose()
    assert await ended(new.process)


async def test_a_call_that_loses_its_server_is_a_fault_worth_retrying(cache: Path) -> None:
    model_client = EmbeddedClient()
    assert await model_client.prepare() is None
    server = await server_of(cache)
    heard: list[str] = []

    def kill_it(piece: str) -> None:
        if not heard:
            os.kill(server.process, signal.SIGKILL)
        heard.append(piece)

    fault = await model_client.call(a_call(mode=OutputMode.TEXT, schema=None, max_tokens=1000), kill_it)
    assert isinstance(fault, Fault)
    assert fault.kind in {FaultKind.CUT_OFF, FaultKind.UNREACHABLE}
    assert fault.kind.worth_retrying
    assert fault.text == "".join(heard)
    await model_client.aclose()


async def test_a_server_whose_address_was_deleted_ends_itself(cache: Path) -> None:
    model_client = EmbeddedClient()
    assert await model_client.prepare() is None
    server = await server_of(cache)
    for path in cache.glob("embedded/servers/*/address.json"):
        path.unlink()
    assert await ended(server.process)
    await model_client.aclose()


async def test_damaged_model_is_named_with_reason_server_gave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged model is named with the reason the server gave."""
    damaged = tmp_path / "damaged.gguf"
    with (await obtain()).path.open("rb") as whole:
        damaged.write_bytes(whole.read(4_000_000))
    own_cache(monkeypatch, tmp_path / "cache")
    fault = await EmbeddedClient(str(damaged)).call(a_call())
    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.NOT_INSTALLED
    assert str(damaged) in fault.message
    assert "corrupted or incomplete" in fault.message
    assert not await asyncio.to_thread(_is_served, damaged)


def _is_served(model: Path) -> bool:
    spec = ServerSpec.of(asyncio.run(obtain(str(model))))
    return spec.file("address.json").exists()


async def test_the_server_refuses_whoever_lacks_the_secret(cache: Path) -> None:
    import aiohttp

    model_client = EmbeddedClient()
    assert await model_client.prepare() is None
    server = await server_of(cache)
    assert all(url.startswith("http://127.0.0.1:") for url in server.urls)
    body = {"messages": [{"role": "user", "content": "Hello"}]}
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{server.urls[0]}/v1/chat/completions", json=body) as response:
            assert response.status == 401
        stolen = {"Authorization": "Bearer guessed"}
        async with session.post(f"{server.urls[0]}/v1/chat/completions", json=body, headers=stolen) as response:
            assert response.status == 401
    with open(f"/proc/{server.process}/cmdline", "rb") as line:  # noqa: PTH123 - a file of the kernel
        assert server.secret.encode() not in line.read()
    await model_client.aclose()
    assert await ended(server.process)


async def said_with(threads: str, calls: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The answers to the same six questions, ``calls`` at once; each is long and begins like the others."""
    monkeypatch.setenv("DISPUTATIO_EMBEDDED_THREADS", threads)
    model_client, room = EmbeddedClient(), asyncio.Semaphore(calls)
    about = "Proposal: cities close their centres to private cars, for shops, visitors and those who live there. " * 4

    async def answer(number: int) -> str:
        async with room:
            reply = await model_client.call(a_call(f"{about}Name benefit {number}."))
        assert isinstance(reply, Reply), reply
        return reply.text

    texts = await asyncio.gather(*map(answer, range(6)))
    server = ServerSpec.of(await obtain()).file("address.json")
    address = Address.read(server)
    assert address is not None
    assert len(address.urls) == int(threads)
    await model_client.aclose()
    assert await ended(address.process)
    return texts


async def test_answers_are_the_same_with_any_number_of_threads(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = await said_with("1", 1, monkeypatch)
    assert len(set(alone)) > 1
    assert await said_with("1", 3, monkeypatch) == alone
    assert await said_with("2", 6, monkeypatch) == alone
    assert await said_with("3", 6, monkeypatch) == alone


async def test_a_place_is_had_alone_and_freed_by_a_kill(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed client's call does not keep its lane."""
    monkeypatch.setenv("DISPUTATIO_EMBEDDED_THREADS", "1")
    model_client = EmbeddedClient(timeout_s=60)
    assert await model_client.prepare() is None
    server = await server_of(cache)
    async with client(200) as busy:
        await next_answer(busy)
        busy.kill()
        await busy.wait()
    assert isinstance(await model_client.call(a_call()), Reply)
    assert await server_of(cache) == server
    await model_client.aclose()
    assert await ended(server.process)
