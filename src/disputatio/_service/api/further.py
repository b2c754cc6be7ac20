"""Evidence, the gate, figures, what comes after a debate, and keys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, UploadFile
from starlette.datastructures import UploadFile as PlainUpload

from disputatio._service.access import Needs, service_of
from disputatio._service.api.forms import (
    Attached,
    DebateId,
    EvidenceKept,
    FetchAsked,
    GateAnswered,
    GateAsked,
    KeyView,
    KnowledgeKept,
    OutcomeGiven,
    SignOffGiven,
)
from disputatio._service.fetching import fetch
from disputatio._service.key_ledger import NO_LIMIT, Room, in_digits
from disputatio._service.keys import Caller, Key, Scope
from disputatio._service.problems import RefusedError, responses
from disputatio._service.service import Service
from disputatio.engine.market_setup import KNOWLEDGE, knowledge_text, read_knowledge
from disputatio.engine.runtime import Runtime
from disputatio.errors import StoreError
from disputatio.evidence.source_files import read_source
from disputatio.formats.options import LONGEST_KNOWLEDGE

if TYPE_CHECKING:
    from disputatio.evidence.reading_process import SourceReader
    from disputatio.evidence.sources import Source
    from disputatio.market.knowledge import KnowledgeBase

router = APIRouter(prefix="/v1")
Reader = Annotated[Caller, Depends(Needs(Scope.READ))]
Runner = Annotated[Caller, Depends(Needs(Scope.RUN))]
Admin = Annotated[Caller, Depends(Needs(Scope.ADMIN))]


@router.post("/evidence", status_code=201, response_model=EvidenceKept, responses=responses(400), tags=["evidence"])
async def upload_evidence(file: UploadFile, request: Request, caller: Runner) -> EvidenceKept:
    """Take in a text, Markdown, HTML, PDF or JSON file for debates to come."""
    service = service_of(request)

    def read(reader: SourceReader) -> Source:
        raw = uploaded_bytes(file, service.choices.upload_bytes)
        return read_source(raw, file.filename or "upload.txt", reader=reader)

    return await keep_evidence(service, caller, read, file.size or 0)


def uploaded_bytes(file: PlainUpload, most: int) -> bytes:
    """The content of an upload. May wait for a disk; call it in a thread.

    Raises:
        RefusedError: it has more than ``most`` bytes.
    """
    raw = file.file.read(most + 1)
    if len(raw) > most:
        raise RefusedError(413, "too-large", f"The file is larger than {most:,} bytes.", "Give the part that matters.")
    return raw


@router.post(
    "/evidence/fetch", status_code=201, response_model=EvidenceKept, responses=responses(502), tags=["evidence"]
)
async def fetch_evidence(asked: FetchAsked, request: Request, caller: Runner) -> EvidenceKept:
    """Take in a page from a host that the server's list allows; without a list none is fetched."""
    service = service_of(request)
    name, raw = await fetch(asked.url, service.choices.allow, service.choices.upload_bytes)
    return await keep_evidence(service, caller, lambda reader: read_source(raw, name, reader=reader), len(raw))


async def keep_evidence(
    service: Service, caller: Caller, read: Callable[[SourceReader], Source], size: int
) -> EvidenceKept:
    """Read a source of ``size`` bytes and keep it for the caller's tenant.

    Raises:
        InvalidInputError: it cannot be read.
        ReadingQueueFullError: too much is being read already.
    """
    source = await service.reading.read(caller.tenant, read, size)
    row = {"source_id": source.source_id, "title": source.title, "kind": source.kind.value, "text": source.text}
    upload = await asyncio.to_thread(service.book.upload, caller.tenant, row)
    return EvidenceKept(
        id=upload, source_id=source.source_id, title=source.title, kind=source.kind.value, characters=len(source.text)
    )


@router.post("/knowledge", status_code=201, response_model=KnowledgeKept, responses=responses(400), tags=["evidence"])
async def upload_knowledge(file: UploadFile, request: Request, caller: Runner) -> KnowledgeKept:
    """Take in a knowledge base, as `disputatio market build` writes it, for market debates to come."""
    service = service_of(request)
    most = min(service.choices.upload_bytes, LONGEST_KNOWLEDGE)

    def read(_reader: SourceReader) -> tuple[KnowledgeBase, str]:
        base = read_knowledge(uploaded_bytes(file, most))
        assert base is not None  # noqa: S101  (bytes name no example)
        return base, knowledge_text(base)

    base, text = await service.reading.read(caller.tenant, read, file.size or 0)
    meta = base.meta
    row = {"source_id": KNOWLEDGE, "title": f"{meta.subject_name} {meta.day}", "kind": KNOWLEDGE, "text": text}
    return KnowledgeKept(
        id=await asyncio.to_thread(service.book.upload, caller.tenant, row),
        subject=meta.subject_name,
        day=meta.day,
        synthetic=meta.synthetic,
        warnings=list(meta.warnings),
    )


@router.post("/gate", response_model=GateAnswered, responses=responses(), tags=["figures"])
async def gate(asked: GateAsked, caller: Reader) -> GateAnswered:  # noqa: ARG001  (its being there is checked)
    """Say whether a question is worth a debate. No model is called."""
    from disputatio.judging.gate import should_debate

    decision = should_debate(
        asked.task_type,
        asked.confidence,
        None if asked.downside_usd is None else Decimal(str(asked.downside_usd)),
        answer=asked.answer,
        cost=Decimal(str(asked.cost_usd)),
    )
    return GateAnswered(**decision.as_json())  # type: ignore[arg-type]


@router.get("/metrics", responses=responses(), tags=["figures"])
async def read_metrics(
    request: Request,
    caller: Reader,
    since: Annotated[str | None, Query(max_length=10, examples=["2026-01-31"])] = None,
    format: Annotated[str | None, Query(max_length=64)] = None,  # noqa: A002  (the word users know)
    task_type: Annotated[str | None, Query(max_length=60)] = None,
) -> dict[str, Any]:
    """Count over the tenant's debates, with the alerts of thresholds that are passed."""
    return await asyncio.to_thread(figures_of, service_of(request), caller, since, format, task_type)


def figures_of(
    service: Service, caller: Caller, since: str | None, form: str | None, task_type: str | None
) -> dict[str, Any]:
    """The figures over a tenant's debates, as ``disputatio metrics --json`` gives them over a store.

    Raises:
        InvalidInputError: the day, or the format, is none.
    """
    from disputatio.config import Arguments
    from disputatio.config.process import configured_store
    from disputatio.metrics.collecting import Selection, collect
    from disputatio.metrics.figures import figures_json
    from disputatio.metrics.report import find_alerts

    figures = collect(service.view_of(caller), Selection(since, form, task_type))
    alerts = find_alerts(figures, configured_store(Arguments()).metrics)
    chosen = {"since": since, "format": form, "task_type": task_type}
    return {**figures_json(figures, chosen), "alerts": [dict(row.as_json()) for row in alerts]}


@router.post("/debates/{debate_id}/sign-off", response_model=Attached, responses=responses(404, 409), tags=["records"])
async def sign_off(debate_id: DebateId, given: SignOffGiven, request: Request, caller: Runner) -> Attached:
    """Record what a named reviewer decides on a closed debate."""
    from disputatio.engine.attachments import sign_off as sign

    service = service_of(request)
    await asyncio.to_thread(service.debate, debate_id, caller)
    try:
        event = await sign(debate_id, given.by, given.decision, Runtime(service.store), comment=given.comment)
    except StoreError as busy:
        raise RefusedError(409, "conflict", busy.cause, busy.next_step) from None
    return Attached(debate=debate_id, head=event.head)


@router.post("/debates/{debate_id}/outcome", response_model=Attached, responses=responses(404, 409), tags=["records"])
async def attach_outcome(debate_id: DebateId, given: OutcomeGiven, request: Request, caller: Runner) -> Attached:
    """Attach to a closed debate what happened later."""
    from disputatio.engine.attachments import attach_outcome as attach

    service, runtime = service_of(request), Runtime(service_of(request).store)
    await asyncio.to_thread(service.debate, debate_id, caller)
    try:
        event = await attach(debate_id, given.result, runtime, verdict=given.verdict, by=given.by, note=given.note)
    except StoreError as busy:
        raise RefusedError(409, "conflict", busy.cause, busy.next_step) from None
    return Attached(debate=debate_id, head=event.head)


def key_view(key: Key, left: Room = NO_LIMIT) -> KeyView:
    """A key as the API shows it."""
    return KeyView(
        id=key.id,
        name=key.name,
        tenant=key.tenant,
        scope=key.scope,
        created_at=key.created_at,
        revoked_at=key.revoked_at,
        budget_usd=None if key.budget_usd is None else str(key.budget_usd),
        budget_tokens=key.budget_tokens,
        period=key.period,
        per_minute=key.per_minute,
        left_usd=None if left.usd is None else in_digits(left.usd),
        left_tokens=left.tokens,
    )


@router.get("/key", response_model=KeyView, responses=responses(), tags=["keys"])
async def read_own_key(request: Request, caller: Reader) -> KeyView:
    """Read what this key may do, and what its budget has left."""
    left = await asyncio.to_thread(service_of(request).ledger.room, caller.key.id)
    return key_view(caller.key, left)


@router.get("/keys", response_model=list[KeyView], responses=responses(), tags=["keys"])
async def list_keys(request: Request, caller: Admin) -> list[KeyView]:
    """List the keys of the tenant."""
    return [key_view(key) for key in await asyncio.to_thread(service_of(request).keys.all, caller.tenant)]


@router.post("/keys/{key_id}/revoke", response_model=KeyView, responses=responses(404), tags=["keys"])
async def revoke_key(
    key_id: Annotated[str, Path(pattern=r"^[0-9a-f]{8}$")], request: Request, caller: Admin
) -> KeyView:
    """Revoke a key of the tenant, with the sessions that were begun with it."""
    from disputatio.errors import InvalidInputError

    try:
        return key_view(await asyncio.to_thread(service_of(request).keys.revoke, key_id, caller.tenant))
    except InvalidInputError as none:
        raise RefusedError(404, "not-found", none.cause, "GET /v1/keys lists them.") from None
