"""Google's batch interface: all requests in the body of ``batchGenerateContent``, the responses in the operation.

Source: https://ai.google.dev/gemini-api/docs/batch-api and https://ai.google.dev/api/batch-api, and the converters of
google's Python library (``batches.py``).

- At most 20 MB of requests in a body. A file could hold 2 GB; several batches do the same in one step each.
- ``displayName`` is ours and comes with every batch of the list: that is how a batch is found again.
- Inline responses come in the order of the requests. Their ``metadata`` is not always given back, so the order counts
  where it is missing.
- A batch that has expired or failed has no responses and is not billed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import orjson

from disputatio.participants.batch.api import (
    BatchHttp,
    BatchState,
    ItemResult,
    Limits,
    json_response,
    moment,
    part,
    rows,
)
from disputatio.participants.remote.composing import ComposedRequest

_CALL: Final = ":generateContent"
_PAGE: Final = 100
LIMITS: Final = Limits(10_000, 18 << 20)
"""Google takes 20 MB with all around the requests; it states no number of requests, so this bound is our own."""
_ENDED: Final = frozenset({"SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"})
_FAILED: Final = frozenset({"FAILED", "CANCELLED", "EXPIRED"})
_STATUSES: Final = {1: 499, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 13: 500, 14: 503, 16: 401}
"""HTTP statuses of gRPC's codes: https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto"""


class GoogleBatches:
    """The batches of one model. Args: ``composed`` is a single call of it."""

    limits: Final = LIMITS

    def __init__(self, composed: ComposedRequest) -> None:
        self._model = composed.url.partition("?")[0].removesuffix(_CALL)
        self._root = self._model.rpartition("/models/")[0]
        self._http = BatchHttp(composed)

    def item(self, custom_id: str, body: bytes) -> bytes:
        """One of the inline requests."""
        return b'{"request":' + body + b',"metadata":{"key":' + orjson.dumps(custom_id) + b"}}"

    async def create(self, name: str, items: Sequence[bytes]) -> str:
        """Create the batch."""
        head = b'{"batch":{"displayName":' + orjson.dumps(name) + b',"inputConfig":{"requests":{"requests":['
        body = head + b",".join(items) + b"]}}}}"
        url = f"{self._model}:batchGenerateContent"
        made = await self._http.json("POST", url, content=body, headers={"content-type": "application/json"})
        return str(made.get("name") or part(made, "metadata", "name"))

    async def find(
        self,
        name: str,
        *,
        since: float,
        size: int,  # noqa: ARG002
        others: frozenset[str],  # noqa: ARG002
    ) -> str | None:
        """Look for the display name, newest first."""
        async for row in self._http.recent(
            f"{self._root}/batches",
            "operations",
            size={"pageSize": _PAGE},
            since=since,
            created=lambda row: moment(part(row, "metadata", "createTime")),
            following=lambda page, _: {"pageToken": page["nextPageToken"]} if page.get("nextPageToken") else {},
        ):
            if part(row, "metadata", "displayName") == name:
                return str(row.get("name"))
        return None

    async def state(self, provider_id: str) -> BatchState:
        """Where the batch is."""
        body = await self._http.json("GET", f"{self._root}/{provider_id}")
        state = str(part(body, "metadata", "state") or "").removeprefix("BATCH_STATE_").removeprefix("JOB_STATE_")
        ended = state in _ENDED or bool(body.get("done"))
        why = str(part(body, "error", "message") or f"the batch {state.lower()}") if state in _FAILED else ""
        return BatchState(ended, body, why)

    async def results(self, state: BatchState) -> AsyncIterator[ItemResult]:
        """The inline responses, or those in a file where there are many."""
        for output in (part(state.body, "response"), part(state.body, "metadata", "output")):
            file = part(output, "responsesFile")
            if isinstance(file, str) and file:
                url = f"{self._root.replace('/v1beta', '/download/v1beta', 1)}/{file}:download?alt=media"
                async for row in self._http.lines(url):
                    yield _result(str(row.get("key") or part(row, "metadata", "key")), row)
                return
            found = rows(output, "inlinedResponses", "inlinedResponses")
            if found:
                for place, row in enumerate(found):
                    yield _result(str(part(row, "metadata", "key") or f"#{place}"), row)
                return

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def _result(custom_id: str, row: dict[str, Any]) -> ItemResult:
    response, error = row.get("response"), row.get("error")
    if isinstance(response, dict):
        return ItemResult(custom_id, json_response(response))
    if isinstance(error, dict):
        code = error.get("code")
        status = code if isinstance(code, int) and code >= 400 else _STATUSES.get(code or 0, 500)
        return ItemResult(custom_id, json_response({"error": {**error, "code": status}}, status))
    return ItemResult(custom_id, None, "the item has no response", unbilled=False)
