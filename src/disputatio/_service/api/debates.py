"""Start, list, read, follow and stop debates."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import Field, model_validator

from disputatio._service.access import Needs, service_of
from disputatio._service.api.forms import (
    MOST_STRUCK,
    Cancelled,
    CeilingsGiven,
    DebateId,
    DebatePage,
    DebateView,
    EstimateView,
    ForkGiven,
    ForkView,
    JobView,
)
from disputatio._service.debate_book import Listed
from disputatio._service.forking import preview_fork, start_fork
from disputatio._service.keys import Caller, Scope
from disputatio._service.problems import RefusedError, responses
from disputatio._service.service import Service
from disputatio._service.streaming import number_in, stream
from disputatio.errors import InvalidInputError
from disputatio.formats.options import Market
from disputatio.kernel import JsonObject
from disputatio.ledger.budget import Budget
from disputatio.proposals import stored_source
from disputatio.proposals.forks import ForkRequest
from disputatio.request.model import DebateRequest
from disputatio.request.remote import group_options
from disputatio.workers import Job, NewCeilings

router = APIRouter(prefix="/v1", tags=["debates"])
Reader = Annotated[Caller, Depends(Needs(Scope.READ))]
Runner = Annotated[Caller, Depends(Needs(Scope.RUN))]

FRAME = {
    "type": "object",
    "description": "One frame.",
    "properties": {"id": {"type": "string"}, "event": {"type": "string"}, "data": {"type": "string"}},
}
NO_NULL = r"^[^\x00]*$"
"""Of texts that a database is asked for: PostgreSQL takes no null character."""
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=200,
        description="The same key with the same request gives the same debate, however often it is sent.",
    ),
]
_LINKS = ("report", "events", "turns", "cancel", "verify")


class PostedRequest(DebateRequest):
    """A debate to run, with what was uploaded before."""

    @model_validator(mode="before")
    @classmethod
    def _grouped(cls, body: Any) -> Any:
        """Read a request in the words of earlier versions, too."""
        if not isinstance(body, Mapping):
            raise InvalidInputError(
                "The body is not a JSON object.", "Send a JSON object, with Content-Type: application/json."
            )
        own = {name: body[name] for name in _UPLOADED if name in body}
        return {**group_options({name: row for name, row in body.items() if name not in own}), **own}

    evidence_ids: Annotated[
        list[Annotated[str, Field(pattern=r"^ev_[0-9a-f]{16}$")]],
        Field(default_factory=list, max_length=200, description="Sources that POST /v1/evidence took in."),
    ]
    knowledge_id: Annotated[
        str | None,
        Field(pattern=r"^kb_[0-9a-f]{16}$", description="The knowledge base that POST /v1/knowledge took in."),
    ] = None


_UPLOADED = frozenset({"evidence_ids", "knowledge_id"})


def view(service: Service, listed: Listed, job: Job | None) -> DebateView:
    """A debate as the API shows it."""
    base = f"/v1/debates/{listed.id}"
    return DebateView(
        id=listed.id,
        status=listed.status,
        format=listed.format,
        motion=listed.motion,
        opened_at=listed.opened_at,
        events=listed.events,
        head=listed.head,
        goes_on=service.is_going_on(listed, job),
        job=None if job is None else JobView(state=job.state.value, reason=job.reason, next_step=job.next_step),
        links={"self": base, **{name: f"{base}/{name}" for name in _LINKS}, "page": f"/debates/{listed.id}"},
    )


@router.post(
    "/debates",
    status_code=201,
    response_model=DebateView,
    responses=responses(
        404, 502, good={200: {"model": DebateView, "description": "The debate that this idempotency key stands for."}}
    ),
)
async def start_debate(
    order: PostedRequest,
    request: Request,
    response: Response,
    caller: Runner,
    idempotency_key: IdempotencyKey = None,
) -> DebateView:
    """Start a debate. A request that cannot run is refused at once, and nothing is spent."""
    service = service_of(request)
    body, uploads = await with_uploads(service, order, caller)
    debate, new = await service.start(
        body, caller, idempotency_key, lambda _reader: [stored_source(row) for row in uploads]
    )
    return await _started(service, debate, caller, response, is_new=new)


async def _started(service: Service, debate: str, caller: Caller, response: Response, *, is_new: bool) -> DebateView:
    """The answer to a request that started a debate: 201 for a new one, 200 for that of an idempotency key."""
    response.status_code = 201 if is_new else 200
    response.headers["Location"] = f"/v1/debates/{debate}"
    listed = await asyncio.to_thread(service.listed, debate, caller)
    return view(service, listed, await service.job(debate))


async def with_uploads(
    service: Service, order: PostedRequest, caller: Caller
) -> tuple[dict[str, Any], list[Mapping[str, str]]]:
    """The order with the knowledge base that it names in it, and the sources that it names, as they were kept."""
    body = order.as_json()
    rows = [await asyncio.to_thread(service.book.uploaded, caller.tenant, name) for name in order.evidence_ids]
    body = {name: value for name, value in body.items() if name not in _UPLOADED}
    if order.knowledge_id is not None:
        if isinstance(order.format, Market) and order.format.knowledge is not None:
            raise RefusedError(
                422, "invalid", "knowledge and knowledge_id are both given, and a debate has one knowledge base.",
                "Leave one of them out.",
            )  # fmt: skip
        kept = await asyncio.to_thread(service.book.uploaded, caller.tenant, order.knowledge_id)
        chosen = body["format"] if isinstance(body.get("format"), dict) else {"name": order.format.name}
        body["format"] = {**chosen, "knowledge": kept["text"]}
    return body, rows


@router.post("/estimates", response_model=EstimateView, responses=responses(404))
async def estimate_debate(order: PostedRequest, request: Request, caller: Runner) -> JsonObject:
    """Estimate calls, tokens and cost of a debate, with the least and the most. No model is called."""
    service = service_of(request)
    body, uploads = await with_uploads(service, order, caller)
    return await service.estimate(body, caller, lambda _reader: [stored_source(row) for row in uploads])


@router.get("/debates", response_model=DebatePage, responses=responses())
async def list_debates(
    request: Request,
    caller: Reader,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=200, description="``next`` of the page before.")] = None,
    status: Annotated[str | None, Query(max_length=32, pattern=NO_NULL)] = None,
    format: Annotated[str | None, Query(max_length=64, pattern=NO_NULL)] = None,  # noqa: A002  (the word users know)
) -> DebatePage:
    """List the debates of the key's tenant, newest first. Waiting debates are at the top of the first page."""
    service = service_of(request)
    chosen = {name: value for name, value in (("status", status), ("format", format)) if value is not None}
    before = place_of(cursor)
    rows, more = await asyncio.to_thread(service.book.page, caller.tenant, limit=limit, before=before, chosen=chosen)
    waiting = [] if before or chosen else await asyncio.to_thread(service.book.waiting, caller.tenant)
    items = [view(service, row, await service.job(row.id) if _may_go_on(row) else None) for row in [*waiting, *rows]]
    return DebatePage(items=items, next=cursor_of(rows[-1]) if more else None)


def _may_go_on(row: Listed) -> bool:
    return row.status in {"WAITING", "RUNNING", "INTERRUPTED"}


def cursor_of(row: Listed) -> str:
    """What the next page begins after."""
    return base64.urlsafe_b64encode(f"{row.opened_at} {row.id}".encode()).decode()


def place_of(cursor: str | None) -> tuple[str, str] | None:
    if cursor is None:
        return None
    try:
        at, space, debate = base64.urlsafe_b64decode(cursor.encode("ascii")).decode("ascii").partition(" ")
    except (binascii.Error, UnicodeError):
        at, space, debate = "", "", ""
    if not space or "\0" in at + debate:
        raise RefusedError(422, "invalid", "The cursor is none of a page before.", "Begin without one.")
    return at, debate


@router.get("/debates/{debate_id}", response_model=DebateView, responses=responses(404))
async def read_debate(debate_id: DebateId, request: Request, caller: Reader) -> DebateView:
    """Read the state of a debate."""
    service = service_of(request)
    listed = await asyncio.to_thread(service.listed, debate_id, caller)
    return view(service, listed, await service.job(debate_id))


@router.post("/debates/{debate_id}/cancel", response_model=Cancelled, responses=responses(404))
async def cancel_debate(debate_id: DebateId, request: Request, caller: Runner) -> Cancelled:
    """Stop a debate. Its turns stay, and `resume` continues it."""
    service = service_of(request)
    await asyncio.to_thread(service.listed, debate_id, caller)
    return Cancelled(cancelled=await service.cancel(debate_id))


@router.post("/debates/{debate_id}/resume", response_model=DebateView, responses=responses(404, 409))
async def resume_debate(debate_id: DebateId, given: CeilingsGiven, request: Request, caller: Runner) -> DebateView:
    """Go on with a debate that was stopped, ended at a ceiling or lacks turns. Nothing already paid is asked again."""
    service = service_of(request)
    await asyncio.to_thread(service.listed, debate_id, caller)
    await service.resume(debate_id, NewCeilings(given.budget_usd, given.budget_tokens, given.max_calls), caller)
    listed = await asyncio.to_thread(service.listed, debate_id, caller)
    return view(service, listed, await service.job(debate_id))


@router.get("/debates/{debate_id}/fork", response_model=ForkView, responses=responses(404, 409))
async def preview_fork_of_debate(
    debate_id: DebateId,
    request: Request,
    caller: Reader,
    strike: Annotated[list[Annotated[str, Field(max_length=80)]], Query(min_length=1, max_length=MOST_STRUCK)],
) -> ForkView:
    """Say which turns a fork without ``strike`` would keep and which it would ask again. No model is called."""
    service = service_of(request)
    fork = (await asyncio.to_thread(preview_fork, service, debate_id, strike, caller)).fork
    return ForkView(
        parent=fork.parent,
        head=fork.head,
        struck=list(fork.struck),
        kept=list(fork.kept),
        asked_again=list(fork.again),
        calls=fork.calls,
        input_tokens=fork.input_tokens,
        output_tokens=fork.output_tokens,
        usd=None if fork.usd is None else str(fork.usd),
    )


@router.post(
    "/debates/{debate_id}/fork",
    status_code=201,
    response_model=DebateView,
    responses=responses(
        404,
        409,
        502,
        good={200: {"model": DebateView, "description": "The fork of this idempotency key."}},
    ),
)
async def fork_debate(
    debate_id: DebateId,
    given: ForkGiven,
    request: Request,
    response: Response,
    caller: Runner,
    idempotency_key: IdempotencyKey = None,
) -> DebateView:
    """Ask a finished debate again without what is struck, as a new debate that names its parent."""
    service = service_of(request)
    budget = Budget(given.budget_usd, given.budget_tokens, given.max_calls)
    debate, new = await start_fork(
        service, ForkRequest(debate_id, tuple(given.strike), budget), caller, idempotency_key
    )
    return await _started(service, debate, caller, response, is_new=new)


@router.get(
    "/debates/{debate_id}/events",
    response_class=Response,
    responses=responses(
        404,
        good={
            200: {
                "description": "Frames: `id` is the number of the event, `event` its kind, `data` the event as JSON. "
                "`end` closes a debate that is over.",
                "content": {"text/event-stream": {"schema": FRAME}},
            },
            204: {"description": "The debate is over and the client knows all of it."},
        },
    ),
)
async def follow_debate(
    debate_id: DebateId,
    request: Request,
    caller: Reader,
    after: Annotated[int, Query(ge=0, le=10**9, description="Send only what follows this event.")] = 0,
    text: Annotated[bool, Query(description="Send also what models are writing, as frames without an id.")] = False,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> Response:
    """Follow a debate as server-sent events. `Last-Event-ID` continues a lost connection."""
    service = service_of(request)
    await asyncio.to_thread(service.listed, debate_id, caller)
    known = max(after, number_in(last_event_id))
    return await stream(service, debate_id, caller, known, text=text)
