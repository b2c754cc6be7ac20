"""Reads responses: decompressed step by step, and counted before they are kept.

Every way out of a gateway reads here, so that one bound holds for all.

This module imports aiohttp and httpx2 when it is imported, so import it only where a gateway is opened.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import aiohttp

from disputatio._http_client import RawHeaders, decompressed, is_encoded
from disputatio._intake import Intake
from disputatio.participants.bounds import LARGEST_ERROR, UNASKED, AnswerBound

_BOUND: ContextVar[AnswerBound] = ContextVar("_BOUND", default=UNASKED)


@contextmanager
def bound_schema(bound: AnswerBound) -> Iterator[None]:
    """Let no response in this context be larger than ``bound``, on whatever way it is asked for."""
    token = _BOUND.set(bound)
    try:
        yield
    finally:
        _BOUND.reset(token)


def bound_now() -> AnswerBound:
    """The bound of this context; ``UNASKED`` outside a call."""
    return _BOUND.get()


async def read_whole(status: int, headers: RawHeaders, content: aiohttp.StreamReader, intake: Intake) -> bytes:
    """The body, decompressed; of an error the first ``LARGEST_ERROR`` bytes.

    Raises:
        OverlongError: it passes the bound of ``intake``.
        httpx2.DecodingError: it cannot be decompressed.
        aiohttp.ClientError: the connection was lost.
    """
    if content.is_eof() and _is_answer(status) and not is_encoded(headers):
        # What is all there takes no steps of its own to read.
        body = content.read_nowait()
        intake.take(body)
        return body
    return b"".join([part async for part in incoming(status, headers, content, intake)])


async def incoming(
    status: int, headers: RawHeaders, content: aiohttp.StreamReader, intake: Intake
) -> AsyncIterator[bytes]:
    """The body piece by piece, as ``read_whole`` reads it. Raises as that does."""
    parts = decompressed(status, headers, content.iter_any())
    if not _is_answer(status):
        async for part in _beginning(parts):
            yield part
        return
    events = any(
        name.lower() == b"content-type" and value.lower().startswith(b"text/event-stream") for name, value in headers
    )
    async for part in parts:
        intake.take(part, events=events)
        yield part


async def _beginning(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    left = LARGEST_ERROR
    async for part in parts:
        yield part[:left]
        left -= len(part)
        if left <= 0:
            return


def _is_answer(status: int) -> bool:
    return 200 <= status < 300


class CountedResponse:
    """A response of urllib3, as which it does everything, that counts what is read of it.

    It is bounded by what holds where it is made. Nothing is decompressed here.

    Args:
        raw: the response.
        status: its status; of an error the first ``LARGEST_ERROR`` bytes are given.
    """

    def __init__(self, raw: Any, status: int) -> None:
        self._raw, self._status, self._intake = raw, status, Intake(bound_now())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def stream(self, *arguments: Any, **options: Any) -> Iterator[bytes]:
        """The body piece by piece.

        Raises:
            OverlongError: it passes its bound.
        """
        left = LARGEST_ERROR
        for part in self._raw.stream(*arguments, **options):
            if _is_answer(self._status):
                self._intake.take(part)
                yield part
                continue
            yield part[:left]
            left -= len(part)
            if left <= 0:
                return
