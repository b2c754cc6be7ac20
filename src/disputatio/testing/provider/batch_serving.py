"""The batches of a fake provider: their jobs, and the routes that serve them.

The clock can leap: a batch that takes an hour takes no time where the client leaps an hour on.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import orjson
from aiohttp import web

from disputatio.testing.provider.answers import Answer, Rejection, answer_to, key_rejection
from disputatio.testing.provider.dialects import (
    anthropic_error,
    anthropic_message,
    chat_of_anthropic,
    chat_of_google,
    google_error,
    google_response,
)
from disputatio.testing.provider.mishaps import CreationMishap, ItemMishap
from disputatio.testing.provider.received import Body, ReceivedRequest, fingerprint_of
from disputatio.testing.provider.token_counts import PrefixIndex
from disputatio.testing.provider.traffic import Bill
from disputatio.testing.provider.wire import completion_body

if TYPE_CHECKING:
    from disputatio.testing.provider.behaviour import Behaviour
    from disputatio.testing.provider.token_counts import PrefixIndex

DAY_S: Final = 86_400.0


@dataclass(slots=True)
class Item:
    """One request of a batch, and what came of it."""

    custom_id: str
    request: ReceivedRequest
    answer: Answer | Rejection
    mishap: ItemMishap | None


@dataclass(slots=True)
class Job:
    """One batch. ``name`` is the client's; times are seconds since 1970."""

    provider_id: str
    name: str
    protocol: str
    created: float
    ends: float
    items: list[Item] = field(default_factory=list)
    failed: bool = False


class BatchJobs:
    """The batches of one fake provider.

    Args:
        behaviour: how it answers.
        bill: takes what is charged: an item that will be answered is charged when its batch is created.
    """

    def __init__(self, behaviour: Behaviour, bill: Bill) -> None:
        self._behaviour, self._bill = behaviour, bill
        self._prefixes = PrefixIndex(behaviour.keep)
        self._leapt = 0.0
        self.creations = 0
        self.jobs: dict[str, Job] = {}
        self.files: dict[str, bytes] = {}

    def now(self) -> float:
        """The time in seconds since 1970, with all leaps."""
        return time.time() + self._leapt

    def leap(self, seconds: float) -> None:
        """Move the clock on."""
        self._leapt += max(0.0, seconds)

    def next_creation(self) -> CreationMishap | None:
        """What happens to the next request that creates a batch."""
        number, self.creations = self.creations, self.creations + 1
        return self._behaviour.batch_creations(number)

    def create(
        self, protocol: str, name: str, requests: Sequence[tuple[str, Body]], mishap: CreationMishap | None
    ) -> Job:
        """Take a batch: what becomes of it is decided now, and seen when it has ended."""
        number, now = len(self.jobs), self.now()
        job = Job(f"{_PREFIXES[protocol]}{number:06d}", name, protocol, now, now + self._behaviour.batch_seconds)
        job.failed = mishap is CreationMishap.FAILED
        fates = [self._behaviour.batch_items(number, place) for place in range(len(requests))]
        # Google gives nothing back of a batch that has expired, and charges nothing.
        lost = job.failed or (protocol == "google" and ItemMishap.EXPIRED in fates)
        for place, (custom_id, body) in enumerate(requests):
            fate = fates[place]
            request = ReceivedRequest(place, 0, body, {}, fingerprint_of(body))
            answer = answer_to(request, self._behaviour, self._prefixes)
            answered = fate in (None, ItemMishap.MALFORMED, ItemMishap.MISSING) and not lost
            if answered and isinstance(answer, Answer):
                self._bill.charge(request.fingerprint, answer, batch=True)
            job.items.append(Item(custom_id, request, answer, fate))
        if ItemMishap.EXPIRED in fates:
            job.ends = now + DAY_S
        self.jobs[job.provider_id] = job
        return job

    def has_ended(self, job: Job) -> bool:
        """Whether its results are there."""
        return self.now() >= job.ends

    def listed(self, protocol: str) -> list[Job]:
        """The batches of one protocol, newest first."""
        return [job for job in reversed(self.jobs.values()) if job.protocol == protocol]


_PREFIXES: Final = {"openai": "batch_", "anthropic": "msgbatch_", "google": "batches/"}


_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_OPENAI_MOST: Final = 50_000
_ANTHROPIC_MOST: Final = 100_000
_GOOGLE_BYTES: Final = 20 * 1024 * 1024


class BatchService:
    """Serves batches, and the single requests of Anthropic's and Google's protocols.

    Args:
        behaviour: how it answers.
        jobs: the batches.
        bill: takes what is charged.
        prefixes: finds what a cache would serve.
    """

    def __init__(self, behaviour: Behaviour, jobs: BatchJobs, bill: Bill, prefixes: PrefixIndex) -> None:
        self._behaviour, self._jobs, self._bill, self._prefixes = behaviour, jobs, bill, prefixes

    def add_routes(self, router: web.UrlDispatcher) -> None:
        """Make everything reachable."""
        router.add_post("/v1/files", self._upload)
        router.add_get("/v1/files/{id}/content", self._content)
        router.add_post("/v1/batches", self._guarded(self._create_openai))
        router.add_get("/v1/batches", self._list_openai)
        router.add_get("/v1/batches/{id}", self._show_openai)
        router.add_post("/v1/messages", self._message)
        router.add_post("/v1/messages/batches", self._guarded(self._create_anthropic))
        router.add_get("/v1/messages/batches", self._list_anthropic)
        router.add_get("/v1/messages/batches/{id}", self._show_anthropic)
        router.add_get("/v1/messages/batches/{id}/results", self._results_anthropic)
        router.add_post("/v1beta/models/{model}:generateContent", self._generate)
        router.add_post("/v1beta/models/{model}:batchGenerateContent", self._guarded(self._create_google))
        router.add_get("/v1beta/batches", self._list_google)
        router.add_get("/v1beta/batches/{id}", self._show_google)
        router.add_post("/_clock", self._clock)

    async def _clock(self, request: web.Request) -> web.StreamResponse:
        """Leap so many seconds on, and say what time it is then."""
        self._jobs.leap(float((await request.json()).get("seconds", 0.0)))
        return web.json_response({"now": self._jobs.now()})

    def _guarded(self, create: Callable[[web.Request, CreationMishap | None], Awaitable[web.Response]]) -> _Handler:
        """``create`` with what may happen to it."""

        async def handle(request: web.Request) -> web.StreamResponse:
            rejection = _key(self._behaviour, request)
            if rejection is not None:
                return web.json_response(rejection.body, status=rejection.status)
            mishap = self._jobs.next_creation()
            if mishap in (CreationMishap.ERROR_BEFORE, CreationMishap.REFUSED):
                status = 500 if mishap is CreationMishap.ERROR_BEFORE else 400
                return web.json_response({"error": {"message": "The batch was not taken."}}, status=status)
            response = await create(request, mishap)
            if mishap is CreationMishap.ERROR_AFTER:
                return web.json_response({"error": {"message": "The server had an error."}}, status=500)
            if mishap is CreationMishap.LOST_AFTER and request.transport is not None:
                request.transport.abort()
            return response

        return handle

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        file = form.get("file")
        if form.get("purpose") != "batch" or not isinstance(file, web.FileField):
            return _openai_error("'purpose' must be batch, with a file.")
        name = f"file-{len(self._jobs.files):06d}"
        self._jobs.files[name] = file.file.read()
        return web.json_response({"id": name, "object": "file", "purpose": "batch", "status": "processed"})

    async def _content(self, request: web.Request) -> web.StreamResponse:
        kind, _, name = request.match_info["id"].partition("-")
        job = self._jobs.jobs.get(name)
        if job is None or kind not in ("output", "error"):
            return _openai_error("No such File object.", 404)
        lines = [line for item in job.items if (line := self._openai_line(item, errors=kind == "error"))]
        return web.Response(body=b"\n".join(lines), content_type="application/jsonl")

    async def _create_openai(self, request: web.Request, mishap: CreationMishap | None) -> web.Response:
        wanted = await request.json()
        content = self._jobs.files.get(str(wanted.get("input_file_id")))
        if content is None or wanted.get("completion_window") != "24h":
            return _openai_error("The file or the completion window is not known.")
        rows = [orjson.loads(line) for line in content.splitlines() if line.strip()]
        ids = {row["custom_id"] for row in rows}
        models = {row["body"].get("model") for row in rows}
        good = all(row["method"] == "POST" and row["url"] == wanted.get("endpoint") for row in rows)
        if len(ids) != len(rows) or len(models) != 1 or not good or len(rows) > _OPENAI_MOST:
            mishap = CreationMishap.FAILED
        name = str((wanted.get("metadata") or {}).get("disputatio", ""))
        job = self._jobs.create("openai", name, [(row["custom_id"], row["body"]) for row in rows], mishap)
        return web.json_response(self._openai_batch(job))

    async def _list_openai(self, request: web.Request) -> web.StreamResponse:
        page, more = _page(self._jobs.listed("openai"), request.query.get("after"), request.query.get("limit", "20"))
        return web.json_response(
            {"object": "list", "data": [self._openai_batch(row) for row in page], "has_more": more}
        )

    async def _show_openai(self, request: web.Request) -> web.StreamResponse:
        job = self._jobs.jobs.get(request.match_info["id"])
        if job is None:
            return _openai_error("No such batch.", 404)
        return web.json_response(self._openai_batch(job))

    def _openai_batch(self, job: Job) -> Body:
        ended = self._jobs.has_ended(job)
        expired = any(item.mishap is ItemMishap.EXPIRED for item in job.items)
        canceled = any(item.mishap is ItemMishap.CANCELED for item in job.items)
        finished = "expired" if expired else "cancelled" if canceled else "completed"
        status = "in_progress" if not ended else "failed" if job.failed else finished
        errors = {"object": "list", "data": [{"code": "invalid_request", "message": "The batch is not valid."}]}
        good = ended and not job.failed
        wrong = good and any(_stands_in_errors(item) for item in job.items)
        return {
            "id": job.provider_id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "errors": errors if status == "failed" else None,
            "input_file_id": "file",
            "completion_window": "24h",
            "status": status,
            "output_file_id": f"output-{job.provider_id}" if good else None,
            "error_file_id": f"error-{job.provider_id}" if wrong else None,
            "created_at": int(job.created),
            "expires_at": int(job.created + DAY_S),
            "request_counts": {"total": len(job.items), "completed": 0, "failed": 0},
            "metadata": {"disputatio": job.name},
        }

    def _openai_line(self, item: Item, *, errors: bool) -> bytes:
        """The line of an item in the file of outputs, or in that of errors; empty where it is not in that one."""
        if item.mishap is ItemMishap.MISSING or errors != _stands_in_errors(item):
            return b""
        row: Body = {
            "id": f"batch_req_{item.request.index}",
            "custom_id": item.custom_id,
            "response": None,
            "error": None,
        }
        if item.mishap is ItemMishap.EXPIRED:
            row["error"] = {"code": "batch_expired", "message": "This request could not be executed before it expired."}
        elif item.mishap is ItemMishap.CANCELED:
            row["error"] = {"code": "batch_cancelled", "message": "The batch was cancelled."}
        elif item.mishap is ItemMishap.ERRORED:
            row["response"] = _openai_response(500, {"error": {"message": "The server had an error."}})
        elif item.mishap is ItemMishap.MALFORMED:
            return orjson.dumps({**row, "response": _openai_response(200, {"choices": "none"})})
        elif isinstance(item.answer, Rejection):
            row["response"] = _openai_response(item.answer.status, item.answer.body)
        else:
            row["response"] = _openai_response(200, completion_body(item.answer, item.request, self._behaviour))
        return orjson.dumps(row)

    async def _message(self, request: web.Request) -> web.StreamResponse:
        found = self._answered(request, chat_of_anthropic(await request.json()))
        if isinstance(found, Rejection):
            return web.json_response(anthropic_error(found), status=found.status)
        answer, fingerprint = found
        return web.json_response(anthropic_message(answer, fingerprint))

    async def _create_anthropic(self, request: web.Request, mishap: CreationMishap | None) -> web.Response:
        rows = (await request.json())["requests"]
        ids = {row["custom_id"] for row in rows}
        if (
            len(ids) != len(rows)
            or not 0 < len(rows) <= _ANTHROPIC_MOST
            or any("stream" in row["params"] for row in rows)
        ):
            return web.json_response(anthropic_error(Rejection(400, "The requests are not valid.")), status=400)
        requests = [(row["custom_id"], chat_of_anthropic(row["params"])) for row in rows]
        return web.json_response(self._anthropic_batch(self._jobs.create("anthropic", "", requests, mishap)))

    async def _list_anthropic(self, request: web.Request) -> web.StreamResponse:
        jobs = self._jobs.listed("anthropic")
        page, more = _page(jobs, request.query.get("after_id"), request.query.get("limit", "20"))
        return web.json_response({"data": [self._anthropic_batch(row) for row in page], "has_more": more})

    async def _show_anthropic(self, request: web.Request) -> web.StreamResponse:
        job = self._jobs.jobs.get(request.match_info["id"])
        if job is None:
            return web.json_response(anthropic_error(Rejection(404, "Not found.")), status=404)
        return web.json_response(self._anthropic_batch(job))

    async def _results_anthropic(self, request: web.Request) -> web.StreamResponse:
        job = self._jobs.jobs.get(request.match_info["id"])
        if job is None or not self._jobs.has_ended(job):
            return web.json_response(anthropic_error(Rejection(404, "Not found.")), status=404)
        # In any order, as the documents say.
        items = [item for item in reversed(job.items) if item.mishap is not ItemMishap.MISSING]
        lines = [orjson.dumps({"custom_id": item.custom_id, "result": _anthropic_result(item, job)}) for item in items]
        return web.Response(body=b"\n".join(lines), content_type="application/x-jsonl")

    def _anthropic_batch(self, job: Job) -> Body:
        ended = self._jobs.has_ended(job)
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        counts["succeeded" if ended else "processing"] = len(job.items)
        return {
            "id": job.provider_id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": _stamp(job.created),
            "expires_at": _stamp(job.created + DAY_S),
            "ended_at": _stamp(job.ends) if ended else None,
            "results_url": f"https://api.anthropic.com/v1/messages/batches/{job.provider_id}/results"
            if ended
            else None,
        }

    async def _generate(self, request: web.Request) -> web.StreamResponse:
        found = self._answered(request, chat_of_google(await request.json(), request.match_info["model"]))
        if isinstance(found, Rejection):
            return web.json_response(google_error(found), status=found.status)
        answer, fingerprint = found
        return web.json_response(google_response(answer, fingerprint))

    async def _create_google(self, request: web.Request, mishap: CreationMishap | None) -> web.Response:
        content, model = await request.read(), request.match_info["model"]
        if len(content) > _GOOGLE_BYTES:
            return web.json_response(
                google_error(Rejection(400, "Request payload size exceeds the limit.")), status=400
            )
        batch = orjson.loads(content)["batch"]
        rows = batch["inputConfig"]["requests"]["requests"]
        requests = [(row["metadata"]["key"], chat_of_google(row["request"], model)) for row in rows]
        job = self._jobs.create("google", batch["displayName"], requests, mishap)
        return web.json_response(self._google_operation(job))

    async def _list_google(self, request: web.Request) -> web.StreamResponse:
        jobs, size = self._jobs.listed("google"), request.query.get("pageSize", "20")
        page, more = _page(jobs, request.query.get("pageToken"), size)
        following = {"nextPageToken": page[-1].provider_id} if more else {}
        return web.json_response({"operations": [self._google_operation(row) for row in page], **following})

    async def _show_google(self, request: web.Request) -> web.StreamResponse:
        job = self._jobs.jobs.get(f"batches/{request.match_info['id']}")
        if job is None:
            return web.json_response(google_error(Rejection(404, "Not found.")), status=404)
        return web.json_response(self._google_operation(job))

    def _google_operation(self, job: Job) -> Body:
        ended, expired = self._jobs.has_ended(job), any(row.mishap is ItemMishap.EXPIRED for row in job.items)
        finished = "FAILED" if job.failed else "EXPIRED" if expired else "SUCCEEDED"
        state = f"BATCH_STATE_{finished if ended else 'RUNNING'}"
        about = {"displayName": job.name, "state": state, "createTime": _stamp(job.created), "name": job.provider_id}
        operation: Body = {"name": job.provider_id, "metadata": about, "done": ended}
        if ended and finished == "SUCCEEDED":
            items = [item for item in job.items if item.mishap is not ItemMishap.MISSING]
            operation["response"] = {"inlinedResponses": {"inlinedResponses": [_google_item(item) for item in items]}}
        elif ended:
            operation["error"] = {"code": 13, "message": f"The batch {finished.lower()}."}
        return operation

    def _answered(self, request: web.Request, body: Body) -> tuple[Answer, str] | Rejection:
        """The answer to a single request, which is charged, and its fingerprint."""
        rejection = _key(self._behaviour, request)
        if rejection is not None:
            return rejection
        received = ReceivedRequest(0, 0, body, {}, fingerprint_of(body))
        answer = answer_to(received, self._behaviour, self._prefixes)
        if isinstance(answer, Rejection):
            return answer
        self._bill.charge(received.fingerprint, answer, batch=False)
        return answer, received.fingerprint


def _key(behaviour: Behaviour, request: web.Request) -> Rejection | None:
    headers = request.headers
    key = headers.get("x-api-key") or headers.get("x-goog-api-key")
    return key_rejection(behaviour, f"Bearer {key}" if key else headers.get("Authorization", ""))


def _stands_in_errors(item: Item) -> bool:
    return item.mishap in (ItemMishap.EXPIRED, ItemMishap.CANCELED, ItemMishap.ERRORED) or (
        item.mishap is None and isinstance(item.answer, Rejection)
    )


def _openai_response(status: int, body: Any) -> Body:
    return {"status_code": status, "request_id": "req", "body": body}


def _openai_error(words: str, status: int = 400) -> web.Response:
    return web.json_response(Rejection(status, words).body, status=status)


def _anthropic_result(item: Item, job: Job) -> Body:
    if job.failed or item.mishap is ItemMishap.ERRORED:
        error = {"type": "api_error", "message": "The server had an error."}
        return {"type": "errored", "error": {"type": "error", "error": error}}
    if item.mishap in (ItemMishap.EXPIRED, ItemMishap.CANCELED):
        return {"type": item.mishap.value}
    if item.mishap is ItemMishap.MALFORMED:
        return {"type": "succeeded", "message": {"content": "none"}}
    if isinstance(item.answer, Rejection):
        return {"type": "errored", "error": anthropic_error(item.answer)}
    return {"type": "succeeded", "message": anthropic_message(item.answer, item.request.fingerprint)}


def _google_item(item: Item) -> Body:
    about = {"metadata": {"key": item.custom_id}}
    if item.mishap in (ItemMishap.ERRORED, ItemMishap.CANCELED):
        return {**about, "error": {"code": 13, "message": "The server had an error."}}
    if item.mishap is ItemMishap.MALFORMED:
        return {**about, "response": {"candidates": "none"}}
    if isinstance(item.answer, Rejection):
        return {**about, "error": {"code": 3, "message": item.answer.message}}
    return {**about, "response": google_response(item.answer, item.request.fingerprint)}


def _page(jobs: list[Job], after: str | None, limit: str) -> tuple[list[Job], bool]:
    start = next((place + 1 for place, job in enumerate(jobs) if job.provider_id == after), 0)
    page = jobs[start : start + int(limit)]
    return page, start + len(page) < len(jobs)


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
