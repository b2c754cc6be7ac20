"""What is made of a record: its report, exports, dossier, and whether it verifies."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from disputatio._service.access import Needs, service_of
from disputatio._service.api.forms import DebateId, Verified
from disputatio._service.keys import Caller, Scope
from disputatio._service.problems import responses
from disputatio._service.service import Service
from disputatio.errors import VerificationError

router = APIRouter(prefix="/v1", tags=["records"])
Reader = Annotated[Caller, Depends(Needs(Scope.READ))]


class ExportForm(StrEnum):
    """What a record can be written as."""

    JSON = "json"
    MARKDOWN = "md"
    TEXT = "txt"
    HTML = "html"
    ARGDOWN = "argdown"
    DOSSIER = "dossier.md"
    DOSSIER_HTML = "dossier.html"


_TYPES = {
    ExportForm.JSON: "application/json",
    ExportForm.MARKDOWN: "text/markdown; charset=utf-8",
    ExportForm.TEXT: "text/plain; charset=utf-8",
    ExportForm.HTML: "text/html; charset=utf-8",
    ExportForm.ARGDOWN: "text/plain; charset=utf-8",
    ExportForm.DOSSIER: "text/markdown; charset=utf-8",
    ExportForm.DOSSIER_HTML: "text/html; charset=utf-8",
}


@router.get(
    "/debates/{debate_id}/report",
    response_class=Response,
    responses=responses(
        404,
        409,
        good={
            200: {
                "description": "The debate under the schema at /v1/schemas/debate.",
                "content": {"application/json": {"schema": {"type": "object"}}},
            }
        },
    ),
)
async def read_report(debate_id: DebateId, request: Request, caller: Reader) -> Response:
    """Read a debate as JSON: its turns, trace, scores, briefing and costs. Works while it runs, too."""
    text = await asyncio.to_thread(_written, service_of(request), debate_id, caller, ExportForm.JSON)
    return Response(text, media_type="application/json")


@router.get(
    "/debates/{debate_id}/export/{form}",
    response_class=Response,
    responses=responses(
        404,
        409,
        good={
            200: {
                "description": "The debate in that form.",
                "content": {
                    kind.partition(";")[0]: {"schema": {"type": "string"}} for kind in sorted({*_TYPES.values()})
                }
                | {"application/json": {"schema": {"type": "object"}}},
            }
        },
    ),
)
async def export_debate(debate_id: DebateId, form: ExportForm, request: Request, caller: Reader) -> Response:
    """Write a debate as JSON, Markdown, text, one HTML page, Argdown, or as a dossier."""
    text = await asyncio.to_thread(_written, service_of(request), debate_id, caller, form)
    name = f"debate-{debate_id}.{form.value}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, headers={**headers, "Content-Type": _TYPES[form]})


def _written(service: Service, debate_id: str, caller: Caller, form: ExportForm) -> str:
    from disputatio.report.json_export import render_json

    debate = service.debate(debate_id, caller)
    match form:
        case ExportForm.JSON:
            return render_json(debate.report())
        case ExportForm.MARKDOWN:
            return debate.markdown()
        case ExportForm.TEXT:
            return debate.text()
        case ExportForm.HTML:
            return debate.html()
        case ExportForm.ARGDOWN:
            return debate.argdown()
    return _dossier(service, debate_id, caller, form)


def _dossier(service: Service, debate_id: str, caller: Caller, form: ExportForm) -> str:
    from disputatio.metrics.dossier_context import gather_surroundings
    from disputatio.report.dossier import dossier_html, dossier_markdown, dossier_of

    fault = None
    try:
        service.verified(debate_id, caller)
    except VerificationError as altered:
        fault = altered.cause
    report = service.debate(debate_id, caller).report()
    mine = service.view_of(caller)
    written = dossier_of(report, gather_surroundings(mine, report, "this service", fault, None))
    return (dossier_html if form is ExportForm.DOSSIER_HTML else dossier_markdown)(written)


@router.get("/debates/{debate_id}/verify", response_model=Verified, responses=responses(404, 409))
async def verify_debate(debate_id: DebateId, request: Request, caller: Reader) -> Verified:
    """Check that no byte of a record was altered. A record that was is a problem of the kind `altered`."""
    service = service_of(request)
    events = await asyncio.to_thread(service.verified, debate_id, caller)
    texts = await asyncio.to_thread(service.store.texts, debate_id)
    return Verified(debate=debate_id, events=len(events), texts=len(texts), head=events[-1].hash)


@router.get(
    "/schemas/debate",
    response_class=Response,
    responses={
        200: {"description": "A JSON Schema.", "content": {"application/schema+json": {"schema": {"type": "object"}}}}
    },
)
async def read_schema() -> Response:
    """Read the published schema of reports."""
    import json

    from disputatio.report.json_export import export_schema

    return Response(json.dumps(export_schema()), media_type="application/schema+json")
