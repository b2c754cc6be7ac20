"""A provider that writes its answers piece by piece, each when the test says so."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiohttp import web

from disputatio.testing.instances import instance


class Dictated:
    """An OpenAI-compatible server on this machine. Answers are streamed in pieces; the test lets each one out.

    Args:
        answers: what is written, in the order of the requests; a request beyond them gets a valid answer, at once.
        size: characters of a piece.
    """

    def __init__(self, *answers: str, size: int = 7) -> None:
        self._answers, self._size = list(answers), size
        self._allowed = asyncio.Semaphore(0)
        self.asked = asyncio.Event()
        self.requests: list[dict[str, Any]] = []

    @property
    def pieces(self) -> list[str]:
        """The pieces of all answers, in their order."""
        return [row[place : place + self._size] for row in self._answers for place in range(0, len(row), self._size)]

    def write(self, pieces: int = 1) -> None:
        """Let so many more pieces out."""
        for _ in range(pieces):
            self._allowed.release()

    async def __aenter__(self) -> Dictated:
        app = web.Application(client_max_size=10**8)
        app.router.add_post("/v1/chat/completions", self._chat)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        number = len(self.requests)
        self.requests.append(body)
        self.asked.set()
        schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema") or {}
        dictated = number < len(self._answers)
        text = self._answers[number] if dictated else json.dumps(instance(schema, f"answer {number}"))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for place in range(0, len(text), self._size if dictated else len(text)):
            if dictated:
                await self._allowed.acquire()
            await self._send(response, {"content": text[place : place + (self._size if dictated else len(text))]})
        await self._send(response, {}, finish="stop")
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    @staticmethod
    async def _send(response: web.StreamResponse, delta: dict[str, str], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        row = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "fake", "choices": [choice]}
        await response.write(b"data: " + json.dumps(row).encode() + b"\n\n")
