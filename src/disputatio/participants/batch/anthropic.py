"""Anthropic's batch interface: all requests in one body, and one file of results when all of it has ended.

Source: https://platform.claude.com/docs/en/build-with-claude/batch-processing, and the types of anthropic's Python
library (``types/messages``).

- At most 100,000 requests and 256 MB; a batch has 24 hours. Expired and canceled items are not billed.
- A batch carries nothing of ours but the ``custom_id`` of its items, and these show only when it has ended. So a batch
  whose creation was not confirmed is found by its time and size, and recognised by its results.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import orjson

from disputatio.participants.batch.api import (
    SKEW_S,
    BatchHttp,
    BatchState,
    ItemResult,
    Limits,
    json_response,
    moment,
    part,
)
from disputatio.participants.remote.composing import ComposedRequest

_PATH: Final = "/messages"
_PAGE: Final = 100
LIMITS: Final = Limits(100_000, 64 << 20)
"""Anthropic takes bodies of 256 MB; a quarter of that bounds the memory of this process and the time of the upload."""
_STATUSES: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""https://platform.claude.com/docs/en/api/errors"""


class AnthropicBatches:
    """The batches of one model. Args: ``composed`` is a single call of it."""

    limits: Final = LIMITS

    def __init__(self, composed: ComposedRequest) -> None:
        self._root = f"{composed.url.partition('?')[0].removesuffix(_PATH)}{_PATH}/batches"
        self._http = BatchHttp(composed)

    def item(self, custom_id: str, body: bytes) -> bytes:
        """One of the requests."""
        params = orjson.loads(body)
        # Batches have no streams, and the parameter is refused there.
        params.pop("stream", None)
        return orjson.dumps({"custom_id": custom_id, "params": params})

    async def create(self, name: str, items: Sequence[bytes]) -> str:  # noqa: ARG002  (the items carry the name)
        """Create the batch."""
        body = b'{"requests":[' + b",".join(items) + b"]}"
        made = await self._http.json("POST", self._root, content=body, headers={"content-type": "application/json"})
        return str(made.get("id"))

    async def find(self, name: str, *, since: float, size: int, others: frozenset[str]) -> str | bool | None:
        """Look for a batch of that size and time whose results carry the name."""
        undecided = False
        async for row in self._http.recent(
            self._root,
            "data",
            size={"limit": _PAGE},
            since=since,
            created=_created,
            following=lambda page, last: {"after_id": str(last.get("id"))} if page.get("has_more") else {},
        ):
            provider_id = str(row.get("id"))
            if provider_id in others or _created(row) < since - SKEW_S or _size(row) != size:
                continue
            if row.get("processing_status") != "ended":
                undecided = True
            elif await self._carries(provider_id, name):
                return provider_id
        return False if undecided else None

    async def _carries(self, provider_id: str, name: str) -> bool:
        async for row in self._http.lines(f"{self._root}/{provider_id}/results"):
            return str(row.get("custom_id")).startswith(f"{name}-")
        return False

    async def state(self, provider_id: str) -> BatchState:
        """Where the batch is."""
        body = await self._http.json("GET", f"{self._root}/{provider_id}")
        return BatchState(body.get("processing_status") == "ended", body)

    async def results(self, state: BatchState) -> AsyncIterator[ItemResult]:
        """The lines of the results, in any order."""
        # The address in ``results_url`` is this one; a key is never sent to an address that a response names.
        async for row in self._http.lines(f"{self._root}/{state.body.get('id')}/results"):
            yield _result(row)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def _result(row: dict[str, Any]) -> ItemResult:
    custom_id, kind = str(row.get("custom_id")), part(row, "result", "type")
    message = part(row, "result", "message")
    if kind == "succeeded" and isinstance(message, dict):
        return ItemResult(custom_id, json_response(message))
    error = part(row, "result", "error")
    if kind == "errored" and isinstance(error, dict):
        named = part(error, "error", "type") or error.get("type")
        return ItemResult(custom_id, json_response(error, _STATUSES.get(str(named), 500)))
    known = kind in ("expired", "canceled")
    return ItemResult(custom_id, None, f"the item {kind if known else 'has no response'}", unbilled=known)


def _created(row: dict[str, Any]) -> float:
    return moment(row.get("created_at"))


def _size(row: dict[str, Any]) -> int:
    counts = row.get("request_counts")
    return sum(value for value in counts.values() if isinstance(value, int)) if isinstance(counts, dict) else -1
