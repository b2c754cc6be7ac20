"""What the batch interfaces of OpenAI, Anthropic and Google have in common: an item, its result, and the ways to fail.

A batch is created once, polled until it has ended, and read. It is found again by its name. Nothing here retries: the
collector decides what a failure means.

This module imports httpx2 when it is imported, so import it only where a batch is about to be sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

import httpx2
import orjson

from disputatio.participants.call import AnswerBound
from disputatio.participants.remote.composing import ComposedRequest
from disputatio.participants.remote.error_details import one_line, requested_wait
from disputatio.participants.remote.transport import AiohttpTransport, RawResponse, bound_schema

REQUEST_TIMEOUT_S: Final = 120.0
"""For one request of a batch interface. A batch that was not confirmed by then may still have been created."""
SKEW_S: Final = 300.0
"""How far a provider's clock may be behind, when its list of batches is searched."""
_RESULTS_TIMEOUT_S: Final = 1_800.0
_LARGEST_RESULTS: Final = 4 << 30
_LARGE: Final = AnswerBound(0, _LARGEST_RESULTS, _LARGEST_RESULTS, 1 << 31)
_PASSING: Final = frozenset({408, 409, 425, 429})
_JSON: Final = ((b"content-type", b"application/json"),)


class BatchRefusedError(Exception):
    """The provider refused a request for good. ``status`` is its HTTP status."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class BatchTroubleError(Exception):
    """A request failed and may succeed later.

    Attributes:
        may_have_arrived: whether the provider may have done what was asked, because no answer came.
        retry_after_s: the wait that the provider asked for, in seconds, or None.
    """

    def __init__(self, words: str, *, may_have_arrived: bool, retry_after_s: float | None = None) -> None:
        super().__init__(words)
        self.may_have_arrived, self.retry_after_s = may_have_arrived, retry_after_s


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one batch may hold."""

    requests: int
    size: int


@dataclass(frozen=True, slots=True)
class BatchState:
    """Where a batch is. ``body`` is what the provider says of it; ``failure`` why all of it failed, else empty."""

    ended: bool
    body: dict[str, Any]
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What came of one item: the response as a single call would have had it, or why there is none.

    ``unbilled`` is true where the provider says that an item without a response was not processed.
    """

    custom_id: str
    response: RawResponse | None
    why: str = ""
    unbilled: bool = True


class BatchApi(Protocol):
    """One provider's batch interface, for one model at one address."""

    @property
    def limits(self) -> Limits:
        """The most that one batch may hold."""

    def item(self, custom_id: str, body: bytes) -> bytes:
        """One request as a batch holds it."""

    async def create(self, name: str, items: Sequence[bytes]) -> str:
        """Create a batch that ``find`` finds by ``name``; returns the provider's id.

        Raises:
            BatchRefusedError, BatchTroubleError: it was not created, or may not have been.
        """

    async def find(self, name: str, *, since: float, size: int, others: frozenset[str]) -> str | bool | None:
        """The provider's id of the batch called ``name``; None where there is none; False where that is not known yet.

        Args:
            name: as given to ``create``.
            since: when it was about to be created, in seconds since 1970.
            size: how many items it has.
            others: provider's ids that are known to belong to other batches.
        """

    async def state(self, provider_id: str) -> BatchState:
        """Where the batch is."""

    def results(self, state: BatchState) -> AsyncIterator[ItemResult]:
        """What came of each item of an ended batch. Items that the provider does not mention are left out."""

    async def aclose(self) -> None:
        """Close the connections. Safe to repeat."""


def json_response(body: Any, status: int = 200) -> RawResponse:
    """``body`` as the response to a single call."""
    return RawResponse(status, _JSON, orjson.dumps(body))


class BatchHttp:
    """Requests of a batch interface, with the headers of a single call.

    Args:
        composed: a single call of the same model, for its headers; one of them holds the key.
    """

    def __init__(self, composed: ComposedRequest) -> None:
        self._headers = composed.credentials()
        self._client = httpx2.AsyncClient(transport=AiohttpTransport())

    async def request(self, method: str, url: str, **settings: Any) -> httpx2.Response:
        """One request.

        Raises:
            BatchRefusedError, BatchTroubleError: it had no good answer.
        """
        headers = {**self._headers, **settings.pop("headers", {})}
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                with bound_schema(_LARGE):
                    response = await self._client.request(method, url, headers=headers, **settings)
        except (httpx2.HTTPError, httpx2.StreamError, TimeoutError) as error:
            # A refused connection carried nothing; anything later may have arrived.
            arrived = not isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol))
            cause = one_line(str(error)) or type(error).__name__
            raise BatchTroubleError(f"the connection failed: {cause}", may_have_arrived=arrived) from None
        check_status(response.status_code, response.headers, response.content)
        return response

    async def json(self, method: str, url: str, **settings: Any) -> dict[str, Any]:
        """The JSON object that a request brings. Raises as ``request``."""
        response = await self.request(method, url, **settings)
        return parsed(response.content)

    async def recent(
        self,
        url: str,
        *path: str,
        size: dict[str, int],
        since: float,
        created: Callable[[dict[str, Any]], float],
        following: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]],
    ) -> AsyncIterator[dict[str, Any]]:
        """The batches of a list that is in pages, newest first, up to those that are too old. Raises as ``request``.

        Args:
            url: of the list.
            path: where a page has its batches.
            size: the parameter that says how many batches a page has.
            since: batches created before this time, in seconds since 1970, are not asked for.
            created: when a batch was created.
            following: the parameters of the next page, from a page and its last batch; empty where it is the last.
        """
        after: dict[str, Any] = {}
        while True:
            page = await self.json("GET", url, params={**size, **after})
            found = rows(page, *path)
            for row in found:
                yield row
            after = following(page, found[-1]) if found else {}
            if not after or created(found[-1]) < since - SKEW_S:
                return

    async def lines(self, url: str, **headers: str) -> AsyncIterator[dict[str, Any]]:
        """The objects in a file of JSON lines, one at a time; other lines are left out. Raises as ``request``."""
        try:
            async with asyncio.timeout(_RESULTS_TIMEOUT_S):
                with bound_schema(_LARGE):
                    async with self._client.stream("GET", url, headers={**self._headers, **headers}) as response:
                        if response.status_code >= 300:
                            check_status(response.status_code, response.headers, await response.aread())
                        async for line in response.aiter_lines():
                            row = _object(line)
                            if row is not None:
                                yield row
        except (httpx2.HTTPError, httpx2.StreamError, TimeoutError) as error:
            cause = one_line(str(error)) or type(error).__name__
            raise BatchTroubleError(f"the results broke off: {cause}", may_have_arrived=False) from None

    async def aclose(self) -> None:
        """Close the connections. Safe to repeat."""
        await self._client.aclose()


def check_status(status: int, headers: Any, content: bytes) -> None:
    """Raise what an HTTP status amounts to; a good one raises nothing.

    Raises:
        BatchRefusedError, BatchTroubleError: the status is no good one.
    """
    if status < 300:
        return
    words = _words(content) or f"status {status}"
    if status in _PASSING or status >= 500:
        raise BatchTroubleError(words, may_have_arrived=status >= 500, retry_after_s=requested_wait(headers, words))
    raise BatchRefusedError(status, words)


def parsed(content: bytes) -> dict[str, Any]:
    """The JSON object in a response.

    Raises:
        BatchTroubleError: it is none; what was asked may have been done.
    """
    found = _object(content)
    if found is None:
        raise BatchTroubleError("the response is no JSON object", may_have_arrived=True)
    return found


def _object(text: str | bytes) -> dict[str, Any] | None:
    try:
        found = orjson.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _words(content: bytes) -> str:
    body = _object(content) or {}
    error = body.get("error")
    words = error.get("message") if isinstance(error, dict) else error
    return one_line(str(words or ""))


def part(body: Any, *path: str) -> Any:
    """The value at ``path`` in ``body``; None if there is none."""
    for step in path:
        body = body.get(step) if isinstance(body, dict) else None
    return body


def rows(body: Any, *path: str) -> list[dict[str, Any]]:
    """The objects in the list at ``path`` in ``body``; none where there is no list."""
    found = part(body, *path)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def moment(value: object) -> float:
    """A time as ISO 8601 in seconds since 1970; 0 where it is none."""
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except ValueError:
        return 0.0
