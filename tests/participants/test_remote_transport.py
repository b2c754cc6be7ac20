"""Connections: shared, unlimited, told truthfully, and closed."""

from __future__ import annotations

import asyncio
import dataclasses
import resource
import socket

import httpx2
import pytest
from aiohttp import web
from remote_server import a_call, completion, opened, serving

from disputatio.participants.call import Fault, FaultKind, Reply
from disputatio.participants.remote import Endpoint, RemoteClient, open_client
from disputatio.participants.remote.transport import AiohttpTransport, _Pool

pytestmark = pytest.mark.usefixtures("warm_libraries")


async def crowd(size: int, model_clients: int) -> None:
    """``size`` calls over ``model_clients`` gateways, none answered before all have arrived."""
    everybody = asyncio.Barrier(size)

    async def together(_: web.Request) -> web.StreamResponse:
        await everybody.wait()
        return web.json_response(completion())

    async with serving(together) as server:
        opened_ones = [open_client(server.seat(timeout_s=60), None) for _ in range(model_clients)]
        async with asyncio.TaskGroup() as tasks:
            calls = [tasks.create_task(opened_ones[i % model_clients].call(a_call())) for i in range(size)]
        assert all(isinstance(call.result(), Reply) for call in calls)
        assert len(server.connections) == size
        for model_client in opened_ones:
            await model_client.aclose()


async def test_requests_are_not_queued_behind_a_small_pool() -> None:
    """Libraries' own pools end at 100 connections."""
    everybody = asyncio.Barrier(101)

    async def together(_: web.Request) -> web.StreamResponse:
        await everybody.wait()
        return web.Response()

    async with serving(together) as server, httpx2.AsyncClient(transport=AiohttpTransport()) as client:
        responses = await asyncio.gather(*(client.get(server.url) for _ in range(101)))
        assert {response.status_code for response in responses} == {200}


@pytest.mark.slow
async def test_a_thousand_calls_run_at_once() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2_200
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"this process may open no more than {hard} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        await crowd(size=1000, model_clients=4)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class TestSharing:
    async def test_gateways_of_a_loop_use_one_anothers_connections(self) -> None:
        async with serving() as server, opened(server.seat()) as one, opened(server.seat(model="other")) as other:
            for model_client in (one, other, one, other):
                assert isinstance(await model_client.call(a_call()), Reply)
            assert len(server.connections) == 1

    async def test_one_that_closes_leaves_the_others_working(self) -> None:
        async with serving() as server, opened(server.seat()) as one, opened(server.seat()) as other:
            await one.call(a_call())
            await other.call(a_call())
            await one.aclose()
            assert isinstance(await other.call(a_call()), Reply)

    async def test_the_last_one_closes_the_pool(self) -> None:
        loop = asyncio.get_running_loop()
        async with serving() as server:
            async with opened(server.seat()) as one, opened(server.seat()) as other:
                await one.call(a_call())
                await other.call(a_call())
                session = _Pool._open[loop].session
                assert not session.closed
            assert session.closed
            assert loop not in _Pool._open

    def test_a_transport_can_be_used_in_one_loop_after_another(self) -> None:
        """Each loop has its own pool."""
        transport = AiohttpTransport()

        async def one_life() -> int:
            async with serving() as server:
                response = await transport.handle_async_request(httpx2.Request("POST", server.url))
                await response.aread()
                await transport.aclose()
                return response.status_code

        assert [asyncio.run(one_life()), asyncio.run(one_life())] == [200, 200]

    async def test_connections_are_not_kept_where_they_should_not_be(self) -> None:
        async with serving() as server:
            endpoint = Endpoint.of(server.seat(), None)
            model_client = RemoteClient(dataclasses.replace(endpoint, keep_alive=False))
            for _ in range(3):
                assert isinstance(await model_client.call(a_call()), Reply)
            assert {r.headers["Connection"] for r in server.received} == {"close"}
            await model_client.aclose()


class TestProxies:
    @pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy"])
    async def test_the_environments_proxy_is_used(self, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
        async with serving() as proxy:
            monkeypatch.setenv(variable, proxy.url.replace("//", "//ann:pass@"))
            monkeypatch.delenv("no_proxy", raising=False)
            monkeypatch.delenv("NO_PROXY", raising=False)
            async with opened(proxy.seat(base_url="http://models.example/v1"), None) as model_client:
                assert isinstance(await model_client.call(a_call()), Reply)
            assert proxy.received[0].headers["Host"] == "models.example"
            assert proxy.received[0].headers["Proxy-Authorization"].startswith("Basic ")

    async def test_hosts_without_a_proxy_are_reached_without(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
        async with serving() as server, opened(server.seat()) as model_client:
            assert isinstance(await model_client.call(a_call()), Reply)

    async def test_a_proxy_that_is_not_there_is_unreachable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        monkeypatch.delenv("no_proxy", raising=False)
        async with serving() as server, opened(server.seat(base_url="http://models.example/v1")) as model_client:
            outcome = await model_client.call(a_call())
        assert isinstance(outcome, Fault)
        assert outcome.kind is FaultKind.UNREACHABLE


class TestTransport:
    async def test_a_server_that_accepts_nobody_is_given_up(self) -> None:
        """A full backlog: the connection is never made, and the limit on connecting ends the wait."""
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(0)
            fillers = [socket.socket() for _ in range(4)]
            for filler in fillers:
                filler.setblocking(False)
                filler.connect_ex(deaf.getsockname())
            async with httpx2.AsyncClient(transport=AiohttpTransport(connect_timeout_s=0.05)) as client:
                with pytest.raises(httpx2.ConnectTimeout):
                    await client.get(f"http://127.0.0.1:{deaf.getsockname()[1]}")
            for filler in fillers:
                filler.close()

    async def test_compressed_answers_are_read(self) -> None:
        async def squeezed(_: web.Request) -> web.StreamResponse:
            response = web.json_response(completion("{}"))
            response.enable_compression(web.ContentCoding.gzip)
            return response

        async with serving(squeezed) as server, opened(server.seat()) as model_client:
            assert isinstance(await model_client.call(a_call()), Reply)
