"""OpenAI's batch interface: a file of JSON lines, a batch over it, and a file or two of results.

Source: https://platform.openai.com/docs/guides/batch, and the types of openai's Python library (``types/batch.py``).

- At most 50,000 requests and 200 MB a file, one model a file; a batch has 24 hours.
- ``metadata`` is ours, and comes with every batch of the list: that is how a batch is found again.
- An expired or cancelled batch keeps the results it has. The others are in the error file as ``batch_expired`` and
  are not billed.
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
    part,
    rows,
)
from disputatio.participants.remote.composing import ComposedRequest

_PATH: Final = "/chat/completions"
_LABEL: Final = "disputatio"
_ENDED: Final = frozenset({"failed", "completed", "expired", "cancelled"})
_PAGE: Final = 100
LIMITS: Final = Limits(50_000, 100 << 20)
"""OpenAI takes files of 200 MB; half of that bounds the memory of this process."""


class OpenAiBatches:
    """The batches of one model. Args: ``composed`` is a single call of it."""

    limits: Final = LIMITS

    def __init__(self, composed: ComposedRequest) -> None:
        self._root = composed.url.removesuffix(_PATH)
        self._http = BatchHttp(composed)

    def item(self, custom_id: str, body: bytes) -> bytes:
        """A line of the file."""
        request = orjson.loads(body)
        request.pop("stream", None)
        return orjson.dumps({"custom_id": custom_id, "method": "POST", "url": f"/v1{_PATH}", "body": request}) + b"\n"

    async def create(self, name: str, items: Sequence[bytes]) -> str:
        """Upload the file, which costs nothing, and create the batch over it."""
        whole = ("batch.jsonl", b"".join(items), "application/jsonl")
        uploaded = await self._http.json(
            "POST", f"{self._root}/files", data={"purpose": "batch"}, files={"file": whole}
        )
        wanted = {
            "input_file_id": str(uploaded.get("id")),
            "endpoint": f"/v1{_PATH}",
            "completion_window": "24h",
            "metadata": {_LABEL: name},
        }
        return str((await self._http.json("POST", f"{self._root}/batches", json=wanted)).get("id"))

    async def find(
        self,
        name: str,
        *,
        since: float,
        size: int,  # noqa: ARG002
        others: frozenset[str],  # noqa: ARG002
    ) -> str | None:
        """Look for the name among the metadata, newest first."""
        async for row in self._http.recent(
            f"{self._root}/batches",
            "data",
            size={"limit": _PAGE},
            since=since,
            created=lambda row: _number(row.get("created_at")),
            following=lambda page, last: {"after": str(last.get("id"))} if page.get("has_more") else {},
        ):
            if part(row, "metadata", _LABEL) == name:
                return str(row.get("id"))
        return None

    async def state(self, provider_id: str) -> BatchState:
        """Where the batch is."""
        body = await self._http.json("GET", f"{self._root}/batches/{provider_id}")
        status = body.get("status")
        errors = rows(body, "errors", "data")
        why = "; ".join(str(row.get("message") or row.get("code")) for row in errors[:3]) or "it failed"
        return BatchState(status in _ENDED, body, why if status == "failed" else "")

    async def results(self, state: BatchState) -> AsyncIterator[ItemResult]:
        """The lines of the file of outputs, then of that of errors."""
        for key in ("output_file_id", "error_file_id"):
            file = state.body.get(key)
            if not isinstance(file, str) or not file:
                continue
            async for row in self._http.lines(f"{self._root}/files/{file}/content"):
                yield _result(row)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def _result(row: dict[str, Any]) -> ItemResult:
    custom_id, status, body = (
        str(row.get("custom_id")),
        part(row, "response", "status_code"),
        part(row, "response", "body"),
    )
    if isinstance(status, int) and isinstance(body, dict):
        return ItemResult(custom_id, json_response(body, status))
    error = row.get("error")
    why = str(part(error, "message") or part(error, "code") or "the item has no response")
    return ItemResult(custom_id, None, why, unbilled=isinstance(error, dict))


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
