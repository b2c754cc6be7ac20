"""The events of a debate as server-sent events (WHATWG HTML, 9.2): from any event on, to its end, nothing twice.

The id of a frame is the number of the event in its record, and a frame is sent only once its event is durable. So a
client that reconnects with the last id it saw continues there, also after a restart of the server.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from disputatio._service.hub import Answer, Listener, LiveTexts
from disputatio._service.keys import Caller
from disputatio._service.problems import RefusedError, problem_response, retry_after
from disputatio.kernel import JsonObject
from disputatio.record.chain import Sealed
from disputatio.record.text import read_json
from disputatio.report.audience import Audience

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from disputatio._service.service import Service

LOOK_S = 1.0
"""How often a record is looked at that another process may be writing."""
CHECK_S = 5.0
"""How long a quiet stream can continue after its key was revoked or its session ended."""
HEARTBEAT_S = 15.0
"""Seconds between comments on a quiet stream, so that proxies do not take it for dead."""
SEND_S = 30.0
"""A client that reads nothing for this long is disconnected. It can reconnect and miss nothing."""
MOST_AT_ONCE = 200
"""Events that are handed to a client before the next are looked for."""

Shape = Callable[[Sealed], str]


class EventStream(Response):
    """A response that continues until the debate ends or the client leaves.

    The most streams of a tenant are counted where one begins, with nothing awaited in between: of many requests that
    come at once only as many begin as may.
    """

    media_type = "text/event-stream"

    def __init__(self, frames: AsyncIterator[str], service: Service, tenant: str) -> None:
        super().__init__(
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Type": "text/event-stream"}
        )
        self._frames, self._service, self._tenant = frames, service, tenant
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send frames; stop when the client leaves or takes nothing any more. Refuse where the tenant has too many."""
        open_now, most = self._service.streams, self._service.choices.most_streams
        if open_now.get(self._tenant, 0) >= most:
            await problem_response(_too_many(most))(scope, receive, send)
            return
        open_now[self._tenant] = open_now.get(self._tenant, 0) + 1
        try:
            await self._run(receive, send)
        finally:
            open_now[self._tenant] -= 1

    async def _run(self, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
            await self._frames.aclose()  # type: ignore[attr-defined]

    async def _send(self, send: Send) -> None:
        async for frame in self._frames:
            async with asyncio.timeout(SEND_S):
                await send({"type": "http.response.body", "body": frame.encode(), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _too_many(most: int) -> RefusedError:
    return RefusedError(
        429,
        "rate-limited",
        f"{most} streams are open, and a tenant may have no more.",
        "Close one, or follow with GET /v1/debates/{id}.",
        retry_after(5),
    )


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def whole_event(row: Sealed) -> str:
    """An event as JSON in one line: its envelope and its body."""
    envelope = {"debate": row.debate, "seq": row.seq, "at": row.at, "kind": row.kind, "hash": row.hash}
    return json.dumps({**envelope, "body": read_json(row.body)}, ensure_ascii=True, separators=(",", ":"))


def withheld_event(row: Sealed, body: JsonObject) -> str:
    """An event with ``body`` instead of its own. Its hash is left out, since it could confirm a guess."""
    envelope = {"debate": row.debate, "seq": row.seq, "at": row.at, "kind": row.kind, "withheld": True}
    return json.dumps({**envelope, "body": body}, ensure_ascii=True, separators=(",", ":"))


def frame(data: str, *, event: str = "", number: int | None = None) -> str:
    """One frame; ``data`` is one line."""
    lines = [f"id: {number}"] if number is not None else []
    lines += [f"event: {event}"] if event else []
    return "\n".join([*lines, f"data: {data}", "", ""])


async def stream(service: Service, debate: str, caller: Caller, after: int, *, text: bool) -> EventStream | Response:
    """The response to a client that follows a debate.

    Args:
        service: the service that runs it.
        debate: its whole id; the caller may see it.
        caller: who asks.
        after: the number of the last event that is known to the client.
        text: whether to send what models write while they write it; such frames have no id.
    """
    if not await _more(service, debate, caller, after):
        # On 204 an EventSource does not reconnect.
        return Response(status_code=204)
    return EventStream(frames(service, debate, caller, after, text=text), service, caller.tenant)


async def _more(service: Service, debate: str, caller: Caller, after: int) -> bool:
    """Whether anything is to be sent now or later."""
    listed = await asyncio.to_thread(service.listed, debate, caller)
    if service.is_going_on(listed, await service.job(debate)):
        return True
    return bool(await asyncio.to_thread(service.store.read, debate, after))


async def frames(service: Service, debate: str, caller: Caller, after: int, *, text: bool) -> AsyncIterator[str]:
    """The frames from the event after ``after`` to the end of the debate, or until the caller's key or session ends."""
    yield "retry: 2000\n\n"
    loop = asyncio.get_running_loop()
    with service.hub.listening(debate) as listener:
        said, checked, grown = loop.time(), loop.time(), True
        audience = await asyncio.to_thread(service.audience, debate, after)
        while not service.draining.is_set():
            if loop.time() - checked > LOOK_S:
                checked = loop.time()
                if not await asyncio.to_thread(service.keys.still_known, caller):
                    return
            goes_on = True
            if grown:
                # In this order: what is written between the two is found by the next reading.
                listed = await asyncio.to_thread(service.listed, debate, caller)
                goes_on = service.is_going_on(listed, await service.job(debate))
                rows = await asyncio.to_thread(service.store.read, debate, after)
                audience.take(rows)
                for start in range(0, len(rows), MOST_AT_ONCE):
                    said = loop.time()
                    yield "".join(_framed(row, audience) for row in rows[start : start + MOST_AT_ONCE])
                after = rows[-1].seq if rows else after
            written = _written(listener, service.hub.texts(debate)) if text else ""
            if written:
                said = loop.time()
                yield written
            if not goes_on:
                yield frame(json.dumps({"status": listed.status}), event="end")
                return
            if loop.time() - said > HEARTBEAT_S:
                said = loop.time()
                yield ": still here\n\n"
            grown = await listener.wait(CHECK_S if debate in service.hub.held else LOOK_S)
    yield ": the server is going down; come back\n\n"


def _framed(row: Sealed, audience: Audience) -> str:
    body = audience.in_place_of(row)
    return frame(whole_event(row) if body is None else withheld_event(row, body), event=row.kind, number=row.seq)


def _written(listener: Listener, texts: LiveTexts | None) -> str:
    """Frames of what models have written since the last ones."""
    return "".join(
        frame(json.dumps(text_frame(row, place, news, texts.said(row.path))), event="text")
        for row, place, news in listener.unheard(texts)
        if texts is not None
    )


def text_frame(row: Answer, place: int, news: str, said: str) -> dict[str, Any]:
    """The update for a listener about an answer that is being written."""
    return {
        "path": row.path,
        "part": row.part,
        "seat": row.seat,
        "phase": row.phase,
        "json": row.is_json,
        "from": place,
        "text": news,
        "said": said,
    }


def number_in(header: str | None) -> int:
    """The number in a ``Last-Event-ID``; 0 where there is none that can be read."""
    word = (header or "").strip()
    return int(word) if word.isascii() and word.isdigit() and len(word) < 10 else 0
