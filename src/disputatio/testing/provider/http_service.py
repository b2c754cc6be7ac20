"""The HTTP side of a fake provider."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import orjson
from aiohttp import web

from disputatio.testing.provider.answers import Rejection, answer_to, key_rejection
from disputatio.testing.provider.batch_serving import BatchService
from disputatio.testing.provider.mishap_responses import failed_payload
from disputatio.testing.provider.mishaps import Mishap
from disputatio.testing.provider.received import Body, fingerprint_of
from disputatio.testing.provider.token_counts import PrefixIndex
from disputatio.testing.provider.wire import (
    Payload,
    completion_payload,
    json_payload,
    models_body,
    rejection_payload,
)

if TYPE_CHECKING:
    from disputatio.testing.provider.batch_serving import BatchJobs
    from disputatio.testing.provider.behaviour import Behaviour
    from disputatio.testing.provider.received import Inbox, ReceivedRequest
    from disputatio.testing.provider.traffic import Bill, Traffic

_LARGEST_REQUEST: Final = 256 * 1024 * 1024
_KEPT_BODIES: Final = 256
_DRIPS: Final = 16
_GRACE_S: Final = 0.1
"""Zero would mean to wait for ever."""
_HOST: Final = "127.0.0.1"


class Service:
    """Listens for a provider and carries its answers, or what becomes of them.

    Args:
        behaviour: what is answered.
        inbox: takes the requests in.
        traffic: counts them, and keeps answers back.
        jobs: the batches.
        bill: takes what is charged.
    """

    def __init__(self, behaviour: Behaviour, inbox: Inbox, traffic: Traffic, jobs: BatchJobs, bill: Bill) -> None:
        self._behaviour, self._inbox, self._traffic = behaviour, inbox, traffic
        self._prefixes, self._bill = PrefixIndex(behaviour.keep), bill
        self._batches = BatchService(behaviour, jobs, bill, self._prefixes)
        self._runner: web.AppRunner | None = None
        self._site: web.SockSite | None = None
        self._vacant: socket.socket | None = None
        self._at_work: set[asyncio.Task[Any] | None] = set()
        self.port = 0

    async def start(self) -> None:
        """Listen."""
        app = web.Application(client_max_size=_LARGEST_REQUEST)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        self._batches.add_routes(app.router)
        # A handler must notice that its client has gone: that is how hanging ends, and how leaving is counted.
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=_GRACE_S)
        await self._runner.setup()
        self._vacant = _bound(self._behaviour.port)
        self.port = self._vacant.getsockname()[1]
        await self.accept()

    async def stop(self) -> None:
        """Stop listening and drop every connection."""
        if self._vacant is not None:
            self._vacant.close()
            self._vacant = None
        if self._runner is not None:
            self._drop_work()
            await self._runner.cleanup()
            self._runner = None

    async def refuse(self) -> None:
        """Refuse new connections and drop the open ones; the port stays taken."""
        if self._site is None or self._runner is None or self._runner.server is None:
            return
        await self._site.stop()
        self._site = None
        self._vacant = _bound(self.port)
        self._drop_work()
        await self._runner.server.shutdown(_GRACE_S)

    def _drop_work(self) -> None:
        for task in self._at_work:
            if task is not None:
                task.cancel()

    async def accept(self) -> None:
        """Listen again."""
        if self._vacant is None or self._runner is None:
            return
        self._site = web.SockSite(self._runner, self._vacant)
        self._vacant = None
        await self._site.start()

    async def _models(self, request: web.Request) -> web.StreamResponse:
        behaviour = self._behaviour
        self._traffic.models_asked.add()
        rejection = key_rejection(behaviour, request.headers.get("Authorization", ""))
        if rejection is None and not behaviour.lists_models:
            rejection = Rejection(404, "Not Found")
        if rejection is not None:
            return await self._send(request, rejection_payload(rejection))
        return await self._send(request, json_payload(models_body(behaviour)))

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        parsed = _parsed(await request.read())
        if parsed is None:
            return await self._send(request, rejection_payload(_UNREADABLE))
        body, fingerprint = parsed
        received = self._inbox.receive(body, request.headers, fingerprint)
        task = asyncio.current_task()
        self._at_work.add(task)
        self._traffic.begin()
        completed = False
        try:
            response = await self._answer(request, received)
            completed = True
        except ConnectionError:
            # The connection is gone, so the return value is not sent. Raising would be logged as a bug.
            response = web.Response()
        finally:
            self._at_work.discard(task)
            self._traffic.end(completed=completed)
        return response

    async def _answer(self, request: web.Request, received: ReceivedRequest) -> web.StreamResponse:
        await self._traffic.gate.go_through(received.index)
        payload, mishap = await self._in_time(request, received)
        if mishap in _NO_ANSWER:
            return await _without_answer(request, mishap)
        return await self._send(request, payload, mishap)

    async def _in_time(self, request: web.Request, received: ReceivedRequest) -> tuple[Payload, Mishap | None]:
        """The response, when its latency is over: the time it takes to write it is part of that."""
        clock = asyncio.get_running_loop().time
        due = clock() + self._behaviour.latency_of(received)
        # What came at the same moment is let in first: its time runs too.
        await asyncio.sleep(0)
        made = self._made(request, received)
        if (left := due - clock()) > 0:
            await asyncio.sleep(left)
        return made

    def _made(self, request: web.Request, received: ReceivedRequest) -> tuple[Payload, Mishap | None]:
        """The response and what becomes of it."""
        behaviour = self._behaviour
        rejection = key_rejection(behaviour, request.headers.get("Authorization", ""))
        if rejection is not None:
            return rejection_payload(rejection), None
        mishap = behaviour.mishaps(received)
        answer = answer_to(received, behaviour, self._prefixes)
        if isinstance(answer, Rejection):
            return rejection_payload(answer), mishap if mishap in _NO_ANSWER else None
        # A switch that is off asks for nothing, and batches leave it out.
        plain = {name: value for name, value in received.body.items() if (name, value) != ("stream", False)}
        self._bill.charge(fingerprint_of(plain), answer, batch=False)
        if mishap is None:
            return completion_payload(answer, received, behaviour), None
        return failed_payload(mishap, answer, received, behaviour), mishap

    async def _send(self, request: web.Request, payload: Payload, mishap: Mishap | None = None) -> web.StreamResponse:
        if mishap not in _ON_THE_WAY and not payload.is_stream:
            body = b"".join(payload.frames)
            response = web.Response(body=body, status=payload.status, headers=payload.headers)
            response.headers["Content-Type"] = payload.content_type
            # Sent here and not after the handler has returned, so that it counts as answered only then.
            await response.prepare(request)
            await response.write_eof()
            return response
        return await self._write(request, payload, mishap)

    async def _write(self, request: web.Request, payload: Payload, mishap: Mishap | None) -> web.StreamResponse:
        """Send the response piece by piece."""
        response = web.StreamResponse(status=payload.status, headers=payload.headers)
        response.headers["Content-Type"] = payload.content_type
        if not payload.is_stream:
            response.content_length = sum(map(len, payload.frames))
        await response.prepare(request)
        frames, pause = _as_sent(payload, mishap), self._behaviour.chunk_latency_s
        if mishap is Mishap.SLOW_DRIP:
            pause = self._behaviour.drip_s
        for frame in frames:
            if pause > 0:
                await asyncio.sleep(pause)
            await response.write(frame)
        if mishap is Mishap.STALLED_STREAM:
            await _never()
        if mishap in _CUT:
            _transport(request).close()
            raise ConnectionResetError
        await response.write_eof()
        return response


_UNREADABLE: Final = Rejection(400, "We could not parse the JSON body of your request.")
_NO_ANSWER: Final = frozenset({Mishap.HANG, Mishap.CONNECTION_RESET, Mishap.CONNECTION_CLOSED})
_CUT: Final = frozenset({Mishap.TRUNCATED_BODY, Mishap.CUT_STREAM})
_ON_THE_WAY: Final = _CUT | {Mishap.SLOW_DRIP, Mishap.STALLED_STREAM}


@lru_cache(maxsize=_KEPT_BODIES)
def _parsed(raw: bytes) -> tuple[Body, str] | None:
    """The body of a request and its fingerprint; None where it is no JSON object.

    A hundred equal debates at once send the same request a hundred times.
    """
    try:
        body = orjson.loads(raw)
    except ValueError:
        # What JSON does not have and many write all the same: NaN, a lone surrogate.
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            return None
    return (body, fingerprint_of(body)) if isinstance(body, dict) else None


def _as_sent(payload: Payload, mishap: Mishap | None) -> list[bytes]:
    """The pieces that are sent before the mishap, if any, takes over."""
    frames = list(payload.frames)
    if mishap is Mishap.SLOW_DRIP:
        whole = b"".join(frames)
        size = -(-len(whole) // _DRIPS)
        return [whole[start : start + size] for start in range(0, len(whole), size)]
    if mishap not in _ON_THE_WAY:
        return frames
    half = len(frames) // 2
    if mishap is Mishap.TRUNCATED_BODY or not payload.is_stream:
        return [*frames[:half], frames[half][: len(frames[half]) // 2]]
    return frames[:half]


async def _without_answer(request: web.Request, mishap: Mishap) -> web.StreamResponse:
    transport = _transport(request)
    if mishap is Mishap.HANG:
        await _never()
    elif mishap is Mishap.CONNECTION_RESET:
        # With a linger time of zero closing sends a reset instead of the orderly end.
        raw = transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    else:
        transport.close()
    raise ConnectionResetError


async def _never() -> None:
    """Wait until the handler is cancelled: the client has left, or the provider stops."""
    await asyncio.get_running_loop().create_future()


def _transport(request: web.Request) -> asyncio.Transport:
    if not isinstance(request.transport, asyncio.Transport):
        raise ConnectionResetError
    return request.transport


def _bound(port: int) -> socket.socket:
    """A socket that holds the port without listening: connections to it are refused."""
    held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((_HOST, port))
    return held
