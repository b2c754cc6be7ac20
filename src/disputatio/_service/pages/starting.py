"""The page on which a debate is started, and what may be written after one."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from disputatio._service.access import Needs, service_of
from disputatio._service.api.forms import DebateId
from disputatio._service.api.further import uploaded_bytes
from disputatio._service.keys import Caller, Scope
from disputatio._service.pages.rendering import page
from disputatio._service.pages.request_form import cards, read_request_form, sections
from disputatio._service.problems import RefusedError, refusal_of
from disputatio._service.service import Service
from disputatio.engine.runtime import Runtime
from disputatio.errors import DisputatioError
from disputatio.evidence.source_files import check_source_count, read_source
from disputatio.formats.options import LONGEST_KNOWLEDGE
from disputatio.motion import one_line
from disputatio.request.formats import known_formats

if TYPE_CHECKING:
    from disputatio.evidence.reading_process import SourceReader
    from disputatio.evidence.sources import Source

router = APIRouter()
Runner = Annotated[Caller, Depends(Needs(Scope.RUN, page=True))]


@cache
def icons() -> Any:
    """The drawings that transcripts refer to."""
    from markupsafe import Markup

    from disputatio.report.page import page_asset

    return Markup(page_asset("icons.html"))  # noqa: S704  (a file of this package)


@router.get("/new")
async def new(request: Request, caller: Runner) -> HTMLResponse:
    """The form of a debate to come."""
    return _form(request, caller, {})


def _form(request: Request, caller: Caller, values: Mapping[str, str], **shown: Any) -> HTMLResponse:
    found = {row.name: row for row in sections()}
    under_more = [found[name] for name in found if name not in {"first", "budget"}]
    return page(
        request,
        "new.html",
        caller,
        values=values,
        cards=cards(),
        first={row.name: row for row in found["first"].controls},
        budget=found["budget"],
        under_more=under_more,
        more=any(values.get(row.name) for section in under_more for row in section.controls),
        once=values.get("once") or secrets.token_hex(12),
        **{"cost": "", **shown},
    )


@router.post("/new")
async def start(request: Request, caller: Runner) -> Response:
    """Start the debate that was filled in, or say what it would take; sending the same form twice starts one."""
    service, form = service_of(request), await request.form()
    values = {key: value for key, value in form.items() if isinstance(value, str)}
    try:
        if values.get("do") == "estimate":
            return _form(request, caller, values, cost=await _cost(service, caller, form, values))
        once = f"page {one_line(values.get('once', ''), 60)}"
        body = await _body(service, form, values)
        debate, _ = await service.start(body, caller, once, lambda reader: _sources(service, form, values, reader))
    except (RefusedError, DisputatioError) as error:
        refused = refusal_of(error)
        return _form(
            request,
            caller,
            {**values, "once": ""},
            cause=refused.cause,
            next_step=refused.next_step,
            status=refused.status,
        )
    return RedirectResponse(f"/debates/{debate}", 303)


@router.post("/new/estimate")
async def estimate(request: Request, caller: Runner) -> Response:
    """What the debate that is filled in so far would take, in a line of text."""
    form = await request.form()
    values = {key: value for key, value in form.items() if isinstance(value, str)}
    try:
        return PlainTextResponse(await _cost(service_of(request), caller, form, values))
    except (RefusedError, DisputatioError) as error:
        refused = refusal_of(error)
        return PlainTextResponse(f"{refused.cause} {refused.next_step}".strip(), refused.status)


async def _cost(service: Service, caller: Caller, form: FormData, values: Mapping[str, str]) -> str:
    body = await _body(service, form, values)
    found: Any = await service.estimate(body, caller, lambda reader: _sources(service, form, values, reader))
    return cost_line(found)


def cost_line(found: Mapping[str, Any]) -> str:
    """The range of an estimate in a sentence or two."""
    least, most = found["least"], found["most"]
    tokens = [row["input_tokens"] + row["output_tokens"] for row in (found, least, most)]
    text = f"Expected: {found['calls']:,} calls and about {tokens[0]:,} tokens"
    text += f" (from {tokens[1]:,} to {tokens[2]:,})"
    if found["usd"] is None or least["usd"] is None or most["usd"] is None:
        return f"{text}. The price of a model is not known here."
    usd = [f"{Decimal(row['usd']):.4f}" for row in (found, least, most)]
    return f"{text}; {usd[0]} US dollars (from {usd[1]} to {usd[2]})."


async def _body(service: Service, form: FormData, values: Mapping[str, str]) -> dict[str, Any]:
    """The request of a filled form, with the text of the file that its format takes.

    Raises:
        InvalidInputError: a field cannot be used.
        RefusedError: a file is too large.
    """
    most = min(service.choices.upload_bytes, LONGEST_KNOWLEDGE)
    files = {
        name: (await asyncio.to_thread(uploaded_bytes, file, most)).decode("utf-8", "replace")
        for name, file in form.items()
        if isinstance(file, UploadFile) and file.filename and name != "evidence"
    }
    return await asyncio.to_thread(read_request_form, {**values, **files})


def _sources(service: Service, form: FormData, values: Mapping[str, str], reader: SourceReader) -> Sequence[Source]:
    """The files that were chosen as evidence, and what was pasted; as the command line reads the same files.

    Raises:
        InvalidInputError: one cannot be read, or there are too many.
        RefusedError: one is too large.
    """
    chosen = known_formats().get(values.get("format", ""))
    if chosen is not None and chosen.knows:
        # What was chosen for another format is not shown with this one.
        return ()
    files = [file for file in form.getlist("evidence") if isinstance(file, UploadFile) and file.filename]
    pasted = values.get("pasted", "").strip()
    check_source_count(len(files) + bool(pasted))
    most = service.choices.upload_bytes
    found = [read_source(uploaded_bytes(file, most), file.filename or "", reader=reader) for file in files]
    return [*found, read_source(pasted, "pasted.txt")] if pasted else found


@router.get("/debates/{debate_id}/afterwards")
async def afterwards(debate_id: DebateId, request: Request, caller: Runner) -> HTMLResponse:
    """Where a result is signed off, and what happened later is attached."""
    listed = await asyncio.to_thread(service_of(request).listed, debate_id, caller)
    return page(request, "afterwards.html", caller, listed=listed, values={})


@router.post("/debates/{debate_id}/afterwards")
async def attach(debate_id: DebateId, request: Request, caller: Runner) -> Response:
    """Attach it."""
    from disputatio.engine.attachments import attach_outcome, sign_off

    service, form = service_of(request), await request.form()
    values = {key: value for key, value in form.items() if isinstance(value, str)}
    listed = await asyncio.to_thread(service.listed, debate_id, caller)
    runtime = Runtime(service.store)
    try:
        if values.get("what") == "sign-off":
            comment = values.get("comment", "")
            await sign_off(debate_id, values.get("by", ""), values.get("decision", ""), runtime, comment=comment)
        else:
            verdict, who = values.get("verdict") or None, values.get("who", "")
            await attach_outcome(debate_id, values.get("result", ""), runtime, verdict=verdict, by=who)
    except DisputatioError as error:
        refused = refusal_of(error)
        shown = {"cause": refused.cause.replace("--", ""), "next_step": refused.next_step.replace("--", "")}
        return page(request, "afterwards.html", caller, listed=listed, values=values, status=refused.status, **shown)
    return RedirectResponse(f"/debates/{debate_id}#afterwards", 303)
